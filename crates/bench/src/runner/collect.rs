//! Merges what ranks hand over: intervals of the same second, and all of them per kind.

use std::collections::BTreeMap;

use record::{Interval, Latency, OperationKind, OperationResult};
use units::Bytes;

use crate::engine::{Board, INTERVAL_NS, RankInterval};

/// Intervals kept per phase. Longer phases get longer intervals, so that a record of a day stays a document.
const LONGEST_SERIES: usize = 3600;

/// Collects the intervals of a phase.
#[derive(Debug, Default)]
pub struct Collector {
    /// By number of the interval and kind.
    intervals: BTreeMap<(u64, OperationKind), (Bytes, Latency)>,
}

impl Collector {
    /// Takes what the ranks have handed over so far.
    pub fn drain(&mut self, board: &Board) {
        for live in &board.live {
            let taken = std::mem::take(
                &mut *live.intervals.lock().unwrap_or_else(std::sync::PoisonError::into_inner),
            );
            taken.into_iter().for_each(|interval| self.add(interval));
        }
    }

    fn add(&mut self, interval: RankInterval) {
        let bytes = Bytes::new(interval.bytes);
        self.intervals
            .entry((interval.number, interval.kind))
            .and_modify(|(sum, latency)| {
                *sum = *sum + bytes;
                latency.merge(&interval.latency);
            })
            .or_insert((bytes, interval.latency));
    }

    /// Results per kind, and the series of the `main` kinds over `length_ns`.
    pub fn finish(self, main: &[OperationKind], length_ns: u64) -> (Vec<OperationResult>, Vec<Interval>) {
        let mut totals: BTreeMap<OperationKind, OperationResult> = BTreeMap::new();
        for ((_, kind), (bytes, latency)) in &self.intervals {
            let total = totals.entry(*kind).or_insert_with(|| empty(*kind));
            total.operations += latency.count();
            total.bytes = total.bytes + *bytes;
            total.latency.merge(latency);
        }
        for kind in main {
            totals.entry(*kind).or_insert_with(|| empty(*kind));
        }
        (totals.into_values().collect(), self.series(main, length_ns))
    }

    /// One interval per second, those without any operation included.
    fn series(self, main: &[OperationKind], length_ns: u64) -> Vec<Interval> {
        let count = length_ns.div_ceil(INTERVAL_NS);
        let step = count.div_ceil(LONGEST_SERIES as u64).max(1);
        let mut series: Vec<Interval> = (0..count.div_ceil(step))
            .map(|number| {
                let start_ns = number * step * INTERVAL_NS;
                Interval {
                    start_ns,
                    length_ns: (step * INTERVAL_NS).min(length_ns - start_ns),
                    operations: Vec::new(),
                }
            })
            .collect();
        for ((number, kind), (bytes, latency)) in self.intervals {
            let Some(interval) = series.get_mut((number / step) as usize) else { continue };
            if !main.contains(&kind) {
                continue;
            }
            match interval.operations.iter_mut().find(|o| o.kind == kind) {
                Some(result) => {
                    result.operations += latency.count();
                    result.bytes = result.bytes + bytes;
                    result.latency.merge(&latency);
                }
                None => interval.operations.push(OperationResult {
                    kind,
                    operations: latency.count(),
                    bytes,
                    latency,
                }),
            }
        }
        series
    }
}

fn empty(kind: OperationKind) -> OperationResult {
    OperationResult { kind, operations: 0, bytes: Bytes::ZERO, latency: Latency::new().compact() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(number: u64, bytes: u64) -> RankInterval {
        let mut latency = Latency::new();
        latency.record(1000);
        RankInterval { number, kind: OperationKind::Read, bytes, latency: latency.compact() }
    }

    #[test]
    fn ranks_are_merged_and_silent_seconds_kept() {
        let mut collector = Collector::default();
        [interval(0, 10), interval(2, 5), interval(0, 7)].into_iter().for_each(|i| collector.add(i));
        let (totals, series) = collector.finish(&[OperationKind::Read], 2_500_000_000);
        assert_eq!((totals[0].operations, totals[0].bytes), (3, Bytes::new(22)));
        let bytes: Vec<u64> = series.iter().map(|i| i.bytes().get()).collect();
        assert_eq!(bytes, [17, 0, 5]);
        assert_eq!(series[2].length_ns, 500_000_000);
    }

    #[test]
    fn long_series_get_longer_intervals() {
        let mut collector = Collector::default();
        (0..10_000).for_each(|number| collector.add(interval(number, 1)));
        let (totals, series) = collector.finish(&[OperationKind::Read], 10_000 * INTERVAL_NS);
        assert!(series.len() <= LONGEST_SERIES);
        assert_eq!(series.iter().map(|i| i.bytes().get()).sum::<u64>(), totals[0].bytes.get());
    }
}
