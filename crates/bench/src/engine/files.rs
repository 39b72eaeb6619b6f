//! A rank's open data files.

use std::os::fd::{AsRawFd as _, IntoRawFd as _, OwnedFd, RawFd};

use fault::{Fault, Kind, Result};
use rustix::fs::{Advice, OFlags, fadvise};
use rustix::io::Errno;
use units::Bytes;

use crate::ground::{Ground, Grounds};
use crate::workload::{FileSet, Layout, Transfer};

/// An open data file and the number its contents are generated from.
#[derive(Debug)]
pub struct DataFile {
    /// Open descriptor.
    pub descriptor: OwnedFd,
    /// Number in the file set: names the file and its data.
    pub number: u32,
}

/// The numbers of the files that rank `owner` works on.
pub fn numbers(files: &FileSet, owner: u32) -> Vec<u32> {
    match files.layout {
        Layout::Shared => vec![0],
        Layout::PerRank => {
            (0..files.files_per_rank).map(|slot| owner * files.files_per_rank + slot).collect()
        }
    }
}

/// The rank whose file number `number` is; what all share is rank 0's.
pub fn owner(files: &FileSet, number: u32) -> u32 {
    match files.layout {
        Layout::Shared => 0,
        Layout::PerRank => number / files.files_per_rank,
    }
}

/// Opens one data file for `transfer`.
pub fn open(
    grounds: &Grounds,
    files: &FileSet,
    transfer: &Transfer,
    number: u32,
) -> rustix::io::Result<DataFile> {
    let mut flags = match (transfer.reads(), transfer.writes()) {
        (true, false) => OFlags::RDONLY,
        (false, _) => OFlags::WRONLY | OFlags::CREATE,
        (true, true) => OFlags::RDWR | OFlags::CREATE,
    };
    if transfer.direct {
        flags |= OFlags::DIRECT;
    }
    if transfer.synchronous {
        flags |= OFlags::SYNC;
    }
    let (ground, name) = (grounds.of(owner(files, number)), grounds.names().data(files, number));
    let descriptor = match ground.open(&name, flags) {
        // GlusterFS says so when another host makes the same file at this moment, though nobody asked for a new one.
        Err(Errno::EXIST) => ground.open(&name, flags - OFlags::CREATE)?,
        opened => opened?,
    };
    Ok(DataFile { descriptor, number })
}

/// Closes a file and says what came of it: NFS and FUSE tell here that data could not be kept. Dropping would hide it.
pub fn close(descriptor: OwnedFd) -> rustix::io::Result<()> {
    // SAFETY: the descriptor is ours alone and is not used after this.
    match unsafe { libc::close(descriptor.into_raw_fd()) } {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}

/// Drops a file's clean pages from this host's page cache. Dirty ones stay: make them durable first.
pub fn drop_cache(ground: &Ground, file: &str) {
    if let Ok(file) = ground.open(file, OFlags::RDONLY) {
        // A hint: where it does not work, the verdict's cache-hit proof shows it.
        let _ = fadvise(&file, 0, None, Advice::DontNeed);
    }
}

/// What `O_DIRECT` needs of memory addresses and of offsets and lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment {
    /// Of buffers.
    pub memory: Bytes,
    /// Of offsets and lengths.
    pub offset: Bytes,
}

/// Asks the kernel what `O_DIRECT` needs on this file (`STATX_DIOALIGN`, Linux 6.1); 4096 where it does not say.
/// `None` when the file system says that it can't do direct I/O at all.
pub fn direct_alignment(descriptor: RawFd) -> Option<Alignment> {
    // From include/uapi/linux/stat.h; the libc crate does not name it on every target.
    const STATX_DIOALIGN: u32 = 0x2000;
    // SAFETY: all-zero is a valid `statx` structure of plain integers.
    let mut stat: libc::statx = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, the path is an empty C string, and `stat` outlives the call.
    let result =
        unsafe { libc::statx(descriptor, c"".as_ptr(), libc::AT_EMPTY_PATH, STATX_DIOALIGN, &raw mut stat) };
    if result != 0 || stat.stx_mask & STATX_DIOALIGN == 0 {
        return Some(Alignment { memory: Bytes::kib(4), offset: Bytes::kib(4) });
    }
    if stat.stx_dio_offset_align == 0 {
        return None;
    }
    Some(Alignment {
        memory: Bytes::new(u64::from(stat.stx_dio_mem_align)),
        offset: Bytes::new(u64::from(stat.stx_dio_offset_align)),
    })
}

/// The file system has no `O_DIRECT`.
pub fn no_direct() -> Fault {
    Fault::new(Kind::Unsupported, "this file system can't do direct I/O (O_DIRECT)")
        .hint("leave out `--direct` (`direct = false`)")
}

/// Refuses transfers that `O_DIRECT` can't do on this file system, before the first of them fails with `EINVAL`.
pub fn check_direct(file: &DataFile, transfer: &Transfer) -> Result<()> {
    let Some(alignment) = direct_alignment(file.descriptor.as_raw_fd()) else {
        return Err(no_direct());
    };
    let unit = transfer.transfer_size.unit();
    if unit.get().is_multiple_of(alignment.offset.get()) {
        return Ok(());
    }
    let message =
        format!("direct I/O here needs multiples of {}, and the transfer size is {unit:#}", alignment.offset);
    Err(Fault::new(Kind::Unsupported, message)
        .hint("change the transfer size, or leave out `--direct` (`direct = false`)"))
}
