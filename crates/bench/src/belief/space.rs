//! Rules about the file system's free space.

use record::{Check, PhaseResult};

use super::context::Context;
use super::work::{amount, bytes_written, percent, share};

/// File systems slow down as their last tenth fills: free extents get short, and SSDs below them run out of spare blocks.
const NEARLY_FULL: f64 = 0.90;
/// With less than this left the result is about searching for free blocks.
const FULL: f64 = 0.99;

/// Did the file system have room?
pub(super) fn free_space(phase: &PhaseResult, context: &Context<'_>) -> Check {
    const RULE: &str = "free-space";
    if bytes_written(phase) <= 0.0 {
        return Check::not_applicable(RULE, "the phase writes no data");
    }
    let whole = context.environment.target.as_ref().map_or(0.0, |mount| amount(mount.size_bytes));
    if whole <= 0.0 {
        return Check::not_applicable(RULE, "the size of the file system is not known");
    }
    let used = 1.0 - share(amount(context.available_after), whole);
    let evidence = format!(
        "{} full at the end; {} available, {} before",
        percent(used.max(0.0)),
        context.available_after,
        context.available_before
    );
    let advice = "free some space or use smaller files: file systems are slow when nearly full";
    if used > FULL {
        Check::fail(RULE, evidence, advice)
    } else if used > NEARLY_FULL {
        Check::note(RULE, evidence, advice)
    } else {
        Check::pass(RULE, evidence)
    }
}
