//! A source and a destination that are open for syncing: locked, recovered, guarded. One job is one session with one
//! round; a watch is one session with many.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use fault::{Fault, Kind};
use store::Stamp;

use crate::counters::Counters;
use crate::event::{Event, Stage, Watcher};
use crate::guard::{Trust, guard, is_still_there, recover, renew_index, trust};
use crate::index::{Index, Knowledge};
use crate::job::{Job, lock};
use crate::large::Share;
use crate::options::Options;
use crate::part::{Left, Part};
use crate::record::{End, Entries, Record, Sizes, VERSION};
use crate::roots::{Roots, check_place_of_state, lock_destination, open_roots, share_destination};
use crate::run::Listener;
use crate::scope::{Changes, Scope};
use crate::stages::{do_all, end_of};
use crate::state::{Identity, State};

/// What is known beyond the index before it is written anew, bytes.
const MOST_BEYOND: usize = 32 << 20;

/// A pair of trees that is open for syncing.
pub struct Session<'a> {
    pub options: &'a Options,
    pub roots: Roots,
    pub state: State,
    pub known: Knowledge,
    pub trust: Trust,
    /// What one of several movers does of it.
    pub part: Option<Part>,
    /// What it leaves to the others.
    pub left: Left,
    /// The others, who help with large files.
    pub share: Option<&'a dyn Share>,
    /// What it did of a large file of another's part.
    pub stretch: Option<Vec<u8>>,
    /// The destination is listed, whatever the index says.
    pub lists: bool,
    /// When all that is known was known.
    pub seen: Option<Stamp>,
    identities: (Identity, Identity),
    _busy: OwnedFd,
}

/// What one round did.
#[derive(Debug)]
pub struct Round {
    pub end: End,
    /// What could not be done, and may be tried again.
    pub again: Changes,
}

impl<'a> Session<'a> {
    /// Opens both trees, and what is remembered of them.
    pub fn open(options: &'a Options, watcher: &dyn Watcher) -> fault::Result<Self> {
        Self::open_for(options, None, options.state.as_deref(), watcher)
    }

    /// The same with what is known in `state`.
    pub fn open_in(options: &'a Options, state: &Path, watcher: &dyn Watcher) -> fault::Result<Self> {
        Self::open_for(options, None, Some(state), watcher)
    }

    /// The same for a part of them, which others may work on, too; what is known of it lies in `state`.
    pub fn open_part(
        options: &'a Options,
        part: Part,
        state: &Path,
        watcher: &dyn Watcher,
    ) -> fault::Result<Self> {
        Self::open_for(options, Some(part), Some(state), watcher)
    }

    fn open_for(
        options: &'a Options,
        part: Option<Part>,
        state: Option<&Path>,
        watcher: &dyn Watcher,
    ) -> fault::Result<Self> {
        let roots = open_roots(options)?;
        let state = State::open(state, &roots.paths.0, &roots.paths.1)?;
        check_place_of_state(&state, &roots)?;
        let busy = match part {
            Some(_) => share_destination(&roots.destination)?,
            None => lock_destination(&roots.destination)?,
        };
        let memory = state.memory()?;
        let identities = (Identity::of(&roots.source)?, Identity::of(&roots.destination)?);
        let trust = trust(memory.as_ref(), identities.1, &roots.destination)?;
        watcher.event(&Event::Stage(Stage::Recover));
        recover(&state, trust)?;
        let known = Knowledge::new(Index::open(&state.path("index"))?.map(Arc::new));
        guard(options, watcher, &roots, memory.as_ref(), identities.0, &known)?;
        let seen = state.seen();
        Ok(Self {
            options,
            roots,
            state,
            known,
            trust,
            part,
            left: Left::default(),
            share: None,
            stretch: None,
            lists: false,
            seen,
            identities,
            _busy: busy,
        })
    }

    /// Somebody else worked here and did not end: what lies at the destination is looked at, and with `distrust` compared by
    /// its content.
    pub fn doubt(&mut self, lists: bool, distrust: bool) {
        self.lists = lists;
        if distrust {
            self.trust = Trust { believe_times: false, after_crash: true, ..self.trust };
        }
    }

    /// What was done since `started`.
    pub fn record(
        &self,
        started: &(Instant, jiff::Zoned),
        end: End,
        counters: &Counters,
        listener: &Listener<'_>,
    ) -> Record {
        Record {
            version: VERSION,
            state: end,
            source: self.roots.paths.0.display().to_string(),
            destination: self.roots.paths.1.display().to_string(),
            dry_run: self.options.dry_run,
            started: started.1.timestamp().to_string(),
            elapsed_ns: u64::try_from(started.0.elapsed().as_nanos()).unwrap_or(u64::MAX),
            entries: Entries::of(counters),
            bytes: Sizes::of(counters),
            failures: listener.take(),
            watched: None,
        }
    }

    /// Looks at what `scope` says and brings it over, durably and written down.
    pub fn round(
        &mut self,
        scope: &Scope,
        watcher: &dyn Watcher,
        counters: &Counters,
    ) -> fault::Result<Round> {
        if !self.options.dry_run {
            self.remember(true)?;
        }
        let began = Stamp::now();
        let job = Job::new(self, matches!(scope, Scope::Some(_)), watcher, counters)?;
        let done = do_all(&job, scope);
        let end = end_of(&job, done);
        let again = std::mem::take(&mut *lock(&job.desk.again));
        let left = std::mem::take(&mut *lock(&job.left));
        let stretch = lock(&job.stretch).take();
        let kept = job.ledger.take_kept();
        let news = job.ledger.has_news();
        drop(job);
        (self.left, self.stretch) = (left, stretch);
        let folds = match &kept {
            Some(kept) => {
                kept.iter().try_for_each(|parts| self.known.overlay().apply(parts))?;
                self.known.overlay().size() > MOST_BEYOND
            }
            None => true,
        };
        if matches!(&end, Err(fault) if fault.kind() == Kind::Io) && !self.options.dry_run {
            self.state.doubt()?;
        }
        let end = end?;
        if !self.options.dry_run {
            if news && folds && end != End::Stopped {
                watcher.event(&Event::Stage(Stage::Index));
                self.renew_index()?;
            }
            if end != End::Stopped && self.part.is_none() {
                self.seen = Some(began);
                if news && matches!(scope, Scope::All) {
                    self.state.see(began)?;
                }
            }
            self.remember(false)?;
        }
        if matches!(scope, Scope::All) && end == End::Complete {
            // From here on the index knows what is at the destination.
            self.trust = Trust { same_tree: true, believe_times: true, after_crash: false };
        }
        Ok(Round { end, again })
    }

    /// Writes the index anew, with all that changed since.
    pub fn renew_index(&mut self) -> fault::Result<()> {
        // The old one is closed first: its blocks are read by the number they have.
        self.known = Knowledge::default();
        renew_index(&self.state)?;
        self.known = Knowledge::new(Index::open(&self.state.path("index"))?.map(Arc::new));
        Ok(())
    }

    /// Refuses to go on when the source is another tree than when the session began.
    pub fn is_still_there(&self) -> fault::Result<()> {
        is_still_there(&self.roots, self.identities.0)
    }

    fn remember(&self, running: bool) -> fault::Result<()> {
        let (source, destination) = &self.roots.paths;
        self.state.remember((source, destination), self.identities, running)
    }

    /// Keeps the record of the last job.
    pub fn keep(&self, record: &Record) -> fault::Result<()> {
        let text = serde_json::to_string_pretty(record)
            .map_err(|error| Fault::new(Kind::Bug, "cannot write the job's record").caused_by(error))?;
        self.state.write("last.json", text.as_bytes())
    }
}
