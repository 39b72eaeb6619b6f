//! The design's limits, with what was measured drawn in.

use maud::{Markup, html};
use record::{DesignComparison, Direction, RunRecord};

use super::{details, figure};
use crate::charts::{self, Entry, Ink, Link, LinkBar, Look, Mark};
use crate::facts::design;

pub fn content(record: &RunRecord) -> fault::Result<Markup> {
    let comparisons = record.design_comparisons();
    let mut figures = Vec::new();
    for comparison in &comparisons {
        figures.push(chain(comparison)?);
    }
    let extent = comparisons.iter().find_map(|comparison| comparison.extent.as_ref());
    Ok(html! {
        @if let Some(design) = &record.design {
            p { "Design: " (design.title) ", " (design.cloud) " " (design.region) ", " (design.client_count) " x " (design.client_sku) "." }
        }
        @if comparisons.is_empty() { p { "No requirement of this run is one of the design's storages." } }
        ul.remarks { @for sentence in design::sentences(record) { li { (sentence) } } }
        @if let Some(extent) = extent { p { (extent) } }
        (design::summary(record).html())
        @for figure in figures { (figure) }
    })
}

fn chain(comparison: &DesignComparison) -> fault::Result<Markup> {
    let series = usize::from(comparison.direction == Direction::Read);
    let table = details("The same in figures, with causes and sources", &design::limits(comparison).html());
    if comparison.limits.is_empty() {
        return Ok(table);
    }
    let links: Vec<Link> = comparison
        .limits
        .iter()
        .enumerate()
        .map(|(index, limit)| Link {
            name: limit.name.clone(),
            bottleneck: comparison.bottleneck == Some(index),
            bars: vec![LinkBar { series, rate: Some(limit.reached_per_pcore.as_mb()), required: None }],
        })
        .collect();
    let required = Look { ink: Ink::Required, dash: 1 };
    let measured = Look::solid(Ink::Whisker);
    let mut marks = vec![mark("required", comparison.required_per_pcore, required)];
    marks.extend(comparison.measured_per_pcore.map(|rate| mark("measured", rate, measured)));
    marks.retain(|mark| mark.rate.is_finite());
    let caption = format!("{}: what each limit lets through (MB/s per pCore)", design::name(comparison));
    let says = format!("{}: {}.", design::name(comparison), comparison.sentence().trim_end_matches('.'));
    let legend = [
        Entry::bar(Look::series(series), "expected of the limit"),
        Entry::line(required, "required"),
        Entry::line(measured, "measured"),
    ];
    let chart = charts::chain(&links, &marks, "MB/s per pCore", format!("{caption}. {says}"))?;
    let equivalent = html! { p.says { (says) } (table) };
    Ok(figure(&caption, &chart, Some(charts::legend(&legend)), &equivalent))
}

fn mark(word: &str, rate: units::Bandwidth, look: Look) -> Mark {
    Mark { rate: rate.as_mb(), look, text: format!("{word} {}", crate::text::mb(rate)) }
}
