//! Keeps what a mover works on its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use crate::event::{Event, Watcher};
use crate::job::lock;

/// Keeps a lease while its work is done, and stops the work when it is lost.
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

    /// Does `work`; meanwhile, `renew` is called again and again. It says whether what we have is still ours.
    pub fn beside<T>(
        &self,
        mut renew: impl FnMut() -> fault::Result<bool> + Send,
        work: impl FnOnce() -> T,
    ) -> T {
        std::thread::scope(|scope| {
            let keeping = scope.spawn(move || self.keep(&mut renew));
            let done = work();
            self.ended.store(true, Ordering::Relaxed);
            keeping.thread().unpark();
            done
        })
    }

    fn keep(&self, renew: &mut dyn FnMut() -> fault::Result<bool>) {
        while !self.ended.load(Ordering::Relaxed) {
            std::thread::park_timeout(self.lease / 3);
            if self.ended.load(Ordering::Relaxed) {
                return;
            }
            let before = milliseconds();
            match renew() {
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
