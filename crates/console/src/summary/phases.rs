use std::time::Duration;

use record::{Latency, PhaseResult, TestRecord, statistics};
use units::{Bandwidth, Bytes, Iops, format_duration};

use crate::{Align, Cell, Table};

/// One row per phase: medians over the repetitions, latency of all of them together.
pub fn table(test: &TestRecord) -> Table {
    let mut table = Table::new([
        ("phase", Align::Left),
        ("repetitions", Align::Right),
        ("median", Align::Right),
        ("min", Align::Right),
        ("max", Align::Right),
        ("per pCore", Align::Right),
        ("operations", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("tail", Align::Right),
        ("limited by", Align::Left),
    ]);
    table.may_leave_out(&["min", "max", "repetitions", "tail", "p50", "operations"]);
    for name in test.phase_names() {
        let phases: Vec<&PhaseResult> = test.phases(name).collect();
        table.row(row(name, &phases));
    }
    table
}

fn row(name: &str, phases: &[&PhaseResult]) -> [Cell; 11] {
    let rates = values(phases, |phase| phase.bandwidth().get());
    let per_pcore = values(phases, |phase| phase.rate_per_rank().get());
    let iops = values(phases, |phase| phase.last_done.iops().get());
    let moved = phases.iter().any(|phase| phase.bytes() > Bytes::ZERO);
    let bandwidth = |rate: Option<f64>| match rate.filter(|_| moved) {
        Some(rate) => Cell::new(Bandwidth::bytes_per_second(rate)),
        None => Cell::new("-"),
    };
    let latency = latency(phases);
    [
        Cell::new(titled(name, phases)),
        Cell::new(phases.len()),
        bandwidth(statistics::median(&rates)).strong(),
        bandwidth(rates.iter().copied().reduce(f64::min)),
        bandwidth(rates.iter().copied().reduce(f64::max)),
        bandwidth(statistics::median(&per_pcore)),
        statistics::median(&iops).map_or(Cell::new("-"), |rate| Cell::new(Iops::new(rate))),
        percentile(&latency, 50.0),
        percentile(&latency, 99.0),
        Cell::new(tail(phases)),
        Cell::new(limits(phases)),
    ]
}

/// The name, with what a search has found: the first repetition's, for they all look for the same.
fn titled(name: &str, phases: &[&PhaseResult]) -> String {
    match phases.first().and_then(|phase| Some((phase.matched?, phase.operation_count()))) {
        Some((matched, all)) => format!("{name} ({matched} of {all} found)"),
        None => name.to_owned(),
    }
}

fn values(phases: &[&PhaseResult], figure: impl Fn(&PhaseResult) -> f64) -> Vec<f64> {
    phases.iter().map(|phase| figure(phase)).collect()
}

fn latency(phases: &[&PhaseResult]) -> Latency {
    let mut all = Latency::new();
    phases.iter().flat_map(|phase| phase.main_results()).for_each(|result| all.merge(&result.latency));
    all
}

fn percentile(latency: &Latency, percent: f64) -> Cell {
    if latency.count() == 0 {
        return Cell::new("-");
    }
    Cell::new(format_duration(latency.percentile(percent)))
}

/// Median time between the first and the last rank's end.
fn tail(phases: &[&PhaseResult]) -> String {
    let tails =
        values(phases, |phase| phase.last_done.elapsed_ns.saturating_sub(phase.first_done.elapsed_ns) as f64);
    statistics::median(&tails)
        .map_or("-".to_owned(), |nanoseconds| format_duration(Duration::from_nanos(nanoseconds as u64)))
}

fn limits(phases: &[&PhaseResult]) -> String {
    let mut words: Vec<&str> =
        phases.iter().filter_map(|phase| Some(phase.limit.as_ref()?.cause.words())).collect();
    words.sort_unstable();
    words.dedup();
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}
