//! vdbench's interval reports: `flatfile.html` with named columns, and the tables of `summary.html`, `totals.html` and the
//! terminal, for raw I/O and for file systems. Its totals leave the warm-up out, and so do these.

mod columns;
mod flat;
mod table;

use record::{Interval, Latency, OperationKind, OperationResult};
use units::Bytes;

pub use flat::read as flat;
pub use table::read as text;

use crate::clock;
use crate::found::{Found, FoundPhase, FoundTest, nanoseconds};

/// Length of an interval if nothing says it.
const USUAL_INTERVAL: f64 = 1.0;

/// What one kind of operation did per second.
#[derive(Debug, Clone, Copy)]
struct Part {
    kind: OperationKind,
    per_second: f64,
    mib_per_second: f64,
}

/// One row of a report.
#[derive(Debug, Clone, Default)]
struct Row {
    /// Time of day in seconds.
    time: Option<f64>,
    /// Number of the interval; the last one of a total's range.
    interval: u64,
    /// First interval of a total.
    total_from: Option<u64>,
    parts: Vec<Part>,
    /// Mean and largest response in ms, with what else is stated.
    stated: String,
    transfer: Option<u64>,
}

/// Rows between two `Starting RD=`.
#[derive(Debug, Default)]
struct Point {
    name: String,
    elapsed: Option<f64>,
    threads: Option<u32>,
    rows: Vec<Row>,
}

/// `5` or `avg_2-5`: the last interval, and the first of a total.
fn interval(text: &str) -> Option<(u64, Option<u64>)> {
    let Some(range) = text.strip_prefix("avg_") else { return Some((text.parse().ok()?, None)) };
    let (first, last) = range.split_once('-')?;
    Some((last.parse().ok()?, Some(first.parse().ok()?)))
}

impl Point {
    fn total(&self) -> Option<&Row> {
        self.rows.iter().rev().find(|row| row.total_from.is_some())
    }

    /// Seconds per interval: from the clock of two neighbours, else from what was asked for.
    fn interval_seconds(&self) -> f64 {
        let single: Vec<&Row> = self.rows.iter().filter(|row| row.total_from.is_none()).collect();
        let steps = single.windows(2).filter_map(|pair| {
            let (before, after) = (pair[0].time?, pair[1].time?);
            let intervals = pair[1].interval.checked_sub(pair[0].interval).filter(|count| *count > 0)?;
            // Midnight may lie between them.
            Some(((after - before).rem_euclid(86_400.0) / intervals as f64).round())
        });
        let mut steps: Vec<f64> = steps.filter(|step| *step >= 1.0).collect();
        steps.sort_by(f64::total_cmp);
        if let Some(median) = steps.get(steps.len() / 2) {
            return *median;
        }
        let last = self.total().map_or(0, |row| row.interval);
        self.elapsed.filter(|_| last > 0).map_or(USUAL_INTERVAL, |elapsed| elapsed / last as f64)
    }

    /// The phase; `None` for one without a total or without any operation.
    fn phase(&self, name: &str) -> Option<FoundPhase> {
        let total = self.total()?;
        let step = self.interval_seconds();
        let first = total.total_from?;
        let seconds = (total.interval.saturating_add(1).checked_sub(first)? as f64) * step;
        let mut phase =
            FoundPhase { name: name.to_owned(), seconds, queue_depth: 1, ..FoundPhase::default() };
        phase.operations = results(&total.parts, seconds);
        phase.main = phase.operations.iter().map(|result| result.kind).collect();
        if phase.main.is_empty() || seconds <= 0.0 {
            return None;
        }
        phase.transfer = total.transfer.filter(|bytes| *bytes > 0).map(Bytes::new);
        phase.ranks = self.threads;
        let within =
            |row: &&Row| row.total_from.is_none() && (first..=total.interval).contains(&row.interval);
        phase.series = self
            .rows
            .iter()
            .filter(within)
            .map(|row| Interval {
                start_ns: nanoseconds((row.interval - first) as f64 * step),
                length_ns: nanoseconds(step),
                operations: results(&row.parts, step),
                cpu: None,
            })
            .collect();
        if !total.stated.is_empty() {
            phase.stated(total.stated.clone());
        }
        Some(phase)
    }
}

fn results(parts: &[Part], seconds: f64) -> Vec<OperationResult> {
    let done = parts.iter().filter(|part| part.per_second > 0.0);
    done.map(|part| OperationResult {
        kind: part.kind,
        operations: (part.per_second * seconds).round() as u64,
        bytes: Bytes::new((part.mib_per_second * 1_048_576.0 * seconds).round() as u64),
        latency: Latency::new(),
    })
    .collect()
}

/// Reads and writes of a row that states their share.
fn shares(rate: f64, mib: f64, read_percent: f64) -> Vec<Part> {
    let read = (read_percent / 100.0).clamp(0.0, 1.0);
    [(OperationKind::Read, read), (OperationKind::Write, 1.0 - read)]
        .into_iter()
        .filter(|(_, share)| *share > 0.0)
        .map(|(kind, share)| Part { kind, per_second: rate * share, mib_per_second: mib * share })
        .collect()
}

fn found(points: &[Point], version: Option<String>, started: Option<&str>) -> Found {
    let mut test = FoundTest {
        name: "vdbench".to_owned(),
        kind: "vdbench",
        summary: format!("{} points of vdbench", points.len()),
        ..FoundTest::default()
    };
    let mut names: Vec<String> = Vec::new();
    for point in points {
        let same = names.iter().filter(|name| **name == point.name).count();
        names.push(point.name.clone());
        // The same point again is a repetition of it.
        if let Some(phase) = point.phase(&point.name) {
            test.add(same, phase);
        }
    }
    Found {
        tool: "vdbench",
        version,
        started_at: started.and_then(clock::instant),
        tests: vec![test],
        ..Found::default()
    }
}

/// `vdbench50407` in a line such as `Vdbench distribution: vdbench50407 Tue June 05 ...`.
fn version(page: &crate::page::Page) -> Option<String> {
    let line = page.lines().find_map(|(_, line)| line.split_once("distribution:"))?;
    Some(line.1.split_whitespace().next()?.trim_start_matches("vdbench").to_owned())
}
