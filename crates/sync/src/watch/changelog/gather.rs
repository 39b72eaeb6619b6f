//! What records of any number of MDTs say, without their order. Two MDTs have no common clock, and a rename between them
//! is a record in each log. So nothing is replayed: each record only tells what to look at, by number; where that is now,
//! and what it is now, is asked when it is looked at. Any order of the same records gives the same answer.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{Fid, Record, What};
use crate::scope::Changes;

/// What records told.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Names in directories; `true` where it may be a directory of which nothing is known.
    names: BTreeMap<(Fid, Vec<u8>), bool>,
    /// Files and directories under whatever names they have.
    files: BTreeSet<Fid>,
}

/// Where files are now.
pub trait Places {
    /// All paths of a file, relative to the source; none where it is gone or elsewhere.
    fn of(&self, fid: Fid) -> fault::Result<Vec<Vec<u8>>>;
}

impl Gathered {
    /// Takes in what a record tells.
    pub fn add(&mut self, record: &Record<'_>) {
        let deep = match record.what {
            What::Mark | What::Nothing => return,
            What::File => {
                self.files.insert(record.target);
                return;
            }
            What::Name => false,
            What::Tree => true,
        };
        self.name(record.parent, record.name, deep);
        if let Some((dir, name)) = record.from {
            self.name(dir, name, deep);
        }
        // By its other names too: a name that came or went is a change of the file.
        self.files.insert(record.target);
    }

    fn name(&mut self, dir: Fid, name: &[u8], deep: bool) {
        if dir.is_some() && !name.is_empty() {
            *self.names.entry((dir, name.to_vec())).or_default() |= deep;
        }
    }

    /// Whether nothing was told.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.files.is_empty()
    }

    /// What to look at, where it is now.
    pub fn resolve(&self, places: &dyn Places, changes: &mut Changes) -> fault::Result<()> {
        let mut last: Option<(Fid, Vec<Vec<u8>>)> = None;
        for ((dir, name), deep) in &self.names {
            let paths = match last.take_if(|(same, _)| same == dir) {
                Some((_, paths)) => paths,
                None => places.of(*dir)?,
            };
            paths.iter().for_each(|path| changes.name(path, name, *deep));
            last = Some((*dir, paths));
        }
        for fid in &self.files {
            for path in places.of(*fid)? {
                let (dir, name) = store::split_last(&path);
                if name.is_empty() {
                    changes.directory(&path);
                } else {
                    changes.name(dir, name, false);
                    // If it is a directory: its own mode and times.
                    changes.directory(&path);
                }
            }
        }
        Ok(())
    }
}
