use serde_json::json;

use super::{Context, Result};
use crate::cli::Check;
use crate::exit::Outcome;

/// Says whether a spec is right; its problems are the error.
pub fn check(context: &Context, arguments: &Check) -> Result {
    let document = spec::load(&arguments.spec)?;
    let spec = &document.spec;
    let data = json!({
        "path": document.path,
        "grid": spec.grid.name,
        "storage": spec.storage.iter().map(|storage| &storage.name).collect::<Vec<_>>(),
        "tests": spec.test.iter().map(|test| &test.name).collect::<Vec<_>>(),
    });
    context.printer.document("spec_check", &data, || {
        format!(
            "{}: grid `{}`, {}, {}",
            document.path.display(),
            spec.grid.name,
            counted(spec.storage.len(), "storage requirement"),
            counted(spec.test.len(), "test"),
        )
    })?;
    Ok(Outcome::Done)
}

/// Prints the JSON Schema; it is a document of its own, without an envelope, so that editors can read it.
pub fn schema(context: &Context) -> Result {
    context.printer.data(format!("{:#}", spec::schema()))?;
    Ok(Outcome::Done)
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
