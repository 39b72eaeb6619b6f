//! Objects in memory: the simplest store there is, for tests and as the model of the others.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Abilities, Bytes, Depth, Labels, Object, ObjectStore, Upload, changed, missing, taken};
use crate::Stamp;

/// A store in memory.
#[derive(Debug, Default)]
pub struct Memory {
    objects: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, (Object, Bytes)>,
    written: u64,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, key: &str) -> fault::Result<(Object, Bytes)> {
        self.lock().objects.get(key).cloned().ok_or_else(|| missing(&self.shown(), key))
    }
}

impl State {
    fn put(&mut self, key: &str, content: Bytes, labels: &Labels) -> String {
        self.written += 1;
        let object = Object {
            key: key.to_owned(),
            size: content.len() as u64,
            tag: format!("\"{:x}\"", self.written),
            modified: Stamp { nanos: 0, ..Stamp::now() },
            labels: Some(labels.clone()),
        };
        let tag = object.tag.clone();
        self.objects.insert(key.to_owned(), (object, content));
        tag
    }
}

impl ObjectStore for Memory {
    fn shown(&self) -> String {
        "memory://".to_owned()
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            labels: true,
            most_label_bytes: 2048,
            labels_with_content: true,
            plain_label_names: false,
            directory_marks: true,
            tied_reads: true,
            tags: true,
            tags_follow_labels: true,
            copies: true,
            takes_parts: true,
            resumes: false,
            writes_new: true,
            longest_key: 1024,
            least_part: 1,
            most_parts: 10_000,
        }
    }

    fn list(
        &self,
        prefix: &str,
        depth: Depth,
        each: &mut dyn FnMut(Object) -> fault::Result<()>,
    ) -> fault::Result<()> {
        // A snapshot: `each` may change the store.
        let found: Vec<Object> = self
            .lock()
            .objects
            .range(prefix.to_owned()..)
            .take_while(|(key, _)| key.starts_with(prefix))
            .map(|(_, (object, _))| Object { labels: None, ..object.clone() })
            .collect();
        let mut last = String::new();
        for object in found {
            match object.key[prefix.len()..].find('/').filter(|_| depth == Depth::One) {
                None => each(object)?,
                Some(at) => {
                    let key = object.key[..=prefix.len() + at].to_owned();
                    if key != last {
                        each(Object { key: key.clone(), ..Object::default() })?;
                        last = key;
                    }
                }
            }
        }
        Ok(())
    }

    fn stat(&self, key: &str) -> fault::Result<Object> {
        self.get(key).map(|(object, _)| object)
    }

    fn read(&self, key: &str, range: Range<u64>, tag: Option<&str>) -> fault::Result<Bytes> {
        let (object, content) = self.get(key)?;
        if tag.is_some_and(|tag| tag != object.tag) || range.end > object.size {
            return Err(changed(&self.shown(), key));
        }
        Ok(content.slice(range.start as usize..range.end as usize))
    }

    fn read_whole(&self, key: &str, most: u64) -> fault::Result<(Object, Bytes)> {
        let (object, content) = self.get(key)?;
        if object.size > most { Err(changed(&self.shown(), key)) } else { Ok((object, content)) }
    }

    fn write(&self, key: &str, content: Bytes, labels: &Labels) -> fault::Result<String> {
        Ok(self.lock().put(key, content, labels))
    }

    fn write_new(&self, key: &str, content: Bytes) -> fault::Result<String> {
        let mut state = self.lock();
        if state.objects.contains_key(key) {
            return Err(taken(&self.shown(), key));
        }
        Ok(state.put(key, content, &Labels::new()))
    }

    fn begin(&self, key: &str, labels: &Labels, _at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        Ok(Box::new(Parts { store: self, key: key.to_owned(), labels: labels.clone(), content: Vec::new() }))
    }

    fn delete(&self, keys: &[String]) -> fault::Result<()> {
        let mut state = self.lock();
        keys.iter().for_each(|key| drop(state.objects.remove(key)));
        Ok(())
    }

    fn copy(&self, from: &str, to: &str) -> fault::Result<()> {
        let (object, content) = self.get(from)?;
        self.lock().put(to, content, &object.labels.unwrap_or_default());
        Ok(())
    }
}

struct Parts<'a> {
    store: &'a Memory,
    key: String,
    labels: Labels,
    content: Vec<u8>,
}

impl Upload for Parts<'_> {
    fn part(&mut self, content: Bytes) -> fault::Result<()> {
        self.content.extend_from_slice(&content);
        Ok(())
    }

    fn part_of(&mut self, from: &str, range: Range<u64>, tag: &str) -> fault::Result<()> {
        let content = self.store.read(from, range, Some(tag))?;
        self.part(content)
    }

    fn finish(self: Box<Self>) -> fault::Result<String> {
        let Self { store, key, labels, content } = *self;
        Ok(store.lock().put(&key, content.into(), &labels))
    }

    fn discard(self: Box<Self>) {}
}
