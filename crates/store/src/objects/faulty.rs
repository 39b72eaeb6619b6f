//! Fails on purpose, so that tests can break a job at every call it makes.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use fault::{Fault, Kind};

use super::{Abilities, Begun, Bytes, Depth, Labels, Object, ObjectStore, Upload};

/// Which calls fail, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plan {
    /// The number of the first call that fails, from 0; `None` fails none.
    pub from: Option<u64>,
    /// How many calls fail from there on.
    pub count: u64,
    /// The failures say that trying again may help.
    pub temporary: bool,
    /// The call is done, and only its answer is lost.
    pub answer_lost: bool,
}

/// A store that fails as planned.
#[derive(Debug)]
pub struct Faulty<S> {
    inner: S,
    plan: Plan,
    calls: AtomicU64,
}

impl<S: ObjectStore> Faulty<S> {
    /// Around `inner`.
    pub fn new(inner: S, plan: Plan) -> Self {
        Self { inner, plan, calls: AtomicU64::new(0) }
    }

    /// How many calls were made.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    fn pass<T>(&self, call: impl FnOnce() -> fault::Result<T>) -> fault::Result<T> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let from = self.plan.from.unwrap_or(u64::MAX);
        if number < from || number - from >= self.plan.count {
            return call();
        }
        if self.plan.answer_lost {
            call()?;
        }
        let fault = Fault::new(Kind::Io, format!("call {number} failed on purpose"));
        Err(if self.plan.temporary { fault.temporary() } else { fault })
    }
}

impl<S: ObjectStore> ObjectStore for Faulty<S> {
    fn shown(&self) -> String {
        self.inner.shown()
    }

    fn abilities(&self) -> Abilities {
        self.inner.abilities()
    }

    fn list(
        &self,
        prefix: &str,
        depth: Depth,
        each: &mut dyn FnMut(Object) -> fault::Result<()>,
    ) -> fault::Result<()> {
        self.pass(|| self.inner.list(prefix, depth, each))
    }

    fn stat(&self, key: &str) -> fault::Result<Object> {
        self.pass(|| self.inner.stat(key))
    }

    fn read(&self, key: &str, range: Range<u64>, tag: Option<&str>) -> fault::Result<Bytes> {
        self.pass(|| self.inner.read(key, range, tag))
    }

    fn read_whole(&self, key: &str, most: u64) -> fault::Result<(Object, Bytes)> {
        self.pass(|| self.inner.read_whole(key, most))
    }

    fn write(&self, key: &str, content: Bytes, labels: &Labels) -> fault::Result<String> {
        self.pass(|| self.inner.write(key, content, labels))
    }

    fn write_new(&self, key: &str, content: Bytes) -> fault::Result<String> {
        self.pass(|| self.inner.write_new(key, content))
    }

    fn begin(&self, key: &str, labels: &Labels, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        let inner = self.pass(|| self.inner.begin(key, labels, at_once))?;
        Ok(Box::new(Parts { inner, store: self }))
    }

    fn go_on(&self, key: &str, id: &str, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        let inner = self.pass(|| self.inner.go_on(key, id, at_once))?;
        Ok(Box::new(Parts { inner, store: self }))
    }

    fn delete(&self, keys: &[String]) -> fault::Result<()> {
        self.pass(|| self.inner.delete(keys))
    }

    fn copy(&self, from: &str, to: &str) -> fault::Result<()> {
        self.pass(|| self.inner.copy(from, to))
    }
}

struct Parts<'a, S> {
    inner: Box<dyn Upload + 'a>,
    store: &'a Faulty<S>,
}

impl<S: ObjectStore> Upload for Parts<'_, S> {
    fn part(&mut self, content: Bytes) -> fault::Result<()> {
        self.store.pass(|| self.inner.part(content))
    }

    fn part_of(&mut self, from: &str, range: Range<u64>, tag: &str) -> fault::Result<()> {
        self.store.pass(|| self.inner.part_of(from, range, tag))
    }

    fn part_again(&mut self, content: Bytes, tag: &str) -> fault::Result<()> {
        self.store.pass(|| self.inner.part_again(content, tag))
    }

    fn begun(&self) -> Begun {
        self.inner.begun()
    }

    fn leave(self: Box<Self>) {
        self.inner.leave();
    }

    fn finish(self: Box<Self>) -> fault::Result<String> {
        self.store.pass(|| self.inner.finish())
    }

    fn discard(self: Box<Self>) {
        self.inner.discard();
    }
}
