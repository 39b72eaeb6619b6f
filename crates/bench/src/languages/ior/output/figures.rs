//! IOR's figures from a phase's result. In `strict`, by its own formulas (`ReduceIterResults`, `PrintLongSummary`).

use record::{OperationKind, PhaseResult, TestRecord};

use super::super::{CHECK, READ, Test, WRITE};

const MIB: f64 = 1_048_576.0;

/// All figures of one test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// In the order in which they were measured.
    pub rows: Vec<Row>,
    /// One for each operation.
    pub summaries: Vec<Summary>,
    /// What is to be said.
    pub warnings: Vec<String>,
}

/// One line of the table of results.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// `write`, `read` or `remove`.
    pub access: &'static str,
    /// Counting from 0.
    pub repetition: u32,
    /// What was moved; `None` for removals.
    pub moved: Option<Moved>,
    /// From the first open to the last close (s).
    pub total: f64,
    /// Where everyone stood at the deadline.
    pub stonewall: Option<Stonewall>,
}

/// The figures of a transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    /// Bytes.
    pub bytes: u64,
    /// MiB/s over the total time.
    pub bandwidth: f64,
    /// Transfers per second of the time for transfers.
    pub iops: f64,
    /// Transfers per second of the total time.
    pub iops_of_total: f64,
    /// Seconds of a transfer: the mean; in `strict`, that of the best task.
    pub latency: f64,
    /// Seconds until all files were open.
    pub open: f64,
    /// Seconds of transfers, with fsync.
    pub transfer: f64,
    /// Seconds of closing.
    pub close: f64,
}

/// The deadline with wear-out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stonewall {
    /// Until all had met (s).
    pub time: f64,
    /// Transfers of the task that had done least, and of the one that had done most.
    pub least: u64,
    /// See above.
    pub most: u64,
    /// Bytes of the task that had moved least, and of one on average.
    pub least_bytes: f64,
    /// See above.
    pub mean_bytes: f64,
}

/// One line of the summary.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// `write` or `read`.
    pub operation: &'static str,
    /// MiB/s over the repetitions.
    pub bandwidth: Spread,
    /// Transfers per second over the repetitions.
    pub operations: Spread,
    /// Mean of the total times (s).
    pub mean_time: f64,
    /// Means of the stonewall times (s) and of the rates of one task until then (MiB/s).
    pub stonewall: Option<(f64, f64)>,
    /// MiB moved by all.
    pub aggregate: f64,
}

/// What repeated measurements came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// Largest.
    pub max: f64,
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation of all (not of a sample).
    pub deviation: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        Self {
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean,
            deviation: variance.sqrt(),
        }
    }
}

impl Figures {
    /// The figures of what is there of a test.
    pub fn of(test: &Test, result: Option<&TestRecord>) -> Self {
        let mut figures = Self::default();
        let Some(result) = result else { return figures };
        for repetition in &result.repetitions {
            let number = repetition.number - 1;
            for phase in &repetition.phases {
                figures.warnings.extend(warnings(test, phase));
                let access = match phase.name.as_str() {
                    WRITE => "write",
                    READ => "read",
                    _ => continue,
                };
                figures.rows.push(row(test, phase, access, number));
            }
            if let Some(removed) = repetition.removed_ns {
                let total = seconds(removed);
                let access = "remove";
                figures.rows.push(Row { access, repetition: number, moved: None, total, stonewall: None });
            }
        }
        figures.summaries = ["write", "read"]
            .into_iter()
            .filter_map(|operation| summary(test, &figures.rows, operation))
            .collect();
        figures
    }
}

fn row(test: &Test, phase: &PhaseResult, access: &'static str, repetition: u32) -> Row {
    let ranks = || phase.ranks.iter();
    let max = |of: fn(&record::RankResult) -> u64| ranks().map(of).max().unwrap_or(0);
    let min = |of: fn(&record::RankResult) -> u64| ranks().map(of).min().unwrap_or(0);
    let barriers = test.parameters.barriers > 0;
    let open = seconds(max(|rank| rank.opened_ns));
    let transfer = seconds(max(|rank| rank.synced_ns).saturating_sub(min(|rank| rank.opened_ns)));
    // With barriers nobody closes before all have come to an end.
    let close_start = if barriers { max(|rank| rank.synced_ns) } else { min(|rank| rank.synced_ns) };
    let close = seconds(max(|rank| rank.closed_ns).saturating_sub(close_start));
    let total = seconds(max(|rank| rank.closed_ns));
    let bytes: u64 = ranks().map(|rank| rank.bytes.get()).sum();
    let operations = bytes / test.parameters.transfer_size.cast_unsigned().max(1);
    let moved = Moved {
        bytes,
        bandwidth: bytes as f64 / MIB / total,
        iops: operations as f64 / transfer,
        iops_of_total: operations as f64 / total,
        latency: latency(test, phase, access),
        open,
        transfer,
        close,
    };
    Row { access, repetition, moved: Some(moved), total, stonewall: stonewall(phase) }
}

fn latency(test: &Test, phase: &PhaseResult, access: &str) -> f64 {
    if test.strict {
        let ranks = phase.ranks.iter().filter(|rank| rank.operations > 0);
        let means =
            ranks.map(|rank| seconds(rank.synced_ns.saturating_sub(rank.opened_ns)) / rank.operations as f64);
        return means.fold(f64::INFINITY, f64::min).min(f64::MAX);
    }
    let kind = if access == "write" { OperationKind::Write } else { OperationKind::Read };
    let result = phase.operations.iter().find(|result| result.kind == kind);
    result.map_or(0.0, |result| result.latency.mean().as_secs_f64())
}

fn stonewall(phase: &PhaseResult) -> Option<Stonewall> {
    let marks: Vec<record::Mark> = phase.ranks.iter().filter_map(|rank| rank.stonewall).collect();
    let count = marks.len() as f64;
    let begun = phase.ranks.iter().map(|rank| rank.opened_ns).min().unwrap_or(0);
    Some(Stonewall {
        time: seconds(marks.iter().map(|mark| mark.elapsed_ns).max()?.saturating_sub(begun)),
        least: marks.iter().map(|mark| mark.operations).min()?,
        most: marks.iter().map(|mark| mark.operations).max()?,
        least_bytes: marks.iter().map(|mark| mark.bytes.get()).min()? as f64,
        mean_bytes: marks.iter().map(|mark| mark.bytes.get()).sum::<u64>() as f64 / count,
    })
}

fn summary(test: &Test, rows: &[Row], operation: &'static str) -> Option<Summary> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.access == operation).collect();
    let moved: Vec<Moved> = rows.iter().filter_map(|row| row.moved).collect();
    if moved.is_empty() {
        return None;
    }
    let of = |figure: &dyn Fn(&Moved) -> f64| Spread::of(&moved.iter().map(figure).collect::<Vec<_>>());
    let walls: Vec<Stonewall> = rows.iter().filter_map(|row| row.stonewall).collect();
    let walled = walls.len() as f64;
    let stonewall = (!walls.is_empty()).then(|| {
        let time = walls.iter().map(|wall| wall.time).sum::<f64>() / walled;
        let rate = walls.iter().map(|wall| wall.mean_bytes / MIB / wall.time).sum::<f64>() / walled;
        (time, rate)
    });
    let strict = test.strict;
    let aggregate = moved.iter().map(|moved| moved.bytes).max().unwrap_or(0) as f64 / MIB;
    Some(Summary {
        operation,
        bandwidth: of(&|moved| moved.bandwidth),
        operations: of(&|moved| if strict { moved.iops_of_total } else { moved.iops }),
        mean_time: rows.iter().map(|row| row.total).sum::<f64>() / rows.len() as f64,
        stonewall,
        aggregate,
    })
}

/// Errors as IOR counts them, one for each transfer; and tasks that were late.
fn warnings(test: &Test, phase: &PhaseResult) -> Vec<String> {
    let damaged: u64 = phase.ranks.iter().map(|rank| rank.damaged).sum();
    let mut warnings = Vec::new();
    if damaged > 0 {
        let what = if phase.name == CHECK { "write" } else { "read" };
        warnings.push(format!("incorrect data on {what} ({damaged} errors found)"));
    }
    let threshold = test.parameters.outlier_threshold as f64;
    if threshold > 0.0 && !phase.ranks.is_empty() {
        type Stamp = (&'static str, fn(&record::RankResult) -> u64);
        let stamps: [Stamp; 3] = [
            ("open", |rank| rank.opened_ns),
            ("transfers", |rank| rank.synced_ns),
            ("close", |rank| rank.closed_ns),
        ];
        for (stamp, of) in stamps {
            let mean =
                phase.ranks.iter().map(|rank| seconds(of(rank))).sum::<f64>() / phase.ranks.len() as f64;
            for rank in phase.ranks.iter().filter(|rank| (seconds(of(rank)) - mean).abs() > threshold) {
                warnings.push(format!(
                    "for task {}, {} {stamp} end {:.3} s from the mean of {mean:.3} s",
                    rank.rank,
                    phase.name,
                    seconds(of(rank)) - mean
                ));
            }
        }
    }
    warnings
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_those_of_all_repetitions() {
        let spread = Spread::of(&[1888.7944, 1218.5881]);
        assert!((spread.mean - 1553.6912).abs() < 1e-3 && (spread.deviation - 335.1031).abs() < 1e-3);
    }
}
