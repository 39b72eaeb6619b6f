//! What both engines share: the state of one rank's transfers.

use record::{OperationKind, StopCause};
use rustix::io::Errno;

use super::clock::now;
use super::files::DataFile;
use super::meter::Meter;
use super::pacer::Pacer;
use super::rank::nanoseconds;
use super::stop_flag::StopFlag;
use super::turn::Turn;
use crate::data::{Generator, Mismatch};
use crate::sequence::{Sequence, Step};
use crate::workload::Stop;

/// How often a rank looks whether it should stop, between transfers.
const POLL_NS: u64 = 50_000_000;

/// How long a rank whose job is ahead sleeps before it looks again.
pub const CATCH_UP_NS: u64 = 20_000;

/// Why a transfer failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What was tried.
    pub kind: OperationKind,
    /// On which of the rank's files.
    pub slot: u32,
    /// Where.
    pub offset: u64,
    /// The system's error; `None` when the file ended early.
    pub error: Option<Errno>,
}

/// How a rank's transfers ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// As planned, or by a signal.
    Stopped(StopCause),
    /// By a failure.
    Failed(Failure),
}

/// Mismatches found by verification.
#[derive(Debug, Clone, Copy, Default)]
pub struct Verified {
    /// Bytes compared.
    pub bytes: u64,
    /// 8-byte words that differ.
    pub bad_words: u64,
    /// Transfers that hold any.
    pub bad_transfers: u64,
    /// The first, with the number of its file.
    pub first: Option<(u32, Mismatch)>,
}

/// One rank's transfers in a phase.
pub struct Flow<'a> {
    /// Where to go next.
    pub sequence: Sequence,
    /// Counters.
    pub meter: Meter<'a>,
    /// What to write.
    pub generator: Generator,
    /// Whether one buffer only ever holds transfers of one rank and length, so that it needs not be filled anew.
    pub refills: bool,
    /// Open files.
    pub files: Vec<DataFile>,
    /// Probability of a read: 0 or 1 is never drawn.
    pub read_share: f64,
    /// Probability that a read, or a write, goes to the hit area; `None` without one.
    pub hit_shares: Option<(f64, f64)>,
    /// Draws reads and writes.
    pub random: fastrand::Rng,
    /// Begin the share again at its end ...
    pub repeat: bool,
    /// ... or until this instant has passed (ns, monotonic); 0 without.
    pub repeat_until: u64,
    /// No transfer starts after this instant (ns, monotonic); `u64::MAX` without.
    pub deadline: u64,
    /// Transfers after which to stop.
    pub operation_limit: u64,
    /// Set in the open loop.
    pub pacer: Option<Pacer>,
    /// Set where jobs keep to their part of all operations.
    pub turn: Option<Turn<'a>>,
    /// Rest after each transfer, ns.
    pub think_ns: u64,
    /// fsync after this many writes; 0 never.
    pub fsync_every: u32,
    /// So many of them.
    pub fsync_times: u32,
    /// A transfer that comes back short fails.
    pub single_attempt: bool,
    /// Compare what was read.
    pub verify: bool,
    /// Result of that.
    pub verified: Verified,
    /// Memory to compare with.
    pub scratch: Vec<u8>,
    /// Somebody wants us to stop.
    pub stop: &'a StopFlag,
    /// Transfers that came back short and were completed.
    pub short: u64,
    /// Index of reads, writes and fsyncs in the meter.
    pub read_index: usize,
    /// See above.
    pub write_index: usize,
    /// See above.
    pub fsync_index: usize,
}

impl Flow<'_> {
    /// The clocks of deadline and open loop start at `instant`.
    pub fn begin(&mut self, instant: u64, stop: &Stop) {
        let Stop { time, at_least, .. } = *stop;
        self.repeat_until = at_least.map_or(0, |time| instant.saturating_add(nanoseconds(time)));
        self.deadline = time.map_or(u64::MAX, |time| instant.saturating_add(nanoseconds(time)));
        if let Some(pacer) = &mut self.pacer {
            pacer.start(instant);
        }
    }

    /// The next transfer and whether it writes; `None` at the end of the share.
    #[inline]
    pub fn next(&mut self) -> Option<(Step, bool)> {
        if self.meter.operations >= self.operation_limit {
            return None;
        }
        let write = self.read_share <= 0.0 || (self.read_share < 1.0 && self.random.f64() >= self.read_share);
        if self.hit_shares.is_some() {
            return Some((self.next_beside_hits(write)?, write));
        }
        let step = match self.sequence.step() {
            Some(step) => step,
            None => self.again(false)?,
        };
        Some((step, write))
    }

    /// The next transfer where some go to a hit area. Apart from the others, so that these stay in line with their caller.
    #[inline(never)]
    fn next_beside_hits(&mut self, write: bool) -> Option<Step> {
        let (read, written) = self.hit_shares.unwrap_or_default();
        let hit = self.random.f64() < if write { written } else { read };
        let next = if hit { self.sequence.step_in_hits() } else { self.sequence.step() };
        match next {
            Some(step) => Some(step),
            None => self.again(hit),
        }
    }

    /// The first transfer of the next pass; `None` when there is none.
    #[cold]
    fn again(&mut self, hit: bool) -> Option<Step> {
        if !self.repeat && now() >= self.repeat_until {
            return None;
        }
        self.sequence.rewind();
        if hit { self.sequence.step_in_hits() } else { self.sequence.step() }
    }

    /// The next instant at which something other than a transfer is due.
    #[inline]
    pub fn next_check(&self, now: u64) -> u64 {
        self.meter.interval_end().min(self.deadline).min(now + POLL_NS)
    }

    /// What is due at `now`: hand over an interval, stop at the deadline or when asked.
    pub fn check(&mut self, now: u64) -> Option<StopCause> {
        self.meter.rotate(now);
        if let Some(cause) = self.stop.cause() {
            return Some(cause);
        }
        (now >= self.deadline).then_some(StopCause::Time)
    }

    /// Waits until the next operation of an open loop is due and returns that instant; looks up on the way.
    pub fn wait_until_due(&mut self) -> Result<u64, StopCause> {
        loop {
            let Some(pacer) = &mut self.pacer else { return Ok(now()) };
            let due = pacer.due();
            let current = now();
            if let Some(cause) = self.check(current) {
                return Err(cause);
            }
            if due <= current {
                if let Some(pacer) = &mut self.pacer {
                    pacer.advance();
                }
                return Ok(due);
            }
            super::clock::sleep_until(due.min(self.next_check(current)));
        }
    }

    /// Waits until it is this rank's turn; looks up on the way.
    pub fn wait_for_turn(&mut self) -> Result<(), StopCause> {
        loop {
            if self.turn.as_mut().is_none_or(Turn::take) {
                return Ok(());
            }
            self.wait_a_little()?;
        }
    }

    /// Gives others time to catch up.
    pub fn wait_a_little(&mut self) -> Result<(), StopCause> {
        super::clock::sleep_until(now() + CATCH_UP_NS);
        self.check(now()).map_or(Ok(()), Err)
    }

    /// Rests until `instant`, or until something else is due; returns when it is over.
    pub fn rest_until(&mut self, instant: u64) -> Result<u64, StopCause> {
        loop {
            let current = now();
            if current >= instant {
                return Ok(current);
            }
            if let Some(cause) = self.check(current) {
                return Err(cause);
            }
            super::clock::sleep_until(instant.min(self.next_check(current)));
        }
    }

    /// Compares what was read with what must have been written.
    pub fn verify_read(&mut self, step: Step, buffer: &[u8]) {
        let number = self.files[step.slot as usize].number;
        self.scratch.resize(buffer.len(), 0);
        self.verified.bytes += buffer.len() as u64;
        if let Err(bad) = self.generator.verify(u64::from(number), step.offset, buffer, &mut self.scratch) {
            self.verified.bad_words += bad.words;
            self.verified.bad_transfers += 1;
            self.verified.first.get_or_insert((number, bad));
        }
    }
}
