//! A plan as a page and as text: the best design first, then all of them, then what they rest on.

mod answer;
mod choice;
mod figures;
mod glossary;
mod html;
mod markdown;
mod sheet;
mod tables;
mod words;

pub use html::page;
pub use markdown::document;

/// Who writes the page.
const PROGRAM: &str = concat!("forebay ", env!("CARGO_PKG_VERSION"));
