//! Small entries of trees on other hosts, many at a time: a round trip for each would cost more than all of their content.

use std::sync::Mutex;
use std::sync::mpsc::Receiver;

use chunk::Id;
use store::objects::Bytes;
use store::{Kind, Root, read_full};

use super::labels::Posix;
use super::renames;
use super::side::{Place, Side};
use super::upload::Entry;
use super::work::{Done, Hand, Task, Todo, Trouble, Work};
use crate::chunked;
use crate::far::{Far, Writing};
use crate::index::Known;
use crate::job::lock;
use crate::options::Verify;

/// Entries of a batch.
const MOST: usize = 64;
/// Content up to this size is worth gathering, bytes.
const SMALL: u64 = 256 << 10;
/// Content of a batch, bytes.
const TOGETHER: u64 = 1 << 20;

fn far(side: &Side) -> Option<&Far> {
    match side {
        Side::Store(place) => place.far.as_deref(),
        Side::Tree(_) => None,
    }
}

/// How many entries a worker takes at once.
pub fn most(work: &Work<'_>) -> usize {
    let gathers = far(&work.source).or(far(&work.destination)).is_some() || work.source_chunks().is_some();
    if gathers { MOST } else { 1 }
}

fn weight(task: &Task) -> u64 {
    if task.found.known.kind == Kind::File { task.found.known.size } else { 0 }
}

/// The next entries: those that are there and together small; none at the end.
pub fn take(work: &Work<'_>, tasks: &Mutex<Receiver<Task>>) -> Vec<Task> {
    let tasks = lock(tasks);
    let Ok(first) = tasks.recv() else { return Vec::new() };
    let mut bytes = weight(&first);
    let mut some = vec![first];
    while some.len() < most(work) && bytes < TOGETHER {
        let Ok(next) = tasks.try_recv() else { break };
        bytes += weight(&next);
        some.push(next);
    }
    some
}

fn is_small(task: &Task) -> bool {
    weight(task) <= SMALL && task.todo != Todo::Check
}

/// Reads the small ones of a host, or of a chunk store, at once. What fails is read again in its turn.
pub fn read_ahead(work: &Work<'_>, hand: &mut Hand, tasks: &[Task]) {
    hand.ahead.clear();
    if let Some(chunked) = work.source_chunks() {
        let small: Vec<&Task> = tasks.iter().filter(|task| is_small(task)).collect();
        hand.ahead = chunked::read_ahead(chunked, &small);
        return;
    }
    let Some(far) = far(&work.source).filter(|_| tasks.len() > 1) else { return };
    let has_copies = matches!(work.destination, Side::Tree(_));
    let known = |task: &Task| renames::own(task).filter(|_| has_copies).and_then(|old| old.known.id);
    let keys: Vec<_> =
        tasks.iter().filter(|task| is_small(task)).map(|task| (&task.found.key[..], known(task))).collect();
    if let Ok(found) = far.read_many(&keys, SMALL) {
        hand.ahead = keys.into_iter().map(|(key, _)| key.to_owned()).zip(found).collect();
    }
}

/// An entry whose writing has begun.
pub enum Begun<'a> {
    /// A directory.
    Directory(Writing<'a>, Known),
    /// A file, with its hash and what its names have in common.
    File { writing: Writing<'a>, known: Known, id: Id, group: Option<[u8; 8]> },
}

/// Begins to write the small ones to a host, without waiting for any. What is not begun is done in its turn.
pub fn begin_all<'a>(work: &'a Work<'_>, hand: &mut Hand, tasks: &[Task]) -> Vec<Option<Begun<'a>>> {
    let (Side::Tree(root), Side::Store(place)) = (&work.source, &work.destination) else {
        return tasks.iter().map(|_| None).collect();
    };
    let Some(far) = place.far.as_deref() else { return tasks.iter().map(|_| None).collect() };
    let begin = |task: &Task| {
        let simple = task.todo == Todo::Copy && task.old.is_none() && !task.replaces && weight(task) <= SMALL;
        // A failure shows again when it is tried alone.
        if simple && !work.stopping() {
            begin(work, hand, (root, place, far), task).ok().flatten()
        } else {
            None
        }
    };
    tasks.iter().map(begin).collect()
}

fn begin<'a>(
    work: &'a Work<'_>,
    hand: &mut Hand,
    (root, place, far): (&Root, &Place, &'a Far),
    task: &Task,
) -> Result<Option<Begun<'a>>, Trouble> {
    let path = &task.found.path[..];
    let entry = Entry::open(root, hand, path)?;
    let known = Known::of(&entry.meta);
    let file = match (entry.meta.kind, &entry.file) {
        (Kind::Directory, _) => {
            return Ok(Some(Begun::Directory(far.make_directory_later(path)?, known)));
        }
        (Kind::File, Some(file)) if entry.meta.size <= SMALL => file,
        _ => return Ok(None),
    };
    let posix = Posix::of(&entry.meta, entry.named(work.options.extended, root, path)?);
    let mut bytes = vec![0; entry.meta.size as usize];
    let length = read_full(file, &mut bytes, 0).map_err(|_| Trouble::Vanished)?;
    if length < bytes.len() || !entry.is_still(root, path, file)? {
        return Ok(None);
    }
    work.throttle(length as u64);
    let id = Id::of(&bytes);
    let key = place.key(path, false).0;
    let writing = far.write_later(&key, Bytes::from(bytes), &posix.labels(&place.abilities).0)?;
    Ok(Some(Begun::File { writing, known, id, group: posix.group }))
}

impl Begun<'_> {
    /// Waits for its end.
    pub fn end(self, work: &Work<'_>, task: &Task) -> Result<Done, Trouble> {
        let path = &task.found.path;
        match self {
            Self::Directory(writing, known) => {
                if writing.made()? {
                    work.counters.made.one();
                }
                super::finish::later_far(work, path, Some(&known))?;
                Ok(Done::Later)
            }
            Self::File { writing, known, id, group } => {
                let tag = writing.end()?;
                work.passed(known.size);
                let place = work.destination_store()?;
                if work.options.verify != Verify::None {
                    super::upload::verify(work, place, &place.key(path, false).0, (known.size, &tag), &id)?;
                }
                work.counters.copied.one();
                if let Some(group) = group {
                    super::finish::link_later(work, group, path, id.short())?;
                }
                let racy = work.is_racy(known.ctime);
                Ok(Done::Known(Known { racy, id: Some(id.short()), ..known }))
            }
        }
    }
}
