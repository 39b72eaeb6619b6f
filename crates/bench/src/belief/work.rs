//! What a phase did, in numbers that can't overflow, and how numbers are put into sentences.

use record::{OperationKind, OperationResult, PhaseResult};
use units::Bytes;

/// Bytes as a float: sums of absurd inputs stay finite.
pub(super) fn amount(bytes: Bytes) -> f64 {
    bytes.get() as f64
}

/// Bytes the application read in the phase.
pub(super) fn bytes_read(phase: &PhaseResult) -> f64 {
    bytes_of(phase, &[OperationKind::Read, OperationKind::ReadFile])
}

/// Bytes the application wrote in the phase.
pub(super) fn bytes_written(phase: &PhaseResult) -> f64 {
    bytes_of(phase, &[OperationKind::Write, OperationKind::Create])
}

fn bytes_of(phase: &PhaseResult, kinds: &[OperationKind]) -> f64 {
    phase.operations.iter().filter(|o| kinds.contains(&o.kind)).map(bytes_in).sum()
}

/// Bytes of one result.
pub(super) fn bytes_in(result: &OperationResult) -> f64 {
    amount(result.bytes)
}

/// Whether the phase's work is moving bytes (as opposed to entries).
pub(super) fn moves_bytes(phase: &PhaseResult) -> bool {
    phase.main.iter().any(|kind| matches!(kind, OperationKind::Read | OperationKind::Write))
}

/// Length of the phase until its last rank was done, in ns.
pub(super) fn elapsed_ns(phase: &PhaseResult) -> f64 {
    phase.last_done.elapsed_ns as f64
}

/// I/Os that ranks kept in flight together, as asked for.
pub(super) fn in_flight(phase: &PhaseResult) -> f64 {
    phase.ranks.len() as f64 * f64::from(phase.engine.queue_depth.max(1))
}

/// `part` of `whole` as a share; zero of nothing.
pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 1.0 { format!("{percent:.2} %") } else { format!("{percent:.0} %") }
}

/// An amount of bytes with its unit.
pub(super) fn size(bytes: f64) -> String {
    Bytes::new(bytes.max(0.0) as u64).to_string()
}

/// A time in ns with its unit.
pub(super) fn span(nanoseconds: f64) -> String {
    units::format_duration(std::time::Duration::from_nanos(nanoseconds.max(0.0) as u64))
}
