//! The charts: over time, by percentile, by rank; and when phases were done.

use maud::{Markup, html};
use record::{Matrix, RunRecord, Search, TestRecord};

use super::{details, figure};
use crate::charts::{self, Entry, Ink, Look, MOST_BARS};
use crate::facts::phases::{Phase, Rate};
use crate::facts::{ends, hosts, latency, layouts, matrix, ranks, search, series};
use crate::text;

/// More repetitions than this are not named one by one in a legend.
const NAMED: usize = 12;

pub fn over_time(record: &RunRecord) -> fault::Result<Markup> {
    let mut parts = Vec::new();
    for test in &record.tests {
        let phases = Phase::of_test(test);
        if !phases.is_empty() {
            parts.push(whole_test(test, &phases)?);
            parts.push(test_over_time(&phases)?);
        }
    }
    Ok(html! {
        p { "Every second of every phase. Lines lie over each other where repetitions agree." }
        @for part in parts { (part) }
    })
}

fn whole_test(test: &TestRecord, phases: &[Phase<'_>]) -> fault::Result<Markup> {
    let any_bytes = phases.iter().any(|phase| phase.rate() == Rate::Bytes);
    let rate = if any_bytes { Rate::Bytes } else { Rate::Operations };
    let names: Vec<String> = phases.iter().map(|phase| phase.name.to_owned()).collect();
    let says = format!(
        "{}: {} of {}, one after the other. Each stretch is one phase; the number before its name is the repetition.",
        test.name,
        text::count(test.repetitions.len(), "repetition"),
        text::list(&names)
    );
    let legend: Vec<Entry> =
        names.iter().enumerate().map(|(index, name)| Entry::line(Look::series(index), name)).collect();
    let chart = charts::timeline(test, rate, says.clone())?;
    let figure = figure(
        &format!("{}: the whole test, all ranks together", test.name),
        &chart,
        Some(charts::legend(&legend)),
        &html! { p.says { (says) } },
    );
    Ok(html! { div.wide { (figure) } })
}

fn test_over_time(phases: &[Phase<'_>]) -> fault::Result<Markup> {
    let mut figures = Vec::new();
    for phase in phases {
        figures.push(throughput(phase, highest(phases, phase.rate()))?);
        figures.extend(latency_over_time(phase)?);
    }
    Ok(html! { div.pairs { @for figure in figures { (figure) } } })
}

/// The highest rate of all phases that count the same, so that their charts share a scale.
fn highest(phases: &[Phase<'_>], rate: Rate) -> f64 {
    let same = phases.iter().filter(|phase| phase.rate() == rate);
    let points = same.flat_map(|phase| &phase.results).flat_map(|(_, result)| series::rates(result, rate));
    points.map(|point| point.1).fold(0.0, f64::max)
}

fn throughput(phase: &Phase<'_>, most: f64) -> fault::Result<Markup> {
    let caption = format!("{}: throughput of all ranks ({})", phase.title(), phase.rate().unit());
    let says = format!("{caption} over time, {}", text::count(phase.results.len(), "repetition"));
    let chart = charts::rate_over_time(phase, most, says)?;
    let table = series::table(phase);
    let equivalent = if table.is_empty() {
        html! { p.says { "No full interval was measured." } }
    } else {
        details("The same in figures", &table.html())
    };
    Ok(figure(&caption, &chart, Some(by_repetition(phase, Look::series)), &equivalent))
}

fn by_repetition(phase: &Phase<'_>, look: impl Fn(usize) -> Look) -> Markup {
    let mut entries: Vec<Entry> = phase
        .results
        .iter()
        .take(NAMED)
        .enumerate()
        .map(|(index, (number, _))| Entry::line(look(index), format!("repetition {number}")))
        .collect();
    if phase.results.len() > NAMED {
        entries.push(Entry::line(Look::solid(Ink::Muted), "further repetitions in the same order of styles"));
    }
    charts::legend(&entries)
}

fn latency_over_time(phase: &Phase<'_>) -> fault::Result<Option<Markup>> {
    let caption = format!("{}: latency, p50 and p99 of each second (log scale)", phase.title());
    let says = format!("{caption}, {}", text::count(phase.results.len(), "repetition"));
    let Some(chart) = charts::latency_over_time(phase, says)? else { return Ok(None) };
    let percentiles =
        [Entry::line(Look::solid(Ink::Series(0)), "p50"), Entry::line(Look::solid(Ink::Series(1)), "p99")];
    let dashes = by_repetition(phase, |index| Look { ink: Ink::Muted, ..Look::series(index) });
    let legend = html! {
        (charts::legend(&percentiles))
        @if phase.results.len() > 1 { (dashes) }
    };
    let equivalent = details("The same in figures", &series::latency_table(phase).html());
    Ok(Some(figure(&caption, &chart, Some(legend), &equivalent)))
}

pub fn latency(record: &RunRecord) -> fault::Result<Markup> {
    let phases = Phase::all(record);
    let mut figures = Vec::new();
    for phase in &phases {
        let kinds = phase.latencies();
        if kinds.is_empty() {
            continue;
        }
        let caption = format!("{}: latency by percentile (log scale)", phase.title());
        let entries: Vec<Entry> = kinds
            .iter()
            .enumerate()
            .map(|(index, (kind, latency))| {
                let text =
                    format!("{} ({})", kind.word(), text::count(latency.count() as usize, "operation"));
                Entry::line(Look::series(index), text)
            })
            .collect();
        let words: Vec<String> = kinds
            .iter()
            .map(|(kind, latency)| {
                let show = |percent| text::latency(Some(latency.percentile(percent)));
                format!(
                    "{}: half within {}, longest {}",
                    kind.word(),
                    show(50.0),
                    text::latency(Some(latency.max()))
                )
            })
            .collect();
        let says = format!("{}.", words.join("; "));
        let chart = charts::percentiles(&kinds, format!("{caption}. {says}"))?;
        figures.push(figure(&caption, &chart, Some(charts::legend(&entries)), &html! { p.says { (says) } }));
    }
    Ok(html! {
        p { (latency::basis(record)) " A line ends where too few operations are left to say more." }
        div.pairs { @for figure in figures { (figure) } }
        (latency::table(&phases).html())
    })
}

pub fn ranks(record: &RunRecord) -> fault::Result<Markup> {
    let mut figures = Vec::new();
    for phase in &Phase::all(record) {
        let spreads = ranks::spreads(phase);
        if spreads.is_empty() {
            continue;
        }
        let caption = format!("{}: {} by rank", phase.title(), phase.rate().unit());
        let says = ranks::sentence(phase, &spreads);
        let chart = charts::ranks(&spreads, phase.rate(), format!("{caption}. {says}"))?;
        let equivalent = html! {
            p.says { (says) }
            (details("The same in figures", &ranks::table(phase, &spreads, MOST_BARS).html()))
        };
        figures.push(figure(&caption, &chart, Some(rank_legend(spreads.len())), &equivalent));
    }
    Ok(html! {
        p { "What each rank reached until its files were closed, over the repetitions." }
        div.pairs { @for figure in figures { (figure) } }
    })
}

pub fn hosts(record: &RunRecord) -> fault::Result<Markup> {
    let mut figures = Vec::new();
    for phase in &Phase::all(record) {
        let spreads = hosts::spreads(phase);
        if spreads.is_empty() {
            continue;
        }
        let caption = format!("{}: {} by host", phase.title(), phase.rate().unit());
        let says = hosts::sentence(phase, &spreads);
        let rates: Vec<_> = spreads.iter().map(|spread| spread.rate.clone()).collect();
        let chart = charts::hosts(&rates, phase.rate(), format!("{caption}. {says}"))?;
        let equivalent = html! {
            p.says { (says) }
            (details("The same in figures", &hosts::table(phase, &spreads, MOST_BARS).html()))
        };
        figures.push(figure(&caption, &chart, Some(legend("slowest host (▼)", rates.len())), &equivalent));
    }
    Ok(html! {
        p { "What each host's ranks did together until the last of them had closed its files, over the repetitions." }
        div.pairs { @for figure in figures { (figure) } }
    })
}

pub fn layouts(found: &[layouts::Found<'_>]) -> Markup {
    html! {
        @for one in found {
            p.says { (one.sentence()) }
            (one.parts().html())
            @if !one.layout.each.is_empty() {
                (details("Each file", &one.files().html()))
            }
        }
    }
}

fn rank_legend(count: usize) -> Markup {
    legend("slowest rank (▼)", count)
}

fn legend(slowest: &str, count: usize) -> Markup {
    if count > MOST_BARS {
        return charts::legend(&[
            Entry::line(Look::series(0), "median of the repetitions"),
            Entry::line(Look { ink: Ink::Muted, dash: 2 }, "lowest and highest repetition"),
        ]);
    }
    let mut entries = vec![Entry::bar(Look::series(0), "median of the repetitions")];
    if count > 1 {
        entries.push(Entry::bar(Look::series(1), slowest));
    }
    entries.push(Entry::line(Look::solid(Ink::Whisker), "lowest to highest repetition"));
    charts::legend(&entries)
}

pub fn ends(record: &RunRecord) -> Markup {
    html! {
        p { "A phase has more than one end, and a rate depends on which one is meant. Requirements are held against the last." }
        (ends::tails(record).html())
        (ends::of_writes(record).html())
    }
}

/// Heat maps, the proof of the figures, and the figures.
pub fn matrices(matrices: &[Matrix]) -> Markup {
    html! {
        p { "Each cell is one run, its warm-up left out; the ground follows the logarithm of the figure." }
        @for own in matrices {
            @for kind in &matrix::FIGURES {
                @let map = matrix::heat(own, kind);
                (figure(
                    &format!("{}: {} ({})", own.test, kind.title, own.conditions()),
                    &charts::heat(&map),
                    None,
                    &html! {},
                ))
            }
            @for line in own.proof() { p.says { (line) "." } }
            (details("All points in figures, each with its check", &matrix::table(own).html()))
        }
    }
}

/// The answer of a search, and what it rests on.
pub fn search(search: &Search) -> fault::Result<Markup> {
    let title = search.load.title();
    let throughput = charts::search_throughput(
        search,
        format!("Operations per second over {title}. {}", search.sentence),
    )?;
    let latency =
        charts::search_latency(search, format!("Latency over {title}, log scale. {}", search.sentence))?;
    let mut legend = vec![
        Entry::line(Look::solid(Ink::Series(1)), "p50"),
        Entry::line(Look::solid(Ink::Series(2)), "p99"),
    ];
    if search.target_ns.is_some() {
        legend.push(Entry::line(Look { ink: Ink::Required, dash: 1 }, "the target"));
    }
    if search.found.is_some() {
        legend.push(Entry::line(Look { ink: Ink::Required, dash: 2 }, "what was found"));
    }
    let table = search::table(search);
    Ok(html! {
        p { b { (search.sentence) "." } }
        div.pairs {
            (figure(&format!("{}: throughput over {title}", search.phase), &throughput, None, &html! {}))
            (figure(&format!("{}: latency over {title}", search.phase), &latency, Some(charts::legend(&legend)), &html! {}))
        }
        (table.html())
    })
}
