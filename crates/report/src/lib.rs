//! Reports of a run: documents become HTML, Markdown and CSV. This room reads [`RunRecord`]s and measures nothing.
//!
//! [`html`] is one self-contained page with charts; [`markdown`] the same facts as text; [`phases_csv`] and
//! [`series_csv`] the figures for other programs. [`answer`] is the verdict that all of them lead with.

mod charts;
mod facts;
mod html;
mod markdown;
mod rows;
mod table;
mod text;

use record::RunRecord;

pub use facts::verdict::Answer;

/// The whole report as one HTML page that needs nothing else: no network, no script, no font.
pub fn html(record: &RunRecord) -> fault::Result<String> {
    html::page(record)
}

/// The same facts as Markdown, without charts.
pub fn markdown(record: &RunRecord) -> String {
    markdown::document(record)
}

/// One row per phase and repetition. Column names carry the unit; times are ns, sizes bytes, rates bytes per second.
pub fn phases_csv(record: &RunRecord) -> fault::Result<String> {
    rows::phases(record)
}

/// One row per interval, phase and repetition. Column names carry the unit.
pub fn series_csv(record: &RunRecord) -> fault::Result<String> {
    rows::series(record)
}

/// Whether the storage feeds the grid, in one word.
pub fn answer(record: &RunRecord) -> Answer {
    Answer::of(record)
}
