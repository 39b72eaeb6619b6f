use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use csv::StringRecord;
use fault::{Fault, Kind, Result};

use crate::Table;

/// The file a row stands in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Its path, as messages name it.
    pub file: Arc<str>,
    /// It came with the program; `false`: from the user's overlay.
    pub built_in: bool,
}

impl Origin {
    /// What a mistake in this file is: ours, or the user's.
    pub(crate) fn kind(&self) -> Kind {
        if self.built_in { Kind::Corrupt } else { Kind::Spec }
    }
}

/// A row as it stands in its file, its cells in the order of [`Table::columns`].
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Where it came from.
    pub origin: Origin,
    /// Line of the file, from 1.
    pub line: u64,
    pub(crate) cells: StringRecord,
}

impl Row {
    /// The cell of a column; empty when it is blank or there is no such column.
    pub fn cell(&self, table: Table, column: &str) -> &str {
        let place = table.columns().iter().position(|name| *name == column);
        place.and_then(|place| self.cells.get(place)).unwrap_or_default().trim()
    }

    /// What names the row: the cells of its key, `azure/Standard_E16s_v3`.
    pub fn key(&self, table: Table) -> String {
        let layout = table.layout();
        layout.key.iter().map(|column| self.cell(table, column)).collect::<Vec<_>>().join("/")
    }
}

/// All rows as they stand in their files, by table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    tables: HashMap<Table, Vec<Row>>,
}

impl Rows {
    /// The rows of a table, in the order of their files.
    pub fn of(&self, table: Table) -> &[Row] {
        self.tables.get(&table).map_or(&[], Vec::as_slice)
    }

    /// The rows of a key, as [`Row::key`] gives it: one, or for prices one for each band.
    pub fn keyed<'a>(&'a self, table: Table, key: &'a str) -> impl Iterator<Item = &'a Row> {
        self.of(table).iter().filter(move |row| row.key(table) == key)
    }

    /// Adds what a file says.
    pub(crate) fn add(&mut self, table: Table, rows: Vec<Row>) {
        self.tables.entry(table).or_default().extend(rows);
    }

    /// Lays `over` on top: its rows replace those of the same key where the first of those stood; new ones come last.
    pub(crate) fn overlaid(mut self, over: Self) -> Self {
        for (table, rows) in over.tables {
            let old = self.tables.remove(&table).unwrap_or_default();
            self.tables.insert(table, merged(table, old, rows));
        }
        self
    }
}

/// `old` with the rows of `new` in the place of those of the same key.
pub(crate) fn merged(table: Table, old: Vec<Row>, new: Vec<Row>) -> Vec<Row> {
    let replaced: HashSet<String> = new.iter().map(|row| row.key(table)).collect();
    let mut waiting: HashMap<String, Vec<Row>> = HashMap::new();
    let mut order = Vec::new();
    for row in new {
        let group = waiting.entry(row.key(table)).or_insert_with_key(|key| {
            order.push(key.clone());
            Vec::new()
        });
        group.push(row);
    }
    let mut all = Vec::with_capacity(old.len());
    for row in old {
        let key = row.key(table);
        if !replaced.contains(&key) {
            all.push(row);
        }
        all.extend(waiting.remove(&key).unwrap_or_default());
    }
    all.extend(order.iter().filter_map(|key| waiting.remove(key)).flatten());
    all
}

/// Reads one file: cells put into the order of the table's columns, blank lines and lines starting with `#` skipped.
pub(crate) fn read(table: Table, origin: &Origin, text: &str) -> Result<Vec<Row>> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).comment(Some(b'#')).from_reader(text.as_bytes());
    let places = places(table, origin, reader.headers().map_err(|error| unreadable(origin, &error))?)?;
    let width = table.columns().len();
    let as_written = places.iter().enumerate().all(|(at, place)| at == *place) && places.len() == width;
    let mut rows = Vec::new();
    let mut lines = Lines { text, counted: 0, line: 1 };
    for record in reader.into_records() {
        let record = record.map_err(|error| unreadable(origin, &error))?;
        let line = record.position().map_or(0, |position| lines.of(position.byte() as usize));
        if record.len() != places.len() {
            return Err(uneven(origin, line, record.len(), places.len()));
        }
        let cells = if as_written { record } else { reordered(&record, &places, width) };
        rows.push(Row { origin: origin.clone(), line, cells });
    }
    Ok(rows)
}

/// Counts lines. The CSV reader's own count is off by one after `\r\n`, and at blank lines and remarks.
struct Lines<'a> {
    text: &'a str,
    counted: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line of the first cell at or after `offset`; offsets must ascend.
    fn of(&mut self, offset: usize) -> u64 {
        let bytes = self.text.as_bytes();
        let breaks = |part: &[u8]| part.iter().filter(|byte| **byte == b'\n').fold(0, |count, _| count + 1);
        let mut start = offset.min(bytes.len());
        while let Some(first) = bytes.get(start) {
            start += match first {
                b'\r' | b'\n' => 1,
                b'#' => bytes[start..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - start),
                _ => break,
            };
        }
        self.line += breaks(bytes.get(self.counted..start).unwrap_or_default());
        self.counted = start;
        self.line
    }
}

/// For each column of the file, its place among the table's.
fn places(table: Table, origin: &Origin, header: &StringRecord) -> Result<Vec<usize>> {
    let columns = table.columns();
    if header.len() == 1 && header.iter().any(|name| name.contains([';', '\t'])) {
        let message = format!("{}:1: the columns are not separated by commas", origin.file);
        return Err(Fault::new(origin.kind(), message).hint("save the file as comma separated values"));
    }
    let mut places = Vec::with_capacity(header.len());
    for name in header.iter().map(str::trim) {
        let Some(place) = columns.iter().position(|column| *column == name) else {
            let message = format!("{}: unknown column `{name}`", origin.file);
            let hint = match spec::nearest(name, columns.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the columns of {table} are {}", spec::quoted(columns.iter().copied())),
            };
            return Err(Fault::new(origin.kind(), message).hint(hint));
        };
        if places.contains(&place) {
            let message = format!("{}: column `{name}` appears twice", origin.file);
            return Err(Fault::new(origin.kind(), message).hint("remove one of the two"));
        }
        places.push(place);
    }
    let layout = table.layout();
    let mut needed = layout.key.iter().chain(&["source", "as_of"]);
    if let Some(column) = needed.find(|column| !header.iter().any(|name| name.trim() == **column)) {
        let message = format!("{}: no column `{column}`", origin.file);
        let hint = format!("every file of {table} starts with a line of column names; this one is needed");
        return Err(Fault::new(origin.kind(), message).hint(hint));
    }
    Ok(places)
}

fn reordered(record: &StringRecord, places: &[usize], width: usize) -> StringRecord {
    let mut cells = vec![""; width];
    for (cell, place) in record.iter().zip(places) {
        cells[*place] = cell;
    }
    StringRecord::from(cells)
}

fn uneven(origin: &Origin, line: u64, found: usize, wanted: usize) -> Fault {
    let message = format!("{}:{line}: {found} cells, but the first line names {wanted} columns", origin.file);
    Fault::new(origin.kind(), message).hint("put cells that contain a comma in double quotes")
}

fn unreadable(origin: &Origin, error: &csv::Error) -> Fault {
    let line = error.position().map_or(1, csv::Position::line);
    Fault::new(origin.kind(), format!("{}:{line}: not readable as CSV: {error}", origin.file))
        .hint("catalog files are UTF-8 text, comma separated, with a line of column names first")
}
