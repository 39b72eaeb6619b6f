//! Searches: the same test at one load after the other, all in one record.

use bench::search::{Goal, search};
use bench::{Options, Session, TestPlan};
use fault::{Fault, Kind};
use record::{Event, Listener, Load, RunRecord, RunState};

use super::watching::Watching;
use super::{Context, Result, ending, measure};
use crate::cli::{Guards, Outputs, Raised, Searching, SloLoad};

/// The most ranks or I/Os in flight that are tried.
const MOST: u32 = 256;
/// The most repetitions.
const MOST_REPETITIONS: u32 = 25;

/// What the flags ask for.
pub fn goal(flags: &Searching) -> Option<Goal> {
    let most = flags.at_most.map_or(MOST, std::num::NonZero::get);
    if let Some(raised) = flags.saturate {
        let load = match raised {
            Raised::Ranks => Load::Ranks,
            Raised::Depth => Load::QueueDepth,
        };
        return Some(Goal::Saturation { load, most });
    }
    if let Some(target) = flags.slo {
        let load = match flags.slo_over {
            SloLoad::Rate => Load::OperationsPerSecond,
            SloLoad::Depth => Load::QueueDepth,
        };
        return Some(Goal::LatencyTarget {
            load,
            percentile: target.percentile,
            target: target.latency,
            most,
        });
    }
    flags.until_steady.map(|within| Goal::SteadyState {
        windows: flags.steady_runs.get() as usize,
        within: within.get(),
        most: flags.at_most.map_or(MOST_REPETITIONS, std::num::NonZero::get) as usize,
    })
}

/// Runs a search where `flags` ask for one, else the plans as they are.
pub fn measure_and_show(
    context: &Context,
    mut plans: Vec<TestPlan>,
    flags: &Searching,
    guards: &Guards,
    outputs: &Outputs,
) -> Result {
    let Some(goal) = goal(flags) else {
        return measure::measure_and_show(context, plans, guards, outputs, measure::Judge::default());
    };
    let (Some(mut plan), None) = (plans.pop(), plans.pop()) else {
        return Err(Fault::new(Kind::Usage, "a search raises the load of one test, and there are several")
            .hint("keep one of them")
            .into());
    };
    if let Some(expected) = &guards.expect_file_system {
        plan.expect_file_system = Some(expected.clone());
    }
    let store = context.settings.store()?;
    let mut watching = Watching::start(&context.printer, outputs)?;
    let mut series = Series { listener: &mut watching, started: false };
    let mut run = |before: Option<RunRecord>, plan: &TestPlan| {
        let options = Options {
            keep_files: guards.keep_files,
            fill_beyond: guards.fill_beyond,
            label: outputs.label.clone(),
            allow_lost: context.allow_lost,
        };
        let mut save = |record: &RunRecord| store.save(record).map(|_| ());
        let mut session = Session::new(context.settings.command.clone(), options, &mut series, &mut save);
        if let Some(crew) = context.crew {
            session = session.over(crew);
        }
        continued(session, before, plan)
    };
    let (record, outcome) = search(&plan, &goal, flags.search_phase.as_deref(), &mut run)?;
    let ended = Event::RunFinished { run: record.id.clone(), elapsed_ns: record.elapsed_ns };
    watching.on_event(&ended);
    drop(watching);
    if !record.has_begun() {
        return measure::finish(None, outcome, |_| Ok(crate::exit::Outcome::Done));
    }
    store.save(&record)?;
    measure::finish(Some(&record), outcome, |record| ending::show(context, record, outputs))
}

/// Runs `plan` as a further test of a run.
fn continued(
    mut session: Session<'_>,
    before: Option<RunRecord>,
    plan: &TestPlan,
) -> (RunRecord, fault::Result<()>) {
    let (tests, offset) = before.as_ref().map_or((0, 0), |record| (record.tests.len(), record.elapsed_ns));
    if let Some(before) = before {
        session.record = RunRecord { state: RunState::Running, ..before };
    }
    let (mut record, outcome) = session.run(std::slice::from_ref(plan));
    // Times count from the start of the whole run.
    for phase in record.tests[tests..]
        .iter_mut()
        .flat_map(|test| &mut test.repetitions)
        .flat_map(|own| &mut own.phases)
    {
        phase.started_ns += offset;
    }
    record.elapsed_ns += offset;
    (record, outcome)
}

/// Shows a series of sessions as one run.
struct Series<'a> {
    listener: &'a mut dyn Listener,
    started: bool,
}

impl Listener for Series<'_> {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::RunFinished { .. } => return,
            Event::RunStarted { .. } if self.started => return,
            _ => self.started = true,
        }
        self.listener.on_event(event);
    }
}
