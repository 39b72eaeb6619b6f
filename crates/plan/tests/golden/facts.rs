//! Rows of the catalog, what it must not have, what a spec asks for by default, and what other crates test.

use catalog::Table;
use plan::Demand;
use spec::{Figures, Grid, Role, Spec, Storage};
use units::{Bandwidth, Bytes};

use crate::ground::CATALOG;
use crate::row::{Answer, Row};

pub fn compute(row: &Row) -> Option<Answer> {
    Some(match row.subject.as_str() {
        "catalog row" => cells(row),
        "absent" => absent(row),
        "elsewhere" => elsewhere(row),
        "default requirement" => default_requirement(row),
        "required rate" => required_rate(row),
        _ => return None,
    })
}

fn cells(row: &Row) -> Answer {
    let table = Table::of_file(row.text("table")).unwrap();
    let key = row.text("row");
    let found = CATALOG.rows.keyed(table, key).next().unwrap_or_else(|| panic!("no row {key}"));
    let cell = |column: &str| {
        assert!(table.columns().contains(&column), "{table} have no column {column}");
        found.cell(table, column).to_owned()
    };
    Answer::Words(row.metrics().map(cell).collect())
}

/// Nothing, or the rows that have the text in the columns named.
fn absent(row: &Row) -> Answer {
    let text = row.text("text");
    let tables = Table::ALL
        .into_iter()
        .filter(|table| row.maybe("table").is_none_or(|file| table.files().contains(&file)));
    let has = |table: Table, key: &catalog::Row| {
        let mut columns =
            table.columns().iter().filter(|name| row.maybe("column").is_none_or(|one| one == **name));
        columns.any(|column| key.cell(table, column).contains(text))
    };
    let found = tables.flat_map(|table| {
        CATALOG.rows.of(table).iter().filter(move |one| has(table, one)).map(move |one| one.key(table))
    });
    Answer::Words(vec![found.collect::<Vec<_>>().join(" ")])
}

/// The expected value, when the test is where the row says.
fn elsewhere(row: &Row) -> Answer {
    let file = format!("../../{}", row.text("file"));
    let test = format!("fn {}()", row.text("test"));
    let source = std::fs::read_to_string(&file).unwrap();
    if source.contains(&test) { row.as_expected() } else { format!("{file} has no {test}").as_str().into() }
}

fn spec(pcores: u32, storage: Storage) -> Spec {
    let constraints = spec::Constraints { figures: Figures::SpecSheet, ..spec::Constraints::default() };
    let grid = Grid::new("grid", pcores);
    Spec {
        version: spec::VERSION,
        grid,
        storage: vec![storage],
        constraints,
        test: Vec::new(),
        sweep: Vec::new(),
    }
}

fn default_requirement(row: &Row) -> Answer {
    let mut storage = Storage::new("data", Role::Data);
    storage.capacity = Some(Bytes::tib(1));
    let demand = Demand::of(&spec(1, storage)).unwrap();
    match row.metric.as_str() {
        "memory per pCore" => (demand.memory_per_pcore.get() as f64).into(),
        _ => demand.requirements[0].read.get().into(),
    }
}

fn required_rate(row: &Row) -> Answer {
    let mut storage = Storage::new("data", Role::Data);
    storage.capacity = Some(Bytes::tib(1));
    storage.read_per_pcore = Some(row.input::<Bandwidth>("per_pcore"));
    Demand::of(&spec(row.input("pcores"), storage)).unwrap().requirements[0].read.get().into()
}
