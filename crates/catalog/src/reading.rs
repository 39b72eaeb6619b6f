//! Rows into what they mean, one module per table.

mod disk;
mod ports;
mod price;
mod published;
mod ranges;
mod service;
mod vm;

use fault::{Fault, Result};

use crate::cells::{Cells, Texts};
use crate::rows::{Row, Rows};
use crate::{Catalog, Table};

/// The catalog that the rows describe.
pub(crate) fn catalog(rows: Rows) -> Result<Catalog> {
    let texts = &mut Texts::default();
    let clients = service::clients(&rows, texts)?;
    Ok(Catalog {
        vms: each(&rows, Table::Vms, |cells| vm::read(cells, texts))?,
        disks: each(&rows, Table::Disks, |cells| disk::read(cells, texts))?,
        services: each(&rows, Table::Services, |cells| service::read(cells, &clients, texts))?,
        prices: price::read(&rows, texts)?,
        ports: each(&rows, Table::Ports, |cells| ports::read(cells, texts))?,
        published: each(&rows, Table::Published, |cells| published::read(cells, texts))?,
        calibration: each(&rows, Table::Calibration, |cells| published::factor(cells, texts))?,
        rows,
    })
}

/// Reads every row of a table; two of the same key are an error.
fn each<T>(rows: &Rows, table: Table, mut read: impl FnMut(&Cells<'_>) -> Result<T>) -> Result<Vec<T>> {
    let mut seen = std::collections::HashMap::new();
    let rows = rows.of(table);
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        if let Some(first) = seen.insert(row.key(table), row) {
            return Err(twice(table, row, first));
        }
        all.push(read(&Cells::new(table, row))?);
    }
    Ok(all)
}

/// A key that stands in two rows.
fn twice(table: Table, row: &Row, first: &Row) -> Fault {
    let message = format!("{}:{}: `{}` is in the table twice", row.origin.file, row.line, row.key(table));
    Fault::new(row.origin.kind(), message)
        .hint(format!("the other row is {}:{}; keep one", first.origin.file, first.line))
}
