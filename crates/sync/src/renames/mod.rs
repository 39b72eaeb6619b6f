//! Files that were renamed or moved at the source: their content is taken from where the destination has it, under the old
//! name, and is neither read nor sent again. A directory that was renamed is many such files.
//!
//! ```text
//! scan: names that are new though their file is old wait;                        Renames::waits, tree_waits
//!       directories in which a known name is gone are noted                      Renames::left
//!     -> those names as the index knows them, sorted by inode, on disk           table
//!     -> what waited is judged like anything that changed, and looked up there   take
//! ```
//!
//! Nothing of this costs anything where no file is older than its name.

mod leave;
mod table;
mod take;

use std::collections::{BTreeMap, HashSet};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use store::{Kind, Meta, Stamp, birth_of_entry};

use self::leave::Leaver;
use crate::index::wire::{put_bytes, take_bytes};
use crate::job::{Desk, Job, lock};
use crate::scope::Inside;
use crate::spool::Spool;
use crate::stages::work_all;
use crate::visit::Chore;

pub use leave::Leaving;
pub use table::{Old, Table};
pub use take::{plan, take};

/// Directories that wait as a whole; more are filled at once, and only the files in them wait.
const MOST_TREES: usize = 10_000;
/// Names of one directory that are looked at together when they have waited.
const TOGETHER: usize = 10_000;

/// What may have been renamed, while a job goes on.
pub struct Renames {
    /// What was made later can't have been known to the last sync. `None` where nothing is looked for.
    since: Option<Stamp>,
    device: u64,
    /// Directories in which a known name is gone, see [`Leaving`].
    left: Mutex<Spool>,
    /// Names that wait: directory, name.
    waiting: Mutex<Spool>,
    /// Somebody will ask the table.
    wanted: AtomicBool,
    again: AtomicBool,
    /// Set when all was looked at; nothing waits from then on.
    table: OnceLock<Option<Table>>,
    /// Files that are kept under a name of ours until they are taken: directory, name.
    kept: Mutex<Spool>,
    /// In a dry run: files of the destination that would be renamed, by inode.
    away: Mutex<HashSet<u64>>,
    scratch: PathBuf,
}

impl Renames {
    /// Nothing yet. `since` is when the last sync was over, `device` the source's.
    pub fn new(scratch: &Path, since: Option<Stamp>, device: u64) -> Self {
        let spool = || Mutex::new(Spool::new(scratch));
        Self {
            since,
            device,
            left: spool(),
            waiting: spool(),
            wanted: AtomicBool::new(false),
            again: AtomicBool::new(false),
            table: OnceLock::new(),
            kept: spool(),
            away: Mutex::default(),
            scratch: scratch.to_owned(),
        }
    }

    /// Whether names still wait for others to be found gone.
    pub fn gathers(&self) -> bool {
        self.since.is_some() && self.table.get().is_none()
    }

    /// Whether what waited is being looked at: for the second time.
    pub fn looks_again(&self) -> bool {
        self.again.load(Ordering::Relaxed)
    }

    fn table(&self) -> Option<&Table> {
        self.table.get().and_then(Option::as_ref)
    }

    /// Whether the file or directory `name` of an open directory, new under this name, is old enough to have had another.
    pub fn is_older(&self, dir: BorrowedFd<'_>, name: &[u8], meta: &Meta) -> bool {
        let Some(since) = self.since else { return false };
        if meta.kind == Kind::File && (meta.size == 0 || meta.mtime >= since) {
            return false;
        }
        // Without a time of birth there is only that of the content.
        birth_of_entry(dir, name).is_ok_and(|birth| birth.is_none_or(|birth| birth < since))
    }

    /// A new name of an old file waits until all was looked at.
    pub fn wait(&self, dir: &[u8], name: &[u8]) -> fault::Result<()> {
        self.want();
        let mut record = Vec::with_capacity(dir.len() + name.len() + 4);
        put_bytes(&mut record, dir);
        record.extend_from_slice(name);
        lock(&self.waiting).push(&record)
    }

    /// Somebody will look for what had another name.
    pub fn want(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    /// Whether a new directory of this meta, which is old, waits with all below it.
    pub fn tree_waits(&self, job: &Job<'_>, dir: BorrowedFd<'_>, name: &[u8], meta: &Meta) -> bool {
        let waits = self.gathers() && !job.options.dry_run && self.is_older(dir, name, meta);
        if waits {
            self.want();
        }
        waits && lock(&job.desk.trees).len() < MOST_TREES
    }

    /// Whether a dry run told that this file of the destination would be renamed.
    pub fn goes_away(&self, there: &Meta) -> bool {
        there.kind == Kind::File && lock(&self.away).contains(&there.inode)
    }

    /// Known names are gone from a directory, or are other files now.
    pub fn left(&self, leaving: &Leaving, dir: &[u8]) -> fault::Result<()> {
        if self.gathers() { lock(&self.left).push(&leaving.record(dir)) } else { Ok(()) }
    }

    /// Whether a new entry of this inode has a file to be taken.
    pub fn knows(&self, meta: &Meta) -> fault::Result<bool> {
        self.table().map_or(Ok(false), |table| Ok(!table.find(meta.inode)?.is_empty()))
    }
}

/// All was looked at once: what waited is looked at again, knowing what is gone.
pub fn look_again(job: &Job<'_>) -> fault::Result<()> {
    let renames = &job.renames;
    if !renames.gathers() || job.stopping() {
        return Ok(());
    }
    let left = Desk::take(&renames.left, &renames.scratch);
    let table = renames.wanted.load(Ordering::Relaxed) && left.count() > 0;
    let table = table.then(|| Leaver::new(job).all(left)).transpose()?;
    let _ = renames.table.set(table);
    renames.again.store(true, Ordering::Relaxed);
    let done = visit_waiting(job);
    renames.again.store(false, Ordering::Relaxed);
    done
}

fn visit_waiting(job: &Job<'_>) -> fault::Result<()> {
    let renames = &job.renames;
    let mut waiting = Desk::take(&renames.waiting, &renames.scratch).sorted()?.peekable();
    while let Some(record) = waiting.next() {
        let record = record?;
        let mut name = &record[..];
        let dir = take_bytes(&mut name)?;
        let mut names = BTreeMap::from([(Box::from(name), false)]);
        while names.len() < TOGETHER
            && let Some(Ok(next)) = waiting.peek()
        {
            let mut name = &next[..];
            if take_bytes(&mut name)? != dir {
                break;
            }
            names.insert(name.into(), false);
            waiting.next();
        }
        offer(job, dir, names);
    }
    work_all(job);
    Ok(())
}

fn offer(job: &Job<'_>, dir: &[u8], names: BTreeMap<Box<[u8]>, bool>) {
    let most = 4 * job.workers;
    let chore = Chore::Changed(dir.to_vec(), Inside { whole: false, names });
    if let Some(chore) = job.pool.offer(chore, most) {
        // Enough waits: that is done first, so that little is held.
        work_all(job);
        let _ = job.pool.offer(chore, most);
    }
}

/// What was kept and is not wanted goes.
pub fn release(job: &Job<'_>) -> fault::Result<()> {
    for record in Desk::take(&job.renames.kept, &job.renames.scratch).sorted()? {
        let record = record?;
        let mut name = &record[..];
        let dir = take_bytes(&mut name)?;
        if let Ok(open) = job.destination.open_dir(dir) {
            // One that can't be removed now is a draft, which the next sync removes.
            let _ = store::remove_file(&open, name);
        }
    }
    Ok(())
}
