//! What a run measured, in the words of published results.

use record::{OperationKind, PhaseResult, RunRecord, StopCause, TestRecord, statistics};
use serde::Serialize;

/// A figure of a run: the median of its repetitions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Name of the test in the run.
    pub name: String,
    /// The phase.
    pub phase: String,
    /// The test that published results are of: `iotest`, `ior`, `mdtest`.
    pub test: String,
    /// The operation: `read`, `write`, `mixed`, `file-create`.
    pub operation: &'static str,
    /// All ranks together: bytes per second where the operation moves data.
    pub bytes_per_second: Option<f64>,
    /// Operations per second.
    pub operations_per_second: f64,
    /// The SAS test's rate (size / mean time) for each physical core, in bytes per second.
    pub bytes_per_second_per_pcore: Option<f64>,
    /// Physical cores.
    pub pcores: u32,
}

/// All figures of a run, for results of `test` or of the run's own tests.
pub fn of(run: &RunRecord, test: Option<&str>) -> Vec<Figure> {
    run.tests
        .iter()
        .flat_map(|record| record.phase_names().into_iter().filter_map(|name| figure(record, name, test)))
        .collect()
}

fn figure(record: &TestRecord, phase: &str, test: Option<&str>) -> Option<Figure> {
    let whole: Vec<&PhaseResult> = record
        .phases(phase)
        .filter(|phase| matches!(phase.stopped_by, StopCause::Bytes | StopCause::Time))
        .collect();
    let (operation, usual) = operation(&whole.first()?.main)?;
    let median = |value: &dyn Fn(&PhaseResult) -> f64| {
        statistics::median(&whole.iter().map(|phase| value(phase)).collect::<Vec<_>>())
    };
    let moves = whole.iter().any(|phase| phase.last_done.bytes.get() > 0) && usual == "ior";
    let bytes = if moves { median(&|phase| phase.bandwidth().get()) } else { None };
    let pcores = f64::from(record.pcores.max(1));
    let per_pcore = |phase: &PhaseResult| phase.rate_per_rank().get() * phase.rank_count() as f64 / pcores;
    let own = if record.test == "iotest" { "iotest" } else { usual };
    Some(Figure {
        name: record.name.clone(),
        phase: phase.to_owned(),
        test: test.unwrap_or(own).to_owned(),
        operation,
        bytes_per_second: bytes,
        operations_per_second: median(&|phase| phase.last_done.iops().get())?,
        bytes_per_second_per_pcore: bytes.and_then(|_| median(&per_pcore)),
        pcores: record.pcores,
    })
}

/// The published word for a phase's work, and the test that usually measures it.
fn operation(main: &[OperationKind]) -> Option<(&'static str, &'static str)> {
    use OperationKind as Kind;
    match main {
        [Kind::Read] => Some(("read", "ior")),
        [Kind::Write] => Some(("write", "ior")),
        [Kind::Read, Kind::Write] | [Kind::Write, Kind::Read] => Some(("mixed", "vdbench")),
        [Kind::Create] => Some(("file-create", "mdtest")),
        [Kind::Stat] => Some(("file-stat", "mdtest")),
        [Kind::ReadFile] => Some(("file-read", "mdtest")),
        [Kind::Remove] => Some(("file-remove", "mdtest")),
        [Kind::MakeDirectory] => Some(("dir-create", "mdtest")),
        [Kind::RemoveDirectory] => Some(("dir-remove", "mdtest")),
        [Kind::Find] => Some(("find", "io500")),
        _ => None,
    }
}
