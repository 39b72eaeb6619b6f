//! Watches the ranks of a phase: progress once a second, signals at once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use record::{Event, Listener, Mark, StopCause};

use super::collect::Collector;
use crate::engine::{Board, StopFlag, now};
use crate::interrupt;

/// How often the watcher looks.
const LOOK: Duration = Duration::from_millis(20);
/// How often it reports.
const REPORT_NS: u64 = 1_000_000_000;

/// What the watcher looks at.
pub struct Watch<'a> {
    /// Name of the phase.
    pub phase: &'a str,
    /// Counters of the ranks.
    pub board: &'a Board,
    /// To stop them.
    pub stop: &'a StopFlag,
    /// Ranks whose threads have ended.
    pub ended: &'a AtomicU32,
    /// Ranks in all.
    pub ranks: u32,
}

impl Watch<'_> {
    /// Returns when all ranks have ended.
    pub fn until_ended(&self, collector: &mut Collector, listener: &mut dyn Listener) {
        let started = now();
        let mut last = Mark::default();
        let mut draining = false;
        while self.ended.load(Ordering::Acquire) < self.ranks {
            std::thread::sleep(LOOK);
            if interrupt::requested().is_some() {
                self.stop.request(StopCause::Interrupted);
            }
            let elapsed = now() - started;
            if elapsed < last.elapsed_ns + REPORT_NS {
                continue;
            }
            collector.drain(self.board);
            let mark = self.board.sum(elapsed);
            let done = self.board.ranks_done();
            if done == self.ranks && !draining {
                draining = true;
                listener.on_event(&Event::Draining { phase: self.phase.to_owned() });
            }
            listener.on_event(&self.progress(&last, &mark, done));
            last = mark;
        }
        collector.drain(self.board);
    }

    fn progress(&self, last: &Mark, mark: &Mark, ranks_done: u32) -> Event {
        let seconds = (mark.elapsed_ns - last.elapsed_ns) as f64 / 1e9;
        Event::Progress {
            phase: self.phase.to_owned(),
            elapsed_ns: mark.elapsed_ns,
            bytes: mark.bytes.get(),
            operations: mark.operations,
            bytes_per_second: mark.bytes.saturating_sub(last.bytes).get() as f64 / seconds,
            operations_per_second: mark.operations.saturating_sub(last.operations) as f64 / seconds,
            ranks_done,
        }
    }
}
