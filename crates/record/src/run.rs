//! The run document: everything about one run, in one versioned JSON file.

use std::path::PathBuf;

use host::Environment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bandwidth, Bytes};

use crate::check::{Check, Validity};
use crate::hosts::HostSeat;
use crate::imported::Imported;
use crate::phase::PhaseResult;
use crate::plan::DesignSheet;
use crate::search::Search;
use crate::sweep::SweepPoint;

/// Version of the run document this program writes.
pub const VERSION: u32 = 1;

/// How far a run came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Still going, or killed without a chance to say so.
    Running,
    /// All tests ran to their end.
    Complete,
    /// Stopped by a signal; what was measured is kept.
    Interrupted,
    /// Ended by a failure; what was measured is kept.
    Failed,
}

/// Why a run ended early.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunError {
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// One run of `forebay`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// Version of this document's layout.
    pub version: u32,
    /// Unique name, sorted by time: `20261121-214226-3f9a1c`.
    pub id: String,
    /// The user's own name for it.
    pub label: Option<String>,
    /// How far it came.
    pub state: RunState,
    /// Why it ended early.
    pub error: Option<RunError>,
    /// Program and version, `forebay 0.1.0`.
    pub program: String,
    /// The command line, to repeat it.
    pub command: Vec<String>,
    /// Process that wrote it, to tell a running run from a killed one.
    pub process_id: u32,
    /// Boot it ran in.
    pub boot_id: String,
    /// Wall clock at the start, RFC 3339.
    pub started_at: String,
    /// Monotonic length of the run.
    pub elapsed_ns: u64,
    /// The spec file's text, if there was one.
    pub spec: Option<SpecDocument>,
    /// The machine and the storage.
    pub environment: Environment,
    /// Tests in the order they ran.
    pub tests: Vec<TestRecord>,
    /// Verdict per requirement.
    pub requirements: Vec<RequirementVerdict>,
    /// The design the storage was built by, if there was one: its limits explain what was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<DesignSheet>,
    /// The file of another tool whose results these are; absent for what this program measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// What its tests say together, when they are the runs of a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// Which point of a sweep it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<SweepPoint>,
}

/// A spec file as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpecDocument {
    /// Where it was.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Name of the grid.
    pub grid: String,
}

/// One test with all its repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestRecord {
    /// Name in the spec, or the test's kind.
    pub name: String,
    /// `iotest`, `workload`.
    pub test: String,
    /// Directory under test.
    pub target: PathBuf,
    /// One line about what was run: `2 ranks, 64 KiB sequential, 1 GiB per rank`.
    pub summary: String,
    /// The workload that ran (`bench::Workload` as JSON): equal workloads can be compared.
    pub workload: serde_json::Value,
    /// pCores the per-pCore rates are based on.
    pub pcores: u32,
    /// Short runs that stand for longer ones say so: `time-boxed 60 s`.
    pub equivalence: Option<String>,
    /// The machine and the storage, when the target is on another file system than the first test's.
    pub environment: Option<Environment>,
    /// The hosts it ran on, where there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostSeat>,
    /// Memory that was kept from the page cache while it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_memory: Option<HeldMemory>,
    /// Repetitions in order.
    pub repetitions: Vec<Repetition>,
    /// Checks over all repetitions (variance).
    pub checks: Vec<Check>,
}

/// Memory that a test held, so that less was left for the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldMemory {
    /// How much.
    pub size_bytes: Bytes,
    /// Whether it could not be swapped out.
    pub locked: bool,
}

/// One pass over the phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repetition {
    /// Counting from 1.
    pub number: u32,
    /// Phases in order.
    pub phases: Vec<PhaseResult>,
    /// How long it took to remove the files; `None` while they are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed_ns: Option<u64>,
}

impl TestRecord {
    /// All results of the phase called `name`, one per repetition.
    pub fn phases<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a PhaseResult> {
        self.repetitions.iter().flat_map(|r| &r.phases).filter(move |p| p.name == name)
    }

    /// The names of the phases, in order of first appearance.
    pub fn phase_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for phase in self.repetitions.iter().flat_map(|r| &r.phases) {
            if !names.contains(&phase.name.as_str()) {
                names.push(&phase.name);
            }
        }
        names
    }

    /// What all checks of the test and its phases say.
    pub fn validity(&self) -> Validity {
        let phases = self.repetitions.iter().flat_map(|r| &r.phases).flat_map(|p| &p.checks);
        Validity::of(phases.chain(&self.checks))
    }
}

/// Which direction of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Reading.
    Read,
    /// Writing.
    Write,
}

impl Direction {
    /// The word shown to people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// Median and range of one figure over the repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Median, in bytes per second.
    pub median_bytes_per_second: Bandwidth,
    /// Smallest, in bytes per second.
    pub min_bytes_per_second: Bandwidth,
    /// Largest, in bytes per second.
    pub max_bytes_per_second: Bandwidth,
}

/// Required against measured, for one storage requirement and direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementVerdict {
    /// Name of the `[[storage]]` entry.
    pub storage: String,
    /// Name of the test that measured it.
    pub test: String,
    /// Direction.
    pub direction: Direction,
    /// What is asked of this host, per pCore, in bytes per second.
    pub required_per_pcore: Bandwidth,
    /// What was measured per pCore (SAS rule: size / mean time); `None` if the test did not get that far.
    pub measured_per_pcore: Option<Spread>,
    /// pCores of this host the figures refer to.
    pub pcores: u32,
    /// (measured - required) / required, of the medians.
    pub margin: Option<f64>,
    /// Whether the median meets the requirement.
    pub met: bool,
    /// Whether the measurement can be believed.
    pub validity: Validity,
    /// What limited it.
    pub limited_by: String,
}

pub(crate) fn met(requirements: &[RequirementVerdict]) -> Option<bool> {
    if requirements.is_empty() {
        return None;
    }
    Some(requirements.iter().all(|r| r.met && r.validity != Validity::NotValid))
}

impl RunRecord {
    /// Whether anything was made or measured yet. Until then there is nothing worth keeping.
    pub fn has_begun(&self) -> bool {
        self.tests.iter().any(|test| !test.repetitions.is_empty())
    }

    /// Whether every requirement is met by numbers that can be believed; `None` if there were no requirements.
    pub fn met(&self) -> Option<bool> {
        met(&self.requirements)
    }

    /// What all checks of all tests say; an early end is never valid.
    pub fn validity(&self) -> Validity {
        if self.state != RunState::Complete {
            return Validity::NotValid;
        }
        self.tests.iter().map(TestRecord::validity).max().unwrap_or_default()
    }
}
