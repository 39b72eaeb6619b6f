use fault::{Fault, Kind};
use record::RunRecord;
use serde_json::{Map, Value};

use crate::cli::{Export, ExportAs};
use crate::commands::{Context, Result, files};
use crate::exit::Outcome;

/// Columns that hold words, even where a word looks like a number.
const WORDS: [&str; 7] = ["run", "test", "phase", "operation", "engine", "validity", "limited_by"];

/// Writes a run for other programs.
pub fn export(context: &Context, arguments: &Export) -> Result {
    let record = context.settings.store()?.load(&arguments.run)?;
    let text = shaped(&record, arguments.shape)?;
    match &arguments.output {
        Some(path) => files::write_as_result(context, "export_written", path, &text)?,
        None => context.printer.data(text)?,
    }
    Ok(Outcome::Done)
}

fn shaped(record: &RunRecord, shape: ExportAs) -> fault::Result<String> {
    match shape {
        ExportAs::Csv => ::report::phases_csv(record),
        ExportAs::SeriesCsv => ::report::series_csv(record),
        ExportAs::Matrix => ::report::matrix_csv(record)?.ok_or_else(no_matrix),
        ExportAs::HeatMap => ::report::matrix_svg(record).ok_or_else(no_matrix),
        ExportAs::Jsonl => flat_objects(&::report::phases_csv(record)?),
        ExportAs::SeriesJsonl => flat_objects(&::report::series_csv(record)?),
        ExportAs::Json => serde_json::to_string_pretty(record).map_err(unreadable),
    }
}

/// What to say of a run that has no matrix.
pub fn no_matrix() -> Fault {
    Fault::new(
        Kind::Usage,
        "the run has no matrix: fewer than four points that differ in reads, seek or transfer size",
    )
    .hint("run `forebay vdbench` with forrdpct=, forseekpct= and forxfersize= at one number of threads")
}

/// The same rows and column names as the CSV, one JSON object a line: words, numbers, and null for empty cells.
fn flat_objects(table: &str) -> fault::Result<String> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let names = reader.headers().map_err(unreadable)?.clone();
    let mut lines = String::new();
    for row in reader.records() {
        let row = row.map_err(unreadable)?;
        let cells = names.iter().zip(&row);
        let object: Map<String, Value> =
            cells.map(|(name, cell)| (name.to_owned(), value(name, cell))).collect();
        lines.push_str(&Value::Object(object).to_string());
        lines.push('\n');
    }
    Ok(lines)
}

fn value(column: &str, cell: &str) -> Value {
    if cell.is_empty() {
        return Value::Null;
    }
    let number = cell.parse().ok().filter(|_| !WORDS.contains(&column)).map(Value::Number);
    number.unwrap_or_else(|| cell.into())
}

fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> Fault {
    Fault::new(Kind::Bug, format!("cannot write the run as JSON: {error}")).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::samples::Sample;

    #[test]
    fn a_column_has_one_type_in_all_rows() {
        let record = Sample { with_metadata_phase: true, ..Sample::default() }.build();
        for table in [::report::phases_csv(&record).unwrap(), ::report::series_csv(&record).unwrap()] {
            let objects = flat_objects(&table).unwrap();
            assert_eq!(objects.lines().count() + 1, table.lines().count());
            for line in objects.lines() {
                let object: Map<String, Value> = serde_json::from_str(line).unwrap();
                for (name, value) in &object {
                    let is_word = WORDS.contains(&name.as_str());
                    assert!(value.is_null() || value.is_string() == is_word, "{name} is {value}");
                }
            }
        }
    }

    #[test]
    fn a_test_called_2024_stays_a_word() {
        assert_eq!(value("test", "2024"), Value::from("2024"));
        assert_eq!(value("ranks", "2024"), Value::from(2024));
        assert_eq!(value("bytes", ""), Value::Null);
    }
}
