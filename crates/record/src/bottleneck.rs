//! What limits a system that was built by a design: its measured rates, held against each limit of the design.

use units::Bandwidth;

use crate::plan::{DesignSheet, LimitRow, RatesRow, StorageSheet};
use crate::run::{Direction, RequirementVerdict, RunRecord};

/// A limit counts as reached from this share of it on.
pub const NEAR: f64 = 0.9;

/// How a measured rate stands to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// More was measured than the limit's source allows: this limit did not hold.
    Exceeded,
    /// Within 10 % of the limit or closer.
    Near,
    /// The limit would let through more.
    Open,
    /// Nothing was measured.
    NotMeasured,
}

/// One limit of a design, for as much of the grid as a run used.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitComparison {
    /// `server VM disk limit`.
    pub name: String,
    /// How it comes about.
    pub cause: String,
    /// Document and date.
    pub source: Option<String>,
    /// What its source states, per pCore of the run.
    pub stated_per_pcore: Bandwidth,
    /// What is expected of it after calibration, per pCore of the run.
    pub reached_per_pcore: Bandwidth,
    /// Whether all clients share it, used by the run or not.
    pub shared: bool,
    /// Measured as a share of what is expected of it.
    pub share: Option<f64>,
    /// The same in a word.
    pub standing: Standing,
}

/// A requirement's measured rate beside the limits of the design.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignComparison {
    /// Name of the `[[storage]]` entry.
    pub storage: String,
    /// Direction.
    pub direction: Direction,
    /// What is required per pCore.
    pub required_per_pcore: Bandwidth,
    /// Median measured per pCore.
    pub measured_per_pcore: Option<Bandwidth>,
    /// What the design should deliver per pCore to a run of this extent; `None` when nothing known bounds it.
    pub expected_per_pcore: Option<Bandwidth>,
    /// The chain in the order data passes it; limits that don't bound this direction are left out.
    pub limits: Vec<LimitComparison>,
    /// The limit that explains the measured rate, by its place in `limits`.
    pub bottleneck: Option<usize>,
    /// Limits that are not in the catalog.
    pub unknown: Vec<String>,
    /// Why the run can only be held against a part of the design, in words.
    pub extent: Option<String>,
}

/// The part of a design that a run used.
#[derive(Debug, Clone, Copy)]
struct Extent {
    pcores: f64,
    hosts: f64,
    grid_pcores: f64,
    clients: f64,
}

/// Who has a limit to himself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Stream,
    Client,
    Grid,
}

fn scope(family: &str, place: &str) -> Scope {
    match (family, place) {
        (_, "one_stream") => Scope::Stream,
        // Volumes and NVMe of a client serve that client alone.
        ("striped-volumes" | "local-nvme", _)
        | (_, "client_network" | "client_mount" | "client_disks" | "local_nvme") => Scope::Client,
        _ => Scope::Grid,
    }
}

impl Extent {
    /// A rate of the whole design as the rate per pCore that a run of this extent could reach.
    fn per_pcore(self, rate: f64, scope: Scope) -> f64 {
        match scope {
            Scope::Stream => rate / self.grid_pcores,
            Scope::Client => rate / self.clients * self.hosts.min(self.clients) / self.pcores,
            Scope::Grid => rate / self.pcores,
        }
    }

    fn words(self) -> Option<String> {
        if self.pcores >= self.grid_pcores && self.hosts >= self.clients {
            return None;
        }
        let (pcores, all, hosts, clients) = (self.pcores, self.grid_pcores, self.hosts, self.clients);
        Some(format!(
            "The run used {pcores} of the design's {all} pCores, on {hosts} of its {clients} clients: of limits that all clients share it had more per pCore than the whole grid would have."
        ))
    }
}

/// Holds what was measured for a requirement on `hosts` hosts against `design`; `None` when the design has no storage of
/// that name.
pub fn compare_design(
    design: &DesignSheet,
    verdict: &RequirementVerdict,
    hosts: u32,
) -> Option<DesignComparison> {
    let storage = design.storages.iter().find(|storage| storage.name == verdict.storage)?;
    let extent = Extent {
        pcores: f64::from(verdict.pcores.max(1)),
        hosts: f64::from(hosts.max(1)),
        grid_pcores: f64::from(design.pcores().unwrap_or(verdict.pcores).max(1)),
        clients: f64::from(design.client_count.max(1)),
    };
    let measured = verdict.measured_per_pcore.map(|spread| spread.median_bytes_per_second);
    let limits: Vec<LimitComparison> = storage
        .limits
        .iter()
        .filter_map(|row| limit(storage, row, verdict.direction, measured, extent))
        .collect();
    Some(DesignComparison {
        storage: verdict.storage.clone(),
        direction: verdict.direction,
        required_per_pcore: verdict.required_per_pcore,
        measured_per_pcore: measured,
        expected_per_pcore: expected(storage, verdict.direction, extent),
        bottleneck: bottleneck(&limits),
        limits,
        unknown: storage.unknown.clone(),
        extent: extent.words(),
    })
}

fn limit(
    storage: &StorageSheet,
    row: &LimitRow,
    direction: Direction,
    measured: Option<Bandwidth>,
    extent: Extent,
) -> Option<LimitComparison> {
    let scope = scope(&storage.family, &row.place);
    let rate = |rates: &RatesRow| Some(extent.per_pcore(rates.of(direction)?, scope));
    let (stated, reached) = (rate(&row.stated)?, rate(&row.reached)?);
    let share = measured.map(|measured| measured.get() / reached).filter(|share| share.is_finite());
    let standing = match (measured, share) {
        (Some(measured), Some(_)) if measured.get() > stated => Standing::Exceeded,
        (Some(_), Some(share)) if share >= NEAR => Standing::Near,
        (Some(_), Some(_)) => Standing::Open,
        _ => Standing::NotMeasured,
    };
    Some(LimitComparison {
        name: row.name.clone(),
        cause: row.cause.clone(),
        source: row.source.clone(),
        stated_per_pcore: Bandwidth::bytes_per_second(stated),
        reached_per_pcore: Bandwidth::bytes_per_second(reached),
        shared: scope == Scope::Grid,
        share,
        standing,
    })
}

/// The limit nearest to the measured rate of those within 10 % of it.
fn bottleneck(limits: &[LimitComparison]) -> Option<usize> {
    let distance = |limit: &LimitComparison| limit.share.map_or(f64::INFINITY, |share| (share - 1.0).abs());
    let near = limits.iter().enumerate().filter(|(_, limit)| limit.standing == Standing::Near);
    near.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1))).map(|(index, _)| index)
}

/// The smallest limit, or for bursts 1 / rate = 1 / network + 1 / disks.
fn expected(storage: &StorageSheet, direction: Direction, extent: Extent) -> Option<Bandwidth> {
    let least = |places: &[&str]| {
        let rows = storage.limits.iter().filter(|row| places.is_empty() || places.contains(&&*row.place));
        let rate = |row: &LimitRow| {
            Some(extent.per_pcore(row.reached.of(direction)?, scope(&storage.family, &row.place)))
        };
        rows.filter_map(rate).fold(f64::INFINITY, f64::min)
    };
    let burst = direction == Direction::Write && storage.write_law == "burst";
    let rate = if burst && storage.family == "lustre-on-vms" {
        let network = least(&["one_stream", "client_network", "server_network"]);
        let disks = least(&["server_disks", "disk_bandwidth", "disk_iops"]);
        1.0 / (1.0 / network + 1.0 / disks)
    } else {
        least(&[])
    };
    rate.is_finite().then(|| Bandwidth::bytes_per_second(rate))
}

impl RatesRow {
    /// The rate of reading or writing alone.
    pub const fn of(&self, direction: Direction) -> Option<f64> {
        match direction {
            Direction::Read => self.read_bytes_per_second,
            Direction::Write => self.write_bytes_per_second,
        }
    }
}

impl DesignSheet {
    /// Physical cores of the grid it was made for, from its design file.
    pub fn pcores(&self) -> Option<u32> {
        self.design.pointer("/grid/pcores")?.as_u64()?.try_into().ok()
    }
}

impl DesignComparison {
    /// What the comparison says, in one or two sentences.
    pub fn sentence(&self) -> String {
        let Some(measured) = self.measured_per_pcore else { return "Nothing was measured.".to_owned() };
        let measured = format!("measured {} per pCore", mb(measured));
        let mut parts = Vec::new();
        if let Some(limit) = self.smallest(|limit| limit.standing == Standing::Exceeded) {
            parts.push(format!(
                "{measured} is more than the {} lets through by its source ({}): a cache helped, or the system is not built as the design says",
                limit.name,
                mb(limit.stated_per_pcore)
            ));
        }
        let limit = self.bottleneck.and_then(|index| self.limits.get(index));
        match limit.and_then(|limit| Some((limit, limit.share?))) {
            Some((limit, share)) => parts.push(format!(
                "{measured} is {:.0} % of the {} ({} per pCore): this limits it",
                share * 100.0,
                limit.name,
                mb(limit.reached_per_pcore)
            )),
            None if parts.is_empty() => parts.push(self.unexplained(&measured)),
            None => {}
        }
        parts.join("; ")
    }

    fn unexplained(&self, measured: &str) -> String {
        let Some(limit) = self.smallest(|limit| limit.standing == Standing::Open) else {
            return format!("{measured}; no limit of the design is known for this direction");
        };
        let unknown = match self.unknown.as_slice() {
            [] => String::new(),
            unknown => format!("; not known: {}", unknown.join(", ")),
        };
        format!(
            "{measured} is less than 90 % of every limit of the design, so none explains it; the lowest, the {}, would let through {} per pCore{unknown}",
            limit.name,
            mb(limit.reached_per_pcore)
        )
    }

    fn smallest(&self, which: impl Fn(&LimitComparison) -> bool) -> Option<&LimitComparison> {
        let rate = |limit: &LimitComparison| limit.reached_per_pcore.get();
        self.limits.iter().filter(|limit| which(limit)).min_by(|a, b| rate(a).total_cmp(&rate(b)))
    }
}

fn mb(rate: Bandwidth) -> String {
    format!("{:.1} MB/s", rate.as_mb())
}

impl RunRecord {
    /// Every requirement that was judged beside the limits of the run's design, if it has one.
    pub fn design_comparisons(&self) -> Vec<DesignComparison> {
        let Some(design) = &self.design else { return Vec::new() };
        let compare = |verdict| compare_design(design, verdict, self.hosts_of(verdict));
        self.requirements.iter().filter_map(compare).collect()
    }

    /// Hosts whose ranks measured a requirement.
    fn hosts_of(&self, verdict: &RequirementVerdict) -> u32 {
        let test = self.tests.iter().filter(|test| test.name == verdict.test);
        let phases = test.flat_map(|test| &test.repetitions).flat_map(|repetition| &repetition.phases);
        let mut hosts: Vec<&str> =
            phases.flat_map(|phase| &phase.ranks).map(|rank| rank.host.as_str()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        u32::try_from(hosts.len()).unwrap_or(u32::MAX).max(1)
    }
}

#[cfg(test)]
mod tests;
