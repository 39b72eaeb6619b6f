//! The runs of a search as rows.

use std::time::Duration;

use record::Search;
use units::format_duration;

use crate::table::{Table, Tone};

/// A row per run, in their order.
pub fn table(search: &Search) -> Table {
    let mut table = Table::new(format!("{}: the runs of the search", search.phase))
        .words(["Load"])
        .figures(["Operations per second", "Bandwidth", "Mean", "p50", "p99"])
        .words(["Kept"]);
    let time = |ns: u64| format_duration(Duration::from_nanos(ns));
    for point in &search.points {
        let kept = match point.kept {
            None => "–".into(),
            Some(true) => crate::table::Cell::from("yes").tone(Tone::Good),
            Some(false) => crate::table::Cell::from("no").tone(Tone::Bad),
        };
        table.row(vec![
            search.load.words(point.load.unwrap_or(f64::INFINITY)).into(),
            point.operations_per_second.to_string().into(),
            point.bandwidth_bytes_per_second.to_string().into(),
            time(point.latency_mean_ns).into(),
            time(point.latency_p50_ns).into(),
            time(point.latency_p99_ns).into(),
            kept,
        ]);
    }
    table
}
