use host::{Environment, Mount};
use serde::{Deserialize, Serialize};
use units::Bytes;

/// What the rules need besides the phase itself.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each one a condition of its own rules")]
pub struct Context<'a> {
    /// The machine and the storage.
    pub environment: &'a Environment,
    /// pCores the phase's rates are based on.
    pub pcores: u32,
    /// Bytes of all files this phase touches, on this host.
    pub working_set: Bytes,
    /// Whether an earlier phase of this run wrote or created these files on this host.
    pub files_written_by_this_host_in_this_run: bool,
    /// Whether the files' clean pages were dropped from this host's page cache just before.
    pub cache_dropped_before: bool,
    /// Whether the page cache is bypassed (`O_DIRECT`).
    pub direct: bool,
    /// Whether written data is made durable inside the measured time.
    pub fsync: bool,
    /// How the files lie on the storage, looked at before a read phase.
    pub allocated: Option<Allocation>,
    /// What was asked for when data can be shrunk (`zeros`, `repeated blocks`).
    pub data_is_compressible: Option<String>,
    /// Available on the file system before the phase.
    pub available_before: Bytes,
    /// Available after it.
    pub available_after: Bytes,
    /// Dirty and Writeback pages of the whole host when the phase began.
    pub dirty_before: Bytes,
    /// Whether the files are spread over several targets whose bytes are not all counted, or not all at the same place.
    pub uncounted_targets: bool,
    /// What holds the load back on purpose, if anything does (`1000 operations/s`, `a rest of 1 ms after each transfer`).
    pub paced: Option<String>,
}

/// Sums over the files a phase is about to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// Lengths (`st_size`).
    pub apparent_bytes: Bytes,
    /// Blocks behind them (`st_blocks`).
    pub allocated_bytes: Bytes,
    /// Part of these blocks that was reserved but never written (FIEMAP's unwritten extents).
    pub unwritten_bytes: Bytes,
}

/// File systems that are memory.
const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "hugetlbfs"];

impl<'a> Context<'a> {
    /// A context in which nothing special happened: buffered, durable at the end, nothing dropped, nothing known of files.
    pub fn new(environment: &'a Environment, pcores: u32, working_set: Bytes) -> Self {
        let available = environment.target.as_ref().map_or(Bytes::ZERO, |mount| mount.available_bytes);
        Self {
            environment,
            pcores,
            working_set,
            files_written_by_this_host_in_this_run: false,
            cache_dropped_before: false,
            direct: false,
            fsync: true,
            allocated: None,
            data_is_compressible: None,
            available_before: available,
            available_after: available,
            dirty_before: Bytes::ZERO,
            uncounted_targets: false,
            paced: None,
        }
    }

    /// The target's file system type; empty if unknown.
    pub(super) fn file_system(&self) -> &'a str {
        self.environment.target.as_ref().map_or("", |mount| mount.file_system.as_str())
    }

    pub(super) fn is_in_memory(&self) -> bool {
        IN_MEMORY.contains(&self.file_system())
    }

    pub(super) fn is_remote(&self) -> bool {
        self.environment.target.as_ref().is_some_and(Mount::is_remote)
    }

    /// Who below the application would shrink data, if someone surely or probably does.
    pub(super) fn compressor(&self) -> Option<&'static str> {
        let options = self.environment.target.as_ref().map_or("", |mount| mount.options.as_str());
        let vdo = |device: &host::BlockDevice| {
            device.name.contains("vdo") || device.model.to_ascii_lowercase().contains("vdo")
        };
        match self.file_system() {
            // lz4 is on by default since OpenZFS 2.2, and the mount table does not say.
            "zfs" => Some("ZFS, which compresses by default"),
            "btrfs" | "bcachefs" if options.contains("compress") => {
                Some("a file system mounted with compression")
            }
            "f2fs" if options.contains("compress_algorithm") => Some("f2fs with compression"),
            _ if self.environment.devices.iter().any(vdo) => {
                Some("a VDO device, which deduplicates and compresses")
            }
            _ => None,
        }
    }
}
