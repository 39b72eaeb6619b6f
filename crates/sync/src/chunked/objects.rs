//! The tree of a chunk store as an object store whose objects are its entries.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fault::{Fault, Kind as FaultKind};
use store::objects::{Abilities, Bytes, Depth, Labels, Object, ObjectStore, Upload, changed, path_of};
use store::{Kind, Stamp};

use super::Chunked;
use super::feed::Feed;
use super::format::{Content, Entry, Lists, Piece};
use crate::job::lock;
use crate::objects::labels::{Posix, others};
use crate::objects::scan::place_of;
use crate::spool::Spool;

/// The key of the root, and what is reserved at the start of a key.
const ROOT: &str = ".forebay/root";
const OWN: &str = ".forebay";

/// What such a store can.
pub const ABILITIES: Abilities = Abilities {
    labels: true,
    most_label_bytes: 8 << 20,
    labels_with_content: true,
    plain_label_names: false,
    directory_marks: true,
    tied_reads: true,
    tags: true,
    tags_follow_labels: true,
    copies: false,
    takes_parts: false,
    resumes: false,
    writes_new: false,
    longest_key: usize::MAX / 2,
    least_part: 1,
    most_parts: u64::MAX,
};

/// [`Chunked`] as an object store.
#[derive(Debug, Clone)]
pub struct ChunkStore(pub Arc<Chunked>);

/// The path that a key stands for, and whether it is a directory's.
fn path_of_key(key: &str) -> Option<(Vec<u8>, bool)> {
    if key == ROOT {
        return Some((Vec::new(), true));
    }
    let (name, is_directory) = key.strip_suffix('/').map_or((key, false), |name| (name, true));
    path_of(name, OWN).map(|path| (path, is_directory))
}

impl ChunkStore {
    fn absent(&self, key: &str) -> Fault {
        Fault::new(FaultKind::NotFound, format!("there is no `{}{key}`", self.shown()))
    }

    fn path(&self, key: &str) -> fault::Result<(Vec<u8>, bool)> {
        path_of_key(key).ok_or_else(|| self.absent(key))
    }

    /// The entry of a key, as the tree was when it was opened.
    fn entry(&self, key: &str) -> fault::Result<Entry> {
        let (path, is_directory) = self.path(key)?;
        let found = self.0.find(&path)?;
        let found = found.filter(|entry| (entry.posix.kind == Kind::Directory) == is_directory);
        found.ok_or_else(|| self.absent(key))
    }

    fn put(&self, key: &str, labels: &Labels, size: u64, content: Content) -> fault::Result<String> {
        let (path, is_directory) = self.path(key)?;
        let object = Object { key: key.to_owned(), labels: Some(labels.clone()), ..Object::default() };
        let mut posix = Posix::read(&object);
        if is_directory {
            posix.kind = Kind::Directory;
        }
        let modified = Stamp { nanos: 0, ..Stamp::now() };
        let entry = Entry { path, posix, others: others(labels), modified, size, content };
        self.0.tell(&entry.path, Some(&entry))?;
        Ok(entry.tag())
    }
}

/// An entry as an object.
pub fn object_of(key: String, entry: &Entry) -> Object {
    let (mut labels, _) = entry.posix.labels(&ABILITIES);
    labels.extend(entry.others.clone());
    let (size, tag, modified) = (entry.size, entry.tag(), entry.modified);
    Object { key, size, tag, modified, labels: Some(labels) }
}

impl Chunked {
    /// Notes what is to be at a place; nothing, if the entry goes.
    fn tell(&self, path: &[u8], entry: Option<&Entry>) -> fault::Result<()> {
        let mut record = place_of(path);
        record.extend_from_slice(&self.told.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        record.extend(entry.map(Entry::alone).unwrap_or_default());
        let mut changes = lock(&self.changes);
        changes.get_or_insert_with(|| Spool::new(&std::env::temp_dir())).push(&record)
    }

    /// The chunks of a piece of a list.
    pub fn listed(&self, list: &Lists) -> fault::Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        self.read::<Fault>(&[list.list], &mut |_, bytes| {
            pieces = Piece::of_list(bytes, list.content)?;
            Ok(())
        })?;
        Ok(pieces)
    }

    /// The chunks of an entry that have any of `range`, and where the first of them begins.
    pub fn pieces(&self, content: &Content, range: &Range<u64>) -> fault::Result<(u64, Vec<Piece>)> {
        match content {
            Content::Inline(_) => Ok((0, Vec::new())),
            Content::Chunks(_, pieces) => Ok(overlapping(pieces, 0, range)),
            Content::Lists(_, lists) => {
                let (mut at, mut start, mut all) = (0, None, Vec::new());
                for list in lists {
                    let end = at + list.content;
                    if at < range.end && range.start < end {
                        let (first, some) = overlapping(&self.listed(list)?, at, range);
                        start.get_or_insert(first);
                        all.extend(some);
                    }
                    at = end;
                }
                Ok((start.unwrap_or(at), all))
            }
        }
    }

    /// Content of an entry.
    pub fn content(&self, content: &Content, range: Range<u64>) -> fault::Result<Bytes> {
        if let Content::Inline(bytes) = content {
            let bytes = bytes.get(range.start as usize..range.end as usize);
            return bytes.map(Bytes::copy_from_slice).ok_or_else(|| super::format::damaged("an entry"));
        }
        let (first, pieces) = self.pieces(content, &range)?;
        let mut places = Vec::with_capacity(pieces.len());
        let mut at = first;
        for piece in &pieces {
            places.push(at);
            at += u64::from(piece.length);
        }
        let mut out = vec![0; (range.end - range.start) as usize];
        self.read::<Fault>(&pieces, &mut |number, bytes| {
            let (from, to) =
                (places[number].max(range.start), (places[number] + bytes.len() as u64).min(range.end));
            let wanted = &bytes[(from - places[number]) as usize..(to - places[number]) as usize];
            out[(from - range.start) as usize..(to - range.start) as usize].copy_from_slice(wanted);
            Ok(())
        })?;
        Ok(out.into())
    }
}

fn overlapping(pieces: &[Piece], start: u64, range: &Range<u64>) -> (u64, Vec<Piece>) {
    let (mut at, mut first, mut found) = (start, None, Vec::new());
    for piece in pieces {
        let end = at + u64::from(piece.length);
        if at < range.end && range.start < end {
            first.get_or_insert(at);
            found.push(*piece);
        }
        at = end;
    }
    (first.unwrap_or(at), found)
}

impl ObjectStore for ChunkStore {
    fn shown(&self) -> String {
        self.0.store.shown()
    }

    fn abilities(&self) -> Abilities {
        ABILITIES
    }

    fn list(
        &self,
        prefix: &str,
        depth: Depth,
        _each: &mut dyn FnMut(Object) -> fault::Result<()>,
    ) -> fault::Result<()> {
        // A scan reads the manifest.
        let text = format!("`{}{prefix}` is listed by its manifest ({depth:?})", self.shown());
        Err(Fault::new(FaultKind::Unsupported, text))
    }

    fn stat(&self, key: &str) -> fault::Result<Object> {
        let entry = self.entry(key)?;
        Ok(object_of(key.to_owned(), &entry))
    }

    fn read(&self, key: &str, range: Range<u64>, tag: Option<&str>) -> fault::Result<Bytes> {
        let entry = self.entry(key)?;
        if tag.is_some_and(|tag| tag != entry.tag()) || range.end > entry.size {
            return Err(changed(&self.shown(), key));
        }
        self.0.content(&entry.content, range)
    }

    fn read_whole(&self, key: &str, most: u64) -> fault::Result<(Object, Bytes)> {
        let entry = self.entry(key)?;
        if entry.size > most {
            return Err(changed(&self.shown(), key));
        }
        let bytes = self.0.content(&entry.content, 0..entry.size)?;
        Ok((object_of(key.to_owned(), &entry), bytes))
    }

    fn write(&self, key: &str, content: Bytes, labels: &Labels) -> fault::Result<String> {
        let size = content.len() as u64;
        self.put(key, labels, size, Feed::whole(&self.0, &content)?)
    }

    fn begin(&self, key: &str, labels: &Labels, _at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        Ok(Box::new(Parts {
            store: self,
            key: key.to_owned(),
            labels: labels.clone(),
            feed: Feed::new(&self.0),
        }))
    }

    fn delete(&self, keys: &[String]) -> fault::Result<()> {
        keys.iter().try_for_each(|key| self.0.tell(&self.path(key)?.0, None))
    }

    fn copy(&self, from: &str, _to: &str) -> fault::Result<()> {
        Err(Fault::new(FaultKind::Unsupported, format!("`{}{from}` can't be copied in place", self.shown())))
    }
}

struct Parts<'a> {
    store: &'a ChunkStore,
    key: String,
    labels: Labels,
    feed: Feed<'a>,
}

impl Upload for Parts<'_> {
    fn part(&mut self, content: Bytes) -> fault::Result<()> {
        self.feed.push(&content)
    }

    fn finish(self: Box<Self>) -> fault::Result<String> {
        let Self { store, key, labels, feed } = *self;
        let (content, size) = feed.finish()?;
        store.put(&key, &labels, size, content)
    }

    fn discard(self: Box<Self>) {}
}
