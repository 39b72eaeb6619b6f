use fault::{Fault, Kind};
use record::RunRecord;
use serde_json::{Map, Value};

use crate::cli::{Export, ExportAs};
use super::pending as report;
use crate::commands::{Context, Result, files};
use crate::exit::Outcome;

/// Writes a run for other programs.
pub fn export(context: &Context, arguments: &Export) -> Result {
    let record = context.settings.store()?.load(&arguments.run)?;
    let text = shaped(&record, arguments.shape)?;
    match &arguments.output {
        Some(path) => files::write(context, "export_written", path, &text)?,
        None => context.printer.data(text)?,
    }
    Ok(Outcome::Done)
}

fn shaped(record: &RunRecord, shape: ExportAs) -> fault::Result<String> {
    match shape {
        ExportAs::Csv => report::phases_csv(record),
        ExportAs::SeriesCsv => report::series_csv(record),
        ExportAs::Jsonl => flat_objects(&report::phases_csv(record)?),
        ExportAs::SeriesJsonl => flat_objects(&report::series_csv(record)?),
        ExportAs::Json => serde_json::to_string_pretty(record).map_err(unreadable),
    }
}

/// The same rows and column names as the CSV, one JSON object a line; empty cells are null.
fn flat_objects(table: &str) -> fault::Result<String> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let names = reader.headers().map_err(unreadable)?.clone();
    let mut lines = String::new();
    for row in reader.records() {
        let row = row.map_err(unreadable)?;
        let object: Map<String, Value> =
            names.iter().zip(&row).map(|(name, cell)| (name.to_owned(), value(cell))).collect();
        lines.push_str(&Value::Object(object).to_string());
        lines.push('\n');
    }
    Ok(lines)
}

fn value(cell: &str) -> Value {
    match cell {
        "" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => text.parse().map_or_else(|_| text.into(), Value::Number),
    }
}

fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> Fault {
    Fault::new(Kind::Bug, format!("cannot write the run as JSON: {error}")).caused_by(error)
}
