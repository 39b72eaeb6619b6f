//! The workload model: what to do, whatever language said it. IOR, mdtest, vdbench, IO500 and the SAS test are ways
//! to write one of these.
//!
//! A [`Workload`] is a [`FileSet`] and a list of [`Phase`]s over it. A phase is one or more [`Job`]s that run at the
//! same time, each on its own ranks: transfers of bytes ([`Transfer`]) or operations on entries ([`Entries`]).

mod entries;
mod files;
mod plan;
mod prepare;
mod rate;
mod stop;
mod transfer;
mod validate;

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Ratio};

pub use entries::{Entries, EntryOperation, Item, LookingFor, Selection};
pub use files::{FileSet, Layout, Tree};
pub use prepare::PREPARE;
pub use rate::{PhaseRate, RateStep};
pub use stop::Stop;
pub use transfer::{Arrival, Fsync, Order, Pacing, RankShift, Transfer, TransferSize, WeightedSize};

use crate::data::Data;

/// The only version of workload files so far.
pub const VERSION: u32 = 1;

/// Everything one test does, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Version of this layout: 1.
    pub version: u32,
    /// Name shown to people.
    #[serde(default = "default_name")]
    pub name: String,
    /// Ranks (threads on one host).
    #[serde(default = "one")]
    pub ranks: u32,
    /// Seed of data and random orders: equal seeds repeat a run exactly.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// How I/O is submitted.
    #[serde(default)]
    pub engine: EngineChoice,
    /// Bind each rank to a vCPU, physical cores first.
    #[serde(default)]
    pub pin: bool,
    /// Passes over all phases, each in a fresh directory.
    #[serde(default = "one")]
    pub repetitions: u32,
    /// The files.
    #[serde(default)]
    pub files: FileSet,
    /// What is written into them.
    #[serde(default)]
    pub data: Data,
    /// Further directories under test: what belongs to a rank lies in that of its number, in turn (IOR -o a@b, mdtest -d
    /// a@b). All that is promised of the target holds for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_targets: Vec<PathBuf>,
    /// Memory that is held while the test runs, so that less is left for the page cache (IOR -M).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_memory: Option<HoldMemory>,
    /// No phase starts later than this after the first (IOR -T); what runs then runs to its end.
    #[serde(default, with = "units::text::duration::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub max_time: Option<Duration>,
    /// Timed steps, one after the other with a barrier between.
    pub phases: Vec<Phase>,
}

/// How much memory is held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HoldMemory {
    /// Part of the host's memory.
    Share(
        #[serde(with = "units::text")]
        #[schemars(with = "String")]
        Ratio,
    ),
    /// So many bytes.
    Size(
        #[serde(with = "units::text")]
        #[schemars(with = "String")]
        Bytes,
    ),
}

/// How I/O is submitted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// A short probe on the target decides.
    #[default]
    Auto,
    /// `pread` and `pwrite`: one I/O in flight per rank.
    Psync,
    /// `io_uring` with registered buffers and files.
    Uring,
}

/// One timed step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its name in results.
    pub name: String,
    /// What runs at the same time. Ranks are dealt to jobs in order.
    pub jobs: Vec<Job>,
    /// Only the first of the ranks take part, as if there were no others (mdtest -f -l -s: a phase for each number).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// How fast all jobs together go; as fast as they can when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<PhaseRate>,
    /// When it ends.
    #[serde(default)]
    pub stop: Stop,
    /// Rest before it starts (IOR -d).
    #[serde(default, with = "units::text::duration", skip_serializing_if = "Duration::is_zero")]
    #[schemars(with = "String")]
    pub pause_before: Duration,
    /// Drop the files' clean pages from this host's page cache before it starts.
    #[serde(default)]
    pub drop_cache: bool,
    /// All ranks wait for each other between opening and transferring, and between transferring (with its fsync) and
    /// closing (IOR -g). A deadline then counts from the first of these, as IOR's does.
    #[serde(default)]
    pub barriers: bool,
}

/// What a group of ranks does in a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Ranks that do it; all that are left when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// Part of the phase's operations that are this job's (vdbench skew). Jobs that get ahead of their part wait for the
    /// others; jobs without a part share what is left.
    #[serde(default, with = "units::text::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub skew: Option<Ratio>,
    /// What they do.
    pub activity: Activity,
}

/// What a rank does in a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Move bytes.
    Transfer(Transfer),
    /// Make, look at, move and remove entries.
    Entries(Entries),
}

impl Activity {
    /// When its operations start.
    pub fn pacing(&self) -> Pacing {
        match self {
            Self::Transfer(transfer) => transfer.pacing,
            Self::Entries(entries) => entries.pacing,
        }
    }
}

impl Phase {
    /// A phase that all ranks spend on one transfer.
    pub fn transfer(name: &str, transfer: Transfer) -> Self {
        Self::of(name, Activity::Transfer(transfer))
    }

    /// A phase that all ranks spend on one operation on entries.
    pub fn entries(name: &str, entries: Entries) -> Self {
        Self::of(name, Activity::Entries(entries))
    }

    fn of(name: &str, activity: Activity) -> Self {
        Self {
            name: name.to_owned(),
            jobs: vec![Job { ranks: None, skew: None, activity }],
            ranks: None,
            rate: None,
            stop: Stop::default(),
            pause_before: Duration::ZERO,
            drop_cache: false,
            barriers: false,
        }
    }

    /// The job of rank `rank` of `ranks`, and the number of the job's first rank; `None` for ranks that sit out.
    pub fn job_of(&self, rank: u32, ranks: u32) -> Option<(&Job, u32)> {
        let ranks = self.size(ranks);
        let mut first = 0;
        for job in &self.jobs {
            let count = job.ranks.unwrap_or(ranks - first).min(ranks - first);
            if rank < first + count {
                return Some((job, first));
            }
            first += count;
        }
        None
    }

    /// Ranks that there are in this phase, of `ranks`.
    pub fn size(&self, ranks: u32) -> u32 {
        self.ranks.map_or(ranks, |own| own.min(ranks))
    }

    /// Ranks that take part.
    pub fn participants(&self, ranks: u32) -> u32 {
        (0..ranks).filter(|rank| self.job_of(*rank, ranks).is_some()).count() as u32
    }
}

fn default_name() -> String {
    "workload".to_owned()
}

const fn default_seed() -> u64 {
    0x0F0E_BA11
}

const fn one() -> u32 {
    1
}
