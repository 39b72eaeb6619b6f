use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bandwidth, Iops, format_duration};

use super::FigureComparison;
use super::verdict::judge;
use crate::phase::{OperationKind, PhaseResult, StopCause};
use crate::run::TestRecord;
use crate::statistics::{median, median_ratio_interval};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// The SAS test's rate of one rank (size / mean time), times ranks, per pCore; in bytes per second.
    RatePerPcore,
    /// All bytes until the last rank was done, fsync and close included; in bytes per second.
    Bandwidth,
    /// Operations per second until the last rank was done.
    Iops,
    /// Median latency in ns.
    LatencyP50,
    /// 99th percentile of latency in ns.
    LatencyP99,
}

impl Figure {
    /// The words shown to people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::RatePerPcore => "rate per pCore",
            Self::Bandwidth => "bandwidth",
            Self::Iops => "IOPS",
            Self::LatencyP50 => "latency p50",
            Self::LatencyP99 => "latency p99",
        }
    }

    /// Whether a larger value is the better one.
    pub const fn larger_is_better(self) -> bool {
        matches!(self, Self::RatePerPcore | Self::Bandwidth | Self::Iops)
    }

    /// `value` with its unit.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::RatePerPcore | Self::Bandwidth => Bandwidth::bytes_per_second(value).to_string(),
            Self::Iops => Iops::new(value).to_string(),
            Self::LatencyP50 | Self::LatencyP99 => format_duration(Duration::from_nanos(value as u64)),
        }
    }
}

/// One figure over the repetitions of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Median.
    pub median: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Each repetition, in order.
    pub values: Vec<f64>,
}

impl Sample {
    /// `None` without values.
    pub fn of(values: Vec<f64>) -> Option<Self> {
        Some(Self {
            median: median(&values)?,
            min: values.iter().copied().min_by(f64::total_cmp)?,
            max: values.iter().copied().max_by(f64::total_cmp)?,
            values,
        })
    }
}

/// All figures of the phase called `phase` that both tests have.
pub(super) fn of_phase<'a>(
    a: &'a TestRecord,
    b: &'a TestRecord,
    phase: &'a str,
) -> impl Iterator<Item = FigureComparison> + 'a {
    figures_in(a, phase).into_iter().filter_map(move |(figure, kind)| {
        let sample = |test: &TestRecord| {
            Sample::of(whole(test, phase).filter_map(|p| value(figure, kind, p, test.pcores)).collect())
        };
        let (left, right) = (sample(a)?, sample(b)?);
        let ratio = (left.median > 0.0).then(|| right.median / left.median);
        let judgement = judge(&left, &right, ratio);
        Some(FigureComparison {
            test: a.name.clone(),
            phase: phase.to_owned(),
            figure,
            kind,
            ratio,
            interval: median_ratio_interval(&left.values, &right.values),
            p: judgement.p,
            verdict: judgement.verdict,
            explanation: judgement.explanation,
            a: left,
            b: right,
        })
    })
}

/// Repetitions of a phase that came to their end.
fn whole<'a>(test: &'a TestRecord, phase: &'a str) -> impl Iterator<Item = &'a PhaseResult> {
    test.phases(phase).filter(|p| matches!(p.stopped_by, StopCause::Bytes | StopCause::Time))
}

fn figures_in(test: &TestRecord, phase: &str) -> Vec<(Figure, Option<OperationKind>)> {
    let Some(first) = whole(test, phase).next() else { return Vec::new() };
    let mut figures = Vec::new();
    if first.last_done.bytes.get() > 0 {
        figures.extend([(Figure::RatePerPcore, None), (Figure::Bandwidth, None)]);
    }
    figures.push((Figure::Iops, None));
    for result in first.main_results() {
        let kind = Some(result.kind);
        figures.extend([(Figure::LatencyP50, kind), (Figure::LatencyP99, kind)]);
    }
    figures
}

fn value(figure: Figure, kind: Option<OperationKind>, phase: &PhaseResult, pcores: u32) -> Option<f64> {
    let percentile = |percent| {
        let latency = &phase.of(kind?)?.latency;
        (latency.count() > 0).then(|| latency.percentile(percent).as_nanos() as f64)
    };
    match figure {
        Figure::RatePerPcore => {
            let ranks = phase.rank_count() as f64;
            (pcores > 0 && ranks > 0.0).then(|| phase.rate_per_rank().get() * ranks / f64::from(pcores))
        }
        Figure::Bandwidth => Some(phase.bandwidth().get()),
        Figure::Iops => Some(phase.last_done.iops().get()),
        Figure::LatencyP50 => percentile(50.0),
        Figure::LatencyP99 => percentile(99.0),
    }
}
