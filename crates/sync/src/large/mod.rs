//! One large file: its ranges are copied by every worker that has nothing else to do, hashed by leaves, compared with what the destination has,
//! and noted as they are done.
//!
//! Where the destination has an older copy, only leaves that differ are written: into a clone of it where the file system
//! can clone, else into a new draft, or in place where that is allowed. In place, the file has a mark
//! (`user.forebay.state`) as long as it is neither the old nor the new one. Where content moved, see [`moved`].

mod begin;
mod finish;
mod holes;
mod moved;
mod notes;
mod range;
mod stored;
mod stretches;

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use chunk::{Id, Leaves};
use store::Meta;

use self::moved::Moved;
use self::notes::Notes;
use crate::item::{Item, Pair};
use crate::job::{Hand, Job, Trouble, lock};
use crate::visit::Chore;

/// Files of at least this size are copied in ranges, unless the options say otherwise.
pub const LARGE_FROM: u64 = 64 << 20;
/// Bytes of a range: enough to be worth a note, little enough to be done again after a kill.
pub const RANGE: u64 = 16 << 20;
/// What a file that is neither old nor new is marked with.
pub const MARK: &str = "user.forebay.state";
/// How often a file that changes while it is read is tried.
const TRIES: u32 = 3;

/// A large file on its way.
pub struct Large {
    pair: Arc<Pair>,
    item: Item,
    attempt: u32,
    /// What the source was when we began.
    meta: Meta,
    source: OwnedFd,
    page: OwnedFd,
    way: Way,
    old: Old,
    /// The page has nothing but zeros, and what was already copied.
    blank: bool,
    /// Other movers help.
    shared: bool,
    leaves: Mutex<Leaves>,
    /// Ranges that an earlier job did.
    skip: Vec<bool>,
    next: AtomicU64,
    left: AtomicU64,
    notes: Notes,
    trouble: Mutex<Option<Trouble>>,
    stopped: AtomicBool,
}

/// Where it is written.
enum Way {
    /// To a draft of this name.
    Draft(Vec<u8>),
    /// To the file itself.
    InPlace,
}

/// What the page has before it is written.
enum Old {
    /// Nothing.
    Nothing,
    /// Content with these leaves.
    Leaves(Leaves),
    /// Content that must be read to be known.
    Unknown,
    /// Nothing, but the file that it will replace has much of it, elsewhere.
    Moved(Box<Moved>),
}

impl Large {
    fn ranges(&self) -> u64 {
        self.meta.size.div_ceil(RANGE)
    }

    fn path(&self) -> Vec<u8> {
        self.pair.below(&self.item.name)
    }

    fn give_up(&self, trouble: Trouble) {
        self.stopped.store(true, Ordering::Relaxed);
        lock(&self.trouble).get_or_insert(trouble);
    }
}

/// Begins a file; workers that have nothing else to do help.
pub fn start(job: &Job<'_>, hand: &mut Hand, pair: &Arc<Pair>, item: Item, attempt: u32) {
    let path = pair.below(&item.name);
    match begin::begin(job, pair, item, attempt) {
        Ok(mut large) => {
            if let Some(share) = job.share.filter(|_| stretches::is_worth(&large)) {
                large.shared = true;
                return stretches::copy(job, hand, &Arc::new(large), share);
            }
            let large = Arc::new(large);
            call_others(job, &large);
            help(job, hand, &large);
        }
        Err(trouble) => job.trouble(&path, trouble),
    }
}

fn call_others(job: &Job<'_>, large: &Arc<Large>) {
    for _ in 1..job.workers {
        if !job.pool.call(Chore::Large(large.clone()), 8 * job.workers) {
            break;
        }
    }
}

/// Nobody is wanted any more: what waits in the pool holds descriptors.
fn call_off(job: &Job<'_>, large: &Arc<Large>) {
    job.pool.call_off(|chore| !matches!(chore, Chore::Large(other) if Arc::ptr_eq(other, large)));
}

/// Copies ranges until none is left. Whoever does the last one finishes the file.
pub fn help(job: &Job<'_>, hand: &mut Hand, large: &Arc<Large>) {
    if let Some(share) = job.share.filter(|_| large.shared) {
        return stretches::help(job, hand, large, share);
    }
    if let Old::Moved(moved) = &large.old
        && !moved::learn(job, large, moved)
    {
        return;
    }
    loop {
        let number = large.next.fetch_add(1, Ordering::Relaxed);
        if number >= large.ranges() {
            return;
        }
        if number + 1 == large.ranges() {
            call_off(job, large);
        }
        if job.stopping() {
            large.give_up(Trouble::Stopped);
        }
        let skip = large.skip.get(number as usize).copied().unwrap_or(false);
        if !skip
            && !large.stopped.load(Ordering::Relaxed)
            && let Err(trouble) = range::copy(job, hand, large, number)
        {
            large.give_up(trouble);
        }
        if large.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            finish::finish(job, hand, large);
            return;
        }
    }
}

/// The name of the notes and stored leaves of the file at `path`.
fn key(path: &[u8]) -> String {
    Id::of(path).to_string()[..16].to_owned()
}

pub use begin::{large_draft_has_notes, sweep};
pub use stored::{forget, moved_on};
pub use stretches::{Share, Taken, Task, adopt, do_task};
