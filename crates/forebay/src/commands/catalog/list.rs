//! The rows of a table, in columns that fit a terminal.

use ::catalog::{Catalog, Row, Table};
use console::{Align, Cell};
use fault::{Fault, Kind};
use plan::market::allows;
use serde_json::{Map, Value, json};
use spec::Filter;

use super::columns;
use crate::cli::ListFacts;
use crate::commands::{Context, Result};
use crate::exit::Outcome;
use crate::settings::Settings;

/// Lists a table, or how many rows each has.
pub fn list(context: &Context, arguments: &ListFacts) -> Result {
    let catalog = Settings::catalog(arguments.facts.catalog.as_deref())?;
    let Some(table) = arguments.table.map(Table::from) else { return tables(context, &catalog) };
    let rows: Vec<&Row> = catalog.rows.of(table).iter().filter(|row| wanted(table, row, arguments)).collect();
    if arguments.csv {
        context.printer.data(as_csv(table, &rows)?)?;
        return Ok(Outcome::Done);
    }
    let objects: Vec<Value> = rows.iter().map(|row| as_json(table, row)).collect();
    context.printer.items("facts", &objects, || in_columns(table, &rows))?;
    if rows.is_empty() {
        context.printer.say(format!("no row of {table} matches"));
    }
    Ok(Outcome::Done)
}

fn tables(context: &Context, catalog: &Catalog) -> Result {
    let counts: Vec<Value> = Table::ALL
        .into_iter()
        .map(|table| json!({ "table": table.to_string(), "rows": catalog.rows.of(table).len(), "files": table.files() }))
        .collect();
    context.printer.items("tables", &counts, || {
        let mut shown =
            console::Table::new([("table", Align::Left), ("rows", Align::Right), ("files", Align::Left)]);
        for table in Table::ALL {
            let rows = catalog.rows.of(table).len();
            shown.row([Cell::new(table), Cell::new(rows), Cell::new(table.files().join(", "))]);
        }
        shown.to_string()
    })?;
    Ok(Outcome::Done)
}

fn wanted(table: Table, row: &Row, arguments: &ListFacts) -> bool {
    let cloud = arguments.cloud.map(|cloud| plan::document::cloud(cloud.into()));
    let glob = |pattern: &String| {
        let filter = Filter { allow: vec![pattern.clone()], deny: Vec::new() };
        let mut cells = shown_columns(table).into_iter().map(|(column, _)| row.cell(table, column));
        cells.any(|cell| !cell.is_empty() && allows(&filter, cell))
    };
    cloud.is_none_or(|cloud| row.cell(table, "cloud") == cloud) && arguments.filter.as_ref().is_none_or(glob)
}

/// The columns a terminal has room for; JSON and CSV have all.
const fn shown_columns(table: Table) -> [(&'static str, Align); 8] {
    use Align::{Left, Right};
    match table {
        Table::Vms => [
            ("cloud", Left),
            ("sku", Left),
            ("pcores", Right),
            ("memory_gib", Right),
            ("disk_bandwidth", Right),
            ("disk_iops", Right),
            ("network", Right),
            ("as_of", Left),
        ],
        Table::Disks => [
            ("cloud", Left),
            ("tier", Left),
            ("model", Left),
            ("size_max_gib", Right),
            ("bandwidth", Right),
            ("bandwidth_per_tib", Right),
            ("bandwidth_max", Right),
            ("as_of", Left),
        ],
        Table::Services => [
            ("cloud", Left),
            ("service", Left),
            ("tier", Left),
            ("protocol", Left),
            ("read_per_tib", Right),
            ("write_per_tib", Right),
            ("throughput_max", Right),
            ("as_of", Left),
        ],
        Table::ClientLimits => [
            ("cloud", Left),
            ("service", Left),
            ("profile", Left),
            ("read", Right),
            ("write", Right),
            ("flow", Right),
            ("notes", Left),
            ("as_of", Left),
        ],
        Table::Prices => [
            ("cloud", Left),
            ("region", Left),
            ("item", Left),
            ("usd", Right),
            ("unit", Left),
            ("term", Left),
            ("band_from", Right),
            ("as_of", Left),
        ],
        Table::Ports => [
            ("rule", Left),
            ("from", Left),
            ("to", Left),
            ("protocol", Left),
            ("ports", Left),
            ("purpose", Left),
            ("notes", Left),
            ("as_of", Left),
        ],
        Table::Published => [
            ("id", Left),
            ("architecture", Left),
            ("test", Left),
            ("operation", Left),
            ("value", Right),
            ("unit", Left),
            ("per", Left),
            ("as_of", Left),
        ],
        Table::Calibration => [
            ("architecture", Left),
            ("operation", Left),
            ("factor", Right),
            ("n", Right),
            ("min", Right),
            ("max", Right),
            ("notes", Left),
            ("as_of", Left),
        ],
    }
}

fn in_columns(table: Table, rows: &[&Row]) -> String {
    let shown = shown_columns(table);
    let names = shown.map(|(name, _)| columns::words(name));
    let titles: [(&str, Align); 8] = std::array::from_fn(|place| (names[place].as_str(), shown[place].1));
    let mut lines = console::Table::new(titles);
    for row in rows {
        lines.row(shown.map(|(column, _)| {
            let value = columns::value(table, row, column);
            Cell::new(if value.is_empty() { "-" } else { &value })
        }));
    }
    lines.to_string()
}

fn as_json(table: Table, row: &Row) -> Value {
    let cell = |column: &&'static str| {
        let cell = row.cell(table, column);
        let value = if cell.is_empty() { Value::Null } else { cell.into() };
        ((*column).to_owned(), value)
    };
    let mut object: Map<String, Value> = table.columns().iter().map(cell).collect();
    object.insert("file".to_owned(), row.origin.file.to_string().into());
    object.insert("line".to_owned(), row.line.into());
    Value::Object(object)
}

/// Whole rows in the order of the table's columns, as `--catalog` reads them.
fn as_csv(table: Table, rows: &[&Row]) -> fault::Result<String> {
    let failed = |error: csv::Error| Fault::new(Kind::Bug, "cannot write facts as CSV").caused_by(error);
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(table.columns()).map_err(failed)?;
    for row in rows {
        writer.write_record(table.columns().iter().map(|column| row.cell(table, column))).map_err(failed)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| Fault::new(Kind::Bug, format!("cannot write facts as CSV: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
