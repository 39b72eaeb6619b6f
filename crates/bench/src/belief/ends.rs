//! Rules about how a phase ended.

use record::{Check, PhaseResult, StopCause};

use super::work::span;

/// A last rank that needs this many times as long as the first decides the bandwidth of the whole.
const TAIL: f64 = 1.25;

/// Did the phase come to its end?
pub(super) fn interrupted(phase: &PhaseResult) -> Check {
    const RULE: &str = "interrupted";
    let elapsed = span(phase.last_done.elapsed_ns as f64);
    match phase.stopped_by {
        StopCause::Bytes => Check::pass(RULE, format!("all work was done in {elapsed}")),
        StopCause::Time => Check::pass(RULE, format!("ran for its time, {elapsed}")),
        StopCause::Interrupted => {
            Check::fail(RULE, format!("stopped by a signal after {elapsed}"), "run it again to its end")
        }
        StopCause::Space => Check::fail(
            RULE,
            format!("ended after {elapsed}, before a target was full"),
            "make room on the target, or use a smaller size, and run it again",
        ),
        StopCause::Error => Check::fail(
            RULE,
            format!("ended by a failure after {elapsed}"),
            "see the error, and run it again",
        ),
    }
}

/// Did any operation fail or move fewer bytes than asked?
pub(super) fn errors(phase: &PhaseResult) -> Check {
    const RULE: &str = "errors";
    let ranks = phase.ranks.iter().map(|rank| rank.errors).fold(0u64, u64::saturating_add);
    let count = phase.error_count.max(ranks).max(phase.errors.len() as u64);
    if count == 0 {
        return Check::pass(RULE, "no operation failed or stayed short");
    }
    let Some(first) = phase.errors.first() else {
        return Check::fail(
            RULE,
            format!("{count} operations failed or stayed short"),
            "look at `dmesg` and the server's log",
        );
    };
    let place = first.offset.map(|offset| format!(" at offset {offset}")).unwrap_or_default();
    Check::fail(
        RULE,
        format!(
            "{count} operations failed or stayed short; the first: {} of `{}`{place} by rank {}: {}",
            first.kind.word(),
            first.file,
            first.rank,
            first.message
        ),
        first.hint.clone().unwrap_or_else(|| "look at `dmesg` and the server's log".to_owned()),
    )
}

/// Did some ranks keep the others waiting?
pub(super) fn first_last_gap(phase: &PhaseResult) -> Check {
    const RULE: &str = "first-last-gap";
    let (first, last) = (phase.first_done.elapsed_ns as f64, phase.last_done.elapsed_ns as f64);
    if phase.ranks.len() < 2 || first <= 0.0 {
        return Check::not_applicable(RULE, "there is only one rank to be done");
    }
    let evidence = format!("first rank done after {}, last after {}", span(first), span(last));
    if last / first <= TAIL {
        return Check::pass(RULE, evidence);
    }
    let slowest = phase.ranks.iter().max_by_key(|rank| rank.closed_ns);
    let who = slowest.map_or_else(String::new, |rank| {
        let host = if rank.host.is_empty() { String::new() } else { format!(" on {}", rank.host) };
        format!(": rank {}{host} was the slowest", rank.rank)
    });
    Check::note(
        RULE,
        format!("{evidence}{who}"),
        "bandwidth counts until the last is done; look at what the slowest rank's files lie on, or use a time limit with wear-out",
    )
}

/// Was the wear-out cut short?
pub(super) fn wear_out_capped(phase: &PhaseResult) -> Check {
    const RULE: &str = "wear-out-capped";
    if !phase.wear_out {
        return Check::not_applicable(RULE, "no wear-out was asked for");
    }
    if !phase.wear_out_capped {
        return Check::pass(RULE, "every rank did as much as the furthest");
    }
    Check::note(
        RULE,
        "slow ranks were stopped before they had done as much as the furthest",
        "raise the wear-out's cap, or read the result as one limited by time",
    )
}
