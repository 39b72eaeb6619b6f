//! A run's figures beside published results of the same test and operation.

mod figures;
mod shown;

use ::catalog::Catalog;
use fault::{Fault, Kind};
use record::RunRecord;
use serde::Serialize;

use self::figures::Figure;
use self::shown::Beside;
use crate::cli::Compare;
use crate::commands::{Context, Result};
use crate::exit::Outcome;
use crate::settings::Settings;

/// One run beside what studies have published.
#[derive(Debug, Serialize)]
struct Comparison {
    run: String,
    figures: Vec<Compared>,
    /// What to know when reading the figures.
    notes: Vec<String>,
}

/// A figure of the run with the published ones.
#[derive(Debug, Serialize)]
struct Compared {
    #[serde(flatten)]
    figure: Figure,
    published: Vec<Beside>,
}

/// Compares one run with what is published.
pub fn beside(context: &Context, arguments: &Compare) -> Result {
    let run = context.settings.store()?.load(&arguments.baseline)?;
    let catalog = Settings::catalog(arguments.facts.catalog.as_deref())?;
    if let Some(test) = &arguments.test {
        known(&catalog, test)?;
    }
    let comparison = compared(&run, &catalog, arguments.test.as_deref());
    if comparison.figures.iter().all(|figure| figure.published.is_empty()) {
        return Err(Fault::new(
            Kind::NotFound,
            format!("nothing is published that run `{}` could be compared with", run.id),
        )
        .hint("`forebay catalog list published` shows what there is; `--test` chooses among it")
        .into());
    }
    context.printer.document("published_comparison", &comparison, || shown::text(&comparison))?;
    Ok(Outcome::Done)
}

fn compared(run: &RunRecord, catalog: &Catalog, test: Option<&str>) -> Comparison {
    let figures = figures::of(run, test).into_iter().map(|figure| {
        let published = shown::published(catalog, &figure);
        Compared { figure, published }
    });
    let mut notes = vec![
        "results of other systems, sizes and years: a ratio says how this run stands to them, not which is better".to_owned(),
    ];
    for test in run.tests.iter().filter(|test| test.validity() == record::Validity::NotValid) {
        notes.push(format!(
            "test `{}` of this run is not valid: do not conclude anything from its figures",
            test.name
        ));
    }
    Comparison { run: run.id.clone(), figures: figures.collect(), notes }
}

/// Fails when no published result is of this test.
fn known(catalog: &Catalog, test: &str) -> fault::Result<()> {
    let mut tests: Vec<&str> = catalog.published.iter().map(|result| &*result.test).collect();
    tests.sort_unstable();
    tests.dedup();
    if tests.contains(&test) {
        return Ok(());
    }
    let hint = match spec::nearest(test, tests.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are results of {}", spec::quoted(tests.iter().copied())),
    };
    Err(Fault::new(Kind::Usage, format!("no published result is of a test `{test}`")).hint(hint))
}
