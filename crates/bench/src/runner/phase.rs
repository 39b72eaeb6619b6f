//! One phase: choose engines, count, let the ranks run, count again, and say what came of it.

use std::sync::atomic::{AtomicU32, Ordering};

use fault::{Fault, Kind, Result};
use fleet::Meeting;
use fleet::local::{LocalRank, launch};
use host::{Counters, Environment, System};
use record::{
    EngineUsed, Event, Listener, Mark, OperationError, OperationKind, Outcome, PhaseResult, StopCause,
};
use units::{Bytes, Iops};

use super::collect::Collector;
use super::probes::Probes;
use super::watch::Watch;
use crate::allocation;
use crate::belief::{self, Context};
use crate::engine::{
    Board, Chosen, EngineKind, Failures, PhaseContext, Pool, RankOutcome, Share, StopFlag, main_kinds, now,
    own_table, run_rank,
};
use crate::ground::Grounds;
use crate::workload::{Activity, Fsync, Job, PREPARE, Pacing, Phase, Transfer, Workload};

/// The rules that hold for preparation too.
const ESSENTIAL: [&str; 2] = ["interrupted", "errors"];

/// Everything a phase runs in.
pub struct PhaseSetting<'a> {
    /// Name of the test.
    pub test: &'a str,
    /// Counting from 1.
    pub repetition: u32,
    /// The whole workload.
    pub workload: &'a Workload,
    /// The phase.
    pub phase: &'a Phase,
    /// How I/O is submitted, per job.
    pub engines: &'a [Chosen],
    /// Where files are.
    pub grounds: &'a Grounds,
    /// The machine.
    pub environment: &'a Environment,
    /// The counters below its targets.
    pub probes: &'a Probes,
    /// pCores that rates refer to.
    pub pcores: u32,
    /// What each rank's share holds.
    pub shares: &'a [Share],
    /// The items, where ranks take them from each other.
    pub pool: Option<&'a Pool>,
    /// When the run began (ns, monotonic).
    pub run_started: u64,
}

/// A phase about to run.
pub struct PhaseRun<'a> {
    setting: &'a PhaseSetting<'a>,
    listener: &'a mut dyn Listener,
    transfer: Option<&'a Transfer>,
}

/// What the ranks brought, and what was counted meanwhile.
struct Measured {
    outcomes: Vec<Result<RankOutcome>>,
    collector: Collector,
    counters: Counters,
    dirty_before: Bytes,
    errors: Vec<OperationError>,
    failure: Option<Fault>,
    first_done: Option<Mark>,
    board_total: Mark,
    fallback_origin: u64,
}

impl<'a> PhaseRun<'a> {
    /// Prepares a phase.
    pub fn new(setting: &'a PhaseSetting<'a>, listener: &'a mut dyn Listener) -> Self {
        let transfer = setting.phase.jobs.iter().find_map(|job| match &job.activity {
            Activity::Transfer(transfer) => Some(transfer),
            Activity::Entries(_) => None,
        });
        Self { setting, listener, transfer }
    }

    /// Runs it. The result is kept even when a rank failed; then the failure comes with it.
    pub fn run(mut self) -> Result<(PhaseResult, Result<()>)> {
        let setting = self.setting;
        pause(setting.phase)?;
        let allocated = self.reads_only().then(|| {
            allocation::of(setting.grounds, &setting.workload.files, setting.workload.ranks, setting.shares)
        });
        let available_before = available(setting.grounds);
        self.announce();
        let measured = self.measure()?;
        let mut context = self.context(available_before, measured.dirty_before);
        context.allocated = allocated.flatten();
        let (mut phase, failure) = self.result(measured);
        phase.checks = belief::phase_checks(&phase, &context);
        if setting.phase.name.starts_with(PREPARE) {
            // Preparation is no measurement: only its failures matter.
            phase
                .checks
                .retain(|check| check.outcome == Outcome::Fail && ESSENTIAL.contains(&check.rule.as_str()));
        } else {
            phase.limit = Some(belief::limit_of(&phase, &context, &phase.checks));
        }
        self.publish(&phase);
        Ok((phase, failure))
    }

    fn announce(&mut self) {
        let setting = self.setting;
        let planned = setting.workload.planned(setting.phase);
        let endless = setting.phase.stop.repeat;
        self.listener.on_event(&Event::PhaseStarted {
            test: setting.test.to_owned(),
            repetition: setting.repetition,
            phase: setting.phase.name.clone(),
            ranks: setting.phase.participants(setting.workload.ranks),
            planned_bytes: (!endless && planned.bytes > Bytes::ZERO).then_some(planned.bytes.get()),
            planned_operations: (!endless && planned.operations > 0).then_some(planned.operations),
            deadline_ns: setting.phase.stop.time.map(|time| time.as_nanos() as u64),
        });
    }

    fn measure(&mut self) -> Result<Measured> {
        let setting = self.setting;
        let ranks = setting.workload.ranks;
        let (board, stop, meeting) = (Board::new(ranks), StopFlag::default(), Meeting::new(ranks));
        let (ended, failures) = (AtomicU32::new(0), Failures::default());
        let engines: Vec<EngineKind> = setting.engines.iter().map(|c| c.kind).collect();
        let pin = if setting.workload.pin { System::here().pin_order() } else { Vec::new() };
        let context = PhaseContext {
            workload: setting.workload,
            phase: setting.phase,
            grounds: setting.grounds,
            board: &board,
            stop: &stop,
            engines: &engines,
            pin: &pin,
            shares: setting.shares,
            pool: setting.pool,
            failures: &failures,
            host: &setting.environment.hostname,
        };
        let mut collector = Collector::default();
        let before = setting.probes.counters();
        let fallback_origin = now();
        let work = |rank: &LocalRank| {
            own_table();
            run_rank(&context, rank).inspect_err(|_| stop.request(StopCause::Error))
        };
        let at_end = |_| {
            ended.fetch_add(1, Ordering::Release);
        };
        let outcomes = std::thread::scope(|scope| {
            let running = launch(scope, ranks, &meeting, &work, &at_end)?;
            let watch =
                Watch { phase: &setting.phase.name, board: &board, stop: &stop, ended: &ended, ranks };
            watch.until_ended(&mut collector, self.listener);
            Ok::<_, Fault>(running.join())
        })?;
        let elapsed = now() - fallback_origin;
        let counters = setting.probes.counters().since(&before);
        let (errors, failure) = failures.into_parts();
        Ok(Measured {
            outcomes,
            collector,
            counters,
            dirty_before: before.dirty_bytes + before.writeback_bytes,
            first_done: board.first_done(),
            board_total: board.sum(elapsed),
            errors,
            failure,
            fallback_origin,
        })
    }

    /// The result without its checks, and the failure that ends the run if there was one.
    fn result(&self, measured: Measured) -> (PhaseResult, Result<()>) {
        let setting = self.setting;
        let (done, died) = split(measured.outcomes);
        let origin = done.iter().map(|o| o.origin).max().unwrap_or(measured.fallback_origin);
        let main = self.main_kinds();
        let last_ns =
            done.iter().map(|o| o.result.closed_ns).max().unwrap_or(measured.board_total.elapsed_ns);
        let last_done = Mark { elapsed_ns: last_ns, ..measured.board_total };
        let (operations, series) = measured.collector.finish(&main, transfer_end(&done, last_ns));
        let mut stopped_by = stop_cause(&done);
        if died.is_some() {
            stopped_by = StopCause::Error;
        }
        let queue_depth = self.transfer.map_or(1, |t| t.queue_depth);
        let result = PhaseResult {
            name: setting.phase.name.clone(),
            main,
            transfer_bytes: self.transfer.map(|t| t.transfer_size.largest()),
            started_ns: origin.saturating_sub(setting.run_started),
            first_done: measured.first_done.unwrap_or(last_done),
            last_done,
            wear_out: setting.phase.stop.wear_out,
            wear_out_capped: done.iter().any(|o| o.wear_out_capped),
            stopped_by,
            open_loop: setting.phase.jobs.iter().any(|job| job.activity.pacing() != Pacing::Closed),
            asked_operations_per_second: asked(setting.phase),
            matched: done.iter().filter_map(|o| o.matched).reduce(|one, other| one + other),
            operations,
            error_count: done.iter().map(|o| o.result.errors).sum::<u64>() + u64::from(died.is_some()),
            verify_failures: done.iter().map(|o| o.verified.1).sum(),
            verified_bytes: Bytes::new(done.iter().map(|o| o.verified.0).sum()),
            ranks: done.into_iter().map(|o| o.result).collect(),
            series,
            engine: EngineUsed {
                name: setting.engines[0].kind.name().to_owned(),
                reason: setting.engines[0].reason.clone(),
                direct: self.transfer.is_some_and(|t| t.direct),
                queue_depth,
            },
            counters: measured.counters,
            errors: measured.errors,
            checks: Vec::new(),
            limit: None,
        };
        // A rank that died outweighs what the others met because of it.
        (result, died.or(measured.failure).map_or(Ok(()), Err))
    }

    fn main_kinds(&self) -> Vec<OperationKind> {
        let mut kinds: Vec<OperationKind> =
            self.setting.phase.jobs.iter().flat_map(|job| main_kinds(&job.activity)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    fn reads_only(&self) -> bool {
        self.transfer.is_some_and(|t| !t.writes())
    }

    fn context(&self, available_before: Bytes, dirty_before: Bytes) -> Context<'a> {
        let setting = self.setting;
        let workload = setting.workload;
        let own: u64 = setting.shares.iter().map(|share| share.written().bytes).sum();
        let items = workload.files.tree.all_items(workload.ranks);
        let small = setting.phase.jobs.iter().find_map(|job| match &job.activity {
            Activity::Entries(entries) => Some(entries.write_bytes.max(entries.read_bytes)),
            Activity::Transfer(_) => None,
        });
        let mut context = Context::new(setting.environment, setting.pcores, Bytes::ZERO);
        let drawn = workload.files.tree.all_sizes(workload.seed, workload.ranks);
        context.working_set = small.map_or(Bytes::new(own), |each| (each * items).max(drawn));
        // Files are made in a fresh directory of this run: nobody else can have written them.
        context.files_written_by_this_host_in_this_run = true;
        // Dropping takes data; names and attributes stay.
        context.cache_dropped_before = setting.phase.drop_cache && context.working_set > Bytes::ZERO;
        context.direct = self.transfer.is_some_and(|t| t.direct);
        context.fsync = self.transfer.is_none_or(|t| t.synchronous || t.fsync != Fsync::Never);
        context.data_is_compressible = workload.data.shrinkable();
        context.available_before = available_before;
        context.available_after = available(setting.grounds);
        context.dirty_before = dirty_before;
        context.uncounted_targets = !setting.probes.add_up();
        context.paced = paced(setting.phase);
        context
    }

    fn publish(&mut self, phase: &PhaseResult) {
        let short = PhaseResult { series: Vec::new(), ..phase.clone() };
        self.listener.on_event(&Event::PhaseFinished { result: Box::new(short) });
        for interval in &phase.series {
            let name = phase.name.clone();
            self.listener.on_event(&Event::Series { phase: name, interval: Box::new(interval.clone()) });
        }
    }
}

fn pause(phase: &Phase) -> Result<()> {
    let until = now() + phase.pause_before.as_nanos() as u64;
    while now() < until {
        if crate::interrupt::requested().is_some() {
            return Err(Fault::new(Kind::Interrupted, "stopped during the pause before a phase"));
        }
        std::thread::sleep(std::time::Duration::from_nanos((until - now().min(until)).min(100_000_000)));
    }
    Ok(())
}

/// Separates what ranks brought from the first failure that is a cause and not a consequence.
fn split(outcomes: Vec<Result<RankOutcome>>) -> (Vec<RankOutcome>, Option<Fault>) {
    let mut done = Vec::new();
    let mut failure: Option<Fault> = None;
    for outcome in outcomes {
        match outcome {
            Ok(outcome) => done.push(outcome),
            Err(fault) => {
                let consequence = failure.as_ref().is_some_and(|f| f.kind() != Kind::Interrupted);
                if !consequence {
                    failure = Some(fault);
                }
            }
        }
    }
    (done, failure)
}

/// A failure outweighs a signal, a signal a deadline.
fn stop_cause(done: &[RankOutcome]) -> StopCause {
    let any = |cause| done.iter().any(|o| o.cause == cause);
    [StopCause::Error, StopCause::Interrupted, StopCause::Time]
        .into_iter()
        .find(|c| any(*c))
        .unwrap_or_default()
}

/// The series ends with the last transfer: fsync and close have none.
fn transfer_end(done: &[RankOutcome], otherwise: u64) -> u64 {
    done.iter().map(|o| o.result.transferred_ns).max().unwrap_or(otherwise)
}

/// Operations per second that all open loops of a phase ask for together.
fn asked(phase: &Phase) -> Option<Iops> {
    let of = |job: &Job| match job.activity.pacing() {
        Pacing::Open { operations_per_second, .. } => Some(operations_per_second),
        Pacing::Closed => None,
    };
    let rates: Vec<f64> = phase.jobs.iter().filter_map(of).collect();
    // Beside a job that goes as fast as it can, the sum of the others says nothing of the phase.
    (!rates.is_empty() && rates.len() == phase.jobs.len()).then(|| Iops::new(rates.iter().sum()))
}

fn transfers(phase: &Phase) -> impl Iterator<Item = &Transfer> {
    phase.jobs.iter().filter_map(|job| match &job.activity {
        Activity::Transfer(transfer) => Some(transfer),
        Activity::Entries(_) => None,
    })
}

/// What holds the load back on purpose.
fn paced(phase: &Phase) -> Option<String> {
    if let Some(rate) = asked(phase) {
        return Some(format!("{} operations/s", rate.get()));
    }
    if phase.jobs.iter().any(|job| job.activity.pacing() != Pacing::Closed) {
        return Some("the rate of one of its jobs".to_owned());
    }
    if phase.skews().is_some() {
        return Some("jobs that wait for each other to keep to their skew".to_owned());
    }
    let rest = transfers(phase).map(|transfer| transfer.think_time).find(|rest| !rest.is_zero())?;
    Some(format!("a rest of {} after each transfer", units::format_duration(rest)))
}

/// On the fullest of the targets.
fn available(grounds: &Grounds) -> Bytes {
    let of = |stat: rustix::fs::StatVfs| Bytes::new(stat.f_bavail * stat.f_frsize);
    let each =
        grounds.all().iter().map(|ground| rustix::fs::fstatvfs(ground.as_fd()).map_or(Bytes::ZERO, of));
    each.min().unwrap_or_default()
}
