use std::path::Path;

use fault::Result;

use super::RunDirectory;

/// The run directories of a workload, one in each of its targets. What belongs to a rank lies in that of its number, in
/// turn.
#[derive(Debug)]
pub struct Grounds {
    all: Vec<RunDirectory>,
}

impl Grounds {
    /// Makes a fresh directory for run `id` in every target. If one can't be made, none is left.
    pub fn create(targets: &[&Path], id: &str, item_prefix: &str) -> Result<Self> {
        let mut grounds = Self { all: Vec::new() };
        for target in targets {
            match RunDirectory::create(target, id, item_prefix) {
                Ok(directory) => grounds.all.push(directory),
                Err(fault) => {
                    // What could not be removed either, `forebay clean` knows.
                    grounds.all.into_iter().for_each(|directory| drop(directory.remove()));
                    return Err(fault);
                }
            }
        }
        Ok(grounds)
    }

    /// Where the files of rank `owner` are. What all share is rank 0's.
    #[inline]
    pub fn of(&self, owner: u32) -> &RunDirectory {
        &self.all[owner as usize % self.all.len()]
    }

    /// All of them; the first is that of the target that the test is named after.
    pub fn all(&self) -> &[RunDirectory] {
        &self.all
    }

    /// All of them, to be removed one by one.
    pub fn into_all(self) -> Vec<RunDirectory> {
        self.all
    }
}
