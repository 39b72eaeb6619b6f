//! Rates that jobs share, and their parts of all operations.

use fault::Result;
use units::Ratio;

use super::super::{Activity, EntryOperation, Job, Pacing, Phase, PhaseRate, RateStep, Selection, Workload};
use super::wrong;

impl Workload {
    /// A rate needs something that it can pace, and something that it is a share of.
    pub(super) fn check_rate(&self, phase: &Phase) -> Result<()> {
        let name = &phase.name;
        let Some(rate) = &phase.rate else { return Ok(()) };
        match rate {
            PhaseRate::Fixed { operations_per_second: rate, .. } if !(rate.is_finite() && *rate > 0.0) => {
                Err(wrong(
                    format!("phase `{name}`: {rate} operations per second is no rate"),
                    "set `operations_per_second` above 0",
                ))
            }
            PhaseRate::Series { steps, .. } => {
                let good = |step: &RateStep| {
                    step.operations_per_second.is_finite()
                        && step.operations_per_second >= 0.0
                        && !step.time.is_zero()
                };
                if steps.iter().all(good) && steps.iter().any(|step| step.operations_per_second > 0.0) {
                    return Ok(());
                }
                Err(wrong(
                    format!(
                        "phase `{name}`: its series of rates has a step that is none, or nothing but rests"
                    ),
                    "each step needs a `time` and `operations_per_second`, and one of these is above 0",
                ))
            }
            PhaseRate::Of { share, .. } if share.get() <= 0.0 => {
                Err(wrong(format!("phase `{name}`: {share} of a rate is no rate"), "set `share` above 0 %"))
            }
            PhaseRate::Of { phase: other, .. } => {
                let before = self.phases.iter().take_while(|earlier| !std::ptr::eq(*earlier, phase));
                let Some(earlier) = before.filter(|earlier| earlier.name == *other).last() else {
                    return Err(wrong(
                        format!(
                            "phase `{name}` wants a share of the rate of `{other}`, which is no earlier phase"
                        ),
                        "name a phase before it",
                    ));
                };
                if phase.skews().is_none() && !same_ranks(phase, earlier) {
                    return Err(wrong(
                        format!(
                            "phase `{name}` has other jobs than `{other}`, whose rate it wants a share of"
                        ),
                        "give both the same jobs with the same ranks, or say who gets what with `skew`",
                    ));
                }
                Ok(())
            }
            PhaseRate::Fixed { .. } => Ok(()),
        }
    }
}

/// Jobs that wait for each other must not wait for one that has ended.
pub(super) fn check_skew(phase: &Phase) -> Result<()> {
    let name = &phase.name;
    let skewed = phase.jobs.iter().any(|job| job.skew.is_some());
    let own_pace = |job: &Job| job.activity.pacing() != Pacing::Closed;
    let unpaced = |job: &Job| matches!(&job.activity, Activity::Entries(e) if !e.operation.is_for_items());
    if (skewed || phase.rate.is_some()) && phase.jobs.iter().any(|job| own_pace(job) || unpaced(job)) {
        return Err(wrong(
            format!(
                "phase `{name}`: `rate` and `skew` go with transfers and items that have no `pacing` of their own"
            ),
            "leave out `pacing`, or `rate` and `skew`",
        ));
    }
    if !skewed {
        return Ok(());
    }
    let given: f64 = phase.jobs.iter().filter_map(|job| job.skew).map(Ratio::get).sum();
    let all = phase.jobs.iter().all(|job| job.skew.is_some());
    let none = phase.jobs.iter().any(|job| job.skew.is_some_and(|skew| skew.get() <= 0.0));
    let too_much = given > 1.0 + 1e-9;
    if none || too_much || (all && given < 1.0 - 1e-9) || (!all && given > 1.0 - 1e-9) {
        return Err(wrong(
            format!("phase `{name}`: the jobs' `skew` does not add up to 100 %"),
            "every job needs some of it; those without `skew` share what is left",
        ));
    }
    let stop = &phase.stop;
    let endless = stop.time.is_some() && stop.repeat && stop.operations.is_none() && !stop.wear_out;
    if phase.rate.is_none() && !endless {
        return Err(wrong(
            format!(
                "phase `{name}`: jobs with `skew` wait for each other, and one that has ended would hold up the others"
            ),
            "stop by `time` with `repeat = true`, without `operations` and `wear_out`",
        ));
    }
    if phase.rate.is_none() { check_endless(phase) } else { Ok(()) }
}

/// A job that runs out of items would hold up the others: it must be able to go round them, and creations and removals
/// must keep pace with each other.
fn check_endless(phase: &Phase) -> Result<()> {
    let name = &phase.name;
    let ends = |job: &Job| match &job.activity {
        Activity::Transfer(_) => false,
        Activity::Entries(e) => match e.select {
            Selection::Own => !e.operation.keeps(),
            Selection::Once => true,
            _ => false,
        },
    };
    let skews = phase.skews().unwrap_or_default();
    let part = |operation| -> f64 {
        let of = |job: &Job| matches!(&job.activity, Activity::Entries(e) if e.operation == operation);
        phase.jobs.iter().zip(&skews).filter(|(job, _)| of(job)).map(|(_, skew)| skew).sum()
    };
    let balance = part(EntryOperation::Create) - part(EntryOperation::Remove);
    if phase.jobs.iter().any(ends) || balance.abs() > 1e-9 {
        return Err(wrong(
            format!("phase `{name}`: a job with `skew` runs out of items, and would hold up the others"),
            "use `select` without `once`, and as much `skew` for `create` as for `remove`",
        ));
    }
    Ok(())
}

/// Whether the jobs of two phases have the same ranks.
fn same_ranks(one: &Phase, other: &Phase) -> bool {
    one.ranks == other.ranks
        && one.jobs.iter().map(|job| job.ranks).eq(other.jobs.iter().map(|job| job.ranks))
}
