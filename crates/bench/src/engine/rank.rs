//! One rank's part of a phase: set up, meet, start at the common instant, work, make durable, close, count.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fault::{Fault, Result};
use fleet::{Aborted, Rank};
use record::{OperationError, OperationKind, RankResult, StopCause};
use rustix::fs::fsync;
use rustix::io::Errno;
use units::Bytes;

use super::buffer::Buffer;
use super::clock::{now, thread_cpu};
use super::files::{self, DataFile};
use super::flow::{Ended, Failure, Flow, Verified};
use super::meter::{Board, Meter};
use super::pacer::Pacer;
use super::probe::EngineKind;
use super::{entries, psync, uring};
use crate::data::{Generator, mix};
use crate::ground::{Names, RunDirectory};
use crate::sequence::Sequence;
use crate::workload::{Activity, Fsync, Phase, Transfer, Workload};

/// Failures kept word for word, per phase.
const ERRORS_KEPT: usize = 20;

/// Tells all ranks of a phase to stop.
#[derive(Debug, Default)]
pub struct StopFlag(AtomicU8);

impl StopFlag {
    /// Asks all ranks to stop; the first reason counts.
    pub fn request(&self, cause: StopCause) {
        let code = if cause == StopCause::Interrupted { 1 } else { 2 };
        let _ = self.0.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why to stop, if somebody asked.
    #[inline]
    pub fn cause(&self) -> Option<StopCause> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(StopCause::Interrupted),
            _ => Some(StopCause::Error),
        }
    }
}

/// What all ranks of a phase share.
pub struct PhaseContext<'a> {
    /// The whole workload.
    pub workload: &'a Workload,
    /// The phase.
    pub phase: &'a Phase,
    /// Where files are made.
    pub ground: &'a RunDirectory,
    /// Counters for whoever watches.
    pub board: &'a Board,
    /// Somebody wants us to stop.
    pub stop: &'a StopFlag,
    /// How I/O is submitted, per job.
    pub engines: &'a [EngineKind],
    /// vCPUs to bind ranks to, in order; empty: not bound.
    pub pin: &'a [u32],
    /// Positions written so far by each rank's share, in bytes; what a stopped write has left to read.
    pub written: &'a [AtomicU64],
    /// Items made so far by each rank; 0 when creation was never stopped.
    pub made: &'a [AtomicU64],
    /// Whether items carry their second name now.
    pub renamed: bool,
    /// First failures.
    pub errors: &'a Mutex<Vec<OperationError>>,
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
    /// Bytes compared and words that differ.
    pub verified: (u64, u64),
}

impl PhaseContext<'_> {
    /// Keeps a failure as evidence.
    pub fn report(&self, error: OperationError) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        if errors.len() < ERRORS_KEPT {
            errors.push(error);
        }
    }

    /// Keeps a system error as evidence, with the words and the hint that belong to it.
    pub fn report_errno(
        &self,
        rank: u32,
        kind: OperationKind,
        file: &str,
        offset: Option<u64>,
        error: Errno,
    ) {
        let fault = Fault::os(kind.word(), &self.ground.path().join(file), error);
        self.report(OperationError {
            rank,
            kind,
            file: file.to_owned(),
            offset,
            message: fault.message().to_owned(),
            hint: fault.hint_text().map(str::to_owned),
        });
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
    bind(context.pin, rank.number());
    let Some((job, first)) = context.phase.job_of(rank.number(), rank.size()) else {
        let origin = rank.all_max(now()).map_err(called_off)?;
        context.board.live[rank.number() as usize].transferred.store(true, Ordering::Relaxed);
        let _ = context.phase.stop.wear_out && rank.all_max(0).map_err(called_off)? > 0;
        return Ok(idle(context, rank.number(), origin));
    };
    let place = Place { number: rank.number(), size: rank.size(), in_job: rank.number() - first };
    match &job.activity {
        Activity::Transfer(transfer) => {
            let index = context.phase.jobs.iter().position(|j| std::ptr::eq(j, job)).unwrap_or(0);
            let job_ranks =
                context.phase.jobs[index].ranks.unwrap_or(rank.size() - first).min(rank.size() - first);
            TransferRank { context, transfer, place, job_ranks, engine: context.engines[index] }.run(rank)
        }
        Activity::Entries(entries) => entries::run(context, entries, place, rank),
    }
}

/// Where a rank stands.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Number among all ranks.
    pub number: u32,
    /// All ranks.
    pub size: u32,
    /// Number in its job.
    pub in_job: u32,
}

pub(super) fn called_off(_: Aborted) -> Fault {
    Fault::new(fault::Kind::Interrupted, "another rank ended the phase")
}

fn idle(context: &PhaseContext, number: u32, origin: u64) -> RankOutcome {
    let result = RankResult { rank: number, host: context.host.to_owned(), ..RankResult::default() };
    RankOutcome { result, cause: StopCause::Bytes, wear_out_capped: false, origin, verified: (0, 0) }
}

fn bind(pin: &[u32], rank: u32) {
    if pin.is_empty() {
        return;
    }
    let mut set = rustix::thread::CpuSet::new();
    set.set(pin[rank as usize % pin.len()] as usize);
    // The vCPU came from the topology; if it has gone offline since, running unbound is the better failure.
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

struct TransferRank<'a> {
    context: &'a PhaseContext<'a>,
    transfer: &'a Transfer,
    place: Place,
    job_ranks: u32,
    engine: EngineKind,
}

impl TransferRank<'_> {
    fn run(&self, rank: &impl Rank) -> Result<RankOutcome> {
        let context = self.context;
        let owner = self.transfer.rank_shift.apply(self.place.number, self.place.size);
        let numbers = files::numbers(&context.workload.files, owner);
        if context.phase.drop_cache {
            numbers.iter().for_each(|number| files::drop_cache(context.ground, *number));
        }
        let size = self.transfer.transfer_size.largest().as_usize();
        let mut buffer = Buffer::new(size, self.transfer.queue_depth as usize + 1)?;
        let mut flow = self.flow(owner);

        let origin = rank.all_max(now()).map_err(called_off)?;
        let cpu = thread_cpu();
        flow.meter.start(origin);
        if let Some(pacer) = &mut flow.pacer {
            pacer.start(origin);
        }
        let stop = context.phase.stop;
        flow.deadline = stop.time.map_or(u64::MAX, |time| origin.saturating_add(nanoseconds(time)));

        let mut result =
            RankResult { rank: self.place.number, host: context.host.to_owned(), ..RankResult::default() };
        let failed_open = self.open(&mut flow, &numbers).err();
        result.opened_ns = now() - origin;
        let mut ring = None;
        if failed_open.is_none() {
            if self.transfer.direct {
                files::check_direct(&flow.files[0], self.transfer)?;
            }
            if self.engine == EngineKind::Uring {
                ring = Some(uring::Ring::new(&flow, &buffer, self.transfer.queue_depth)?);
            }
        }
        let mut transfer = |flow: &mut Flow| match &mut ring {
            Some(ring) => ring.run(flow, &mut buffer),
            None => psync::run(flow, &mut buffer),
        };
        let mut outcome = failed_open.unwrap_or_else(|| transfer(&mut flow));
        let mut capped = false;
        if stop.wear_out {
            // The stonewall: what was done before the others are waited for.
            context.board.mark_first_done(now() - origin);
            (outcome, capped) = wear_out(&mut flow, rank, outcome, stop.wear_out_cap, &mut transfer)?;
        }
        flow.meter.transferred();
        result.transferred_ns = now() - origin;
        drop(ring);

        let cause = self.settle(&outcome);
        let failed = matches!(outcome, Ended::Failed(_));
        let sync_errors = self.sync_and_close(&mut flow, origin, &mut result, failed);
        context.board.mark_first_done(result.closed_ns);
        self.remember_written(owner, &flow);
        flow.meter.flush();
        self.report_verification(&flow.verified);
        if flow.short > 0 {
            self.report_short(flow.short);
        }
        result.operations = flow.meter.operations;
        result.bytes = Bytes::new(flow.meter.bytes);
        result.cpu_ns = thread_cpu() - cpu;
        result.errors = u64::from(failed) + sync_errors + flow.short;
        let verified = (flow.verified.bytes, flow.verified.bad_words);
        Ok(RankOutcome { result, cause, wear_out_capped: capped, origin, verified })
    }

    fn flow(&self, owner: u32) -> Flow<'_> {
        let context = self.context;
        let workload = context.workload;
        let number = u64::from(self.place.number);
        let transfer = self.transfer;
        let mut kinds = main_kinds(&Activity::Transfer(transfer.clone()));
        kinds.extend([OperationKind::Open, OperationKind::Fsync, OperationKind::Close]);
        let meter = Meter::new(&context.board.live[self.place.number as usize], &kinds);
        let mut sequence = Sequence::new(&workload.files, transfer, owner, self.place.size, workload.seed);
        if !transfer.writes() {
            // A stopped write left less than the whole share to read.
            let written = context.written[owner as usize].load(Ordering::Relaxed);
            sequence.truncate(written / transfer.transfer_size.unit().get().max(1));
        }
        Flow {
            sequence,
            read_index: meter.index(OperationKind::Read),
            write_index: meter.index(OperationKind::Write),
            fsync_index: meter.index(OperationKind::Fsync),
            meter,
            generator: Generator::new(workload.data, workload.seed),
            files: Vec::new(),
            read_share: transfer.read.get(),
            random: fastrand::Rng::with_seed(mix(workload.seed ^ mix(number))),
            repeat: context.phase.stop.repeat,
            deadline: u64::MAX,
            operation_limit: context.phase.stop.operations.unwrap_or(u64::MAX),
            pacer: Pacer::new(
                transfer.pacing,
                self.place.in_job,
                self.job_ranks,
                mix(workload.seed ^ number),
            ),
            think_ns: nanoseconds(transfer.think_time),
            fsync_every: if let Fsync::Every(writes) = transfer.fsync { writes } else { 0 },
            verify: transfer.verify,
            verified: Verified::default(),
            scratch: Vec::new(),
            stop: context.stop,
            short: 0,
        }
    }

    fn open(&self, flow: &mut Flow, numbers: &[u32]) -> std::result::Result<(), Ended> {
        let index = flow.meter.index(OperationKind::Open);
        for (slot, number) in numbers.iter().enumerate() {
            let started = now();
            match files::open(self.context.ground, self.transfer, *number) {
                Ok(file) => flow.files.push(file),
                Err(error) => {
                    flow.files.clear();
                    let error = Some(error);
                    return Err(Ended::Failed(Failure {
                        kind: OperationKind::Open,
                        slot: slot as u32,
                        offset: 0,
                        error,
                    }));
                }
            }
            flow.meter.record_side(index, now() - started);
        }
        Ok(())
    }

    /// Why the rank ended; a failure stops everyone.
    fn settle(&self, ended: &Ended) -> StopCause {
        let failure = match ended {
            Ended::Stopped(cause) => return *cause,
            Ended::Failed(failure) => failure,
        };
        self.context.stop.request(StopCause::Error);
        let owner = self.transfer.rank_shift.apply(self.place.number, self.place.size);
        let numbers = files::numbers(&self.context.workload.files, owner);
        let file = Names::data(numbers.get(failure.slot as usize).copied().unwrap_or(0));
        match failure.error {
            Some(error) => {
                self.context.report_errno(
                    self.place.number,
                    failure.kind,
                    &file,
                    Some(failure.offset),
                    error,
                );
            }
            None => self.context.report(OperationError {
                rank: self.place.number,
                kind: failure.kind,
                message: format!("`{file}` ended early at offset {}", failure.offset),
                file,
                offset: Some(failure.offset),
                hint: Some(
                    "the file is shorter than what was written to it: look for truncation or lost writes"
                        .to_owned(),
                ),
            }),
        }
        StopCause::Error
    }

    /// Makes what was written durable, then closes; write-back errors surface here. Returns the number of failures.
    fn sync_and_close(&self, flow: &mut Flow, origin: u64, result: &mut RankResult, failed: bool) -> u64 {
        let mut errors = 0;
        let wanted = self.transfer.writes() && self.transfer.fsync != Fsync::Never;
        if wanted && !failed {
            for file in &flow.files {
                let started = now();
                match fsync(&file.descriptor) {
                    Ok(()) => flow.meter.record_side(flow.fsync_index, now() - started),
                    Err(error) => {
                        errors += 1;
                        self.context.stop.request(StopCause::Error);
                        self.context.report_errno(
                            self.place.number,
                            OperationKind::Fsync,
                            &Names::data(file.number),
                            None,
                            error,
                        );
                    }
                }
            }
        }
        result.synced_ns = now() - origin;
        let index = flow.meter.index(OperationKind::Close);
        for DataFile { descriptor, .. } in flow.files.drain(..) {
            let started = now();
            drop(descriptor);
            flow.meter.record_side(index, now() - started);
        }
        result.closed_ns = now() - origin;
        errors
    }

    fn remember_written(&self, owner: u32, flow: &Flow) {
        if !self.transfer.reads() {
            let bytes = flow.meter.bytes.min(flow.sequence.bytes().get());
            self.context.written[owner as usize].fetch_max(bytes, Ordering::Relaxed);
        }
    }

    fn report_verification(&self, verified: &Verified) {
        let Some((number, offset, expected, found)) = verified.first else { return };
        let file = Names::data(number);
        self.context.report(OperationError {
            rank: self.place.number,
            kind: OperationKind::Read,
            message: format!("`{file}` holds {found:#018x} at offset {offset}, {expected:#018x} was written"),
            file,
            offset: Some(offset),
            hint: Some("the storage returned data that was not written: keep the file (`--keep-files`) and check the hardware".to_owned()),
        });
    }

    fn report_short(&self, count: u64) {
        self.context.report(OperationError {
            rank: self.place.number,
            kind: if self.transfer.writes() { OperationKind::Write } else { OperationKind::Read },
            file: String::new(),
            offset: None,
            message: format!("{count} transfers came back short and were completed"),
            hint: Some(
                "the file system splits or interrupts transfers of this size: use a smaller one".to_owned(),
            ),
        });
    }
}

/// After the deadline: everyone goes on until all have done as much as the furthest, or the cap strikes.
fn wear_out<'a>(
    flow: &mut Flow<'a>,
    rank: &impl Rank,
    ended: Ended,
    cap: Option<Duration>,
    transfer: &mut impl FnMut(&mut Flow<'a>) -> Ended,
) -> Result<(Ended, bool)> {
    let target = rank.all_max(flow.meter.operations).map_err(called_off)?;
    if !matches!(ended, Ended::Stopped(StopCause::Time | StopCause::Bytes)) || flow.meter.operations >= target
    {
        return Ok((ended, false));
    }
    flow.operation_limit = target;
    flow.repeat = true;
    flow.deadline = cap.map_or(u64::MAX, |cap| now().saturating_add(nanoseconds(cap)));
    match transfer(flow) {
        Ended::Stopped(StopCause::Bytes) => Ok((ended, false)),
        Ended::Stopped(StopCause::Time) => Ok((ended, true)),
        other => Ok((other, false)),
    }
}

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
