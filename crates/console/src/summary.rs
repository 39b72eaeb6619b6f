//! A run in words and tables, for a terminal. The verdict comes first.

mod checks;
mod design;
mod hosts;
mod layouts;
mod matrix;
mod phases;
mod requirements;

use std::time::Duration;

use record::{RunRecord, RunState, Search, TestRecord, Validity};
use units::format_duration;

use crate::paint;
use crate::table::{Align, Cell, Table};

/// Everything a person wants to know about a run at first: verdict per requirement, results per phase, and the
/// checks that found something.
pub fn summary(record: &RunRecord) -> String {
    let mut parts = vec![heading(record)];
    parts.extend(requirements::section(record));
    parts.extend(design::section(record));
    for test in &record.tests {
        parts.push(test_section(test));
    }
    parts.extend(record.search.as_ref().map(search_section));
    parts.extend(record.matrices().iter().map(matrix::section));
    parts.push(verdict(record));
    parts.join("\n\n")
}

fn heading(record: &RunRecord) -> String {
    let label = record.label.as_ref().map(|label| format!(" \"{label}\"")).unwrap_or_default();
    let elapsed = format_duration(Duration::from_nanos(record.elapsed_ns));
    let mut lines = vec![format!(
        "{}{label}: {} after {elapsed}, started {}",
        paint::strong(format!("run {}", record.id)),
        state_words(record.state),
        record::whole_seconds(&record.started_at)
    )];
    let environment = &record.environment;
    if let Some(imported) = &record.imported {
        lines.push(format!("imported from {} ({})", imported.file.display(), imported.program()));
        lines.push(format!("SHA-256 {}", imported.sha256));
        return lines.join("\n");
    }
    lines.push(format!(
        "host {}: {} pCores, {} memory, kernel {}",
        environment.hostname, environment.cpu.pcores, environment.memory.total_bytes, environment.kernel
    ));
    if let Some(mount) = &environment.target {
        lines.push(format!(
            "target on {} ({} at {}), {} of {} free",
            mount.file_system, mount.source, mount.mount_point, mount.available_bytes, mount.size_bytes
        ));
    }
    lines.join("\n")
}

/// The answer of a search, and a line for each of its runs.
fn search_section(search: &Search) -> String {
    let mut table = Table::new([
        ("load", Align::Left),
        ("operations", Align::Right),
        ("bandwidth", Align::Right),
        ("mean", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("kept", Align::Left),
    ]);
    let time = |ns: u64| format_duration(Duration::from_nanos(ns));
    for point in &search.points {
        table.row([
            Cell::new(search.load.words(point.load.unwrap_or(f64::INFINITY))),
            Cell::new(point.operations_per_second),
            Cell::new(point.bandwidth_bytes_per_second),
            Cell::new(time(point.latency_mean_ns)),
            Cell::new(time(point.latency_p50_ns)),
            Cell::new(time(point.latency_p99_ns)),
            match point.kept {
                None => Cell::new(""),
                Some(true) => Cell::good("yes"),
                Some(false) => Cell::bad("no"),
            },
        ]);
    }
    format!("{} {}\n{table}", paint::strong("search:"), search.sentence)
}

fn test_section(test: &TestRecord) -> String {
    let equivalence = test.equivalence.as_ref().map(|words| format!(" ({words})")).unwrap_or_default();
    let held = test.held_memory.map(|held| format!(", {} of memory held", held.size_bytes));
    let held = held.unwrap_or_default();
    let heading = format!("{}: {}{held}{equivalence}", paint::strong(&test.name), test.summary);
    let mut parts = vec![heading, format!("in {}{}", test.target.display(), elsewhere(test))];
    parts.push(phases::table(test).to_string());
    parts.extend(hosts::table(test).map(|table| table.to_string()));
    parts.extend(layouts::section(test));
    parts.extend(checks::section(test));
    parts.join("\n")
}

/// The file system of a test that is not on the run's first one.
fn elsewhere(test: &TestRecord) -> String {
    let mount = test.environment.as_ref().and_then(|environment| environment.target.as_ref());
    mount.map(|m| format!(", on {} ({} at {})", m.file_system, m.source, m.mount_point)).unwrap_or_default()
}

/// The last line: what a person in a hurry reads.
fn verdict(record: &RunRecord) -> String {
    let numbers = validity_words(record.validity());
    let verdict = match record.met() {
        None => format!("numbers: {numbers}"),
        Some(true) => format!("requirement: {}, numbers: {numbers}", paint::good("met")),
        Some(false) => format!("requirement: {}, numbers: {numbers}", paint::bad("not met")),
    };
    let Some(error) = &record.error else { return verdict };
    let hint =
        error.hint.as_ref().map(|hint| format!("\n{}: {hint}", paint::hint("hint"))).unwrap_or_default();
    format!("{}: {}{hint}\n{verdict}", paint::bad("ended early"), error.message)
}

fn state_words(state: RunState) -> String {
    match state {
        RunState::Running => paint::note("running"),
        RunState::Complete => "complete".to_owned(),
        RunState::Interrupted => paint::bad("interrupted"),
        RunState::Failed => paint::bad("failed"),
    }
}

fn validity_words(validity: Validity) -> String {
    match validity {
        Validity::Valid => paint::good(validity.words()),
        Validity::ValidWithNotes => paint::note(validity.words()),
        Validity::NotValid => paint::bad(validity.words()),
    }
}
