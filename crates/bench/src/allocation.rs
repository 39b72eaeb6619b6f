//! How files lie on the storage: reading holes and blocks that were never written reaches no disk.

use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{OFlags, fstat};
use units::Bytes;

use crate::belief::Allocation;
use crate::engine::{Share, data_owner};
use crate::ground::Grounds;
use crate::workload::FileSet;

/// Sums over all data files; `None` if there are none to look at.
pub fn of(grounds: &Grounds, files: &FileSet, ranks: u32, shares: &[Share]) -> Option<Allocation> {
    if shares.iter().all(|share| share.written().bytes == 0) {
        return None;
    }
    let mut sum = Allocation::default();
    for number in 0..files.file_count(ranks) {
        let ground = grounds.of(data_owner(files, number));
        let file = ground.open(&grounds.names().data(files, number), OFlags::RDONLY).ok()?;
        let stat = fstat(&file).ok()?;
        sum.apparent_bytes = sum.apparent_bytes + Bytes::new(stat.st_size.cast_unsigned());
        // st_blocks counts 512 bytes whatever the file system's block size is (POSIX leaves it open, Linux does not).
        sum.allocated_bytes = sum.allocated_bytes + Bytes::new(stat.st_blocks.cast_unsigned() * 512);
        sum.unwritten_bytes = sum.unwritten_bytes + unwritten(&file).unwrap_or_default();
    }
    Some(sum)
}

const EXTENTS_PER_CALL: usize = 128;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS_PER_CALL],
}

/// Bytes in extents that were reserved but never written (FIEMAP); `None` where the file system has no FIEMAP.
/// Layout and numbers: include/uapi/linux/fiemap.h.
fn unwritten(file: &OwnedFd) -> Option<Bytes> {
    const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
    const FIEMAP_EXTENT_LAST: u32 = 0x1;
    const FIEMAP_EXTENT_UNWRITTEN: u32 = 0x800;
    let mut start = 0;
    let mut sum = 0;
    loop {
        let mut request = Request {
            start,
            length: u64::MAX - start,
            flags: 0,
            mapped_extents: 0,
            extent_count: EXTENTS_PER_CALL as u32,
            reserved: 0,
            extents: [Extent::default(); EXTENTS_PER_CALL],
        };
        // SAFETY: the request is laid out as the kernel expects, with room for the extents it announces.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut request) };
        if result != 0 {
            return None;
        }
        let mapped = &request.extents[..(request.mapped_extents as usize).min(EXTENTS_PER_CALL)];
        sum +=
            mapped.iter().filter(|e| e.flags & FIEMAP_EXTENT_UNWRITTEN != 0).map(|e| e.length).sum::<u64>();
        match mapped.last() {
            Some(last) if last.flags & FIEMAP_EXTENT_LAST == 0 => start = last.logical + last.length,
            _ => return Some(Bytes::new(sum)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_but_unwritten_blocks_are_seen() {
        let directory = tempfile::tempdir().unwrap();
        let file = std::fs::File::create(directory.path().join("f")).unwrap();
        let length = libc::off_t::from(1i32 << 20);
        // SAFETY: a plain call on an open descriptor.
        let reserved = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) };
        let file: OwnedFd = file.into();
        // Where the file system has FIEMAP, the reserved megabyte shows as unwritten.
        if let (0, Some(bytes)) = (reserved, unwritten(&file)) {
            assert_eq!(bytes, Bytes::mib(1));
        }
    }
}
