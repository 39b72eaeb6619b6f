use std::collections::HashMap;
use std::path::Path;

use fault::Result;
use units::Bytes;

use super::claim::{Claim, Turn};
use super::{Ground, Names, Site};
use crate::workload::{FileSet, Layout, Tree, Workload};

/// The grounds of a workload, one in each of its targets. What belongs to a rank lies in that of its number, in turn.
#[derive(Debug)]
pub struct Grounds {
    all: Vec<Ground>,
    names: Names,
}

impl Grounds {
    /// The grounds that `workload` asks for in repetition number `repetition`, counting from 0: fresh directories of run
    /// `id`, or the targets themselves where it says what entries are called. If one can't be made, none is left.
    pub fn create(targets: &[&Path], id: &str, workload: &Workload, repetition: u32) -> Result<Self> {
        let files = &workload.files;
        let Some(named) = &files.named else { return Self::fresh(targets, id, &files.tree) };
        let names = Names::named(files, named, repetition);
        let turn = |number| Turn { number, targets: targets.len() };
        let claims = targets.iter().enumerate();
        // All are looked at before anything is made in one of them.
        let claims = claims
            .map(|(number, target)| Claim::of(workload, &names, target, turn(number)))
            .collect::<Result<Vec<_>>>()?;
        let made = targets.iter().zip(claims).map(|(target, claim)| Ground::named(target, id, claim));
        Self::all_or_none(made, names)
    }

    /// Makes a fresh directory for run `id` in every target.
    pub fn fresh(targets: &[&Path], id: &str, tree: &Tree) -> Result<Self> {
        let made = targets.iter().map(|target| Ground::fresh(target, id, &tree.prefix));
        Self::all_or_none(made, Names::fresh(tree))
    }

    /// Those of a process that hosts no ranks.
    pub fn nowhere() -> Self {
        Self { all: Vec::new(), names: Names::fresh(&Tree::default()) }
    }

    /// Where they are, for other processes of the run.
    pub fn sites(&self) -> Result<Vec<Site>> {
        self.all.iter().map(Ground::site).collect()
    }

    /// Goes to the grounds that another process of the run made for repetition number `repetition`.
    pub fn join(sites: &[Site], workload: &Workload, repetition: u32) -> Result<Self> {
        let files = &workload.files;
        let names = match &files.named {
            Some(named) => Names::named(files, named, repetition),
            None => Names::fresh(&files.tree),
        };
        Ok(Self { all: sites.iter().map(Ground::join).collect::<Result<_>>()?, names })
    }

    fn all_or_none(made: impl Iterator<Item = Result<Ground>>, names: Names) -> Result<Self> {
        let mut all = Vec::new();
        for ground in made {
            match ground {
                Ok(ground) => all.push(ground),
                Err(fault) => {
                    // What could not be removed either, `forebay clean` knows.
                    all.into_iter().for_each(|ground: Ground| drop(ground.remove(false)));
                    return Err(fault);
                }
            }
        }
        Ok(Self { all, names })
    }

    /// Where the files of rank `owner` are. What all share is rank 0's.
    #[inline]
    pub fn of(&self, owner: u32) -> &Ground {
        &self.all[owner as usize % self.all.len()]
    }

    /// All of them; the first is that of the target that the test is named after.
    pub fn all(&self) -> &[Ground] {
        &self.all
    }

    /// What entries are called.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// What people should know before anything is measured.
    pub fn notices(&self) -> Vec<String> {
        let of = |ground: &Ground| ground.claim().map_or_else(Vec::new, |claim| claim.notices(ground.path()));
        self.all.iter().flat_map(of).collect()
    }

    /// How much of each rank's share is in data files that were there before; `None` when none is used.
    pub fn found(&self, files: &FileSet, ranks: u32) -> Option<Vec<Bytes>> {
        let claims = self.all.iter().filter_map(Ground::claim);
        let found: HashMap<u32, Bytes> = claims.flat_map(|claim| claim.found().iter().copied()).collect();
        if found.is_empty() {
            return None;
        }
        // Files beyond exact names are nobody's: nothing is missing in them.
        let named = files.named.as_ref().filter(|named| named.exact).map(|named| named.data.len());
        let nobodys = |number: u32| named.is_some_and(|count| number as usize >= count);
        let size = |number: u32| match found.get(&number) {
            _ if nobodys(number) => u64::MAX,
            size => size.map_or(0, |size| size.get()),
        };
        let block = files.block_size.get();
        let share = |rank: u32| match files.layout {
            Layout::PerRank => {
                let own = (files.block_of(rank) * files.segments).get();
                (0..files.files_per_rank).map(|slot| size(rank * files.files_per_rank + slot).min(own)).sum()
            }
            // What lies before the end of the file, of each of the rank's blocks.
            Layout::Shared => {
                let (all, round) = (size(0), block * u64::from(ranks));
                let whole = (all / round).min(files.segments);
                let rest = if whole < files.segments { all % round } else { 0 };
                whole * block + rest.saturating_sub(u64::from(rank) * block).min(block)
            }
        };
        Some((0..ranks).map(|rank| Bytes::new(share(rank))).collect())
    }

    /// Says in the journals that the run is alive.
    pub fn beat(&self) {
        self.all.iter().for_each(Ground::beat);
    }

    /// All of them, to be removed one by one.
    pub fn into_all(self) -> Vec<Ground> {
        self.all
    }
}
