use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use host::{Environment, System};
use record::{
    Check, Event, Listener, PhaseResult, Repetition, RunError, RunRecord, RunState, StopCause, TestRecord,
};

use super::memory::HeldMemory;
use super::phase::{PhaseRun, PhaseSetting};
use super::preflight;
use super::probes::Probes;
use crate::belief;
use crate::engine::{Chosen, EngineKind, Pool, Share, choose, now};
use crate::ground::{Grounds, RunDirectory};
use crate::interrupt;
use crate::workload::{Activity, Job, Workload};

/// How a session runs its tests.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Leave the files of the last repetition in the target.
    pub keep_files: bool,
    /// Fill the file system beyond 90 % if the workload needs it.
    pub fill_beyond: bool,
    /// Name for the run.
    pub label: Option<String>,
}

/// One test to run.
#[derive(Debug, Clone)]
pub struct TestPlan {
    /// Name in the record.
    pub name: String,
    /// `iotest`, `workload`.
    pub test: String,
    /// Directory under test.
    pub target: PathBuf,
    /// What to do.
    pub workload: Workload,
    /// pCores that per-pCore rates refer to.
    pub pcores: u32,
    /// Said of short runs that stand for longer ones.
    pub equivalence: Option<String>,
    /// Type the target's file system must have, so that an unmounted target is noticed.
    pub expect_file_system: Option<String>,
}

impl TestPlan {
    /// All directories under test.
    fn targets<'a>(&'a self, workload: &'a Workload) -> Vec<&'a Path> {
        std::iter::once(self.target.as_path())
            .chain(workload.more_targets.iter().map(PathBuf::as_path))
            .collect()
    }
}

/// What all repetitions of a test share.
struct Scene<'a> {
    plan: &'a TestPlan,
    workload: &'a Workload,
    environment: &'a Environment,
    probes: &'a Probes,
    engines: &'a [Vec<Chosen>],
}

/// A run: tests one after the other, all in one record.
pub struct Session<'a> {
    /// The record as far as it has come.
    pub record: RunRecord,
    options: Options,
    started: u64,
    /// When the phases of the current test began.
    test_started: Option<u64>,
    listener: &'a mut dyn Listener,
    save: &'a mut dyn FnMut(&RunRecord) -> Result<()>,
}

impl<'a> Session<'a> {
    /// A session for `command`. `save` is called after every phase, so that a killed run keeps what it measured.
    pub fn new(
        command: Vec<String>,
        options: Options,
        listener: &'a mut dyn Listener,
        save: &'a mut dyn FnMut(&RunRecord) -> Result<()>,
    ) -> Self {
        let system = System::here();
        let record = RunRecord {
            version: record::VERSION,
            id: record::new_id(),
            label: options.label.clone(),
            state: RunState::Running,
            error: None,
            program: format!("forebay {}", env!("CARGO_PKG_VERSION")),
            command,
            process_id: std::process::id(),
            boot_id: system.boot_id(),
            started_at: record::timestamp(),
            elapsed_ns: 0,
            spec: None,
            environment: Environment::default(),
            tests: Vec::new(),
            requirements: Vec::new(),
            design: None,
        };
        Self { record, options, started: now(), test_started: None, listener, save }
    }

    /// Runs `plans` and ends the session. The record is complete in every case; an early end is also returned.
    pub fn run(mut self, plans: &[TestPlan]) -> (RunRecord, Result<()>) {
        self.emit(&Event::RunStarted { run: self.record.id.clone(), tests: plans.len() as u32 });
        let outcome = plans.iter().try_for_each(|plan| self.run_test(plan));
        (self.record.state, self.record.error) = match &outcome {
            Ok(()) => (RunState::Complete, None),
            Err(fault) => {
                let interrupted = fault.kind() == Kind::Interrupted;
                let state = if interrupted { RunState::Interrupted } else { RunState::Failed };
                let hint = fault.hint_text().map(str::to_owned);
                (state, Some(RunError { message: fault.message().to_owned(), hint }))
            }
        };
        self.record.elapsed_ns = now() - self.started;
        let (run, elapsed_ns) = (self.record.id.clone(), self.record.elapsed_ns);
        self.emit(&Event::RunFinished { run, elapsed_ns });
        (self.record, outcome)
    }

    fn emit(&mut self, event: &Event) {
        self.listener.on_event(event);
    }

    fn save(&mut self) -> Result<()> {
        self.record.elapsed_ns = now() - self.started;
        (self.save)(&self.record)
    }

    fn run_test(&mut self, plan: &TestPlan) -> Result<()> {
        let workload = plan.workload.prepared();
        workload.check()?;
        let system = System::here();
        let environment = system.environment(Some(&plan.target))?;
        preflight::check(plan, &plan.target, &environment, &workload, &self.options)?;
        for target in &workload.more_targets {
            let there = system.environment(Some(target))?;
            preflight::check(plan, target, &there, &workload, &self.options)?;
        }
        for message in preflight::notices(&environment, &workload) {
            self.emit(&Event::Notice { message });
        }
        if self.record.tests.is_empty() {
            self.record.environment = environment.clone();
        }
        let mount_point =
            |environment: &Environment| environment.target.as_ref().map(|m| m.mount_point.clone());
        let elsewhere =
            (mount_point(&environment) != mount_point(&self.record.environment)).then(|| environment.clone());
        let summary = workload.summary();
        self.emit(&Event::TestStarted {
            test: plan.name.clone(),
            summary: summary.clone(),
            repetitions: workload.repetitions,
        });
        self.record.tests.push(TestRecord {
            name: plan.name.clone(),
            test: plan.test.clone(),
            target: plan.target.clone(),
            summary,
            workload: serde_json::to_value(&workload)
                .map_err(|error| Fault::new(Kind::Bug, format!("cannot express the workload: {error}")))?,
            pcores: plan.pcores,
            equivalence: plan.equivalence.clone(),
            environment: elsewhere,
            held_memory: None,
            repetitions: Vec::new(),
            checks: Vec::new(),
        });
        let outcome = self.repeat_all(plan, &workload, &environment);
        let left_out = self.left_out(&workload);
        if let Some(test) = self.record.tests.last_mut() {
            test.checks = belief::test_checks(test);
            test.checks.extend(left_out);
        }
        if self.record.has_begun() { outcome.and(self.save()) } else { outcome }
    }

    fn repeat_all(&mut self, plan: &TestPlan, workload: &Workload, environment: &Environment) -> Result<()> {
        let probes = Probes::of(&plan.target, &workload.more_targets)?;
        let held =
            workload.hold_memory.map(|amount| HeldMemory::hold(amount, &environment.memory)).transpose()?;
        if let Some(held) = &held {
            self.emit(&Event::Notice { message: held.to_string() });
            if let Some(test) = self.record.tests.last_mut() {
                test.held_memory = Some(held.told());
            }
        }
        self.test_started = None;
        let engines = self.choose_engines(plan, workload)?;
        let scene = Scene { plan, workload, environment, probes: &probes, engines: &engines };
        for number in 1..=workload.repetitions {
            if self.is_over(workload) {
                break;
            }
            self.repeat(&scene, number)?;
        }
        Ok(())
    }

    /// Whether the workload's time, which counts from its first phase, is up: nothing begins any more.
    fn is_over(&self, workload: &Workload) -> bool {
        let up = |started: u64| {
            workload.max_time.is_some_and(|most| u128::from(now() - started) > most.as_nanos())
        };
        self.test_started.is_some_and(up)
    }

    /// Says so when phases were left out because time was up.
    fn left_out(&self, workload: &Workload) -> Option<Check> {
        let most = workload.max_time?;
        let planned = workload.phases.len() * workload.repetitions as usize;
        let repetitions = self.record.tests.last().map_or(&[][..], |test| &test.repetitions);
        let done: usize = repetitions.iter().map(|repetition| repetition.phases.len()).sum();
        let evidence = format!("{done} of {planned} phases began within {}", units::format_duration(most));
        Some(if done == planned {
            Check::pass("max-time", evidence)
        } else {
            Check::note("max-time", evidence, "raise `max_time`, or use fewer repetitions")
        })
    }

    /// The engine of every job of every phase.
    fn choose_engines(&self, plan: &TestPlan, workload: &Workload) -> Result<Vec<Vec<Chosen>>> {
        let choose = |job: &Job| match &job.activity {
            Activity::Transfer(transfer) => choose(workload.engine, transfer, &plan.target, &self.record.id),
            Activity::Entries(_) => Ok(Chosen {
                kind: EngineKind::Psync,
                reason: "operations on entries are system calls".to_owned(),
            }),
        };
        workload.phases.iter().map(|phase| phase.jobs.iter().map(choose).collect()).collect()
    }

    /// One pass over the phases, in a directory of its own.
    fn repeat(&mut self, scene: &Scene, number: u32) -> Result<()> {
        let (plan, workload) = (scene.plan, scene.workload);
        let id = format!("{}-{}-{number}", self.record.id, self.record.tests.len());
        let grounds = Grounds::create(&plan.targets(workload), &id, &workload.files.tree.prefix)?;
        if let Some(test) = self.record.tests.last_mut() {
            test.repetitions.push(Repetition { number, phases: Vec::new() });
        }
        // Saved before anything is measured: a killed run is in the list, and an unwritable place for records shows now.
        let outcome = self.save().and_then(|()| self.run_phases(scene, number, &grounds));
        let keep = self.options.keep_files && number == workload.repetitions;
        let removed = if keep { Ok(()) } else { remove(grounds) };
        both(outcome, removed)
    }

    fn run_phases(&mut self, scene: &Scene, number: u32, grounds: &Grounds) -> Result<()> {
        let workload = scene.workload;
        let shares: Vec<Share> = (0..workload.ranks).map(|_| Share::default()).collect();
        let tree = &workload.files.tree;
        let mut pool = workload.selects().then(|| Pool::new(tree, workload.ranks));
        for (phase, engines) in workload.phases.iter().zip(scene.engines) {
            stop_if_asked()?;
            if self.is_over(workload) {
                break;
            }
            self.test_started.get_or_insert_with(now);
            let phase = &*workload.with_rates(phase, self.results())?;
            if let Some(pool) = &mut pool {
                pool.begin(phase.jobs.len());
            }
            let setting = PhaseSetting {
                test: &scene.plan.name,
                repetition: number,
                workload,
                phase,
                engines,
                grounds,
                environment: scene.environment,
                probes: scene.probes,
                pcores: scene.plan.pcores,
                shares: &shares,
                pool: pool.as_ref(),
                run_started: self.started,
            };
            let (result, outcome) = PhaseRun::new(&setting, self.listener).run()?;
            let interrupted = result.stopped_by == StopCause::Interrupted;
            self.keep(result)?;
            outcome?;
            if interrupted {
                return Err(interruption());
            }
        }
        Ok(())
    }

    /// The phases of this repetition so far.
    fn results(&self) -> &[PhaseResult] {
        let repetition = self.record.tests.last().and_then(|test| test.repetitions.last());
        repetition.map_or(&[], |repetition| &repetition.phases)
    }

    /// Puts a phase's result into the record and saves it.
    fn keep(&mut self, result: PhaseResult) -> Result<()> {
        if let Some(repetition) = self.record.tests.last_mut().and_then(|t| t.repetitions.last_mut()) {
            repetition.phases.push(result);
        }
        self.save()
    }
}

fn interruption() -> Fault {
    let signal = match interrupt::requested() {
        Some(libc::SIGTERM) => "SIGTERM",
        Some(libc::SIGHUP) => "SIGHUP",
        _ => "Ctrl-C",
    };
    Fault::new(
        Kind::Interrupted,
        format!("stopped by {signal}; what was measured so far is kept in the record"),
    )
}

fn stop_if_asked() -> Result<()> {
    if interrupt::requested().is_some() { Err(interruption()) } else { Ok(()) }
}

/// What came of the phases and of removing their files. Files that are left are told in every case.
fn both(outcome: Result<()>, removed: Result<()>) -> Result<()> {
    match (outcome, removed) {
        (outcome, Ok(())) => outcome,
        (Err(first), Err(left)) if first.kind() != Kind::Interrupted => {
            let hints = [first.hint_text(), Some(left.message()), left.hint_text()];
            let hint = hints.into_iter().flatten().collect::<Vec<_>>().join("; ");
            Err(first.hint(hint))
        }
        (_, Err(left)) => Err(left),
    }
}

/// Removes what is in every target, whatever happens in one.
fn remove(grounds: Grounds) -> Result<()> {
    let removed: Vec<Result<()>> = grounds.into_all().into_iter().map(remove_one).collect();
    removed.into_iter().collect()
}

fn remove_one(ground: RunDirectory) -> Result<()> {
    let target = ground.path().parent().map(Path::to_owned).unwrap_or_default();
    ground.remove().map_err(|fault| {
        let then = format!("`forebay clean {}` removes what is left", target.display());
        let hint = fault.hint_text().map_or_else(|| then.clone(), |first| format!("{first}; then {then}"));
        fault.hint(hint)
    })
}
