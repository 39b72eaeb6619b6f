//! Keeps what a mover works on its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use super::queue::{Lease, Queue};
use crate::event::{Event, Watcher};
use crate::job::lock;

/// Keeps a lease while its part is worked on, and stops the work when it is lost.
pub struct Keeper<'a> {
    inner: &'a dyn Watcher,
    lease: Duration,
    /// When it was renewed, by a clock that goes on while this host sleeps; milliseconds.
    renewed: AtomicI64,
    lost: AtomicBool,
    ended: AtomicBool,
    told: Mutex<()>,
}

impl<'a> Keeper<'a> {
    pub fn new(inner: &'a dyn Watcher, lease: Duration) -> Self {
        let renewed = AtomicI64::new(milliseconds());
        let (lost, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { inner, lease, renewed, lost, ended, told: Mutex::default() }
    }

    pub fn keep(&self, queue: &mut dyn Queue, held: &Lease) {
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

    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    pub fn has_lost(&self) -> bool {
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
