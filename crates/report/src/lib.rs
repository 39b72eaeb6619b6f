//! Reports: documents become HTML, Markdown and CSV. This room reads [`RunRecord`]s and [`PlanDocument`]s and measures
//! nothing.
//!
//! [`html`] is one self-contained page with charts; [`markdown`] the same facts as text; [`phases_csv`] and
//! [`series_csv`] the figures for other programs. [`answer`] is the verdict that all of them lead with.
//! [`plan_html`] and [`plan_markdown`] show a plan in the same way: the best design first.

mod charts;
mod facts;
mod html;
mod markdown;
mod matrix;
mod plan;
mod rows;
mod sweep;
mod table;
mod text;

use record::{PlanDocument, RunRecord};

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

/// One row per point of the matrix "share of reads x seek x transfer size"; `None` when the run has no such points.
/// Column names carry the unit.
pub fn matrix_csv(record: &RunRecord) -> fault::Result<Option<String>> {
    matrix::csv(record)
}

/// The same as heat maps in one SVG that follows light and dark; `None` when the run has no such points.
pub fn matrix_svg(record: &RunRecord) -> Option<String> {
    matrix::svg(record)
}

/// The runs of a sweep as one page: MB/s per pCore over what varies, beside requirement and limits.
pub fn sweep_html(records: &[RunRecord]) -> fault::Result<String> {
    sweep::page(records)
}

/// One row per point of a sweep and direction. Column names carry the unit.
pub fn sweep_csv(records: &[RunRecord]) -> fault::Result<String> {
    sweep::csv(records)
}

/// Whether the storage feeds the grid, in one word.
pub fn answer(record: &RunRecord) -> Answer {
    Answer::of(record)
}

/// A plan as one HTML page that needs nothing else: the best design in a sentence, the ranking, the limits of the best
/// ones, cost against throughput, and what the figures rest on.
pub fn plan_html(document: &PlanDocument) -> fault::Result<String> {
    plan::page(document)
}

/// The same facts as Markdown, without charts.
pub fn plan_markdown(document: &PlanDocument) -> String {
    plan::document(document)
}
