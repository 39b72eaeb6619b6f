//! How large the files are: as large as memory each, shrunk so that 10 % of the file system stays free.

use host::{Environment, Mount};
use units::Bytes;

/// The original works in blocks of this size.
const BLOCK: Bytes = Bytes::kib(64);
/// XFS preallocates ahead of a growing file: at most this much when the mount option does not say.
const LARGEST_PREALLOCATION: Bytes = Bytes::gib(8);
/// The original's minimum of memory per pCore, 4 GiB less 200 MB, and its recommendation, 8 GiB less 200 MB.
const LEAST_MEMORY: Bytes = Bytes::new(3_989_504 * 1024);
const RECOMMENDED_MEMORY: Bytes = Bytes::new(8_183_808 * 1024);

/// The outcome of the size rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizing {
    /// Size of each file.
    pub file_size: Bytes,
    /// Whether free space made it smaller than memory.
    pub shrunk: bool,
    /// What should be said.
    pub notes: Vec<String>,
}

/// The size of each of `pcores` files on the environment's target.
pub fn size_files(pcores: u32, environment: &Environment) -> Sizing {
    let memory = environment.memory.total_bytes;
    let count = u64::from(pcores);
    let mut notes = Vec::new();
    if memory < RECOMMENDED_MEMORY * count {
        let grade = if memory < LEAST_MEMORY * count {
            "less than the 4 GiB that the test asks for"
        } else {
            "less than the 8 GiB that SAS recommends"
        };
        notes.push(format!("{memory} of memory for {pcores} pCores is {grade} per pCore"));
    }
    let mut file_size = memory;
    let mut shrunk = false;
    if let Some(mount) = environment.target.as_ref().filter(|mount| mount.size_bytes > Bytes::ZERO) {
        let usable = mount.available_bytes.saturating_sub(mount.size_bytes / 10);
        let preallocation = preallocation(mount, memory);
        if (memory + preallocation.amount()) * count > usable {
            shrunk = true;
            file_size = shrink(usable / count, &preallocation);
            notes.push(format!(
                "insufficient free space for files of {memory}: files of {} will be used",
                file_size.round_down(BLOCK)
            ));
        }
    }
    let file_size = file_size.round_down(BLOCK);
    if file_size * count <= memory {
        notes.push(
            "the files fit into memory: read numbers are only as good as the cache-hit proof".to_owned(),
        );
    }
    Sizing { file_size, shrunk, notes }
}

/// What XFS may reserve beyond the end of each file.
enum Preallocation {
    None,
    /// The mount option `allocsize`.
    Given(Bytes),
    /// The smaller of the file and 8 GiB.
    Computed(Bytes),
}

impl Preallocation {
    fn amount(&self) -> Bytes {
        match self {
            Self::None => Bytes::ZERO,
            Self::Given(amount) | Self::Computed(amount) => *amount,
        }
    }
}

fn preallocation(mount: &Mount, file_size: Bytes) -> Preallocation {
    if mount.file_system != "xfs" {
        return Preallocation::None;
    }
    let given = mount.options.split(',').find_map(|option| option.strip_prefix("allocsize="));
    match given.and_then(|text| text.parse().ok()) {
        Some(amount) => Preallocation::Given(amount),
        None => Preallocation::Computed(file_size.min(LARGEST_PREALLOCATION)),
    }
}

/// The size of a file that has `share` of the usable space.
fn shrink(share: Bytes, preallocation: &Preallocation) -> Bytes {
    match preallocation {
        Preallocation::None => share,
        Preallocation::Given(amount) => share.saturating_sub(*amount),
        Preallocation::Computed(_) if share <= LARGEST_PREALLOCATION * 2 => share / 2,
        Preallocation::Computed(_) => share.saturating_sub(LARGEST_PREALLOCATION),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(
        memory_gib: u64,
        file_system: &str,
        options: &str,
        size_gib: u64,
        available_gib: u64,
    ) -> Environment {
        let mut environment = Environment::default();
        environment.memory.total_bytes = Bytes::gib(memory_gib);
        environment.target = Some(Mount {
            file_system: file_system.to_owned(),
            options: options.to_owned(),
            size_bytes: Bytes::gib(size_gib),
            available_bytes: Bytes::gib(available_gib),
            free_bytes: Bytes::gib(available_gib),
            ..Mount::default()
        });
        environment
    }

    #[test]
    fn with_room_every_file_is_as_large_as_memory() {
        let sizing = size_files(4, &environment(64, "lustre", "", 10_000, 9_000));
        assert_eq!((sizing.file_size, sizing.shrunk), (Bytes::gib(64), false));
        assert!(sizing.notes.is_empty(), "{:?}", sizing.notes);
    }

    #[test]
    fn without_room_the_usable_space_is_shared_and_ten_percent_stay_free() {
        let sizing = size_files(4, &environment(64, "ext4", "", 100, 90));
        assert_eq!((sizing.file_size, sizing.shrunk), (Bytes::gib(20), true));
        assert!(sizing.notes.iter().any(|n| n.contains("insufficient free space")));
    }

    #[test]
    fn xfs_preallocation_is_allowed_for() {
        // usable 80 GiB, share 20 GiB: above 16 GiB, so 8 GiB go to the preallocation.
        assert_eq!(size_files(4, &environment(64, "xfs", "rw", 100, 90)).file_size, Bytes::gib(12));
        // share 10 GiB: half of it.
        assert_eq!(size_files(8, &environment(64, "xfs", "rw", 100, 90)).file_size, Bytes::gib(5));
        // the mount option is taken as given.
        assert_eq!(
            size_files(4, &environment(64, "xfs", "rw,allocsize=1048576k", 100, 90)).file_size,
            Bytes::gib(19)
        );
    }

    #[test]
    fn little_memory_and_files_that_fit_into_it_are_said() {
        let notes = size_files(16, &environment(64, "ext4", "", 50, 45)).notes;
        assert!(
            notes.iter().any(|n| n.contains("8 GiB")) && notes.iter().any(|n| n.contains("fit into memory")),
            "{notes:?}"
        );
        assert!(size_files(32, &environment(64, "ext4", "", 1000, 900)).notes[0].contains("4 GiB"));
    }
}
