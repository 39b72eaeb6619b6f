//! What limited a phase, as far as one host can tell.

use host::CounterSource;
use record::{Check, Limit, LimitCause, Outcome, PhaseResult};

use super::context::Context;
use super::cpu::{SATURATED, Usage};
use super::work::{amount, bytes_read, bytes_written, elapsed_ns, in_flight, moves_bytes, percent, share};

/// From this share of its speed on, a NIC is full: headers take the rest.
const NIC_FULL: f64 = 0.90;
/// From this share of the time on, a device always had something to do.
const DEVICE_BUSY: f64 = 0.90;
/// With no more I/Os in flight than this, a solid-state device that is always busy may still have idle channels.
const FEW_IN_FLIGHT: f64 = 4.0;

/// The bound that `phase` ran into; the first of these that the numbers show: cache, NIC, CPU, device, pacing, queue depth,
/// and else something beyond this host. Ranks that wait for their next start may spin, so CPU counts only without pacing.
pub fn limit_of(phase: &PhaseResult, context: &Context<'_>, checks: &[Check]) -> Limit {
    let paced = phase.open_loop || context.paced.is_some();
    let limits = [
        cache(phase, context, checks),
        network(phase, context),
        if paced { None } else { cpu(phase, context) },
        device(phase, context),
        pacing(phase, context),
        queue_depth(phase, context),
    ];
    limits.into_iter().flatten().next().unwrap_or_else(|| beyond(phase, context))
}

fn limit(cause: LimitCause, evidence: String) -> Limit {
    Limit { cause, evidence }
}

fn cache(phase: &PhaseResult, context: &Context<'_>, checks: &[Check]) -> Option<Limit> {
    let failed = |rule: &str| {
        checks.iter().find(|c| c.rule == rule && c.outcome == Outcome::Fail).map(|c| c.evidence.clone())
    };
    if context.is_in_memory() && moves_bytes(phase) && cpu(phase, context).is_none() {
        return Some(limit(LimitCause::Cache, format!("{} is memory", context.file_system())));
    }
    let evidence =
        failed("cache-hit-proof").or_else(|| failed("working-set")).or_else(|| failed("dirty-left"))?;
    Some(limit(LimitCause::Cache, evidence))
}

fn cpu(phase: &PhaseResult, context: &Context<'_>) -> Option<Limit> {
    Some(limit(LimitCause::Cpu, Usage::of(phase, Some(context))?.saturation()?))
}

/// Only for file systems behind the network, and only when all NICs tell their speed: one that doesn't may carry it all.
fn network(phase: &PhaseResult, context: &Context<'_>) -> Option<Limit> {
    if !context.is_remote() || elapsed_ns(phase) <= 0.0 {
        return None;
    }
    let interfaces = &context.environment.interfaces;
    let speeds: Option<Vec<f64>> =
        interfaces.iter().map(|nic| nic.speed_bytes_per_second.map(units::Bandwidth::get)).collect();
    let speed: f64 = speeds?.into_iter().filter(|speed| *speed > 0.0).sum();
    let seconds = elapsed_ns(phase) / 1e9;
    let traffic = &phase.counters.traffic;
    let (received, sent) = if traffic.is_empty() {
        (bytes_read(phase), bytes_written(phase))
    } else {
        (
            traffic.iter().map(|t| amount(t.read_bytes)).sum(),
            traffic.iter().map(|t| amount(t.written_bytes)).sum::<f64>(),
        )
    };
    // Links carry both directions at once.
    let used = share(f64::max(received, sent) / seconds, speed);
    (used >= NIC_FULL).then(|| {
        let speed = units::Bandwidth::bytes_per_second(speed);
        limit(LimitCause::Network, format!("{} of the NIC's {speed} used", percent(used)))
    })
}

/// The busiest device and the share of the time it was busy.
fn busiest(phase: &PhaseResult) -> Option<(&str, f64)> {
    let devices =
        phase.counters.traffic.iter().filter(|t| t.source == CounterSource::Device && t.busy_ns > 0);
    let busiest = devices.max_by_key(|t| t.busy_ns)?;
    Some((busiest.name.as_str(), share(busiest.busy_ns as f64, elapsed_ns(phase))))
}

/// Whether several I/Os in flight could make a device faster that is busy already.
fn has_channels(name: &str, context: &Context<'_>) -> bool {
    context
        .environment
        .devices
        .iter()
        .find(|device| device.name == name)
        .is_some_and(|device| !device.rotational)
}

fn device(phase: &PhaseResult, context: &Context<'_>) -> Option<Limit> {
    let (name, busy) = busiest(phase)?;
    if busy < DEVICE_BUSY {
        return None;
    }
    let evidence = format!(
        "{name} was busy {} of the time with {:.0} in flight",
        percent(busy.min(1.0)),
        in_flight(phase)
    );
    // Read-ahead and write-back keep more in flight than the ranks do; O_DIRECT does not.
    if context.direct && in_flight(phase) < FEW_IN_FLIGHT && has_channels(name, context) {
        let evidence = format!(
            "{evidence}: a solid-state device does several at once, so more ranks or depth may give more"
        );
        return Some(limit(LimitCause::QueueDepth, evidence));
    }
    Some(limit(LimitCause::Device, evidence))
}

fn pacing(phase: &PhaseResult, context: &Context<'_>) -> Option<Limit> {
    let how = context
        .paced
        .clone()
        .or_else(|| phase.open_loop.then(|| "an open loop at a fixed rate".to_owned()))?;
    Some(limit(
        LimitCause::Pacing,
        format!("the load itself was paced: {how}, {} achieved", phase.last_done.iops()),
    ))
}

fn queue_depth(phase: &PhaseResult, context: &Context<'_>) -> Option<Limit> {
    let (name, busy) = busiest(phase)?;
    let depth = phase.engine.queue_depth.max(1);
    if busy >= DEVICE_BUSY || f64::from(depth) > FEW_IN_FLIGHT {
        return None;
    }
    let cpu = Usage::of(phase, Some(context)).map_or(0.0, |usage| usage.host);
    Some(limit(
        LimitCause::QueueDepth,
        format!(
            "{name} was busy {} of the time and the CPU {}: with {} ranks at depth {depth} each I/O waits for the one before; raise ranks or depth",
            percent(busy),
            percent(cpu),
            phase.ranks.len()
        ),
    ))
}

fn beyond(phase: &PhaseResult, context: &Context<'_>) -> Limit {
    let mut idle = Vec::new();
    if let Some(usage) = Usage::of(phase, Some(context)) {
        idle.push(format!("CPU {} busy (full from {})", percent(usage.host), percent(SATURATED)));
    }
    if let Some((name, busy)) = busiest(phase) {
        idle.push(format!("{name} {} busy", percent(busy)));
    }
    let seen = if idle.is_empty() { "no counter shows a limit here".to_owned() } else { idle.join(", ") };
    let cause = if context.is_remote() {
        "the file service, or the network to it"
    } else {
        "what the device is made of, or the path to it"
    };
    limit(LimitCause::Beyond, format!("{seen}, {:.0} in flight: {cause}", in_flight(phase)))
}
