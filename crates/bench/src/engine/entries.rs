//! Operations on entries: mdtest's phases.
//!
//! Paths start at the run directory, which is ours alone (mode 0700) and fresh, so no symlink can stand in them; trees under
//! names that somebody chose begin with a directory of this user. The last component is never followed.

use std::ops::Range;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use fault::Result;
use fleet::Rank;
use record::{Mark, OperationKind, RankResult, StopCause};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, syncfs, unlinkat};
use rustix::io::Errno;
use units::Bytes;

use super::buffer::Buffer;
use super::clock::{now, thread_cpu};
use super::files;
use super::item_path::ItemPath;
use super::meter::Meter;
use super::pacer::Pacer;
use super::pool::Chooser;
use super::rank::{
    PhaseContext, Place, RankOutcome, Start, called_off_cause, called_off_later, furthest, meet, nanoseconds,
    start_together, turn,
};
use super::turn::Turn;
use crate::data::{Generator, mix};
use crate::ground::{Ground, Names};
use crate::workload::{Entries, EntryOperation, Item, Selection, Tree};

/// How often a rank looks whether it should stop.
pub(super) const POLL_NS: u64 = 50_000_000;
/// Draws the instants at which operations are due, and the items that are selected.
const ARRIVALS: u64 = 1 << 58;
const ITEMS: u64 = 1 << 57;

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
        (EntryOperation::SetAttributes, _) => OperationKind::SetAttributes,
        (EntryOperation::Open, _) => OperationKind::Open,
        (EntryOperation::Read, _) => OperationKind::ReadFile,
        (EntryOperation::Write, _) => OperationKind::Write,
        (EntryOperation::Rename, _) => OperationKind::Rename,
        (EntryOperation::Remove, _) => OperationKind::Remove,
        (EntryOperation::Find, _) => OperationKind::Find,
    }
}

/// Runs one rank's part.
pub fn run(context: &PhaseContext, entries: &Entries, place: Place, rank: &impl Rank) -> Result<RankOutcome> {
    let kinds = [kind_of(entries), OperationKind::Fsync];
    let mut walker = Walker::new(context, entries, place, &kinds)?;
    walker.meter.log = context.operation_log(place.number);
    if context.phase.drop_cache && entries.operation == EntryOperation::Read {
        walker.drop_cache();
    }
    let Start { origin, late_ns } = start_together(rank)?;
    let cpu = thread_cpu();
    walker.meter.start(origin);
    let stop = context.phase.stop;
    // Nothing is open between two operations, but ranks with other jobs wait here.
    let begun = meet(context.phase, rank).unwrap_or_else(|_| called_off_later(context)).unwrap_or(origin);
    if let Some(pacer) = &mut walker.pacer {
        pacer.start(begun);
    }
    walker.deadline = stop.time.map_or(u64::MAX, |time| begun.saturating_add(nanoseconds(time)));
    let mut cause = walker.work();
    let mut capped = false;
    let mut stonewall = None;
    if stop.wear_out {
        context.board.mark_first_done(now() - origin);
        let done = (walker.meter.operations, walker.meter.bytes);
        // Whoever is called off keeps what it did.
        let target = furthest(context.phase, Some(place.job), done.0, rank);
        if target.is_err() {
            called_off_later(context);
            cause = called_off_cause(context);
        }
        let target = target.unwrap_or(done.0);
        stonewall = Some(Mark { elapsed_ns: now() - origin, operations: done.0, bytes: Bytes::new(done.1) });
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
    if meet(context.phase, rank).is_err() {
        cause = called_off_cause(context);
    }
    walker.meter.flush();
    let closed_ns = now() - origin;
    walker.errors += context.write_log(place.number, kinds[0], walker.meter.log.as_ref());
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
        closed_ns,
        cpu_ns: thread_cpu() - cpu,
        errors: walker.errors,
        damaged: 0,
        stonewall,
    };
    let (verified, matched) = (walker.verified, walker.matched);
    Ok(RankOutcome { result, cause, wear_out_capped: capped, origin, late_ns, verified, matched })
}

pub(super) struct Walker<'a> {
    pub(super) context: &'a PhaseContext<'a>,
    pub(super) entries: &'a Entries,
    pub(super) tree: &'a Tree,
    /// Directories in each of its trees, and trees of an owner.
    pub(super) directories: u64,
    pub(super) trees: u64,
    pub(super) names: &'a Names,
    pub(super) place: Place,
    pub(super) owner: u32,
    /// Where the owner's tree is.
    pub(super) ground: &'a Ground,
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
    /// The path of a directory, or the part of its items' that they have in common.
    pub(super) path: String,
    /// Where the current item is, and what it is to be called.
    pub(super) item_path: ItemPath,
    pub(super) other: ItemPath,
    /// The items that lie in one directory with the current one.
    span: Span,
    pub(super) buffer: Buffer,
    pub(super) scratch: Vec<u8>,
    /// The directory opened last, when items are named relative to it.
    pub(super) directory: Option<(u64, OwnedFd)>,
    /// The rank whose items are worked on, where one does it for all.
    pub(super) on_behalf: u32,
    /// Set in the open loop.
    pub(super) pacer: Option<Pacer>,
    /// Set where jobs keep to their part of all operations.
    pub(super) turn: Option<Turn<'a>>,
    /// Set where items of all ranks are taken.
    pub(super) chooser: Option<Chooser<'a>>,
}

/// Items of one owner in one directory, whose names differ in their number only.
#[derive(Debug, Default)]
struct Span {
    owner: u32,
    renamed: bool,
    items: Range<u64>,
    /// The number in the first one's name.
    number: u64,
}

impl<'a> Walker<'a> {
    fn new(
        context: &'a PhaseContext<'a>,
        entries: &'a Entries,
        place: Place,
        kinds: &[OperationKind],
    ) -> Result<Self> {
        let workload = context.workload;
        let tree = &workload.files.tree;
        let owner = if tree.shared_items { 0 } else { entries.rank_shift.apply(place.number, place.size) };
        let largest =
            entries.write_bytes.max(entries.read_bytes).max(tree.largest_size().unwrap_or_default());
        let size = entries.transfer_size.map_or(largest, |call| call.min(largest)).as_usize();
        let seed = |purpose| mix(workload.seed ^ mix(u64::from(place.number) | purpose));
        let pacer = Pacer::new(entries.pacing, place.in_job, place.job_size, seed(ARRIVALS));
        let chooser = context.pool.filter(|_| entries.select != Selection::Own).map(|pool| {
            let (what, used) = ((entries.operation, entries.select), entries.used(tree.items));
            let owners = pool.owners(&entries.targets, 1 + workload.more_targets.len());
            Chooser::new(pool, what, (used, owners), (place.job, place.in_job, place.job_size), seed(ITEMS))
        });
        Ok(Self {
            context,
            entries,
            tree,
            directories: tree.directories(),
            trees: tree.trees(),
            names: context.grounds.names(),
            place,
            owner,
            ground: context.grounds.of(owner),
            renamed: context.shares[owner as usize].renamed(),
            meter: Meter::new(context.board.of(place.number), kinds),
            generator: Generator::of(workload),
            deadline: u64::MAX,
            limit: context.phase.stop.operations.unwrap_or(u64::MAX),
            position: 0,
            errors: 0,
            verified: (0, 0),
            matched: entries.looking_for.as_ref().map(|_| 0),
            path: String::with_capacity(512),
            item_path: ItemPath::new(),
            other: ItemPath::new(),
            span: Span::default(),
            buffer: Buffer::new(size, 1)?,
            scratch: Vec::new(),
            directory: None,
            on_behalf: 0,
            pacer: pacer.map(|pacer| pacer.following(context.phase.rate.as_ref())),
            turn: turn(context, place, entries.pacing),
            chooser,
        })
    }

    /// Goes on from where it stopped.
    fn work(&mut self) -> StopCause {
        let result = match self.entries.operation {
            EntryOperation::MakeTree | EntryOperation::RemoveTree => self.walk_tree(),
            EntryOperation::Find => self.find(),
            EntryOperation::Mark => self.mark(),
            EntryOperation::Rename if self.entries.chained => self.rename_in_chains(),
            _ => self.visit_items(),
        };
        match result {
            Ok(cause) => cause,
            Err(error) => {
                self.errors += 1;
                let (rank, kind, path) = (self.place.number, kind_of(self.entries), &*self.failed_path());
                if error == Errno::INVAL && self.entries.direct {
                    // What file systems without it answer.
                    self.context.fail(rank, kind, path, None, files::no_direct());
                } else {
                    self.context.fail_errno(rank, kind, (self.owner, path), None, error);
                }
                StopCause::Error
            }
        }
    }

    pub(super) fn look_up(&mut self, now: u64) -> Option<StopCause> {
        self.meter.rotate(now);
        self.context.stop.cause().or((now >= self.deadline).then_some(StopCause::Time))
    }

    /// Drops the clean pages of the items' data. Names and attributes stay in the caches for entries.
    fn drop_cache(&mut self) {
        for item in 0..self.tree.items {
            self.path.clear();
            self.push_directory(self.tree.directory_of(item));
            self.path.push('/');
            self.names.push_item(&mut self.path, self.owner, item, self.entries.item, self.renamed);
            files::drop_cache(self.ground, &self.path);
        }
    }

    /// Makes `item_path` the path of an item, from the directory that `base` is.
    #[inline]
    pub(super) fn locate(&mut self, item: u64) -> rustix::io::Result<()> {
        let span = &self.span;
        if !(span.items.contains(&item) && span.owner == self.owner && span.renamed == self.renamed) {
            self.enter(item)?;
        }
        let number = self.span.number + (item - self.span.items.start);
        self.item_path.go_to(number);
        if self.entries.operation == EntryOperation::Rename {
            self.other.go_to(number);
        }
        Ok(())
    }

    /// Goes to the directory of an item.
    fn enter(&mut self, item: u64) -> rustix::io::Result<()> {
        let directory = self.tree.directory_of(item);
        self.span = Span::default();
        self.path.clear();
        if self.entries.relative {
            let number = u64::from(self.owner) * self.trees * self.directories + directory;
            if self.directory.as_ref().is_none_or(|(open, _)| *open != number) {
                self.push_directory(directory);
                let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let opened = openat(self.ground.as_fd(), self.path.as_str(), flags, Mode::empty())?;
                self.directory = Some((number, opened));
                self.path.clear();
            }
        } else {
            self.push_directory(directory);
            self.path.push('/');
        }
        self.names.push_item_stem(&mut self.path, self.owner, self.entries.item);
        let per_directory = self.tree.items_per_directory();
        let first = item - item % per_directory;
        let number = self.names.item_number(first);
        self.item_path.restart(&self.path, number, self.names.item_suffix(self.renamed));
        self.other.restart(&self.path, number, self.names.item_suffix(!self.renamed));
        let items = first..first.saturating_add(per_directory);
        self.span = Span { owner: self.owner, renamed: self.renamed, items, number };
        Ok(())
    }

    /// The path that an operation failed on.
    fn failed_path(&self) -> String {
        let item = self.entries.operation.is_for_items() && !self.span.items.is_empty();
        if item { self.item_path.text() } else { self.path.clone() }
    }

    /// The path of a directory, counted through the owner's trees.
    pub(super) fn push_directory(&mut self, directory: u64) {
        let (turn, within) = (directory / self.directories, directory % self.directories);
        self.names.push_directory(&mut self.path, self.owner, turn, within);
    }

    pub(super) fn base(&self) -> BorrowedFd<'_> {
        self.directory.as_ref().map_or_else(|| self.ground.as_fd(), |(_, directory)| directory.as_fd())
    }

    /// Makes or removes the directories of the tree; those that all share, one in each target, are the first rank's work.
    fn walk_tree(&mut self) -> rustix::io::Result<StopCause> {
        if !self.tree.per_rank && self.place.in_job > 0 {
            return Ok(StopCause::Bytes);
        }
        let count = self.directories * self.trees;
        let make = self.entries.operation == EntryOperation::MakeTree;
        let targets = if self.tree.per_rank { 1 } else { self.context.grounds.all().len() as u64 };
        while self.position < count * targets && self.meter.operations < self.limit {
            let (target, position) = (self.position / count, self.position % count);
            if !self.tree.per_rank {
                self.ground = self.context.grounds.of(target as u32);
            }
            let directory = if make { position } else { count - 1 - position };
            self.path.clear();
            self.push_directory(directory);
            let started = now();
            if make {
                mkdirat(self.base(), self.path.as_str(), self.ground.directory_mode())?;
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
