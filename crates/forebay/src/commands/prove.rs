use std::path::Path;

use ::plan::{Calibration, Guards};
use bench::prove::{Overrides, plans};
use fault::{Fault, Kind};
use record::DesignSheet;

use super::measure::Judge;
use super::{Context, Result, measure};
use crate::cli::Prove;
use crate::design;
use crate::failure::Failure;
use crate::settings::Settings;

/// Runs a spec's tests and gives a verdict per requirement.
pub fn run(context: &Context, arguments: &Prove) -> Result {
    let document = spec::load(&arguments.spec)?;
    let design = arguments.design.as_deref().map(|path| evaluated(context, path, &document)).transpose()?;
    let overrides = Overrides {
        target: arguments.target.as_deref(),
        repetitions: arguments.repetitions.map(std::num::NonZero::get),
    };
    let planned = plans(&document, &overrides)?;
    for note in planned.iter().flat_map(|plan| &plan.notes) {
        context.printer.warn(note);
    }
    let mut tests: Vec<_> = planned.into_iter().map(|planned| planned.plan).collect();
    for test in &mut tests {
        context.spread(&mut test.workload);
        test.pcores = context.pcores(test.pcores);
    }
    let judge = Judge { document: Some(&document), design, sweep: None };
    measure::measure_and_show(context, tests, &arguments.guards, &arguments.outputs, judge)
}

/// The design of a file with its limits, which must be one for at least a storage of the spec.
pub fn evaluated(
    context: &Context,
    path: &Path,
    document: &spec::Document,
) -> std::result::Result<DesignSheet, Failure> {
    let catalog = Settings::catalog(None)?;
    let file = design::load(path)?;
    file.check_names(path, &catalog)?;
    let calibration = Calibration::of(&catalog);
    let constraints = &document.spec.constraints;
    let evaluation = ::plan::evaluate(&catalog, &file.design, constraints, &Guards::default(), &calibration)?;
    let sheet = ::plan::sheet(&evaluation)?;
    let designed = |name: &str| sheet.storages.iter().any(|storage| storage.name == name);
    let missing: Vec<&str> = document
        .spec
        .storage
        .iter()
        .map(|storage| storage.name.as_str())
        .filter(|name| !designed(name))
        .collect();
    let names = || spec::quoted(sheet.storages.iter().map(|storage| storage.name.as_str()));
    let lacking = || spec::quoted(missing.iter().copied());
    if missing.len() == document.spec.storage.len() {
        let message = format!("the design in `{}` has no storage called {}", path.display(), lacking());
        return Err(Fault::new(Kind::Spec, message).hint(format!("it has {}", names())).into());
    }
    if !missing.is_empty() {
        context.printer.warn(format!("the design has no storage called {}: not compared", lacking()));
    }
    Ok(sheet)
}
