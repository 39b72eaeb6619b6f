//! When a phase was over, which has more than one answer: first done and last done, and for writes the last
//! transfer, the data being durable, and the files being closed.

use std::time::Duration;

use record::{OperationKind, PhaseResult, RunRecord};

use super::phases::{Phase, Rate};
use crate::table::{Cell, Table};
use crate::text;

/// The three ends of every phase that writes.
pub fn of_writes(record: &RunRecord) -> Table {
    let mut table = Table::new("The three ends of a write: all bytes over the time until that end")
        .words(["Test and phase"])
        .figures([
            "Repetition",
            "Last write",
            "Rate then",
            "After fsync",
            "Rate then",
            "After close",
            "Rate then",
        ]);
    for phase in Phase::all(record) {
        for (number, result) in phase.results.iter().filter(|(_, result)| writes(result)) {
            let mut row: Vec<Cell> = vec![phase.title().into(), number.to_string().into()];
            for end in [result.transferred(), result.synced(), result.closed()] {
                row.push(text::seconds(u64::try_from(end.as_nanos()).unwrap_or(u64::MAX)).into());
                row.push(rate_at(result, end).into());
            }
            table.row(row);
        }
    }
    table
}

fn writes(result: &PhaseResult) -> bool {
    result.main.contains(&OperationKind::Write)
        && result.last_done.bytes.get() > 0
        && !result.ranks.is_empty()
}

fn rate_at(result: &PhaseResult, end: Duration) -> String {
    text::mb(result.bytes().per(end))
}

/// First done and last done of every phase, and the tail between them.
pub fn tails(record: &RunRecord) -> Table {
    let mut table =
        Table::new("First done and last done: when the first and the last rank had done their share")
            .words(["Test and phase"])
            .figures([
                "Repetition",
                "First done",
                "Rate then",
                "Last done",
                "Rate then",
                "Tail",
                "Tail share",
            ])
            .words(["Stopped by", "Wear-out"]);
    for phase in Phase::all(record) {
        for (number, result) in &phase.results {
            table.row(tail(&phase, *number, result));
        }
    }
    table
}

fn tail(phase: &Phase<'_>, number: u32, result: &PhaseResult) -> Vec<Cell> {
    let (first, last) = (result.first_done, result.last_done);
    let tail = last.elapsed_ns.saturating_sub(first.elapsed_ns);
    let share = if last.elapsed_ns > 0 { tail as f64 / last.elapsed_ns as f64 } else { 0.0 };
    let rate = |mark: record::Mark| match phase.rate() {
        Rate::Bytes => text::mb(mark.bandwidth()),
        Rate::Operations => Rate::Operations.show(mark.iops().get()),
    };
    let wear_out = match (result.wear_out, result.wear_out_capped) {
        (_, true) => "cut short by its cap",
        (true, false) => "yes",
        (false, false) => "no",
    };
    vec![
        phase.title().into(),
        number.to_string().into(),
        text::seconds(first.elapsed_ns).into(),
        rate(first).into(),
        text::seconds(last.elapsed_ns).into(),
        rate(last).into(),
        text::seconds(tail).into(),
        format!("{:.1} %", share * 100.0).into(),
        stop(result.stopped_by).into(),
        wear_out.into(),
    ]
}

const fn stop(cause: record::StopCause) -> &'static str {
    match cause {
        record::StopCause::Bytes => "all work done",
        record::StopCause::Time => "time",
        record::StopCause::Interrupted => "a signal",
        record::StopCause::Error => "an error",
        record::StopCause::Space => "little space left",
    }
}
