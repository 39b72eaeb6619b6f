//! A crew of threads: the first is the root and runs a session, the others serve.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use bench::crew::{Crew, Introduction, serve};
use bench::workload::{EngineChoice, FileSet, Phase};
use bench::{Options, Session, TestPlan, Workload};
use fault::{Fault, Kind, Result};
use fleet::group::{Group, Member};
use fleet::{Aborted, Clock, Link, Lost};
use record::{Check, Event, Outcome, PhaseResult, RunRecord};
use tempfile::TempDir;
use units::Bytes;

/// What somebody does to a process.
type Meddling = fn(&Process);

/// A process of a crew, as a test wants it.
pub struct Process {
    member: Member,
    seats: Vec<u32>,
    /// Votes it takes part in before it is gone.
    votes: Option<AtomicU32>,
}

impl Process {
    pub fn leave(self) {
        self.member.leave();
    }

    /// It goes away at its vote of this number.
    fn dies_at(mut self, vote: u32) -> Self {
        self.votes = Some(AtomicU32::new(vote));
        self
    }
}

impl Link for Process {
    fn process(&self) -> u32 {
        self.member.process()
    }
    fn processes(&self) -> u32 {
        self.member.processes()
    }
    fn seats(&self) -> Vec<u32> {
        self.seats.clone()
    }
    fn all_max(&self, value: Option<u64>) -> Result<std::result::Result<u64, Aborted>> {
        if let Some(votes) = &self.votes
            && votes.fetch_sub(1, Ordering::Relaxed) == 1
        {
            return Err(Fault::new(Kind::Io, "killed on purpose"));
        }
        self.member.all_max(value)
    }
    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        self.member.broadcast(bytes)
    }
    fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Option<Vec<u8>>>> {
        self.member.gather(bytes)
    }
    fn post(&self, bytes: Vec<u8>) {
        self.member.post(bytes);
    }
    fn posts(&self) -> Vec<(u32, Vec<u8>)> {
        self.member.posts()
    }
    fn stop(&self, reason: u8) {
        self.member.stop(reason);
    }
    fn stopped(&self) -> Option<u8> {
        self.member.stopped()
    }
    fn resume(&self) {
        self.member.resume();
    }
    fn clock(&self) -> Result<Clock> {
        self.member.clock()
    }
    fn lost(&self) -> Vec<Lost> {
        self.member.lost()
    }
}

/// A run over a group.
pub struct Over {
    group: Group,
    seats: Vec<u32>,
    options: Options,
    /// The process that goes away, and at which of its votes.
    dies: Option<(u32, u32)>,
    /// What a process does on its thread before it serves.
    before: fn(u32, &Path),
    /// What somebody does to a process while it serves.
    meanwhile: Option<(u32, Meddling)>,
    hosts: u32,
}

/// What came of it.
pub struct Done {
    pub record: RunRecord,
    pub failure: Option<Fault>,
    pub events: Vec<Event>,
    /// What each process but the root ended with.
    pub served: Vec<Result<()>>,
}

impl Over {
    /// So many processes with so many seats each, every one on a host of its own.
    pub fn new(seats: &[u32]) -> Self {
        Self::group(Group::new(seats.len() as u32), seats)
    }

    pub fn group(group: Group, seats: &[u32]) -> Self {
        Self {
            group,
            seats: seats.to_vec(),
            options: Options { fill_beyond: true, ..Options::default() },
            dies: None,
            before: |_, _| {},
            meanwhile: None,
            hosts: u32::MAX,
        }
    }

    /// Processes are dealt to so many hosts in turn.
    pub fn hosts(self, hosts: u32) -> Self {
        Self { hosts, ..self }
    }

    pub fn options(self, options: Options) -> Self {
        Self { options: Options { fill_beyond: true, ..options }, ..self }
    }

    pub fn dies(self, process: u32, vote: u32) -> Self {
        Self { dies: Some((process, vote)), ..self }
    }

    pub fn before(self, before: fn(u32, &Path)) -> Self {
        Self { before, ..self }
    }

    pub fn meanwhile(self, process: u32, what: fn(&Process)) -> Self {
        Self { meanwhile: Some((process, what)), ..self }
    }

    /// Runs a workload; `listen` sees every event.
    pub fn run_listening(
        self,
        target: &Path,
        workload: &Workload,
        listen: impl FnMut(&Event) + Send,
    ) -> Done {
        let Self { group, seats, options, dies, before, meanwhile, hosts } = self;
        let introduction = |process: u32| Introduction::here().called(&format!("node{}", process % hosts));
        let mut processes: Vec<Process> = group
            .members()
            .into_iter()
            .map(|member| Process { member, seats: seats.clone(), votes: None })
            .collect();
        if let Some((process, vote)) = dies {
            let doomed = processes.remove(process as usize).dies_at(vote);
            processes.insert(process as usize, doomed);
        }
        let root = processes.remove(0);
        std::thread::scope(|scope| {
            let others: Vec<_> = processes
                .into_iter()
                .map(|process| {
                    scope.spawn(move || {
                        let number = process.process();
                        before(number, target);
                        let served = std::thread::scope(|inner| {
                            if let Some((chosen, what)) = meanwhile
                                && chosen == number
                            {
                                let process = &process;
                                inner.spawn(move || what(process));
                            }
                            serve(&process, introduction(number))
                        });
                        if served.is_ok() {
                            process.leave();
                        }
                        served
                    })
                })
                .collect();
            let (record, failure, events) =
                run_root(&root, introduction(0), options, plan(target, workload), listen);
            root.leave();
            let served = others.into_iter().map(|other| other.join().unwrap()).collect();
            Done { record, failure, events, served }
        })
    }

    /// Runs a workload; the target must be empty again afterwards.
    pub fn run(self, target: &Path, workload: &Workload) -> Done {
        let keeps = self.options.keep_files;
        let done = self.run_listening(target, workload, |_| {});
        let left: Vec<_> = std::fs::read_dir(target).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(keeps || left.is_empty(), "left behind: {left:?}");
        done
    }
}

fn run_root(
    root: &Process,
    own: Introduction,
    options: Options,
    plan: TestPlan,
    mut listen: impl FnMut(&Event) + Send,
) -> (RunRecord, Option<Fault>, Vec<Event>) {
    let crew = Crew::muster(root, own).unwrap();
    let mut events = Vec::new();
    let mut listener = |event: &Event| {
        events.push(event.clone());
        listen(event);
    };
    let mut save = |_: &RunRecord| Ok(());
    let session = Session::new(vec!["test".to_owned()], options, &mut listener, &mut save).over(&crew);
    let (record, outcome) = session.run(&[plan]);
    crew.dismiss().unwrap();
    (record, outcome.err(), events)
}

fn plan(target: &Path, workload: &Workload) -> TestPlan {
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

impl Done {
    /// It must have come to its end.
    pub fn expect(self) -> Self {
        assert!(self.failure.is_none(), "{:?}", self.failure);
        assert!(self.served.iter().all(Result::is_ok), "{:?}", self.served);
        self
    }

    pub fn phases(&self) -> Vec<&PhaseResult> {
        self.record.tests.iter().flat_map(|t| &t.repetitions).flat_map(|r| &r.phases).collect()
    }

    pub fn phase(&self, name: &str) -> &PhaseResult {
        self.phases().into_iter().find(|phase| phase.name == name).unwrap()
    }
}

pub fn check<'a>(phase: &'a PhaseResult, rule: &str) -> &'a Check {
    phase.checks.iter().find(|check| check.rule == rule).unwrap_or_else(|| panic!("no {rule}"))
}

pub fn failed(phase: &PhaseResult, rule: &str) -> bool {
    check(phase, rule).outcome == Outcome::Fail
}

/// A directory on the file system that programs are built on.
pub fn disk() -> TempDir {
    tempfile::Builder::new().prefix("crew").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
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

/// All files below a directory, with what is in them.
pub fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|e| e == "json") => {}
                false => found.push((path.file_name().unwrap().into(), std::fs::read(&path).unwrap())),
            }
        }
    }
    found.sort();
    found
}
