//! What can't be, what is unlikely, and what is missing in the facts.

mod disks;
mod prices;
mod results;
mod services;
mod vms;

use std::fmt;

use crate::rows::Row;
use crate::{Catalog, Table};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something is not known, and designs are poorer for it.
    Note,
    /// Unlikely: look at the source again.
    Warning,
    /// It can't be.
    Error,
}

/// Something about a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The file the row stands in.
    pub file: String,
    /// Its line; 0 when no row can be named.
    pub line: u64,
    /// The row's key.
    pub row: String,
    /// What was found.
    pub what: String,
    /// Why that matters.
    pub why: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {} ({})", self.file, self.line, self.row, self.what, self.why)
    }
}

impl Catalog {
    /// Everything about these facts that can't be, is unlikely or is missing; the worst first, then by file and line.
    pub fn check(&self) -> Vec<Finding> {
        let mut found = Findings::default();
        vms::check(self, &mut found);
        disks::check(self, &mut found);
        services::check(self, &mut found);
        prices::check(self, &mut found);
        results::check(self, &mut found);
        let mut found = found.0;
        found.sort_by(|a, b| {
            b.severity.cmp(&a.severity).then_with(|| (&a.file, a.line).cmp(&(&b.file, b.line)))
        });
        found
    }
}

/// What was found so far.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, severity: Severity, table: Table, row: &Row, what: String, why: &'static str) {
        let (file, line) = (row.origin.file.to_string(), row.line);
        self.0.push(Finding { severity, file, line, row: row.key(table), what, why });
    }

    /// About a table, where no row can be named.
    fn about(&mut self, severity: Severity, table: Table, row: String, what: String, why: &'static str) {
        let file = table.files().first().copied().unwrap_or_default().to_owned();
        self.0.push(Finding { severity, file, line: 0, row, what, why });
    }
}

/// The middle of some numbers.
fn median(numbers: &mut [f64]) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}
