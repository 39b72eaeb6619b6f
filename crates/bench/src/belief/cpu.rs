//! Rules about the client's own CPU.

use record::{Check, PhaseResult};

use super::context::Context;
use super::work::{elapsed_ns, percent, share};

/// From this share on, a vCPU, a rank or the host has nothing left to give.
pub(super) const SATURATED: f64 = 0.90;
/// Programs of others that take this share of a full host take it from the measurement.
const OTHERS: f64 = 0.25;
/// More than this taken by the hypervisor shows in latencies.
const STEAL: f64 = 0.05;

/// How busy this host's CPU was.
pub(super) struct Usage {
    /// Busy share of the busiest vCPU.
    pub busiest: f64,
    /// This process's CPU time over that of all vCPUs it may use.
    pub process: f64,
    /// All busy time over that of all vCPUs.
    pub host: f64,
    /// Programs of others over all vCPUs; kernel threads may work for us and don't count.
    pub others: f64,
    /// Share of the ranks' time that they spent on CPU.
    pub ranks: f64,
    /// Share of time taken by the hypervisor.
    pub steal: f64,
}

impl Usage {
    /// `None` without CPU times.
    pub(super) fn of(phase: &PhaseResult, context: Option<&Context<'_>>) -> Option<Self> {
        let cpu = &phase.counters.cpu;
        let vcpus = cpu.busy_per_vcpu_ns.len() as f64;
        let busy: f64 = cpu.busy_per_vcpu_ns.iter().map(|ns| *ns as f64).sum();
        let steal = cpu.steal_ns as f64;
        // The counters' own window: they are read a moment before and after the phase.
        let all = cpu.user_ns as f64
            + cpu.system_ns as f64
            + cpu.interrupt_ns as f64
            + cpu.iowait_ns as f64
            + cpu.idle_ns as f64
            + steal;
        let window = if all > 0.0 && vcpus > 0.0 { all / vcpus } else { elapsed_ns(phase) };
        if window <= 0.0 || (vcpus == 0.0 && all == 0.0) {
            return None;
        }
        let busiest = cpu.busy_per_vcpu_ns.iter().max().map_or(0.0, |ns| *ns as f64);
        let allowed =
            context.map(|context| context.environment.cpu.vcpus_allowed).filter(|allowed| *allowed > 0.0);
        let process = cpu.process_user_ns as f64 + cpu.process_system_ns as f64;
        let others = cpu.user_ns as f64 - cpu.process_user_ns as f64;
        let rank_cpu: f64 = phase.ranks.iter().map(|rank| rank.cpu_ns as f64).sum();
        let rank_time: f64 = phase.ranks.iter().map(|rank| rank.closed_ns as f64).sum();
        Some(Self {
            busiest: busiest / window,
            process: share(process, allowed.unwrap_or(vcpus) * window),
            host: share(busy, vcpus * window),
            others: share(others.max(0.0), vcpus * window),
            ranks: share(rank_cpu, rank_time),
            steal: share(steal, vcpus.max(1.0) * window),
        })
    }

    /// Whether the client's CPU had nothing left for this phase, and how we know.
    pub(super) fn saturation(&self) -> Option<String> {
        if self.process >= SATURATED {
            Some(format!("this process used {} of the CPU time it may have", percent(self.process)))
        } else if self.host >= SATURATED {
            Some(format!("all vCPUs together were {} busy", percent(self.host)))
        } else if self.ranks >= SATURATED {
            Some(format!("ranks were on CPU for {} of their time, waiting for the rest", percent(self.ranks)))
        } else {
            None
        }
    }
}

/// Was the client's CPU measured instead of the storage?
pub(super) fn cpu_saturation(phase: &PhaseResult, context: &Context<'_>) -> Check {
    const RULE: &str = "cpu-saturation";
    let Some(usage) = Usage::of(phase, Some(context)) else {
        return Check::not_applicable(RULE, "CPU times are not known");
    };
    let evidence = format!(
        "busiest vCPU {}, all vCPUs {}, ranks on CPU {} of their time",
        percent(usage.busiest),
        percent(usage.host),
        percent(usage.ranks)
    );
    if usage.host >= SATURATED && usage.others >= OTHERS {
        let others = percent(usage.others);
        return Check::fail(
            RULE,
            format!("{evidence}; other programs took {others} of a full host"),
            "stop them, or measure on a host of your own",
        );
    }
    if let Some(how) = usage.saturation() {
        return Check::note(
            RULE,
            format!("{evidence}; {how}"),
            "the storage is at least this fast: more or faster pCores, larger transfers or O_DIRECT would tell how much faster",
        );
    }
    if usage.busiest >= SATURATED {
        let advice = "if interrupts or one rank sit there, they bound the rate: spread interrupts (`irqbalance`) or pin ranks";
        return Check::note(RULE, evidence, advice);
    }
    Check::pass(RULE, evidence)
}

/// Did the hypervisor take CPU time away?
pub(super) fn cpu_steal(phase: &PhaseResult) -> Check {
    const RULE: &str = "cpu-steal";
    let Some(usage) = Usage::of(phase, None) else {
        return Check::not_applicable(RULE, "CPU times are not known");
    };
    let evidence = format!("the hypervisor took {} of the CPU time", percent(usage.steal));
    if usage.steal <= STEAL {
        Check::pass(RULE, evidence)
    } else {
        Check::note(
            RULE,
            evidence,
            "neighbours or a burst-credit instance: latencies hold waits for CPU; use a dedicated size",
        )
    }
}

/// May the ranks run at the same time?
pub(super) fn cpu_allowed(phase: &PhaseResult, context: &Context<'_>) -> Check {
    const RULE: &str = "cpu-allowed";
    let allowed = context.environment.cpu.vcpus_allowed;
    let ranks = phase.ranks.len() as f64;
    if allowed <= 0.0 || ranks <= 0.0 {
        return Check::not_applicable(RULE, "the number of vCPUs this process may use is not known");
    }
    let evidence = format!("{ranks:.0} ranks on {allowed} vCPUs that this process may use");
    if ranks <= allowed {
        return Check::pass(RULE, evidence);
    }
    // Ranks that wait for storage share a vCPU well; the rule is about rates per pCore, which assume one each.
    Check::note(
        RULE,
        evidence,
        "ranks take turns: raise the affinity or cgroup quota, or use no more ranks than vCPUs for rates per pCore",
    )
}
