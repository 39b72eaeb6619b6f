//! What every command that measures does: run the tests, keep the record at every step, and end with the verdict.

use bench::{Options, Session, TestPlan};
use fault::Fault;
use record::{DesignSheet, Listener, RunRecord, RunState, SpecDocument, SweepPoint};
use spec::Document;

use super::watching::Watching;
use super::{Context, Result, ending};
use crate::cli::{Guards, Outputs};

/// What a run is judged by.
#[derive(Debug, Default)]
pub struct Judge<'a> {
    /// The spec with its requirements.
    pub document: Option<&'a Document>,
    /// The design the storage was built by.
    pub design: Option<DesignSheet>,
    /// The point of a sweep that it is.
    pub sweep: Option<SweepPoint>,
}

/// Runs `plans` and keeps the record, with a verdict per requirement when they come from a spec. An early end comes
/// back too; the record is `None` when nothing was measured yet.
pub fn measure(
    context: &Context,
    plans: Vec<TestPlan>,
    guards: &Guards,
    outputs: &Outputs,
    judge: Judge<'_>,
) -> fault::Result<(Option<RunRecord>, fault::Result<()>)> {
    measure_for(context, plans, guards, outputs, judge, None)
}

/// The same, with one more who reads the events.
pub fn measure_for(
    context: &Context,
    mut plans: Vec<TestPlan>,
    guards: &Guards,
    outputs: &Outputs,
    judge: Judge<'_>,
    reader: Option<Box<dyn Listener + '_>>,
) -> fault::Result<(Option<RunRecord>, fault::Result<()>)> {
    let store = context.settings.store()?;
    if let Some(expected) = &guards.expect_file_system {
        plans.iter_mut().for_each(|plan| plan.expect_file_system = Some(expected.clone()));
    }
    let options = Options {
        keep_files: guards.keep_files,
        fill_beyond: guards.fill_beyond,
        label: outputs.label.clone(),
        allow_lost: context.allow_lost,
    };
    let mut watching = Watching::start(&context.printer, outputs)?.and(reader);
    let mut save = |record: &RunRecord| store.save(record).map(|_| ());
    let mut session = Session::new(context.settings.command.clone(), options, &mut watching, &mut save);
    if let Some(crew) = context.crew {
        session = session.over(crew);
    }
    let Judge { document, design, sweep } = judge;
    session.record.design = design;
    session.record.sweep = sweep;
    session.record.spec = document.map(|document| SpecDocument {
        path: document.path.clone(),
        text: document.text.clone(),
        grid: document.spec.grid.name.clone(),
    });
    let (mut record, outcome) = session.run(&plans);
    if !record.has_begun() {
        return Ok((None, outcome));
    }
    if let Some(document) = document {
        record.requirements = bench::prove::verdicts(document, &record);
    }
    store.save(&record)?;
    Ok((Some(record), outcome))
}

/// Runs `plans` and shows what came of it.
pub fn measure_and_show(
    context: &Context,
    plans: Vec<TestPlan>,
    guards: &Guards,
    outputs: &Outputs,
    judge: Judge<'_>,
) -> Result {
    let (record, outcome) = measure(context, plans, guards, outputs, judge)?;
    finish(record.as_ref(), outcome, |record| ending::show(context, record, outputs))
}

/// Shows what was measured, if anything was; a failure is the command's failure in every case.
pub fn finish(
    record: Option<&RunRecord>,
    outcome: fault::Result<()>,
    show: impl FnOnce(&RunRecord) -> Result,
) -> Result {
    let Some(record) = record else { return Err(early(outcome).into()) };
    let shown = show(record);
    match outcome {
        Err(fault) if record.state == RunState::Failed => Err(fault.into()),
        _ => shown,
    }
}

fn early(outcome: fault::Result<()>) -> Fault {
    outcome.err().unwrap_or_else(|| {
        Fault::new(fault::Kind::Spec, "there is nothing to run").hint("add a `[[test]]` to the spec")
    })
}
