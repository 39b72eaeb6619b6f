//! The workload model: what to do, whatever language said it. IOR, mdtest, vdbench, IO500 and the SAS test are ways
//! to write one of these.
//!
//! A [`Workload`] is a [`FileSet`] and a list of [`Phase`]s over it. A phase is one or more [`Job`]s that run at the
//! same time, each on its own ranks: transfers of bytes ([`Transfer`]) or operations on entries ([`Entries`]).

mod entries;
mod files;
mod named;
mod plan;
mod prepare;
mod rate;
mod stop;
mod striping;
mod transfer;
mod validate;

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Ratio};

pub use entries::{Entries, EntryOperation, Instant, Item, LookingFor, Selection};
pub use files::{FileSet, Layout, Tree};
pub use named::{Existing, Named};
pub use prepare::PREPARE;
pub use rate::{PhaseRate, RateStep};
pub use stop::Stop;
pub use striping::{StripedExtent, Striping};
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
    /// a@b); a tree that all share is in each of them (vdbench fsd). All that is promised of the target holds for each.
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
    /// Jobs are dealt to each group of so many ranks anew. Over several processes with whole groups, each has ranks of every
    /// job, as jobs that wait for each other and items that ranks take from each other need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
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
    /// How much of its beginning steady figures leave out (vdbench warmup). All of it is in the record.
    #[serde(default, with = "units::text::duration", skip_serializing_if = "Duration::is_zero")]
    #[schemars(with = "String")]
    pub warm_up: Duration,
    /// Files for a line per operation of each rank (`time,runtime,tp`: s, s, bytes/s), each written on the rank's own host when
    /// the times of the phase are taken (IOR savePerOpDataCSV). `{rank}` stands for five digits, `{repetition}` counts from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_log: Option<String>,
    /// It is left out when an earlier phase was slow, or was left out itself (vdbench stopcurve).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_above: Option<SkipAbove>,
}

/// When a phase is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkipAbove {
    /// The earlier phase of the same repetition.
    pub phase: String,
    /// Its mean latency above which this one is left out.
    #[serde(with = "units::text::duration")]
    #[schemars(with = "String")]
    pub mean: Duration,
}

/// What a group of ranks does in a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Ranks that do it; all that are left when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// Only in these groups of ranks, counting from 0; in all when empty. Its ranks in the others sit out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_groups: Vec<u32>,
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

impl Workload {
    /// Deals the jobs of its phases to each `ranks` ranks anew, where they were not dealt to all as one.
    pub fn group_jobs(&mut self, ranks: u32) {
        for phase in &mut self.phases {
            let dealt = phase.jobs.len() > 1 || phase.jobs.iter().any(|job| job.ranks.is_some());
            if dealt && phase.group.is_none() && phase.ranks.is_none() {
                phase.group = Some(ranks);
            }
        }
    }

    /// One rank, default files, and nothing to do yet.
    pub fn empty() -> Self {
        Self {
            version: VERSION,
            name: default_name(),
            ranks: 1,
            seed: default_seed(),
            engine: EngineChoice::Auto,
            pin: false,
            repetitions: 1,
            files: FileSet::default(),
            data: Data::default(),
            more_targets: Vec::new(),
            hold_memory: None,
            max_time: None,
            phases: Vec::new(),
        }
    }
}

impl Job {
    /// On all ranks that are left, in all groups.
    pub fn of(activity: Activity) -> Self {
        Self { ranks: None, only_groups: Vec::new(), skew: None, activity }
    }

    /// Whether it is done in group number `group`.
    fn is_in(&self, group: u32) -> bool {
        self.only_groups.is_empty() || self.only_groups.contains(&group)
    }
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
            jobs: vec![Job::of(activity)],
            ranks: None,
            group: None,
            rate: None,
            stop: Stop::default(),
            pause_before: Duration::ZERO,
            drop_cache: false,
            barriers: false,
            warm_up: Duration::ZERO,
            operation_log: None,
            skip_above: None,
        }
    }

    /// The job of rank `rank` of `ranks`, and the number of the job's first rank in its group; `None` for ranks that sit out.
    pub fn job_of(&self, rank: u32, ranks: u32) -> Option<(&Job, u32)> {
        let group = self.group_of(rank, ranks)?;
        let number = rank / self.group.unwrap_or(u32::MAX).max(1);
        let mut first = group.start;
        for job in &self.jobs {
            let left = group.end - first;
            let count = job.ranks.unwrap_or(left).min(left);
            if rank < first + count {
                return job.is_in(number).then_some((job, first));
            }
            first += count;
        }
        None
    }

    /// The ranks of the group of rank `rank`: all of the phase unless it has groups; `None` for ranks beyond the phase's.
    pub fn group_of(&self, rank: u32, ranks: u32) -> Option<Range<u32>> {
        let size = self.size(ranks);
        if rank >= size {
            return None;
        }
        let Some(each) = self.group.filter(|each| *each > 0) else { return Some(0..size) };
        let start = rank / each * each;
        Some(start..start.saturating_add(each).min(size))
    }

    /// Number and size among all ranks that do job number `job`, of its rank that is `rank`.
    pub fn place_in(&self, job: usize, rank: u32, ranks: u32) -> (u32, u32) {
        let mine = |other: &u32| {
            self.job_of(*other, ranks).is_some_and(|(own, _)| std::ptr::eq(own, &raw const self.jobs[job]))
        };
        if self.group.is_none() {
            // Without groups they are one row: no need to look at each.
            let size = self.size(ranks);
            let first = self.job_of(rank, ranks).map_or(0, |(_, first)| first);
            return (rank - first, self.jobs[job].ranks.unwrap_or(u32::MAX).min(size - first));
        }
        let before = (0..rank).filter(mine).count() as u32;
        (before, before + (rank..self.size(ranks)).filter(mine).count() as u32)
    }

    /// The phase as one repetition, counting from 0, does it.
    #[must_use]
    pub fn in_repetition(&self, repetition: u32) -> Self {
        let mut phase = self.clone();
        for job in &mut phase.jobs {
            let shift = match &mut job.activity {
                Activity::Transfer(transfer) => &mut transfer.rank_shift,
                Activity::Entries(entries) => &mut entries.rank_shift,
            };
            *shift = shift.in_repetition(repetition);
        }
        let number = repetition.to_string();
        phase.operation_log = phase.operation_log.map(|log| log.replace("{repetition}", &number));
        phase
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

impl Workload {
    /// A workload without phases, everything else at its default: a start for languages that fill in what they know.
    pub fn blank() -> Self {
        Self {
            version: VERSION,
            name: default_name(),
            ranks: one(),
            seed: default_seed(),
            engine: EngineChoice::Auto,
            pin: false,
            repetitions: one(),
            files: FileSet::default(),
            data: Data::default(),
            more_targets: Vec::new(),
            hold_memory: None,
            max_time: None,
            phases: Vec::new(),
        }
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
