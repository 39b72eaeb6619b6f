//! Two runs side by side: which differences are larger than the noise between repetitions.

mod difference;
mod figure;
mod verdict;

use fault::{Fault, Kind, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use figure::{Figure, Sample};
pub use verdict::Verdict;

use crate::check::Validity;
use crate::phase::OperationKind;
use crate::run::{RunRecord, TestRecord};
use crate::statistics::Interval95;

/// Run `b` against run `a`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Id of the run everything is relative to.
    pub a: String,
    /// Id of the other.
    pub b: String,
    /// Ways in which the runs did not do the same; empty unless the comparison was forced.
    pub unlike: Vec<String>,
    /// What else to know when reading the figures: machines that differ, results that are not valid.
    pub notes: Vec<String>,
    /// One entry per test, phase and figure that both runs have.
    pub figures: Vec<FigureComparison>,
}

/// One figure in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureComparison {
    /// Name of the test.
    pub test: String,
    /// Name of the phase.
    pub phase: String,
    /// What is compared.
    pub figure: Figure,
    /// Kind of operation, for latencies.
    pub kind: Option<OperationKind>,
    /// The figure in each repetition of `a`.
    pub a: Sample,
    /// The figure in each repetition of `b`.
    pub b: Sample,
    /// Median of `b` over median of `a`; `None` when that of `a` is zero.
    pub ratio: Option<f64>,
    /// 95 % bootstrap interval of the ratio; `None` with fewer than three repetitions on a side.
    pub interval: Option<Interval95>,
    /// Two-sided p of a Mann-Whitney U test.
    pub p: Option<f64>,
    /// What follows.
    pub verdict: Verdict,
    /// The same in words, with what can't be decided.
    pub explanation: String,
}

/// Compares what both runs measured. Refuses runs that did not do the same, naming every difference.
pub fn compare(a: &RunRecord, b: &RunRecord) -> Result<Comparison> {
    let comparison = compare_anyway(a, b);
    if comparison.unlike.is_empty() {
        return Ok(comparison);
    }
    let differences = comparison.unlike.join("; ");
    Err(Fault::new(Kind::Refused, format!("runs `{}` and `{}` did not do the same: {differences}", a.id, b.id))
        .hint("repeat one of them with the other's command, or insist with `--force` and read the figures with these differences in mind"))
}

/// Compares even unlike runs; the differences are listed in [`Comparison::unlike`].
pub fn compare_anyway(a: &RunRecord, b: &RunRecord) -> Comparison {
    let mut figures = Vec::new();
    for (left, right) in common_tests(a, b) {
        for phase in left.phase_names() {
            figures.extend(figure::of_phase(left, right, phase));
        }
    }
    Comparison {
        a: a.id.clone(),
        b: b.id.clone(),
        unlike: difference::unlike(a, b),
        notes: notes(a, b, &figures),
        figures,
    }
}

fn common_tests<'a>(
    a: &'a RunRecord,
    b: &'a RunRecord,
) -> impl Iterator<Item = (&'a TestRecord, &'a TestRecord)> {
    a.tests.iter().filter_map(|left| Some((left, b.tests.iter().find(|right| right.name == left.name)?)))
}

fn notes(a: &RunRecord, b: &RunRecord, figures: &[FigureComparison]) -> Vec<String> {
    let mut notes = Vec::new();
    for (left, right) in common_tests(a, b) {
        for (run, test) in [(a, left), (b, right)] {
            if test.validity() == Validity::NotValid {
                notes.push(format!(
                    "test `{}` of run `{}` is not valid: do not conclude anything from its figures",
                    test.name, run.id
                ));
            }
        }
    }
    notes.extend(difference::surroundings(a, b));
    let tested = figures.iter().filter(|f| matches!(f.verdict, Verdict::Larger | Verdict::Smaller)).count();
    if tested > 0 && figures.len() >= 20 {
        // At a 5 % level, one figure in twenty differs by chance alone.
        notes.push(format!(
            "{} figures were compared at the 5 % level: about {} would differ by chance alone",
            figures.len(),
            figures.len() / 20
        ));
    }
    notes
}

#[cfg(test)]
mod tests;
