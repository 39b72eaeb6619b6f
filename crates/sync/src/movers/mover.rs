//! One mover: joins, divides if nobody has, takes parts until there are none.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use fault::{Fault, Kind};

use super::Meeting;
use super::merge::{self, Verdict};
use super::plan::divide;
use super::queue::{Doubt, Found, Joined, Lease, Queue, Work, is_lost};
use crate::counters::Counters;
use crate::event::{Event, Watcher};
use crate::job::lock;
use crate::options::Options;
use crate::part::{Done, Left, Part, Rest, run_part};
use crate::record::{End, Entries, Record, Sizes, VERSION};
use crate::roots::{Roots, open_roots, share_destination};
use crate::state::{default_place, key_of};

/// What lies at the destination while movers are at work, so that each can see that it is the same.
pub const PROBE: &str = ".forebay-movers-";
/// How long a mover waits at a time for others.
const PAUSE: Duration = Duration::from_secs(1);

/// Does a job together with others that were given the same.
pub fn move_together(
    options: &Options,
    meeting: &Meeting,
    watcher: &dyn Watcher,
    counters: &Counters,
) -> fault::Result<Record> {
    check(options)?;
    let roots = open_roots(options)?;
    let key = key_of(&roots.paths.0, &roots.paths.1);
    let _busy = share_destination(&roots.destination)?;
    let queue = Queue::new(meeting.open()?, key.clone(), meeting.lease);
    let place = options.state.clone().map_or_else(|| default_place("sync-movers"), Ok)?;
    let scratch = Scratch::make(&place)?;
    let mover = Mover { options, meeting, watcher, counters, roots, key, scratch };
    mover.go(queue)
}

fn check(options: &Options) -> fault::Result<()> {
    let refused = |what: &str| Fault::new(Kind::Usage, format!("several movers can't do {what}"));
    if crate::objects::has_location(options) {
        return Err(refused("object stores")
            .hint("one process moves as fast as the store answers; leave --state out"));
    }
    if options.dry_run {
        return Err(refused("a dry run").hint("leave --state out: one process plans for all"));
    }
    Ok(())
}

struct Mover<'a> {
    options: &'a Options,
    meeting: &'a Meeting,
    watcher: &'a dyn Watcher,
    counters: &'a Counters,
    roots: Roots,
    key: String,
    scratch: Scratch,
}

impl Mover<'_> {
    fn go(&self, mut queue: Queue) -> fault::Result<Record> {
        let shown = format!("`{}` to `{}`", self.roots.paths.0.display(), self.roots.paths.1.display());
        let digest = &self.digest();
        let mut round = self.meet(&mut queue, &shown, true)?;
        let (mut own, mut renewing) = (self.empty_record(), queue.again()?);
        loop {
            if self.watcher.stopping() {
                own.state = End::Stopped;
                return Ok(own);
            }
            match queue.take(round)? {
                Work::Over(verdict) => return verdict.into_result(),
                Work::Part(lease) => {
                    if let Some(record) = self.work(&mut queue, &mut renewing, &lease)? {
                        merge::add(&mut own, record);
                    }
                }
                Work::Wait => {
                    queue.wait(PAUSE)?;
                    // Whoever divides it may be dead.
                    match queue.join(&shown, digest, false) {
                        Ok(Joined::Planner { token, round: now }) => {
                            round = now;
                            self.plan(&mut queue, token)?;
                        }
                        // Others go on with something else: ours is over.
                        Err(fault) if fault.kind() != Kind::Refused => return Err(fault),
                        _ => {}
                    }
                }
            }
        }
    }

    fn digest(&self) -> String {
        chunk::Id::of(self.meeting.alike.as_bytes()).to_string()
    }

    /// Joins, and divides the job where nobody has. The round is returned.
    fn meet(&self, queue: &mut Queue, shown: &str, may_begin: bool) -> fault::Result<i64> {
        loop {
            match queue.join(shown, &self.digest(), may_begin)? {
                Joined::Planner { token, round } => {
                    self.plan(queue, token)?;
                    return Ok(round);
                }
                Joined::Mover { round, probe } if !probe.is_empty() => {
                    self.compare(&probe)?;
                    return Ok(round);
                }
                // It is being divided.
                Joined::Mover { round, .. } if self.watcher.stopping() => return Ok(round),
                Joined::Mover { .. } => queue.wait(PAUSE)?,
            }
        }
    }

    fn plan(&self, queue: &mut Queue, token: i64) -> fault::Result<()> {
        let division = divide(self.options, &self.roots)?;
        let probe = format!("{:032x}:{}", fastrand::u128(..), self.roots.source.meta()?.inode);
        let path = self.probe();
        std::fs::write(&path, &probe).map_err(|error| Fault::os("write", &path, error))?;
        queue.divide(token, &probe, &division.trees, division.made)
    }

    /// Where the probe lies.
    fn probe(&self) -> PathBuf {
        self.roots.paths.1.join(format!("{PROBE}{}", self.key))
    }

    /// Refuses to work on other storage than the others.
    fn compare(&self, probe: &str) -> fault::Result<()> {
        let found = std::fs::read_to_string(self.probe()).unwrap_or_default();
        let inode = self.roots.source.meta()?.inode.to_string();
        let other = match probe.split_once(':') {
            _ if found != probe => &self.roots.paths.1,
            Some((_, theirs)) if theirs != inode => &self.roots.paths.0,
            _ => return Ok(()),
        };
        let text = format!("`{}` is other storage here than where the others work", other.display());
        Err(Fault::new(Kind::Refused, text).hint("is it mounted on this host, at the same path?"))
    }

    /// Works on a part, as long as it is ours. The record is that of the part, if it was committed.
    fn work(&self, queue: &mut Queue, renewing: &mut Queue, lease: &Lease) -> fault::Result<Option<Record>> {
        let keeper = Keeper::new(self.watcher, self.meeting.lease);
        let done = std::thread::scope(|scope| {
            let keeping = scope.spawn(|| keeper.keep(renewing, lease));
            let done = self.attempt(queue, lease, &keeper);
            keeper.end();
            keeping.thread().unpark();
            done
        });
        match done {
            Err(fault) if is_lost(&fault) => {
                let path = store::printable(&lease.path);
                self.watcher.event(&Event::Note(&format!("somebody else took over `{path}`")));
                Ok(None)
            }
            done => done,
        }
    }

    fn attempt(
        &self,
        queue: &mut Queue,
        lease: &Lease,
        keeper: &Keeper<'_>,
    ) -> fault::Result<Option<Record>> {
        let place = self.scratch.part(lease)?;
        let (index, path) = (queue.blob(&lease.path, "index")?, place.join("index"));
        if !index.is_empty() {
            std::fs::write(&path, index).map_err(|error| Fault::os("write", &path, error))?;
        }
        let part = part_of(queue, lease)?;
        let before = (Entries::of(self.counters), Sizes::of(self.counters));
        let doubt = (lease.doubt >= Doubt::Drafts, lease.doubt == Doubt::Content);
        let done = run_part(self.options, part, &place, doubt, keeper, self.counters);
        let told = self.tell(queue, lease, &place, done, before, keeper);
        let _ = std::fs::remove_dir_all(&place);
        told
    }

    /// Tells the queue what came of a part.
    fn tell(
        &self,
        queue: &mut Queue,
        lease: &Lease,
        place: &Path,
        done: fault::Result<Done>,
        before: (Entries, Sizes),
        keeper: &Keeper<'_>,
    ) -> fault::Result<Option<Record>> {
        if keeper.has_lost() {
            return Err(Fault::new(Kind::Interrupted, "the lease is over"));
        }
        let done = match done {
            Ok(done) => done,
            Err(fault) if lease.is_rest => {
                queue.end(lease, &Verdict::failed(&fault))?;
                self.remove_probe();
                return Err(fault);
            }
            Err(fault) => {
                let path = store::printable(&lease.path);
                self.watcher.event(&Event::Note(&format!("`{path}`: {}", fault.message())));
                return queue.fail(lease, fault.message()).map(|()| None);
            }
        };
        let index = std::fs::read(place.join("index")).unwrap_or_default();
        let record = merge::between(done.record, before);
        if record.state == End::Stopped {
            queue.give_back(lease, &index)?;
            return Ok(Some(record));
        }
        let text = serde_json::to_string(&record)
            .map_err(|error| Fault::new(Kind::Bug, "cannot write a record").caused_by(error))?;
        let whole = if lease.is_rest { Some(self.whole(queue, record.clone())?) } else { None };
        let verdict = whole.map(|whole| Verdict::Done(Box::new(whole)));
        let found = Found { index, left: done.left.pack(), entries: done.entries };
        queue.commit(lease, &found, &text, verdict.as_ref())?;
        if lease.is_rest {
            self.remove_probe();
        }
        Ok(Some(record))
    }

    /// The record of the whole round, with that of the rest.
    fn whole(&self, queue: &mut Queue, rest: Record) -> fault::Result<Record> {
        let (rows, started, now) = queue.results()?;
        let mut whole = self.empty_record();
        if let Ok(moment) = jiff::Timestamp::from_millisecond(started) {
            whole.started = moment.to_string();
        }
        whole.elapsed_ns = u64::try_from(now - started).unwrap_or(0).saturating_mul(1_000_000);
        merge::add(&mut whole, rest);
        for row in rows.iter().filter(|row| row[1].number() == 0) {
            match serde_json::from_str(row[4].text()) {
                Ok(record) if row[2].text() == "done" => merge::add(&mut whole, record),
                _ => merge::add_given_up(&mut whole, row[0].bytes(), row[4].text()),
            }
        }
        Ok(whole)
    }

    /// Takes the probe away, which leaves the time of the directory that it was in.
    fn remove_probe(&self) {
        use rustix::fs::{Timestamps, fstat, futimens};
        // A probe that stays is replaced by the next, and the time is set again then.
        let _ = std::fs::remove_file(self.probe());
        if let Ok(seen) = fstat(self.roots.source.fd()) {
            let of = |seconds, nanos: i64| rustix::fs::Timespec { tv_sec: seconds, tv_nsec: nanos };
            let times = Timestamps {
                last_access: of(seen.st_atime, seen.st_atime_nsec.cast_signed()),
                last_modification: of(seen.st_mtime, seen.st_mtime_nsec.cast_signed()),
            };
            let _ = futimens(self.roots.destination.fd(), &times);
        }
    }

    fn empty_record(&self) -> Record {
        Record {
            version: VERSION,
            state: End::Complete,
            source: self.roots.paths.0.display().to_string(),
            destination: self.roots.paths.1.display().to_string(),
            dry_run: false,
            started: jiff::Timestamp::now().to_string(),
            elapsed_ns: 0,
            entries: Entries::default(),
            bytes: Sizes::default(),
            failures: Vec::new(),
            watched: None,
        }
    }
}

/// What a lease is about, with what the other parts left for it.
fn part_of(queue: &mut Queue, lease: &Lease) -> fault::Result<Part> {
    if !lease.is_rest {
        return Ok(Part::Tree(lease.path.clone()));
    }
    let mut rest = Rest::default();
    for row in queue.results()?.0.iter().filter(|row| row[1].number() == 0) {
        let path = row[0].bytes().to_vec();
        rest.left.push(Left::unpack(&queue.blob(&path, "left")?)?);
        rest.entries += u64::try_from(row[3].number()).unwrap_or(0);
        rest.trees.insert(path);
    }
    Ok(Part::Rest(rest))
}

/// Keeps a lease while its part is worked on, and stops the work when it is lost.
struct Keeper<'a> {
    inner: &'a dyn Watcher,
    lease: Duration,
    /// When it was renewed, by a clock that goes on while this host sleeps; milliseconds.
    renewed: AtomicI64,
    lost: AtomicBool,
    ended: AtomicBool,
    told: Mutex<()>,
}

impl<'a> Keeper<'a> {
    fn new(inner: &'a dyn Watcher, lease: Duration) -> Self {
        let renewed = AtomicI64::new(milliseconds());
        let (lost, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { inner, lease, renewed, lost, ended, told: Mutex::default() }
    }

    fn keep(&self, queue: &mut Queue, held: &Lease) {
        while !self.ended.load(Ordering::Relaxed) {
            std::thread::park_timeout(self.lease / 3);
            if self.ended.load(Ordering::Relaxed) {
                return;
            }
            let before = milliseconds();
            match queue.extend(held) {
                Ok(true) => self.renewed.store(before, Ordering::Relaxed),
                Ok(false) => self.lost.store(true, Ordering::Relaxed),
                // The database may come back before the lease is over.
                Err(fault) => {
                    let _one = lock(&self.told);
                    self.inner.event(&Event::Note(fault.message()));
                }
            }
        }
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    fn has_lost(&self) -> bool {
        let age = milliseconds() - self.renewed.load(Ordering::Relaxed);
        let over = u128::try_from(age).unwrap_or(0) > self.lease.as_millis();
        self.lost.load(Ordering::Relaxed) || over
    }
}

impl Watcher for Keeper<'_> {
    fn event(&self, event: &Event<'_>) {
        self.inner.event(event);
    }

    fn stopping(&self) -> bool {
        self.inner.stopping() || self.has_lost()
    }
}

fn milliseconds() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

/// A directory of this process, where indexes lie while their parts are worked on.
struct Scratch {
    dir: PathBuf,
    _lock: std::fs::File,
}

impl Scratch {
    /// Makes one below `place`, and removes those of processes that are gone.
    fn make(place: &Path) -> fault::Result<Self> {
        use rustix::fs::{FlockOperation, flock};
        let unmade = |error| Fault::os("create", place, error);
        std::fs::create_dir_all(place).map_err(unmade)?;
        for entry in std::fs::read_dir(place).map_err(unmade)?.flatten() {
            let lock = std::fs::File::open(entry.path().join("alive"));
            let is_dead =
                lock.is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok());
            if is_dead && entry.file_name().to_string_lossy().starts_with("mover-") {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let dir = place.join(format!("mover-{:016x}", fastrand::u64(..)));
        std::fs::create_dir(&dir).map_err(unmade)?;
        let alive = std::fs::File::create(dir.join("alive")).map_err(unmade)?;
        flock(&alive, FlockOperation::NonBlockingLockExclusive)
            .map_err(|error| Fault::os("lock", &dir, error))?;
        Ok(Self { dir, _lock: alive })
    }

    /// An empty directory for a part.
    fn part(&self, lease: &Lease) -> fault::Result<PathBuf> {
        let path = self.dir.join(&chunk::Id::of(&lease.path).to_string()[..16]);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).map_err(|error| Fault::os("create", &path, error))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}
