//! Merges what ranks hand over: intervals of the same second, and all of them per kind.

use std::collections::BTreeMap;

use record::{Latency, OperationKind, OperationResult};
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::gathered::Gathered;
use crate::engine::{Board, RankInterval};

/// What operations of a kind came to in a second, as far as it is known.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fresh {
    /// Number of the second, from the common start.
    pub second: u64,
    /// Kind.
    pub kind: OperationKind,
    /// Bytes moved.
    pub bytes: Bytes,
    /// Latency of the operations.
    pub latency: Latency,
}

/// Collects the intervals of a phase.
#[derive(Debug, Default)]
pub struct Collector {
    /// By number of the interval and kind.
    intervals: BTreeMap<(u64, OperationKind), (Bytes, Latency)>,
    /// The kinds whose latency is shown while the phase runs.
    watched: Vec<OperationKind>,
    /// Those that came in since they were last asked for.
    fresh: BTreeMap<(u64, OperationKind), (Bytes, Latency)>,
}

impl Collector {
    /// A collector that also tells the latency of operations of `kinds` as they come in.
    pub fn watching(kinds: Vec<OperationKind>) -> Self {
        Self { watched: kinds, ..Self::default() }
    }

    /// The watched operations that came in since the last call: second by second, kind by kind.
    pub fn take_fresh(&mut self) -> Vec<Fresh> {
        let fresh = std::mem::take(&mut self.fresh);
        fresh
            .into_iter()
            .map(|((second, kind), (bytes, latency))| Fresh { second, kind, bytes, latency })
            .collect()
    }

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
        if self.watched.contains(&interval.kind) {
            self.fresh
                .entry((interval.number, interval.kind))
                .and_modify(|(sum, latency)| {
                    *sum = *sum + bytes;
                    latency.merge(&interval.latency);
                })
                .or_insert_with(|| (bytes, interval.latency.clone()));
        }
        self.intervals
            .entry((interval.number, interval.kind))
            .and_modify(|(sum, latency)| {
                *sum = *sum + bytes;
                latency.merge(&interval.latency);
            })
            .or_insert((bytes, interval.latency));
    }

    /// Everything that came in: sums per kind, and the intervals of the kinds that are watched.
    pub fn finish(self) -> Gathered {
        let mut totals: BTreeMap<OperationKind, OperationResult> = BTreeMap::new();
        for ((_, kind), (bytes, latency)) in &self.intervals {
            let total = totals.entry(*kind).or_insert_with(|| empty(*kind));
            total.operations += latency.count();
            total.bytes = total.bytes + *bytes;
            total.latency.merge(latency);
        }
        for kind in &self.watched {
            totals.entry(*kind).or_insert_with(|| empty(*kind));
        }
        let watched = self.intervals.into_iter().filter(|((_, kind), _)| self.watched.contains(kind));
        Gathered::new(totals.into_values().collect(), watched.collect())
    }
}

/// No operations of a kind.
pub fn empty(kind: OperationKind) -> OperationResult {
    OperationResult { kind, operations: 0, bytes: Bytes::ZERO, latency: Latency::new().compact() }
}

#[cfg(test)]
mod tests {
    use record::Interval;

    use super::*;
    use crate::engine::INTERVAL_NS;

    fn interval(number: u64, bytes: u64) -> RankInterval {
        let mut latency = Latency::new();
        latency.record(1000);
        RankInterval { number, kind: OperationKind::Read, bytes, latency: latency.compact() }
    }

    fn collect(intervals: impl IntoIterator<Item = RankInterval>) -> Gathered {
        let mut collector = Collector::watching(vec![OperationKind::Read]);
        intervals.into_iter().for_each(|i| collector.add(i));
        collector.finish()
    }

    fn bytes(series: &[Interval]) -> Vec<u64> {
        series.iter().map(|i| i.bytes().get()).collect()
    }

    #[test]
    fn ranks_are_merged_and_silent_seconds_kept() {
        let gathered = collect([interval(0, 10), interval(2, 5), interval(0, 7)]);
        assert_eq!((gathered.totals()[0].operations, gathered.totals()[0].bytes), (3, Bytes::new(22)));
        let series = gathered.series(2_500_000_000);
        assert_eq!(bytes(&series), [17, 0, 5]);
        assert_eq!(series[2].length_ns, 500_000_000);
    }

    #[test]
    fn long_series_get_longer_intervals() {
        let gathered = collect((0..10_000).map(|number| interval(number, 1)));
        let all = gathered.totals()[0].bytes.get();
        let series = gathered.series(10_000 * INTERVAL_NS);
        assert!(series.len() <= super::super::gathered::LONGEST_SERIES);
        assert_eq!(bytes(&series).iter().sum::<u64>(), all);
    }

    #[test]
    fn what_processes_gathered_is_merged_whatever_their_steps() {
        let mut root = collect((0..100).map(|number| interval(number, 1)));
        let mut other = collect((0..50).map(|number| interval(number, 2)));
        other.shorten(16);
        let bytes_sent = other.to_bytes();
        assert!(bytes_sent.len() < 16 * 120, "{}", bytes_sent.len());
        root.merge(Gathered::from_bytes(&bytes_sent).unwrap());
        assert_eq!((root.totals()[0].operations, root.totals()[0].bytes), (150, Bytes::new(200)));
        let series = root.series(100 * INTERVAL_NS);
        assert_eq!(series[0].length_ns, 4 * INTERVAL_NS, "the longest step of all");
        assert_eq!(bytes(&series)[..3], [12, 12, 12]);
        assert_eq!(bytes(&series).iter().sum::<u64>(), 200);
        assert!(Gathered::from_bytes(&bytes_sent[..20]).is_err());
    }

    #[test]
    fn an_hour_of_480_processes_stays_small() {
        let mut wide = Latency::new();
        (0..300u64).for_each(|n| wide.record(1 << 20 | n << 12));
        let hour = (0..3600).map(|number| RankInterval { latency: wide.compact(), ..interval(number, 1) });
        let mut gathered = collect(hour);
        gathered.shorten(Gathered::most_of(480));
        let size = gathered.to_bytes().len();
        assert!(size * 480 < 128 << 20, "{size} bytes of each process");
    }
}
