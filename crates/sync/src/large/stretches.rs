//! A large file that several movers copy: whoever has its part makes the draft and gives it its name at the end; everyone
//! takes stretches of it, which are durable before they count as done.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use chunk::{Id, LEAF, Leaves, leaf_of};
use fault::{Fault, Kind as FaultKind};
use rustix::fs::fdatasync;
use store::meta_of;

use super::begin::draft_name;
use super::notes::{Notes, Page, Version};
use super::{Large, Old, RANGE, Way, call_off, call_others, finish, key, range};
use crate::counters::Counters;
use crate::index::wire::{put, take};
use crate::item::{Item, Pair};
use crate::job::{Hand, Job, Trouble, lock};
use crate::judge::Verdict;

/// Files of at least this size are shared.
const SHARED_FROM: u64 = 256 << 20;
/// Bytes of a stretch, at least: some seconds of work, so that taking it costs nothing.
const STRETCH: u64 = 64 << 20;
/// Stretches of a file, at most.
const MOST: u64 = 1024;

/// The other movers.
pub trait Share: Sync {
    /// Others may take stretches of this file. What was done of the same stays done.
    fn open(&self, path: &[u8], head: &[u8], stretches: u64) -> fault::Result<()>;
    /// A stretch for this thread.
    fn take(&self, path: &[u8]) -> fault::Result<Option<Taken>>;
    /// It is done.
    fn done(&self, taken: &Taken, done: &[u8]) -> fault::Result<()>;
    /// What is done, by whomever, but for what is known.
    fn finished(&self, path: &[u8], known: &BTreeSet<u64>) -> fault::Result<Vec<(u64, Vec<u8>)>>;
    /// Gives others some time.
    fn wait(&self);
}

/// A stretch that a thread has.
#[derive(Debug)]
pub struct Taken {
    pub number: u64,
    /// Which time it is that somebody has it.
    pub claim: u64,
}

/// A stretch that is done for somebody else who has the part.
#[derive(Debug)]
pub struct Task {
    pub path: Vec<u8>,
    pub head: Vec<u8>,
    pub number: u64,
}

/// Which content it is, and the inode of the draft that it is written to.
struct Head {
    version: Version,
    target: u64,
}

impl Head {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.version.put(&mut bytes);
        put(&mut bytes, self.target);
        bytes
    }

    fn decode(mut bytes: &[u8]) -> fault::Result<Self> {
        Ok(Self { version: Version::take(&mut bytes)?, target: take(&mut bytes)? })
    }
}

/// Ranges of a stretch of a file of `size` bytes.
fn ranges_of(size: u64) -> u64 {
    size.div_ceil(MOST).max(STRETCH).div_ceil(RANGE)
}

/// Numbers, then the hashes of leaves.
struct Done {
    read: u64,
    sent: u64,
    saved: u64,
    ids: Vec<Id>,
}

impl Done {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(32 * self.ids.len() + 30);
        [self.read, self.sent, self.saved].iter().for_each(|number| put(&mut bytes, *number));
        self.ids.iter().for_each(|id| bytes.extend_from_slice(&id.0));
        bytes
    }

    fn decode(mut bytes: &[u8]) -> fault::Result<Self> {
        let (read, sent, saved) = (take(&mut bytes)?, take(&mut bytes)?, take(&mut bytes)?);
        Ok(Self { read, sent, saved, ids: bytes.as_chunks::<32>().0.iter().copied().map(Id).collect() })
    }
}

/// Whether others can help: nothing of the old copy is used.
pub fn is_worth(large: &Large) -> bool {
    large.blank && large.meta.size >= SHARED_FROM && matches!(large.way, Way::Draft(_))
}

/// Copies a file together with others.
pub fn copy(job: &Job<'_>, hand: &mut Hand, large: &Arc<Large>, share: &dyn Share) {
    let path = large.path();
    if let Err(trouble) = together(job, hand, large, share, &path) {
        large.give_up(trouble);
    }
    call_off(job, large);
    finish::finish(job, hand, large);
}

fn together(
    job: &Job<'_>,
    hand: &mut Hand,
    large: &Arc<Large>,
    share: &dyn Share,
    path: &[u8],
) -> Result<(), Trouble> {
    let target = meta_of(&large.page).map_err(|error| job.at_destination("look at", path, error))?.inode;
    let head = Head { version: Version::of(&large.meta), target }.encode();
    let stretches = large.ranges().div_ceil(ranges_of(large.meta.size));
    share.open(path, &head, stretches)?;
    call_others(job, large);
    let mut known = BTreeSet::new();
    loop {
        help(job, hand, large, share);
        if let Some(trouble) = lock(&large.trouble).take() {
            return Err(trouble);
        }
        if job.stopping() {
            return Err(Trouble::Stopped);
        }
        for (number, done) in share.finished(path, &known)? {
            add(job, large, number, &Done::decode(&done)?);
            known.insert(number);
        }
        if known.len() as u64 == stretches {
            return Ok(());
        }
        share.wait();
    }
}

/// What somebody did of the file.
fn add(job: &Job<'_>, large: &Large, number: u64, done: &Done) {
    let first = number * ranges_of(large.meta.size);
    lock(&large.leaves).set(leaf_of(first * RANGE), &done.ids);
    if large.skip.get(first as usize).copied().unwrap_or(false) {
        // Done, and counted, before this job.
        return;
    }
    job.counters.bytes_read.add(done.read);
    job.counters.bytes_sent.add(done.sent);
    job.counters.bytes_saved.add(done.saved);
}

/// Takes stretches until there are none.
pub fn help(job: &Job<'_>, hand: &mut Hand, large: &Large, share: &dyn Share) {
    while !large.stopped.load(Ordering::Relaxed) {
        let taken = share.take(&large.path()).map_err(Trouble::Fatal);
        let done = match taken {
            Ok(None) => return,
            Ok(Some(taken)) => stretch(job, hand, large, taken.number).and_then(|ids| {
                // What this mover read and wrote is counted already.
                let done = Done { read: 0, sent: 0, saved: 0, ids }.encode();
                share.done(&taken, &done).map_err(Trouble::Fatal)
            }),
            Err(trouble) => Err(trouble),
        };
        if let Err(trouble) = done {
            large.give_up(trouble);
        }
    }
}

/// Copies a stretch, durably; the hashes of its leaves.
fn stretch(job: &Job<'_>, hand: &mut Hand, large: &Large, number: u64) -> Result<Vec<Id>, Trouble> {
    let (first, count) = (number * ranges_of(large.meta.size), ranges_of(large.meta.size));
    let mut ids = Vec::new();
    for range in first..(first + count).min(large.ranges()) {
        if job.stopping() || large.stopped.load(Ordering::Relaxed) {
            return Err(Trouble::Stopped);
        }
        ids.extend(range::copy(job, hand, large, range)?);
    }
    fdatasync(&large.page).map_err(|error| job.at_destination("write", &large.path(), error))?;
    Ok(ids)
}

/// Does a stretch of a file whose part somebody else has. What was done is left in the job.
pub fn do_task(job: &Job<'_>, task: &Task) -> fault::Result<()> {
    match try_task(job, task) {
        Ok(done) => *lock(&job.stretch) = Some(done),
        Err(Trouble::Stopped) => {}
        Err(Trouble::Item(fault) | Trouble::Fatal(fault)) => return Err(fault),
        Err(Trouble::Unstable | Trouble::Vanished | Trouble::Waits) => {
            let path = job.source.show(&task.path);
            return Err(Fault::new(FaultKind::Refused, format!("`{}` changed", path.display())));
        }
    }
    Ok(())
}

fn try_task(job: &Job<'_>, task: &Task) -> Result<Vec<u8>, Trouble> {
    let (dir, name) = store::split_last(&task.path);
    let source = job.source.open_dir(dir).map_err(|error| job.at_source("open", dir, error))?;
    let pair = Arc::new(Pair::new(dir, source));
    let large = join(job, &pair, name, task)?;
    let next = AtomicU64::new(0);
    let whole = ranges_of(large.meta.size);
    let first = task.number * whole;
    let count = large.ranges().saturating_sub(first).min(whole);
    let done: Mutex<Vec<(u64, Vec<Id>)>> = Mutex::default();
    std::thread::scope(|scope| {
        let work = || {
            let mut hand = Hand::default();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                if place >= count || large.stopped.load(Ordering::Relaxed) {
                    return;
                }
                match range::copy(job, &mut hand, &large, first + place) {
                    Ok(ids) => lock(&done).push((place, ids)),
                    Err(trouble) => large.give_up(trouble),
                }
            }
        };
        (1..job.workers.min(count as usize)).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    if let Some(trouble) = lock(&large.trouble).take() {
        return Err(trouble);
    }
    fdatasync(&large.page).map_err(|error| job.at_destination("write", &task.path, error))?;
    let after = meta_of(&large.source).map_err(|error| job.at_source("look at", &task.path, error))?;
    if !large.meta.same_content(&after) {
        return Err(Trouble::Unstable);
    }
    let mut done = std::mem::take(&mut *lock(&done));
    done.sort_unstable_by_key(|(place, _)| *place);
    let ids = done.into_iter().flat_map(|(_, ids)| ids).collect();
    // Nothing else was counted by this job.
    let Counters { bytes_read, bytes_sent, bytes_saved, .. } = job.counters;
    Ok(Done { read: bytes_read.get(), sent: bytes_sent.get(), saved: bytes_saved.get(), ids }.encode())
}

/// Opens both sides, which must be those that the other mover has.
fn join(job: &Job<'_>, pair: &Arc<Pair>, name: &[u8], task: &Task) -> Result<Large, Trouble> {
    let path = &task.path;
    let head = Head::decode(&task.head)?;
    let source =
        store::open_reading(&pair.source, name).map_err(|error| job.at_source("open", path, error))?;
    let meta = meta_of(&source).map_err(|error| job.at_source("look at", path, error))?;
    if Version::of(&meta) != head.version {
        return Err(Trouble::Unstable);
    }
    let dir = pair.destination(job).map_err(|error| job.at_destination("open", &pair.path, error))?;
    let draft = draft_name(job, path);
    let page = store::Draft::reopen(dir, &draft).map_err(|error| job.at_destination("open", path, error))?;
    if meta_of(page.fd()).map_err(|error| job.at_destination("look at", path, error))?.inode != head.target {
        return Err(Trouble::Unstable);
    }
    let notes = job.state.path("stretch");
    let notes = Notes::begin(&notes, path, &head.version, head.target, Page::Draft)?;
    Ok(Large {
        pair: pair.clone(),
        item: Item { name: name.into(), meta, known: None, verdict: Verdict::Copy, there: None },
        attempt: 0,
        meta,
        source,
        page: page.into_fd(),
        way: Way::Draft(draft),
        old: Old::Nothing,
        blank: true,
        shared: true,
        // Whoever has the part adds them up.
        leaves: Mutex::new(Leaves::unknown(LEAF)),
        skip: Vec::new(),
        next: AtomicU64::new(0),
        left: AtomicU64::new(0),
        notes,
        trouble: Mutex::new(None),
        stopped: AtomicBool::new(false),
    })
}

/// Writes into the state of a part, as if it had been there all the time, what somebody who is gone left of a file, so that
/// the next one goes on inside of it.
pub fn adopt(state: &Path, path: &[u8], head: &[u8], done: &[(u64, Vec<u8>)]) -> fault::Result<()> {
    let head = Head::decode(head)?;
    let parts = state.join("parts");
    std::fs::create_dir_all(&parts).map_err(|error| Fault::os("create", &parts, error))?;
    let notes = Notes::begin(&parts.join(key(path)), path, &head.version, head.target, Page::Draft)?;
    let count = ranges_of(head.version.size());
    for (number, done) in done {
        let ids = Done::decode(done)?.ids;
        for (range, ids) in (number * count..).zip(ids.chunks((RANGE / LEAF) as usize)) {
            notes.done(range, ids)?;
        }
    }
    Ok(())
}
