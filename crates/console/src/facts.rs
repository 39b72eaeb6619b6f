//! What a catalog knows of one thing, for a terminal.

use serde::Serialize;

use crate::wrap::wrap;
use crate::{Align, Cell, Table, paint};

/// One row of a catalog.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts {
    /// What sort of thing it is: `machines`.
    pub table: String,
    /// What names the row: `azure/Standard_E16bs_v5`.
    pub key: String,
    /// What is stated, in the order of the table.
    pub stated: Vec<Fact>,
    /// Columns that are blank: not known, or there is no such thing.
    pub not_stated: Vec<String>,
    /// Document and date.
    pub source: String,
    /// File and line of the row.
    pub place: String,
}

/// One figure, in the provider's unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// Its value with the unit.
    pub value: String,
}

/// Rows one below the other, each with its source; those of one table and the same columns side by side.
pub fn facts(rows: &[Facts]) -> String {
    let mut parts = Vec::new();
    let (prices, others): (Vec<&Facts>, Vec<&Facts>) = rows.iter().partition(|row| row.table == "prices");
    parts.extend(others.into_iter().map(one));
    if !prices.is_empty() {
        parts.push(price_table(&prices));
    }
    parts.join("\n\n")
}

fn one(row: &Facts) -> String {
    let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
    for fact in &row.stated {
        table.row([Cell::new(&fact.name), Cell::new(&fact.value)]);
    }
    let body = table.to_string();
    let mut lines = vec![format!("{} ({})", paint::strong(&row.key), row.table)];
    lines.extend(body.lines().skip(1).map(|line| format!("  {line}")));
    if !row.not_stated.is_empty() {
        lines.push(wrap(&format!("{}: {}", paint::note("not stated"), row.not_stated.join(", ")), "  "));
    }
    lines.push(wrap(&format!("source: {}", row.source), "  "));
    lines.push(format!("  file: {}", row.place));
    lines.join("\n")
}

fn price_table(rows: &[&Facts]) -> String {
    let mut table = Table::new([
        ("US dollars", Align::Right),
        ("per", Align::Left),
        ("item", Align::Left),
        ("where", Align::Left),
        ("list", Align::Left),
        ("above", Align::Right),
        ("up to", Align::Right),
    ]);
    for row in rows {
        let of = |name: &str| row.stated.iter().find(|fact| fact.name == name).map_or("", |fact| &fact.value);
        let place = format!("{} {}", of("cloud"), of("region"));
        table.row([
            Cell::new(of("usd")),
            Cell::new(of("unit")),
            Cell::new(of("item")),
            Cell::new(place),
            Cell::new(of("term")),
            Cell::new(of("band from")),
            Cell::new(of("band to")),
        ]);
        if !of("doubt").is_empty() {
            table.note(wrap(&format!("{}: {}", paint::note("in doubt"), of("doubt")), "    "));
        }
        table.note(wrap(&format!("[{}]", row.source), "    "));
    }
    format!("{}\n{table}", paint::strong("prices"))
}
