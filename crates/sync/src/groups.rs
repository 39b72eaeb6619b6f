//! Files with several names, where only some of the names are looked at: the others are found by what is known, so that
//! all names of a file stay one file at the destination.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use store::{Kind, Meta, split_last};

use crate::index::Known;
use crate::job::{Job, lock};
use crate::scope::{Changes, Scope};

/// Files that are told apart; with more, everything is looked at in the next round.
const MOST: usize = 100_000;

/// Files with several names that were met while a part of the tree was looked at.
#[derive(Debug, Default)]
pub struct Groups {
    /// `None` while the whole tree is looked at, and all names are met anyway.
    met: Mutex<Option<Met>>,
    /// Whether names are one file at the destination is looked at, whatever the index says.
    doubting: AtomicBool,
}

#[derive(Debug, Default)]
struct Met {
    /// By device and inode.
    groups: HashMap<(u64, u64), Group>,
    /// Inodes of names that are gone: the file may have changed through them before.
    gone: HashSet<u64>,
    /// Directories that are gone, with all names in them.
    gone_trees: Vec<Vec<u8>>,
}

#[derive(Debug, Default)]
struct Group {
    links: u64,
    changed: bool,
    paths: HashSet<Vec<u8>>,
}

impl Groups {
    /// A look at all, or at a part, begins.
    pub fn begin(&self, scope: &Scope) {
        self.doubting.store(false, Ordering::Relaxed);
        *lock(&self.met) = match scope {
            Scope::All => None,
            Scope::Some(changes) => Some(Met { gone: changes.inodes().collect(), ..Met::default() }),
        };
    }

    /// The names that were not met are looked at now: each may be a file of its own at the destination.
    pub fn doubt(&self) {
        self.doubting.store(true, Ordering::Relaxed);
    }

    /// Whether what the index says of a name is not enough.
    pub fn is_doubting(&self) -> bool {
        self.doubting.load(Ordering::Relaxed)
    }

    /// A name was met.
    pub fn note(&self, meta: &Meta, changed: bool, path: &[u8]) {
        if let Some(met) = &mut *lock(&self.met)
            && met.groups.len() <= MOST
        {
            let group = met.groups.entry((meta.device, meta.inode)).or_default();
            group.links = meta.links.into();
            group.changed |= changed;
            group.paths.insert(path.to_vec());
        }
    }

    /// The entry at `path`, which was `known`, is gone.
    pub fn gone(&self, path: &[u8], known: &Known) {
        let Some(met) = &mut *lock(&self.met) else { return };
        if known.linked && met.gone.len() <= MOST {
            met.gone.insert(known.inode);
        }
        if known.kind == Kind::Directory && met.gone_trees.len() <= MOST {
            met.gone_trees.push(path.to_vec());
        }
    }
}

/// The names that were not met of each file that changed.
pub fn other_names(job: &Job<'_>) -> fault::Result<Changes> {
    let mut others = Changes::default();
    let Some(mut met) = lock(&job.groups.met).take() else { return Ok(others) };
    if met.groups.len().max(met.gone.len()).max(met.gone_trees.len()) > MOST {
        lock(&job.desk.again).everything();
    }
    for tree in &met.gone_trees {
        met.gone.extend(job.known.linked_below(tree)?);
    }
    met.groups.retain(|_, group| group.changed && (group.paths.len() as u64) < group.links);
    let inodes: HashSet<u64> = met.groups.keys().map(|(_, inode)| *inode).chain(met.gone).collect();
    if inodes.is_empty() {
        return Ok(others);
    }
    let seen: HashSet<&[u8]> =
        met.groups.values().flat_map(|group| &group.paths).map(|path| &path[..]).collect();
    job.known.with_inodes(&inodes, |path, _| {
        if !seen.contains(&path[..]) {
            let (dir, name) = split_last(&path);
            others.name(dir, name, false);
        }
        Ok(())
    })?;
    Ok(others)
}
