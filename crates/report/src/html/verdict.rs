//! The answer, before anything else.

use maud::{Markup, html};
use record::{Direction, RunRecord};

use super::figure;
use crate::charts::{self, Bar, Entry, Ink, Look};
use crate::facts::phases::{self, Phase};
use crate::facts::verdict::{self, Answer};
use crate::facts::{checks, environment};

pub fn content(record: &RunRecord) -> fault::Result<Markup> {
    let answer = Answer::of(record);
    let table = verdict::table(record);
    let checks = checks::sentence(&checks::groups(record));
    Ok(html! {
        (early_end(record))
        div.verdict.(answer.tone().class().unwrap_or("plain")) {
            p.answer { span aria-hidden="true" { (answer.sign()) } " " (answer.word()) }
            p.plain-words { (verdict::sentence(record)) }
            p.belief { "Measurement: " b { (record.validity().words()) } ". " a href="#checks" { (checks) } }
        }
        (table.html())
        (per_pcore(record)?)
        (environment::tests(record).html())
        (every_repetition(record))
        (phases::errors(record).html())
    })
}

/// Open where no requirement table above says the essential.
fn every_repetition(record: &RunRecord) -> Markup {
    let table = phases::table(record);
    html! {
        @if !table.is_empty() {
            details open[record.requirements.is_empty()] { summary { "Every repetition in figures" } (table.html()) }
        }
    }
}

fn early_end(record: &RunRecord) -> Markup {
    let Some((title, message, hint)) = verdict::early_end(record) else { return html! {} };
    html! {
        div.alarm role="alert" {
            p { strong { "! " (title) } }
            p { (message) }
            @if let Some(hint) = hint { p { "Hint: " (hint) } }
        }
    }
}

fn per_pcore(record: &RunRecord) -> fault::Result<Markup> {
    let (bars, unit, caption) = if record.requirements.is_empty() {
        let caption = "Measured per rank (bytes of a rank over the mean time of the ranks)";
        (measured(record), "MB/s per rank", caption)
    } else {
        (required(record), "MB/s per pCore", "Measured per pCore against what is required")
    };
    if bars.is_empty() {
        return Ok(html! {});
    }
    let says: Vec<String> = bars.iter().map(describe).collect();
    let says = format!("{}.", says.join("; "));
    let mut legend = vec![
        Entry::bar(Look::series(0), "write, median"),
        Entry::bar(Look::series(1), "read, median"),
        Entry::line(Look::solid(Ink::Whisker), "lowest to highest repetition"),
    ];
    if bars.iter().any(|bar| bar.required.is_some()) {
        legend.push(Entry::line(Look { ink: Ink::Required, dash: 1 }, "required"));
    }
    let chart = charts::bars(&bars, unit, says.clone())?;
    Ok(figure(caption, &chart, Some(charts::legend(&legend)), &html! { p.says { (says) } }))
}

fn required(record: &RunRecord) -> Vec<Bar> {
    let bar = |requirement: &record::RequirementVerdict| Bar {
        name: verdict::name(requirement),
        series: usize::from(requirement.direction == Direction::Read),
        measured: requirement.measured_per_pcore.and_then(|spread| figures(&spread)),
        required: Some(requirement.required_per_pcore.as_mb()).filter(|required| required.is_finite()),
    };
    record.requirements.iter().map(bar).collect()
}

fn measured(record: &RunRecord) -> Vec<Bar> {
    Phase::all(record)
        .iter()
        .filter_map(|phase| {
            Some(Bar {
                name: phase.title(),
                series: usize::from(phase.name.contains("read")),
                measured: Some(figures(&phase.spread()?)?),
                required: None,
            })
        })
        .collect()
}

/// Lowest, median and highest in MB/s, if they are numbers.
fn figures(spread: &record::Spread) -> Option<(f64, f64, f64)> {
    let all = [spread.min_bytes_per_second, spread.median_bytes_per_second, spread.max_bytes_per_second];
    let [min, median, max] = all.map(units::Bandwidth::as_mb);
    [min, median, max].iter().all(|figure| figure.is_finite()).then_some((min, median, max))
}

fn describe(bar: &Bar) -> String {
    let measured = bar.measured.map_or_else(
        || "not measured".to_owned(),
        |(min, median, max)| format!("{median:.1} MB/s ({min:.1} to {max:.1} MB/s)"),
    );
    let required = bar.required.map_or_else(String::new, |required| format!(", required {required:.1} MB/s"));
    format!("{}: {measured}{required}", bar.name)
}
