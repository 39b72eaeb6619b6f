use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Where each key of a spec is in its text. Keys are written as `storage[0].capacity`.
#[derive(Debug, Default)]
pub struct Places {
    keys: BTreeMap<String, Range<usize>>,
    values: BTreeMap<String, Range<usize>>,
    broken: BTreeSet<String>,
}

impl Places {
    pub(crate) fn record_key(&mut self, place: &str, span: Range<usize>) {
        self.keys.insert(place.to_owned(), span);
    }

    pub(crate) fn record_value(&mut self, place: &str, span: Range<usize>) {
        self.values.insert(place.to_owned(), span);
    }

    /// Marks a table of which something had to be left out: rules about it would blame the wrong thing.
    pub(crate) fn record_broken(&mut self, table: &str) {
        self.broken.insert(table.to_owned());
    }

    /// The key itself; a table's header if the place is a table.
    pub fn key(&self, place: &str) -> Option<Range<usize>> {
        self.keys.get(place).or_else(|| self.values.get(place)).cloned()
    }

    /// The value of a key, or the key's table if the key is not written.
    pub fn value(&self, place: &str) -> Option<Range<usize>> {
        let table = || self.values.get(place.rsplit_once('.')?.0);
        self.values.get(place).or_else(table).cloned()
    }

    /// Whether something of this table had to be left out.
    pub fn is_broken(&self, table: &str) -> bool {
        self.broken.contains(table)
    }
}

/// The place of `key` inside `table`; the root table is the empty place.
pub fn join(table: &str, key: &str) -> String {
    if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") }
}
