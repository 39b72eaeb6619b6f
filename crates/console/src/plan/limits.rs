//! The chain of a storage's limits.

use record::{LimitRow, RatesRow, StorageSheet};

use super::figures::mb;
use crate::wrap::wrap;
use crate::{Align, Cell, Table, paint};

const INDENT: &str = "    ";

/// Every limit in the order data passes it: what its source states, and what is reached of that.
pub fn table(storage: &StorageSheet) -> String {
    let mut table = Table::new([
        ("limit\nMB/s", Align::Left),
        ("read\nstated", Align::Right),
        ("read\nreached", Align::Right),
        ("write\nstated", Align::Right),
        ("write\nreached", Align::Right),
        ("mixed\nstated", Align::Right),
        ("mixed\nreached", Align::Right),
    ]);
    for limit in &storage.limits {
        table.row(row(storage, limit));
        let source = limit.source.as_ref().map(|source| format!(" [{source}]")).unwrap_or_default();
        table.note(wrap(&format!("{}{source}", limit.cause), INDENT));
    }
    let mut lines = vec![table.to_string()];
    lines.extend(
        storage.unknown.iter().map(|unknown| wrap(&format!("{}: {unknown}", paint::note("not known")), "")),
    );
    lines.join("\n")
}

fn row(storage: &StorageSheet, limit: &LimitRow) -> [Cell; 7] {
    let smallest = storage.bottleneck.as_deref() == Some(limit.name.as_str());
    let cell = |of: fn(&RatesRow) -> Option<f64>, operation: &str, rates: &RatesRow| {
        let text = mb(of(rates));
        if smallest && storage.tightest == operation { Cell::note(text).strong() } else { Cell::new(text) }
    };
    let read = |rates: &RatesRow| rates.read_bytes_per_second;
    let write = |rates: &RatesRow| rates.write_bytes_per_second;
    let mixed = |rates: &RatesRow| rates.mixed_bytes_per_second;
    let name =
        if smallest { Cell::note(format!("{} <-", limit.name)).strong() } else { Cell::new(&limit.name) };
    [
        name,
        cell(read, "read", &limit.stated),
        cell(read, "read", &limit.reached),
        cell(write, "write", &limit.stated),
        cell(write, "write", &limit.reached),
        cell(mixed, "mixed", &limit.stated),
        cell(mixed, "mixed", &limit.reached),
    ]
}
