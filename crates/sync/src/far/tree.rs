//! A tree on another host, as we see it: an object store whose objects are its entries, and what only a tree can.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use chunk::{Chunk, Cutter};
use fault::{Fault, Kind};
use store::Extended;
use store::objects::{Abilities, Bytes, Depth, Labels, Object, ObjectStore, Upload, path_of};

use super::content::take_content;
use super::line::{Line, Pending};
use super::parts::Parts;
use super::words::{Ask, Listed, Opened, Opening, Wanted, foreign, take_object, take_outcome};
use super::{Address, Reach};
use crate::index::wire::{take, take_slice, take_u32};
use crate::objects::{Joined, Joining, Moved, Moving};

/// The key of the root, and what is reserved at the start of a key.
const ROOT: &str = ".forebay/root";
const OWN: &str = ".forebay";
/// Lost connections are found by ssh; an agent that hears nothing for long ends.
const PATIENCE: Duration = Duration::from_mins(1);

/// What such a tree can.
pub const ABILITIES: Abilities = Abilities {
    labels: true,
    most_label_bytes: 4 << 20,
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

/// What a sync does with a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// It is read.
    Source,
    /// It is written to, with drafts of this name; made if it is not there.
    Destination { drafts: String },
    /// It is compared with, and nothing is written.
    Look,
}

/// An open tree on another host.
#[derive(Debug)]
pub struct Far {
    lines: Vec<Arc<Line>>,
    next: AtomicUsize,
    uploads: AtomicU64,
    shown: String,
    /// What the agent says of it.
    pub opened: Opened,
}

/// [`Far`] as an object store.
#[derive(Debug, Clone)]
pub struct FarStore(pub Arc<Far>);

/// An entry that was read: what it is, and its content, if that is not what was known.
pub type Entry = (Object, Option<Bytes>);

impl Far {
    /// Connects, and opens the tree.
    pub fn open(
        address: &Address,
        role: &Role,
        extended: Extended,
        reach: &Reach,
    ) -> fault::Result<Arc<Self>> {
        let options = fleet::ssh::Options {
            ssh: reach.ssh.clone(),
            push: reach.push,
            allow_lost: 0,
            patience: PATIENCE,
            fan_out: 1,
            task: reach.task.clone(),
            tell: reach.tell.clone(),
            cancelled: reach.cancelled,
        };
        let count = if *role == Role::Look { 1 } else { reach.connections };
        let lines = fleet::ssh::connect(&address.host, count, &options)?;
        let lines: Vec<Arc<Line>> = lines.into_iter().map(|line| Line::new(line, reach.compress)).collect();
        let shown = address.to_string();
        let mut opened = Opened::default();
        for (number, line) in lines.iter().enumerate() {
            let (writes, drafts) = match role {
                Role::Destination { drafts } => (true, drafts.clone()),
                Role::Source | Role::Look => (false, String::new()),
            };
            let first = number == 0;
            let (path, shown) = (address.path.clone(), shown.clone());
            let (locks, compress) = (writes && first, reach.compress);
            let opening = Opening { path, shown, writes, locks, drafts, extended, compress };
            let answer = line.ask(&Ask::Open(opening))?.answer()?;
            let found = Opened::take(&answer)?;
            if first {
                opened = found;
            } else if found.identity != opened.identity {
                let text = format!("`{address}` is another tree than it was a moment ago");
                return Err(
                    Fault::new(Kind::Refused, text).hint("is something being mounted there? try again")
                );
            }
        }
        let shown = if shown.ends_with('/') { shown } else { shown + "/" };
        Ok(Arc::new(Self { lines, next: AtomicUsize::new(0), uploads: AtomicU64::new(0), shown, opened }))
    }

    /// As people write it, ending with a slash.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The failure of a connection that is lost, if one is.
    pub fn lost(&self) -> Option<Fault> {
        self.lines.iter().find(|line| line.is_lost()).map(|line| line.lost())
    }

    fn line(&self) -> &Line {
        &self.lines[self.next.fetch_add(1, Ordering::Relaxed) % self.lines.len()]
    }

    /// Asks, without waiting.
    fn ask(&self, ask: &Ask) -> fault::Result<Pending<'_>> {
        self.line().ask(ask)
    }

    fn done(&self, ask: &Ask) -> fault::Result<Vec<u8>> {
        self.ask(ask)?.answer()
    }

    /// Gives everything that the tree has to `each`.
    pub fn list(
        &self,
        wanted: &Wanted,
        each: &mut dyn FnMut(Listed) -> fault::Result<()>,
    ) -> fault::Result<()> {
        let answers = self.line().ask_for_many(&Ask::List(wanted.clone()))?;
        answers.each(&mut |item| each(Listed::take(&item)?)).map(drop)
    }

    /// Reads several small entries at once, without the content of those whose hash begins like this.
    pub fn read_many(
        &self,
        keys: &[(&str, Option<[u8; 16]>)],
        most: u64,
    ) -> fault::Result<Vec<fault::Result<Entry>>> {
        let known = |id: &Option<[u8; 16]>| id.map_or_else(Vec::new, |id| id.to_vec());
        let asked = keys.iter().map(|(key, id)| Ok((path(key)?, known(id)))).collect::<fault::Result<_>>()?;
        let answer = self.done(&Ask::Whole(asked, most))?;
        let mut rest = &answer[..];
        keys.iter()
            .map(|(key, _)| take_outcome(&mut rest).map(|found| found.and_then(|bytes| entry(bytes, key))))
            .collect()
    }

    /// Begins to write a whole entry.
    pub fn write_later(&self, key: &str, content: Bytes, labels: &Labels) -> fault::Result<Writing<'_>> {
        let ask = Ask::Write { path: path(key)?, labels: labels.clone(), content };
        self.ask(&ask).map(Writing)
    }

    /// Makes a directory, in place of what is none.
    pub fn make_directory(&self, path: &[u8]) -> fault::Result<bool> {
        self.make_directory_later(path)?.made()
    }

    /// Begins to make a directory.
    pub fn make_directory_later(&self, path: &[u8]) -> fault::Result<Writing<'_>> {
        self.ask(&Ask::Directory(path.to_vec())).map(Writing)
    }

    /// Makes `to` a name of `from`, if both are alike; whether it is one now.
    pub fn link(&self, from: &[u8], to: &[u8]) -> fault::Result<bool> {
        self.done(&Ask::Link(from.to_vec(), to.to_vec())).map(|made| made == [1])
    }

    /// Sets the attributes of directories, in this order; whether each is there.
    pub fn finish(&self, directories: Vec<(Vec<u8>, Labels)>) -> fault::Result<Vec<fault::Result<bool>>> {
        let count = directories.len();
        self.outcomes(&Ask::Finish(directories), count)
    }

    /// Has files get other names, in this order; what became of each.
    pub fn rename(&self, all: Vec<Moving>) -> fault::Result<Vec<fault::Result<Moved>>> {
        let count = all.len();
        let answer = self.done(&Ask::Rename(all))?;
        let mut rest = &answer[..];
        (0..count).map(|_| take_outcome(&mut rest).map(|done| done.map(Moved::of))).collect()
    }

    /// Makes paths further names of files, in this order; what became of each.
    pub fn join(&self, all: Vec<Joining>) -> fault::Result<Vec<fault::Result<Joined>>> {
        let count = all.len();
        let answer = self.done(&Ask::Join(all))?;
        let mut rest = &answer[..];
        (0..count).map(|_| take_outcome(&mut rest).map(|done| done.map(Joined::of))).collect()
    }

    /// Removes entries, in this order; whether each was there.
    pub fn delete(&self, trash: &str, paths: Vec<Vec<u8>>) -> fault::Result<Vec<fault::Result<bool>>> {
        let count = paths.len();
        self.outcomes(&Ask::Delete { trash: trash.as_bytes().to_vec(), paths }, count)
    }

    fn outcomes(&self, ask: &Ask, count: usize) -> fault::Result<Vec<fault::Result<bool>>> {
        let answer = self.done(ask)?;
        let mut rest = &answer[..];
        (0..count).map(|_| take_outcome(&mut rest).map(|done| done.map(|bytes| bytes == [1]))).collect()
    }

    /// The size and the hash of a content.
    pub fn hash(&self, key: &str) -> fault::Result<(u64, chunk::Id)> {
        let answer = self.done(&Ask::Hash(path(key)?))?;
        let mut rest = &answer[..];
        let size = take(&mut rest).map_err(|_| foreign())?;
        Ok((size, chunk::Id(rest.try_into().map_err(|_| foreign())?)))
    }

    /// Begins a file that takes what it can from the copy that is there.
    pub fn begin_from(&self, key: &str, labels: &Labels, at_once: usize) -> fault::Result<Parts<'_>> {
        self.begin(key, labels, at_once, true)
    }

    fn begin(&self, key: &str, labels: &Labels, at_once: usize, from_old: bool) -> fault::Result<Parts<'_>> {
        let (line, path) = (self.line(), path(key)?);
        let upload = self.uploads.fetch_add(1, Ordering::Relaxed);
        line.ask(&Ask::Begin { upload, path: path.clone(), from_old })?.answer()?;
        Ok(Parts::new(line, upload, path, labels.clone(), at_once))
    }

    /// Begins a file, or goes on with what an earlier try left of it, of which the size is returned.
    pub fn go_on(&self, key: &str, labels: &Labels, at_once: usize) -> fault::Result<(Parts<'_>, u64)> {
        let (line, path) = (self.line(), path(key)?);
        let upload = self.uploads.fetch_add(1, Ordering::Relaxed);
        let answer = line.ask(&Ask::GoOn { upload, path: path.clone() })?.answer()?;
        let size = take(&mut &answer[..]).map_err(|_| foreign())?;
        Ok((Parts::new(line, upload, path, labels.clone(), at_once), size))
    }

    /// Begins to ask for the hashes of leaves, while the file has this tag.
    pub fn sums_later(&self, key: &str, range: Range<u64>, tag: &str) -> fault::Result<Summing<'_>> {
        let (path, tag) = (path(key)?, tag.to_owned());
        self.ask(&Ask::Sums { path, from: range.start, to: range.end, tag }).map(Summing)
    }

    /// Begins to read a piece, while the file has this tag.
    pub fn read_later(&self, key: &str, range: Range<u64>, tag: &str) -> fault::Result<Reading<'_>> {
        let (path, tag) = (path(key)?, tag.to_owned());
        let length = range.end.saturating_sub(range.start);
        let pending = self.ask(&Ask::Read { path, from: range.start, to: range.end, tag })?;
        Ok(Reading { pending, length })
    }

    /// Gives every chunk of a file to `each`, in order, while the file has this tag. Returns the hash of it all.
    pub fn chunks(
        &self,
        key: &str,
        cutter: Cutter,
        tag: &str,
        each: &mut dyn FnMut(Chunk),
    ) -> fault::Result<chunk::Id> {
        let ask = Ask::Chunks { path: path(key)?, average: cutter.average() as u64, tag: tag.to_owned() };
        let mut offset = 0u64;
        let end = self.line().ask_for_many(&ask)?.each(&mut |item| {
            let Listed::Chunks(chunks) = Listed::take(&item)? else { return Err(foreign()) };
            let mut rest = &chunks[..];
            while !rest.is_empty() {
                let length = take_u32(&mut rest).map_err(|_| foreign())?;
                let id =
                    take_slice(&mut rest, 16).ok().and_then(|id| id.try_into().ok()).ok_or_else(foreign)?;
                each(Chunk { offset, length, id });
                offset = offset.checked_add(length.into()).ok_or_else(foreign)?;
            }
            Ok(())
        })?;
        end.try_into().map(chunk::Id).map_err(|_| foreign())
    }

    /// All that was written is durable afterwards.
    pub fn sync(&self) -> fault::Result<()> {
        self.done(&Ask::Sync).map(drop)
    }

    /// Removes drafts that a killed job left in these directories.
    pub fn clean(&self, directories: &[Vec<u8>]) -> fault::Result<()> {
        for some in directories.chunks(1000) {
            self.done(&Ask::Clean(some.to_vec()))?;
        }
        Ok(())
    }

    /// The same for those that nobody goes on with any more.
    pub fn sweep(&self, directories: &[Vec<u8>]) -> fault::Result<()> {
        for some in directories.chunks(1000) {
            self.done(&Ask::Sweep(some.to_vec()))?;
        }
        Ok(())
    }
}

/// Hashes that are on their way.
pub struct Summing<'a>(pub(super) Pending<'a>);

impl Summing<'_> {
    /// Waits for them: as many as the file has there.
    pub fn ids(self) -> fault::Result<Vec<chunk::Id>> {
        let answer = self.0.answer()?;
        let (ids, rest) = answer.as_chunks::<32>();
        if rest.is_empty() { Ok(ids.iter().copied().map(chunk::Id).collect()) } else { Err(foreign()) }
    }
}

/// A piece that is on its way.
pub struct Reading<'a> {
    pending: Pending<'a>,
    length: u64,
}

impl Reading<'_> {
    /// Waits for it: all of it.
    pub fn content(self) -> fault::Result<Bytes> {
        let content = take_content(&mut &self.pending.answer()?[..])?;
        if content.len() as u64 == self.length { Ok(content) } else { Err(foreign()) }
    }
}

/// A write that is on its way.
pub struct Writing<'a>(Pending<'a>);

impl Writing<'_> {
    /// Waits for its end; the entry's tag.
    pub fn end(self) -> fault::Result<String> {
        self.0.answer().map(|tag| text(&tag))
    }

    /// Waits for its end; whether a directory was made.
    pub fn made(self) -> fault::Result<bool> {
        self.0.answer().map(|made| made == [1])
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The path of a key.
fn path(key: &str) -> fault::Result<Vec<u8>> {
    if key == ROOT {
        return Ok(Vec::new());
    }
    let name = key.strip_suffix('/').unwrap_or(key);
    path_of(name, OWN).ok_or_else(|| {
        Fault::new(Kind::Unsupported, format!("the key `{key}` can't be a path"))
            .hint("give the object another key")
    })
}

fn entry(mut bytes: &[u8], key: &str) -> fault::Result<Entry> {
    let object = take_object(&mut bytes, key)?;
    // What is known does not travel.
    let content = if bytes.is_empty() { None } else { Some(take_content(&mut bytes)?) };
    Ok((object, content))
}

impl ObjectStore for FarStore {
    fn shown(&self) -> String {
        self.0.shown.clone()
    }

    fn abilities(&self) -> Abilities {
        ABILITIES
    }

    fn list(
        &self,
        _prefix: &str,
        _depth: Depth,
        _each: &mut dyn FnMut(Object) -> fault::Result<()>,
    ) -> fault::Result<()> {
        let text = format!("`{}` is listed as a tree", self.0.shown);
        Err(Fault::new(Kind::Bug, text))
    }

    fn stat(&self, key: &str) -> fault::Result<Object> {
        let answer = self.0.done(&Ask::Look(path(key)?))?;
        take_object(&mut &answer[..], key)
    }

    fn read(&self, key: &str, range: Range<u64>, tag: Option<&str>) -> fault::Result<Bytes> {
        self.0.read_later(key, range, tag.unwrap_or_default())?.content()
    }

    fn read_whole(&self, key: &str, most: u64) -> fault::Result<(Object, Bytes)> {
        let (object, content) = self.0.read_many(&[(key, None)], most)?.pop().ok_or_else(foreign)??;
        Ok((object, content.ok_or_else(foreign)?))
    }

    fn write(&self, key: &str, content: Bytes, labels: &Labels) -> fault::Result<String> {
        self.0.write_later(key, content, labels)?.end()
    }

    fn begin(&self, key: &str, labels: &Labels, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        Ok(Box::new(self.0.begin(key, labels, at_once, false)?))
    }

    fn delete(&self, keys: &[String]) -> fault::Result<()> {
        let paths = keys.iter().map(|key| path(key)).collect::<fault::Result<_>>()?;
        self.0.delete("", paths)?.into_iter().try_for_each(|done| done.map(drop))
    }

    fn copy(&self, _from: &str, _to: &str) -> fault::Result<()> {
        Err(Fault::new(Kind::Unsupported, format!("`{}` copies nothing by itself", self.0.shown)))
    }
}
