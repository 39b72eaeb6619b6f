//! The phases of a record, each with all its repetitions side by side.

use record::{
    HostResult, Interval, Latency, OperationKind, PhaseResult, RankResult, RunRecord, Spread, TestRecord,
};
use units::{Bandwidth, Iops};

use super::verdict;
use crate::table::Table;
use crate::text;

/// What a phase's rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// Bytes, shown in MB/s.
    Bytes,
    /// Operations, for phases that move no bytes.
    Operations,
}

impl Rate {
    /// The unit that figures of this rate are in.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Bytes => "MB/s",
            Self::Operations => "op/s",
        }
    }

    /// With its unit: `171.2 MB/s`, `3120 op/s`.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Bytes => text::mb(Bandwidth::mb_per_second(value)),
            Self::Operations => format!("{value:.0} op/s"),
        }
    }

    /// The rate of an interval, in [`Self::unit`].
    pub fn of_interval(self, interval: &Interval) -> f64 {
        self.pick(interval.bandwidth(), interval.iops())
    }

    /// The rate of a rank until its files were closed, in [`Self::unit`].
    pub fn of_rank(self, rank: &RankResult) -> f64 {
        let elapsed = std::time::Duration::from_nanos(rank.closed_ns);
        self.pick(rank.bandwidth(), Iops::over(rank.operations, elapsed))
    }

    /// The rate of a host until its files were closed, in [`Self::unit`].
    pub fn of_host(self, host: &HostResult) -> f64 {
        self.pick(host.bandwidth(), host.iops())
    }

    fn pick(self, bandwidth: Bandwidth, iops: Iops) -> f64 {
        match self {
            Self::Bytes => bandwidth.as_mb(),
            Self::Operations => iops.get(),
        }
    }
}

/// One phase of one test, over all repetitions that got to it.
pub struct Phase<'a> {
    /// The test it belongs to.
    pub test: &'a TestRecord,
    /// Its name.
    pub name: &'a str,
    /// Repetition number and result.
    pub results: Vec<(u32, &'a PhaseResult)>,
}

impl<'a> Phase<'a> {
    /// All phases of all tests, in order.
    pub fn all(record: &'a RunRecord) -> Vec<Self> {
        record.tests.iter().flat_map(Self::of_test).collect()
    }

    /// The phases of one test, in order.
    pub fn of_test(test: &'a TestRecord) -> Vec<Self> {
        let results = |name: &str| {
            let all = test.repetitions.iter().flat_map(|r| r.phases.iter().map(move |p| (r.number, p)));
            all.filter(|(_, phase)| phase.name == name).collect()
        };
        test.phase_names().into_iter().map(|name| Self { test, name, results: results(name) }).collect()
    }

    /// What its rate counts.
    pub fn rate(&self) -> Rate {
        let moves_bytes = self.results.iter().any(|(_, phase)| phase.last_done.bytes.get() > 0);
        if moves_bytes { Rate::Bytes } else { Rate::Operations }
    }

    /// `work · write`, unique in the record.
    pub fn title(&self) -> String {
        format!("{} · {}", self.test.name, self.name)
    }

    /// Latency per kind of operation, repetitions merged; kinds that did nothing are left out.
    pub fn latencies(&self) -> Vec<(OperationKind, Latency)> {
        let mut merged: Vec<(OperationKind, Latency)> = Vec::new();
        for operation in self.results.iter().flat_map(|(_, phase)| &phase.operations) {
            if operation.latency.count() == 0 {
                continue;
            }
            match merged.iter_mut().find(|(kind, _)| *kind == operation.kind) {
                Some((_, latency)) => latency.merge(&operation.latency),
                None => merged.push((operation.kind, operation.latency.clone())),
            }
        }
        merged
    }

    /// Rate per rank by the SAS rule, over the repetitions; `None` for phases without bytes.
    pub fn spread(&self) -> Option<Spread> {
        if self.rate() == Rate::Operations {
            return None;
        }
        let mut rates: Vec<f64> = self.results.iter().map(|(_, phase)| phase.rate_per_rank().get()).collect();
        rates.retain(|rate| rate.is_finite());
        let median = median(&mut rates)?;
        Some(Spread {
            median_bytes_per_second: Bandwidth::bytes_per_second(median),
            min_bytes_per_second: Bandwidth::bytes_per_second(*rates.first()?),
            max_bytes_per_second: Bandwidth::bytes_per_second(*rates.last()?),
        })
    }
}

/// Median of `values`, which come back sorted; `None` without values.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    if values.len().is_multiple_of(2) {
        return Some(f64::midpoint(values[values.len() / 2 - 1], upper));
    }
    Some(upper)
}

/// Every repetition of every phase in one row.
pub fn table(record: &RunRecord) -> Table {
    let mut table =
        Table::new("Every repetition; per rank is bytes of a rank over the mean time of the ranks")
            .words(["Test and phase"])
            .figures(["Repetition", "Ranks", "Per rank (MB/s)", "Per rank (MiB/s)", "All ranks (MB/s)"])
            .figures(["All ranks (op/s)", "Moved", "Time", "Errors"])
            .words(["Belief"]);
    for phase in Phase::all(record) {
        for (number, result) in &phase.results {
            let per_rank = result.rate_per_rank();
            let of_bytes = |show: String| {
                if phase.rate() == Rate::Bytes { show } else { text::NONE.to_owned() }
            };
            table.row(vec![
                phase.title().into(),
                number.to_string().into(),
                result.rank_count().to_string().into(),
                of_bytes(format!("{:.1}", per_rank.as_mb())).into(),
                of_bytes(format!("{:.1}", per_rank.as_mib())).into(),
                of_bytes(format!("{:.1}", result.bandwidth().as_mb())).into(),
                format!("{:.0}", result.last_done.iops().get()).into(),
                result.last_done.bytes.to_string().into(),
                text::seconds(result.last_done.elapsed_ns).into(),
                result.error_count.to_string().into(),
                verdict::validity(result.validity()),
            ]);
        }
    }
    table
}

/// Failed operations, as evidence.
pub fn errors(record: &RunRecord) -> Table {
    let mut table = Table::new("Failed operations (the first of each kind; all are counted)")
        .words(["Test and phase"])
        .figures(["Repetition", "Rank"])
        .words(["Operation", "File", "Error", "What to do"]);
    for phase in Phase::all(record) {
        for (number, error) in phase.results.iter().flat_map(|(n, p)| p.errors.iter().map(move |e| (n, e))) {
            let offset = error.offset.map_or_else(String::new, |offset| format!(" at byte {offset}"));
            table.row(vec![
                phase.title().into(),
                number.to_string().into(),
                error.rank.to_string().into(),
                error.kind.word().into(),
                format!("{}{offset}", error.file).into(),
                error.message.as_str().into(),
                error.hint.as_deref().unwrap_or(text::NONE).into(),
            ]);
        }
    }
    table
}

/// What was read back and compared, where that was asked for.
pub fn verification(record: &RunRecord) -> Table {
    let mut table = Table::new("Data read back and compared").words(["Test and phase"]).figures([
        "Repetition",
        "Compared",
        "Words that differ",
    ]);
    for phase in Phase::all(record) {
        for (number, result) in &phase.results {
            if result.verified_bytes.get() == 0 && result.verify_failures == 0 {
                continue;
            }
            table.row(vec![
                phase.title().into(),
                number.to_string().into(),
                result.verified_bytes.to_string().into(),
                result.verify_failures.to_string().into(),
            ]);
        }
    }
    table
}

/// What was looked for and found, where anything was.
pub fn searches(record: &RunRecord) -> Table {
    let mut table = Table::new("Entries looked for and found").words(["Test and phase"]).figures([
        "Repetition",
        "Looked at",
        "Found",
    ]);
    for phase in Phase::all(record) {
        for (number, result) in &phase.results {
            if let Some(matched) = result.matched {
                table.row(vec![
                    phase.title().into(),
                    number.to_string().into(),
                    result.operation_count().to_string().into(),
                    matched.to_string().into(),
                ]);
            }
        }
    }
    table
}
