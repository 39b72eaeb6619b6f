//! A whole job, once.

use std::sync::Mutex;
use std::time::Instant;

use crate::counters::Counters;
use crate::event::{Event, Watcher};
use crate::job::lock;
use crate::objects;
use crate::options::Options;
use crate::record::{Failure, MOST_FAILURES, Record};
use crate::scope::Scope;
use crate::session::Session;

/// Makes the destination like the source. Entries that can't be done are told to `watcher` and counted; an error is
/// returned only where the job as a whole could not go on.
pub fn run(options: &Options, watcher: &dyn Watcher, counters: &Counters) -> fault::Result<Record> {
    objects::check_layout(options)?;
    if objects::has_location(options) {
        return objects::run(options, watcher, counters);
    }
    let started = (Instant::now(), jiff::Zoned::now());
    let listener = Listener::new(watcher);
    let mut session = Session::open(options, &listener)?;
    let round = session.round(&Scope::All, &listener, counters)?;
    let record = session.record(&started, round.end, counters, &listener);
    if !options.dry_run {
        session.keep(&record)?;
    }
    Ok(record)
}

/// Keeps the first failures for the record.
pub struct Listener<'a> {
    inner: &'a dyn Watcher,
    failures: Mutex<Vec<Failure>>,
}

impl<'a> Listener<'a> {
    /// In front of `inner`.
    pub fn new(inner: &'a dyn Watcher) -> Self {
        Self { inner, failures: Mutex::default() }
    }

    /// The failures so far.
    pub fn take(&self) -> Vec<Failure> {
        std::mem::take(&mut *lock(&self.failures))
    }
}

impl Watcher for Listener<'_> {
    fn event(&self, event: &Event<'_>) {
        if let Event::Failed(path, fault) | Event::Unstable(path, fault) = event {
            let mut failures = lock(&self.failures);
            if failures.len() < MOST_FAILURES {
                failures.push(Failure::of(path, fault));
            }
        }
        self.inner.event(event);
    }

    fn stopping(&self) -> bool {
        self.inner.stopping()
    }
}
