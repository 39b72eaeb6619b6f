//! One directory: what the source has, what the last sync knew, what the destination has, joined in the order of names.

use std::os::fd::AsFd;
use std::sync::Arc;

use store::{Errno, Kind, Meta, meta_of, meta_of_entry};

use crate::event::{Act, Event};
use crate::filter::Chain;
use crate::fresh;
use crate::index::{Itself, Known, Recall, Section};
use crate::item::{Batch, Pair};
use crate::job::{Hand, Job, Trouble};
use crate::large::Large;
use crate::look::Look;
use crate::names::{Names, Unlisted};
use crate::pool::Divisible;
use crate::ranges::{is_ours, pass_through};
use crate::scope::Inside;

/// A small piece of work.
pub enum Chore {
    /// Some entries of a directory.
    Batch(Batch),
    /// Ranges of a large file.
    Large(Arc<Large>),
    /// What changed in a directory.
    Changed(Vec<u8>, Inside),
}

/// Batches that wait for a thread, per worker; beyond that who makes them does them.
const WAITING: usize = 4;

/// Directories of one parent that are still to be visited.
pub struct Siblings {
    parent: Box<[u8]>,
    chain: Chain,
    /// Flags, length, name; one after the other.
    packed: Vec<u8>,
    at: usize,
}

/// A directory to visit.
pub struct Visit {
    pub path: Vec<u8>,
    pub chain: Chain,
    pub flags: u8,
}

/// The destination has no such directory.
pub const FRESH: u8 = 1;
/// Something else has its name there.
pub const REPLACES: u8 = 2;
/// What the last sync knew of it does not count.
pub const DISTRUST: u8 = 4;
/// Directories in it that the destination has are left for when they change themselves.
pub const SHALLOW: u8 = 8;

impl Siblings {
    /// Of this parent; `chain` are the rules that hold in it.
    pub fn new(parent: &[u8], chain: &Chain) -> Self {
        Self { parent: parent.into(), chain: chain.clone(), packed: Vec::new(), at: 0 }
    }

    /// Adds a directory.
    pub fn push(&mut self, name: &[u8], flags: u8) {
        self.packed.extend_from_slice(&[flags, name.len() as u8]);
        self.packed.extend_from_slice(name);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }
}

impl Divisible for Siblings {
    type Item = Visit;

    fn take(&mut self) -> Option<Visit> {
        let (&flags, &length) = (self.packed.get(self.at)?, self.packed.get(self.at + 1)?);
        let start = self.at + 2;
        self.at = start + usize::from(length);
        let path = store::below(&self.parent, &self.packed[start..self.at]);
        Some(Visit { path, chain: self.chain.clone(), flags })
    }
}

/// Visits one directory: does or hands over what its entries need, and queues the directories in it.
pub fn visit(job: &Job<'_>, hand: &mut Hand, visit: &Visit) {
    if let Err(trouble) = try_visit(job, hand, visit) {
        // What is in it was not looked at, or not all.
        job.incomplete(&visit.path);
        job.trouble(&visit.path, trouble);
    }
}

fn try_visit(job: &Job<'_>, hand: &mut Hand, visit: &Visit) -> Result<(), Trouble> {
    let path = &visit.path;
    if job.is_divided(path) {
        return pass_through(job, path, &visit.chain);
    }
    let opened = job.source.open_dir(path);
    let source = opened.map_err(|error| job.at_source("open", path, error))?;
    let meta = meta_of(&source).map_err(|error| job.at_source("look at", path, error))?;
    let mut names = std::mem::take(&mut hand.names);
    let span = job.span_in(path);
    list(job, hand, &mut names, source.as_fd(), |name| span.is_none_or(|span| span.has(name)))
        .map_err(|unlisted| unlisted.into_trouble(|error| job.at_source("list", path, error)))?;
    let chain = job.options.filter.enter(&visit.chain, source.as_fd(), path);
    let pair = Pair::new(path, source);
    let result = if visit.flags & FRESH != 0 {
        fresh::visit(job, hand, pair, (&meta, &mut names), visit, &chain)
    } else {
        visit_existing(job, hand, pair, (&meta, &mut names), visit.flags, &chain)
    };
    hand.names = names;
    result
}

/// The names in an open directory of either side that `keeps` says.
pub fn list(
    job: &Job<'_>,
    hand: &mut Hand,
    names: &mut Names,
    dir: std::os::fd::BorrowedFd<'_>,
    keeps: impl Fn(&[u8]) -> bool,
) -> Result<(), Unlisted> {
    names.list(dir, &mut hand.lister, job.state.dir(), keeps)
}

impl Unlisted {
    /// What it means for the directory.
    pub fn into_trouble(self, of_os: impl FnOnce(Errno) -> Trouble) -> Trouble {
        match self {
            Self::Os(error) => of_os(error),
            Self::Scratch(fault) => Trouble::Fatal(fault),
        }
    }
}

/// Visits a directory that the destination has, or should have.
pub fn visit_existing(
    job: &Job<'_>,
    hand: &mut Hand,
    pair: Pair,
    (meta, names): (&Meta, &mut Names),
    flags: u8,
    chain: &Chain,
) -> Result<(), Trouble> {
    let (path, distrust) = (pair.path.clone(), flags & DISTRUST != 0);
    let mut known = if distrust { None } else { job.known.find(&path, &mut hand.cache)? };
    let itself = known.as_ref().and_then(Recall::itself);
    let mut there = std::mem::take(&mut hand.others);
    let listed = job.list_destination || itself.is_none();
    if listed {
        let open = pair.destination(job);
        if matches!(open, Err(Errno::NOENT)) && !job.options.dry_run {
            return heal(job, &path);
        }
        let listing = open
            .map_err(Unlisted::from)
            .and_then(|dir| list(job, hand, &mut there, dir, |name| is_ours(job, &path, name)));
        listing
            .map_err(|unlisted| unlisted.into_trouble(|error| job.at_destination("list", &path, error)))?;
    }
    let mut look = Look::new(job, pair, chain, listed);
    look.doubts = known.is_some() && itself.is_none();
    look.part = flags & SHALLOW != 0;
    let result = look.join(hand, names, known.as_mut(), listed.then_some(&mut there));
    hand.others = there;
    result?;
    // Of a directory that we have a range of, nothing is set; see [`crate::ranges`].
    let changed = itself != Some(Itself::of(meta)) || job.span_in(&path).is_some();
    look.end(hand, changed)
}

/// A directory that the last sync knew is gone from the destination: it is made anew later, from the topmost one that is
/// missing.
pub fn heal(job: &Job<'_>, dir: &[u8]) -> Result<(), Trouble> {
    let mut missing = dir;
    while !missing.is_empty() {
        let parent = store::split_last(missing).0;
        match job.destination.open_dir(parent) {
            Ok(_) => break,
            Err(Errno::NOENT) => missing = parent,
            Err(error) => return Err(job.at_destination("open", parent, error)),
        }
    }
    if !job.may_make(missing) {
        return Err(job.at_destination("open", missing, Errno::NOENT));
    }
    job.tree_later(missing);
    Ok(())
}

/// Queues a directory with all below it, when nothing else is looked at.
pub fn visit_tree(job: &Job<'_>, tree: &[u8]) -> Result<(), Trouble> {
    let (parent, name) = store::split_last(tree);
    let opened = match job.destination.open_dir(parent) {
        Err(Errno::NOENT) => return heal(job, tree),
        opened => opened.map_err(|error| job.at_destination("open", parent, error))?,
    };
    let flags = match meta_of_entry(&opened, name) {
        Ok(there) if there.kind == Kind::Directory => 0,
        Ok(_) => FRESH | REPLACES | DISTRUST,
        Err(Errno::NOENT) => FRESH | DISTRUST,
        Err(error) => return Err(job.at_destination("look at", tree, error)),
    };
    if flags == FRESH | DISTRUST {
        job.ledger.tree_gone(tree);
        let mut section = Section::default();
        section.push(name, &directory_entry());
        // Its parent may not know it yet, if only what changed is looked at.
        job.ledger.done(parent, &section, 0);
        job.drafts.note(parent)?;
        job.finish_later(parent)?;
    }
    let mut alone = Siblings::new(parent, &chain_of(job, parent)?);
    alone.push(name, flags);
    job.pool.push(alone);
    Ok(())
}

/// The rules that hold in the directory `dir` of the source.
pub fn chain_of(job: &Job<'_>, dir: &[u8]) -> Result<Chain, Trouble> {
    let mut chain = Chain::default();
    for end in (0..=dir.len()).filter(|end| *end == dir.len() || *end == 0 || dir[*end] == b'/') {
        let above = job.source.open_dir(&dir[..end]);
        let above = above.map_err(|error| job.at_source("open", dir, error))?;
        chain = job.options.filter.enter(&chain, above.as_fd(), &dir[..end]);
    }
    Ok(chain)
}

/// Hands a batch to whoever is free; where enough are waiting, does it at once.
pub fn give(job: &Job<'_>, hand: &mut Hand, batch: Batch) {
    if let Some(Chore::Batch(batch)) = job.pool.offer(Chore::Batch(batch), WAITING * job.workers) {
        batch.run(job, hand);
    }
}

/// How a directory appears among its parent's entries: the index keeps what it is with its own.
pub fn directory_entry() -> Known {
    let nothing = store::Stamp::default();
    Known {
        kind: Kind::Directory,
        racy: false,
        linked: false,
        size: 0,
        mtime: nothing,
        ctime: nothing,
        inode: 0,
        mode: 0,
        uid: 0,
        gid: 0,
        id: None,
    }
}

/// Whether an entry of the source takes part: filters, mounts, special files.
pub fn is_wanted(job: &Job<'_>, chain: &Chain, dir: &[u8], name: &[u8], meta: &Meta) -> bool {
    let options = job.options;
    if meta.kind == Kind::Directory && meta.device != job.source_device && !options.cross_mounts {
        let path = job.source.show(&store::below(dir, name));
        let note = format!("`{}` is another file system: left out (--cross-mounts takes it)", path.display());
        job.watcher.event(&Event::Note(&note));
        return false;
    }
    let special = meta.kind == Kind::Fifo || meta.kind.is_device();
    if meta.kind == Kind::Socket || (special && !options.special_files) {
        return false;
    }
    options.filter.is_open(chain) || options.filter.allows(chain, &store::below(dir, name), meta)
}

/// In a dry run: tells that a directory would be made.
pub fn plan_directory(job: &Job<'_>, meta: &Meta, path: &[u8]) {
    job.planned(Act::Create, meta, path);
}
