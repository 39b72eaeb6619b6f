use std::os::fd::OwnedFd;

use store::{Extent, Meta, Os, extents, is_sparse};

/// Where a range of a file has data; a file without holes has it everywhere.
pub struct Holes {
    data: Option<Vec<Extent>>,
}

impl Holes {
    /// Of `start..end` of the file `meta`, which `open` opens once more: looking for holes moves the file's position,
    /// which workers would share.
    pub fn of(meta: &Meta, start: u64, end: u64, open: impl FnOnce() -> Os<OwnedFd>) -> Os<Self> {
        if !is_sparse(meta) {
            return Ok(Self { data: None });
        }
        let data = extents(&open()?, start, end)?;
        Ok(Self { data: Some(data) })
    }

    /// Whether `start..end` is all hole.
    pub fn covers(&self, start: u64, end: u64) -> bool {
        self.data
            .as_ref()
            .is_some_and(|data| !data.iter().any(|piece| piece.offset < end && start < piece.end()))
    }
}
