//! What systems reach of their limits, learnt from runs.

mod ledger;
mod measured;

use std::path::Path;

use ::catalog::{Catalog, Table};
use fault::{Fault, Kind};
use plan::{Calibration, Guards};
use record::{DesignSheet, RunRecord};
use serde_json::json;
use spec::Constraints;

use self::ledger::{Entry, Ledger};
use self::measured::LeftOut;
use crate::cli::CalibrateFacts;
use crate::commands::{Context, Result};
use crate::design;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::settings::Settings;

/// Fits factors to the runs and writes them.
pub fn calibrate(context: &Context, arguments: &CalibrateFacts) -> Result {
    let dir = Settings::overlay(arguments.to.as_deref())?;
    let catalog = Settings::catalog_with(&dir)?;
    let design = arguments.design.as_deref().map(|path| sheet(path, &catalog)).transpose()?;
    let store = context.settings.store()?;
    let (mut ratios, mut left_out) = (Vec::new(), Vec::new());
    for name in &arguments.runs {
        let mut run = store.load(name)?;
        if let Some(design) = &design {
            run.design = Some(design.clone());
        }
        let (found, without) = measured::of(&with_design(run)?);
        ratios.extend(found);
        left_out.extend(without);
    }
    if ratios.is_empty() {
        return Err(nothing(context, &left_out).into());
    }
    let mut ledger = Ledger::of(&catalog)?;
    let entries = ledger.learn(&ratios, &catalog);
    ::catalog::update(&dir, Table::Calibration, &ledger.rows(&entries, &today()))?;
    let document = json!({
        "path": dir.join("calibration.csv"),
        "factors": entries,
        "left_out": left_out,
    });
    context.printer.document("calibration", &document, || text(&entries, &left_out))?;
    context.printer.say(format!("wrote {}", dir.join("calibration.csv").display()));
    Ok(Outcome::Done)
}

fn today() -> String {
    record::timestamp().split('T').next().unwrap_or_default().to_owned()
}

fn with_design(run: RunRecord) -> fault::Result<RunRecord> {
    if run.design.is_some() {
        return Ok(run);
    }
    Err(Fault::new(
        Kind::Usage,
        format!("run `{}` does not know by which design its storage was built", run.id),
    )
    .hint("name the design with `--design design.toml`; `forebay prove --design` keeps it in the record"))
}

/// A design file, evaluated: its limits are what was measured is held against.
fn sheet(path: &Path, catalog: &Catalog) -> std::result::Result<DesignSheet, Failure> {
    let document = design::load(path)?;
    document.check_names(path, catalog)?;
    let (constraints, guards, factors) =
        (Constraints::default(), Guards::default(), Calibration::of(catalog));
    let evaluation = ::plan::evaluate(catalog, &document.design, &constraints, &guards, &factors)?;
    Ok(::plan::sheet(&evaluation)?)
}

fn nothing(context: &Context, left_out: &[LeftOut]) -> Fault {
    for one in left_out {
        context.printer.say(one);
    }
    Fault::new(Kind::Refused, "no result of these runs can calibrate a plan; nothing was changed")
        .hint("a run is needed whose requirements were measured, whose checks passed, and that read more than the servers' memory holds")
}

fn text(entries: &[Entry], left_out: &[LeftOut]) -> String {
    let factors = entries.iter().map(ToString::to_string);
    factors.chain(left_out.iter().map(ToString::to_string)).collect::<Vec<_>>().join("\n")
}
