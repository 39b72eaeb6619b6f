use std::collections::HashMap;

use crate::{Catalog, Row, Table};

/// A row that two catalogs don't share.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The table it is of.
    pub table: Table,
    /// What names it; for prices with the start of the band.
    pub key: String,
    /// How it differs.
    pub change: Change,
}

/// How a row differs.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Only the other catalog has it.
    Added(Row),
    /// Only this one has it.
    Removed(Row),
    /// Both have it, with other cells.
    Changed(Vec<CellChange>),
}

/// A cell with its two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellChange {
    /// The column.
    pub column: &'static str,
    /// In this catalog; empty: unknown.
    pub old: String,
    /// In the other; empty: unknown.
    pub new: String,
}

impl Catalog {
    /// What leads from this catalog to `other`: by table, first what was removed or changed in the order of this one, then
    /// what was added in the order of the other. Numbers that are equal however written (`1`, `1.0`) are no change.
    pub fn diff(&self, other: &Self) -> Vec<Difference> {
        Table::ALL
            .into_iter()
            .flat_map(|table| of_table(table, self.rows.of(table), other.rows.of(table)))
            .collect()
    }
}

fn of_table(table: Table, old: &[Row], new: &[Row]) -> Vec<Difference> {
    let keyed =
        |rows: &[Row]| rows.iter().map(|row| (key(table, row), row.clone())).collect::<HashMap<_, _>>();
    let (old_by_key, new_by_key) = (keyed(old), keyed(new));
    let gone = old.iter().filter_map(|row| {
        let key = key(table, row);
        let change = match new_by_key.get(&key) {
            None => Change::Removed(row.clone()),
            Some(now) => Change::Changed(Some(cells(table, row, now)).filter(|cells| !cells.is_empty())?),
        };
        Some(Difference { table, key, change })
    });
    let come = new.iter().filter_map(|row| {
        let key = key(table, row);
        (!old_by_key.contains_key(&key)).then(|| Difference {
            table,
            key,
            change: Change::Added(row.clone()),
        })
    });
    gone.chain(come).collect()
}

fn key(table: Table, row: &Row) -> String {
    match row.cell(table, "band_from") {
        "" => row.key(table),
        from => format!("{}/above {from}", row.key(table)),
    }
}

fn cells(table: Table, old: &Row, new: &Row) -> Vec<CellChange> {
    let change = |column: &&'static str| {
        let (old, new) = (old.cell(table, column), new.cell(table, column));
        (!same(old, new)).then(|| CellChange { column, old: old.to_owned(), new: new.to_owned() })
    };
    table.columns().iter().filter_map(change).collect()
}

fn same(old: &str, new: &str) -> bool {
    old == new
        || matches!((old.parse::<f64>(), new.parse::<f64>()), (Ok(a), Ok(b)) if a.total_cmp(&b).is_eq())
}
