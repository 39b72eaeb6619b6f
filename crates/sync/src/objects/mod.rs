//! Syncs that have an object store or a tree on another host on a side: tree to store, store to tree, store to store. A tree
//! on another host (`far`) is a store here whose objects are its entries; what only a tree can is asked of it apart.
//!
//! ```text
//! scan the source, sorted on disk (and the destination, where no index tells)      scan
//!     -> joined with the index, in one order: tasks, extras                        plan
//!     -> workers: upload, download, relay                                          upload, download, relay
//!     -> names of one file, deletes, attributes of directories                     finish, remove
//!     -> journal -> index of the next sync                                         ledger, index
//! ```
//!
//! An object appears whole under its final key, or not at all; so do files of a tree.

mod batch;
mod delta;
mod download;
mod finish;
mod in_parts;
mod known;
pub mod labels;
mod links;
pub mod making;
mod opening;
mod plan;
mod relay;
pub mod remove;
mod renames;
pub mod scan;
pub mod side;
pub mod upload;
pub mod work;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use fault::{Fault, Kind as FaultKind};
use store::Stamp;

use self::known::KnownStream;
pub use self::links::{Joined, Joining, join};
pub use self::opening::check_layout;
use self::opening::{
    check_options, check_overlap, check_place_of_state, destination_path, identity, named, open_destination,
    open_source,
};
use self::plan::Sides;
use self::remove::Extras;
pub use self::renames::{Moved, Moving, take};
use self::scan::{Scanned, Stream};
pub use self::side::is_elsewhere;
use self::side::{Place, Side};
use self::work::{Done, Hand, OWED, Task, Trouble, Work};
use crate::chunked::Chunked;
use crate::counters::Counters;
use crate::event::{Event, Stage, Watcher};
use crate::filter::Filter;
use crate::guard::renew_index;
use crate::index::{Index, Journal, Parts};
use crate::job::touched_directories;
use crate::options::Options;
use crate::record::{End, Entries, Record, Sizes, VERSION};
use crate::roots::lock_destination;
use crate::run::Listener;
use crate::spool::Spool;
use crate::state::{Identity, State};

/// Workers hide the time of calls across a network.
const WORKERS: usize = 16;

/// Whether a side is no tree of this host.
pub fn has_location(options: &Options) -> bool {
    is_elsewhere(&options.source) || is_elsewhere(&options.destination)
}

/// Makes the destination like the source. Entries that can't be done are told to `watcher` and counted; an error is
/// returned only where the job as a whole could not go on.
pub fn run(options: &Options, watcher: &dyn Watcher, counters: &Counters) -> fault::Result<Record> {
    let started = (Instant::now(), jiff::Zoned::now());
    let began = Stamp::now();
    check_options(options)?;
    let listener = Listener::new(watcher);
    let stop = Arc::new(AtomicBool::new(false));
    let source = open_source(options, &stop)?;
    let paths = (named(&options.source)?, destination_path(options)?);
    let mut state = State::open(options.state.as_deref(), &paths.0, &paths.1)?;
    let destination = open_destination(options, &state, &stop)?;
    check_overlap(&source, &destination)?;
    for path in [&paths.0, &paths.1] {
        check_place_of_state(&state, path)?;
    }
    let _busy = match &destination {
        Side::Tree(root) => Some(lock_destination(root)?),
        Side::Store(_) => None,
    };
    if let Side::Store(Place { far: Some(far), .. }) = &destination {
        state.written_on(&far.opened.boot);
    }
    for side in [&source, &destination] {
        if let Side::Store(Place { chunked: Some(chunked), .. }) = side {
            chunked.settle_in(state.dir());
        }
    }
    if let Side::Store(Place { chunked: Some(chunked), .. }) = &destination {
        forget_uncommitted(&state, chunked)?;
    }
    let identities = (identity(&source)?, identity(&destination)?);
    let work = Work::new((options, &listener, counters), (source, destination), state, stop)?;
    let job = Job { work: &work, identities, paths, began };
    let done = job.run();
    let end = job.end_of(done)?;
    let record = Record {
        version: VERSION,
        state: end,
        source: job.paths.0.display().to_string(),
        destination: job.paths.1.display().to_string(),
        dry_run: options.dry_run,
        started: started.1.timestamp().to_string(),
        elapsed_ns: u64::try_from(started.0.elapsed().as_nanos()).unwrap_or(u64::MAX),
        entries: Entries::of(counters),
        bytes: Sizes::of(counters),
        failures: listener.take(),
        watched: None,
    };
    if !options.dry_run {
        job.remember(false)?;
        let text = serde_json::to_string_pretty(&record)
            .map_err(|error| Fault::new(FaultKind::Bug, "cannot write the job's record").caused_by(error))?;
        work.state.write("last.json", text.as_bytes())?;
    }
    Ok(record)
}

/// Which tree of a chunk store the index speaks of.
const TREE: &str = "tree";

/// What was done and not committed is not there, and of another's tree nothing is known.
fn forget_uncommitted(state: &State, chunked: &Chunked) -> fault::Result<()> {
    state.remove("journal")?;
    if state.read(TREE)?.is_none_or(|tree| tree != chunked.version().as_bytes()) {
        state.remove("index")?;
    }
    Ok(())
}

/// A job and what it is called.
struct Job<'a, 'b> {
    work: &'a Work<'b>,
    identities: (Identity, Identity),
    paths: (PathBuf, PathBuf),
    began: Stamp,
}

impl Job<'_, '_> {
    fn stage(&self, stage: Stage) {
        self.work.watcher.event(&Event::Stage(stage));
    }

    fn remember(&self, running: bool) -> fault::Result<()> {
        self.work.state.remember((&self.paths.0, &self.paths.1), self.identities, running)
    }

    fn run(&self) -> fault::Result<()> {
        let work = self.work;
        self.stage(Stage::Recover);
        let trusted = self.recover()?;
        let index = Index::open(&work.state.path("index"))?.map(Arc::new);
        let known_entries = index.as_ref().map_or(0, |index| index.entries());
        if !work.options.dry_run {
            self.remember(true)?;
        }
        self.stage(Stage::Copy);
        let nothing = Filter::default();
        let source = self.scan(&work.source, &work.options.filter, true)?;
        self.guard(&source, known_entries)?;
        let owed = work.state.path(OWED);
        let owed_before = owed.exists();
        let asked = work.options.check_destination || work.options.update;
        let look = index.is_none() || !trusted || asked || owed_before;
        let there = look.then(|| self.scan_destination(&nothing)).transpose()?;
        let count = source.count;
        let sides = Sides {
            unseen: source.unseen,
            source: Stream::new(source.records)?,
            known: KnownStream::new(index)?,
            there: there.map(|there| Stream::new(there.records)).transpose()?,
        };
        let mut extras = Extras::new(Spool::new(work.scratch()));
        self.copy(sides, &mut extras)?;
        if !work.stopping() {
            self.stage(Stage::Link);
            finish::link_all(work)?;
        }
        if let Some(rules) = work.options.delete.as_ref().filter(|_| !work.stopping()) {
            self.stage(Stage::Delete);
            let removed = extras.remove(work, rules, known_entries.max(count));
            if removed.is_err() {
                if look && !work.options.dry_run {
                    std::fs::write(&owed, "").map_err(|error| Fault::os("write", &owed, error))?;
                }
                self.finish()?;
            }
            removed?;
            if look && !work.options.dry_run && !work.stopping() {
                work.state.remove(OWED)?;
            }
        }
        self.finish()?;
        if work.owes() && !owed_before && !work.stopping() {
            work.state.remove(OWED)?;
        }
        self.prune()
    }

    /// Brings the state in order: what a job that was stopped or killed left goes into the index, and its drafts go.
    /// Returns whether what the index says of the destination can be believed.
    fn recover(&self) -> fault::Result<bool> {
        let state = &self.work.state;
        let memory = state.memory()?;
        let same = memory.as_ref().is_none_or(|memory| memory.destination == self.identities.1);
        if !same {
            ["index", "journal", "touched", "seen"].into_iter().try_for_each(|name| state.remove(name))?;
        }
        let mut parts = Parts::default();
        let touched = touched_directories(&state.path("touched"));
        for dir in &touched {
            // Its attributes may be those of the moment when the job died: look at it again.
            let (above, name) = store::split_last(dir);
            parts.gone(above, name);
            if let (Side::Tree(root), false) = (&self.work.destination, self.work.options.dry_run) {
                making::remove_drafts(root, dir, &|name| self.work.drafts.is_one(name))?;
            }
        }
        if let Some(far) = self.work.destination_far().filter(|_| !self.work.options.dry_run) {
            far.clean(&touched)?;
            self.work.sweep_later(touched);
        }
        let mut journal = Journal::open(&state.path("journal"))?;
        journal.append_after_crash(&parts)?;
        if !journal.is_empty() && !self.work.options.dry_run {
            renew_index(state)?;
            self.work.ledger.begin_anew(&state.path("journal"))?;
        }
        self.work.after_crash(memory.as_ref().is_some_and(|memory| memory.running));
        let lost = memory.is_some_and(|memory| memory.running && memory.boot != state.boot());
        let keeps = matches!(&self.work.destination, Side::Store(place) if place.far.is_none());
        self.work.doubt(lost && !keeps);
        Ok(!lost || keeps)
    }

    fn scan(&self, side: &Side, filter: &Filter, filtered: bool) -> fault::Result<Scanned> {
        let (work, workers) = (self.work, self.workers());
        match side {
            Side::Tree(root) => scan::tree(root, work.options, filtered, (work, work.scratch(), workers)),
            Side::Store(place) => match &place.far {
                Some(far) => scan::far((place, far), work.options, filtered, (work, work.scratch())),
                None if place.chunked.is_some() => scan::chunks(place, filter, (work, work.scratch())),
                None => scan::objects(place, filter, (work, work.scratch(), workers)),
            },
        }
    }

    /// The destination's entries are no entries of the source: they are not counted.
    fn scan_destination(&self, nothing: &Filter) -> fault::Result<Scanned> {
        let (work, workers, ear) = (self.work, self.workers(), Quiet(self.work));
        match &work.destination {
            Side::Tree(root) => scan::tree(root, work.options, false, (&ear, work.scratch(), workers)),
            Side::Store(place) => match &place.far {
                Some(far) => scan::far((place, far), work.options, false, (&ear, work.scratch())),
                None if place.chunked.is_some() => scan::chunks(place, nothing, (&ear, work.scratch())),
                None => scan::objects(place, nothing, (&ear, work.scratch(), workers)),
            },
        }
    }

    fn workers(&self) -> usize {
        self.work.options.workers.unwrap_or(WORKERS)
    }

    /// Refuses what looks like a source that is not there.
    fn guard(&self, source: &Scanned, known_entries: u64) -> fault::Result<()> {
        let (work, options) = (self.work, self.work.options);
        let own = match &work.source {
            Side::Store(place) => u64::from(place.far.is_some() || place.chunked.is_some()),
            Side::Tree(_) => 1,
        };
        let shown = work.source.shown();
        // A list that can't be read is told as that; nothing counts as gone.
        let is_damaged = work.source_chunks().is_some() && source.unseen.contains(&[][..]);
        if source.count <= own
            && !is_damaged
            && (known_entries > own || options.delete.is_some())
            && !options.allow_empty_source
            && !work.stopping()
        {
            return Err(Fault::new(FaultKind::Refused, format!("`{shown}` is empty"))
                .hint("is it the right place, and mounted? --allow-empty-source goes on all the same"));
        }
        let other = work.state.memory()?.is_some_and(|memory| memory.source != self.identities.0);
        if other && options.delete.is_some() && !options.allow_new_source {
            let text = format!("another file system is mounted at `{shown}` than at the last sync");
            return Err(Fault::new(FaultKind::Refused, text).hint(
                "nothing is deleted by a source that may be the wrong one; --allow-new-source goes on",
            ));
        }
        Ok(())
    }

    /// Plans on this thread, and has the workers do it.
    fn copy(&self, sides: Sides, extras: &mut Extras) -> fault::Result<()> {
        let (give, take) = sync_channel::<Task>(batch::most(self.work) * 4 * self.workers());
        let take = Mutex::new(take);
        std::thread::scope(|scope| {
            for _ in 0..self.workers() {
                scope.spawn(|| work_off(self.work, &take));
            }
            let planned = plan::plan(self.work, sides, extras, &mut |task| give.send(task).is_ok());
            drop(give);
            planned
        })
    }

    fn finish(&self) -> fault::Result<()> {
        let work = self.work;
        if work.options.dry_run || work.stopping() {
            return Ok(());
        }
        self.stage(Stage::Finish);
        if let Some(far) = work.destination_far() {
            // What nobody went on with goes, and leaves its directories as they should be.
            let left = work.to_sweep();
            far.sweep(&left)?;
            left.iter().try_for_each(|dir| finish::touch(work, dir))?;
        }
        finish::finish_all(work)?;
        in_parts::sweep(work)?;
        if let Some(chunked) = work.destination_chunks() {
            work.after_chunks(chunked.commit())?;
        }
        work.checkpoint();
        if !work.stopping() {
            self.stage(Stage::Index);
            if work.ledger.has_news() {
                renew_index(&work.state)?;
                work.state.see(self.began)?;
            }
            work.state.remove("touched")?;
            self.remember_tree()?;
        }
        Ok(())
    }

    fn remember_tree(&self) -> fault::Result<()> {
        let Some(chunked) = self.work.destination_chunks() else { return Ok(()) };
        self.work.state.write(TREE, chunked.version().as_bytes())
    }

    /// Removes what nobody needs any more from a chunk store, if that was asked for and everything else went well.
    fn prune(&self) -> fault::Result<()> {
        let work = self.work;
        let failed = work.counters.failed.get() + work.counters.unstable.get();
        let (Some(chunked), Some(keep)) = (work.destination_chunks(), work.options.prune) else {
            return Ok(());
        };
        if work.stopping() || failed > 0 {
            return Ok(());
        }
        work.after_chunks(chunked.prune(keep, work.options.dry_run))?;
        if work.options.dry_run { Ok(()) } else { self.remember_tree() }
    }

    /// How the job ended. What was done is written down in any case.
    fn end_of(&self, done: fault::Result<()>) -> fault::Result<End> {
        let work = self.work;
        if !work.options.dry_run {
            work.checkpoint();
        }
        if let Some(fault) = work.take_fatal() {
            return Err(fault);
        }
        if work.watcher.stopping() {
            if let Some(chunked) = work.destination_chunks() {
                // What is at hand need not be sent again; if it can't be sent now, nothing is lost but time.
                if let Err(fault) = chunked.flush() {
                    tracing::debug!("{fault}");
                }
            }
            return Ok(End::Stopped);
        }
        done?;
        let counters = work.counters;
        Ok(if counters.failed.get() + counters.unstable.get() > 0 { End::Partial } else { End::Complete })
    }
}

fn work_off(work: &Work<'_>, tasks: &Mutex<Receiver<Task>>) {
    let mut hand = Hand::default();
    loop {
        let some = batch::take(work, tasks);
        if some.is_empty() {
            return;
        }
        if work.stopping() {
            continue;
        }
        batch::read_ahead(work, &mut hand, &some);
        let begun = batch::begin_all(work, &mut hand, &some);
        for (task, begun) in some.iter().zip(begun) {
            let done = match begun {
                Some(begun) => begun.end(work, task),
                None => one(work, &mut hand, task),
            };
            links::led(work, task, &done);
            work.ended(&task.found.path, done);
        }
    }
}

/// Does one entry.
fn one(work: &Work<'_>, hand: &mut Hand, task: &Task) -> Result<Done, Trouble> {
    match (&work.source, &work.destination) {
        (Side::Tree(root), _) => upload::upload(work, hand, root, task),
        (_, Side::Tree(root)) => download::download(work, hand, root, task),
        _ => relay::relay(work, hand, task),
    }
}

/// Hears of the destination's entries only what went wrong.
struct Quiet<'a, 'b>(&'a Work<'b>);

impl scan::Ear for Quiet<'_, '_> {
    fn scanned(&self) {}

    fn left_out(&self) {}

    fn failed(&self, path: &[u8], fault: &Fault) {
        scan::Ear::failed(self.0, path, fault);
    }

    fn note(&self, _: &str) {}

    fn stopping(&self) -> bool {
        self.0.stopping()
    }
}
