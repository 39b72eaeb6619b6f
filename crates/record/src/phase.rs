//! The result of one phase of a run: what was done, how fast, by whom, and what else the machine saw.

use std::time::Duration;

use host::Counters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bandwidth, Bytes, Iops};

use crate::check::{Check, Validity};
use crate::hosts::{HostResult, LostProcess, StorageLayout};
use crate::latency::Latency;
use crate::limit::Limit;

/// A kind of operation that is counted and timed on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// Bytes read.
    Read,
    /// Bytes written.
    Write,
    /// A file's data made durable.
    Fsync,
    /// An existing file opened.
    Open,
    /// A file closed.
    Close,
    /// A file created (open with create, write, close: mdtest's creation).
    Create,
    /// Attributes of a file or directory read.
    Stat,
    /// A file opened, read and closed (mdtest's read).
    ReadFile,
    /// An entry renamed.
    Rename,
    /// A file removed.
    Remove,
    /// A directory made.
    MakeDirectory,
    /// A directory removed.
    RemoveDirectory,
    /// A special node made (mdtest -k).
    MakeNode,
    /// A directory entry visited by a tree walk.
    Find,
    /// Attributes of a file changed.
    SetAttributes,
}

impl OperationKind {
    /// All kinds, in the order they are stored.
    pub const ALL: [Self; 15] = [
        Self::Read,
        Self::Write,
        Self::Fsync,
        Self::Open,
        Self::Close,
        Self::Create,
        Self::Stat,
        Self::ReadFile,
        Self::Rename,
        Self::Remove,
        Self::MakeDirectory,
        Self::RemoveDirectory,
        Self::MakeNode,
        Self::Find,
        Self::SetAttributes,
    ];

    /// The word shown to people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Fsync => "fsync",
            Self::Open => "open",
            Self::Close => "close",
            Self::Create => "create",
            Self::Stat => "stat",
            Self::ReadFile => "read file",
            Self::Rename => "rename",
            Self::Remove => "remove",
            Self::MakeDirectory => "make directory",
            Self::RemoveDirectory => "remove directory",
            Self::MakeNode => "make node",
            Self::Find => "find",
            Self::SetAttributes => "set attributes",
        }
    }
}

/// All operations of one kind in a phase, over all ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationResult {
    /// Kind.
    pub kind: OperationKind,
    /// How many were done.
    pub operations: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// Their latency; in open-loop phases from the intended start.
    pub latency: Latency,
}

/// The state of the whole phase at one instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// Since the phase's common start.
    pub elapsed_ns: u64,
    /// Main operations done by all ranks until then.
    pub operations: u64,
    /// Bytes moved by all ranks until then.
    pub bytes: Bytes,
}

impl Mark {
    /// Bytes over time at this mark.
    pub fn bandwidth(&self) -> Bandwidth {
        self.bytes.per(Duration::from_nanos(self.elapsed_ns))
    }

    /// Operations over time at this mark.
    pub fn iops(&self) -> Iops {
        Iops::over(self.operations, Duration::from_nanos(self.elapsed_ns))
    }
}

/// What one rank did, on its own monotonic clock. All stamps count from the phase's common start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankResult {
    /// Number of the rank.
    pub rank: u32,
    /// Host it ran on.
    pub host: String,
    /// Main operations done.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: Bytes,
    /// Files open, first transfer about to start.
    pub opened_ns: u64,
    /// Last transfer done.
    pub transferred_ns: u64,
    /// Data durable (equals `transferred_ns` without fsync).
    pub synced_ns: u64,
    /// Files closed.
    pub closed_ns: u64,
    /// CPU time of the rank's thread in the phase.
    pub cpu_ns: u64,
    /// Operations that failed or stayed short.
    pub errors: u64,
    /// Transfers that brought back other data than was written (IOR counts these; the words in them are the phase's
    /// `verify_failures`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub damaged: u64,
    /// Where the rank stood at the deadline when all had met there, before the wear-out; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stonewall: Option<Mark>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl RankResult {
    /// Bytes over the time until the files were closed.
    pub fn bandwidth(&self) -> Bandwidth {
        self.bytes.per(Duration::from_nanos(self.closed_ns))
    }
}

/// One second of a phase, over all ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Start of the interval since the phase's start.
    pub start_ns: u64,
    /// Length; the last one of a phase may be shorter.
    pub length_ns: u64,
    /// Main operations and bytes per kind in this interval, with their latency.
    pub operations: Vec<OperationResult>,
    /// What the vCPUs of all hosts with ranks did; sampled once a second, absent where no sample was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuShare>,
}

/// CPU time of some hosts over some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuShare {
    /// In programs, in the kernel and in interrupts.
    pub busy_ns: u64,
    /// Of these, in the kernel and in interrupts.
    pub system_ns: u64,
    /// All vCPUs over the whole time.
    pub all_ns: u64,
}

impl CpuShare {
    /// Of what the kernel counted.
    pub fn of(times: &host::CpuTimes) -> Self {
        let system_ns = times.system_ns + times.interrupt_ns;
        let busy_ns = system_ns + times.user_ns;
        Self { busy_ns, system_ns, all_ns: busy_ns + times.idle_ns + times.iowait_ns + times.steal_ns }
    }

    /// With that of another host, or of more time.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            busy_ns: self.busy_ns + other.busy_ns,
            system_ns: self.system_ns + other.system_ns,
            all_ns: self.all_ns + other.all_ns,
        }
    }

    /// Busy, and busy in the kernel, in percent of all; `None` of no time.
    pub fn percent(self) -> Option<(f64, f64)> {
        let of = |part: u64| 100.0 * part as f64 / self.all_ns as f64;
        (self.all_ns > 0).then(|| (of(self.busy_ns), of(self.system_ns)))
    }
}

impl Interval {
    /// Bytes of all kinds.
    pub fn bytes(&self) -> Bytes {
        self.operations.iter().map(|o| o.bytes).sum()
    }

    /// Rate of all kinds together.
    pub fn bandwidth(&self) -> Bandwidth {
        self.bytes().per(Duration::from_nanos(self.length_ns))
    }

    /// Operations per second of all kinds together.
    pub fn iops(&self) -> Iops {
        let operations = self.operations.iter().map(|o| o.operations).sum();
        Iops::over(operations, Duration::from_nanos(self.length_ns))
    }
}

/// Which engine ran, and why that one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EngineUsed {
    /// `psync` or `uring`.
    pub name: String,
    /// Why it was chosen, with the probe's numbers.
    pub reason: String,
    /// Whether O_DIRECT was in use.
    pub direct: bool,
    /// I/Os in flight per rank.
    pub queue_depth: u32,
}

/// A failed operation, as evidence; further ones of the same kind are only counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationError {
    /// Rank it happened on.
    pub rank: u32,
    /// What was tried.
    pub kind: OperationKind,
    /// File, relative to the run directory.
    pub file: String,
    /// Offset in the file, where that means something.
    pub offset: Option<u64>,
    /// The system's words.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The result of one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseResult {
    /// Name in the workload (`write`, `read`).
    pub name: String,
    /// The kinds that count as the phase's work: bandwidth and IOPS are theirs.
    pub main: Vec<OperationKind>,
    /// Transfer size of data phases.
    pub transfer_bytes: Option<Bytes>,
    /// Since the start of the run.
    pub started_ns: u64,
    /// When the first rank had finished, its fsync and close included; with a wear-out when the first rank reached the
    /// deadline (the stonewall of IOR and IO500).
    pub first_done: Mark,
    /// When the last rank had: everything, including fsync and close.
    pub last_done: Mark,
    /// Whether ranks went on after the deadline until all had done as much as the furthest (wear-out).
    pub wear_out: bool,
    /// Whether the wear-out was cut short by its cap.
    pub wear_out_capped: bool,
    /// What stopped the phase: `bytes`, `time`, `interrupted`, `error`.
    pub stopped_by: StopCause,
    /// Whether latency counts from the intended start (open loop) or the actual one (closed loop).
    pub open_loop: bool,
    /// What the open loop asked for, all ranks together; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_operations_per_second: Option<Iops>,
    /// Entries that a search was looking for and found; absent where nothing in particular was looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched: Option<u64>,
    /// Results per kind.
    pub operations: Vec<OperationResult>,
    /// Results per rank.
    pub ranks: Vec<RankResult>,
    /// How many ranks there were, where another tool says how many and not what each did; absent where `ranks` has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks_stated: Option<u32>,
    /// What each host did, where there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostResult>,
    /// Processes that were gone before it had ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostProcess>,
    /// Where the files lie on the servers, where the file system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<StorageLayout>,
    /// Per-second series.
    pub series: Vec<Interval>,
    /// Engine.
    pub engine: EngineUsed,
    /// What the kernel counted during the phase.
    pub counters: Counters,
    /// First failures, as evidence.
    pub errors: Vec<OperationError>,
    /// Failures in all.
    pub error_count: u64,
    /// Words that did not verify.
    pub verify_failures: u64,
    /// Bytes that were verified.
    pub verified_bytes: Bytes,
    /// Validity checks of this phase.
    pub checks: Vec<Check>,
    /// What limited it, as far as this host can tell.
    pub limit: Option<Limit>,
}

/// Why a phase ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// All its work was done.
    #[default]
    Bytes,
    /// Its time was up.
    Time,
    /// A signal.
    Interrupted,
    /// A failure.
    Error,
    /// A target was filling up: what had to stay free was reached.
    Space,
}

impl PhaseResult {
    /// Bytes of the main kinds.
    pub fn bytes(&self) -> Bytes {
        self.main_results().map(|o| o.bytes).sum()
    }

    /// Main operations.
    pub fn operation_count(&self) -> u64 {
        self.main_results().map(|o| o.operations).sum()
    }

    /// Results of the main kinds.
    pub fn main_results(&self) -> impl Iterator<Item = &OperationResult> {
        self.operations.iter().filter(|o| self.main.contains(&o.kind))
    }

    /// The result of one kind.
    pub fn of(&self, kind: OperationKind) -> Option<&OperationResult> {
        self.operations.iter().find(|o| o.kind == kind)
    }

    /// All bytes over the whole time, stragglers, fsync and close included.
    pub fn bandwidth(&self) -> Bandwidth {
        self.last_done.bandwidth()
    }

    /// When the last rank had done its last transfer: the first of the three ends of a write.
    pub fn transferred(&self) -> Duration {
        Duration::from_nanos(self.ranks.iter().map(|r| r.transferred_ns).max().unwrap_or(0))
    }

    /// When the last rank's data was durable: the second end.
    pub fn synced(&self) -> Duration {
        Duration::from_nanos(self.ranks.iter().map(|r| r.synced_ns).max().unwrap_or(0))
    }

    /// When the last rank had closed its files: the third end.
    pub fn closed(&self) -> Duration {
        Duration::from_nanos(self.ranks.iter().map(|r| r.closed_ns).max().unwrap_or(0))
    }

    /// How many ranks there were; 0 if that is not known.
    pub fn rank_count(&self) -> usize {
        match self.ranks_stated {
            Some(stated) if self.ranks.is_empty() => stated as usize,
            _ => self.ranks.len(),
        }
    }

    /// The SAS test's rate: bytes of one rank over the mean of the ranks' times (research: rhel_iotest, size / mean time).
    ///
    /// Where only the number of ranks is known, the time of the phase stands for the mean.
    pub fn rate_per_rank(&self) -> Bandwidth {
        if self.ranks.is_empty() {
            return match self.ranks_stated {
                Some(ranks) if ranks > 0 => self.last_done.bandwidth() / f64::from(ranks),
                _ => Bandwidth::ZERO,
            };
        }
        let count = self.ranks.len() as f64;
        let mean_bytes = self.ranks.iter().map(|r| r.bytes.get() as f64).sum::<f64>() / count;
        let mean_seconds = self.ranks.iter().map(|r| r.closed_ns as f64 / 1e9).sum::<f64>() / count;
        Bandwidth::bytes_per_second(if mean_seconds > 0.0 { mean_bytes / mean_seconds } else { 0.0 })
    }

    /// The slowest rank.
    pub fn slowest_rank(&self) -> Option<&RankResult> {
        self.ranks.iter().min_by(|a, b| a.bandwidth().get().total_cmp(&b.bandwidth().get()))
    }

    /// Verdict of this phase's checks.
    pub fn validity(&self) -> Validity {
        Validity::of(&self.checks)
    }
}
