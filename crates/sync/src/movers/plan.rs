//! How a job is divided: from the top, until there are enough directories.

use std::collections::{BTreeSet, VecDeque};
use std::os::fd::AsFd;

use fault::Fault;
use rustix::fs::{Mode, mkdirat};
use store::{Errno, Kind, Lister, Root, below, meta_of_entry};

use crate::filter::Chain;
use crate::options::Options;
use crate::roots::Roots;

/// Directories that the job is divided into, at least, where the tree has them.
const ENOUGH: usize = 64;
/// A directory with more directories in it is not divided: that many parts would cost more than they bring.
const MOST: usize = 4096;

/// How a job is divided.
#[derive(Debug, Default)]
pub struct Division {
    /// Directories that are parts of their own; none lies in another.
    pub trees: BTreeSet<Vec<u8>>,
    /// A directory above them had to be made at the destination.
    pub made: bool,
}

/// A directory, and the rules that hold in the one it is in.
struct Branch {
    path: Vec<u8>,
    chain: Chain,
}

/// Divides the tree. The directories above the parts are made at the destination, so that every part has its place.
pub fn divide(options: &Options, roots: &Roots) -> fault::Result<Division> {
    let mut division = Division::default();
    let mut waiting = VecDeque::from([Branch { path: Vec::new(), chain: Chain::default() }]);
    while let Some(branch) = waiting.pop_front() {
        if division.trees.len() + waiting.len() >= ENOUGH {
            division.trees.insert(branch.path);
            continue;
        }
        let below = branches(options, roots, &branch)?;
        let is_root = branch.path.is_empty();
        if below.is_empty() || below.len() > MOST {
            if !is_root {
                division.trees.insert(branch.path);
            }
            continue;
        }
        division.made |= !is_root && make(&roots.destination, &branch.path)?;
        waiting.extend(below);
    }
    Ok(division)
}

/// The directories in a directory that can be parts: they take part, and nothing else has their name at the destination.
fn branches(options: &Options, roots: &Roots, branch: &Branch) -> fault::Result<Vec<Branch>> {
    let shown = roots.source.show(&branch.path);
    let source = match roots.source.open_dir(&branch.path) {
        Ok(source) => source,
        Err(error) if branch.path.is_empty() => return Err(Fault::os("open", &shown, error)),
        // What can't be opened is told where it is copied.
        Err(_) => return Ok(Vec::new()),
    };
    let chain = options.filter.enter(&branch.chain, source.as_fd(), &branch.path);
    let mut names = Vec::new();
    let listed = Lister::default().list(&source, |entry| -> store::Os<()> {
        names.push(entry.name.to_bytes().to_vec());
        Ok(())
    });
    listed.map_err(|error| Fault::os("list", &shown, error))?;
    names.sort_unstable();
    let there = roots.destination.open_dir(&branch.path).ok();
    let device = roots.source.meta()?.device;
    let mut found = Vec::new();
    for name in names {
        let path = below(&branch.path, &name);
        let Ok(meta) = meta_of_entry(&source, &name) else { continue };
        let same_system = meta.device == device || options.cross_mounts;
        let wanted = options.filter.is_open(&chain) || options.filter.allows(&chain, &path, &meta);
        if meta.kind != Kind::Directory || !same_system || !wanted {
            continue;
        }
        let in_the_way = there.as_ref().and_then(|dir| meta_of_entry(dir, &name).ok());
        if in_the_way.is_none_or(|there| there.kind == Kind::Directory) {
            found.push(Branch { path, chain: chain.clone() });
        }
        if found.len() > MOST {
            break;
        }
    }
    Ok(found)
}

/// Whether the directory had to be made; the rest gives it its attributes.
fn make(destination: &Root, path: &[u8]) -> fault::Result<bool> {
    let (parent, name) = store::split_last(path);
    let unmade = |error| Fault::os("create", &destination.show(path), error);
    let dir = destination.open_dir(parent).map_err(unmade)?;
    match mkdirat(&dir, name, Mode::from_raw_mode(0o700)) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(unmade(error)),
    }
}
