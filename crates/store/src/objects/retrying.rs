//! Tries again what may pass: the failure itself says whether it may.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Abilities, Bytes, Depth, Labels, Object, ObjectStore, Upload};

/// The first pause; each further one is twice as long, up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(10);
/// How long a pause is slept at a time, so that a job that should stop does.
const NAP: Duration = Duration::from_millis(50);

/// A store whose calls are tried again.
#[derive(Debug)]
pub struct Retrying<S> {
    inner: S,
    tries: u32,
    stop: Arc<AtomicBool>,
}

impl<S: ObjectStore> Retrying<S> {
    /// Around `inner`, at most `tries` times each call. Once `stop` is set, nothing is tried again.
    pub fn new(inner: S, tries: u32, stop: Arc<AtomicBool>) -> Self {
        Self { inner, tries, stop }
    }

    fn again<T>(&self, call: impl Fn() -> fault::Result<T>) -> fault::Result<T> {
        let mut pause = FIRST;
        for _ in 1..self.tries {
            match call() {
                Err(fault) if fault.may_retry() && !self.stop.load(Ordering::Relaxed) => {
                    tracing::debug!("trying again: {fault}");
                    self.rest(pause.mul_f64(0.5 + fastrand::f64() / 2.0));
                    pause = (pause * 2).min(LONGEST);
                }
                result => return result,
            }
        }
        call()
    }

    fn rest(&self, pause: Duration) {
        let until = Instant::now() + pause;
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(left.min(NAP));
        }
    }
}

impl<S: ObjectStore> ObjectStore for Retrying<S> {
    fn shown(&self) -> String {
        self.inner.shown()
    }

    fn abilities(&self) -> Abilities {
        self.inner.abilities()
    }

    /// A listing that broke off can't be taken up where it was: it begins anew, and `each` may see an object again.
    fn list(
        &self,
        prefix: &str,
        depth: Depth,
        each: &mut dyn FnMut(Object) -> fault::Result<()>,
    ) -> fault::Result<()> {
        let each = std::cell::RefCell::new(each);
        self.again(|| {
            let mut each = each.borrow_mut();
            self.inner.list(prefix, depth, &mut **each)
        })
    }

    fn stat(&self, key: &str) -> fault::Result<Object> {
        self.again(|| self.inner.stat(key))
    }

    fn read(&self, key: &str, range: Range<u64>, tag: Option<&str>) -> fault::Result<Bytes> {
        self.again(|| self.inner.read(key, range.clone(), tag))
    }

    fn read_whole(&self, key: &str, most: u64) -> fault::Result<(Object, Bytes)> {
        self.again(|| self.inner.read_whole(key, most))
    }

    fn write(&self, key: &str, content: Bytes, labels: &Labels) -> fault::Result<String> {
        self.again(|| self.inner.write(key, content.clone(), labels))
    }

    fn write_new(&self, key: &str, content: Bytes) -> fault::Result<String> {
        self.again(|| self.inner.write_new(key, content.clone()))
    }

    /// Parts are tried again by the store itself, which knows what of an upload it has.
    fn begin(&self, key: &str, labels: &Labels, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        self.again(|| self.inner.begin(key, labels, at_once))
    }

    fn go_on(&self, key: &str, id: &str, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        self.again(|| self.inner.go_on(key, id, at_once))
    }

    fn delete(&self, keys: &[String]) -> fault::Result<()> {
        self.again(|| self.inner.delete(keys))
    }

    fn copy(&self, from: &str, to: &str) -> fault::Result<()> {
        self.again(|| self.inner.copy(from, to))
    }
}
