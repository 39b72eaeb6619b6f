//! Copies that the kernel or the file system makes by itself, on one host.

use std::os::fd::AsFd;

use rustix::fs::{FallocateFlags, copy_file_range, fallocate, ioctl_ficlone};

use crate::{Errno, Extent, Os};

/// Bytes that file systems share at least.
const BLOCK: u64 = 4096;

/// Makes `to` share all blocks with `from` (reflink). EOPNOTSUPP, EXDEV or EINVAL where the file system can't.
pub fn clone_file(from: impl AsFd, to: impl AsFd) -> Os<()> {
    ioctl_ficlone(to, from)
}

/// Copies `piece` of one file into the same place of another, without the bytes passing through us.
pub fn copy_range(from: impl AsFd, to: impl AsFd, piece: Extent) -> Os<()> {
    let (mut source, mut target, mut left) = (piece.offset, piece.offset, piece.length);
    while left > 0 {
        let count = usize::try_from(left.min(1 << 30)).unwrap_or(1 << 30);
        match copy_file_range(&from, Some(&mut source), &to, Some(&mut target), count) {
            Ok(0) => return Err(Errno::IO),
            Ok(count) => left -= count as u64,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Copies `length` bytes at `from` of one file to `to` in another, without the bytes passing through us: shared where the
/// file system can share them, copied by the server where it has such a call.
pub fn copy_between(source: impl AsFd, from: u64, target: impl AsFd, to: u64, length: u64) -> Os<()> {
    // Only whole blocks that stand alike in both can be shared: what is before the first is copied apart.
    let before = if from % BLOCK == to % BLOCK { (BLOCK - to % BLOCK) % BLOCK } else { 0 };
    let before = before.min(length);
    let blocks = (length - before) / BLOCK * BLOCK;
    let (mut from, mut to) = (from, to);
    for mut left in [before, blocks, length - before - blocks] {
        while left > 0 {
            let count = usize::try_from(left.min(1 << 30)).unwrap_or(1 << 30);
            match copy_file_range(&source, Some(&mut from), &target, Some(&mut to), count) {
                Ok(0) => return Err(Errno::IO),
                Ok(count) => left -= count as u64,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Turns `piece` into a hole; the size stays. Where the file system can't, zeros are written by the caller.
pub fn punch(file: impl AsFd, piece: Extent) -> Os<()> {
    fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, piece.offset, piece.length)
}
