use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use fleet::Placement;
use host::{Environment, System};
use record::{
    Check, Event, Listener, PhaseResult, Repetition, RunError, RunRecord, RunState, StopCause, TestRecord,
};
use units::Bytes;

use super::phase::{PhaseRun, PhaseSetting, Ran};
use super::scene::Scene;
use super::writers::Writers;
use super::{dealing, preflight};
use crate::belief;
use crate::crew::{Answer, Created, Crew, Order, Seat, Seating, Sight, out_of_step, stopped_by_signal};
use crate::engine::{Chosen, Share, ShareState, Written, now};
use crate::interrupt;
use crate::workload::Workload;

/// How a session runs its tests.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Leave the files of the last repetition in the target.
    pub keep_files: bool,
    /// Fill the file system beyond 90 % if the workload needs it.
    pub fill_beyond: bool,
    /// Name for the run.
    pub label: Option<String>,
    /// So many processes may be lost on the way: the run goes on with the others.
    pub allow_lost: u32,
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
    pub(super) fn targets<'a>(&'a self, workload: &'a Workload) -> Vec<&'a Path> {
        std::iter::once(self.target.as_path())
            .chain(workload.more_targets.iter().map(PathBuf::as_path))
            .collect()
    }
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
    crew: Hands<'a>,
}

/// Who does it.
enum Hands<'a> {
    /// This process alone.
    Own(Box<Crew<'static>>),
    /// Several, whom the caller mustered.
    Lent(&'a Crew<'a>),
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
            imported: None,
            search: None,
            sweep: None,
        };
        Self {
            record,
            options,
            started: now(),
            test_started: None,
            listener,
            save,
            crew: Hands::Own(Box::new(Crew::alone())),
        }
    }

    /// Over the processes of `crew` instead of this one alone.
    #[must_use]
    pub fn over(mut self, crew: &'a Crew<'a>) -> Self {
        self.crew = Hands::Lent(crew);
        self
    }

    fn crew(&self) -> &Crew<'a> {
        match &self.crew {
            Hands::Own(crew) => crew,
            Hands::Lent(crew) => crew,
        }
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
        let placement = self.crew().placement(plan.workload.ranks);
        let workload = plan.workload.placed(&placement).prepared();
        workload.check()?;
        dealing::check(&workload, &placement)?;
        let scene = self.look(plan, workload, placement)?;
        for message in preflight::notices(scene.environment(), &scene.workload) {
            self.emit(&Event::Notice { message });
        }
        if self.record.tests.is_empty() {
            self.record.environment = scene.environment().clone();
        }
        let mount_point =
            |environment: &Environment| environment.target.as_ref().map(|m| m.mount_point.clone());
        let elsewhere = mount_point(scene.environment()) != mount_point(&self.record.environment);
        let summary = scene.workload.summary();
        self.emit(&Event::TestStarted {
            test: plan.name.clone(),
            summary: summary.clone(),
            repetitions: scene.workload.repetitions,
        });
        self.record.tests.push(TestRecord {
            name: plan.name.clone(),
            test: plan.test.clone(),
            target: plan.target.clone(),
            summary,
            workload: serde_json::to_value(&scene.workload)
                .map_err(|error| Fault::new(Kind::Bug, format!("cannot express the workload: {error}")))?,
            pcores: plan.pcores,
            equivalence: plan.equivalence.clone(),
            environment: elsewhere.then(|| scene.environment().clone()),
            hosts: scene.hosts(),
            held_memory: None,
            repetitions: Vec::new(),
            checks: Vec::new(),
        });
        let outcome = self.repeat_all(scene);
        let ended = self.crew().order(Order::End).map(drop);
        let left_out = self.left_out(&plan.workload.prepared());
        if let Some(test) = self.record.tests.last_mut() {
            test.checks = belief::test_checks(test);
            test.checks.extend(left_out);
        }
        let outcome = outcome.and(ended);
        if self.record.has_begun() { outcome.and(self.save()) } else { outcome }
    }

    /// Has every process take its part, and makes sure that all of them see the same storage.
    fn look<'p>(&self, plan: &'p TestPlan, workload: Workload, placement: Placement) -> Result<Scene<'p>> {
        let crew = self.crew();
        let seat = |process: usize| {
            let block = placement.block(process);
            let first_on_host = placement.on_host(placement.host_of(process)).next() == Some(process);
            Seat {
                ranks: (block.first, block.count, block.all),
                before_on_host: placement.before_on_host(process),
                holds: first_on_host,
            }
        };
        let lead = placement.lead();
        let seating = Seating {
            workload: workload.clone(),
            targets: plan.targets(&workload).into_iter().map(Path::to_owned).collect(),
            seats: (0..placement.processes()).map(seat).collect(),
            lead: lead as u32,
            expect_file_system: plan.expect_file_system.clone(),
            fill_beyond: self.options.fill_beyond,
        };
        let answers = crew.order(Order::Look(Box::new(seating)))?;
        crew.check_lost(self.options.allow_lost)?;
        let sight = |answer| match answer {
            Some(Answer::Sight(sight)) => *sight,
            _ => Sight::default(),
        };
        let sights: Vec<Sight> = answers.into_iter().map(sight).collect();
        let scene =
            Scene { plan, workload, placement, sights, engines: Vec::new(), uncounted_targets: false };
        if crew.is_several() {
            self.prove_shared(&scene)?;
        }
        Ok(scene)
    }

    /// The lead makes a directory in every target, and everybody else must find it there.
    fn prove_shared(&self, scene: &Scene) -> Result<()> {
        let crew = self.crew();
        let created = created(crew.order(Order::Show { run: self.record.id.clone() })?)?;
        let found = crew.order(Order::Find { sites: created.sites });
        let hidden = crew.order(Order::Hide);
        found.map_err(|fault| scene.other_storage(crew, fault))?;
        crew.check_lost(self.options.allow_lost)?;
        hidden.map(drop)
    }

    fn repeat_all(&mut self, mut scene: Scene) -> Result<()> {
        let begun = self.crew().order(Order::Begin)?;
        for answer in begun.into_iter().flatten() {
            let Answer::Begun(held, adds_up) = answer else { continue };
            scene.uncounted_targets |= !adds_up;
            let Some((held, message)) = held else { continue };
            let test = self.record.tests.last_mut();
            if let Some(test) = test.filter(|test| test.held_memory.is_none()) {
                test.held_memory = Some(held);
                self.emit(&Event::Notice { message });
            }
        }
        self.test_started = None;
        scene.engines = self.choose_engines(&scene)?;
        for number in 1..=scene.workload.repetitions {
            if self.is_over(&scene.workload) {
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
    fn choose_engines(&self, scene: &Scene) -> Result<Vec<Vec<Chosen>>> {
        let answers = self.crew().order(Order::Choose { run: self.record.id.clone() })?;
        let chosen = answers.into_iter().flatten().find_map(|answer| match answer {
            Answer::Engines(engines) => Some(engines),
            _ => None,
        });
        let mut engines = chosen.ok_or_else(out_of_step)?;
        scene.check_engines(&mut engines)?;
        Ok(engines)
    }

    /// One pass over the phases, in a directory of its own.
    fn repeat(&mut self, scene: &Scene, number: u32) -> Result<()> {
        let workload = &scene.workload;
        let id = format!("{}-{}-{number}", self.record.id, self.record.tests.len());
        let created = created(self.crew().order(Order::Create { id, repetition: number - 1 })?)?;
        for message in &created.notices {
            self.emit(&Event::Notice { message: message.clone() });
        }
        let joined = if self.crew().is_several() {
            let sites = created.sites.clone();
            self.crew().order(Order::Join { sites, repetition: number - 1 }).map(drop)
        } else {
            Ok(())
        };
        let outcome = joined.and_then(|()| {
            if let Some(test) = self.record.tests.last_mut() {
                test.repetitions.push(Repetition { number, phases: Vec::new(), removed_ns: None });
            }
            // Saved before anything is measured: a killed run is in the list, and an unwritable place for records shows now.
            self.save().and_then(|()| self.run_phases(scene, number, created.found))
        });
        let named = workload.files.named.as_ref();
        let damaged = named.is_some_and(|named| named.keep_damaged)
            && self.results().iter().any(|phase| phase.verify_failures > 0);
        let keep = (self.options.keep_files && number == workload.repetitions) || damaged;
        let began = now();
        let removed = self.remove(scene, keep);
        if removed.is_ok() && !keep && !named.is_some_and(|named| named.keep) {
            let took = now() - began;
            if let Some(last) = self.record.tests.last_mut().and_then(|test| test.repetitions.last_mut()) {
                last.removed_ns = Some(took);
            }
        }
        both(outcome, removed)
    }

    /// What a repetition made goes, by the hand of one process, after the others have let go of it.
    fn remove(&self, scene: &Scene, keep: bool) -> Result<()> {
        let crew = self.crew();
        let placement = &scene.placement;
        let hosts_ranks = |process: &usize| placement.block(*process).count > 0 && crew.has(*process);
        let lead = placement.lead();
        let remover = if crew.has(lead) { Some(lead) } else { (0..placement.processes()).find(hosts_ranks) };
        let Some(remover) = remover.map(|process| process as u32) else { return Ok(()) };
        if crew.is_several() {
            crew.order(Order::Leave { remover })?;
        }
        crew.order(Order::Remove { remover, keep }).map(drop)
    }

    fn run_phases(&mut self, scene: &Scene, number: u32, found: Option<Vec<Bytes>>) -> Result<()> {
        let workload = &scene.workload;
        let mut shares = self.take_stock(workload, found)?;
        let mut writers = Writers::new(&scene.placement);
        for (phase, engines) in workload.phases.iter().zip(&scene.engines) {
            stop_if_asked()?;
            if self.is_over(workload) {
                break;
            }
            if workload.leaves_out(phase, self.results()) {
                self.emit(&Event::Notice {
                    message: format!("phase `{}` is left out: the one before was slow", phase.name),
                });
                continue;
            }
            self.test_started.get_or_insert_with(now);
            let phase = &workload.with_rates(phase, self.results())?.in_repetition(number - 1);
            let setting = PhaseSetting {
                scene,
                repetition: number,
                phase,
                engines,
                shares: &shares,
                writers: &writers,
                run_started: self.started,
                allow_lost: self.options.allow_lost,
            };
            let crew: &Crew<'_> = match &self.crew {
                Hands::Own(crew) => crew,
                Hands::Lent(crew) => crew,
            };
            let Ran { result, shares: after, outcome } =
                PhaseRun::new(&setting, crew, self.listener).run()?;
            shares = after;
            writers.remember(workload, phase);
            let interrupted = result.stopped_by == StopCause::Interrupted;
            self.keep(result)?;
            outcome?;
            if interrupted {
                return Err(interruption());
            }
        }
        Ok(())
    }

    /// What shares hold at first: what data files that were there before hold of them.
    fn take_stock(&mut self, workload: &Workload, found: Option<Vec<Bytes>>) -> Result<Vec<ShareState>> {
        let files = &workload.files;
        let Some(found) = found else { return Ok(vec![ShareState::default(); workload.ranks as usize]) };
        let all = found.iter().fold(Bytes::ZERO, |sum, share| sum + *share);
        let asked = files.total_size(workload.ranks);
        let overwrites = workload.overwrites();
        if all < asked && !overwrites {
            if workload.roams() || all == Bytes::ZERO {
                return Err(Fault::new(
                    Kind::Refused,
                    format!("the data files hold {all:#} of the {asked:#} that are to be read"),
                )
                .hint("use the block size, segments and ranks that they were written with"));
            }
            let message = format!("the data files hold {all:#} of {asked:#}: what is there is read");
            self.emit(&Event::Notice { message });
        }
        let state = |(owner, bytes): (u32, Bytes)| {
            let (share, complete) = (Share::default(), bytes == files.share_of(owner));
            share.remember_written(Written { bytes: bytes.get(), complete, in_order: true });
            share.state()
        };
        Ok((0..).zip(found).map(state).collect())
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
    if interrupt::requested().is_some() {
        return stopped_by_signal();
    }
    let message = "stopped by a signal to another process; what was measured so far is kept in the record";
    Fault::new(Kind::Interrupted, message)
}

/// What the lead made.
fn created(answers: Vec<Option<Answer>>) -> Result<Created> {
    let created = answers.into_iter().flatten().find_map(|answer| match answer {
        Answer::Created(created) => Some(created),
        _ => None,
    });
    created.ok_or_else(out_of_step)
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
