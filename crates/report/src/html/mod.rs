//! The report as one HTML page.

mod appendix;
mod belief;
mod design;
mod figures;
mod frame;
mod verdict;

use maud::{Markup, html};
use record::RunRecord;

use crate::facts::layouts;

pub use frame::{Frame, Section, details, figure};

/// The whole page.
pub fn page(record: &RunRecord) -> fault::Result<String> {
    let frame = Frame {
        title: format!("Forebay: {}", record.label.as_deref().unwrap_or(&record.id)),
        program: record.program.clone(),
        what: "report",
        header: header(record),
        sections: sections(record)?,
        footer: html! { p { "Run " code { (record.id) } ", written by " (record.program) "." } },
    };
    Ok(frame.page())
}

fn sections(record: &RunRecord) -> fault::Result<Vec<Section>> {
    let mut sections =
        vec![Section::new("verdict", "Does this storage feed the grid?", verdict::content(record)?)];
    if let Some(search) = &record.search {
        sections.push(Section::new("search", "What the search found", figures::search(search)?));
    }
    let matrices = record.matrices();
    if !matrices.is_empty() {
        sections.push(Section::new(
            "matrix",
            "Reads, seeks and transfer sizes",
            figures::matrices(&matrices),
        ));
    }
    if record.tests.iter().any(|test| !test.phase_names().is_empty()) {
        sections.push(Section::new(
            "throughput",
            "Throughput and latency over time",
            figures::over_time(record)?,
        ));
        sections.push(Section::new("latency", "Latency percentiles", figures::latency(record)?));
        if record.tests.iter().any(|test| !test.hosts.is_empty()) {
            sections.push(Section::new("hosts", "Spread over the hosts", figures::hosts(record)?));
        }
        sections.push(Section::new("ranks", "Spread over the ranks", figures::ranks(record)?));
        sections.push(Section::new("ends", "When it was done", figures::ends(record)));
        let layouts = layouts::all(record);
        if !layouts.is_empty() {
            sections.push(Section::new("layouts", "Where the files lie", figures::layouts(&layouts)));
        }
    }
    sections.push(Section::new("checks", "Can it be believed?", belief::checks(record)));
    if record.design.is_some() {
        sections.push(Section::new("design", "Measured against the design", design::content(record)?));
    }
    sections.push(Section::new("limits", "What limited it", belief::limits(record)));
    sections.push(Section::new("environment", "Environment", appendix::environment(record)));
    sections.push(Section::new("repeat", "Repeat it", appendix::repeat(record)));
    sections.push(Section::new("glossary", "Words", appendix::glossary()));
    Ok(sections)
}

fn header(record: &RunRecord) -> Markup {
    let host = &record.environment.hostname;
    html! {
        header {
            p.brand { "Forebay storage report" }
            h1 { @if let Some(label) = &record.label { (label) } @else { "Run " (record.id) } }
            p.facts {
                @if let Some(spec) = &record.spec { span { "Grid " b { (spec.grid) } } }
                @for test in &record.tests { span { "Target " b { (test.target.display()) } } }
                @if !host.is_empty() { span { "Host " b { (host) } } }
                span { "Started " b { (record::whole_seconds(&record.started_at)) } }
                span { "Run " b { (record.id) } }
            }
        }
    }
}
