//! What all workers of a sync with object stores share.

use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use fault::{Fault, Kind as FaultKind};
use store::{Kind, Stamp};

use super::scan::{Ear, Found};
use super::side::{Place, Side};
use crate::chunked::Chunked;
use crate::counters::Counters;
use crate::event::{Act, Event, Step, Watcher};
use crate::far::{Entry, Far};
use crate::index::{Known, Section};
use crate::job::{Birth, Drafts, lock};
use crate::ledger::Ledger;
use crate::options::{Options, Verify};
use crate::renames::Old;
use crate::spool::Spool;
use crate::state::State;
use crate::throttle::Throttle;

/// With this file in the state the destination is listed, whatever the index says: deletes were refused, or a job that did not
/// end renamed something.
pub const OWED: &str = "deletes-owed";
/// Failures one after the other after which a store counts as gone.
const HOPELESS: u32 = 20;
/// Large entries that are on their way at the same time, so that memory stays bounded.
const LARGE_AT_ONCE: u32 = 2;
/// Content up to this size travels whole; larger content in pieces of it.
pub const PIECE: u64 = 8 << 20;
/// Pieces of one entry that travel at the same time.
pub const PIECES_AT_ONCE: usize = 4;
/// A local kernel stamps times by its tick, at most 10 ms.
const TICK: i128 = 20_000_000;
/// How far apart the times of two clocks must be to say which was first, ns.
pub const CLOCKS: i128 = 2_000_000_000;
/// How often an entry that changes while it is read is tried.
pub const TRIES: u32 = 4;

/// One sync while it goes on.
pub struct Work<'a> {
    pub options: &'a Options,
    pub watcher: &'a dyn Watcher,
    pub counters: &'a Counters,
    pub source: Side,
    pub destination: Side,
    pub state: State,
    pub ledger: Ledger,
    pub throttle: Throttle,
    pub drafts: Drafts,
    pub birth: Birth,
    pub with_owner: bool,
    /// How young a change may be to count as one that may have a younger twin, ns.
    pub racy_nanos: i128,
    /// Names of files with several: group, path, hash.
    pub links: Mutex<Spool>,
    /// Directories whose attributes are to be set at the end.
    pub finishes: Mutex<Spool>,
    pub stop: Arc<AtomicBool>,
    sample: [u8; 32],
    fatal: Mutex<Option<Fault>>,
    doubtful: AtomicBool,
    crashed: AtomicBool,
    owes: AtomicBool,
    /// Notes of large objects that a later job may go on with.
    pub unfinished: Mutex<HashSet<PathBuf>>,
    /// Directories in which an earlier job may have left what nobody goes on with any more.
    unswept: Mutex<Vec<Vec<u8>>>,
    in_a_row: AtomicU32,
    large: (Mutex<u32>, Condvar),
}

/// An entry that needs something done.
#[derive(Debug)]
pub struct Task {
    pub found: Found,
    pub todo: Todo,
    /// What the last sync knew.
    pub known: Option<Known>,
    /// The destination has something else under the path: a directory for a file, or the other way round.
    pub replaces: bool,
    /// What it may be under another name.
    pub old: Option<Box<Old>>,
}

/// What is to be done with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Todo {
    /// It goes over.
    Copy,
    /// It goes over unless the destination has it already, which no sync of ours knows.
    Compare,
    /// It has not changed, but what the destination has is read all the same.
    Check,
    /// No time says that it changed, but none would if it had: its hash decides.
    Recheck,
}

/// How an entry ended well.
#[derive(Debug)]
pub enum Done {
    /// The index should know this.
    Known(Known),
    /// A later stage ends it.
    Later,
    /// It does not take part.
    LeftOut,
}

/// Why an entry was not done.
#[derive(Debug)]
pub enum Trouble {
    /// It can't be done.
    Item(Fault),
    /// It changed whenever it was read.
    Unstable,
    /// It went while we looked.
    Vanished,
    /// The job should stop.
    Stopped,
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Item(fault)
    }
}

/// What one thread works with.
#[derive(Default)]
pub struct Hand {
    /// The directory that was opened last on each side.
    pub source: Option<(Vec<u8>, OwnedFd)>,
    pub destination: Option<(Vec<u8>, OwnedFd)>,
    /// Small entries of another host that were read before their turn, by their keys.
    pub ahead: HashMap<String, fault::Result<Entry>>,
}

impl<'a> Work<'a> {
    /// Before anything is done.
    pub fn new(
        (options, watcher, counters): (&'a Options, &'a dyn Watcher, &'a Counters),
        (source, destination): (Side, Side),
        state: State,
        stop: Arc<AtomicBool>,
    ) -> fault::Result<Self> {
        let spool = || Mutex::new(Spool::new(state.dir()));
        Ok(Self {
            ledger: Ledger::open(&state.path("journal"), false)?,
            throttle: Throttle::new(options.limit.clone()),
            drafts: Drafts::open(&state)?,
            birth: Birth::learn(),
            with_owner: rustix::process::geteuid().is_root(),
            racy_nanos: match &source {
                Side::Tree(root)
                    if store::FileSystem::of(root.fd()).is_ok_and(|system| system.is_local()) =>
                {
                    TICK
                }
                _ => CLOCKS,
            },
            links: spool(),
            finishes: spool(),
            sample: std::array::from_fn(|_| fastrand::u8(..)),
            fatal: Mutex::default(),
            doubtful: AtomicBool::new(false),
            crashed: AtomicBool::new(false),
            owes: AtomicBool::new(false),
            unfinished: Mutex::default(),
            unswept: Mutex::default(),
            in_a_row: AtomicU32::new(0),
            large: (Mutex::new(LARGE_AT_ONCE), Condvar::new()),
            stop,
            options,
            watcher,
            counters,
            source,
            destination,
            state,
        })
    }

    /// Whether nothing new should be begun.
    pub fn stopping(&self) -> bool {
        if self.watcher.stopping() {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.stop.load(Ordering::Relaxed)
    }

    /// The job can't go on; the first reason counts.
    pub fn end(&self, fault: Fault) {
        lock(&self.fatal).get_or_insert(fault);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// What the destination has may not be what it looks like: its host went down while it was written.
    pub fn doubt(&self, doubtful: bool) {
        self.doubtful.store(doubtful, Ordering::Relaxed);
    }

    /// Whether an entry that no sync of ours knows may count as there already, by what it looks like.
    pub fn believes_looks(&self) -> bool {
        !self.doubtful.load(Ordering::Relaxed)
    }

    /// The last job did not end.
    pub fn after_crash(&self, crashed: bool) {
        self.crashed.store(crashed, Ordering::Relaxed);
    }

    /// Whether it did not: the destination may have what no index knows.
    pub fn is_after_crash(&self) -> bool {
        self.crashed.load(Ordering::Relaxed)
    }

    /// In these directories an earlier job may have left large files half way.
    pub fn sweep_later(&self, directories: Vec<Vec<u8>>) {
        *lock(&self.unswept) = directories;
    }

    /// Those directories.
    pub fn to_sweep(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *lock(&self.unswept))
    }

    /// Something at the destination is about to lose a name that the index knows: whoever goes on after a kill must look.
    pub fn owe(&self) -> fault::Result<()> {
        if self.owes.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let path = self.state.path(OWED);
        std::fs::write(&path, "").map_err(|error| Fault::os("write", &path, error))
    }

    /// Whether something lost a name.
    pub fn owes(&self) -> bool {
        self.owes.load(Ordering::Relaxed)
    }

    /// Whether what is at the destination is read.
    pub fn verifies(&self) -> bool {
        self.options.verify != Verify::None
    }

    /// A file of this size came from where the destination had it under another name.
    pub fn moved(&self, bytes: u64) {
        self.counters.moved.one();
        self.counters.bytes_saved.add(bytes);
    }

    /// Why the job could not go on, if it could not.
    pub fn take_fatal(&self) -> Option<Fault> {
        lock(&self.fatal).take()
    }

    /// The source's location; only asked where it has one.
    pub fn source_store(&self) -> fault::Result<&Place> {
        match &self.source {
            Side::Store(place) => Ok(place),
            Side::Tree(_) => Err(Fault::new(FaultKind::Bug, "the source is no object store")),
        }
    }

    /// The destination's location; only asked where it has one.
    pub fn destination_store(&self) -> fault::Result<&Place> {
        match &self.destination {
            Side::Store(place) => Ok(place),
            Side::Tree(_) => Err(Fault::new(FaultKind::Bug, "the destination is no object store")),
        }
    }

    /// The destination, where it is a tree on another host.
    pub fn destination_far(&self) -> Option<&Far> {
        match &self.destination {
            Side::Store(place) => place.far.as_deref(),
            Side::Tree(_) => None,
        }
    }

    /// The destination, where it is a chunk store.
    pub fn destination_chunks(&self) -> Option<&Chunked> {
        match &self.destination {
            Side::Store(place) => place.chunked.as_deref(),
            Side::Tree(_) => None,
        }
    }

    /// The source, where it is a chunk store.
    pub fn source_chunks(&self) -> Option<&Chunked> {
        match &self.source {
            Side::Store(place) => place.chunked.as_deref(),
            Side::Tree(_) => None,
        }
    }

    /// Counts what a chunk store sent, and tells what it has to tell.
    pub fn after_chunks<T>(&self, done: T) -> T {
        for chunked in [self.destination_chunks(), self.source_chunks()].into_iter().flatten() {
            let [sent, saved, verified] = chunked.take_passed();
            self.counters.bytes_sent.add(sent);
            self.counters.bytes_saved.add(saved);
            self.counters.bytes_verified.add(verified);
            chunked.take_notes().iter().for_each(|note| self.watcher.event(&Event::Note(note)));
        }
        done
    }

    /// Takes note of how an entry ended.
    pub fn ended(&self, path: &[u8], result: Result<Done, Trouble>) {
        match result {
            Ok(Done::Known(known)) => {
                self.in_a_row.store(0, Ordering::Relaxed);
                self.know(path, &known);
            }
            Ok(Done::Later) => self.in_a_row.store(0, Ordering::Relaxed),
            Ok(Done::LeftOut) => self.counters.left_out.one(),
            Err(Trouble::Stopped) => {}
            Err(Trouble::Vanished) => self.counters.vanished.one(),
            Err(Trouble::Unstable) => {
                self.counters.unstable.one();
                let text = format!("`{}` changed whenever it was read", self.source.show(path));
                let fault = Fault::new(FaultKind::Io, text)
                    .hint("its last good copy was left alone; sync again when it rests");
                self.watcher.event(&Event::Failed(path, &fault));
            }
            Err(Trouble::Item(fault)) => self.failed_with(path, fault),
        }
    }

    fn failed_with(&self, path: &[u8], fault: Fault) {
        if self.stop.load(Ordering::Relaxed) && fault.may_retry() {
            // It was not tried to the end.
            return;
        }
        if let Some(fault) = self.lost_connection() {
            return self.end(fault);
        }
        self.counters.failed.one();
        self.watcher.event(&Event::Failed(path, &fault));
        if let Some(fault) = self.destination_chunks().and_then(Chunked::broken) {
            return self.end(fault);
        }
        if matches!(fault.kind(), FaultKind::NoSpace | FaultKind::Bug) {
            return self.end(fault);
        }
        if fault.may_retry() && self.in_a_row.fetch_add(1, Ordering::Relaxed) + 1 >= HOPELESS {
            let text = format!("{HOPELESS} entries failed one after the other, the last because: {fault}");
            self.end(Fault::new(fault.kind(), text).hint("the same command goes on from here"));
        }
    }

    /// The failure of a connection to a host, if one is lost: nothing can go on then.
    fn lost_connection(&self) -> Option<Fault> {
        let far = |side: &Side| match side {
            Side::Store(place) => place.far.as_ref()?.lost(),
            Side::Tree(_) => None,
        };
        far(&self.source).or_else(|| far(&self.destination))
    }

    /// The entry at `path` is at the destination.
    pub fn know(&self, path: &[u8], known: &Known) {
        let (dir, name) = store::split_last(path);
        let mut section = Section::default();
        section.push(name, known);
        if self.ledger.done(dir, &section, known.size) {
            self.checkpoint();
        }
    }

    /// Makes durable what is done, and writes it down. What a store acknowledged is durable there.
    pub fn checkpoint(&self) {
        let done = match &self.destination {
            Side::Tree(root) => self.ledger.checkpoint(root.fd(), root.path()),
            Side::Store(Place { far: Some(far), .. }) => self.ledger.checkpoint_by(|| far.sync()),
            Side::Store(_) => self.ledger.write_down(),
        };
        if let Err(fault) = done {
            self.end(fault);
        }
    }

    /// Tells a step of the plan.
    pub fn planned(&self, act: Act, found: &Found) {
        let bytes = if found.known.kind == Kind::File { found.known.size } else { 0 };
        let step = Step { act, kind: found.known.kind, path: &found.path, bytes };
        self.watcher.event(&Event::Planned(step));
    }

    /// Whether a change at this time may have a younger twin that no time will show.
    pub fn is_racy(&self, changed: Stamp) -> bool {
        Stamp::now().as_nanos() - changed.as_nanos() < self.racy_nanos
    }

    /// Whether an object, as it was listed, may have a younger twin that looks the same: written within the tick of the
    /// store's clock, under a tag that says nothing of the labels.
    pub fn is_racy_object(&self, found: &Found) -> bool {
        let told = self.source_store().is_ok_and(|place| place.abilities.tags_follow_labels);
        found.known.racy || (!told || found.tag.is_empty()) && self.is_racy(found.known.mtime)
    }

    /// Whether an unchanged file is read back.
    pub fn wants_check(&self, path: &[u8]) -> bool {
        match self.options.verify {
            Verify::None | Verify::Transferred => false,
            Verify::All => true,
            Verify::Sampled => {
                let hash = blake3::keyed_hash(&self.sample, path);
                u64::from_le_bytes(*hash.as_bytes().first_chunk().unwrap_or(&[0; 8])) % 100 == 0
            }
        }
    }

    /// Counts content that passed.
    pub fn passed(&self, bytes: u64) {
        self.counters.bytes_read.add(bytes);
        if self.destination_chunks().is_none() {
            self.counters.bytes_sent.add(bytes);
        }
        self.after_chunks(());
    }

    /// Holds a worker back as the limit says.
    pub fn throttle(&self, bytes: u64) {
        // A chunk store counts what it sends, which may be nothing.
        if self.destination_chunks().is_none() {
            self.throttle.pass(bytes, || self.stopping());
        }
    }

    /// Waits until a large entry may be begun.
    pub fn large(&self) -> Large<'_> {
        let mut free = lock(&self.large.0);
        while *free == 0 {
            free = self.large.1.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Large(&self.large)
    }

    /// Where sorting may use the disk.
    pub fn scratch(&self) -> &Path {
        self.state.dir()
    }
}

/// The right to have a large entry on its way.
pub struct Large<'a>(&'a (Mutex<u32>, Condvar));

impl Drop for Large<'_> {
    fn drop(&mut self) {
        *lock(&self.0.0) += 1;
        self.0.1.notify_one();
    }
}

impl Ear for Work<'_> {
    fn scanned(&self) {
        self.counters.scanned.one();
    }

    fn left_out(&self) {
        self.counters.left_out.one();
    }

    fn failed(&self, path: &[u8], fault: &Fault) {
        self.counters.failed.one();
        self.watcher.event(&Event::Failed(path, fault));
    }

    fn note(&self, text: &str) {
        self.watcher.event(&Event::Note(text));
    }

    fn stopping(&self) -> bool {
        Work::stopping(self)
    }
}
