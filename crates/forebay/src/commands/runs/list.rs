use std::time::Duration;

use console::{Align, Cell, Table};
use record::{RunState, Summary, Validity};
use units::format_duration;

use crate::cli::List;
use crate::commands::{Context, Result};
use crate::exit::Outcome;

/// Lists the runs, newest first.
pub fn list(context: &Context, arguments: &List) -> Result {
    let store = context.settings.store()?;
    let mut runs = store.list()?;
    runs.reverse();
    runs.truncate(arguments.limit.unwrap_or(usize::MAX));
    if runs.is_empty() {
        context.printer.say(format!("no runs in {}", store.directory().display()));
        if !context.printer.format().is_json() {
            return Ok(Outcome::Done);
        }
    }
    context.printer.items("runs", &runs, || table(&runs).to_string())?;
    for (id, why) in runs.iter().filter_map(|run| Some((&run.id, run.damaged.as_ref()?))) {
        context.printer.warn(format!("run {id}: {why}"));
    }
    Ok(Outcome::Done)
}

fn table(runs: &[Summary]) -> Table {
    let mut table = Table::new([
        ("run", Align::Left),
        ("label", Align::Left),
        ("grid", Align::Left),
        ("tests", Align::Left),
        ("host", Align::Left),
        ("took", Align::Right),
        ("state", Align::Left),
        ("numbers", Align::Left),
        ("requirement", Align::Left),
    ]);
    for run in runs {
        table.row([
            Cell::new(&run.id),
            Cell::new(or_dash(run.label.as_deref())),
            Cell::new(or_dash(run.grid.as_deref())),
            Cell::new(or_dash(Some(&run.tests.join(", ")))),
            Cell::new(or_dash(Some(&run.hostname))),
            Cell::new(format_duration(Duration::from_nanos(run.elapsed_ns))),
            state(run),
            numbers(run),
            requirement(run),
        ]);
    }
    table
}

fn or_dash(text: Option<&str>) -> &str {
    text.filter(|text| !text.is_empty()).unwrap_or("-")
}

fn state(run: &Summary) -> Cell {
    match run.state {
        Some(RunState::Complete) => Cell::new(run.state_word()),
        Some(RunState::Running) if !run.killed => Cell::note(run.state_word()),
        _ => Cell::bad(run.state_word()),
    }
}

fn numbers(run: &Summary) -> Cell {
    match run.validity {
        None => Cell::new("-"),
        Some(Validity::Valid) => Cell::good(Validity::Valid.words()),
        Some(Validity::ValidWithNotes) => Cell::note(Validity::ValidWithNotes.words()),
        Some(Validity::NotValid) => Cell::bad(Validity::NotValid.words()),
    }
}

fn requirement(run: &Summary) -> Cell {
    match run.met {
        None => Cell::new("-"),
        Some(true) => Cell::good("met"),
        Some(false) => Cell::bad("not met"),
    }
}
