//! From a spec to tests, and from results to a verdict per requirement.

use std::path::Path;

use fault::{Fault, Kind, Result};
use host::System;
use record::{
    Direction, OperationKind, PhaseResult, RequirementVerdict, RunRecord, Spread, TestRecord, Validity,
    statistics,
};
use spec::{Document, Storage, Test, TestKind};
use units::Bandwidth;

use crate::languages::iotest::Iotest;
use crate::runner::TestPlan;
use crate::workload::{EngineChoice, Workload};

/// Passes over every test unless the spec or the command line says otherwise: fewer say nothing about noise.
pub const REPETITIONS: u32 = 3;

/// What the command line overrides.
#[derive(Debug, Clone, Default)]
pub struct Overrides<'a> {
    /// Directory under test, for all tests.
    pub target: Option<&'a Path>,
    /// Passes, for all tests.
    pub repetitions: Option<u32>,
}

/// A plan, what should be said about it, and the requirement it measures.
#[derive(Debug)]
pub struct ProvePlan {
    /// The test.
    pub plan: TestPlan,
    /// Remarks, such as files shrunk for lack of space.
    pub notes: Vec<String>,
}

/// The tests of a spec. A spec without tests gets one iotest per storage requirement.
pub fn plans(document: &Document, overrides: &Overrides) -> Result<Vec<ProvePlan>> {
    let tests = tests_of(document);
    tests.iter().map(|test| plan(document, test, overrides)).collect()
}

/// Names of a spec's tests, or of those it implies.
pub fn test_names(document: &Document) -> Vec<String> {
    tests_of(document).into_iter().map(|test| test.name).collect()
}

/// The tests of a spec, or those it implies.
fn tests_of(document: &Document) -> Vec<Test> {
    if !document.spec.test.is_empty() {
        return document.spec.test.clone();
    }
    let implied =
        |storage: &Storage| Test { storage: Some(storage.name.clone()), ..Test::iotest(&storage.name) };
    document.spec.storage.iter().map(implied).collect()
}

pub(crate) fn plan(document: &Document, test: &Test, overrides: &Overrides) -> Result<ProvePlan> {
    let target = match (overrides.target, &test.target) {
        (Some(target), _) => target.to_owned(),
        (None, Some(target)) => document.resolve(target),
        (None, None) => {
            let message = format!("test `{}` has no target", test.name);
            return Err(Fault::new(Kind::Spec, message).hint(
                "name the directory under test with `--target DIR`, or write `target = \"DIR\"` in the spec",
            ));
        }
    };
    let repetitions = overrides.repetitions.or(test.repetitions).unwrap_or(REPETITIONS);
    match test.test {
        TestKind::Iotest => {
            let iotest = Iotest {
                pcores: test.pcores,
                file_size: test.file_size,
                transfer_size: document.spec.transfer_size(test),
                time_boxed: test.time_boxed,
                direct: test.direct.unwrap_or(false),
                engine: test.engine.map_or(EngineChoice::Auto, engine),
                repetitions,
                ..Iotest::default()
            };
            let (mut plan, sizing) = iotest.plan(&test.name, &target)?;
            plan.expect_file_system.clone_from(&test.expect_file_system);
            Ok(ProvePlan { plan, notes: sizing.notes })
        }
        TestKind::Workload => workload_plan(document, test, &target, repetitions),
    }
}

fn workload_plan(document: &Document, test: &Test, target: &Path, repetitions: u32) -> Result<ProvePlan> {
    let path = test.workload.as_deref().map(|path| document.resolve(path)).ok_or_else(|| {
        Fault::new(Kind::Spec, format!("test `{}` names no workload", test.name))
            .hint("write `workload = \"FILE.toml\"`")
    })?;
    let text = std::fs::read_to_string(&path).map_err(|error| Fault::os("read workload", &path, error))?;
    let mut workload = Workload::from_toml(&text)?;
    workload.repetitions = repetitions;
    if let Some(choice) = test.engine {
        workload.engine = engine(choice);
    }
    let pcores = test.pcores.unwrap_or_else(|| System::here().cpu().pcores.max(1));
    let plan = TestPlan {
        name: test.name.clone(),
        test: "workload".to_owned(),
        target: target.to_owned(),
        workload,
        pcores,
        equivalence: None,
        expect_file_system: test.expect_file_system.clone(),
    };
    Ok(ProvePlan { plan, notes: Vec::new() })
}

fn engine(choice: spec::Engine) -> EngineChoice {
    match choice {
        spec::Engine::Auto => EngineChoice::Auto,
        spec::Engine::Psync => EngineChoice::Psync,
        spec::Engine::Uring => EngineChoice::Uring,
    }
}

/// Required against measured, for every storage requirement and direction that a test measured or should have.
pub fn verdicts(document: &Document, record: &RunRecord) -> Vec<RequirementVerdict> {
    let mut verdicts = Vec::new();
    for test in tests_of(document) {
        let Some(storage) = document.spec.storage_of(&test) else { continue };
        let done = record.tests.iter().find(|t| t.name == test.name);
        for direction in [Direction::Read, Direction::Write] {
            verdicts.extend(verdict(document, storage, &test, done, direction));
        }
    }
    verdicts
}

/// `None` when the test does not move bytes in this direction at all.
fn verdict(
    document: &Document,
    storage: &Storage,
    test: &Test,
    done: Option<&TestRecord>,
    direction: Direction,
) -> Option<RequirementVerdict> {
    let grid = &document.spec.grid;
    let required = match direction {
        Direction::Read => storage.required_read_per_pcore(grid),
        Direction::Write => storage.required_write_per_pcore(grid),
    };
    let phases: Vec<&PhaseResult> = done.map_or_else(Vec::new, |test| measuring(test, direction));
    let finished =
        done.is_some_and(|t| !t.repetitions.is_empty() && t.repetitions.iter().all(|r| !r.phases.is_empty()));
    if phases.is_empty() && finished && test.test == TestKind::Workload {
        return None;
    }
    let pcores = done.map_or(0, |t| t.pcores);
    let rates: Vec<f64> = phases.iter().map(|phase| per_pcore(phase, direction, pcores).get()).collect();
    let measured = spread(&rates);
    let margin = measured.map(|m| (m.median_bytes_per_second.get() - required.get()) / required.get());
    let checks = phases.iter().flat_map(|p| &p.checks).chain(done.into_iter().flat_map(|t| &t.checks));
    Some(RequirementVerdict {
        storage: storage.name.clone(),
        test: test.name.clone(),
        direction,
        required_per_pcore: required,
        measured_per_pcore: measured,
        pcores,
        margin,
        met: margin.is_some_and(|margin| margin >= 0.0),
        validity: if measured.is_some() { Validity::of(checks) } else { Validity::NotValid },
        limited_by: limited_by(&phases, direction, pcores),
    })
}

fn kind(direction: Direction) -> OperationKind {
    match direction {
        Direction::Read => OperationKind::Read,
        Direction::Write => OperationKind::Write,
    }
}

/// The phases that measured a direction: those that do it as their work. Preparation does not count.
fn measuring(test: &TestRecord, direction: Direction) -> Vec<&PhaseResult> {
    let phases = test.repetitions.iter().flat_map(|r| &r.phases);
    phases
        .filter(|p| p.main.contains(&kind(direction)) && !p.name.starts_with(crate::workload::PREPARE))
        .collect()
}

/// The SAS rule (size / mean time) where every pCore has a rank of its own; else the bytes of this direction over the
/// whole time, shared by the pCores.
fn per_pcore(phase: &PhaseResult, direction: Direction, pcores: u32) -> Bandwidth {
    if phase.rank_count() == pcores as usize && phase.main == [kind(direction)] {
        return phase.rate_per_rank();
    }
    let bytes = phase.of(kind(direction)).map(|o| o.bytes).unwrap_or_default();
    bytes.per(std::time::Duration::from_nanos(phase.last_done.elapsed_ns)) / f64::from(pcores.max(1))
}

fn spread(rates: &[f64]) -> Option<Spread> {
    let median = statistics::median(rates)?;
    let fold = |pick: fn(f64, f64) -> f64| rates.iter().copied().reduce(pick).unwrap_or(median);
    Some(Spread {
        median_bytes_per_second: Bandwidth::bytes_per_second(median),
        min_bytes_per_second: Bandwidth::bytes_per_second(fold(f64::min)),
        max_bytes_per_second: Bandwidth::bytes_per_second(fold(f64::max)),
    })
}

/// What limited the phase in the middle of the range.
fn limited_by(phases: &[&PhaseResult], direction: Direction, pcores: u32) -> String {
    let mut sorted = phases.to_vec();
    let rate = |phase: &PhaseResult| per_pcore(phase, direction, pcores).get();
    sorted.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
    let middle = sorted.get(sorted.len() / 2).and_then(|phase| phase.limit.as_ref());
    middle.map_or_else(|| "not measured".to_owned(), |limit| limit.cause.words().to_owned())
}
