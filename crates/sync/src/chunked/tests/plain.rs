use std::ops::Range;
use std::sync::Arc;

use store::objects::{Abilities, Bytes, Depth, Labels, Memory, Object, ObjectStore, Upload};

/// A store that can't write an object only where there is none, as Swift.
#[derive(Debug)]
pub struct Plain(pub Arc<Memory>);

impl ObjectStore for Plain {
    fn shown(&self) -> String {
        self.0.shown()
    }

    fn abilities(&self) -> Abilities {
        Abilities { writes_new: false, ..self.0.abilities() }
    }

    fn list(
        &self,
        prefix: &str,
        depth: Depth,
        each: &mut dyn FnMut(Object) -> fault::Result<()>,
    ) -> fault::Result<()> {
        self.0.list(prefix, depth, each)
    }

    fn stat(&self, key: &str) -> fault::Result<Object> {
        self.0.stat(key)
    }

    fn read(&self, key: &str, range: Range<u64>, tag: Option<&str>) -> fault::Result<Bytes> {
        self.0.read(key, range, tag)
    }

    fn read_whole(&self, key: &str, most: u64) -> fault::Result<(Object, Bytes)> {
        self.0.read_whole(key, most)
    }

    fn write(&self, key: &str, content: Bytes, labels: &Labels) -> fault::Result<String> {
        self.0.write(key, content, labels)
    }

    fn begin(&self, key: &str, labels: &Labels, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        self.0.begin(key, labels, at_once)
    }

    fn delete(&self, keys: &[String]) -> fault::Result<()> {
        self.0.delete(keys)
    }

    fn copy(&self, from: &str, to: &str) -> fault::Result<()> {
        self.0.copy(from, to)
    }
}
