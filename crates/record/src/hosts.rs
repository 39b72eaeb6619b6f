//! Hosts of a run over several of them: which there were, and what each did in a phase.

use host::Environment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bandwidth, Bytes};

use crate::limit::Limit;

/// One of the hosts of a test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostSeat {
    /// Its name.
    pub name: String,
    /// Processes of the run on it.
    pub processes: u32,
    /// Ranks on it.
    pub ranks: u32,
    /// The first of them.
    pub first_rank: u32,
    /// Physical cores.
    pub pcores: u32,
    /// Schedulable threads.
    pub vcpus: u32,
    /// Memory.
    pub memory_bytes: Bytes,
    /// Kernel release.
    pub kernel: String,
    /// What is mounted at the target, and where: `10.0.0.4@tcp:/lustre at /mnt/lustre`.
    pub mount: String,
}

impl HostSeat {
    /// A host with the machine and the storage that it says it has.
    pub fn new(name: &str, environment: &Environment) -> Self {
        let mount = environment.target.as_ref();
        Self {
            name: name.to_owned(),
            pcores: environment.cpu.pcores,
            vcpus: environment.cpu.vcpus,
            memory_bytes: environment.memory.total_bytes,
            kernel: environment.kernel.clone(),
            mount: mount.map_or_else(String::new, |m| format!("{} at {}", m.source, m.mount_point)),
            ..Self::default()
        }
    }
}

/// What one host did in a phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostResult {
    /// Its name.
    pub host: String,
    /// Its ranks of whom results came back.
    pub ranks: u32,
    /// Main operations of its ranks.
    pub operations: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// When the last of them had done its last transfer, since the common start.
    pub transferred_ns: u64,
    /// When the last of them had closed its files.
    pub closed_ns: u64,
    /// CPU time of the ranks' threads.
    pub cpu_ns: u64,
    /// Share of the CPU time of all its vCPUs that was in use, by anybody.
    pub cpu_busy_share: f64,
    /// Bytes that were read below its caches; 0 where nothing counts them.
    pub storage_read_bytes: Bytes,
    /// Bytes that were written below its caches.
    pub storage_written_bytes: Bytes,
    /// Dirty and being written when its ranks were done.
    pub dirty_bytes: Bytes,
    /// How far its monotonic clock was from the root's: `root = own + offset`.
    pub clock_offset_ns: i64,
    /// By how much that changed during the phase.
    pub clock_drift_ns: i64,
    /// The offset is off by at most this much.
    pub clock_uncertainty_ns: u64,
    /// By how much its last rank began later than agreed.
    pub start_skew_ns: u64,
    /// What limited it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

impl HostResult {
    /// Bytes over the time until its files were closed.
    pub fn bandwidth(&self) -> Bandwidth {
        self.bytes.per(std::time::Duration::from_nanos(self.closed_ns))
    }

    /// Operations per second over the same time.
    pub fn iops(&self) -> units::Iops {
        units::Iops::over(self.operations, std::time::Duration::from_nanos(self.closed_ns))
    }
}

/// A process that was gone before a phase had ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostProcess {
    /// The host it ran on.
    pub host: String,
    /// Its first rank.
    pub first_rank: u32,
    /// How many it had.
    pub ranks: u32,
    /// What is known of why.
    pub why: String,
}

/// Where a phase's files lie on the servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StorageLayout {
    /// `lustre` or `glusterfs`.
    pub kind: String,
    /// Files that were looked at.
    pub files: u64,
    /// Files there are.
    pub files_in_all: u64,
    /// The layouts met, the most frequent first: `4 stripes of 1 MiB`.
    pub layouts: Vec<LayoutCount>,
    /// Bytes and files per OST or brick.
    pub parts: Vec<LayoutPart>,
    /// Each file that was looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub each: Vec<LayoutOfFile>,
}

/// Where one file lies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayoutOfFile {
    /// Its path from the target.
    pub file: String,
    /// The layout in words.
    pub layout: String,
    /// Bytes on each OST or brick, as `OST0003`, `server:/brick`; copies count each.
    pub on: Vec<(String, Bytes)>,
}

impl StorageLayout {
    /// Bytes of the fullest OST or brick over the mean of all that hold any, and which it is. What lies on an MDT is meant
    /// to be little and does not count. `None` when nothing lies anywhere.
    pub fn imbalance(&self) -> Option<(&LayoutPart, f64)> {
        let parts = || self.parts.iter().filter(|part| !part.name.starts_with("MDT"));
        let fullest = parts().max_by_key(|part| part.bytes)?;
        let all: u64 = parts().map(|part| part.bytes.get()).sum();
        let mean = all as f64 / parts().count() as f64;
        (mean > 0.0).then(|| (fullest, fullest.bytes.get() as f64 / mean))
    }

    /// What its parts are called: OSTs or bricks.
    pub fn parts_word(&self) -> &'static str {
        if self.kind == "lustre" { "OST" } else { "brick" }
    }
}

/// How many files have a layout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayoutCount {
    /// The layout in words.
    pub layout: String,
    /// Files.
    pub files: u64,
}

/// What lies on one OST or brick.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayoutPart {
    /// `OST0003`, `server:/brick`.
    pub name: String,
    /// Bytes of the files.
    pub bytes: Bytes,
    /// Files with a part on it.
    pub files: u64,
}
