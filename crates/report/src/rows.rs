//! Figures for other programs: CSV with the unit in every column's name.

use std::time::Duration;

use fault::{Fault, Kind};
use record::{Latency, OperationKind, PhaseResult, RunRecord};

use crate::facts::{phases::Phase, series};

const PHASES: [&str; 33] = [
    "run",
    "test",
    "phase",
    "repetition",
    "started_ns",
    "ranks",
    "pcores",
    "transfer_bytes",
    "bytes",
    "operations",
    "bandwidth_bytes_per_second",
    "rate_per_rank_bytes_per_second",
    "rate_per_rank_mib_per_second",
    "operations_per_second",
    "first_done_ns",
    "first_done_bytes",
    "last_done_ns",
    "last_transfer_ns",
    "synced_ns",
    "closed_ns",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_p99_9_ns",
    "latency_p99_99_ns",
    "latency_max_ns",
    "errors",
    "verify_failures",
    "engine",
    "queue_depth",
    "validity",
    "limited_by",
];

const SERIES: [&str; 15] = [
    "run",
    "test",
    "phase",
    "repetition",
    "start_ns",
    "length_ns",
    "operation",
    "bytes",
    "operations",
    "bandwidth_bytes_per_second",
    "operations_per_second",
    "latency_p50_ns",
    "latency_p99_ns",
    "latency_p99_9_ns",
    "latency_max_ns",
];

/// One row per phase and repetition.
pub fn phases(record: &RunRecord) -> fault::Result<String> {
    let mut rows = Vec::new();
    for phase in Phase::all(record) {
        for (number, result) in &phase.results {
            rows.push(phase_row(record, &phase, *number, result));
        }
    }
    document(&PHASES, rows)
}

fn phase_row(record: &RunRecord, phase: &Phase<'_>, number: u32, result: &PhaseResult) -> Vec<String> {
    let latency = main_latency(result);
    let mut row = vec![
        record.id.clone(),
        phase.test.name.clone(),
        phase.name.to_owned(),
        number.to_string(),
        result.started_ns.to_string(),
        result.rank_count().to_string(),
        phase.test.pcores.to_string(),
        result.transfer_bytes.map_or_else(String::new, |bytes| bytes.get().to_string()),
        result.last_done.bytes.get().to_string(),
        result.last_done.operations.to_string(),
        decimal(result.bandwidth().get()),
        decimal(result.rate_per_rank().get()),
        decimal(result.rate_per_rank().as_mib()),
        decimal(result.last_done.iops().get()),
        result.first_done.elapsed_ns.to_string(),
        result.first_done.bytes.get().to_string(),
        result.last_done.elapsed_ns.to_string(),
        nanoseconds(result.transferred()),
        nanoseconds(result.synced()),
        nanoseconds(result.closed()),
    ];
    row.push(if_any(&latency, Latency::mean));
    row.extend([50.0, 90.0, 99.0, 99.9, 99.99].map(|percent| if_any(&latency, |l| l.percentile(percent))));
    row.push(if_any(&latency, Latency::max));
    row.extend([
        result.error_count.to_string(),
        result.verify_failures.to_string(),
        result.engine.name.clone(),
        result.engine.queue_depth.to_string(),
        result.validity().words().to_owned(),
        result.limit.as_ref().map_or_else(String::new, |limit| limit.cause.words().to_owned()),
    ]);
    row
}

fn main_latency(result: &PhaseResult) -> Latency {
    let mut latency = Latency::new();
    result.main_results().for_each(|operation| latency.merge(&operation.latency));
    latency
}

/// One row per interval and kind of operation.
pub fn series(record: &RunRecord) -> fault::Result<String> {
    let mut rows = Vec::new();
    for phase in Phase::all(record) {
        for (number, result) in &phase.results {
            rows.extend(interval_rows(record, &phase, *number, result));
        }
    }
    document(&SERIES, rows)
}

fn interval_rows<'a>(
    record: &'a RunRecord,
    phase: &'a Phase<'_>,
    number: u32,
    result: &'a PhaseResult,
) -> impl Iterator<Item = Vec<String>> + 'a {
    result.series.iter().map(move |interval| {
        let latency = series::latency(interval);
        let kinds: Vec<&str> = interval.operations.iter().map(|o| OperationKind::word(o.kind)).collect();
        let operations: u64 = interval.operations.iter().map(|o| o.operations).sum();
        let mut row = vec![
            record.id.clone(),
            phase.test.name.clone(),
            phase.name.to_owned(),
            number.to_string(),
            interval.start_ns.to_string(),
            interval.length_ns.to_string(),
            kinds.join("+"),
            interval.bytes().get().to_string(),
            operations.to_string(),
            decimal(interval.bandwidth().get()),
            decimal(interval.iops().get()),
        ];
        row.extend([50.0, 99.0, 99.9].map(|percent| if_any(&latency, |l| l.percentile(percent))));
        row.push(if_any(&latency, Latency::max));
        row
    })
}

fn document(header: &[&str], rows: Vec<Vec<String>>) -> fault::Result<String> {
    let broken = |error: String| Fault::new(Kind::Bug, format!("cannot write CSV: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).map_err(|error| broken(error.to_string()))?;
    for row in rows {
        writer.write_record(row).map_err(|error| broken(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| broken(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| broken(error.to_string()))
}

fn nanoseconds(duration: Duration) -> String {
    duration.as_nanos().to_string()
}

/// A figure of a distribution; empty if it holds no operation.
fn if_any(latency: &Latency, figure: impl Fn(&Latency) -> Duration) -> String {
    if latency.count() == 0 { String::new() } else { nanoseconds(figure(latency)) }
}

fn decimal(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { String::new() }
}
