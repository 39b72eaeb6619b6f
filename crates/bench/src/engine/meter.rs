//! Where a rank counts. It owns its counters: the hot path takes no lock and allocates nothing; once a second the
//! interval that ended is handed over.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use fleet::Block;
use record::{Latency, Mark, OperationKind, Tally};
use units::Bytes;

use super::clock::now;
use super::operation_log::OperationLog;

/// Length of an interval of the series.
pub const INTERVAL_NS: u64 = 1_000_000_000;

/// What a rank publishes while it runs. Plain stores to a cache line of its own: no rank ever waits for a reader.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Live {
    /// Main operations so far.
    pub operations: AtomicU64,
    /// Bytes so far.
    pub bytes: AtomicU64,
    /// Whether the rank has done its transfers.
    pub transferred: AtomicBool,
    /// Intervals that ended, not yet collected.
    pub intervals: Mutex<Vec<RankInterval>>,
}

/// One rank's interval of one kind.
#[derive(Debug, Clone)]
pub struct RankInterval {
    /// Number of the interval since the phase's start.
    pub number: u64,
    /// Kind.
    pub kind: OperationKind,
    /// Bytes moved.
    pub bytes: u64,
    /// Latency of the operations.
    pub latency: Latency,
}

/// Counters all ranks of a process share with whoever watches.
#[derive(Debug)]
pub struct Board {
    /// Number of the first rank.
    first: u32,
    /// One per rank.
    pub live: Vec<Live>,
    first_done: OnceLock<Mark>,
}

impl Board {
    /// A board for the ranks of a process.
    pub fn new(block: Block) -> Self {
        let live = block.ranks().map(|_| Live::default()).collect();
        Self { first: block.first, live, first_done: OnceLock::new() }
    }

    /// Number of the first rank here.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Where a rank of this process counts.
    pub fn of(&self, rank: u32) -> &Live {
        &self.live[(rank - self.first) as usize]
    }

    /// How many of the first `size` ranks are here.
    pub fn owners(&self, size: u32) -> u32 {
        self.here(0..size).len() as u32
    }

    /// The places of those of `ranks` that are here.
    pub fn here(&self, ranks: Range<u32>) -> Range<usize> {
        let place = |rank: u32| (rank.saturating_sub(self.first) as usize).min(self.live.len());
        place(ranks.start)..place(ranks.end)
    }

    /// What all ranks have done until now.
    pub fn sum(&self, elapsed_ns: u64) -> Mark {
        let sum = |counter: fn(&Live) -> &AtomicU64| {
            self.live.iter().map(|l| counter(l).load(Ordering::Relaxed)).sum()
        };
        Mark { elapsed_ns, operations: sum(|l| &l.operations), bytes: Bytes::new(sum(|l| &l.bytes)) }
    }

    /// The first rank to call this sets the first-done mark.
    pub fn mark_first_done(&self, elapsed_ns: u64) {
        self.first_done.get_or_init(|| self.sum(elapsed_ns));
    }

    /// When the first rank had done its share, if one had.
    pub fn first_done(&self) -> Option<Mark> {
        self.first_done.get().copied()
    }

    /// Ranks that have done their transfers.
    pub fn ranks_done(&self) -> u32 {
        self.live.iter().filter(|l| l.transferred.load(Ordering::Relaxed)).count() as u32
    }
}

#[derive(Debug)]
struct Kind {
    kind: OperationKind,
    bytes: u64,
    tally: Tally,
}

/// A rank's own counters.
#[derive(Debug)]
pub struct Meter<'board> {
    live: &'board Live,
    kinds: Vec<Kind>,
    origin: u64,
    interval: u64,
    interval_end: u64,
    /// Main operations done.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Each operation by itself, where that is asked for.
    pub log: Option<OperationLog>,
}

impl<'board> Meter<'board> {
    /// Counters for the given kinds. Intervals count from `origin` (ns, monotonic).
    pub fn new(live: &'board Live, kinds: &[OperationKind]) -> Self {
        let kinds = kinds.iter().map(|kind| Kind { kind: *kind, bytes: 0, tally: Tally::new() }).collect();
        Self { live, kinds, origin: 0, interval: 0, interval_end: 0, operations: 0, bytes: 0, log: None }
    }

    /// Sets the common start.
    pub fn start(&mut self, origin: u64) {
        self.origin = origin;
        self.interval_end = origin + INTERVAL_NS;
    }

    /// Index of a kind, resolved once before the loop. A kind that was not announced counts as the first.
    pub fn index(&self, kind: OperationKind) -> usize {
        self.kinds.iter().position(|k| k.kind == kind).unwrap_or(0)
    }

    /// Adds a main operation that took `nanoseconds` and moved `bytes`.
    #[inline]
    pub fn record(&mut self, index: usize, nanoseconds: u64, bytes: u64) {
        let kind = &mut self.kinds[index];
        kind.tally.record(nanoseconds);
        kind.bytes += bytes;
        self.operations += 1;
        self.bytes += bytes;
        self.live.operations.store(self.operations, Ordering::Relaxed);
        self.live.bytes.store(self.bytes, Ordering::Relaxed);
        if self.log.is_some() {
            self.note(nanoseconds, bytes);
        }
    }

    #[cold]
    fn note(&mut self, nanoseconds: u64, bytes: u64) {
        let ended = now().saturating_sub(self.origin);
        if let Some(log) = &mut self.log {
            log.add(ended, nanoseconds, bytes);
        }
    }

    /// Adds an operation that is timed but is not the phase's work (open, fsync, close).
    pub fn record_side(&mut self, index: usize, nanoseconds: u64) {
        self.kinds[index].tally.record(nanoseconds);
    }

    /// When the current interval ends (ns, monotonic).
    #[inline]
    pub fn interval_end(&self) -> u64 {
        self.interval_end
    }

    /// Hands over the interval if `now` is beyond its end.
    pub fn rotate(&mut self, now: u64) {
        if now >= self.interval_end {
            self.flush();
            self.interval = (now - self.origin) / INTERVAL_NS;
            self.interval_end = self.origin + (self.interval + 1) * INTERVAL_NS;
        }
    }

    /// Hands over what has been counted since the last time.
    pub fn flush(&mut self) {
        let mut intervals = self.live.intervals.lock().unwrap_or_else(PoisonError::into_inner);
        for kind in &mut self.kinds {
            let Some(latency) = kind.tally.take() else { continue };
            let (number, bytes) = (self.interval, std::mem::take(&mut kind.bytes));
            intervals.push(RankInterval { number, kind: kind.kind, bytes, latency });
        }
    }

    /// Tells those who watch that the transfers are done.
    pub fn transferred(&self) {
        self.live.transferred.store(true, Ordering::Relaxed);
    }
}
