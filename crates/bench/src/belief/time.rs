//! Rules about clocks and what is derived from them.

use record::{Check, OperationKind, PhaseResult};

use super::context::Context;
use super::work::{elapsed_ns, in_flight, moves_bytes, percent, share, span};

/// Fewer operations than this make a mean latency of luck.
const FEWEST_OPERATIONS: u64 = 100;
/// Operations in flight may differ this much from those asked for: ramp, stragglers, histogram buckets.
const LAW_NOTE: f64 = 0.20;
/// Beyond this factor the rate, the latency or the count of operations is wrong.
const LAW_FAIL: f64 = 2.0;
/// Below this, start and end are a visible part of the result.
const SHORT_NS: f64 = 1e9;
/// Below this, data phases measure their own start.
const TOO_SHORT_NS: f64 = 1e8;
/// Ranks that begin apart by more than this share of the phase did not load the storage together.
const SKEW: f64 = 0.05;
/// Reading one of these takes hundreds of ns to microseconds and a call into the kernel.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];

/// Little's law: operations in flight = rate x mean latency. If it does not hold, one of the three is wrong.
///
/// Both sides are times: ranks x queue depth x their time against the sum of all latencies. Time between operations that
/// the ranks spent computing (making and verifying data) is no contradiction, so CPU time fills the gap as far as it goes.
pub(super) fn littles_law(phase: &PhaseResult, context: &Context<'_>) -> Check {
    const RULE: &str = "littles-law";
    if phase.open_loop || context.paced.is_some() {
        return Check::not_applicable(RULE, "the load is paced: operations in flight vary by design");
    }
    if !moves_bytes(phase) {
        return Check::not_applicable(RULE, "the phase works on entries");
    }
    let transfers =
        || phase.operations.iter().filter(|o| matches!(o.kind, OperationKind::Read | OperationKind::Write));
    let operations = transfers().map(|o| o.operations).fold(0u64, u64::saturating_add);
    let window = window_ns(phase);
    if operations < FEWEST_OPERATIONS || window <= 0.0 {
        return Check::not_applicable(RULE, format!("{operations} operations are too few"));
    }
    let busy: f64 = transfers().map(|o| o.operations as f64 * o.latency.mean().as_nanos() as f64).sum();
    let depth = f64::from(phase.engine.queue_depth.max(1));
    let offered = window * depth;
    let computing: f64 = phase.ranks.iter().map(|rank| rank.cpu_ns as f64).sum::<f64>() * depth;
    let explained = (offered - busy).clamp(0.0, computing);
    let asked = in_flight(phase);
    let (seen, whole) = (share(busy, offered), share(busy + explained, offered));
    let evidence = format!(
        "rate x mean latency = {:.2} in flight, {asked:.0} asked for ({} ranks x depth {depth:.0})",
        seen * asked,
        phase.ranks.len()
    );
    let off = (whole - 1.0).abs();
    if !(1.0 / LAW_FAIL..=LAW_FAIL).contains(&whole) {
        let advice = "rate, latency or count of operations is wrong: report this run as a defect of forebay";
        return Check::fail(RULE, evidence, advice);
    }
    if off > LAW_NOTE {
        let advice = "ranks waited outside their I/O, or the queue was not kept full: look at CPU, other load and the tail";
        return Check::note(RULE, evidence, advice);
    }
    if (seen - 1.0).abs() > LAW_NOTE {
        let between = percent(share(explained, offered));
        return Check::pass(
            RULE,
            format!("{evidence}; {between} of the time the ranks computed between operations"),
        );
    }
    Check::pass(RULE, evidence)
}

/// Time the ranks spent on their transfers, summed over ranks.
fn window_ns(phase: &PhaseResult) -> f64 {
    let ranks: f64 =
        phase.ranks.iter().map(|rank| rank.transferred_ns.saturating_sub(rank.opened_ns) as f64).sum();
    if ranks > 0.0 { ranks } else { elapsed_ns(phase) * phase.ranks.len() as f64 }
}

/// Did it last long enough to mean something?
pub(super) fn duration(phase: &PhaseResult) -> Check {
    const RULE: &str = "duration";
    let elapsed = elapsed_ns(phase);
    let evidence = format!("lasted {}", span(elapsed));
    let advice = "use more data, more files or a longer time: a second at least, a minute to be sure";
    if elapsed >= SHORT_NS {
        Check::pass(RULE, evidence)
    } else if elapsed < TOO_SHORT_NS && moves_bytes(phase) {
        Check::fail(RULE, format!("{evidence}: start and end are most of it"), advice)
    } else {
        Check::note(RULE, evidence, advice)
    }
}

/// Did the ranks begin together?
pub(super) fn start_skew(phase: &PhaseResult) -> Check {
    const RULE: &str = "start-skew";
    let starts = || phase.ranks.iter().map(|rank| rank.opened_ns);
    let (Some(first), Some(last)) = (starts().min(), starts().max()) else {
        return Check::not_applicable(RULE, "there are no ranks");
    };
    let skew = (last - first) as f64;
    let evidence = format!(
        "ranks began their transfers {} apart, {} of the phase",
        span(skew),
        percent(share(skew, elapsed_ns(phase)))
    );
    if phase.ranks.len() < 2 {
        return Check::not_applicable(RULE, "there is only one rank");
    }
    if skew <= SKEW * elapsed_ns(phase) {
        Check::pass(RULE, evidence)
    } else {
        Check::note(
            RULE,
            evidence,
            "opening files takes long here: use a longer phase so that it weighs less",
        )
    }
}

/// Is the clock fast enough to stamp every operation?
pub(super) fn clock_source(context: &Context<'_>) -> Check {
    const RULE: &str = "clock-source";
    let source = context.environment.clock_source.as_str();
    if source.is_empty() {
        return Check::not_applicable(RULE, "the kernel does not name its clock source");
    }
    if SLOW_CLOCKS.contains(&source) {
        return Check::note(
            RULE,
            format!("the kernel reads time from {source}, which costs up to microseconds per operation"),
            "boot with a tsc or kvm-clock clock source; until then small operations look slower than they are",
        );
    }
    Check::pass(RULE, format!("the kernel reads time from {source}"))
}
