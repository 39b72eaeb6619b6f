use ::catalog::{Catalog, Change, Difference};
use console::paint;
use serde_json::json;

use crate::cli::DiffFacts;
use crate::commands::{Context, Result};
use crate::exit::Outcome;

/// Shows what a directory changes, or how two differ.
pub fn diff(context: &Context, arguments: &DiffFacts) -> Result {
    let (old, new) = match &arguments.other {
        None => (Catalog::embedded()?, Catalog::load(&arguments.dir)?),
        Some(other) => (Catalog::load(&arguments.dir)?, Catalog::load(other)?),
    };
    let found = old.diff(&new);
    let shown: Vec<_> = found.iter().map(as_json).collect();
    context.printer.items("differences", &shown, || {
        if found.is_empty() {
            return "no difference".to_owned();
        }
        found.iter().map(lines).collect::<Vec<_>>().join("\n")
    })?;
    Ok(Outcome::Done)
}

fn lines(difference: &Difference) -> String {
    let head = format!("{} {}", difference.table, difference.key);
    match &difference.change {
        Change::Added(row) => format!("{} {head} ({}:{})", paint::good("+"), row.origin.file, row.line),
        Change::Removed(_) => format!("{} {head}", paint::bad("-")),
        Change::Changed(cells) => {
            let known = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
            let cell = cells
                .iter()
                .map(|cell| format!("    {}: {} -> {}", cell.column, known(&cell.old), known(&cell.new)));
            let head = format!("{} {head}", paint::note("~"));
            [head].into_iter().chain(cell).collect::<Vec<_>>().join("\n")
        }
    }
}

fn as_json(difference: &Difference) -> serde_json::Value {
    let (change, cells) = match &difference.change {
        Change::Added(_) => ("added", Vec::new()),
        Change::Removed(_) => ("removed", Vec::new()),
        Change::Changed(cells) => ("changed", cells.clone()),
    };
    let known = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let cells: Vec<_> = cells
        .iter()
        .map(|cell| json!({ "column": cell.column, "old": known(&cell.old), "new": known(&cell.new) }))
        .collect();
    json!({ "table": difference.table.to_string(), "key": difference.key, "change": change, "cells": cells })
}
