//! From what a file says to a run record.

use std::fmt::Write as _;
use std::path::Path;

use fault::{Fault, Kind, Result};
use host::{Counters, Environment};
use record::{
    Check, EngineUsed, Imported, PhaseResult, Repetition, RunRecord, RunState, TestRecord, VERSION,
};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use units::Bytes;

use crate::format::Format;
use crate::found::{Found, FoundPhase, FoundTest, nanoseconds};

/// The record of what was found in `file`.
pub fn record(found: Found, format: Format, file: &Path, bytes: &[u8]) -> Result<RunRecord> {
    if found.tests.iter().all(FoundTest::is_empty) {
        return Err(Fault::new(Kind::Corrupt, format!("`{}` names no result", file.display()))
            .hint("was the run stopped before its first phase ended?"));
    }
    let imported = Imported {
        tool: found.tool.to_owned(),
        tool_version: found.version.clone(),
        format: format.name().to_owned(),
        file: file.to_owned(),
        sha256: hash(bytes),
        imported_at: record::timestamp(),
    };
    let mut record = RunRecord {
        version: VERSION,
        id: record::new_id(),
        label: None,
        state: RunState::Complete,
        error: None,
        program: imported.program(),
        command: found.command.split_whitespace().map(str::to_owned).collect(),
        process_id: 0,
        boot_id: String::new(),
        started_at: found.started_at.clone().unwrap_or_else(record::timestamp),
        elapsed_ns: 0,
        spec: None,
        environment: Environment { hostname: found.hostname.clone(), ..Environment::default() },
        tests: Vec::new(),
        requirements: Vec::new(),
        design: None,
        imported: None,
        search: None,
        sweep: None,
    };
    let source = source(&imported, found.started_at.is_none());
    let mut now = 0;
    for test in found.tests.into_iter().filter(|test| !test.is_empty()) {
        record.tests.push(into_test(test, &source, &mut now));
    }
    record.elapsed_ns = now;
    record.imported = Some(imported);
    Ok(record)
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What keeps an imported result from looking like one that was checked.
fn source(imported: &Imported, undated: bool) -> Check {
    let dated = if undated {
        "; it does not say when it ran, so the date is that of the import"
    } else {
        "; its date has no time zone and is taken as UTC"
    };
    Check::note(
        "imported",
        format!(
            "the figures are those that {} printed into `{}`{dated}",
            imported.program(),
            imported.file.display()
        ),
        "caches, data and clocks could not be checked: repeat the test with forebay before you rely on it",
    )
}

fn into_test(test: FoundTest, source: &Check, now: &mut u64) -> TestRecord {
    let ranks = test.ranks;
    let mut numbered = Vec::new();
    for (number, phases) in (1..).zip(test.repetitions.into_iter().filter(|phases| !phases.is_empty())) {
        numbered.push(Repetition {
            number,
            phases: phases.into_iter().map(|p| into_phase(p, ranks, now)).collect(),
            removed_ns: None,
        });
    }
    let mut checks = vec![source.clone()];
    checks.extend(test.checks);
    TestRecord {
        name: test.name,
        test: test.kind.to_owned(),
        target: test.target.into(),
        summary: test.summary,
        workload: Value::Object(with_ranks(test.settings, ranks)),
        pcores: test.pcores.unwrap_or(0),
        equivalence: None,
        environment: None,
        held_memory: None,
        hosts: Vec::new(),
        repetitions: numbered,
        checks,
    }
}

fn with_ranks(mut settings: Map<String, Value>, ranks: Option<u32>) -> Map<String, Value> {
    if let Some(ranks) = ranks {
        settings.insert("ranks".to_owned(), ranks.into());
    }
    settings
}

fn into_phase(mut phase: FoundPhase, ranks: Option<u32>, now: &mut u64) -> PhaseResult {
    let last_done = phase.last_done();
    phase.main.sort_unstable();
    phase.main.dedup();
    let started_ns = phase.began.map_or(*now, nanoseconds);
    *now = (*now).max(started_ns.saturating_add(last_done.elapsed_ns));
    PhaseResult {
        name: phase.name,
        main: phase.main,
        transfer_bytes: phase.transfer,
        started_ns,
        first_done: phase.first_done.unwrap_or(last_done),
        last_done,
        wear_out: phase.wear_out,
        wear_out_capped: false,
        stopped_by: phase.stopped_by,
        open_loop: false,
        asked_operations_per_second: None,
        matched: None,
        operations: phase.operations,
        ranks: Vec::new(),
        ranks_stated: phase.ranks.or(ranks),
        hosts: Vec::new(),
        lost: Vec::new(),
        layout: None,
        series: phase.series,
        engine: EngineUsed {
            name: "unknown".to_owned(),
            reason: "another tool's own".to_owned(),
            direct: phase.direct,
            queue_depth: phase.queue_depth,
        },
        counters: Counters::default(),
        errors: Vec::new(),
        error_count: phase.errors,
        verify_failures: 0,
        verified_bytes: Bytes::ZERO,
        checks: phase.checks,
        limit: None,
    }
}
