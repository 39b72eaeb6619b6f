//! The factors with the runs they rest on. A row of the user's catalog keeps each run's shares in its notes, so that more runs
//! can be added and none counts twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use ::catalog::{Catalog, Factor, NewRow, Pair, Table, fit};
use fault::{Fault, Kind};
use plan::calibration::OWN_RUNS;
use serde::Serialize;

use super::measured::Ratio;

const TABLE: Table = Table::Calibration;

/// Shares of one kind of system and operation, by run.
type Shares = BTreeMap<String, Vec<f64>>;

/// All shares that were measured by the user's own runs.
#[derive(Debug, Default)]
pub struct Ledger {
    known: BTreeMap<(String, String), Shares>,
}

/// A factor, before and now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// The kind of system.
    pub architecture: String,
    /// `read`, `write`.
    pub operation: String,
    /// Median share of the model's smallest limit.
    pub factor: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Results it rests on.
    pub n: u32,
    /// What was planned with before, in words.
    pub before: String,
    /// The runs.
    pub runs: Vec<String>,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { architecture, operation, factor, min, max, n, before, runs } = self;
        let few = if *n < 3 { ", few data" } else { "" };
        write!(
            f,
            "{architecture} {operation}: {before} -> {factor:.4} ({min:.4}-{max:.4}, n={n}{few}) from runs {}",
            runs.join(", ")
        )
    }
}

impl Ledger {
    /// What earlier calibrations left in the user's catalog.
    pub fn of(catalog: &Catalog) -> fault::Result<Self> {
        let mut known = BTreeMap::new();
        let own =
            |row: &&::catalog::Row| !row.origin.built_in && row.cell(TABLE, "source").starts_with(OWN_RUNS);
        for row in catalog.rows.of(TABLE).iter().filter(own) {
            let shares = shares(row.cell(TABLE, "notes")).ok_or_else(|| {
                let message = format!(
                    "{}:{}: column `notes`: does not have the share of each run",
                    row.origin.file, row.line
                );
                Fault::new(Kind::Spec, message)
                    .hint("write for example `20261121-214226-3f9a1c: 0.9123`, or remove the row and calibrate again with all runs")
            })?;
            let key = |column| row.cell(TABLE, column).to_owned();
            known.insert((key("architecture"), key("operation")), shares);
        }
        Ok(Self { known })
    }

    /// Adds shares; those of a run that is known already take the place of its earlier ones. The factors that follow.
    pub fn learn(&mut self, ratios: &[Ratio], catalog: &Catalog) -> Vec<Entry> {
        let key = |ratio: &Ratio| (ratio.family.clone(), ratio.operation.to_owned());
        let touched: BTreeSet<_> = ratios.iter().map(key).collect();
        for ratio in ratios {
            self.known.entry(key(ratio)).or_default().insert(ratio.run.clone(), Vec::new());
        }
        let mut taken = BTreeSet::new();
        for ratio in ratios {
            // A run that is named twice on the command line counts once.
            if taken.insert((key(ratio), ratio.run.clone(), ratio.value.to_bits()))
                && let Some(shares) =
                    self.known.get_mut(&key(ratio)).and_then(|runs| runs.get_mut(&ratio.run))
            {
                shares.push(rounded(ratio.value));
            }
        }
        touched.into_iter().filter_map(|key| self.entry(key, catalog)).collect()
    }

    fn entry(&self, (architecture, operation): (String, String), catalog: &Catalog) -> Option<Entry> {
        let runs = self.known.get(&(architecture.clone(), operation.clone()))?;
        let pair = |share: &f64| Pair { measured: *share, model: 1.0, cached: false };
        let fitted = fit(&runs.values().flatten().map(pair).collect::<Vec<_>>())?;
        let before: Factor = catalog.factor(&architecture, &operation);
        Some(Entry {
            before: before.text(),
            runs: runs.keys().cloned().collect(),
            factor: rounded(fitted.factor),
            min: fitted.min,
            max: fitted.max,
            n: fitted.n,
            architecture,
            operation,
        })
    }

    /// The entries as rows of the catalog.
    pub fn rows(&self, entries: &[Entry], today: &str) -> Vec<NewRow> {
        let row = |entry: &Entry| {
            let shares = self.known.get(&(entry.architecture.clone(), entry.operation.clone()));
            BTreeMap::from([
                ("architecture", entry.architecture.clone()),
                ("operation", entry.operation.clone()),
                ("factor", entry.factor.to_string()),
                ("n", entry.n.to_string()),
                ("min", entry.min.to_string()),
                ("max", entry.max.to_string()),
                ("notes", shares.map(text).unwrap_or_default()),
                ("source", format!("{OWN_RUNS}{}", entry.runs.join(", "))),
                ("as_of", today.to_owned()),
            ])
        };
        entries.iter().map(row).collect()
    }
}

/// A share keeps six digits: a run's rate has no more.
fn rounded(share: f64) -> f64 {
    (share * 1e6).round() / 1e6
}

/// `RUN: 0.91, 0.93; RUN: 0.95`
fn text(shares: &Shares) -> String {
    let one = |(run, shares): (&String, &Vec<f64>)| {
        format!("{run}: {}", shares.iter().map(f64::to_string).collect::<Vec<_>>().join(", "))
    };
    shares.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn shares(text: &str) -> Option<Shares> {
    let one = |part: &str| {
        let (run, shares) = part.split_once(':')?;
        let shares: Option<Vec<f64>> = shares.split(',').map(|share| share.trim().parse().ok()).collect();
        Some((run.trim().to_owned(), shares?))
    };
    text.split(';').map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(run: &str, value: f64) -> Ratio {
        Ratio { run: run.to_owned(), family: "nfs-service".to_owned(), operation: "read", value }
    }

    #[test]
    fn a_run_counts_once_however_often_it_is_learnt_from() {
        let catalog = Catalog::embedded().unwrap();
        let mut ledger = Ledger::default();
        let first = ledger.learn(&[ratio("a", 0.8), ratio("a", 0.8), ratio("b", 1.0)], &catalog);
        assert_eq!((first[0].factor, first[0].n), (0.9, 2));
        let again = ledger.learn(&[ratio("a", 0.8)], &catalog);
        assert_eq!((again[0].factor, again[0].n), (0.9, 2));
        let two_storages = ledger.learn(&[ratio("a", 0.7), ratio("a", 0.8)], &catalog);
        assert_eq!((two_storages[0].factor, two_storages[0].min, two_storages[0].n), (0.8, 0.7, 3));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let catalog = Catalog::embedded().unwrap();
        let mut ledger = Ledger::default();
        let entries = ledger.learn(&[ratio("a", 0.812_345_678), ratio("b", 1.25), ratio("b", 0.5)], &catalog);
        let dir = tempfile::tempdir().unwrap();
        ::catalog::update(dir.path(), TABLE, &ledger.rows(&entries, "2026-11-22")).unwrap();
        let again = Ledger::of(&Catalog::load(dir.path()).unwrap()).unwrap();
        assert_eq!(again.known, ledger.known);
        assert!(shares("edited by hand").is_none() && shares("a: x").is_none());
    }
}
