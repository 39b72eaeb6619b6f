//! To a tree on another host, many at once, and from one.

use std::os::fd::AsFd as _;

use chunk::Id;
use store::objects::{Labels, Object};
use store::{Kind, Root, Stamp, read_full};

use super::super::labels::Posix;
use super::super::links;
use super::super::making::Making;
use super::super::side::Place;
use super::super::upload::Entry;
use super::super::work::{Done, Hand, PIECE, Task, Trouble, Work};
use super::moving::{Moved, Moving, take};
use super::{Belief, belief, own};
use crate::far::Far;
use crate::index::Known;
use crate::renames::Old;

/// Files that one question asks for, and bytes of what they have beside content.
const AT_ONCE: usize = 100;
const MOST_LABELS: usize = 1 << 20;

/// Files that are about to be renamed on a host.
#[derive(Default)]
pub struct Batch {
    tasks: Vec<(Task, Moving, Known)>,
    labels: usize,
    hand: Hand,
}

impl Batch {
    /// Adds a task; gives it back where it is to be done like any other. It is full when that is said.
    pub fn add(&mut self, work: &Work<'_>, root: &Root, task: Task) -> Result<bool, Box<Task>> {
        match begin(work, &mut self.hand, root, &task) {
            Ok(Some((moving, known))) => {
                self.labels += size_of(&moving.labels);
                self.tasks.push((task, moving, known));
                Ok(self.tasks.len() >= AT_ONCE || self.labels >= MOST_LABELS)
            }
            // A failure shows again when it is done alone.
            Ok(None) | Err(_) => Err(Box::new(task)),
        }
    }

    /// Has the host do it. Returns what it could not do.
    pub fn end(&mut self, work: &Work<'_>, far: &Far) -> fault::Result<Vec<Task>> {
        let tasks = std::mem::take(&mut self.tasks);
        self.labels = 0;
        let mut rest = Vec::new();
        if tasks.is_empty() {
            return Ok(rest);
        }
        if tasks.iter().any(|(_, moving, ..)| moving.from != moving.to) {
            work.owe()?;
        }
        for (_, moving, ..) in &tasks {
            super::super::finish::touch(work, store::split_last(&moving.from).0)?;
            super::super::finish::touch(work, store::split_last(&moving.to).0)?;
        }
        let asked = tasks.iter().map(|(_, moving, ..)| moving.clone()).collect();
        for ((task, moving, known), moved) in tasks.into_iter().zip(far.rename(asked)?) {
            match moved {
                Ok(moved @ (Moved::Renamed | Moved::Copied)) => {
                    note(work, &moving, moved);
                    let done = Ok(Done::Known(known));
                    links::led(work, &task, &done);
                    work.ended(&moving.to, done);
                }
                _ => rest.push(task),
            }
        }
        Ok(rest)
    }
}

/// A host did it.
fn note(work: &Work<'_>, moving: &Moving, moved: Moved) {
    if moving.from == moving.to {
        return work.counters.updated.one();
    }
    if moved == Moved::Renamed {
        let (dir, name) = store::split_last(&moving.from);
        work.ledger.gone(dir, name);
        work.counters.moved_away.one();
    }
    work.moved(moving.size);
}

/// Has a host set the attributes of a file whose content it has under its name. What the index should know; `None` where the
/// content must be sent.
pub fn dress(work: &Work<'_>, hand: &mut Hand, root: &Root, task: &Task) -> Result<Option<Known>, Trouble> {
    let Some(far) = work.destination_far() else { return Ok(None) };
    // Of a large one that was touched only what differs is sent anyway, and it is read once for that.
    let Some(old) = own(task).filter(|_| !is_retimed(task) || task.found.known.size <= PIECE) else {
        return Ok(None);
    };
    let Task { found, todo, known, replaces, .. } = task;
    let (found, old) = (found.clone(), Some(Box::new(old)));
    let asked = Task { found, todo: *todo, known: *known, replaces: *replaces, old };
    let Some((moving, known)) = begin(work, hand, root, &asked)? else { return Ok(None) };
    match far.rename(vec![moving.clone()])?.pop() {
        Some(Ok(moved @ (Moved::Renamed | Moved::Copied))) => {
            note(work, &moving, moved);
            Ok(Some(known))
        }
        _ => Ok(None),
    }
}

/// Whether somebody touched its content, or said so.
fn is_retimed(task: &Task) -> bool {
    task.known.is_some_and(|known| known.mtime != task.found.known.mtime)
}

fn size_of(labels: &Labels) -> usize {
    labels.iter().map(|(name, value)| name.len() + value.len()).sum()
}

type Begun = (Moving, Known);

/// What a host is to be asked, if the file of this tree is the one that had the old name.
fn begin(work: &Work<'_>, hand: &mut Hand, root: &Root, task: &Task) -> Result<Option<Begun>, Trouble> {
    let (path, wanted) = (&task.found.path, &task.found.known);
    let Some(old) = &task.old else { return Ok(None) };
    let entry = Entry::open(root, hand, path)?;
    let (Some(file), Kind::File) = (&entry.file, entry.meta.kind) else { return Ok(None) };
    let meta = &entry.meta;
    let same = (meta.size, meta.mtime, meta.inode) == (wanted.size, wanted.mtime, wanted.inode);
    if !same || meta.size == 0 {
        return Ok(None);
    }
    let sure = match belief(work, &old.known, meta.ctime) {
        Belief::No => false,
        Belief::Sure => true,
        Belief::ByHash => {
            Some(hash(work, &entry)?.short()) == old.known.id && entry.is_still(root, path, file)?
        }
    };
    let doubts = !work.believes_looks() || work.is_after_crash() || work.verifies();
    if !sure || doubts && old.known.id.is_none() {
        return Ok(None);
    }
    let posix = Posix::of(meta, entry.named(work.options.extended, root, path)?);
    let moving = Moving {
        from: store::below(&old.dir, &old.name),
        to: path.clone(),
        size: meta.size,
        mtime: old.known.mtime,
        id: old.known.id.filter(|_| doubts).map_or_else(Vec::new, |id| id.to_vec()),
        goes: old.goes,
        shared: posix.group.is_some() && old.known.inode == meta.inode,
        labels: posix.labels(&work.destination_store()?.abilities).0,
    };
    let known = Known { racy: work.is_racy(meta.ctime), id: old.known.id, ..Known::of(meta) };
    Ok(Some((moving, known)))
}

/// The hash of a file of this tree.
pub fn hash(work: &Work<'_>, entry: &Entry<'_>) -> Result<Id, Trouble> {
    let Some(file) = &entry.file else { return Err(Trouble::Vanished) };
    let (mut hasher, mut buffer, mut at) = (blake3::Hasher::new(), vec![0; 1 << 20], 0);
    loop {
        if work.stopping() {
            return Err(Trouble::Stopped);
        }
        let length = read_full(file.as_fd(), &mut buffer, at).map_err(|_| Trouble::Vanished)?;
        if length == 0 {
            return Ok(Id(*hasher.finalize().as_bytes()));
        }
        hasher.update(&buffer[..length]);
        work.counters.bytes_read.add(length as u64);
        at += length as u64;
    }
}

/// Brings a file of a host by renaming what this tree has of it, or by giving that other attributes. `None` where it must be
/// read after all.
pub fn fetch(
    work: &Work<'_>,
    place: &Place,
    making: &Making<'_>,
    task: &Task,
) -> Result<Option<Done>, Trouble> {
    let Some(far) = place.far.as_deref() else { return Ok(None) };
    // Of a large one that was touched only what differs is read anyway.
    let own = || own(task).filter(|_| !is_retimed(task) || task.found.known.size <= PIECE);
    let Some(old) = task.old.as_deref().cloned().or_else(own) else { return Ok(None) };
    let (key, known) = (&task.found.key, &task.found.known);
    let object = place.look(key)?;
    let sure = match belief(work, &old.known, known.ctime) {
        Belief::No => false,
        Belief::Sure => true,
        Belief::ByHash => Some(far.hash(key)?.1.short()) == old.known.id,
    };
    if sure { make(work, making, task, (&old, &object)) } else { Ok(None) }
}

/// Gives a file of this tree other attributes, where the host has said that its content is what is known. `None` where it must
/// be read after all.
pub fn dress_here(
    work: &Work<'_>,
    making: &Making<'_>,
    task: &Task,
    object: &Object,
) -> Result<Option<Done>, Trouble> {
    let Some(old) = own(task) else { return Ok(None) };
    make(work, making, task, (&old, object))
}

/// Makes a file of this tree from what it has of it.
fn make(
    work: &Work<'_>,
    making: &Making<'_>,
    task: &Task,
    (old, object): (&Old, &Object),
) -> Result<Option<Done>, Trouble> {
    let found = &task.found;
    let mut posix = Posix::read(object);
    posix.named = work.options.extended.of(posix.named);
    if object.size != found.known.size || posix.mtime != Some(found.known.mtime) || posix.spilled.is_some() {
        return Ok(None);
    }
    let doubts = !work.believes_looks() || work.is_after_crash() || work.verifies();
    if doubts && old.known.id.is_none() {
        return Ok(None);
    }
    let from = store::below(&old.dir, &old.name);
    if from != found.path {
        work.owe()?;
        super::super::finish::touch(work, &old.dir)?;
    }
    let moving = Moving {
        from,
        to: found.path.clone(),
        size: object.size,
        mtime: old.known.mtime,
        id: old.known.id.filter(|_| doubts).map_or_else(Vec::new, |id| id.to_vec()),
        goes: old.goes,
        shared: posix.group.is_some() && old.known.inode == found.known.inode,
        labels: Labels::new(),
    };
    match take(making, &moving, (&posix, Stamp::now()), work.options.extended)? {
        Moved::Not => return Ok(None),
        moved => note(work, &moving, moved),
    }
    let racy = work.is_racy_object(found);
    Ok(Some(Done::Known(Known { id: old.known.id, racy, ..found.known_as(object) })))
}
