//! Everything the catalog knows of a name.

use ::catalog::{Catalog, Row, Table};
use console::{Fact, Facts as Shown};
use fault::{Fault, Kind};

use super::columns;
use crate::cli::{Facts, ShowFact};
use crate::commands::{Context, Result};
use crate::exit::Outcome;
use crate::settings::Settings;

/// Shows a name.
pub fn show(context: &Context, arguments: &ShowFact) -> Result {
    explain(context, &arguments.facts, &arguments.name)
}

/// Shows every row that is about `name`: the thing itself, then its prices.
pub fn explain(context: &Context, facts: &Facts, name: &str) -> Result {
    let catalog = Settings::catalog(facts.catalog.as_deref())?;
    let rows = about(&catalog, name);
    if rows.is_empty() {
        return Err(unknown(&catalog, name).into());
    }
    context.printer.items("facts", &rows, || console::facts(&rows))?;
    if !rows.iter().any(|row| row.table == Table::Prices.to_string()) && rows.iter().any(is_sold) {
        context
            .printer
            .say(format!("no price of {name} is in the catalog: designs with it are ranked apart"));
    }
    Ok(Outcome::Done)
}

fn is_sold(row: &Shown) -> bool {
    [Table::Vms, Table::Disks, Table::Services].iter().any(|table| row.table == table.to_string())
}

fn about(catalog: &Catalog, name: &str) -> Vec<Shown> {
    let of_table = |table: Table| {
        let rows = catalog.rows.of(table).iter();
        rows.filter(move |row| is_about(table, row, name)).map(move |row| shown(table, row))
    };
    Table::ALL.into_iter().flat_map(of_table).collect()
}

/// Whether a row is about a name: it is the name of its key, of its service, of what its price is for, or of its study.
fn is_about(table: Table, row: &Row, name: &str) -> bool {
    let same = |column: &str| row.cell(table, column).eq_ignore_ascii_case(name);
    match table {
        Table::Vms => same("sku"),
        Table::Disks => same("tier"),
        Table::Services => same("tier") || same("service"),
        Table::ClientLimits => same("service"),
        Table::Prices => {
            same("item") || row.cell(table, "item").split(':').any(|part| part.eq_ignore_ascii_case(name))
        }
        Table::Ports => same("rule"),
        Table::Published => same("id") || same("study"),
        Table::Calibration => same("architecture"),
    }
}

fn shown(table: Table, row: &Row) -> Shown {
    let hidden = |column: &&&str| !["source", "as_of"].contains(*column) && !column.ends_with("_unit");
    let all: Vec<&str> = table.columns().iter().filter(hidden).copied().collect();
    let (stated, blank): (Vec<&str>, Vec<&str>) =
        all.into_iter().partition(|column| !row.cell(table, column).is_empty());
    Shown {
        table: table.to_string(),
        key: row.key(table),
        stated: stated.into_iter().map(|column| fact(table, row, column)).collect(),
        not_stated: blank.into_iter().filter(|column| *column != "notes").map(columns::words).collect(),
        source: format!("{} ({})", row.cell(table, "source"), row.cell(table, "as_of")),
        place: format!("{}:{}", row.origin.file, row.line),
    }
}

fn fact(table: Table, row: &Row, column: &str) -> Fact {
    Fact { name: columns::words(column), value: columns::value(table, row, column) }
}

fn unknown(catalog: &Catalog, name: &str) -> Fault {
    let vms = catalog.vms.iter().map(|vm| &*vm.sku);
    let disks = catalog.disks.iter().map(|disk| &*disk.tier);
    let services = catalog.services.iter().flat_map(|service| [&*service.tier, &*service.service]);
    let names: Vec<&str> = vms.chain(disks).chain(services).collect();
    let full = format!("Standard_{name}");
    let near =
        spec::nearest(name, names.iter().copied()).or_else(|| spec::nearest(&full, names.iter().copied()));
    let same = names.iter().find(|known| known.eq_ignore_ascii_case(&full)).copied();
    let fault = Fault::new(Kind::NotFound, format!("the catalog knows nothing called `{name}`"));
    match same.or(near) {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None => fault.hint("`forebay catalog list` shows what there is; `--catalog DIR` adds your own"),
    }
}
