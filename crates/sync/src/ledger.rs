use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fault::Fault;
use store::Durability;

use crate::index::{Journal, Parts, Section};

/// When what was done is made durable and written down: whichever comes first.
const MOST_BYTES: u64 = 4 << 30;
const MOST_NOTES: usize = 16 << 20;
/// More than this is not held in memory.
const MOST_KEPT: usize = 64 << 20;
const MOST_TIME: Duration = Duration::from_secs(20);

/// What is done at the destination but perhaps not durable, and the journal of what is.
#[derive(Debug)]
pub struct Ledger {
    pending: Mutex<Pending>,
    journal: Mutex<Journal>,
    /// What went into the journal, as far as it is to be held in memory too.
    kept: Mutex<Option<Vec<Parts>>>,
    kept_bytes: AtomicUsize,
}

#[derive(Debug)]
struct Pending {
    parts: Parts,
    bytes: u64,
    since: Instant,
}

impl Ledger {
    /// A ledger that writes to `journal`, and keeps what it writes in memory if `keeps`.
    pub fn open(journal: &Path, keeps: bool) -> fault::Result<Self> {
        let pending = Pending { parts: Parts::default(), bytes: 0, since: Instant::now() };
        Ok(Self {
            pending: Mutex::new(pending),
            journal: Mutex::new(Journal::open(journal)?),
            kept: Mutex::new(keeps.then(Vec::new)),
            kept_bytes: AtomicUsize::new(0),
        })
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes entries of `dir` that are at the destination under their final names, with `bytes` of content. Returns
    /// whether it is time for a checkpoint.
    pub fn done(&self, dir: &[u8], section: &Section, bytes: u64) -> bool {
        if section.is_empty() {
            return false;
        }
        let mut pending = self.pending();
        pending.parts.done(dir, section);
        pending.bytes += bytes;
        pending.is_full()
    }

    /// Notes that `name` in `dir` is gone from the destination.
    pub fn gone(&self, dir: &[u8], name: &[u8]) {
        self.pending().parts.gone(dir, name);
    }

    /// Notes that the directory `dir` is gone with all in it.
    pub fn tree_gone(&self, dir: &[u8]) {
        self.pending().parts.tree_gone(dir);
    }

    /// Makes everything noted so far durable at `destination`, then says so in the journal. In this order: the journal
    /// never knows more than the disk.
    pub fn checkpoint(&self, destination: BorrowedFd<'_>, shown: &Path) -> fault::Result<()> {
        self.checkpoint_by(|| {
            Durability::all(destination)
                .map_err(|error| Fault::os("make durable what was written to", shown, error))
        })
    }

    /// The same where `durably` makes it so.
    pub fn checkpoint_by(&self, durably: impl FnOnce() -> fault::Result<()>) -> fault::Result<()> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = self.pending().take();
        if parts.is_empty() {
            return Ok(());
        }
        durably()?;
        journal.append(&parts)?;
        self.keep(parts);
        Ok(())
    }

    fn keep(&self, parts: Parts) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if self.kept_bytes.fetch_add(parts.size(), Ordering::Relaxed) + parts.size() > MOST_KEPT {
            *kept = None;
        }
        if let Some(kept) = &mut *kept {
            kept.push(parts);
        }
    }

    /// All that went into the journal; `None` where it was not to be kept, or was too much.
    pub fn take_kept(&self) -> Option<Vec<Parts>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The same where everything is durable as soon as it is done.
    pub fn write_down(&self) -> fault::Result<()> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = self.pending().take();
        if parts.is_empty() { Ok(()) } else { journal.append(&parts) }
    }

    /// The journal went into the index: goes on with a new one.
    pub fn begin_anew(&self, journal: &Path) -> fault::Result<()> {
        *self.journal.lock().unwrap_or_else(PoisonError::into_inner) = Journal::open(journal)?;
        Ok(())
    }

    /// Whether the journal has anything that the index has not.
    pub fn has_news(&self) -> bool {
        !self.journal.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl Pending {
    fn is_full(&self) -> bool {
        self.bytes >= MOST_BYTES || self.parts.size() >= MOST_NOTES || self.since.elapsed() >= MOST_TIME
    }

    fn take(&mut self) -> Parts {
        self.bytes = 0;
        self.since = Instant::now();
        std::mem::take(&mut self.parts)
    }
}
