use std::os::fd::AsFd;

use rustix::fs::{fstatfs, fstatvfs, fsync, syncfs};

use crate::{Errno, Os};

/// What we know of the file system that a directory lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSystem {
    /// The magic number of its type (statfs(2)).
    pub magic: u64,
    /// Its id, which stays the same from mount to mount where the type has one.
    pub id: u64,
}

/// ext2 to ext4, XFS, Btrfs, tmpfs, overlay, F2FS, ZFS, bcachefs: mounted from this host's own devices or memory.
const LOCAL: [u64; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1, 0xca45_1a4e];
const TMPFS: u64 = 0x0102_1994;
const LUSTRE: u64 = 0x0bd0_0bd0;

impl FileSystem {
    /// Of the file system that `dir` lies on.
    pub fn of(dir: impl AsFd) -> Os<Self> {
        let id = fstatvfs(&dir)?.f_fsid;
        let found = fstatfs(dir)?;
        Ok(Self { magic: found.f_type as u64, id })
    }

    /// Whether no other host can write to it, so that its clock is ours.
    pub fn is_local(&self) -> bool {
        LOCAL.contains(&(self.magic & 0xffff_ffff))
    }

    /// Whether it is Lustre.
    pub fn is_lustre(&self) -> bool {
        self.magic & 0xffff_ffff == LUSTRE
    }

    /// Whether it is gone after a restart of the host.
    pub fn is_memory(&self) -> bool {
        self.magic & 0xffff_ffff == TMPFS
    }
}

/// Making data durable.
#[derive(Debug)]
pub struct Durability;

impl Durability {
    /// Everything written to the file system of `dir` so far is on stable storage afterwards.
    pub fn all(dir: impl AsFd) -> Os<()> {
        syncfs(dir)
    }

    /// One file, and what is needed to find it again. File systems that can't are taken as they are.
    pub fn one(file: impl AsFd) -> Os<()> {
        match fsync(file) {
            Err(Errno::INVAL | Errno::ROFS) => Ok(()),
            result => result,
        }
    }
}

/// The kernel's name for this run of the host; after a restart it is another.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
