//! One phase, as the root sees it: have it run everywhere, merge what comes back, and say what came of it.

use std::collections::BTreeMap;

use fault::{Fault, Kind, Result};
use record::{CpuShare, Event, Interval, Listener, Outcome, PhaseResult};
use units::{Bytes, Iops};

use super::live::Live;
use super::merge::{Merged, transfer_of};
use super::scene::Scene;
use super::writers::Writers;
use crate::belief::{self, Context, HostView};
use crate::crew::{Crew, PhaseOrder, gone};
use crate::engine::{Chosen, INTERVAL_NS, ShareState, now};
use crate::workload::{Activity, Fsync, Job, PREPARE, Pacing, Phase, Transfer};

/// The rules that hold for preparation too.
const ESSENTIAL: [&str; 3] = ["interrupted", "errors", "lost-processes"];

/// Everything a phase runs in.
pub struct PhaseSetting<'a> {
    /// The test.
    pub scene: &'a Scene<'a>,
    /// Counting from 1.
    pub repetition: u32,
    /// The phase.
    pub phase: &'a Phase,
    /// How I/O is submitted, per job.
    pub engines: &'a [Chosen],
    /// What each rank's share holds.
    pub shares: &'a [ShareState],
    /// Which host wrote it.
    pub writers: &'a Writers,
    /// When the run began (ns, monotonic).
    pub run_started: u64,
    /// So many processes may be lost.
    pub allow_lost: u32,
}

/// A phase about to run.
pub struct PhaseRun<'a> {
    setting: &'a PhaseSetting<'a>,
    crew: &'a Crew<'a>,
    listener: &'a mut dyn Listener,
    transfer: Option<&'a Transfer>,
}

/// A phase that has run. The result is kept even when a rank failed; then the failure comes with it.
pub struct Ran {
    /// What was measured.
    pub result: PhaseResult,
    /// What each rank's share holds now.
    pub shares: Vec<ShareState>,
    /// The failure that ends the run, if there was one.
    pub outcome: Result<()>,
}

impl<'a> PhaseRun<'a> {
    /// Prepares a phase.
    pub fn new(setting: &'a PhaseSetting<'a>, crew: &'a Crew<'a>, listener: &'a mut dyn Listener) -> Self {
        Self { setting, crew, listener, transfer: transfer_of(setting.phase) }
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// When nothing can be said of it: threads could not be started, or the link to other processes can't go on.
    pub fn run(mut self) -> Result<Ran> {
        let setting = self.setting;
        let placement = &setting.scene.placement;
        pause(setting.phase)?;
        self.announce();
        let order = PhaseOrder {
            phase: setting.phase.clone(),
            engines: setting.engines.to_vec(),
            shares: setting.shares.to_vec(),
        };
        let link = self.crew.link();
        let mut live = Live::new(&mut *self.listener, &setting.phase.name, link, placement);
        let parts = self.crew.phase(order, &mut live)?;
        let cpu = live.into_cpu();
        let merged = Merged::of(parts, placement, setting.phase);
        let shares = merged.shares(setting.shares);
        let lost = self.crew.lost();
        let outcome = match self.crew.together(merged.failures()) {
            // That somebody is gone explains why the others stopped.
            _ if lost.len() as u64 > u64::from(setting.allow_lost) => Err(gone(&lost)),
            // What others only met because of a signal, or of a loss that is allowed, is told by the result.
            Some(fault)
                if fault.kind() == Kind::Interrupted && self.crew.is_several() && !merged.has_died() =>
            {
                Ok(())
            }
            Some(fault) => Err(fault),
            None => Ok(()),
        };
        let contexts = self.contexts(&merged);
        let mut result = self.judge(merged, &contexts);
        result.series.iter_mut().for_each(|interval| interval.cpu = spent(&cpu, interval));
        self.publish(&result);
        Ok(Ran { result, shares, outcome })
    }

    /// The result with its checks.
    fn judge(&self, merged: Merged, contexts: &[(usize, Context<'a>)]) -> PhaseResult {
        let setting = self.setting;
        let placement = &setting.scene.placement;
        let origin = merged.origin();
        let sampled_ns = merged.sampled_ns();
        let counters: Vec<_> =
            contexts.iter().map(|(host, _)| merged.counters_of(*host, placement)).collect();
        let totals: Vec<_> = contexts.iter().map(|(host, _)| merged.totals[*host].clone()).collect();
        let mut phase = merged.into_result(setting.phase, setting.engines, placement);
        phase.started_ns = origin.map_or(0, |origin| origin.saturating_sub(setting.run_started));
        for lost in &mut phase.lost {
            let is_it = |gone: &fleet::Lost| placement.block(gone.process as usize).first == lost.first_rank;
            let found = self.crew.lost().into_iter().find(is_it);
            lost.why = found.map_or_else(|| "it is gone".to_owned(), |gone| gone.why);
        }
        phase.checks = if contexts.len() == 1 {
            belief::phase_checks(&phase, &contexts[0].1)
        } else {
            let parts = contexts.iter().zip(counters).zip(totals);
            let views: Vec<HostView<'_>> = parts
                .map(|(((host, context), counters), totals)| {
                    HostView::new(&phase, &placement.hosts()[*host], context, counters, totals)
                })
                .collect();
            let limits = views.iter().map(HostView::limit).collect::<Vec<_>>();
            let checks = belief::checks_over_hosts(&phase, &views, sampled_ns, setting.allow_lost);
            drop(views);
            for (host, limit) in phase.hosts.iter_mut().zip(limits) {
                host.limit = Some(limit);
            }
            checks
        };
        if setting.phase.name.starts_with(PREPARE) {
            // Preparation is no measurement: only its failures matter.
            phase
                .checks
                .retain(|check| check.outcome == Outcome::Fail && ESSENTIAL.contains(&check.rule.as_str()));
        } else if contexts.len() == 1 {
            phase.limit = Some(belief::limit_of(&phase, &contexts[0].1, &phase.checks));
        } else {
            phase.limit = belief::limit_over_hosts(&phase);
        }
        phase
    }

    fn announce(&mut self) {
        let setting = self.setting;
        let workload = &setting.scene.workload;
        let planned = workload.planned(setting.phase);
        let endless = setting.phase.stop.repeat;
        self.listener.on_event(&Event::PhaseStarted {
            test: setting.scene.plan.name.clone(),
            repetition: setting.repetition,
            phase: setting.phase.name.clone(),
            ranks: setting.phase.participants(workload.ranks),
            planned_bytes: (!endless && planned.bytes > Bytes::ZERO).then_some(planned.bytes.get()),
            planned_operations: (!endless && planned.operations > 0).then_some(planned.operations),
            deadline_ns: setting.phase.stop.time.map(|time| time.as_nanos() as u64),
        });
    }

    /// What the rules need to know, for each host with ranks.
    fn contexts(&self, merged: &Merged) -> Vec<(usize, Context<'a>)> {
        let placement = &self.setting.scene.placement;
        let hosts = (0..placement.hosts().len()).filter(|host| placement.has_ranks(*host));
        hosts.map(|host| (host, self.context(host, merged))).collect()
    }

    fn context(&self, host: usize, merged: &Merged) -> Context<'a> {
        let setting = self.setting;
        let scene = setting.scene;
        let workload = &scene.workload;
        let placement = &scene.placement;
        let several = placement.hosts().len() > 1;
        let number = host as u32;
        let owners = if several {
            setting.writers.owners(number, workload, setting.phase)
        } else {
            (0..workload.ranks).collect()
        };
        // What the phase itself wrote counts, too.
        let now = merged.shares(setting.shares);
        let own: u64 = owners.iter().map(|owner| now[*owner as usize].bytes()).sum();
        let items = workload.files.tree.all_items(owners.len() as u32);
        let small = setting.phase.jobs.iter().find_map(|job| match &job.activity {
            Activity::Entries(entries) => Some(entries.write_bytes.max(entries.read_bytes)),
            Activity::Transfer(_) => None,
        });
        let environment = scene.environment_of(host);
        let pcores = if several { environment.cpu.pcores } else { scene.plan.pcores };
        let mut context = Context::new(environment, pcores, Bytes::ZERO);
        let drawn = workload.files.tree.all_sizes(workload.seed, owners.len() as u32);
        context.working_set = small.map_or(Bytes::new(own), |each| (each * items).max(drawn));
        // Files in a fresh directory of this run nobody else can have written, where there is one host.
        context.files_written_by_this_host_in_this_run = if several {
            setting.writers.own(number, workload, setting.phase)
        } else {
            !workload.uses_existing()
        };
        // Dropping takes data; names and attributes stay.
        context.cache_dropped_before = setting.phase.drop_cache && context.working_set > Bytes::ZERO;
        context.direct = self.transfer.is_some_and(|t| t.direct);
        context.fsync = self.transfer.is_none_or(|t| t.synchronous || t.fsync != Fsync::Never);
        context.allocated = merged.allocated();
        context.data_is_compressible = workload.data.shrinkable();
        [context.available_before, context.available_after] = merged.available();
        context.dirty_before =
            placement.on_host(host).next().map_or(Bytes::ZERO, |process| merged.dirty_before(process));
        context.uncounted_targets = scene.uncounted_targets;
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

/// What vCPUs did in an interval: of the seconds that were sampled.
fn spent(cpu: &BTreeMap<u64, CpuShare>, interval: &Interval) -> Option<CpuShare> {
    let first = interval.start_ns / INTERVAL_NS;
    let last = (interval.start_ns + interval.length_ns).div_ceil(INTERVAL_NS);
    cpu.range(first..last.max(first + 1)).map(|(_, share)| *share).reduce(CpuShare::plus)
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

/// Operations per second that all open loops of a phase ask for together.
pub(super) fn asked(phase: &Phase) -> Option<Iops> {
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
