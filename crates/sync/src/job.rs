use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fault::{Fault, Kind};
use store::{Errno, FileSystem, Lister, Meta, Root, Stamp};

use crate::counters::Counters;
use crate::event::{Act, Event, Step, Watcher};
use crate::groups::Groups;
use crate::guard::Trust;
use crate::index::{Cache, Knowledge};
use crate::judge::Rules;
use crate::large::Share;
use crate::ledger::Ledger;
use crate::names::Names;
use crate::options::Options;
use crate::part::{Left, Part};
use crate::pool::Pool;
use crate::renames::Renames;
use crate::scope::Changes;
use crate::session::Session;
use crate::spool::Spool;
use crate::state::State;
use crate::throttle::Throttle;
use crate::visit::{Chore, Siblings};

/// Bytes that are read and written at once.
pub const BUFFER: usize = 1 << 20;

/// One sync while it goes on: what all workers share.
pub struct Job<'a> {
    pub options: &'a Options,
    pub watcher: &'a dyn Watcher,
    pub counters: &'a Counters,
    pub source: &'a Root,
    pub destination: &'a Root,
    pub state: &'a State,
    pub known: &'a Knowledge,
    /// What one of several movers does of it, and what it leaves to the others.
    pub part: Option<&'a Part>,
    pub left: Mutex<Left>,
    /// Other movers, who help with large files.
    pub share: Option<&'a dyn Share>,
    /// What was done of somebody else's large file.
    pub stretch: Mutex<Option<Vec<u8>>>,
    /// Entries that the counters had before.
    pub scanned_before: u64,
    /// It looks at what changed only.
    pub partial: bool,
    /// What is left to do is done after the deletes.
    pub deletes_done: AtomicBool,
    failures_before: u64,
    pub groups: Groups,
    pub renames: Renames,
    pub ledger: Ledger,
    pub pool: Pool<Chore, Siblings>,
    pub desk: Desk,
    pub throttle: Throttle,
    pub rules: Rules,
    pub source_device: u64,
    /// How young a change may be, before the moment we read it, to count as one that may have a younger twin.
    pub racy_nanos: i128,
    pub workers: usize,
    /// The last job did not end: the destination may have what no index knows.
    pub after_crash: bool,
    /// Look at the destination's directories too.
    pub list_destination: bool,
    pub birth: Birth,
    pub drafts: Drafts,
    /// Chooses which unchanged files are read back.
    sample: [u8; 32],
    fatal: Mutex<Option<Fault>>,
    ended: AtomicBool,
}

/// What waits for a later stage, on disk if it is much.
pub struct Desk {
    /// Names of files with several: device, inode, whether it must be looked at, path.
    pub links: Mutex<Spool>,
    /// Entries that only the destination has: paths.
    pub extras: Mutex<Spool>,
    /// Directories whose attributes are to be set: depth (deepest first), path.
    pub finishes: Mutex<Spool>,
    /// Directories in which something could not be done, so that the next sync must look again.
    incomplete: Mutex<HashSet<Vec<u8>>>,
    /// What could not be done now.
    pub again: Mutex<Changes>,
    /// What waits until a directory in its way is deleted.
    pub behind: Mutex<Changes>,
    /// Names of files with several that wait for the same: the name to link to, and the new one.
    pub late_links: Mutex<Vec<(Vec<u8>, Vec<u8>)>>,
    /// Directories that are looked at with all below them when everything else has been.
    pub trees: Mutex<BTreeSet<Vec<u8>>>,
}

/// What new files of this process have from the start.
#[derive(Debug, Clone, Copy)]
pub struct Birth {
    pub uid: u32,
    pub gid: u32,
    pub umask: u32,
}

/// Names for drafts, and a list on disk of directories that may have some if we are killed.
pub struct Drafts {
    prefix: String,
    /// Another for each job: what a killed one left has other names, though its process had our number.
    job: u32,
    number: AtomicU64,
    touched: Mutex<(File, HashSet<Vec<u8>>)>,
}

/// What one thread works with.
pub struct Hand {
    pub lister: Lister,
    pub cache: Cache,
    pub names: Names,
    pub others: Names,
    pub buffer: Vec<u8>,
}

/// Why an entry was not done.
#[derive(Debug)]
pub enum Trouble {
    /// This entry can't be done.
    Item(Fault),
    /// It changed whenever we read it.
    Unstable,
    /// It went while we looked.
    Vanished,
    /// It is done after the deletes.
    Waits,
    /// Nothing more can be done.
    Fatal(Fault),
    /// Somebody asked us to stop.
    Stopped,
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fatal(fault)
    }
}

impl Default for Hand {
    fn default() -> Self {
        Self {
            lister: Lister::default(),
            cache: Cache::default(),
            names: Names::default(),
            others: Names::default(),
            buffer: vec![0; BUFFER],
        }
    }
}

impl<'a> Job<'a> {
    /// One round of a session; `partial` where it looks at what changed only.
    pub fn new(
        session: &'a Session<'a>,
        partial: bool,
        watcher: &'a dyn Watcher,
        counters: &'a Counters,
    ) -> fault::Result<Self> {
        let Session { options, state, known, trust, .. } = session;
        let (source, destination) = (&session.roots.source, &session.roots.destination);
        let Trust { believe_times, after_crash, .. } = *trust;
        let system = |root: &Root| {
            FileSystem::of(root.fd())
                .map_err(|error| Fault::os("look at the file system of", root.path(), error))
        };
        let (from, to) = (system(source)?, system(destination)?);
        let rules = Rules {
            update: options.update,
            conflict: options.conflict,
            believe_times,
            with_owner: rustix::process::geteuid().is_root(),
            coarse_times: !to.is_local(),
            margin_nanos: margin(from.is_local() && to.is_local()),
        };
        let source_device = source.meta()?.device;
        // One of several movers sees a part only.
        let since = session.seen.filter(|_| session.part.is_none());
        Ok(Self {
            source_device,
            renames: Renames::new(state.dir(), since, source_device),
            ledger: Ledger::open(&state.path("journal"), partial)?,
            pool: Pool::default(),
            desk: Desk::new(state.dir()),
            throttle: Throttle::new(options.limit.clone()),
            rules,
            racy_nanos: margin(from.is_local()),
            after_crash,
            workers: options.workers.unwrap_or_else(|| default_workers(from.is_local() && to.is_local())),
            list_destination: !partial && (options.check_destination || !believe_times || session.lists),
            birth: Birth::learn(),
            drafts: Drafts::open(state)?,
            sample: std::array::from_fn(|_| fastrand::u8(..)),
            fatal: Mutex::new(None),
            ended: AtomicBool::new(false),
            options,
            watcher,
            counters,
            source,
            destination,
            state,
            known,
            partial,
            deletes_done: AtomicBool::new(false),
            failures_before: failures(counters),
            part: session.part.as_ref(),
            left: Mutex::default(),
            share: session.share,
            stretch: Mutex::default(),
            scanned_before: counters.scanned.get(),
            groups: Groups::default(),
        })
    }

    /// Whether workers should take nothing new.
    pub fn stopping(&self) -> bool {
        self.ended.load(Ordering::Relaxed) || self.watcher.stopping()
    }

    /// The job cannot go on; the first reason counts.
    pub fn end(&self, fault: Fault) {
        self.ended.store(true, Ordering::Relaxed);
        lock(&self.fatal).get_or_insert(fault);
        self.pool.close();
    }

    /// Whether anything could not be done.
    pub fn has_failures(&self) -> bool {
        failures(self.counters) > self.failures_before
    }

    /// Why the job could not go on, if it could not.
    pub fn take_fatal(&self) -> Option<Fault> {
        lock(&self.fatal).take()
    }

    /// Reports what became of the entry at `path`.
    pub fn trouble(&self, path: &[u8], trouble: Trouble) {
        match trouble {
            Trouble::Item(fault) => self.failed(path, &fault),
            Trouble::Fatal(fault) => self.end(fault),
            Trouble::Stopped => self.pool.close(),
            Trouble::Waits => {
                self.incomplete_above(path);
                let (dir, name) = store::split_last(path);
                lock(&self.desk.behind).name(dir, name, false);
            }
            Trouble::Vanished => {
                self.counters.vanished.one();
                self.incomplete_above(path);
            }
            Trouble::Unstable => {
                self.counters.unstable.one();
                let text = format!("`{}` changed whenever it was read", self.source.show(path).display());
                let fault = Fault::new(Kind::Io, text)
                    .hint("its last good copy was left alone; sync again when it rests");
                self.try_again(path);
                self.watcher.event(&Event::Unstable(path, &fault));
            }
        }
    }

    /// The entry at `path` can't be done.
    pub fn failed(&self, path: &[u8], fault: &Fault) {
        self.counters.failed.one();
        self.tell(path, fault);
    }

    fn tell(&self, path: &[u8], fault: &Fault) {
        self.try_again(path);
        self.watcher.event(&Event::Failed(path, fault));
    }

    fn try_again(&self, path: &[u8]) {
        self.incomplete_above(path);
        let (dir, name) = store::split_last(path);
        let mut again = lock(&self.desk.again);
        if name.is_empty() { again.whole(dir) } else { again.name(dir, name, false) }
    }

    /// The next sync must look again at what is in the directory of `path`.
    fn incomplete_above(&self, path: &[u8]) {
        self.incomplete(store::split_last(path).0);
    }

    /// The next sync must look again at what is in `dir`.
    pub fn incomplete(&self, dir: &[u8]) {
        lock(&self.desk.incomplete).insert(dir.to_vec());
    }

    /// A step of the plan in a dry run.
    pub fn planned(&self, act: Act, meta: &Meta, path: &[u8]) {
        let travels = !matches!(act, Act::Link | Act::Rename);
        let bytes = if meta.kind == store::Kind::File && travels { meta.size } else { 0 };
        self.watcher.event(&Event::Planned(Step { act, kind: meta.kind, path, bytes }));
    }

    /// A failure of a call on the source.
    pub fn at_source(&self, action: &str, path: &[u8], error: Errno) -> Trouble {
        match error {
            Errno::NOENT => Trouble::Vanished,
            error => Trouble::Item(Fault::os(action, &self.source.show(path), error)),
        }
    }

    /// A failure of a call on the destination: where there is no room, nothing more can be done.
    pub fn at_destination(&self, action: &str, path: &[u8], error: Errno) -> Trouble {
        let fault = Fault::os(action, &self.destination.show(path), error);
        match error {
            Errno::NOSPC | Errno::DQUOT | Errno::ROFS => Trouble::Fatal(fault),
            Errno::OPNOTSUPP if action.starts_with("set attribute") => Trouble::Item(
                fault.hint("the file system has none like it: --no-acls or --no-xattrs leaves them out"),
            ),
            _ => Trouble::Item(fault),
        }
    }

    /// Whether the file at `path` is one of the hundredth that this job reads back; another job reads others.
    pub fn is_sampled(&self, path: &[u8]) -> bool {
        let mut hasher = blake3::Hasher::new_keyed(&self.sample);
        hasher.update(path);
        u64::from_le_bytes(*hasher.finalize().as_bytes().first_chunk::<8>().unwrap_or(&[0; 8])) % 100 == 0
    }

    /// Whether a change at this time may have a younger twin that no time will show.
    pub fn is_racy(&self, ctime: Stamp) -> bool {
        Stamp::now().as_nanos() - ctime.as_nanos() < self.racy_nanos
    }

    /// Lets us write in a directory of ours that even its owner may not write to; its mode is set again at the end.
    pub fn open_up(&self, dir: std::os::fd::BorrowedFd<'_>) {
        if self.rules.with_owner {
            return;
        }
        if let Ok(meta) = store::meta_of(dir)
            && meta.mode & 0o700 != 0o700
        {
            let mode = rustix::fs::Mode::from_raw_mode(meta.mode | 0o700);
            // Where it is not allowed, the writes say so.
            let _ = rustix::fs::fchmod(dir, mode);
        }
    }

    /// Makes durable what is done so far, and writes it down.
    pub fn checkpoint(&self) {
        if let Err(fault) = self.ledger.checkpoint(self.destination.fd(), self.destination.path()) {
            self.end(fault);
        }
    }

    /// The attributes of `dir` are set at the end.
    pub fn finish_later(&self, dir: &[u8]) -> fault::Result<()> {
        let depth = if dir.is_empty() { 0 } else { dir.split(|byte| *byte == b'/').count() as u32 };
        let mut record = (u32::MAX - depth).to_be_bytes().to_vec();
        record.extend_from_slice(dir);
        lock(&self.desk.finishes).push(&record)
    }

    /// All below `tree` is looked at when everything else has been. Two looks at one file at the same time could leave the
    /// older at the destination, and the newer in the index.
    pub fn tree_later(&self, tree: &[u8]) {
        lock(&self.desk.trees).insert(tree.to_vec());
    }

    /// Whether everything in `dir` was done.
    pub fn is_complete(&self, dir: &[u8]) -> bool {
        !lock(&self.desk.incomplete).contains(dir)
    }
}

impl Desk {
    fn new(scratch: &Path) -> Self {
        let spool = || Mutex::new(Spool::new(scratch));
        Self {
            links: spool(),
            extras: spool(),
            finishes: spool(),
            incomplete: Mutex::default(),
            again: Mutex::default(),
            behind: Mutex::default(),
            late_links: Mutex::default(),
            trees: Mutex::default(),
        }
    }

    /// Takes a spool away to be sorted; an empty one stands in its place.
    pub fn take(spool: &Mutex<Spool>, scratch: &Path) -> Spool {
        std::mem::replace(&mut *lock(spool), Spool::new(scratch))
    }
}

impl Birth {
    /// Of this process.
    pub fn learn() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let umask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
        Self {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            umask: umask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o777),
        }
    }
}

impl Drafts {
    /// Those of a job with this state.
    pub fn open(state: &State) -> fault::Result<Self> {
        let path = state.path("touched");
        let file = File::options().append(true).create(true).open(&path);
        let file = file.map_err(|error| Fault::os("open", &path, error))?;
        Ok(Self {
            prefix: state.draft_prefix(),
            job: fastrand::u32(..),
            number: AtomicU64::new(0),
            touched: Mutex::new((file, HashSet::new())),
        })
    }

    /// A name for a draft in `dir`. It is on disk that `dir` may have one before there is one.
    pub fn name_in(&self, dir: &[u8]) -> fault::Result<Vec<u8>> {
        self.note(dir)?;
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        Ok(format!("{}{:08x}-{number:x}", self.prefix, self.job).into_bytes())
    }

    /// Writes down that `dir` is about to change: a job that is killed before it sets the directory's attributes leaves
    /// that to the next.
    pub fn note(&self, dir: &[u8]) -> fault::Result<()> {
        let mut touched = lock(&self.touched);
        if !touched.1.contains(dir) {
            // Only saves writing a directory twice: forgotten when it gets large.
            if touched.1.len() > 10_000 {
                touched.1.clear();
            }
            touched.1.insert(dir.to_vec());
            let mut line = dir.to_vec();
            line.push(0);
            let failed = |error| Fault::os("write", Path::new("the list of touched directories"), error);
            touched.0.write_all(&line).map_err(failed)?;
        }
        Ok(())
    }

    /// Whether `name` is a draft of this pair.
    pub fn is_one(&self, name: &[u8]) -> bool {
        name.starts_with(self.prefix.as_bytes())
    }
}

/// Directories that a killed job noted.
pub fn touched_directories(path: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let Some(end) = bytes.iter().rposition(|byte| *byte == 0) else { return Vec::new() };
    let dirs: HashSet<&[u8]> = bytes[..end].split(|byte| *byte == 0).collect();
    dirs.into_iter().map(<[u8]>::to_vec).collect()
}

fn failures(counters: &Counters) -> u64 {
    counters.failed.get() + counters.unstable.get()
}

/// How far apart two times must be to say which was first. A local kernel stamps times by its tick, at most 10 ms;
/// another host's clock may be off by more.
const fn margin(local: bool) -> i128 {
    if local { 20_000_000 } else { 2_000_000_000 }
}

/// Two per CPU hide the time of calls on file systems across a network; local ones are bound by the CPU.
fn default_workers(local: bool) -> usize {
    let cpus = std::thread::available_parallelism().map_or(2, usize::from);
    if local { cpus.max(2) } else { (4 * cpus).max(16) }
}

/// Takes a lock, also after a thread that had it panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
