//! Colours that the page decides. plotters only knows fixed colours, so every ink is drawn in a colour that stands
//! for it, and the finished SVG gets style classes in their place: light, dark and print are then the style sheet's.

use std::fmt::Write as _;

use plotters::style::RGBColor;

/// What something is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Words.
    Text,
    /// Axes and their labels.
    Muted,
    /// Grid lines.
    Grid,
    /// Background of every other phase.
    Band,
    /// What is required.
    Required,
    /// Bars' whiskers.
    Whisker,
    /// The ground, around lines that cross filled areas.
    Halo,
    /// The n-th series.
    Series(usize),
}

/// Colours of series before they repeat.
pub const COLOURS: usize = 6;
/// Dash patterns before they repeat; together with the colours 30 series differ.
pub const DASHES: usize = 5;

/// Ink and dash pattern of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Its ink.
    pub ink: Ink,
    /// Its dash pattern; 0 is solid.
    pub dash: usize,
}

impl Look {
    /// The n-th series: its own colour and its own dashes.
    pub const fn series(index: usize) -> Self {
        Self { ink: Ink::Series(index), dash: index % DASHES }
    }

    /// Solid.
    pub const fn solid(ink: Ink) -> Self {
        Self { ink, dash: 0 }
    }

    /// The colour that stands for this look until the drawing is finished.
    pub const fn stand_in(self) -> RGBColor {
        RGBColor(MARK, self.ink.code(), self.dash as u8)
    }
}

const MARK: u8 = 0xF7;

impl Ink {
    const fn code(self) -> u8 {
        match self {
            Self::Text => 0x80,
            Self::Muted => 0x81,
            Self::Grid => 0x82,
            Self::Band => 0x83,
            Self::Required => 0x84,
            Self::Whisker => 0x85,
            Self::Halo => 0x86,
            Self::Series(index) => (index % COLOURS) as u8,
        }
    }

    /// The last part of its style classes: `text`, `c0`.
    pub fn class(self) -> String {
        class_of(self.code())
    }
}

fn class_of(code: u8) -> String {
    match code {
        0x80 => "text".to_owned(),
        0x81 => "muted".to_owned(),
        0x82 => "grid".to_owned(),
        0x83 => "band".to_owned(),
        0x84 => "required".to_owned(),
        0x85 => "whisker".to_owned(),
        0x86 => "halo".to_owned(),
        index => format!("c{index}"),
    }
}

/// Puts style classes in the place of the stand-in colours and drops what the style sheet decides.
pub fn dress(svg: &str) -> String {
    let mut dressed = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some(at) = rest.find("=\"#F7") {
        let (before, after) = rest.split_at(at);
        let value = after.get(3..9).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let Some((name, value)) =
            ["fill", "stroke"].into_iter().find(|name| before.ends_with(name)).zip(value)
        else {
            dressed.push_str(before);
            dressed.push_str(&after[..2]);
            rest = &after[2..];
            continue;
        };
        dressed.push_str(&before[..before.len() - name.len()]);
        let class = class_of((value >> 8 & 0xFF) as u8);
        let dash = value & 0xFF;
        let dash = if dash > 0 { format!(" d{dash}") } else { String::new() };
        // Writing to a String cannot fail.
        let _ = write!(dressed, "class=\"{name}-{class}{dash}\"");
        rest = &after[10..];
    }
    dressed.push_str(rest);
    [" opacity=\"1\"", " font-family=\"sans-serif\"", " stroke=\"none\""]
        .into_iter()
        .fold(dressed, |text, needless| text.replace(needless, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_become_classes() {
        let svg =
            r##"<line stroke="#F70201" x="1"/><rect fill="#F78300" opacity="1"/><text>=&quot;#F7</text>"##;
        assert_eq!(
            dress(svg),
            r#"<line class="stroke-c2 d1" x="1"/><rect class="fill-band"/><text>=&quot;#F7</text>"#
        );
    }
}
