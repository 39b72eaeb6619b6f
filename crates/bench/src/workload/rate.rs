use std::borrow::Cow;
use std::time::Duration;

use fault::{Fault, Kind, Result};
use record::PhaseResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Ratio;

use super::{Activity, Arrival, Pacing, Phase, Workload};

/// One rate of a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Operations per second of all ranks together; 0 is a rest.
    pub operations_per_second: f64,
    /// For how long.
    #[serde(with = "units::text::duration")]
    #[schemars(with = "String")]
    pub time: Duration,
}

impl RateStep {
    /// Operations per second over all steps.
    pub fn mean(steps: &[Self]) -> f64 {
        let time: f64 = steps.iter().map(|step| step.time.as_secs_f64()).sum();
        steps.iter().map(|step| step.operations_per_second * step.time.as_secs_f64()).sum::<f64>() / time
    }
}

/// A rate that all jobs of a phase share: each gets its skew, or as much as the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseRate {
    /// A number (vdbench `iorate=n`).
    Fixed {
        /// Operations per second of all ranks together.
        operations_per_second: f64,
        /// How starts are spread.
        #[serde(default)]
        arrival: Arrival,
    },
    /// One rate after the other, and after the last the first again (vdbench `iorate=(100,10,500,2)`).
    Series {
        /// The rates.
        steps: Vec<RateStep>,
        /// How starts are spread.
        #[serde(default)]
        arrival: Arrival,
    },
    /// A share of what an earlier phase of the same repetition reached until its last transfer (vdbench `iorate=curve`).
    /// Without skew, jobs get the shares that they had there.
    Of {
        /// The earlier phase's name.
        phase: String,
        /// How much of its operations per second.
        #[serde(with = "units::text")]
        #[schemars(with = "String")]
        share: Ratio,
        /// How starts are spread.
        #[serde(default)]
        arrival: Arrival,
    },
}

impl PhaseRate {
    fn arrival(&self) -> Arrival {
        match self {
            Self::Fixed { arrival, .. } | Self::Series { arrival, .. } | Self::Of { arrival, .. } => *arrival,
        }
    }
}

impl Phase {
    /// The part of the phase's operations that each job does, if any job asks for one: those that do not ask share what
    /// is left.
    pub fn skews(&self) -> Option<Vec<f64>> {
        let given: f64 = self.jobs.iter().filter_map(|job| job.skew).map(Ratio::get).sum();
        let others = self.jobs.iter().filter(|job| job.skew.is_none()).count();
        if others == self.jobs.len() {
            return None;
        }
        let left = (1.0 - given).max(0.0) / others.max(1) as f64;
        Some(self.jobs.iter().map(|job| job.skew.map_or(left, Ratio::get)).collect())
    }
}

impl Workload {
    /// Whether `phase` is left out, as far as the results of this repetition say.
    pub fn leaves_out(&self, phase: &Phase, earlier: &[PhaseResult]) -> bool {
        let Some(skip) = &phase.skip_above else { return false };
        let Some(result) = earlier.iter().rfind(|result| result.name == skip.phase) else { return true };
        let (count, sum) = result.main_results().fold((0u64, 0.0), |(count, sum), own| {
            (count + own.latency.count(), sum + own.latency.mean().as_secs_f64() * own.latency.count() as f64)
        });
        count > 0 && sum / count as f64 > skip.mean.as_secs_f64()
    }

    /// The phase with its rate dealt to its jobs. `earlier` are the results of this repetition so far.
    pub fn with_rates<'a>(&self, phase: &'a Phase, earlier: &[PhaseResult]) -> Result<Cow<'a, Phase>> {
        let Some(rate) = &phase.rate else { return Ok(Cow::Borrowed(phase)) };
        let even = || vec![1.0 / phase.jobs.len() as f64; phase.jobs.len()];
        let (total, shares) = match rate {
            PhaseRate::Fixed { operations_per_second, .. } => (*operations_per_second, even()),
            PhaseRate::Series { steps, .. } => (RateStep::mean(steps), even()),
            PhaseRate::Of { phase: name, share, .. } => {
                let result = earlier.iter().rfind(|result| result.name == *name);
                let (reached, shares) =
                    result.map_or((0.0, even()), |result| (rate_of(result), self.observed(phase, result)));
                if reached <= 0.0 {
                    return Err(Fault::new(
                        Kind::Refused,
                        format!("phase `{}` has no rate: phase `{name}` did nothing", phase.name),
                    )
                    .hint("give it more time, or set a number of operations per second"));
                }
                (reached * share.get(), shares)
            }
        };
        let shares = phase.skews().unwrap_or(shares);
        let mut paced = phase.clone();
        for (job, share) in paced.jobs.iter_mut().zip(shares) {
            // A job that did nothing in the other phase hardly does anything in this one.
            let operations_per_second = (total * share).max(1e-6);
            let pacing = Pacing::Open { operations_per_second, arrival: rate.arrival() };
            match &mut job.activity {
                Activity::Transfer(transfer) => transfer.pacing = pacing,
                Activity::Entries(entries) => entries.pacing = pacing,
            }
        }
        Ok(Cow::Owned(paced))
    }

    /// The parts that the ranks of each job had in what another phase did.
    fn observed(&self, phase: &Phase, result: &PhaseResult) -> Vec<f64> {
        let mut operations = vec![0u64; phase.jobs.len()];
        for done in &result.ranks {
            let job = phase.job_of(done.rank, self.ranks).map(|(job, _)| job);
            let number = job.and_then(|job| phase.jobs.iter().position(|other| std::ptr::eq(other, job)));
            if let Some(number) = number {
                operations[number] += done.operations;
            }
        }
        let all: u64 = operations.iter().sum();
        operations.into_iter().map(|own| own as f64 / all.max(1) as f64).collect()
    }
}

/// Operations per second until the last transfer: fsync and close are not what a rate paces.
fn rate_of(result: &PhaseResult) -> f64 {
    let elapsed = result.transferred().max(Duration::from_nanos(1));
    result.operation_count() as f64 / elapsed.as_secs_f64()
}
