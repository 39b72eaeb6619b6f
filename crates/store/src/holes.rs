use std::os::fd::AsFd;

use rustix::fs::{SeekFrom, seek};

use crate::{Errno, Meta, Os};

/// A piece of a file: (offset, length), bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub length: u64,
}

impl Extent {
    /// Where it ends.
    pub const fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// Whether a file takes less space than its size, so that looking for holes is worth it.
pub fn is_sparse(meta: &Meta) -> bool {
    meta.blocks.saturating_mul(512) < meta.size
}

/// The pieces of `from..to` that have data, in order. Where the file system knows no holes, all of it.
pub fn extents(file: impl AsFd, from: u64, to: u64) -> Os<Vec<Extent>> {
    let mut found = Vec::new();
    let mut at = from;
    while at < to {
        let start = match seek(&file, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(Errno::NXIO) => break,
            Err(Errno::INVAL | Errno::OPNOTSUPP) => {
                return Ok(vec![Extent { offset: from, length: to - from }]);
            }
            Err(error) => return Err(error),
        };
        if start >= to {
            break;
        }
        let end = match seek(&file, SeekFrom::Hole(start)) {
            Ok(end) => end.min(to),
            Err(Errno::NXIO) => break,
            Err(error) => return Err(error),
        };
        found.push(Extent { offset: start, length: end - start });
        at = end;
    }
    Ok(found)
}
