use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, Statx, StatxFlags, StatxTimestamp, statx};

use crate::Os;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket; only its owner can make it, so it is never copied.
    Socket,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharDevice,
}

/// A time of a file system: seconds since 1970 (negative before) and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Stamp {
    /// Seconds since 1970.
    pub seconds: i64,
    /// Nanoseconds, below 10^9.
    pub nanos: u32,
}

impl Stamp {
    /// Now, by the clock that file systems of this host use.
    pub fn now() -> Self {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        Self { seconds: now.tv_sec, nanos: now.tv_nsec as u32 }
    }

    /// Nanoseconds since 1970.
    pub fn as_nanos(self) -> i128 {
        i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos)
    }
}

/// What `statx` says of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// What it is.
    pub kind: Kind,
    /// Permission bits, with set-user-ID, set-group-ID and sticky: 07777.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Size, bytes.
    pub size: u64,
    /// Space taken, in units of 512 bytes.
    pub blocks: u64,
    /// Inode number.
    pub inode: u64,
    /// Device of the file system.
    pub device: u64,
    /// Device that a device file stands for.
    pub node: u64,
    /// Number of names.
    pub links: u32,
    /// Last change of the content.
    pub mtime: Stamp,
    /// Last change of content or attributes.
    pub ctime: Stamp,
    /// Last read.
    pub atime: Stamp,
}

impl Meta {
    /// Whether content that was read between two such looks is of one moment, as far as the file system can tell.
    pub fn same_content(&self, later: &Self) -> bool {
        self.size == later.size
            && self.mtime == later.mtime
            && self.ctime == later.ctime
            && self.inode == later.inode
    }

    /// Permission bits as the system takes them.
    pub fn mode_bits(&self) -> rustix::fs::Mode {
        rustix::fs::Mode::from_raw_mode(self.mode)
    }
}

impl Kind {
    /// From the directory listing's type, where the file system gives one.
    pub fn of(kind: FileType) -> Option<Self> {
        Some(match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            FileType::BlockDevice => Self::BlockDevice,
            FileType::CharacterDevice => Self::CharDevice,
            FileType::Unknown => return None,
        })
    }

    /// Whether it is a device file.
    pub const fn is_device(self) -> bool {
        matches!(self, Self::BlockDevice | Self::CharDevice)
    }

    /// In one word or two, for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink => "symlink",
            Self::Fifo => "fifo",
            Self::Socket => "socket",
            Self::BlockDevice => "block device",
            Self::CharDevice => "character device",
        }
    }
}

/// Of an open file or directory.
pub fn meta_of(file: impl AsFd) -> Os<Meta> {
    statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS).map(|found| from_statx(&found))
}

/// Of one name in an open directory; a symlink is not followed.
pub fn meta_of_entry<Name: rustix::path::Arg>(dir: impl AsFd, name: Name) -> Os<Meta> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    statx(dir, name, flags, StatxFlags::BASIC_STATS).map(|found| from_statx(&found))
}

/// When the entry `name` was made; `None` where the file system does not say.
pub fn birth_of_entry<Name: rustix::path::Arg>(dir: impl AsFd, name: Name) -> Os<Option<Stamp>> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let found = statx(dir, name, flags, StatxFlags::BTIME)?;
    let says = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
    Ok(says.then(|| stamp(found.stx_btime)))
}

fn from_statx(found: &Statx) -> Meta {
    Meta {
        kind: Kind::of(FileType::from_raw_mode(found.stx_mode.into())).unwrap_or(Kind::CharDevice),
        mode: u32::from(found.stx_mode) & 0o7777,
        uid: found.stx_uid,
        gid: found.stx_gid,
        size: found.stx_size,
        blocks: found.stx_blocks,
        inode: found.stx_ino,
        device: rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor),
        node: rustix::fs::makedev(found.stx_rdev_major, found.stx_rdev_minor),
        links: found.stx_nlink,
        mtime: stamp(found.stx_mtime),
        ctime: stamp(found.stx_ctime),
        atime: stamp(found.stx_atime),
    }
}

fn stamp(time: StatxTimestamp) -> Stamp {
    Stamp { seconds: time.tv_sec, nanos: time.tv_nsec }
}
