//! Rules over all repetitions of a test.

use record::statistics::{coefficient_of_variation, median};
use record::{Check, Outcome, PhaseResult, StopCause, TestRecord};
use units::Bytes;

use super::work::percent;

/// Repetitions on a quiet machine agree within this (coefficient of variation).
const VARIATION_NOTE: f64 = 0.05;
/// Beyond this, a median of a few repetitions is a matter of luck.
const VARIATION_FAIL: f64 = 0.20;
/// A median needs two neighbours.
const FEWEST: usize = 3;
/// Repetitions that only ever rise or only ever fall by more than this in all are not repetitions of the same thing.
const TREND: f64 = 0.10;

/// The rules over the repetitions of one test.
pub fn test_checks(test: &TestRecord) -> Vec<Check> {
    vec![enough(test), variance(test), trend(test)]
}

/// The rate of each whole repetition of a phase: bytes per second, or operations where no bytes move.
fn rates(test: &TestRecord, phase: &str) -> Vec<f64> {
    let whole = |p: &&PhaseResult| matches!(p.stopped_by, StopCause::Bytes | StopCause::Time);
    let rate = |p: &PhaseResult| {
        if p.last_done.bytes > Bytes::ZERO { p.last_done.bandwidth().get() } else { p.last_done.iops().get() }
    };
    test.phases(phase).filter(whole).map(rate).collect()
}

/// Were there enough repetitions to tell noise?
fn enough(test: &TestRecord) -> Check {
    const RULE: &str = "repetitions";
    let names = test.phase_names();
    let Some(count) = names.iter().map(|name| rates(test, name).len()).min() else {
        return Check::not_applicable(RULE, "no phase ran");
    };
    let evidence =
        if count == 1 { "1 whole repetition".to_owned() } else { format!("{count} whole repetitions") };
    if count >= FEWEST {
        Check::pass(RULE, evidence)
    } else {
        Check::note(RULE, evidence, "repeat at least 3 times: fewer show neither noise nor a median")
    }
}

/// Do the repetitions agree?
fn variance(test: &TestRecord) -> Check {
    const RULE: &str = "variance";
    let variations: Vec<(&str, f64)> = test
        .phase_names()
        .into_iter()
        .filter_map(|name| Some((name, coefficient_of_variation(&rates(test, name))?)))
        .collect();
    let Some(worst) = variations.iter().map(|(_, variation)| *variation).max_by(f64::total_cmp) else {
        return Check::not_applicable(RULE, "fewer than two whole repetitions");
    };
    let each: Vec<String> = variations.iter().map(|(name, v)| format!("{name} {}", percent(*v))).collect();
    let evidence = format!("coefficient of variation over repetitions: {}", each.join(", "));
    let advice = "look for other users of the host and the storage, run longer, and repeat more often";
    let outcome = match worst {
        v if v <= VARIATION_NOTE => Outcome::Pass,
        v if v <= VARIATION_FAIL => Outcome::Note,
        _ => Outcome::Fail,
    };
    match outcome {
        Outcome::Pass => Check::pass(RULE, evidence),
        Outcome::Note => Check::note(RULE, evidence, advice),
        _ => Check::fail(RULE, evidence, advice),
    }
}

/// Do the repetitions drift in one direction?
fn trend(test: &TestRecord) -> Check {
    const RULE: &str = "trend";
    let mut drifting = Vec::new();
    let mut judged = false;
    for name in test.phase_names() {
        let rates = rates(test, name);
        if rates.len() < FEWEST {
            continue;
        }
        judged = true;
        let falls = rates.windows(2).all(|pair| pair[1] < pair[0]);
        let rises = rates.windows(2).all(|pair| pair[1] > pair[0]);
        let (first, last) = (rates[0], rates[rates.len() - 1]);
        let drift = (last - first) / median(&rates).filter(|middle| *middle > 0.0).unwrap_or(f64::INFINITY);
        if (falls || rises) && drift.abs() > TREND {
            let way = if falls { "fell" } else { "rose" };
            drifting.push(format!("{name} {way} by {}", percent(drift.abs())));
        }
    }
    if !judged {
        return Check::not_applicable(RULE, "fewer than three whole repetitions");
    }
    if drifting.is_empty() {
        return Check::pass(RULE, "no phase only rises or only falls from repetition to repetition");
    }
    Check::note(
        RULE,
        format!("from repetition to repetition {}", drifting.join(", ")),
        "credits, heat or a file system filling up carry over from one repetition to the next: rest between them, or run longer",
    )
}
