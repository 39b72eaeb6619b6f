//! A design somebody has: what it should deliver, and what its money buys today.

use ::plan::{Evaluation, Options};
use catalog::Catalog;
use console::DesignCheck;
use spec::{Constraints, Spec};
use units::Money;

use crate::cli::CheckDesign;
use crate::commands::{Context, Result};
use crate::design::{self, DesignDocument};
use crate::exit::Outcome;
use crate::question::{self, impossible};
use crate::settings::Settings;

/// Steps by which the largest rate for the same money is narrowed down: 2^-10 of a doubling is a tenth of a percent.
const STEPS: u32 = 10;
/// Doublings tried first.
const DOUBLINGS: u32 = 6;

/// Evaluates a design.
pub fn run(context: &Context, arguments: &CheckDesign) -> Result {
    let catalog = Settings::catalog(arguments.facts.catalog.as_deref())?;
    let document = design::load(&arguments.design)?;
    document.check_names(&arguments.design, &catalog)?;
    let mut spec = asked(&document);
    let options = question::judge(&catalog, &mut spec, &arguments.judging);
    let now = ::plan::evaluate(
        &catalog,
        &document.design,
        &spec.constraints,
        &options.guards,
        &options.calibration,
    )?;
    let check = checked(&catalog, &spec, &options, &now)?;
    let name = arguments.design.display().to_string();
    context.printer.document("design_check", &check, || console::design_check(&name, &check))?;
    Ok(if check.met { Outcome::Done } else { Outcome::NotMet })
}

/// The question that the design answers, in its own region.
fn asked(document: &DesignDocument) -> Spec {
    let design = &document.design;
    Spec {
        version: spec::VERSION,
        grid: design.grid.clone(),
        storage: design.storage.iter().map(|storage| storage.requirement.clone()).collect(),
        constraints: Constraints {
            clouds: vec![design.place.cloud],
            regions: vec![design.place.region.clone()],
            commitment: design.place.commitment,
            ..Constraints::default()
        },
        test: Vec::new(),
        sweep: Vec::new(),
    }
}

fn checked(
    catalog: &Catalog,
    spec: &Spec,
    options: &Options,
    now: &Evaluation,
) -> fault::Result<DesignCheck> {
    let mut design = ::plan::sheet(now)?;
    design.upgrade = ::plan::upgrade(catalog, now, &spec.constraints, options)?;
    let cheapest = ::plan::search(catalog, spec, options)?.ranked.into_iter().next();
    let most = most_for(catalog, spec, options, now)?.filter(|most| most.delivered() > now.delivered());
    Ok(DesignCheck {
        met: now.holds(),
        design,
        cheapest: cheapest.as_ref().map(::plan::sheet).transpose()?,
        most: most.as_ref().map(::plan::sheet).transpose()?,
    })
}

/// The design with the largest rates whose storage and whole cost no more than this one's.
fn most_for(
    catalog: &Catalog,
    spec: &Spec,
    options: &Options,
    now: &Evaluation,
) -> fault::Result<Option<Evaluation>> {
    let (Some(storage), Some(all)) = (now.storage_per_month(), now.per_month()) else { return Ok(None) };
    let affordable = |design: &Evaluation| {
        let within = |cost: Option<Money>, most: Money| cost.is_some_and(|cost| cost <= most);
        within(design.storage_per_month(), storage) && within(design.per_month(), all)
    };
    let at = |factor: f64| -> fault::Result<Option<Evaluation>> {
        let plan = ::plan::search(catalog, &impossible::faster(spec, factor), options)?;
        Ok(plan.ranked.into_iter().find(affordable))
    };
    let (mut low, mut high) = (0.0, 1.0);
    let mut best = None;
    for _ in 0..DOUBLINGS {
        let Some(found) = at(high)? else { break };
        best = Some(found);
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        match at(middle)? {
            Some(found) => {
                best = Some(found);
                low = middle;
            }
            None => high = middle,
        }
    }
    Ok(best)
}
