//! A run in words and tables, for a terminal. The verdict comes first.

mod checks;
mod design;
mod phases;
mod requirements;

use std::time::Duration;

use record::{RunRecord, RunState, TestRecord, Validity};
use units::format_duration;

use crate::paint;

/// Everything a person wants to know about a run at first: verdict per requirement, results per phase, and the
/// checks that found something.
pub fn summary(record: &RunRecord) -> String {
    let mut parts = vec![heading(record)];
    parts.extend(requirements::section(record));
    parts.extend(design::section(record));
    for test in &record.tests {
        parts.push(test_section(test));
    }
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
        record.started_at
    )];
    let environment = &record.environment;
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

fn test_section(test: &TestRecord) -> String {
    let equivalence = test.equivalence.as_ref().map(|words| format!(" ({words})")).unwrap_or_default();
    let held = test.held_memory.map(|held| format!(", {} of memory held", held.size_bytes));
    let held = held.unwrap_or_default();
    let heading = format!("{}: {}{held}{equivalence}", paint::strong(&test.name), test.summary);
    let mut parts = vec![heading, format!("in {}{}", test.target.display(), elsewhere(test))];
    parts.push(phases::table(test).to_string());
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
