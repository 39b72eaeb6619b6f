//! Counts what passes to a store and back, and what failed.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Abilities, Begun, Bytes, Depth, Labels, Object, ObjectStore, Upload};

/// Numbers that only grow.
#[derive(Debug, Default)]
pub struct Tally {
    /// Calls, each try of a repeated one counted.
    pub calls: AtomicU64,
    /// Calls that failed.
    pub failures: AtomicU64,
    /// Bytes of content read.
    pub read_bytes: AtomicU64,
    /// Bytes of content written.
    pub written_bytes: AtomicU64,
}

impl Tally {
    fn of<T>(&self, result: fault::Result<T>) -> fault::Result<T> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if result.is_err() {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        result
    }

    fn read(&self, bytes: usize) {
        self.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn written(&self, bytes: u64) {
        self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A store whose calls are counted.
#[derive(Debug)]
pub struct Counted<S> {
    inner: S,
    tally: Tally,
}

impl<S: ObjectStore> Counted<S> {
    /// Around `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner, tally: Tally::default() }
    }

    /// The numbers so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl<S: ObjectStore> ObjectStore for Counted<S> {
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
        self.tally.of(self.inner.list(prefix, depth, each))
    }

    fn stat(&self, key: &str) -> fault::Result<Object> {
        self.tally.of(self.inner.stat(key))
    }

    fn read(&self, key: &str, range: Range<u64>, tag: Option<&str>) -> fault::Result<Bytes> {
        self.tally.of(self.inner.read(key, range, tag)).inspect(|bytes| self.tally.read(bytes.len()))
    }

    fn read_whole(&self, key: &str, most: u64) -> fault::Result<(Object, Bytes)> {
        self.tally.of(self.inner.read_whole(key, most)).inspect(|(_, bytes)| self.tally.read(bytes.len()))
    }

    fn write(&self, key: &str, content: Bytes, labels: &Labels) -> fault::Result<String> {
        let bytes = content.len() as u64;
        self.tally.of(self.inner.write(key, content, labels)).inspect(|_| self.tally.written(bytes))
    }

    fn write_new(&self, key: &str, content: Bytes) -> fault::Result<String> {
        let bytes = content.len() as u64;
        self.tally.of(self.inner.write_new(key, content)).inspect(|_| self.tally.written(bytes))
    }

    fn begin(&self, key: &str, labels: &Labels, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        let inner = self.tally.of(self.inner.begin(key, labels, at_once))?;
        Ok(Box::new(Parts { inner, tally: &self.tally }))
    }

    fn go_on(&self, key: &str, id: &str, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        let inner = self.tally.of(self.inner.go_on(key, id, at_once))?;
        Ok(Box::new(Parts { inner, tally: &self.tally }))
    }

    fn delete(&self, keys: &[String]) -> fault::Result<()> {
        self.tally.of(self.inner.delete(keys))
    }

    fn copy(&self, from: &str, to: &str) -> fault::Result<()> {
        self.tally.of(self.inner.copy(from, to))
    }
}

struct Parts<'a> {
    inner: Box<dyn Upload + 'a>,
    tally: &'a Tally,
}

impl Upload for Parts<'_> {
    fn part(&mut self, content: Bytes) -> fault::Result<()> {
        let bytes = content.len() as u64;
        self.tally.of(self.inner.part(content)).inspect(|()| self.tally.written(bytes))
    }

    fn part_of(&mut self, from: &str, range: Range<u64>, tag: &str) -> fault::Result<()> {
        self.tally.of(self.inner.part_of(from, range, tag))
    }

    fn part_again(&mut self, content: Bytes, tag: &str) -> fault::Result<()> {
        self.tally.of(self.inner.part_again(content, tag))
    }

    fn begun(&self) -> Begun {
        self.inner.begun()
    }

    fn leave(self: Box<Self>) {
        self.inner.leave();
    }

    fn finish(self: Box<Self>) -> fault::Result<String> {
        self.tally.of(self.inner.finish())
    }

    fn discard(self: Box<Self>) {
        self.inner.discard();
    }
}
