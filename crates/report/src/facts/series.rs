//! Rates and latency over time, as points for charts and as rows for people.

use std::time::Duration;

use record::{Interval, Latency, PhaseResult};

use super::phases::{Phase, Rate, median};
use crate::table::Table;
use crate::text;

/// Shorter ends of a phase are not drawn: their rate is mostly rounding.
const SHORTEST_NS: u64 = 100_000_000;

/// The intervals of a phase that are long enough to say something (all, if none is).
pub fn intervals(phase: &PhaseResult) -> impl Iterator<Item = &Interval> {
    let all_short = phase.series.iter().all(|interval| interval.length_ns < SHORTEST_NS);
    phase.series.iter().filter(move |interval| all_short || interval.length_ns >= SHORTEST_NS)
}

/// (seconds since the phase began at the middle of the interval, rate).
pub fn rates(phase: &PhaseResult, rate: Rate) -> Vec<(f64, f64)> {
    intervals(phase)
        .map(|interval| (middle(interval), rate.of_interval(interval)))
        .filter(|(_, value)| value.is_finite())
        .collect()
}

/// (seconds since the phase began at the middle of the interval, ns that `percent` of the operations did not exceed).
pub fn latencies(phase: &PhaseResult, percent: f64) -> Vec<(f64, f64)> {
    intervals(phase)
        .filter_map(|interval| {
            let latency = latency(interval);
            (latency.count() > 0).then(|| (middle(interval), nanoseconds(latency.percentile(percent))))
        })
        .collect()
}

fn middle(interval: &Interval) -> f64 {
    (interval.start_ns as f64 + interval.length_ns as f64 / 2.0) / 1e9
}

fn nanoseconds(duration: Duration) -> f64 {
    (duration.as_nanos() as f64).max(1.0)
}

/// Latency of all kinds in an interval.
pub fn latency(interval: &Interval) -> Latency {
    let mut merged = Latency::new();
    interval.operations.iter().for_each(|operation| merged.merge(&operation.latency));
    merged
}

/// What the throughput chart shows, in rows: the text equivalent.
pub fn table(phase: &Phase<'_>) -> Table {
    let rate = phase.rate();
    let mut table = Table::new(format!("{} over time, by repetition", phase.title()))
        .figures(["Repetition", "Intervals", "Lowest", "At", "Median", "Highest", "Last fifth"])
        .words(["Shape (lows)"]);
    for (number, result) in &phase.results {
        let points = rates(result, rate);
        let Some(lowest) = points.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        let values: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
        let mut sorted = values.clone();
        let middle = median(&mut sorted).unwrap_or(0.0);
        let mut last = values[values.len() - values.len().div_ceil(5)..].to_vec();
        table.row(vec![
            number.to_string().into(),
            values.len().to_string().into(),
            rate.show(lowest.1).into(),
            format!("{:.1} s", lowest.0).into(),
            rate.show(middle).into(),
            rate.show(sorted.last().copied().unwrap_or(0.0)).into(),
            rate.show(median(&mut last).unwrap_or(0.0)).into(),
            shape(&values).into(),
        ]);
    }
    table
}

/// p50 and p99 over time, in rows: the text equivalent of the latency chart.
pub fn latency_table(phase: &Phase<'_>) -> Table {
    let mut table = Table::new(format!("{} latency over time, by repetition", phase.title())).figures([
        "Repetition",
        "Median of p50",
        "Worst p50",
        "Median of p99",
        "Worst p99",
        "Worst p99 at",
    ]);
    for (number, result) in &phase.results {
        let (p50, p99) = (latencies(result, 50.0), latencies(result, 99.0));
        let Some(worst) = p99.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        let middle = |points: &[(f64, f64)]| median(&mut points.iter().map(|p| p.1).collect::<Vec<_>>());
        let most = p50.iter().map(|p| p.1).fold(0.0, f64::max);
        let show = |ns: f64| text::latency(Some(Duration::from_nanos(ns as u64)));
        table.row(vec![
            number.to_string().into(),
            show(middle(&p50).unwrap_or(0.0)).into(),
            show(most).into(),
            show(middle(&p99).unwrap_or(0.0)).into(),
            show(worst.1).into(),
            format!("{:.1} s", worst.0).into(),
        ]);
    }
    table
}

/// A sparkline of at most 40 characters: the lowest of each part, so that no dip is lost.
fn shape(values: &[f64]) -> String {
    let size = values.len().div_ceil(40).max(1);
    let lows: Vec<f64> =
        values.chunks(size).map(|chunk| chunk.iter().copied().fold(f64::MAX, f64::min)).collect();
    text::sparkline(&lows)
}

/// At most `limit` points that keep the lowest and the highest of every stretch, so that no dip or peak is lost.
pub fn thin(points: &[(f64, f64)], limit: usize) -> Vec<(f64, f64)> {
    if points.len() <= limit.max(2) {
        return points.to_vec();
    }
    let size = points.len().div_ceil(limit.max(2) / 2);
    let mut thinned = Vec::with_capacity(limit);
    for stretch in points.chunks(size) {
        let lowest = stretch.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let highest = stretch.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        if let (Some(lowest), Some(highest)) = (lowest, highest) {
            let (first, second) = if lowest.0 <= highest.0 { (lowest, highest) } else { (highest, lowest) };
            thinned.push(*first);
            if first != second {
                thinned.push(*second);
            }
        }
    }
    thinned
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn thinning_keeps_the_extremes_and_the_limit(values in proptest::collection::vec(0.0..1e9f64, 0..3000)) {
            let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(i, v)| (i as f64, *v)).collect();
            let thinned = thin(&points, 600);
            proptest::prop_assert!(thinned.len() <= 600);
            let highest = |points: &[(f64, f64)]| points.iter().map(|p| p.1).fold(0.0, f64::max);
            let lowest = |points: &[(f64, f64)]| points.iter().map(|p| p.1).fold(f64::MAX, f64::min);
            proptest::prop_assert_eq!(highest(&points).to_bits(), highest(&thinned).to_bits());
            proptest::prop_assert_eq!(lowest(&points).to_bits(), lowest(&thinned).to_bits());
            proptest::prop_assert!(thinned.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
