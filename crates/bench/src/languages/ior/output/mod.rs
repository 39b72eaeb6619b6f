//! What IOR prints, from a run's record: text, CSV and JSON with the same keys, columns and order.

mod csv;
mod figures;
mod json;
mod ordered;
mod text;

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use record::{RunRecord, TestRecord};

use super::Test;
use figures::Figures;

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryFormat {
    /// Tables.
    Text,
    /// One document.
    Json,
    /// Comma-separated values.
    Csv,
}

/// Everything that is to be written when a run has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The results in the format asked for.
    pub text: String,
    /// The file they are for; standard output when absent.
    pub file: Option<PathBuf>,
    /// Further files and what is in them: tasks one by one, how much was written.
    pub others: Vec<(PathBuf, String)>,
    /// What IOR prints as a warning: errors found, tasks that were late.
    pub warnings: Vec<String>,
}

/// A finished run and what it was asked for.
#[derive(Debug)]
pub struct Document<'a> {
    record: &'a RunRecord,
    tests: Vec<(&'a Test, Option<&'a TestRecord>, Figures)>,
    zone: TimeZone,
}

impl<'a> Document<'a> {
    /// The document of a run of `tests`, with times as the wall clock here shows them.
    pub fn new(record: &'a RunRecord, tests: &'a [Test]) -> Self {
        let done = |(number, test): (usize, &'a Test)| {
            let result = record.tests.get(number);
            (test, result, Figures::of(test, result))
        };
        Self { record, tests: tests.iter().enumerate().map(done).collect(), zone: TimeZone::system() }
    }

    /// What is to be written.
    pub fn report(&self) -> Report {
        let first = self.tests.first().map(|(test, _, _)| &test.parameters);
        let format = first.map_or("", |p| p.summary_format.as_str()).to_lowercase();
        let text = match format.as_str() {
            "json" => json::document(self),
            "csv" => csv::rows(self),
            _ => text::document(self),
        };
        let file = first.and_then(|p| p.summary_file.as_ref()).map(PathBuf::from);
        Report { text, file, others: self.others(), warnings: self.warnings() }
    }

    fn others(&self) -> Vec<(PathBuf, String)> {
        let mut files: Vec<(PathBuf, String)> = Vec::new();
        for (test, result, figures) in &self.tests {
            let p = &test.parameters;
            if let Some(file) = &p.rank_details {
                let lines = csv::ranks(test, *result);
                match files.iter_mut().find(|(path, _)| path.as_os_str() == file.as_str()) {
                    Some((_, text)) => text.push_str(lines.split_once('\n').map_or("", |(_, rows)| rows)),
                    None => files.push((PathBuf::from(file), lines)),
                }
            }
            let pairs = figures
                .rows
                .iter()
                .filter_map(|row| row.stonewall.as_ref())
                .map(|wall| wall.most)
                .next_back();
            if let (Some(file), Some(pairs), true) = (&p.status_file, pairs, p.write > 0) {
                files.push((PathBuf::from(file), pairs.to_string()));
            }
        }
        files
    }

    fn warnings(&self) -> Vec<String> {
        self.tests.iter().flat_map(|(_, _, figures)| figures.warnings.iter().cloned()).collect()
    }

    /// The wall clock `nanoseconds` after the start, as `ctime` writes it.
    fn clock(&self, nanoseconds: u64) -> String {
        let start: Timestamp = self.record.started_at.parse().unwrap_or(Timestamp::UNIX_EPOCH);
        let then =
            start.saturating_add(SignedDuration::from_nanos(nanoseconds.cast_signed())).unwrap_or(start);
        then.to_zoned(self.zone.clone()).strftime("%a %b %e %H:%M:%S %Y").to_string()
    }

    /// When a test began.
    fn test_clock(&self, result: Option<&TestRecord>) -> String {
        let first = result.and_then(|test| test.repetitions.first()?.phases.first());
        self.clock(first.map_or(0, |phase| phase.started_ns))
    }

    fn command(&self) -> String {
        self.record.command.join(" ")
    }

    fn machine(&self) -> String {
        format!("Linux {}", self.record.environment.hostname)
    }

    fn version(&self) -> String {
        format!("4.1.0 ({})", self.record.program)
    }
}

/// As IOR writes sizes for people: whole MiB, GiB or TiB where there are any, bytes below.
fn human(bytes: u64) -> String {
    let units = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.2} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}
