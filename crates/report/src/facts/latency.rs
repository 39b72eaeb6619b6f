//! How long operations took: percentiles per kind, repetitions merged.

use std::time::Duration;

use record::{Latency, RunRecord};

use super::phases::Phase;
use crate::table::{Cell, Table};
use crate::text;

/// The percentiles of the table.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

/// A percentile that at least one operation lies above; fewer operations say nothing about it.
pub fn supported(latency: &Latency, percent: f64) -> Option<Duration> {
    let above = latency.count() as f64 * (100.0 - percent) / 100.0;
    // 1e-6 absorbs the rounding of percentages such as 99.9.
    (above >= 1.0 - 1e-6).then(|| latency.percentile(percent))
}

/// Latency percentiles per phase and kind of operation.
pub fn table(phases: &[Phase<'_>]) -> Table {
    let mut table = Table::new(
        "Latency by kind of operation, repetitions merged; a percentile needs an operation above it",
    )
    .words(["Test and phase", "Operation"])
    .figures(["Count", "Mean", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "Longest"]);
    for phase in phases {
        for (kind, latency) in phase.latencies() {
            let mut row: Vec<Cell> = vec![phase.title().into(), kind.word().into()];
            row.push(latency.count().to_string().into());
            row.push(text::latency(Some(latency.mean())).into());
            row.extend(PERCENTILES.map(|percent| Cell::from(text::latency(supported(&latency, percent)))));
            row.push(text::latency(Some(latency.max())).into());
            table.row(row);
        }
    }
    table
}

/// Where latency was counted from.
pub fn basis(record: &RunRecord) -> &'static str {
    let phases = || record.tests.iter().flat_map(|t| &t.repetitions).flat_map(|r| &r.phases);
    match (phases().any(|p| p.open_loop), phases().any(|p| !p.open_loop)) {
        (true, false) => "Latency counts from the intended start of each operation (open loop).",
        (true, true) => {
            "Latency counts from the intended start in open-loop phases, from the actual start in the others."
        }
        _ => "Latency counts from the actual start of each operation (closed loop).",
    }
}
