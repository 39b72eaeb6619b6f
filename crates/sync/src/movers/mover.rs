//! One mover: joins, divides if nobody has, takes parts until there are none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fault::{Fault, Kind};

use super::Meeting;
use super::keeper::Keeper;
use super::merge::{self, Verdict};
use super::plan::divide;
use super::queue::{Doubt, Found, Joined, Lease, Queue, Results, Stretch, Work, is_lost, lost};
use super::rehearsal::rehearse;
use super::scratch::Scratch;
use super::sharing::Sharing;
use super::sight::Sight;
use super::tables::Tables;
use crate::counters::Counters;
use crate::event::{Event, Watcher};
use crate::large::{Task, adopt};
use crate::options::Options;
use crate::part::{Done, Left, Part, Range, Rest, run_part};
use crate::record::{End, Entries, Record, Sizes, VERSION};
use crate::roots::{Roots, open_roots, share_destination};
use crate::span::{Layout, Span, shown};
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
    check(options, "several movers")?;
    if options.dry_run {
        return rehearse(options, meeting, watcher, counters);
    }
    let roots = open_roots(options)?;
    let key = key_of(&roots.paths.0, &roots.paths.1);
    let _busy = share_destination(&roots.destination)?;
    let digest = chunk::Id::of(meeting.alike.as_bytes()).to_string();
    let place = options.state.clone().map_or_else(|| default_place("sync-movers"), Ok)?;
    let scratch = Scratch::make(&place)?;
    let open = || Ok(Tables::new(meeting.open()?, key.clone(), meeting.lease));
    let (mut queue, mut renewing): (Tables, Tables) = (open()?, open()?);
    let mover =
        Mover { options, lease: meeting.lease, digest, watcher, counters, roots: &roots, key, scratch };
    mover.go(&mut queue, &mut renewing)
}

/// What `who`, several of them, can't do.
pub fn check(options: &Options, who: &str) -> fault::Result<()> {
    let refused = |what: &str| Fault::new(Kind::Usage, format!("{who} can't do {what}"));
    crate::objects::check_layout(options)?;
    if crate::objects::has_location(options) {
        return Err(refused("object stores or other hosts")
            .hint("give paths that are mounted on every host, or let one process do it alone"));
    }
    Ok(())
}

/// One of those who work on a job.
pub struct Mover<'a> {
    pub options: &'a Options,
    pub lease: Duration,
    /// Stands for the options: all have the same.
    pub digest: String,
    pub watcher: &'a dyn Watcher,
    pub counters: &'a Counters,
    pub roots: &'a Roots,
    /// Stands for source and destination.
    pub key: String,
    pub scratch: Scratch,
}

impl Mover<'_> {
    /// Joins, and works until the round is over.
    fn go(&self, queue: &mut dyn Queue, renewing: &mut dyn Queue) -> fault::Result<Record> {
        let mut round = self.meet(queue, true)?;
        self.work_through(queue, renewing, &mut round, &mut |queue, round| {
            match queue.join(&self.shown(), &self.digest, false) {
                // Whoever divided it is dead.
                Ok(Joined::Planner { token, round: now }) => {
                    *round = now;
                    self.plan(queue, token).map(drop)
                }
                // Others go on with something else: ours is over.
                Err(fault) if fault.kind() != Kind::Refused => Err(fault),
                _ => Ok(()),
            }
        })
    }

    /// Takes what there is to do until there is nothing. `beside` is another connection, for what goes on meanwhile; `waited`
    /// is called whenever there was nothing to take.
    pub fn work_through(
        &self,
        queue: &mut dyn Queue,
        beside: &mut dyn Queue,
        round: &mut i64,
        waited: &mut dyn FnMut(&mut dyn Queue, &mut i64) -> fault::Result<()>,
    ) -> fault::Result<Record> {
        let mut own = self.empty_record();
        loop {
            if self.watcher.stopping() {
                own.state = End::Stopped;
                return Ok(own);
            }
            match queue.take(*round)? {
                Work::Over(verdict) => return verdict.into_result(),
                Work::Part(lease) => {
                    if let Some(record) = self.work(queue, beside, &lease)? {
                        merge::add(&mut own, record);
                    }
                }
                Work::Stretch(stretch) => self.help(queue, beside, &stretch)?,
                Work::Wait => {
                    queue.wait(PAUSE)?;
                    waited(queue, round)?;
                }
            }
        }
    }

    fn shown(&self) -> String {
        format!("`{}` to `{}`", self.roots.paths.0.display(), self.roots.paths.1.display())
    }

    /// Joins, and divides the job where nobody has. The round is returned.
    fn meet(&self, queue: &mut dyn Queue, may_begin: bool) -> fault::Result<i64> {
        loop {
            match queue.join(&self.shown(), &self.digest, may_begin)? {
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

    /// Divides the job. What lies at the destination since then is returned.
    pub fn plan(&self, queue: &mut dyn Queue, token: i64) -> fault::Result<String> {
        let keys = queue.results()?.pieces.into_iter().filter(|piece| !piece.is_rest).map(|piece| piece.path);
        let (before, scratch) = (keys.collect(), self.scratch.part(b"")?);
        let keeper = Keeper::new(self.watcher, self.lease);
        let divided =
            keeper.beside(|| queue.plan_on(token), || divide(self.options, self.roots, &before, &scratch));
        if keeper.has_lost() {
            return Err(lost());
        }
        let division = divided?;
        let probe = format!("{:032x}:{}", fastrand::u128(..), Sight::of(&self.roots.source)?.written()?);
        let path = self.probe();
        std::fs::write(&path, &probe).map_err(|error| Fault::os("write", &path, error))?;
        queue.divide(token, &probe, &division.parts, division.made)?;
        Ok(probe)
    }

    /// Where the probe lies.
    fn probe(&self) -> PathBuf {
        self.roots.paths.1.join(format!("{PROBE}{}", self.key))
    }

    /// Refuses to work on other storage than the others.
    pub fn compare(&self, probe: &str) -> fault::Result<()> {
        let found = std::fs::read_to_string(self.probe()).unwrap_or_default();
        let other = match probe.split_once(':') {
            _ if found != probe => &self.roots.paths.1,
            Some((_, theirs)) if !Sight::read(theirs)?.is_seen_in(&self.roots.source)? => &self.roots.paths.0,
            _ => return Ok(()),
        };
        let text = format!("`{}` is other storage here than where the others work", other.display());
        Err(Fault::new(Kind::Refused, text).hint("is it mounted on this host, at the same path?"))
    }

    /// Works on a part, as long as it is ours. The record is that of the part, if it was committed.
    fn work(
        &self,
        queue: &mut dyn Queue,
        beside: &mut dyn Queue,
        lease: &Lease,
    ) -> fault::Result<Option<Record>> {
        let keeper = Keeper::new(self.watcher, self.lease);
        let sharing = Sharing::new(beside, lease);
        let done = keeper.beside(|| sharing.extend(), || self.attempt(queue, lease, &keeper, &sharing));
        match done {
            Err(fault) if is_lost(&fault) => {
                let path = shown(&lease.path);
                self.watcher.event(&Event::Note(&format!("somebody else took over `{path}`")));
                Ok(None)
            }
            done => done,
        }
    }

    fn attempt(
        &self,
        queue: &mut dyn Queue,
        lease: &Lease,
        keeper: &Keeper<'_>,
        sharing: &Sharing<'_>,
    ) -> fault::Result<Option<Record>> {
        let place = self.scratch.part(&lease.path)?;
        let (index, path) = (queue.blob(&lease.path, "index")?, place.join("index"));
        if !index.is_empty() {
            std::fs::write(&path, index).map_err(|error| Fault::os("write", &path, error))?;
        }
        for (path, head, done) in queue.begun(lease)? {
            adopt(&place, &path, &head, &done)?;
        }
        let part = part_of(queue, lease)?;
        let before = (Entries::of(self.counters), Sizes::of(self.counters));
        let doubt = (lease.doubt >= Doubt::Drafts, lease.doubt == Doubt::Content);
        let done = run_part(self.options, part, &place, doubt, Some(sharing), keeper, self.counters);
        sharing.give_back();
        let told = self.tell(queue, lease, &place, done, before, keeper);
        let _ = std::fs::remove_dir_all(&place);
        told
    }

    /// Does a stretch of a large file whose part somebody else has. What can't be done is left to that one.
    fn help(&self, queue: &mut dyn Queue, beside: &mut dyn Queue, held: &Stretch) -> fault::Result<()> {
        let place = self.scratch.part(&held.path)?;
        let task = Task { path: held.path.clone(), head: held.head.clone(), number: held.number };
        // Whoever has the part counts what was done of it.
        let counters = Counters::default();
        let keeper = Keeper::new(self.watcher, self.lease);
        let done = keeper.beside(
            || beside.extend_stretch(held),
            || run_part(self.options, Part::Stretch(task), &place, (false, false), None, &keeper, &counters),
        );
        let _ = std::fs::remove_dir_all(&place);
        match done {
            Ok(Done { stretch: Some(done), .. }) if !keeper.has_lost() => {
                queue.commit_stretch(held, &done).map(drop)
            }
            Ok(_) => queue.give_back_stretch(held, false),
            Err(_) => queue.give_back_stretch(held, true),
        }
    }

    /// Tells the queue what came of a part.
    fn tell(
        &self,
        queue: &mut dyn Queue,
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
                let path = shown(&lease.path);
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
    fn whole(&self, queue: &mut dyn Queue, rest: Record) -> fault::Result<Record> {
        let Results { pieces, started, now } = queue.results()?;
        let mut whole = self.empty_record();
        if let Ok(moment) = jiff::Timestamp::from_millisecond(started) {
            whole.started = moment.to_string();
        }
        whole.elapsed_ns = u64::try_from(now - started).unwrap_or(0).saturating_mul(1_000_000);
        merge::add(&mut whole, rest);
        for piece in pieces.iter().filter(|piece| !piece.is_rest) {
            match serde_json::from_str(&piece.words) {
                Ok(record) if piece.state == "done" => merge::add(&mut whole, record),
                _ => merge::add_given_up(&mut whole, &piece.path, &piece.words),
            }
        }
        Ok(whole)
    }

    /// Takes the probe away, which leaves the time of the directory that it was in.
    pub fn remove_probe(&self) {
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

    pub fn empty_record(&self) -> Record {
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
fn part_of(queue: &mut dyn Queue, lease: &Lease) -> fault::Result<Part> {
    let span = Span::of_key(&lease.path);
    if span.is_none() && !lease.is_rest {
        return Ok(Part::Tree(lease.path.clone()));
    }
    let pieces: Vec<_> = queue.results()?.pieces.into_iter().filter(|piece| !piece.is_rest).collect();
    let layout = Layout::of(pieces.iter().map(|piece| &piece.path[..]));
    if let Some(span) = span {
        return Ok(Part::Range(Range { span, layout }));
    }
    let mut rest = Rest { layout, ..Rest::default() };
    for piece in pieces {
        rest.left.push(Left::unpack(&queue.blob(&piece.path, "left")?)?);
        rest.entries += piece.entries;
    }
    Ok(Part::Rest(rest))
}
