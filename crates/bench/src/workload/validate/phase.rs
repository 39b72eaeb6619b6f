//! Phases, their ends and their ranks.

use fault::Result;

use super::super::{Activity, Layout, Phase, Workload};
use super::rate::check_skew;
use super::wrong;

impl Workload {
    pub(super) fn check_phase(&self, phase: &Phase) -> Result<()> {
        let name = &phase.name;
        let stop = &phase.stop;
        if phase.jobs.is_empty() {
            return Err(wrong(format!("phase `{name}` has no jobs"), "add `[[phases.jobs]]`"));
        }
        if stop.time.is_some_and(|time| time.is_zero()) {
            return Err(wrong(
                format!("phase `{name}` may run for no time at all"),
                "set `stop.time` to a second or more, or leave it out",
            ));
        }
        if stop.time.is_none() && stop.operations.is_none() && (stop.repeat || stop.wear_out) {
            return Err(wrong(
                format!("phase `{name}`: `repeat` and `wear_out` need a deadline"),
                "set `stop.time`",
            ));
        }
        self.check_ranks_of(phase)?;
        self.check_skip(phase)?;
        check_skew(phase)?;
        self.check_rate(phase)?;
        for job in &phase.jobs {
            match &job.activity {
                Activity::Transfer(transfer) => self.check_transfer(name, transfer)?,
                Activity::Entries(entries) => self.check_entries(name, stop, entries)?,
            }
        }
        Ok(())
    }

    /// A phase is left out because of one before it.
    fn check_skip(&self, phase: &Phase) -> Result<()> {
        let Some(skip) = &phase.skip_above else { return Ok(()) };
        let mut before = self.phases.iter().take_while(|other| other.name != phase.name);
        if before.any(|other| other.name == skip.phase) {
            return Ok(());
        }
        Err(wrong(
            format!(
                "phase `{}` is left out when `{}` was slow, which is no phase before it",
                phase.name, skip.phase
            ),
            "name an earlier phase in `skip_above`",
        ))
    }

    /// Ranks are dealt to jobs in order.
    fn check_ranks_of(&self, phase: &Phase) -> Result<()> {
        let name = &phase.name;
        if phase.ranks.is_some_and(|ranks| ranks == 0 || ranks > self.ranks) {
            return Err(wrong(
                format!("phase `{name}` wants {} ranks of {}", phase.ranks.unwrap_or(0), self.ranks),
                "set `ranks` of the phase to between 1 and the workload's `ranks`",
            ));
        }
        let transfers = phase.jobs.iter().any(|job| matches!(job.activity, Activity::Transfer(_)));
        if phase.ranks.is_some() && transfers && self.files.layout == Layout::Shared {
            return Err(wrong(
                format!("phase `{name}`: where data lies in a shared file depends on the number of ranks"),
                "leave out `ranks` of the phase, or use a file per rank",
            ));
        }
        check_groups(phase, self.ranks)?;
        let ranks = phase.group.unwrap_or(u32::MAX).min(phase.size(self.ranks));
        let dealt: u64 = phase.jobs.iter().filter_map(|job| job.ranks).map(u64::from).sum();
        if dealt > u64::from(ranks) {
            return Err(wrong(
                format!("phase `{name}` deals out {dealt} ranks of {ranks}"),
                "lower the jobs' `ranks`",
            ));
        }
        let before_last = &phase.jobs[..phase.jobs.len() - 1];
        let rest = before_last.iter().any(|job| job.ranks.is_none());
        if rest || phase.jobs.iter().any(|job| job.ranks == Some(0)) {
            return Err(wrong(
                format!("phase `{name}` has a job without ranks"),
                "give every job `ranks`; only the last may leave it out and takes those that are left",
            ));
        }
        Ok(())
    }
}

/// All groups are whole, and those that a job names are there.
fn check_groups(phase: &Phase, ranks: u32) -> Result<()> {
    let name = &phase.name;
    let named = phase.jobs.iter().flat_map(|job| &job.only_groups).max().copied();
    let Some(group) = phase.group else {
        if named.is_none_or(|number| number == 0) {
            return Ok(());
        }
        return Err(wrong(
            format!("phase `{name}` has jobs in some groups of ranks, and no groups"),
            "set `group` of the phase to the ranks of one",
        ));
    };
    let size = phase.size(ranks);
    if group == 0 || !size.is_multiple_of(group) {
        return Err(wrong(
            format!("phase `{name}` has {size} ranks, which are no whole groups of {group}"),
            "set `group` to a divisor of the ranks",
        ));
    }
    if named.is_some_and(|number| number >= size / group) {
        return Err(wrong(
            format!(
                "phase `{name}` has {} groups of ranks, and a job wants number {}",
                size / group,
                named.unwrap_or(0)
            ),
            "groups count from 0",
        ));
    }
    Ok(())
}
