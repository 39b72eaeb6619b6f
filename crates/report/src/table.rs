//! A table of facts, written once and shown as HTML and as Markdown.

use maud::{Markup, html};

use crate::text;

/// What a cell means beyond its text. Colour follows it, and the text always says the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// Worth knowing.
    Warn,
    /// Wrong.
    Bad,
}

impl Tone {
    /// The style class.
    pub const fn class(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Good => Some("good"),
            Self::Warn => Some("warn"),
            Self::Bad => Some("bad"),
        }
    }
}

/// One cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    text: String,
    note: Option<String>,
    tone: Tone,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl Cell {
    /// Adds a smaller second line.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Sets the tone.
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

struct Column {
    title: String,
    numeric: bool,
    wide: bool,
}

impl Column {
    const fn class(&self) -> Option<&'static str> {
        match (self.numeric, self.wide) {
            (true, _) => Some("number"),
            (false, true) => Some("wide"),
            (false, false) => None,
        }
    }
}

/// Rows of facts under named columns; the first column names the row.
pub struct Table {
    caption: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table that says what it shows.
    pub fn new(caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), columns: Vec::new(), rows: Vec::new() }
    }

    /// Adds columns of words.
    pub fn words<const N: usize>(mut self, titles: [&str; N]) -> Self {
        self.columns.extend(titles.map(|title| Column {
            title: title.to_owned(),
            numeric: false,
            wide: false,
        }));
        self
    }

    /// Adds columns of sentences, which get more room than words.
    pub fn sentences<const N: usize>(self, titles: [&str; N]) -> Self {
        let mut table = self.words(titles);
        let first = table.columns.len() - N;
        table.columns.iter_mut().skip(first).for_each(|column| column.wide = true);
        table
    }

    /// Adds columns of figures, aligned right.
    pub fn figures<const N: usize>(mut self, titles: [&str; N]) -> Self {
        self.columns.extend(titles.map(|title| Column {
            title: title.to_owned(),
            numeric: true,
            wide: false,
        }));
        self
    }

    /// Adds a row with one cell per column.
    pub fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "{}", self.caption);
        self.rows.push(cells);
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// As HTML, in a box that scrolls by itself on narrow screens.
    pub fn html(&self) -> Markup {
        if self.is_empty() {
            return html! {};
        }
        html! {
            div.scroll tabindex="0" role="group" aria-label=(self.caption) {
                table {
                    caption { span { (self.caption) } }
                    thead { tr {
                        @for column in &self.columns {
                            th scope="col" class=[column.class()] { (column.title) }
                        }
                    } }
                    tbody { @for row in &self.rows { (self.html_row(row)) } }
                }
            }
        }
    }

    fn html_row(&self, row: &[Cell]) -> Markup {
        let content = |cell: &Cell| {
            html! {
                @if cell.tone == Tone::Plain { (cell.text) } @else { span class=[cell.tone.class()] { (cell.text) } }
                @if let Some(note) = &cell.note { small { (note) } }
            }
        };
        html! {
            tr {
                @for (index, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                    @let class = column.class();
                    @if index == 0 { th scope="row" class=[class] { (content(cell)) } }
                    @else { td class=[class] { (content(cell)) } }
                }
            }
        }
    }

    /// As a Markdown table under its caption.
    pub fn markdown(&self) -> String {
        let mut document = String::new();
        if self.is_empty() {
            return document;
        }
        text::line(&mut document, format!("**{}**\n", escape(&self.caption)));
        let titles: Vec<String> = self.columns.iter().map(|column| escape(&column.title)).collect();
        text::line(&mut document, format!("| {} |", titles.join(" | ")));
        let rules: Vec<&str> =
            self.columns.iter().map(|column| if column.numeric { "---:" } else { "---" }).collect();
        text::line(&mut document, format!("| {} |", rules.join(" | ")));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(Cell::markdown).collect();
            text::line(&mut document, format!("| {} |", cells.join(" | ")));
        }
        text::line(&mut document, "");
        document
    }
}

impl Cell {
    fn markdown(&self) -> String {
        match &self.note {
            Some(note) => format!("{} ({})", escape(&self.text), escape(note)),
            None => escape(&self.text),
        }
    }
}

/// Text that Markdown shows as it is: no markup, no HTML, no new table cell.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => escaped.extend(['\\', character]),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_cannot_break_out_of_its_table() {
        let mut table = Table::new("rates").words(["phase"]).figures(["rate (MB/s)"]);
        table.row(vec!["a|b <script>\nx".into(), Cell::from("1.0").note("min 0.9")]);
        let markdown = table.markdown();
        assert!(markdown.contains("| a\\|b &lt;script&gt; x | 1.0 (min 0.9) |"), "{markdown}");
        assert!(!table.html().into_string().contains("<script>"));
    }
}
