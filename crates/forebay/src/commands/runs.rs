mod export;
mod list;
mod pending;
mod report;

use super::{Context, Result};
use crate::cli::{Compare, Remove, Show};
use crate::exit::Outcome;

pub use export::export;
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
    let store = context.settings.store()?;
    let (_baseline, _run) = (store.load(&arguments.baseline)?, store.load(&arguments.run)?);
    Err(fault::Fault::new(fault::Kind::Unsupported, "comparing is not built yet").into())
}

/// Removes the named runs; goes on after one that can't be removed, and says so.
pub fn remove(context: &Context, arguments: &Remove) -> Result {
    let store = context.settings.store()?;
    let (mut removed, mut failed) = (Vec::new(), Vec::new());
    for id in &arguments.runs {
        match store.remove(id) {
            Ok(()) => removed.push(id),
            Err(fault) => failed.push(fault),
        }
    }
    let gone = removed.len();
    if gone == 0 && failed.len() == 1 {
        return Err(failed.remove(0).into());
    }
    failed.iter().for_each(|fault| context.printer.fault(fault));
    context.printer.items("runs_removed", &removed, || {
        removed.iter().map(|id| format!("removed {id}\n")).collect()
    })?;
    match (gone, failed.first()) {
        (_, None) => Ok(Outcome::Done),
        (0, Some(_)) => Err(failed.remove(0).into()),
        (_, Some(_)) => Ok(Outcome::Partial),
    }
}
