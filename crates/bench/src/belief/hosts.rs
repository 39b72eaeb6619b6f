//! Rules over several hosts: each host by the rules for one, and the hosts beside each other.

use host::Counters;
use record::statistics::median;
use record::{Check, HostResult, Limit, LimitCause, Mark, OperationResult, Outcome, PhaseResult};
use units::{Bandwidth, Iops};

use super::context::Context;
use super::work::{elapsed_ns, percent, share, span};
use super::{limit_of, phase_checks};

/// Rules about a machine, its kernel's counters and its own ranks: each host is judged by its own.
const OF_A_HOST: [&str; 13] = [
    "cache-hit-proof",
    "working-set",
    "server-cache",
    "metadata-cache",
    "dirty-left",
    "write-back-before",
    "littles-law",
    "clock-source",
    "cpu-saturation",
    "cpu-steal",
    "cpu-allowed",
    "foreign-traffic",
    "compressible-data",
];
/// What is not known of a clock may be this share of the phase.
const CLOCKS: f64 = 0.01;
/// A host whose ranks do less than this share of the middle host's is told.
const BEHIND: f64 = 0.8;
/// A host that is done later than the middle one by more than this share of the phase is told.
const LATE: f64 = 0.1;

/// A phase as one host saw it.
pub struct HostView<'a> {
    name: &'a str,
    context: &'a Context<'a>,
    phase: PhaseResult,
    checks: Vec<Check>,
}

impl<'a> HostView<'a> {
    /// The part of `phase` that host `name` did: its ranks, what its kernel counted, and what it did of each kind.
    pub fn new(
        phase: &PhaseResult,
        name: &'a str,
        context: &'a Context<'a>,
        counters: Counters,
        operations: Vec<OperationResult>,
    ) -> Self {
        let ranks: Vec<_> = phase.ranks.iter().filter(|rank| rank.host == name).cloned().collect();
        let closed = ranks.iter().map(|rank| rank.closed_ns).max().unwrap_or(phase.last_done.elapsed_ns);
        let last_done = Mark {
            elapsed_ns: closed,
            operations: ranks.iter().map(|rank| rank.operations).sum(),
            bytes: ranks.iter().map(|rank| rank.bytes).sum(),
        };
        // The series is all hosts'.
        let own = PhaseResult { series: Vec::new(), hosts: Vec::new(), checks: Vec::new(), ..phase.clone() };
        let own = PhaseResult { ranks, operations, counters, last_done, ..own };
        let checks = phase_checks(&own, context);
        Self { name, context, phase: own, checks }
    }

    /// What limited this host.
    pub fn limit(&self) -> Limit {
        limit_of(&self.phase, self.context, &self.checks)
    }
}

/// All rules for a phase over several hosts.
pub fn checks_over_hosts(
    phase: &PhaseResult,
    views: &[HostView<'_>],
    sampled_ns: u64,
    allow_lost: u32,
) -> Vec<Check> {
    let Some(first) = views.first() else { return Vec::new() };
    let whole = phase_checks(phase, first.context);
    let fold = |check: Check| {
        if OF_A_HOST.contains(&check.rule.as_str()) { folded(&check.rule, views) } else { check }
    };
    let mut checks: Vec<Check> = whole.into_iter().map(fold).collect();
    checks.extend([
        lost_processes(phase, allow_lost),
        clocks(phase),
        host_balance(phase),
        host_stragglers(phase),
        first_done(phase, sampled_ns),
    ]);
    checks
}

/// One rule over all hosts: the worst of what it says of each, and of how many it says so.
fn folded(rule: &str, views: &[HostView<'_>]) -> Check {
    let of = |view: &HostView<'_>| {
        let check = view.checks.iter().find(|check| check.rule == rule).cloned();
        check.map(|check| (view.name.to_owned(), check))
    };
    let all: Vec<(String, Check)> = views.iter().filter_map(of).collect();
    let Some(worst) = all.iter().map(|(_, check)| check.outcome).max() else {
        return Check::not_applicable(rule, "no host says");
    };
    let alike: Vec<&(String, Check)> = all.iter().filter(|(_, check)| check.outcome == worst).collect();
    let (name, check) = alike[0];
    let evidence = match alike.len() {
        _ if worst == Outcome::NotApplicable => check.evidence.clone(),
        1 => format!("{name}: {}", check.evidence),
        2 if all.len() == 2 => format!("{name}: {}; the other host alike", check.evidence),
        count if count == all.len() => {
            format!("{name}: {}; the other {} hosts alike", check.evidence, count - 1)
        }
        count => format!("{name}: {}; {} more of {} hosts alike", check.evidence, count - 1, all.len()),
    };
    Check { evidence, ..check.clone() }
}

/// Did everybody stay to the end?
pub(super) fn lost_processes(phase: &PhaseResult, allowed: u32) -> Check {
    const RULE: &str = "lost-processes";
    if phase.lost.is_empty() {
        return Check::pass(RULE, "every process was there to the end");
    }
    let ranks: u32 = phase.lost.iter().map(|lost| lost.ranks).sum();
    let each: Vec<String> = phase
        .lost
        .iter()
        .take(3)
        .map(|lost| {
            format!("{} (rank {} and on, {} in all): {}", lost.host, lost.first_rank, lost.ranks, lost.why)
        })
        .collect();
    let evidence = format!("{} processes with {ranks} ranks are gone: {}", phase.lost.len(), each.join("; "));
    if phase.lost.len() as u64 <= u64::from(allowed) {
        Check::note(
            RULE,
            evidence,
            "the numbers are those of the others; what the lost ones did until then is not in them",
        )
    } else {
        Check::fail(RULE, evidence, "find out why the host went away, and run again")
    }
}

/// Are the clocks known well enough to say when a phase began and ended?
pub(super) fn clocks(phase: &PhaseResult) -> Check {
    const RULE: &str = "clock-uncertainty";
    let Some(worst) = phase.hosts.iter().max_by_key(|host| host.clock_uncertainty_ns) else {
        return Check::not_applicable(RULE, "there is only one host");
    };
    let uncertain = share(worst.clock_uncertainty_ns as f64, elapsed_ns(phase));
    let skew = phase.hosts.iter().map(|host| host.start_skew_ns).max().unwrap_or(0);
    let drift = phase.hosts.iter().map(|host| host.clock_drift_ns.unsigned_abs()).max().unwrap_or(0);
    let evidence = format!(
        "clocks are known to within {} ({}), {} of the phase; they drifted by at most {}, and the last rank began {} after the agreed instant",
        span(worst.clock_uncertainty_ns as f64),
        worst.host,
        percent(uncertain),
        span(drift as f64),
        span(skew as f64),
    );
    if uncertain <= CLOCKS {
        Check::pass(RULE, evidence)
    } else {
        Check::fail(
            RULE,
            evidence,
            "when hosts began and ended can't be told well enough: use a longer phase, or a quieter network between the hosts",
        )
    }
}

/// What a host's ranks did on the average: bytes per second, or operations where no bytes are moved.
fn rate_per_rank(host: &HostResult, in_bytes: bool) -> f64 {
    let rate = if in_bytes { host.bandwidth().get() } else { host.iops().get() };
    rate / f64::from(host.ranks.max(1))
}

fn shown(rate: f64, in_bytes: bool) -> String {
    if in_bytes { Bandwidth::bytes_per_second(rate).to_string() } else { Iops::new(rate).to_string() }
}

/// The slowest host per rank, and the middle one's rate.
fn slowest(phase: &PhaseResult) -> Option<(&HostResult, f64, f64, bool)> {
    let in_bytes = phase.hosts.iter().any(|host| host.bytes.get() > 0);
    let working: Vec<&HostResult> =
        phase.hosts.iter().filter(|host| host.ranks > 0 && host.operations > 0).collect();
    let rates: Vec<f64> = working.iter().map(|host| rate_per_rank(host, in_bytes)).collect();
    let middle = median(&rates)?;
    let slowest = working
        .into_iter()
        .min_by(|a, b| rate_per_rank(a, in_bytes).total_cmp(&rate_per_rank(b, in_bytes)))?;
    Some((slowest, rate_per_rank(slowest, in_bytes), middle, in_bytes))
}

/// Did all hosts do alike?
pub(super) fn host_balance(phase: &PhaseResult) -> Check {
    const RULE: &str = "host-balance";
    let Some((host, rate, middle, in_bytes)) = slowest(phase).filter(|_| phase.hosts.len() > 1) else {
        return Check::not_applicable(RULE, "there is only one host at work");
    };
    let evidence = format!(
        "the slowest host, {}, did {} per rank, the middle one {}",
        host.host,
        shown(rate, in_bytes),
        shown(middle, in_bytes)
    );
    if rate >= middle * BEHIND {
        Check::pass(RULE, evidence)
    } else {
        Check::note(
            RULE,
            evidence,
            "look at that host: its NIC and cabling, its mount options, other load; all others wait for it",
        )
    }
}

/// Were some hosts done long before others?
pub(super) fn host_stragglers(phase: &PhaseResult) -> Check {
    const RULE: &str = "host-stragglers";
    let ends: Vec<f64> = phase.hosts.iter().map(|host| host.closed_ns as f64).collect();
    let (Some(middle), Some(last)) = (median(&ends), phase.hosts.iter().max_by_key(|host| host.closed_ns))
    else {
        return Check::not_applicable(RULE, "there is only one host");
    };
    let late = (last.closed_ns as f64 - middle).max(0.0);
    let limit = LATE * elapsed_ns(phase);
    let behind: Vec<String> = phase
        .hosts
        .iter()
        .filter(|host| host.closed_ns as f64 - middle > limit)
        .map(|host| host.host.clone())
        .collect();
    let evidence = format!("{} was done {} after the middle host", last.host, span(late));
    if behind.is_empty() {
        return Check::pass(RULE, evidence);
    }
    let evidence =
        format!("{evidence}; late by more than a tenth of the phase: {}", crate::crew::listed(&behind));
    Check::note(RULE, evidence, "bandwidth counts to the last one: see what keeps these hosts")
}

/// Is the first-done mark exact?
fn first_done(phase: &PhaseResult, sampled_ns: u64) -> Check {
    const RULE: &str = "first-done";
    let first = span(phase.first_done.elapsed_ns as f64);
    if sampled_ns > 0 {
        Check::pass(
            RULE,
            format!(
                "the first rank of all was done after {first}; what other processes had done by then is read off samples {} apart",
                span(sampled_ns as f64)
            ),
        )
    } else {
        Check::not_applicable(RULE, "no rank was done, or all of one process")
    }
}

/// What limited a phase over several hosts: what limited most of them, and who was slowest.
pub fn limit_over_hosts(phase: &PhaseResult) -> Option<Limit> {
    let limits: Vec<(&HostResult, &Limit)> =
        phase.hosts.iter().filter_map(|host| Some((host, host.limit.as_ref()?))).collect();
    let count = |cause: LimitCause| limits.iter().filter(|(_, limit)| limit.cause == cause).count();
    let slowest = slowest(phase).map(|(host, ..)| host);
    // Where as many hosts say one thing as another, the slowest decides.
    let (host, limit) = limits.iter().max_by_key(|(host, limit)| {
        (count(limit.cause), slowest.is_some_and(|slowest| slowest.host == host.host))
    })?;
    let of = count(limit.cause);
    let slow = slowest.map(|host| format!("; the slowest host is {}", host.host)).unwrap_or_default();
    let evidence = format!("{of} of {} hosts; {}: {}{slow}", limits.len(), host.host, limit.evidence);
    Some(Limit { cause: limit.cause, evidence })
}
