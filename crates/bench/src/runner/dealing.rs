//! What can't be dealt to several processes, because ranks look at each other's memory.

use fault::{Fault, Kind, Result};
use fleet::Placement;

use crate::workload::{Activity, Job, Pacing, Phase, RankShift, Selection, Workload};

/// Refuses workloads whose ranks need what only ranks of their own process can tell them.
///
/// Items that ranks take from each other are dealt: each process's ranks take those that are its own. That, and jobs that
/// keep to their part of the operations in a closed loop, needs ranks of every such job in every process.
pub fn check(workload: &Workload, placement: &Placement) -> Result<()> {
    if placement.processes() == 1 {
        return Ok(());
    }
    for phase in &workload.phases {
        let selects =
            |job: &&Job| matches!(&job.activity, Activity::Entries(e) if e.select != Selection::Own);
        let waits = |job: &&Job| phase.skews().is_some() && job.activity.pacing() == Pacing::Closed;
        for (number, job) in phase.jobs.iter().enumerate() {
            let why = match () {
                // Whoever says where a job is done knows where it is not.
                () if !job.only_groups.is_empty() && !waits(&job) => continue,
                () if selects(&job) => "ranks take items from each other",
                () if waits(&job) => "jobs wait for each other to keep to their skew",
                () => continue,
            };
            if let Some(process) = lacking(phase, number, workload, placement) {
                return Err(refused(phase, number, why, &placement.hosts()[placement.host_of(process)]));
            }
        }
        if workload.selects() && phase.jobs.iter().any(reaches_others) {
            let message = format!(
                "phase `{}` works on items of other ranks while ranks take items from each other, over several processes",
                phase.name
            );
            return Err(Fault::new(Kind::Unsupported, message)
                .hint("leave out `rank_shift` and `first_rank_only`, or run in one process"));
        }
    }
    Ok(())
}

/// A process with ranks of the phase, but none of job number `number`.
fn lacking(phase: &Phase, number: usize, workload: &Workload, placement: &Placement) -> Option<usize> {
    let of = |rank: u32| {
        let (job, _) = phase.job_of(rank, workload.ranks)?;
        phase.jobs.iter().position(|other| std::ptr::eq(other, job))
    };
    let size = phase.size(workload.ranks);
    (0..placement.processes()).find(|process| {
        let block = placement.block(*process);
        block.ranks().any(|rank| rank < size) && !block.ranks().any(|rank| of(rank) == Some(number))
    })
}

fn reaches_others(job: &Job) -> bool {
    match &job.activity {
        Activity::Entries(entries) => entries.rank_shift != RankShift::None || entries.first_rank_only,
        Activity::Transfer(_) => false,
    }
}

fn refused(phase: &Phase, number: usize, why: &str, host: &str) -> Fault {
    let message = format!("phase `{}`: {why}, and {host} has no rank of job {}", phase.name, number + 1);
    Fault::new(Kind::Unsupported, message).hint(
        "over several processes every one of them needs ranks of each such job: give the phase a `group` of as many ranks as a process has, in which all its jobs have some; or use one job, or run in one process",
    )
}
