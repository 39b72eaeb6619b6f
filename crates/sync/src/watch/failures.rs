use std::collections::BTreeMap;
use std::sync::Mutex;

use fault::Fault;

use crate::event::{Event, Watcher};
use crate::job::lock;
use crate::record::{Failure, MOST_FAILURES};
use crate::scope::Scope;

/// More than this are not told apart.
const MOST: usize = 100_000;

/// Entries that can't be done now. Each is told once, when it fails for the second time: what changes while it is looked at
/// is different a moment later. An unstable file is told when the watch ends, if it is still one.
pub struct Failures<'a> {
    inner: &'a dyn Watcher,
    open: Mutex<BTreeMap<Vec<u8>, Open>>,
    /// Why a stage as a whole was not done.
    refused: Mutex<Option<Failure>>,
}

struct Open {
    failure: Failure,
    unstable: bool,
    /// It failed in the round that goes on, or went on failing.
    fresh: bool,
    times: u32,
}

impl<'a> Failures<'a> {
    pub fn new(inner: &'a dyn Watcher) -> Self {
        Self { inner, open: Mutex::default(), refused: Mutex::default() }
    }

    /// Whether it is to be told.
    fn failed(&self, path: &[u8], fault: &Fault, unstable: bool) -> bool {
        let mut open = lock(&self.open);
        let failure = Failure::of(path, fault);
        let times = open.get(path).filter(|old| old.failure == failure).map_or(0, |old| old.times) + 1;
        if open.len() < MOST || times > 1 {
            open.insert(path.to_vec(), Open { failure, unstable, fresh: true, times });
        }
        times == 2
    }

    /// A round begins.
    pub fn begin(&self) {
        lock(&self.open).values_mut().for_each(|open| open.fresh = false);
    }

    /// A round ended: what it looked at and did not fail again is done.
    pub fn end(&self, scope: &Scope) {
        let looked_at = |path: &[u8]| match scope {
            Scope::All => true,
            Scope::Some(changes) => changes.covers(path),
        };
        lock(&self.open).retain(|path, open| open.fresh || !looked_at(path));
    }

    /// A stage was refused, and waits for a person.
    pub fn refuse(&self, fault: &Fault) {
        let failure = Failure::of(b"", fault);
        let mut refused = lock(&self.refused);
        // The numbers in it may change each time.
        if refused.is_none() {
            self.inner.event(&Event::Failed(b"", fault));
        }
        *refused = Some(failure);
    }

    /// What was refused is done now.
    pub fn allow(&self) {
        *lock(&self.refused) = None;
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        lock(&self.open).len() + usize::from(lock(&self.refused).is_some())
    }

    /// What can't be done still: failed, unstable, and the first of both.
    pub fn take(&self) -> (u64, u64, Vec<Failure>) {
        let open = std::mem::take(&mut *lock(&self.open));
        let unstable = open.values().filter(|open| open.unstable).count() as u64;
        let refused = lock(&self.refused).take();
        let failed = open.len() as u64 - unstable + u64::from(refused.is_some());
        let all = refused.into_iter().chain(open.into_values().map(|open| open.failure));
        (failed, unstable, all.take(MOST_FAILURES).collect())
    }
}

impl Watcher for Failures<'_> {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Failed(path, fault) if !self.failed(path, fault, false) => {}
            Event::Unstable(path, fault) => drop(self.failed(path, fault, true)),
            event => self.inner.event(event),
        }
    }

    fn stopping(&self) -> bool {
        self.inner.stopping()
    }
}
