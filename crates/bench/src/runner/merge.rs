//! From the parts of all processes to the result of a phase.

use fault::{Fault, Kind};
use fleet::Placement;
use host::Counters;
use record::{
    EngineUsed, HostResult, LostProcess, Mark, OperationResult, PhaseResult, RankResult, StopCause,
};
use units::Bytes;

use super::collect::empty;
use super::gathered::{Gathered, add_totals};
use super::part::{PartHead, PartResult, RankPart, kinds_of};
use crate::belief::Allocation;
use crate::engine::{Chosen, ShareState};
use crate::workload::{Activity, Pacing, Phase, Transfer};

/// Failures kept word for word, of all processes.
const KEPT: usize = 20;

/// What all processes brought home, merged.
pub struct Merged {
    /// Of each process, in their order; `None` for those that are gone.
    pub heads: Vec<Option<PartHead>>,
    /// Sums per kind and host.
    pub totals: Vec<Vec<OperationResult>>,
    /// All of it together.
    gathered: Gathered,
}

impl Merged {
    /// Merges parts, one after the other: what has been merged takes no more memory.
    pub fn of(parts: Vec<Option<PartResult>>, placement: &Placement, phase: &Phase) -> Self {
        let none: Vec<OperationResult> = kinds_of(phase).into_iter().map(empty).collect();
        let mut totals = vec![none.clone(); placement.hosts().len()];
        let mut all: Option<Gathered> = None;
        let mut heads = Vec::with_capacity(parts.len());
        for (process, part) in parts.into_iter().enumerate() {
            let Some(PartResult { head, gathered }) = part else {
                heads.push(None);
                continue;
            };
            heads.push(Some(head));
            if placement.hosts().len() > 1 {
                add_totals(&mut totals[placement.host_of(process)], gathered.totals());
            }
            match &mut all {
                Some(all) => all.merge(gathered),
                None => all = Some(gathered),
            }
        }
        let gathered = all.unwrap_or_else(|| Gathered::new(none, std::collections::BTreeMap::new()));
        Self { heads, totals, gathered }
    }

    fn present(&self) -> impl Iterator<Item = &PartHead> {
        self.heads.iter().flatten()
    }

    fn ranks(&self) -> impl Iterator<Item = &RankPart> {
        self.present().flat_map(|head| &head.ranks)
    }

    /// When the ranks began, on the root's clock; `None` if none did.
    pub fn origin(&self) -> Option<u64> {
        self.present().filter(|head| !head.ranks.is_empty()).map(|head| head.root_origin).max()
    }

    /// Dirty pages when the phase began, on the host of `process`.
    pub fn dirty_before(&self, process: usize) -> Bytes {
        self.heads[process].as_ref().map_or(Bytes::ZERO, |head| head.dirty_before)
    }

    /// Available before and after, as the one process saw it that looked.
    pub fn available(&self) -> [Bytes; 2] {
        self.present()
            .map(|head| head.available)
            .find(|[before, _]| *before > Bytes::ZERO)
            .unwrap_or_default()
    }

    /// How the files lay.
    pub fn allocated(&self) -> Option<Allocation> {
        self.present().find_map(|head| head.allocated)
    }

    /// What shares hold after what all processes did to them.
    pub fn shares(&self, before: &[ShareState]) -> Vec<ShareState> {
        let mut changed: Vec<Vec<ShareState>> = vec![Vec::new(); before.len()];
        for (rank, state) in self.present().flat_map(|head| &head.changed) {
            if let Some(changed) = changed.get_mut(*rank as usize) {
                changed.push(*state);
            }
        }
        before.iter().zip(changed).map(|(before, changed)| before.merged(&changed)).collect()
    }

    /// What ended the phase, each process with its first word; those that only met the consequences come last.
    pub fn failures(&self) -> Vec<(usize, Fault)> {
        let of = |(process, head): (usize, &Option<PartHead>)| {
            let head = head.as_ref()?;
            // A rank that died outweighs what the others met because of it.
            let died = head.died.clone().map(Fault::from);
            let failure = head.failure.clone().map(Fault::from);
            let consequence = |fault: &Fault| fault.kind() == Kind::Interrupted;
            let fault = match (died, failure) {
                (Some(died), Some(failure)) if consequence(&died) && self.heads.len() > 1 => failure,
                (Some(died), _) => died,
                (None, failure) => failure?,
            };
            Some((process, fault))
        };
        let mut failures: Vec<(usize, Fault)> = self.heads.iter().enumerate().filter_map(of).collect();
        failures.sort_by_key(|(process, fault)| (fault.kind() == Kind::Interrupted, *process));
        failures
    }

    fn last_ns(&self) -> u64 {
        let otherwise = || self.present().map(|head| head.total.elapsed_ns).max().unwrap_or(0);
        self.ranks().map(|rank| rank.result.closed_ns).max().unwrap_or_else(otherwise)
    }

    fn first_done(&self, last_done: Mark) -> (Mark, u64) {
        let marks: Vec<(Mark, u64)> = self.present().filter_map(|head| head.first_done).collect();
        let Some(elapsed_ns) = marks.iter().map(|(mark, _)| mark.elapsed_ns).min() else {
            return (last_done, 0);
        };
        let sum = marks.iter().fold((0, Bytes::ZERO), |(operations, bytes), (mark, _)| {
            (operations + mark.operations, bytes + mark.bytes)
        });
        let mark = Mark { elapsed_ns, operations: sum.0, bytes: sum.1 };
        (mark, marks.iter().map(|(_, step)| *step).max().unwrap_or(0))
    }

    /// How far apart the samples are that the first-done mark is read off, of processes other than the first; 0 if none is.
    pub fn sampled_ns(&self) -> u64 {
        self.first_done(Mark::default()).1
    }

    /// Whether a rank died of something that is its own.
    pub fn has_died(&self) -> bool {
        let own = |fault: Fault| fault.kind() != Kind::Interrupted;
        self.present().filter_map(|head| head.died.clone()).map(Fault::from).any(own)
    }

    /// A failure outweighs a signal, a signal a deadline.
    fn stop_cause(&self) -> StopCause {
        if self.present().any(|head| head.died.is_some()) || self.heads.iter().all(Option::is_none) {
            return StopCause::Error;
        }
        let any = |cause| self.ranks().any(|rank| rank.cause == cause);
        [StopCause::Error, StopCause::Space, StopCause::Interrupted, StopCause::Time]
            .into_iter()
            .find(|c| any(*c))
            .unwrap_or_default()
    }

    /// The result, without its checks.
    pub fn into_result(self, phase: &Phase, engines: &[Chosen], placement: &Placement) -> PhaseResult {
        let transfer = transfer_of(phase);
        let total = self.present().fold(Mark::default(), |sum, head| Mark {
            elapsed_ns: 0,
            operations: sum.operations + head.total.operations,
            bytes: sum.bytes + head.total.bytes,
        });
        let last_ns = self.last_ns();
        let last_done = Mark { elapsed_ns: last_ns, ..total };
        let length = self.ranks().map(|rank| rank.result.transferred_ns).max().unwrap_or(last_ns);
        let died = self.present().filter(|head| head.died.is_some()).count() as u64;
        let hosts = if placement.hosts().len() > 1 { self.hosts(placement) } else { Vec::new() };
        let mut ranks: Vec<RankResult> = self.ranks().map(|rank| rank.result.clone()).collect();
        ranks.sort_by_key(|rank| rank.rank);
        let lost = self.lost(placement);
        let counters = self.counters(placement);
        let layout = self.present().find_map(|head| head.layout.clone());
        let result = PhaseResult {
            name: phase.name.clone(),
            main: kinds_of(phase),
            transfer_bytes: transfer.map(|t| t.transfer_size.largest()),
            first_done: self.first_done(last_done).0,
            last_done,
            wear_out: phase.stop.wear_out,
            wear_out_capped: self.ranks().any(|rank| rank.capped),
            stopped_by: self.stop_cause(),
            open_loop: phase.jobs.iter().any(|job| job.activity.pacing() != Pacing::Closed),
            asked_operations_per_second: super::phase::asked(phase),
            matched: self.ranks().filter_map(|rank| rank.matched).reduce(|one, other| one + other),
            error_count: self.ranks().map(|rank| rank.result.errors).sum::<u64>() + died,
            verify_failures: self.ranks().map(|rank| rank.verified.1).sum(),
            verified_bytes: Bytes::new(self.ranks().map(|rank| rank.verified.0).sum()),
            ranks,
            hosts,
            layout,
            lost,
            engine: EngineUsed {
                name: engines[0].kind.name().to_owned(),
                reason: engines[0].reason.clone(),
                direct: transfer.is_some_and(|t| t.direct),
                queue_depth: transfer.map_or(1, |t| t.queue_depth),
            },
            counters,
            errors: self.present().flat_map(|head| head.errors.iter().cloned()).take(KEPT).collect(),
            operations: self.gathered.totals().to_vec(),
            ..PhaseResult::default()
        };
        PhaseResult { series: self.gathered.series(length), ..result }
    }

    fn lost(&self, placement: &Placement) -> Vec<LostProcess> {
        let gone = self.heads.iter().enumerate().filter(|(_, head)| head.is_none());
        let lost = |(process, _)| {
            let block = placement.block(process);
            let host = placement.hosts()[placement.host_of(process)].clone();
            LostProcess { host, first_rank: block.first, ranks: block.count, why: String::new() }
        };
        gone.map(lost).collect()
    }

    /// Those of a host: the kernel's from its first process that is still there, our own CPU time from all.
    pub fn counters_of(&self, host: usize, placement: &Placement) -> Counters {
        let mut here = placement.on_host(host).filter_map(|process| self.heads[process].as_ref());
        let Some(mut counters) = here.next().map(|head| head.counters.clone()) else {
            return Counters::default();
        };
        for head in here {
            counters.cpu.process_user_ns += head.counters.cpu.process_user_ns;
            counters.cpu.process_system_ns += head.counters.cpu.process_system_ns;
        }
        counters
    }

    /// Those of all hosts that have ranks. What single vCPUs did stays with the hosts.
    fn counters(&self, placement: &Placement) -> Counters {
        let hosts = 0..placement.hosts().len();
        if hosts.len() == 1 {
            return self.counters_of(0, placement);
        }
        let mut sum = Counters::default();
        for counters in
            hosts.filter(|host| placement.has_ranks(*host)).map(|host| self.counters_of(host, placement))
        {
            sum.add(&counters);
        }
        sum
    }

    fn hosts(&self, placement: &Placement) -> Vec<HostResult> {
        let hosts = 0..placement.hosts().len();
        hosts.filter(|host| placement.has_ranks(*host)).map(|host| self.host(host, placement)).collect()
    }

    fn host(&self, host: usize, placement: &Placement) -> HostResult {
        let heads = || placement.on_host(host).filter_map(|process| self.heads[process].as_ref());
        let ranks = || heads().flat_map(|head| &head.ranks).map(|rank| &rank.result);
        let counters = self.counters_of(host, placement);
        let moved = |of: fn(&host::TrafficCounter) -> Bytes| counters.traffic.iter().map(of).sum();
        let worst = heads().max_by_key(|head| uncertainty(head));
        HostResult {
            host: placement.hosts()[host].clone(),
            ranks: ranks().count() as u32,
            operations: heads().map(|head| head.total.operations).sum(),
            bytes: heads().map(|head| head.total.bytes).sum(),
            transferred_ns: ranks().map(|rank| rank.transferred_ns).max().unwrap_or(0),
            closed_ns: ranks().map(|rank| rank.closed_ns).max().unwrap_or(0),
            cpu_ns: ranks().map(|rank| rank.cpu_ns).sum(),
            cpu_busy_share: busy_share(&counters),
            storage_read_bytes: moved(|traffic| traffic.read_bytes),
            storage_written_bytes: moved(|traffic| traffic.written_bytes),
            dirty_bytes: counters.dirty_bytes + counters.writeback_bytes,
            clock_offset_ns: worst.map_or(0, |head| head.clocks[0].0),
            clock_drift_ns: worst.map_or(0, drift),
            clock_uncertainty_ns: worst.map_or(0, uncertainty),
            start_skew_ns: heads().map(|head| head.late_ns).max().unwrap_or(0),
            limit: None,
        }
    }
}

/// By how much a clock's offset changed over the phase.
fn drift(head: &PartHead) -> i64 {
    head.clocks[1].0.saturating_sub(head.clocks[0].0)
}

/// What is not known of a clock: how well it was measured before, and how far it drifted beyond what both measurements
/// leave open.
fn uncertainty(head: &PartHead) -> u64 {
    let [(_, before), (_, after)] = head.clocks;
    before + drift(head).unsigned_abs().saturating_sub(before + after)
}

fn busy_share(counters: &Counters) -> f64 {
    let cpu = &counters.cpu;
    let busy = (cpu.user_ns + cpu.system_ns + cpu.interrupt_ns) as f64;
    let all = busy + (cpu.iowait_ns + cpu.idle_ns + cpu.steal_ns) as f64;
    if all > 0.0 { busy / all } else { 0.0 }
}

/// The first transfer of a phase.
pub fn transfer_of(phase: &Phase) -> Option<&Transfer> {
    phase.jobs.iter().find_map(|job| match &job.activity {
        Activity::Transfer(transfer) => Some(transfer),
        Activity::Entries(_) => None,
    })
}
