//! One rank's part of a phase: where it stands, whom it meets, and what it brings home.

use std::sync::atomic::Ordering;
use std::time::Duration;

use fault::{Fault, Result};
use fleet::{Aborted, Rank};
use record::{OperationError, OperationKind, RankResult, StopCause};
use rustix::io::Errno;

use super::clock::{now, sleep_until};
use super::entries;
use super::failures::Failures;
use super::meter::Board;
use super::operation_log::OperationLog;
use super::pool::Pool;
use super::probe::EngineKind;
use super::share::Share;
use super::stop_flag::StopFlag;
use super::transfer::TransferRank;
use super::turn::Turn;
use crate::data::Mismatch;
use crate::ground::Grounds;
use crate::workload::{Activity, Pacing, Phase, Workload};

/// What all ranks of a phase share.
pub struct PhaseContext<'a> {
    /// The whole workload.
    pub workload: &'a Workload,
    /// The phase.
    pub phase: &'a Phase,
    /// Where files are made.
    pub grounds: &'a Grounds,
    /// Counters for whoever watches.
    pub board: &'a Board,
    /// Somebody wants us to stop.
    pub stop: &'a StopFlag,
    /// How I/O is submitted, per job.
    pub engines: &'a [EngineKind],
    /// vCPUs to bind the ranks of this process to, in order; empty: not bound.
    pub pin: &'a [u32],
    /// What each rank's share holds.
    pub shares: &'a [Share],
    /// The items, where ranks take them from each other.
    pub pool: Option<&'a Pool>,
    /// What went wrong.
    pub failures: &'a Failures,
    /// Name of this host.
    pub host: &'a str,
}

/// What a rank brings home.
#[derive(Debug)]
pub struct RankOutcome {
    /// Times and counts.
    pub result: RankResult,
    /// Why it ended.
    pub cause: StopCause,
    /// Whether the wear-out ran into its cap.
    pub wear_out_capped: bool,
    /// The common start (ns, monotonic).
    pub origin: u64,
    /// How much later the rank began.
    pub late_ns: u64,
    /// Bytes compared and words that differ.
    pub verified: (u64, u64),
    /// Entries that were looked for and found.
    pub matched: Option<u64>,
}

impl PhaseContext<'_> {
    /// A system error ends this rank's work, and with it everyone's.
    pub fn fail_errno(
        &self,
        rank: u32,
        kind: OperationKind,
        (owner, file): (u32, &str),
        offset: Option<u64>,
        error: Errno,
    ) {
        let path = self.grounds.of(owner).path().join(file);
        self.fail(rank, kind, file, offset, Fault::os(kind.word(), &path, error));
    }

    pub(super) fn fail(&self, rank: u32, kind: OperationKind, file: &str, offset: Option<u64>, fault: Fault) {
        self.stop.request(StopCause::Error);
        let error = OperationError {
            rank,
            kind,
            file: file.to_owned(),
            offset,
            message: fault.message().to_owned(),
            hint: fault.hint_text().map(str::to_owned),
        };
        self.failures.fail(fault, error);
    }
}

impl PhaseContext<'_> {
    /// Where rank `rank` notes each of its operations, if that is asked for.
    pub(super) fn operation_log(&self, rank: u32) -> Option<OperationLog> {
        self.phase.operation_log.as_ref().map(|template| OperationLog::new(template, rank))
    }

    /// Writes what a rank has noted. Returns the number of failures.
    pub(super) fn write_log(&self, rank: u32, kind: OperationKind, log: Option<&OperationLog>) -> u64 {
        let Some(Err(fault)) = log.map(OperationLog::write) else { return 0 };
        let file = log.map(|log| log.path().display().to_string()).unwrap_or_default();
        self.fail(rank, kind, &file, None, fault);
        1
    }
}

/// The kinds that are a job's work.
pub fn main_kinds(activity: &Activity) -> Vec<OperationKind> {
    match activity {
        Activity::Transfer(transfer) => {
            let both = [(transfer.reads(), OperationKind::Read), (transfer.writes(), OperationKind::Write)];
            both.into_iter().filter(|(used, _)| *used).map(|(_, kind)| kind).collect()
        }
        Activity::Entries(entries) => vec![entries::kind_of(entries)],
    }
}

/// Runs one rank's part of a phase. Ranks that have no job only meet the others.
pub fn run_rank(context: &PhaseContext, rank: &impl Rank) -> Result<RankOutcome> {
    bind(context.pin, rank.number() - context.board.first());
    let Some((job, first)) = context.phase.job_of(rank.number(), rank.size()) else {
        context.board.of(rank.number()).transferred.store(true, Ordering::Relaxed);
        let start = only_meet(context.phase, rank)?;
        return Ok(idle(context, rank.number(), start));
    };
    let phase = context.phase;
    let number = phase.jobs.iter().position(|j| std::ptr::eq(j, job)).unwrap_or(0);
    let (in_job, job_size) = phase.place_in(number, rank.number(), rank.size());
    let place = Place {
        number: rank.number(),
        size: phase.size(rank.size()),
        job: number,
        in_job,
        job_size,
        first_in_group: first,
    };
    match &job.activity {
        Activity::Transfer(transfer) => {
            TransferRank { context, transfer, place, engine: context.engines[place.job] }.run(rank)
        }
        Activity::Entries(entries) => entries::run(context, entries, place, rank),
    }
}

/// The common start, as one rank met it.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// When it was to be (ns, monotonic).
    pub origin: u64,
    /// How much later this rank got there.
    pub late_ns: u64,
}

/// A start that is further away than this is no start: the clocks of two hosts differ by more than was measured.
const FAR_NS: u64 = 60_000_000_000;
/// Waking up takes about this long: the rest is waited for awake.
const AWAKE_NS: u64 = 60_000;

/// Waits for all ranks, and for the instant at which they begin together.
pub(super) fn start_together(rank: &impl Rank) -> Result<Start> {
    let origin = rank.start(now()).map_err(called_off)?;
    let ahead = origin.saturating_sub(now());
    if ahead > FAR_NS {
        let message = format!("the common start is {:.0} s away by this host's clock", ahead as f64 / 1e9);
        return Err(Fault::new(fault::Kind::Io, message)
            .hint("somebody changed a clock between two phases, or it runs far too fast or too slow"));
    }
    if ahead > 0 {
        sleep_until(origin.saturating_sub(AWAKE_NS));
        while now() < origin {
            std::hint::spin_loop();
        }
    }
    Ok(Start { origin, late_ns: now() - origin })
}

/// Comes to all meetings of a phase and does nothing else.
pub fn only_meet(phase: &Phase, rank: &impl Rank) -> Result<Start> {
    let start = start_together(rank)?;
    meet(phase, rank)?;
    if phase.stop.wear_out {
        furthest(phase, None, 0, rank)?;
    }
    meet(phase, rank)?;
    Ok(start)
}

/// Where a rank stands.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Number among all ranks.
    pub number: u32,
    /// All ranks.
    pub size: u32,
    /// Number of its job.
    pub job: usize,
    /// Number in its job.
    pub in_job: u32,
    /// Ranks of its job.
    pub job_size: u32,
    /// The first rank of its job in its group; without groups, of all.
    pub first_in_group: u32,
}

/// The most operations that a rank of the same job has done; ranks without a job only meet the others.
///
/// Jobs of one phase do different things: only operations of the same job can be compared.
pub(super) fn furthest(phase: &Phase, job: Option<usize>, operations: u64, rank: &impl Rank) -> Result<u64> {
    let mut own = operations;
    for number in 0..phase.jobs.len() {
        let mine = job == Some(number);
        let most = rank.all_max(if mine { operations } else { 0 }).map_err(called_off)?;
        if mine {
            own = most;
        }
    }
    Ok(own)
}

/// In a phase with barriers, waits until all ranks have come this far; the instant at which the last one had.
pub(super) fn meet(phase: &Phase, rank: &impl Rank) -> Result<Option<u64>> {
    if !phase.barriers {
        return Ok(None);
    }
    rank.latest(now()).map(Some).map_err(called_off)
}

/// The others are not waited for any more: this rank ends with what it has.
pub(super) fn called_off_later(context: &PhaseContext) -> Option<u64> {
    context.stop.request(StopCause::Error);
    None
}

/// Why a rank ended that was called off.
pub(super) fn called_off_cause(context: &PhaseContext) -> StopCause {
    context.stop.cause().unwrap_or(StopCause::Error)
}

pub(super) fn called_off(_: Aborted) -> Fault {
    Fault::new(fault::Kind::Interrupted, "another rank ended the phase")
}

fn idle(context: &PhaseContext, number: u32, start: Start) -> RankOutcome {
    let result = RankResult { rank: number, host: context.host.to_owned(), ..RankResult::default() };
    RankOutcome {
        result,
        cause: StopCause::Bytes,
        wear_out_capped: false,
        origin: start.origin,
        late_ns: start.late_ns,
        verified: (0, 0),
        matched: None,
    }
}

/// In a closed loop, jobs that keep to their part wait for each other; in an open one their rates do that.
pub(super) fn turn<'a>(context: &PhaseContext<'a>, place: Place, pacing: Pacing) -> Option<Turn<'a>> {
    let skews = context.phase.skews().filter(|_| pacing == Pacing::Closed)?;
    let group = context.phase.group_of(place.number, place.size)?;
    let first = place.first_in_group;
    let count = context.phase.jobs[place.job].ranks.unwrap_or(u32::MAX).min(group.end - first);
    // Ranks look at those of their own process, or group: it has some of every job, in like parts.
    let here = context.board.here(group);
    let own = context.board.here(first..first + count);
    let own = own.start - here.start..own.end - here.start;
    Some(Turn::new(&context.board.live[here], own, skews[place.job]))
}

/// Binds the rank that is so many further than the first of its process.
fn bind(pin: &[u32], rank: u32) {
    if pin.is_empty() {
        return;
    }
    let mut set = rustix::thread::CpuSet::new();
    set.set(pin[rank as usize % pin.len()] as usize);
    // The vCPU came from the topology; if it has gone offline since, running unbound is the better failure.
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

/// Data that came back other than it was written.
pub(super) fn damaged(rank: u32, kind: OperationKind, file: &str, bad: &Mismatch) -> OperationError {
    let Mismatch { offset, expected, found, .. } = bad;
    OperationError {
        rank,
        kind,
        file: file.to_owned(),
        offset: Some(*offset),
        message: format!("`{file}` holds {found:#018x} at offset {offset}, {expected:#018x} was written"),
        hint: Some(
            "the storage returned data that was not written: keep the file (`--keep-files`) and check the hardware"
                .to_owned(),
        ),
    }
}

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
