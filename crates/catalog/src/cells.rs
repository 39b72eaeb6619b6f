use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

use fault::{Fault, Result};
use spec::Cloud;
use units::{Bandwidth, Bytes, Iops};

use crate::rows::Row;
use crate::{Rate, Source, Table};

/// One copy of every text that many rows share.
#[derive(Default)]
pub(crate) struct Texts {
    known: HashSet<Arc<str>>,
    /// The last few asked for: rows that stand together share their source, and comparing is cheaper than hashing.
    recent: [Option<Arc<str>>; 8],
    oldest: usize,
}

impl Texts {
    /// The shared copy of `text`.
    pub fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.recent.iter().flatten().find(|recent| ***recent == *text) {
            return known.clone();
        }
        let shared = self.known.get(text).cloned().unwrap_or_else(|| {
            let new: Arc<str> = text.into();
            self.known.insert(new.clone());
            new
        });
        self.recent[self.oldest] = Some(shared.clone());
        self.oldest = (self.oldest + 1) % self.recent.len();
        shared
    }

    /// The shared copy of `text`, or nothing for a blank.
    pub fn some(&mut self, text: &str) -> Option<Arc<str>> {
        (!text.is_empty()).then(|| self.get(text))
    }
}

/// Reads the cells of a row as what they mean. A blank is `None`: unknown.
pub(crate) struct Cells<'a> {
    pub table: Table,
    pub row: &'a Row,
    /// Where the search for a column starts: rows are mostly read from left to right.
    next: Cell<usize>,
}

impl<'a> Cells<'a> {
    pub fn new(table: Table, row: &'a Row) -> Self {
        Self { table, row, next: Cell::new(0) }
    }

    /// The text of a cell.
    pub fn text(&self, column: &str) -> &'a str {
        let columns = self.table.columns();
        let next = self.next.get();
        let place = if columns.get(next) == Some(&column) {
            next
        } else {
            let Some(place) = columns.iter().position(|name| *name == column) else { return "" };
            place
        };
        self.next.set(place + 1);
        self.row.cells.get(place).unwrap_or_default().trim()
    }

    /// The text of a cell that may not be blank.
    pub fn needed(&self, column: &str) -> Result<&'a str> {
        let text = self.text(column);
        if text.is_empty() {
            return Err(self.wrong(column, "is blank", "this column is needed in every row"));
        }
        Ok(text)
    }

    /// A failure about a cell: `vms.csv:7: column `vcpus`: `x` is not ...`.
    pub fn wrong(&self, column: &str, why: &str, hint: &str) -> Fault {
        let text = self.text(column);
        let value = if text.is_empty() { String::new() } else { format!("`{text}` ") };
        let message = format!("{}:{}: column `{column}`: {value}{why}", self.row.origin.file, self.row.line);
        Fault::new(self.row.origin.kind(), message).hint(hint.to_owned())
    }

    /// A number that is not negative.
    pub fn number(&self, column: &str) -> Result<Option<f64>> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        let wrong = |why| {
            self.wrong(column, why, "write a plain number such as 1250 or 0.5; leave it blank if unknown")
        };
        let number: f64 = text.parse().map_err(|_| wrong("is not a number"))?;
        match number {
            _ if !number.is_finite() => Err(wrong("is not a finite number")),
            _ if number < 0.0 => Err(wrong("is negative")),
            _ => Ok(Some(number)),
        }
    }

    /// A number that must be there.
    pub fn needed_number(&self, column: &str) -> Result<f64> {
        self.needed(column)?;
        Ok(self.number(column)?.unwrap_or_default())
    }

    /// A whole number.
    pub fn whole(&self, column: &str) -> Result<Option<u32>> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        let wrong = |_| {
            self.wrong(
                column,
                "is not a whole number",
                "write a whole number such as 16; leave it blank if unknown",
            )
        };
        text.parse().map(Some).map_err(wrong)
    }

    /// `yes` or `no`.
    pub fn flag(&self, column: &str) -> Result<Option<bool>> {
        match self.text(column) {
            "" => Ok(None),
            "yes" => Ok(Some(true)),
            "no" => Ok(Some(false)),
            _ => Err(self.wrong(
                column,
                "is neither yes nor no",
                "write `yes` or `no`; leave it blank if unknown",
            )),
        }
    }

    /// One of some words.
    pub fn one_of<T: Copy>(&self, column: &str, words: &[(&str, T)]) -> Result<T> {
        let text = self.needed(column)?;
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let accepted = spec::quoted(words.iter().map(|(word, _)| *word));
            let hint = match spec::nearest(text, words.iter().map(|(word, _)| *word)) {
                Some(near) => format!("did you mean `{near}`? Accepted: {accepted}"),
                None => format!("accepted: {accepted}"),
            };
            self.wrong(column, "is not known here", &hint)
        })
    }

    pub fn cloud(&self) -> Result<Cloud> {
        self.one_of("cloud", &[("azure", Cloud::Azure), ("aws", Cloud::Aws), ("gcp", Cloud::Gcp)])
    }

    /// A count of GiB.
    pub fn gib(&self, column: &str) -> Result<Option<Bytes>> {
        Ok(self.number(column)?.map(gib))
    }

    /// A size with its unit: `256KiB`, `250kB`.
    pub fn size(&self, column: &str) -> Result<Option<Bytes>> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        match text.parse() {
            Ok(size) if size > Bytes::ZERO && text.ends_with('B') => Ok(Some(size)),
            _ => Err(self.wrong(
                column,
                "is not a size",
                "write a size with its unit, such as 256KiB or 250kB",
            )),
        }
    }

    /// Bytes per second of one of the unit that column `unit` names.
    pub fn rate_unit(&self, unit: &str) -> Result<f64> {
        if self.text(unit).is_empty() {
            return Ok(0.0);
        }
        self.one_of(
            unit,
            &[("MB/s", 1e6), ("MiB/s", 1_048_576.0), ("Mbit/s", 1e6 / 8.0), ("Gbit/s", 1e9 / 8.0)],
        )
    }

    /// A bandwidth in units of `unit` bytes per second, as [`Self::rate_unit`] gives it.
    pub fn bandwidth(&self, column: &str, unit: f64) -> Result<Option<Bandwidth>> {
        let Some(number) = self.number(column)? else { return Ok(None) };
        if unit == 0.0 {
            return Err(self.wrong(
                column,
                "has no unit",
                "name it in this row: MB/s, MiB/s, Mbit/s or Gbit/s",
            ));
        }
        Ok(Some(Bandwidth::bytes_per_second(number * unit)))
    }

    pub fn iops(&self, column: &str) -> Result<Option<Iops>> {
        Ok(self.number(column)?.map(Iops::new))
    }

    /// A rate from a column of IOPS and one of bandwidth.
    pub fn rate(&self, iops: &str, bandwidth: &str, unit: f64) -> Result<Rate> {
        Ok(Rate { iops: self.iops(iops)?, bandwidth: self.bandwidth(bandwidth, unit)? })
    }

    pub fn source(&self, texts: &mut Texts) -> Result<Source> {
        Ok(Source { document: texts.get(self.needed("source")?), as_of: texts.get(self.needed("as_of")?) })
    }
}

/// GiB, fractions too.
pub(crate) fn gib(count: f64) -> Bytes {
    Bytes::new((count * 1_073_741_824.0).round() as u64)
}
