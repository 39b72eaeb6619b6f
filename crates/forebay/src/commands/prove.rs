use bench::prove::{Overrides, plans};

use super::{Context, Result, measure};
use crate::cli::Prove;

/// Runs a spec's tests and gives a verdict per requirement.
pub fn run(context: &Context, arguments: &Prove) -> Result {
    let document = spec::load(&arguments.spec)?;
    let overrides = Overrides {
        target: arguments.target.as_deref(),
        repetitions: arguments.repetitions.map(std::num::NonZero::get),
    };
    let planned = plans(&document, &overrides)?;
    for note in planned.iter().flat_map(|plan| &plan.notes) {
        context.printer.warn(note);
    }
    let tests: Vec<_> = planned.into_iter().map(|planned| planned.plan).collect();
    measure::measure_and_show(context, tests, &arguments.guards, &arguments.outputs, Some(&document))
}
