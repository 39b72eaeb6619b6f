//! What a run says about the limits of the design its storage was built by.

use std::fmt;

use record::{
    DesignComparison, DesignSheet, Direction, OperationKind, Outcome, PhaseResult, RequirementVerdict,
    RunRecord, RunState, StorageSheet, TestRecord, Validity,
};
use serde::Serialize;

/// Checks that tell whether memory served what was read.
const CACHE_RULES: [&str; 3] = ["cache-hit-proof", "working-set", "server-cache"];

/// A measured rate as a share of the model's smallest limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ratio {
    /// The run.
    pub run: String,
    /// The kind of system: `lustre-on-vms`.
    pub family: String,
    /// `read`, `write`.
    pub operation: &'static str,
    /// Measured over model.
    pub value: f64,
}

/// A result that says nothing about limits, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// The run.
    pub run: String,
    /// The requirement.
    pub storage: String,
    /// `read`, `write`.
    pub operation: &'static str,
    /// In words.
    pub why: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, storage, operation, why } = self;
        write!(f, "left out: {operation} of `{storage}` in run {run}: {why}")
    }
}

/// The ratios of a run that has a design.
pub fn of(run: &RunRecord) -> (Vec<Ratio>, Vec<LeftOut>) {
    let (mut ratios, mut left_out) = (Vec::new(), Vec::new());
    let Some(design) = &run.design else { return (ratios, left_out) };
    let comparisons = run.design_comparisons();
    for verdict in &run.requirements {
        let operation = verdict.direction.word();
        match ratio(run, design, &comparisons, verdict) {
            Ok((family, value)) => ratios.push(Ratio { run: run.id.clone(), family, operation, value }),
            Err(why) => {
                let storage = verdict.storage.clone();
                left_out.push(LeftOut { run: run.id.clone(), storage, operation, why });
            }
        }
    }
    (ratios, left_out)
}

fn ratio(
    run: &RunRecord,
    design: &DesignSheet,
    comparisons: &[DesignComparison],
    verdict: &RequirementVerdict,
) -> Result<(String, f64), String> {
    let of_it = |comparison: &&DesignComparison| {
        comparison.storage == verdict.storage && comparison.direction == verdict.direction
    };
    let storage = design.storages.iter().find(|storage| storage.name == verdict.storage);
    let (Some(storage), Some(comparison)) = (storage, comparisons.iter().find(of_it)) else {
        return Err("the design has no storage of this name".to_owned());
    };
    if run.state != RunState::Complete {
        return Err("the run did not come to its end".to_owned());
    }
    if verdict.validity == Validity::NotValid {
        return Err("the result is not valid".to_owned());
    }
    let test = run.tests.iter().find(|test| test.name == verdict.test);
    if verdict.direction == Direction::Read
        && let Some(why) = test.and_then(|test| from_memory(test, storage))
    {
        return Err(why);
    }
    let Some(measured) = comparison.measured_per_pcore else { return Err("nothing was measured".to_owned()) };
    let factor = match verdict.direction {
        Direction::Read => storage.read_factor.value,
        Direction::Write => storage.write_factor.value,
    };
    // Every limit was lowered by the same factor: without it, this is the model's smallest limit.
    let model = comparison.expected_per_pcore.map(|expected| expected.get() / factor);
    let Some(model) = model.filter(|model| model.is_finite() && *model > 0.0) else {
        return Err("the design has no known limit for it".to_owned());
    };
    let value = measured.get() / model;
    if value > 0.0 { Ok((storage.family.clone(), value)) } else { Err("nothing was measured".to_owned()) }
}

/// Why memory is known to have served what a test read.
fn from_memory(test: &TestRecord, storage: &StorageSheet) -> Option<String> {
    let phases = || test.repetitions.iter().flat_map(|repetition| &repetition.phases);
    let failed = phases()
        .flat_map(|phase| &phase.checks)
        .find(|check| check.outcome == Outcome::Fail && CACHE_RULES.contains(&check.rule.as_str()));
    if let Some(check) = failed {
        return Some(format!("memory served it ({}: {})", check.rule, check.evidence));
    }
    let bytes = |kind: OperationKind| {
        let of_kind = |phase: &&PhaseResult| phase.main.contains(&kind);
        phases().filter(of_kind).map(|phase| phase.last_done.bytes).max()
    };
    // What was written is what there is to read; a timed phase may read it several times.
    let read = bytes(OperationKind::Read)?;
    let dataset = bytes(OperationKind::Write).map_or(read, |written| written.min(read));
    let memory = units::Bytes::new(storage.cache_bytes?);
    (dataset <= memory)
        .then(|| format!("what was read ({dataset}) fits in the memory of the servers ({memory})"))
}
