mod export;
mod list;
mod published;
mod report;

use fault::Fault;

use super::{Context, Result};
use crate::cli::{Compare, Remove, Show};
use crate::exit::Outcome;

pub use export::{export, no_matrix};
pub use list::list;
pub use report::report;

/// Shows one run.
pub fn show(context: &Context, arguments: &Show) -> Result {
    let record = context.settings.store()?.load(&arguments.run)?;
    context.printer.document("run", &record, || console::summary(&record))?;
    Ok(Outcome::Done)
}

/// Compares two runs.
pub fn compare(context: &Context, arguments: &Compare) -> Result {
    let Some(run) = &arguments.run else { return published::beside(context, arguments) };
    let store = context.settings.store()?;
    let (baseline, run) = (store.load(&arguments.baseline)?, store.load(run)?);
    let comparison = if arguments.force {
        record::compare_anyway(&baseline, &run)
    } else {
        record::compare(&baseline, &run)?
    };
    context.printer.document("comparison", &comparison, || console::comparison(&comparison))?;
    Ok(Outcome::Done)
}

/// Removes the named runs. One that can't be removed does not keep the others; each is told.
pub fn remove(context: &Context, arguments: &Remove) -> Result {
    let store = context.settings.store()?;
    let mut removed = Vec::new();
    let mut failure: Option<Fault> = None;
    for id in &arguments.runs {
        match store.remove(id) {
            Ok(()) => removed.push(id),
            Err(fault) => {
                if let Some(earlier) = failure.replace(fault) {
                    context.printer.fault(&earlier);
                }
            }
        }
    }
    let lines = || removed.iter().map(|id| format!("removed {id}")).collect::<Vec<_>>().join("\n");
    match (failure, removed.is_empty()) {
        (Some(last), true) => Err(last.into()),
        (Some(last), false) => {
            context.printer.fault(&last);
            context.printer.items("runs_removed", &removed, lines)?;
            Ok(Outcome::Partial)
        }
        (None, _) => {
            context.printer.items("runs_removed", &removed, lines)?;
            Ok(Outcome::Done)
        }
    }
}
