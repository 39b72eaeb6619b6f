//! Operations on entries: mdtest's phases.
//!
//! Paths start at the run directory, which is ours alone (mode 0700) and fresh, so no symlink can stand in them; the
//! last component is never followed.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use fault::Result;
use fleet::Rank;
use record::{OperationKind, RankResult, StopCause};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, syncfs, unlinkat};
use rustix::io::Errno;
use units::Bytes;

use super::buffer::Buffer;
use super::clock::{now, thread_cpu};
use super::files;
use super::meter::Meter;
use super::pacer::Pacer;
use super::pool::Chooser;
use super::rank::{PhaseContext, Place, RankOutcome, called_off, furthest, meet, nanoseconds, turn};
use super::turn::Turn;
use crate::data::{Generator, mix};
use crate::ground::{Names, RunDirectory};
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
    if context.phase.drop_cache && entries.operation == EntryOperation::Read {
        walker.drop_cache();
    }
    let origin = rank.all_max(now()).map_err(called_off)?;
    let cpu = thread_cpu();
    walker.meter.start(origin);
    let stop = context.phase.stop;
    // Nothing is open between two operations, but ranks with other jobs wait here.
    let begun = meet(context.phase, rank)?.unwrap_or(origin);
    if let Some(pacer) = &mut walker.pacer {
        pacer.start(begun);
    }
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
            Chooser::new(
                pool,
                what,
                (used, place.size),
                (place.job, place.in_job, place.job_size),
                seed(ITEMS),
            )
        });
        Ok(Self {
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
            _ => self.visit_items(),
        };
        match result {
            Ok(cause) => cause,
            Err(error) => {
                self.errors += 1;
                let (rank, kind, path) = (self.place.number, kind_of(self.entries), self.path.as_str());
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
            self.names.push_item(&mut self.path, self.owner, item, self.renamed);
            files::drop_cache(self.ground, &self.path);
        }
    }

    /// The directory that item paths of the current operation are relative to, and the path in `self.path`.
    pub(super) fn locate(&mut self, item: u64) -> rustix::io::Result<()> {
        let directory = self.tree.directory_of(item);
        self.path.clear();
        if self.entries.relative {
            let number = self.first_tree() * self.directories + directory;
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
        self.names.push_item(&mut self.path, self.owner, item, self.renamed);
        Ok(())
    }

    fn push_directory(&mut self, directory: u64) {
        self.push_directory_from(self.first_tree(), directory);
    }

    /// Number of the owner's first tree.
    fn first_tree(&self) -> u64 {
        if self.tree.per_rank { u64::from(self.owner) * self.trees } else { 0 }
    }

    /// The path of a directory, counted through the trees from number `first` on.
    pub(super) fn push_directory_from(&mut self, first: u64, directory: u64) {
        let (tree, within) = (first + directory / self.directories, directory % self.directories);
        Names::push_directory(&mut self.path, tree as u32, within, self.tree.branch);
    }

    pub(super) fn base(&self) -> BorrowedFd<'_> {
        self.directory.as_ref().map_or_else(|| self.ground.as_fd(), |(_, directory)| directory.as_fd())
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
