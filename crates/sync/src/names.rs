use std::os::fd::AsFd;
use std::path::Path;

use fault::Fault;
use store::{Errno, Lister};

use crate::spool::{Sorted, Spool};

/// Names that are sorted in memory; a directory with more goes through the disk.
const IN_MEMORY: usize = 200_000;

/// The names of a directory in ascending order.
#[derive(Debug, Default)]
pub struct Names {
    arena: Vec<u8>,
    order: Vec<(u32, u16)>,
    at: usize,
    spooled: Option<Sorted>,
    current: Option<Box<[u8]>>,
}

/// Why a directory could not be listed.
#[derive(Debug)]
pub enum Unlisted {
    /// The file system failed.
    Os(Errno),
    /// There was no room for sorting.
    Scratch(Fault),
}

impl From<Errno> for Unlisted {
    fn from(error: Errno) -> Self {
        Self::Os(error)
    }
}

impl From<Fault> for Unlisted {
    fn from(fault: Fault) -> Self {
        Self::Scratch(fault)
    }
}

impl Names {
    /// Lists `dir` to its end and keeps the names that `keeps` says; any number of them passes through `scratch`. Reuses
    /// the memory of `self`.
    pub fn list(
        &mut self,
        dir: impl AsFd,
        lister: &mut Lister,
        scratch: &Path,
        keeps: impl Fn(&[u8]) -> bool,
    ) -> Result<(), Unlisted> {
        self.clear();
        let mut spool: Option<Spool> = None;
        lister.list(dir, |entry| -> Result<(), Unlisted> {
            let name = entry.name.to_bytes();
            if !keeps(name) {
                return Ok(());
            }
            if let Some(spool) = &mut spool {
                return Ok(spool.push(name)?);
            }
            self.hold(name);
            if self.order.len() > IN_MEMORY {
                let mut all = Spool::new(scratch);
                self.order.iter().try_for_each(|place| all.push(slice(&self.arena, *place)))?;
                self.clear();
                spool = Some(all);
            }
            Ok(())
        })?;
        if let Some(spool) = spool {
            self.spooled = Some(spool.sorted()?);
            self.advance()?;
        } else {
            let arena = &self.arena;
            self.order.sort_unstable_by(|a, b| slice(arena, *a).cmp(slice(arena, *b)));
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.arena.clear();
        self.order.clear();
        self.at = 0;
        self.spooled = None;
        self.current = None;
    }

    fn hold(&mut self, name: &[u8]) {
        self.order.push((self.arena.len() as u32, name.len() as u16));
        self.arena.extend_from_slice(name);
    }

    /// The name we are at; `None` at the end.
    pub fn peek(&self) -> Option<&[u8]> {
        if self.spooled.is_some() {
            return self.current.as_deref();
        }
        self.order.get(self.at).map(|place| slice(&self.arena, *place))
    }

    /// Goes to the next name.
    pub fn advance(&mut self) -> fault::Result<()> {
        match &mut self.spooled {
            Some(sorted) => self.current = sorted.next().transpose()?,
            None => self.at += 1,
        }
        Ok(())
    }

    /// Goes back to the first name; names that went through the disk can't.
    pub fn rewind(&mut self) {
        self.at = 0;
    }

    /// How many names there are; `None` if they are too many for memory.
    pub fn count(&self) -> Option<usize> {
        self.spooled.is_none().then_some(self.order.len())
    }
}

fn slice(arena: &[u8], (start, length): (u32, u16)) -> &[u8] {
    &arena[start as usize..start as usize + usize::from(length)]
}
