//! One rank's transfers in a phase: set up, meet, start at the common instant, work, make durable, close, count.

use std::time::Duration;

use fault::{Fault, Kind, Result};
use fleet::Rank;
use record::{Mark, OperationError, OperationKind, RankResult, StopCause};
use rustix::fs::fsync;
use rustix::io::Errno;
use units::Bytes;

use super::buffer::Buffer;
use super::clock::{now, thread_cpu};
use super::files::{self, DataFile};
use super::flow::{Ended, Failure, Flow, Verified};
use super::meter::Meter;
use super::pacer::Pacer;
use super::prefill::{self, Prefill};
use super::probe::EngineKind;
use super::rank::{
    PhaseContext, Place, RankOutcome, Start, called_off_cause, called_off_later, damaged, furthest,
    main_kinds, meet, nanoseconds, start_together, turn,
};
use super::share::Written;
use super::{psync, ticks, uring};
use crate::data::{Generator, mix};
use crate::sequence::Sequence;
use crate::workload::{Activity, Fsync, Transfer, TransferSize};

/// What each rank draws comes from a generator of its own for every purpose. With equal seeds, whether a transfer writes
/// would depend on its offset.
const CHOICES: u64 = 1 << 62;
const ARRIVALS: u64 = 1 << 61;

/// A rank with a transfer to do.
pub(super) struct TransferRank<'a> {
    pub(super) context: &'a PhaseContext<'a>,
    pub(super) transfer: &'a Transfer,
    pub(super) place: Place,
    pub(super) engine: EngineKind,
}

impl TransferRank<'_> {
    pub(super) fn run(&self, rank: &impl Rank) -> Result<RankOutcome> {
        let context = self.context;
        let owner = self.transfer.rank_shift.apply(self.place.number, self.place.size);
        let numbers = files::numbers(&context.workload.files, owner);
        if context.phase.drop_cache {
            let ground = context.grounds.of(owner);
            numbers.iter().for_each(|number| files::drop_cache(ground, &self.path(*number)));
        }
        if context.workload.files.directory_per_rank && self.transfer.writes() {
            let own = context.grounds.names().own(owner);
            let ground = context.grounds.of(owner);
            let made = ground.make_directory(&own);
            made.map_err(|error| Fault::os("make", &ground.path().join(own), error))?;
        }
        let size = self.transfer.transfer_size.largest().as_usize();
        let mut buffer = Buffer::new(size, self.transfer.queue_depth as usize + 1)?;
        let mut prefill = Prefill::new(&context.workload.files, self.transfer, owner, self.place.size)?;
        ticks::calibrate();
        let mut flow = self.flow(owner);

        let Start { origin, late_ns } = start_together(rank)?;
        let cpu = thread_cpu();
        flow.meter.start(origin);

        let mut result =
            RankResult { rank: self.place.number, host: context.host.to_owned(), ..RankResult::default() };
        let failed_open = self.open(&mut flow, &numbers).err();
        if failed_open.is_some() {
            // The others need not begin.
            context.stop.request(StopCause::Error);
        }
        result.opened_ns = now() - origin;
        let mut ring = None;
        if failed_open.is_none() {
            if self.transfer.direct {
                files::check_direct(&flow.files[0], self.transfer)?;
                if let Some(size) = self.transfer.prefill {
                    files::check_direct(&flow.files[0], &prefill::in_order(self.transfer, size))?;
                }
            }
            if self.engine == EngineKind::Uring {
                ring = Some(uring::Ring::new(&flow, &buffer, self.transfer.queue_depth)?);
            }
        }
        // Whoever is called off from here on keeps what it did.
        let all_open = meet(context.phase, rank).unwrap_or_else(|_| called_off_later(context));
        if let Some(instant) = all_open {
            result.opened_ns = instant - origin;
        }
        let stop = context.phase.stop;
        flow.begin(all_open.unwrap_or(origin), &stop);
        let mut transfer = |flow: &mut Flow| match &mut ring {
            Some(ring) => ring.run(flow, &mut buffer),
            None => psync::run(flow, &mut buffer),
        };
        let ended_before = failed_open.or_else(|| prefill.as_mut()?.run(&mut flow));
        let filled = prefill.is_some() && ended_before.is_none();
        drop(prefill);
        let mut outcome = ended_before.unwrap_or_else(|| transfer(&mut flow));
        let mut capped = false;
        if stop.wear_out {
            // The stonewall: what was done before the others are waited for.
            context.board.mark_first_done(now() - origin);
            let done = (flow.meter.operations, flow.meter.bytes);
            let target = furthest(context.phase, Some(self.place.job), done.0, rank);
            if target.is_err() {
                called_off_later(context);
                outcome = Ended::Stopped(called_off_cause(context));
            }
            result.stonewall =
                Some(Mark { elapsed_ns: now() - origin, operations: done.0, bytes: Bytes::new(done.1) });
            (outcome, capped) =
                wear_out(&mut flow, target.unwrap_or(done.0), outcome, stop.wear_out_cap, &mut transfer);
        }
        flow.meter.transferred();
        result.transferred_ns = now() - origin;
        drop(ring);

        let mut cause = self.settle(&outcome);
        let failed = matches!(outcome, Ended::Failed(_));
        let mut late_errors = if failed { 0 } else { self.sync(&mut flow) };
        result.synced_ns = now() - origin;
        if context.phase.barriers {
            // Closing waits for the slowest: what follows would hide who was first.
            context.board.mark_first_done(result.synced_ns);
            if meet(context.phase, rank).is_err() {
                cause = called_off_cause(context);
            }
        }
        late_errors += self.close(&mut flow, failed);
        result.closed_ns = now() - origin;
        if late_errors > 0 {
            cause = StopCause::Error;
        }
        context.board.mark_first_done(result.closed_ns);
        self.remember_written(owner, &flow, filled);
        flow.meter.flush();
        self.report_verification(&flow.verified);
        if flow.short > 0 {
            self.report_short(flow.short);
        }
        result.operations = flow.meter.operations;
        result.bytes = Bytes::new(flow.meter.bytes);
        result.damaged = flow.verified.bad_transfers;
        result.cpu_ns = thread_cpu() - cpu;
        result.errors = u64::from(failed) + late_errors + flow.short + self.write_log(&flow);
        let verified = (flow.verified.bytes, flow.verified.bad_words);
        Ok(RankOutcome { result, cause, wear_out_capped: capped, origin, late_ns, verified, matched: None })
    }

    fn flow(&self, owner: u32) -> Flow<'_> {
        let context = self.context;
        let workload = context.workload;
        let number = u64::from(self.place.number);
        let transfer = self.transfer;
        let mut kinds = main_kinds(&Activity::Transfer(transfer.clone()));
        kinds.extend([OperationKind::Open, OperationKind::Fsync, OperationKind::Close]);
        let mut meter = Meter::new(context.board.of(self.place.number), &kinds);
        meter.log = context.operation_log(self.place.number);
        let mut sequence = Sequence::new(&workload.files, transfer, owner, self.place.size, workload.seed);
        let written = context.shares[owner as usize].written();
        if transfer.reads() && !written.complete {
            // A stopped write left less than the whole share to read.
            sequence.keep_to(Bytes::new(written.bytes), written.in_order);
        }
        Flow {
            sequence,
            read_index: meter.index(OperationKind::Read),
            write_index: meter.index(OperationKind::Write),
            fsync_index: meter.index(OperationKind::Fsync),
            meter,
            generator: Generator::of(workload),
            refills: !transfer.reads()
                && workload.files.files_per_rank == 1
                && !transfer.roams(workload.files.layout)
                && matches!(transfer.transfer_size, TransferSize::Fixed(_)),
            files: Vec::new(),
            read_share: transfer.read.get(),
            hit_shares: transfer.has_hits().then(|| (transfer.read_hits.get(), transfer.write_hits.get())),
            random: fastrand::Rng::with_seed(mix(workload.seed ^ mix(number | CHOICES))),
            repeat: context.phase.stop.repeat,
            repeat_until: 0,
            deadline: u64::MAX,
            operation_limit: context.phase.stop.operations.unwrap_or(u64::MAX),
            pacer: Pacer::new(
                transfer.pacing,
                self.place.in_job,
                self.place.job_size,
                mix(workload.seed ^ mix(number | ARRIVALS)),
            )
            .map(|pacer| pacer.following(context.phase.rate.as_ref())),
            turn: turn(context, self.place, transfer.pacing),
            think_ns: nanoseconds(transfer.think_time),
            fsync_every: transfer.fsync.every(),
            fsync_times: if transfer.fsync == Fsync::EachTwice { 2 } else { 1 },
            verify: transfer.verify,
            single_attempt: transfer.single_attempt,
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
            match files::open(self.context.grounds, &self.context.workload.files, self.transfer, *number) {
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
        let owner = self.transfer.rank_shift.apply(self.place.number, self.place.size);
        let numbers = files::numbers(&self.context.workload.files, owner);
        let file = self.path(numbers.get(failure.slot as usize).copied().unwrap_or(0));
        let fault = match failure.error {
            // What file systems without it answer.
            Some(Errno::INVAL) if failure.kind == OperationKind::Open && self.transfer.direct => {
                files::no_direct()
            }
            Some(error) => {
                Fault::os(failure.kind.word(), &self.context.grounds.of(owner).path().join(&file), error)
            }
            None if self.transfer.single_attempt => Fault::new(
                Kind::Io,
                format!("a transfer of `{file}` came back short at offset {}", failure.offset),
            )
            .hint("leave out `single_attempt`, and it is completed by another call"),
            None => Fault::new(Kind::Io, format!("`{file}` ended early at offset {}", failure.offset))
                .hint("the file is shorter than what was written to it: look for truncation or lost writes"),
        };
        self.context.fail(self.place.number, failure.kind, &file, Some(failure.offset), fault);
        StopCause::Error
    }

    /// Makes what was written durable; write-back errors surface here. Returns the number of failures.
    fn sync(&self, flow: &mut Flow) -> u64 {
        // With one after every write, nothing is left to make durable.
        let durable = self.transfer.synchronous || self.transfer.fsync.every() == 1;
        if !self.transfer.writes() || durable || self.transfer.fsync == Fsync::Never {
            return 0;
        }
        let mut errors = 0;
        for file in &flow.files {
            let started = now();
            match fsync(&file.descriptor) {
                Ok(()) => flow.meter.record_side(flow.fsync_index, now() - started),
                Err(error) => {
                    errors += 1;
                    self.fail_late(OperationKind::Fsync, file.number, error);
                }
            }
        }
        errors
    }

    /// Closes the files; some file systems say only here that data was lost. Returns the number of failures, unless
    /// the rank has `failed` already.
    fn close(&self, flow: &mut Flow, failed: bool) -> u64 {
        let mut errors = 0;
        let index = flow.meter.index(OperationKind::Close);
        for DataFile { descriptor, number } in flow.files.drain(..) {
            let started = now();
            let closed = files::close(descriptor);
            flow.meter.record_side(index, now() - started);
            if let (Err(error), false) = (closed, failed) {
                errors += 1;
                self.fail_late(OperationKind::Close, number, error);
            }
        }
        errors
    }

    fn fail_late(&self, kind: OperationKind, number: u32, error: Errno) {
        let owner = files::owner(&self.context.workload.files, number);
        self.context.fail_errno(self.place.number, kind, (owner, &self.path(number)), None, error);
    }

    fn path(&self, number: u32) -> String {
        self.context.grounds.names().data(&self.context.workload.files, number)
    }

    fn remember_written(&self, owner: u32, flow: &Flow, filled: bool) {
        if filled {
            let bytes = self.context.workload.files.share_of(owner).get();
            let whole = Written { bytes, complete: true, in_order: true };
            return self.context.shares[owner as usize].remember_written(whole);
        }
        if self.transfer.covers() {
            let share = flow.sequence.bytes().get();
            let bytes = flow.meter.bytes.min(share);
            self.context.shares[owner as usize].remember_written(Written {
                bytes,
                complete: bytes == share,
                in_order: self.transfer.order.is_forward(),
            });
        }
    }

    /// Writes what was noted of each transfer. Returns the number of failures.
    fn write_log(&self, flow: &Flow) -> u64 {
        let kind = if self.transfer.writes() { OperationKind::Write } else { OperationKind::Read };
        self.context.write_log(self.place.number, kind, flow.meter.log.as_ref())
    }

    fn report_verification(&self, verified: &Verified) {
        if let Some((number, bad)) = &verified.first {
            let file = self.path(*number);
            self.context.failures.note(damaged(self.place.number, OperationKind::Read, &file, bad));
        }
    }

    fn report_short(&self, count: u64) {
        self.context.failures.note(OperationError {
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
    target: u64,
    ended: Ended,
    cap: Option<Duration>,
    transfer: &mut impl FnMut(&mut Flow<'a>) -> Ended,
) -> (Ended, bool) {
    if !matches!(ended, Ended::Stopped(StopCause::Time | StopCause::Bytes)) || flow.meter.operations >= target
    {
        return (ended, false);
    }
    flow.operation_limit = target;
    flow.repeat = true;
    flow.deadline = cap.map_or(u64::MAX, |cap| now().saturating_add(nanoseconds(cap)));
    match transfer(flow) {
        Ended::Stopped(StopCause::Bytes) => (ended, false),
        Ended::Stopped(StopCause::Time) => (ended, true),
        other => (other, false),
    }
}
