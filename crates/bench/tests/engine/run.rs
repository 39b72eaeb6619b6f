//! Running a workload and looking at what it left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bench::workload::{EngineChoice, FileSet, Phase};
use bench::{Options, Session, TestPlan, Workload};
use fault::Fault;
use record::{Event, Outcome, PhaseResult, RunRecord};
use tempfile::TempDir;
use units::Bytes;

/// A run that came to its end, one way or the other.
pub struct Done {
    pub record: RunRecord,
    pub failure: Option<Fault>,
    pub events: Vec<Event>,
}

/// A directory on the file system that programs are built on.
pub fn disk() -> TempDir {
    tempfile::Builder::new().prefix("engine").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A directory in memory.
pub fn memory() -> TempDir {
    tempfile::Builder::new().prefix("engine").tempdir_in("/dev/shm").unwrap()
}

/// A small workload: per rank one file of 64 KiB.
pub fn workload(ranks: u32, phases: Vec<Phase>) -> Workload {
    let text = "version = 1\nphases = [{name = \"x\", jobs = [{activity = {transfer = {}}}]}]";
    Workload {
        ranks,
        engine: EngineChoice::Psync,
        files: FileSet { block_size: Bytes::kib(64), ..FileSet::default() },
        phases,
        ..Workload::from_toml(text).unwrap()
    }
}

pub fn plan(target: &Path, workload: &Workload) -> TestPlan {
    TestPlan {
        name: workload.name.clone(),
        test: "workload".to_owned(),
        target: target.to_owned(),
        workload: workload.clone(),
        pcores: 1,
        equivalence: None,
        expect_file_system: None,
    }
}

/// Runs a workload; `listen` sees every event, between phases too.
pub fn run_with(
    target: &Path,
    workload: &Workload,
    options: Options,
    mut listen: impl FnMut(&Event) + Send,
) -> Done {
    let mut events = Vec::new();
    let mut listener = |event: &Event| {
        events.push(event.clone());
        listen(event);
    };
    let mut save = |_: &RunRecord| Ok(());
    let session = Session::new(vec!["test".to_owned()], options, &mut listener, &mut save);
    let (record, outcome) = session.run(&[plan(target, workload)]);
    Done { record, failure: outcome.err(), events }
}

/// Runs a workload in a directory of its own, which must be empty again afterwards.
pub fn run(target: &Path, workload: &Workload) -> Done {
    let done = run_with(target, workload, Options::default(), |_| {});
    let left: Vec<_> = std::fs::read_dir(target).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    done
}

/// Runs a workload and keeps its files.
pub fn keep(target: &Path, workload: &Workload) -> (Done, PathBuf) {
    let options = Options { keep_files: true, ..Options::default() };
    let done = run_with(target, workload, options, |_| {});
    (done, run_directory(target))
}

/// The one run directory in a target.
pub fn run_directory(target: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(target).unwrap().map(|e| e.unwrap().path());
    let directory = entries.next().expect("a run directory");
    assert!(entries.next().is_none(), "more than one run directory");
    directory
}

/// The data files in a run directory, by number.
pub fn data_files(directory: &Path) -> BTreeMap<u64, Vec<u8>> {
    let entries = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().path());
    entries
        .filter_map(|path| {
            let number = path.file_name()?.to_str()?.strip_prefix("data.")?.parse().ok()?;
            Some((number, std::fs::read(path).unwrap()))
        })
        .collect()
}

impl Done {
    /// The run must have come to its planned end.
    #[track_caller]
    pub fn expect(self) -> Self {
        assert!(self.failure.is_none(), "{:?}", self.failure);
        for phase in self.phases() {
            assert_eq!((phase.error_count, phase.errors.len()), (0, 0), "{}: {:?}", phase.name, phase.errors);
        }
        self
    }

    pub fn phases(&self) -> impl Iterator<Item = &PhaseResult> {
        self.record.tests.iter().flat_map(|t| &t.repetitions).flat_map(|r| &r.phases)
    }

    #[track_caller]
    pub fn phase(&self, name: &str) -> &PhaseResult {
        let names: Vec<_> = self.phases().map(|p| p.name.clone()).collect();
        self.phases().find(|p| p.name == name).unwrap_or_else(|| panic!("no phase {name} in {names:?}"))
    }

    /// What a rule said of a phase.
    #[track_caller]
    pub fn check(&self, phase: &str, rule: &str) -> (Outcome, String) {
        let check = self.phase(phase).checks.iter().find(|c| c.rule == rule);
        let check = check.unwrap_or_else(|| panic!("no check {rule}"));
        (check.outcome, check.evidence.clone())
    }

    /// Message and hint of the failure.
    #[track_caller]
    pub fn words(&self) -> (String, String) {
        let fault = self.failure.as_ref().expect("a failure");
        (fault.message().to_owned(), fault.hint_text().unwrap_or_default().to_owned())
    }
}
