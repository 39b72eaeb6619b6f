use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::fs::RawDir;

use crate::{Kind, Os};

/// Bytes that one call may fill: fewer calls for large directories, measured flat beyond this.
const BUFFER: usize = 256 << 10;

/// One name of a directory.
#[derive(Debug)]
pub struct Listed<'a> {
    /// The name.
    pub name: &'a CStr,
    /// What it is, where the file system says so in the listing.
    pub kind: Option<Kind>,
    /// Its inode number.
    pub inode: u64,
}

/// Lists directories, one after the other, with one buffer.
#[derive(Debug)]
pub struct Lister {
    buffer: Vec<MaybeUninit<u8>>,
}

impl Default for Lister {
    fn default() -> Self {
        Self { buffer: vec![MaybeUninit::uninit(); BUFFER] }
    }
}

impl Lister {
    /// Gives each entry of `dir`, but `.` and `..`, to `each` as the system returns them: in no order, never all held
    /// in memory. Ends at the first error, so that `Ok` means that the listing is complete.
    pub fn list<E: From<rustix::io::Errno>>(
        &mut self,
        dir: impl AsFd,
        mut each: impl FnMut(&Listed<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut entries = RawDir::new(dir, &mut self.buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            each(&Listed { name, kind: Kind::of(entry.file_type()), inode: entry.ino() })?;
        }
        Ok(())
    }

    /// Whether `dir` has no entry.
    pub fn is_empty(&mut self, dir: impl AsFd) -> Os<bool> {
        let mut empty = true;
        self.list(dir, |_| -> Os<()> {
            empty = false;
            Ok(())
        })?;
        Ok(empty)
    }
}
