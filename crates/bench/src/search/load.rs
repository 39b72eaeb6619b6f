//! A workload at another load.

use fault::{Fault, Kind, Result};
use record::Load;

use crate::workload::{Activity, Arrival, PhaseRate, Workload};

/// Sets the load of the phase called `phase`.
pub fn with_load(workload: &mut Workload, phase: &str, load: Load, value: f64) -> Result<()> {
    let dealt = workload
        .phases
        .iter()
        .any(|own| own.ranks.is_some() || own.jobs.iter().any(|job| job.ranks.is_some()));
    match load {
        Load::Repetition => return Ok(()),
        Load::Ranks if dealt => {
            return Err(Fault::new(
                Kind::Usage,
                "the workload deals its ranks to jobs: they can't be raised as one",
            )
            .hint("leave out `ranks` of phases and jobs, or raise the depth: `--saturate depth`"));
        }
        Load::Ranks => {
            workload.ranks = value as u32;
            return Ok(());
        }
        Load::QueueDepth | Load::OperationsPerSecond => {}
    }
    let Some(own) = workload.phases.iter_mut().find(|own| own.name == phase) else { return Ok(()) };
    if load == Load::OperationsPerSecond {
        own.rate = Some(PhaseRate::Fixed { operations_per_second: value, arrival: Arrival::Poisson });
        return Ok(());
    }
    for job in &mut own.jobs {
        match &mut job.activity {
            Activity::Transfer(transfer) => transfer.queue_depth = value as u32,
            Activity::Entries(_) => {
                return Err(Fault::new(
                    Kind::Usage,
                    format!("phase `{phase}` works on entries, one at a time per rank"),
                )
                .hint("raise the ranks: `--saturate ranks`"));
            }
        }
    }
    Ok(())
}
