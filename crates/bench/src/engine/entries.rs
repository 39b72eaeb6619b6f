//! Operations on entries: mdtest's phases.
//!
//! Paths start at the run directory, which is ours alone (mode 0700) and fresh, so no symlink can stand in them; the
//! last component is never followed.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use fault::Result;
use fleet::Rank;
use record::{OperationKind, RankResult, StopCause};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, fsync, mkdirat, mknodat, openat, renameat, statat, syncfs, unlinkat,
};
use rustix::io::{Errno, pread, pwrite};
use units::Bytes;

use super::clock::{now, thread_cpu};
use super::files;
use super::meter::Meter;
use super::rank::{PhaseContext, Place, RankOutcome, called_off, damaged, furthest, meet, nanoseconds};
use crate::data::{Generator, Mismatch, mix};
use crate::ground::{Names, RunDirectory};
use crate::sequence::Permutation;
use crate::workload::{Entries, EntryOperation, Item, Order, Tree};

/// How often a rank looks whether it should stop.
const POLL_NS: u64 = 50_000_000;
/// Items are numbered apart from data files: their contents never repeat those of a data file.
const ITEM_NUMBERS: u64 = 1 << 63;

/// The kind an operation counts as.
pub fn kind_of(entries: &Entries) -> OperationKind {
    match (entries.operation, entries.item) {
        (EntryOperation::MakeTree, _) | (EntryOperation::Create, Item::Directory) => {
            OperationKind::MakeDirectory
        }
        (EntryOperation::RemoveTree, _) | (EntryOperation::Remove, Item::Directory) => {
            OperationKind::RemoveDirectory
        }
        (EntryOperation::Create, Item::File) | (EntryOperation::Mark, _) => OperationKind::Create,
        (EntryOperation::Create, Item::Node) => OperationKind::MakeNode,
        (EntryOperation::Stat, _) => OperationKind::Stat,
        (EntryOperation::Read, _) => OperationKind::ReadFile,
        (EntryOperation::Rename, _) => OperationKind::Rename,
        (EntryOperation::Remove, _) => OperationKind::Remove,
        (EntryOperation::Find, _) => OperationKind::Find,
    }
}

/// Runs one rank's part.
pub fn run(context: &PhaseContext, entries: &Entries, place: Place, rank: &impl Rank) -> Result<RankOutcome> {
    let kinds = [kind_of(entries), OperationKind::Fsync];
    let mut walker = Walker::new(context, entries, place, &kinds);
    if context.phase.drop_cache && entries.operation == EntryOperation::Read {
        walker.drop_cache();
    }
    let origin = rank.all_max(now()).map_err(called_off)?;
    let cpu = thread_cpu();
    walker.meter.start(origin);
    let stop = context.phase.stop;
    // Nothing is open between two operations, but ranks with other jobs wait here.
    let begun = meet(context.phase, rank)?.unwrap_or(origin);
    walker.deadline = stop.time.map_or(u64::MAX, |time| begun.saturating_add(nanoseconds(time)));
    let mut cause = walker.work();
    let mut capped = false;
    if stop.wear_out {
        context.board.mark_first_done(now() - origin);
        let target = furthest(context.phase, Some(place.job), walker.meter.operations, rank)?;
        if cause == StopCause::Time && walker.meter.operations < target {
            walker.limit = target;
            walker.deadline =
                stop.wear_out_cap.map_or(u64::MAX, |cap| now().saturating_add(nanoseconds(cap)));
            match walker.work() {
                StopCause::Time => capped = true,
                StopCause::Bytes => {}
                other => cause = other,
            }
        }
    }
    walker.meter.transferred();
    let transferred_ns = now() - origin;
    if entries.sync_at_end {
        walker.sync();
    }
    let synced_ns = now() - origin;
    context.board.mark_first_done(synced_ns);
    meet(context.phase, rank)?;
    walker.meter.flush();
    if walker.errors > 0 {
        cause = StopCause::Error;
    }
    let result = RankResult {
        rank: place.number,
        host: context.host.to_owned(),
        operations: walker.meter.operations,
        bytes: Bytes::new(walker.meter.bytes),
        opened_ns: begun - origin,
        transferred_ns,
        synced_ns,
        closed_ns: now() - origin,
        cpu_ns: thread_cpu() - cpu,
        errors: walker.errors,
    };
    let (verified, matched) = (walker.verified, walker.matched);
    Ok(RankOutcome { result, cause, wear_out_capped: capped, origin, verified, matched })
}

pub(super) struct Walker<'a> {
    pub(super) context: &'a PhaseContext<'a>,
    pub(super) entries: &'a Entries,
    pub(super) tree: &'a Tree,
    /// Directories in each of its trees, and trees of an owner.
    pub(super) directories: u64,
    pub(super) trees: u64,
    pub(super) names: Names,
    pub(super) place: Place,
    pub(super) owner: u32,
    /// Where the owner's tree is.
    pub(super) ground: &'a RunDirectory,
    /// Whether the items carry their second name now.
    pub(super) renamed: bool,
    pub(super) meter: Meter<'a>,
    pub(super) generator: Generator,
    pub(super) deadline: u64,
    pub(super) limit: u64,
    pub(super) position: u64,
    pub(super) errors: u64,
    pub(super) verified: (u64, u64),
    /// Entries that were looked for and found; `None` when nothing in particular was.
    pub(super) matched: Option<u64>,
    pub(super) path: String,
    pub(super) other: String,
    pub(super) buffer: Vec<u8>,
    pub(super) scratch: Vec<u8>,
    /// The directory opened last, when items are named relative to it.
    pub(super) directory: Option<(u64, OwnedFd)>,
}

impl<'a> Walker<'a> {
    fn new(
        context: &'a PhaseContext<'a>,
        entries: &'a Entries,
        place: Place,
        kinds: &[OperationKind],
    ) -> Self {
        let workload = context.workload;
        let tree = &workload.files.tree;
        let owner = if tree.shared_items { 0 } else { entries.rank_shift.apply(place.number, place.size) };
        let size = entries.write_bytes.max(entries.read_bytes).as_usize();
        Self {
            context,
            entries,
            tree,
            directories: tree.directories(),
            trees: tree.trees(),
            names: Names::new(&tree.prefix),
            place,
            owner,
            ground: context.grounds.of(if tree.per_rank { owner } else { 0 }),
            renamed: context.shares[owner as usize].renamed(),
            meter: Meter::new(&context.board.live[place.number as usize], kinds),
            generator: Generator::new(workload.data, workload.seed),
            deadline: u64::MAX,
            limit: context.phase.stop.operations.unwrap_or(u64::MAX),
            position: 0,
            errors: 0,
            verified: (0, 0),
            matched: entries.looking_for.as_ref().map(|_| 0),
            path: String::with_capacity(512),
            other: String::with_capacity(512),
            buffer: vec![0; size],
            scratch: vec![0; size],
            directory: None,
        }
    }

    /// Goes on from where it stopped.
    fn work(&mut self) -> StopCause {
        let result = match self.entries.operation {
            EntryOperation::MakeTree | EntryOperation::RemoveTree => self.walk_tree(),
            EntryOperation::Find => self.find(),
            EntryOperation::Mark => self.mark(),
            _ => self.visit_items(),
        };
        match result {
            Ok(cause) => cause,
            Err(error) => {
                self.errors += 1;
                let place = (self.owner, self.path.as_str());
                self.context.fail_errno(self.place.number, kind_of(self.entries), place, None, error);
                StopCause::Error
            }
        }
    }

    /// Drops the clean pages of the items' data. Names and attributes stay in the caches for entries.
    fn drop_cache(&mut self) {
        for item in 0..self.tree.items {
            self.path.clear();
            self.push_directory(self.tree.directory_of(item));
            self.path.push('/');
            self.names.push_item(&mut self.path, self.owner, item, self.renamed);
            files::drop_cache(self.ground, &self.path);
        }
    }

    fn visit_items(&mut self) -> rustix::io::Result<StopCause> {
        let once = matches!(self.entries.operation, EntryOperation::Rename | EntryOperation::Remove);
        if self.tree.shared_items && once && self.place.in_job > 0 {
            return Ok(StopCause::Bytes);
        }
        let create = self.entries.operation == EntryOperation::Create;
        // A creation that was stopped left fewer items than planned.
        let made = self.context.shares[self.owner as usize].items();
        let items = if create || made == 0 { self.tree.items } else { made };
        let permutation = Permutation::new(items, mix(self.context.workload.seed ^ u64::from(self.owner)));
        let mut started = now();
        let mut check_at = started + POLL_NS;
        while self.position < items {
            if self.meter.operations >= self.limit {
                break;
            }
            let item = match self.entries.order {
                Order::RandomOnce if !create => permutation.at(self.position),
                _ => self.position,
            };
            let bytes = self.operate(item, &mut started)?;
            self.position += 1;
            let ended = now();
            self.meter.record(0, ended - started, bytes);
            started = ended;
            if ended >= check_at.min(self.deadline).min(self.meter.interval_end()) {
                if let Some(cause) = self.look_up(ended) {
                    self.remember();
                    return Ok(cause);
                }
                started = now();
                check_at = started + POLL_NS;
            }
        }
        self.remember();
        Ok(StopCause::Bytes)
    }

    /// What the phases that follow must know of these items.
    fn remember(&self) {
        let share = &self.context.shares[self.owner as usize];
        match self.entries.operation {
            EntryOperation::Create if self.tree.shared_items => share.remember_at_least(self.position),
            EntryOperation::Create => share.remember_items(self.position),
            // Made again, there may be fewer.
            EntryOperation::Remove if self.tree.shared_items => share.remember_items(0),
            EntryOperation::Rename => share.remember_rename(),
            _ => {}
        }
    }

    pub(super) fn look_up(&mut self, now: u64) -> Option<StopCause> {
        self.meter.rotate(now);
        self.context.stop.cause().or((now >= self.deadline).then_some(StopCause::Time))
    }

    /// The directory that item paths of the current operation are relative to, and the path in `self.path`.
    fn locate(&mut self, item: u64) -> rustix::io::Result<()> {
        let directory = self.tree.directory_of(item);
        self.path.clear();
        if self.entries.relative {
            if self.directory.as_ref().is_none_or(|(open, _)| *open != directory) {
                self.push_directory(directory);
                let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let opened = openat(self.ground.as_fd(), self.path.as_str(), flags, Mode::empty())?;
                self.directory = Some((directory, opened));
                self.path.clear();
            }
        } else {
            self.push_directory(directory);
            self.path.push('/');
        }
        self.names.push_item(&mut self.path, self.owner, item, self.renamed);
        Ok(())
    }

    fn push_directory(&mut self, directory: u64) {
        let first = if self.tree.per_rank { u64::from(self.owner) * self.trees } else { 0 };
        self.push_directory_from(first, directory);
    }

    /// The path of a directory, counted through the trees from number `first` on.
    pub(super) fn push_directory_from(&mut self, first: u64, directory: u64) {
        let (tree, within) = (first + directory / self.directories, directory % self.directories);
        Names::push_directory(&mut self.path, tree as u32, within, self.tree.branch);
    }

    pub(super) fn base(&self) -> BorrowedFd<'_> {
        self.directory.as_ref().map_or_else(|| self.ground.as_fd(), |(_, directory)| directory.as_fd())
    }

    /// One operation on one item; returns the bytes it moved.
    fn operate(&mut self, item: u64, started: &mut u64) -> rustix::io::Result<u64> {
        self.locate(item)?;
        let path = self.path.as_str();
        match (self.entries.operation, self.entries.item) {
            (EntryOperation::Create, Item::Directory) => mkdirat(self.base(), path, Mode::RWXU)?,
            (EntryOperation::Create, Item::Node) => {
                match mknodat(self.base(), path, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0) {
                    Err(Errno::EXIST) if self.tree.shared_items => {}
                    made => made?,
                }
            }
            (EntryOperation::Create, Item::File) => return self.create(item, started),
            (EntryOperation::Stat, _) => {
                std::hint::black_box(statat(self.base(), path, AtFlags::SYMLINK_NOFOLLOW)?);
            }
            (EntryOperation::Read, _) => return self.read(item, started),
            (EntryOperation::Rename, _) => self.rename(item)?,
            (EntryOperation::Remove, Item::Directory) => unlinkat(self.base(), path, AtFlags::REMOVEDIR)?,
            (EntryOperation::Remove, _) => unlinkat(self.base(), path, AtFlags::empty())?,
            (
                EntryOperation::MakeTree
                | EntryOperation::RemoveTree
                | EntryOperation::Find
                | EntryOperation::Mark,
                _,
            ) => {}
        }
        Ok(0)
    }

    fn number(&self, item: u64) -> u64 {
        ITEM_NUMBERS | u64::from(self.owner) << 40 | item
    }

    fn create(&mut self, item: u64, started: &mut u64) -> rustix::io::Result<u64> {
        let size = self.entries.write_bytes.as_usize();
        if size > 0 {
            self.generator.fill(self.number(item), 0, &mut self.buffer[..size]);
            *started = now();
        }
        let mut flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if !self.tree.shared_items {
            flags |= OFlags::EXCL;
        }
        let file = openat(self.base(), self.path.as_str(), flags, Mode::RUSR | Mode::WUSR)?;
        let mut done = 0;
        while done < size {
            done += match pwrite(&file, &self.buffer[done..size], done as u64)? {
                0 => return Err(Errno::NOSPC),
                count => count,
            };
        }
        if self.entries.fsync {
            let before = now();
            fsync(&file)?;
            self.meter.record_side(1, now() - before);
        }
        files::close(file)?;
        Ok(size as u64)
    }

    fn read(&mut self, item: u64, started: &mut u64) -> rustix::io::Result<u64> {
        let size = self.entries.read_bytes.as_usize();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(self.base(), self.path.as_str(), flags, Mode::empty())?;
        let mut done = 0;
        while done < size {
            done += match pread(&file, &mut self.buffer[done..size], done as u64)? {
                // Shorter than it should be: data was lost.
                0 => return Err(Errno::IO),
                count => count,
            };
        }
        drop(file);
        if self.entries.verify && size > 0 {
            let ended = now();
            let number = self.number(item);
            self.verified.0 += size as u64;
            if let Err(bad) = self.generator.verify(number, 0, &self.buffer[..size], &mut self.scratch) {
                if self.verified.1 == 0 {
                    self.report_mismatch(&bad);
                }
                self.verified.1 += bad.words;
            }
            // Comparing is not the storage's time.
            *started += now() - ended;
        }
        Ok(size as u64)
    }

    fn report_mismatch(&self, bad: &Mismatch) {
        self.context.failures.note(damaged(self.place.number, OperationKind::ReadFile, &self.path, bad));
    }

    fn rename(&mut self, item: u64) -> rustix::io::Result<()> {
        self.other.clear();
        if let Some(slash) = self.path.rfind('/') {
            self.other.push_str(&self.path[..=slash]);
        }
        self.names.push_item(&mut self.other, self.owner, item, !self.renamed);
        renameat(self.base(), self.path.as_str(), self.base(), self.other.as_str())
    }

    /// Makes or removes the directories of the tree; one that all share is the first rank's work.
    fn walk_tree(&mut self) -> rustix::io::Result<StopCause> {
        if !self.tree.per_rank && self.place.in_job > 0 {
            return Ok(StopCause::Bytes);
        }
        let count = self.directories * self.trees;
        let make = self.entries.operation == EntryOperation::MakeTree;
        while self.position < count && self.meter.operations < self.limit {
            let directory = if make { self.position } else { count - 1 - self.position };
            self.path.clear();
            self.push_directory(directory);
            let started = now();
            if make {
                mkdirat(self.base(), self.path.as_str(), Mode::RWXU)?;
            } else {
                unlinkat(self.base(), self.path.as_str(), AtFlags::REMOVEDIR)?;
            }
            self.position += 1;
            let ended = now();
            self.meter.record(0, ended - started, 0);
            if let Some(cause) = self.look_up(ended) {
                return Ok(cause);
            }
        }
        Ok(StopCause::Bytes)
    }

    /// Flushes the file system of the target, and no other.
    fn sync(&mut self) {
        let started = now();
        match syncfs(self.ground.as_fd()) {
            Ok(()) => self.meter.record_side(1, now() - started),
            Err(error) => {
                self.errors += 1;
                self.context.fail_errno(
                    self.place.number,
                    OperationKind::Fsync,
                    (self.owner, ""),
                    None,
                    error,
                );
            }
        }
    }
}
