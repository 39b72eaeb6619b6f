//! The report as one HTML page.

mod appendix;
mod belief;
mod figures;
mod verdict;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use record::RunRecord;

const STYLE: &str = include_str!("style.css");

/// One part of the page: anchor, title, content.
struct Section {
    id: &'static str,
    title: &'static str,
    content: Markup,
}

/// The whole page.
pub fn page(record: &RunRecord) -> fault::Result<String> {
    let sections = sections(record)?;
    let title = format!("Forebay: {}", record.label.as_deref().unwrap_or(&record.id));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(record.program);
                // An empty icon keeps browsers from asking for one.
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#verdict" { "Skip to the verdict" }
                (header(record))
                (navigation(&sections))
                main {
                    @for section in &sections {
                        section id=(section.id) aria-labelledby=(format!("{}-title", section.id)) {
                            h2 id=(format!("{}-title", section.id)) { (section.title) }
                            (section.content)
                        }
                    }
                }
                footer { p { "Run " code { (record.id) } ", written by " (record.program) "." } }
            }
        }
    };
    Ok(page.into_string())
}

fn sections(record: &RunRecord) -> fault::Result<Vec<Section>> {
    let section = |id, title, content| Section { id, title, content };
    let mut sections =
        vec![section("verdict", "Does this storage feed the grid?", verdict::content(record)?)];
    if record.tests.iter().any(|test| !test.phase_names().is_empty()) {
        sections.push(section("throughput", "Throughput and latency over time", figures::over_time(record)?));
        sections.push(section("latency", "Latency percentiles", figures::latency(record)?));
        sections.push(section("ranks", "Spread over the ranks", figures::ranks(record)?));
        sections.push(section("ends", "When it was done", figures::ends(record)));
    }
    sections.push(section("checks", "Can it be believed?", belief::checks(record)));
    sections.push(section("limits", "What limited it", belief::limits(record)));
    sections.push(section("environment", "Environment", appendix::environment(record)));
    sections.push(section("repeat", "Repeat it", appendix::repeat(record)));
    sections.push(section("glossary", "Words", appendix::glossary()));
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
                span { "Started " b { (record.started_at) } }
                span { "Run " b { (record.id) } }
            }
        }
    }
}

fn navigation(sections: &[Section]) -> Markup {
    html! {
        nav aria-label="Parts of this report" {
            ul { @for section in sections { li { a href=(format!("#{}", section.id)) { (section.title) } } } }
        }
    }
}

/// A chart with its caption and its legend, and the same in words or rows.
fn figure(caption: &str, chart: &Markup, legend: Option<Markup>, equivalent: &Markup) -> Markup {
    html! {
        figure {
            figcaption { (caption) }
            div.scroll tabindex="0" role="group" aria-label=(format!("Chart: {caption}")) { (chart) }
            @if let Some(legend) = legend { (legend) }
            (equivalent)
        }
    }
}

/// Rows that open on demand, and are open on paper.
fn details(summary: &str, content: &Markup) -> Markup {
    html! { details { summary { (summary) } (content) } }
}
