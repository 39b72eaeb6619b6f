//! How a job is divided: from the top, until there are enough directories; directories with many names into ranges of them.

use std::collections::{BTreeSet, VecDeque};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use fault::Fault;
use rustix::fs::{Mode, mkdirat};
use store::{Errno, Kind, Lister, Root, below, meta_of_entry};

use super::cuts::{Cuts, FLAT, MOST_LOOSE};
use crate::filter::Chain;
use crate::options::Options;
use crate::roots::Roots;

/// Directories that the job is divided into, at least, where the tree has them.
const ENOUGH: usize = 64;
/// The directories in a directory with more are no parts of their own: that many would cost more than they bring.
const MOST: usize = 4096;

/// How a job is divided.
#[derive(Debug, Default)]
pub struct Division {
    /// Keys of what are parts: directories, none of which lies in another, and ranges of names.
    pub parts: BTreeSet<Vec<u8>>,
    /// A directory above them had to be made at the destination.
    pub made: bool,
}

/// A directory, and the rules that hold in the one it is in.
struct Branch {
    path: Vec<u8>,
    chain: Chain,
}

/// What a listing told of a directory.
struct Listing {
    source: OwnedFd,
    /// Names in it; not all, where they are counted only as far as they must be.
    names: u64,
    /// Those of directories; not all, where they are too many.
    dirs: Vec<Vec<u8>>,
}

/// Divides the tree. What is divided, and what lies above parts, is made at the destination, so that every part has its
/// place. `before` are the parts of the last time, which stay where they can: what is known of them stays, too. `scratch` is
/// a directory for sorting.
pub fn divide(
    options: &Options,
    roots: &Roots,
    before: &BTreeSet<Vec<u8>>,
    scratch: &Path,
) -> fault::Result<Division> {
    let planner = Planner { options, roots, cuts: Cuts::new(before, scratch), lister: Lister::default() };
    planner.divide()
}

struct Planner<'a> {
    options: &'a Options,
    roots: &'a Roots,
    cuts: Cuts<'a>,
    lister: Lister,
}

impl Planner<'_> {
    fn divide(mut self) -> fault::Result<Division> {
        let mut division = Division::default();
        let (mut found, mut waiting) =
            (0, VecDeque::from([Branch { path: Vec::new(), chain: Chain::default() }]));
        while let Some(branch) = waiting.pop_front() {
            let enough = found + waiting.len() >= ENOUGH;
            found += 1;
            let Some(listing) = self.list(&branch, enough)? else {
                division.parts.insert(branch.path);
                continue;
            };
            let many = listing.dirs.len() > MOST;
            let below = if many || enough { Vec::new() } else { self.branches(&branch, &listing)? };
            let least = if below.is_empty() { FLAT } else { MOST_LOOSE };
            let others = listing.names.saturating_sub(below.len() as u64);
            if many || others > self.cuts.least(&branch.path, least) {
                division.made |= make(&self.roots.destination, &branch.path)?;
                division.parts.extend(self.cuts.of(
                    &self.roots.source,
                    &branch.path,
                    below.len() as u64,
                    many,
                )?);
            } else if !below.is_empty() {
                division.made |= make(&self.roots.destination, &branch.path)?;
            } else if !branch.path.is_empty() {
                division.parts.insert(branch.path);
            }
            // It is no part itself.
            found -= usize::from(!below.is_empty());
            waiting.extend(below);
        }
        Ok(division)
    }

    /// What is in a directory; `None` where it is one part in any case. With `briefly`, names are counted only as far as
    /// they must be to tell whether they are many.
    fn list(&mut self, branch: &Branch, briefly: bool) -> fault::Result<Option<Listing>> {
        let shown = self.roots.source.show(&branch.path);
        let source = match self.roots.source.open_dir(&branch.path) {
            Ok(source) => source,
            Err(error) if branch.path.is_empty() => return Err(Fault::os("open", &shown, error)),
            // What can't be opened is told where it is copied.
            Err(_) => return Ok(None),
        };
        let most = if briefly { self.cuts.least(&branch.path, FLAT) } else { u64::MAX };
        let (mut names, mut dirs) = (0, Vec::new());
        let counted = self.lister.list(&source, |entry| {
            names += 1;
            let name = entry.name.to_bytes();
            let is_dir = |kind| kind == Kind::Directory;
            let kind = || meta_of_entry(&source, name).map(|meta| meta.kind);
            if dirs.len() <= MOST && entry.kind.or_else(|| kind().ok()).is_some_and(is_dir) {
                dirs.push(name.to_vec());
            }
            if names > most { Err(Errno::CANCELED) } else { Ok(()) }
        });
        match counted {
            Ok(()) if briefly && dirs.len() <= MOST => return Ok(None),
            Ok(()) | Err(Errno::CANCELED) => {}
            Err(error) => return Err(Fault::os("list", &shown, error)),
        }
        dirs.sort_unstable();
        Ok(Some(Listing { source, names, dirs }))
    }

    /// The directories in a directory that can be parts: they take part, and nothing else has their name at the
    /// destination.
    fn branches(&self, branch: &Branch, listing: &Listing) -> fault::Result<Vec<Branch>> {
        let Listing { source, dirs, .. } = listing;
        let filter = &self.options.filter;
        let chain = filter.enter(&branch.chain, source.as_fd(), &branch.path);
        let there = self.roots.destination.open_dir(&branch.path).ok();
        let device = self.roots.source.meta()?.device;
        let mut found = Vec::new();
        for name in dirs {
            let path = below(&branch.path, name);
            let Ok(meta) = meta_of_entry(source, name) else { continue };
            let same_system = meta.device == device || self.options.cross_mounts;
            let wanted = filter.is_open(&chain) || filter.allows(&chain, &path, &meta);
            if meta.kind != Kind::Directory || !same_system || !wanted {
                continue;
            }
            let in_the_way = there.as_ref().and_then(|dir| meta_of_entry(dir, name).ok());
            if in_the_way.is_none_or(|there| there.kind == Kind::Directory) {
                found.push(Branch { path, chain: chain.clone() });
            }
        }
        Ok(found)
    }
}

/// Whether the directory had to be made; the rest gives it its attributes.
fn make(destination: &Root, path: &[u8]) -> fault::Result<bool> {
    if path.is_empty() {
        return Ok(false);
    }
    let (parent, name) = store::split_last(path);
    let unmade = |error| Fault::os("create", &destination.show(path), error);
    let dir = destination.open_dir(parent).map_err(unmade)?;
    match mkdirat(&dir, name, Mode::from_raw_mode(0o700)) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(unmade(error)),
    }
}
