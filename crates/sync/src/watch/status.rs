use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::job::lock;

/// How far a watch is behind, for whoever looks at it while it goes on.
#[derive(Debug, Default)]
pub struct Status {
    by: Mutex<&'static str>,
    /// When the oldest change that is not at the destination was heard: in the inbox, and in the round that goes on.
    oldest: Mutex<[Option<Instant>; 2]>,
    waiting: AtomicU64,
    rounds: AtomicU64,
    rescans: AtomicU64,
    gaps: AtomicU64,
    failing: AtomicU64,
}

impl Status {
    /// What tells of changes; empty until the watch began.
    pub fn by(&self) -> &'static str {
        *lock(&self.by)
    }

    /// How long ago the oldest change was heard that is not at the destination; zero if all are.
    pub fn lag(&self) -> Duration {
        lock(&self.oldest).iter().flatten().map(Instant::elapsed).max().unwrap_or_default()
    }

    /// Changes that were heard and wait for their round.
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Rounds that looked at what changed.
    pub fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::Relaxed)
    }

    /// Rounds that looked at everything, beside the first.
    pub fn rescans(&self) -> u64 {
        self.rescans.load(Ordering::Relaxed)
    }

    /// How often changes were lost.
    pub fn gaps(&self) -> u64 {
        self.gaps.load(Ordering::Relaxed)
    }

    /// Entries that could not be done and are tried again.
    pub fn failing(&self) -> u64 {
        self.failing.load(Ordering::Relaxed)
    }

    pub(super) fn follow(&self, by: &'static str) {
        *lock(&self.by) = by;
    }

    pub(super) fn heard(&self, (since, waiting): (Option<Instant>, usize)) {
        lock(&self.oldest)[0] = since;
        self.waiting.store(waiting as u64, Ordering::Relaxed);
    }

    pub(super) fn at_work(&self, since: Option<Instant>) {
        lock(&self.oldest)[1] = since;
    }

    pub(super) fn round(&self, all: bool) {
        if all { &self.rescans } else { &self.rounds }.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn gap(&self) {
        self.gaps.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn set_failing(&self, failing: usize) {
        self.failing.store(failing as u64, Ordering::Relaxed);
    }
}
