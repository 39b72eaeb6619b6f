//! Colours by meaning. Texts always carry their escape codes here; the [`Printer`](crate::Printer) strips them where
//! colours are unwanted (`NO_COLOR`, a file, a pipe). Colour never says anything that the words don't.

use std::fmt::Display;

use anstyle::{AnsiColor, Color, Style};

const fn coloured(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

fn wrap(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Headings and the one figure that matters.
pub fn strong(text: impl Display) -> String {
    wrap(Style::new().bold(), text)
}

/// Things that are only there for completeness.
pub fn dim(text: impl Display) -> String {
    wrap(Style::new().dimmed(), text)
}

/// Met, valid.
pub fn good(text: impl Display) -> String {
    wrap(coloured(AnsiColor::Green), text)
}

/// Worth knowing.
pub fn note(text: impl Display) -> String {
    wrap(coloured(AnsiColor::Yellow), text)
}

/// Not met, not valid, failed.
pub fn bad(text: impl Display) -> String {
    wrap(coloured(AnsiColor::Red).bold(), text)
}

/// What to do about it.
pub fn hint(text: impl Display) -> String {
    wrap(coloured(AnsiColor::Cyan), text)
}
