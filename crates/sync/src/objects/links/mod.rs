//! Files with several names, where both sides are trees, one of them at least on another host: their content travels under one
//! name, and the destination makes the others from that. Which names belong together is known when all were seen, so that
//! they wait on disk, sorted by file.
//!
//! Object stores tell what belongs together only by labels, and have all the content under each name (`super::finish`).

mod join;

use store::Kind;

use super::scan::Found;
use super::side::Side;
use super::work::{Done, Task, Todo, Trouble, Work};
use crate::event::Act;
use crate::index::wire::{damaged, take_slice};
use crate::index::{Known, Section, SectionView};
use crate::job::lock;
use crate::spool::Spool;

pub use join::{Joined, Joining, join, join_all};

/// Bytes that stand for the file: device and inode.
const FILE: usize = 16;
/// What is there of it is read first: it leads, and all others follow.
const CHECKED: u8 = 0;
/// The destination has it already.
const SAME: u8 = 1;
/// The destination has the file as the last sync left it.
const KNOWN: u8 = 2;
/// The destination has something under the name.
const THERE: u8 = 3;
/// It has nothing.
const NEW: u8 = 4;
/// A name that the destination has by now.
const LED: u8 = 0;
/// A name that is to become one of the same file.
const FOLLOWS: u8 = 1;

/// Whether names of one file are told by the source, and made by the destination.
pub fn apply(work: &Work<'_>) -> bool {
    let is_tree = |side: &Side| match side {
        Side::Tree(_) => true,
        Side::Store(place) => place.far.is_some(),
    };
    is_tree(&work.source) && is_tree(&work.destination)
}

/// Names of files with several, as the plan meets them.
pub struct Waiting {
    apply: bool,
    spool: Spool,
}

impl Waiting {
    /// None yet.
    pub fn new(work: &Work<'_>) -> Self {
        Self { apply: apply(work), spool: Spool::new(work.scratch()) }
    }

    /// Whether an entry waits for other names of its file.
    pub fn wait_for(&self, found: &Found) -> bool {
        self.apply && found.linked_on.is_some()
    }

    /// A name that is as it was.
    pub fn same(&mut self, found: Found, known: Known) -> fault::Result<()> {
        let task = Task { found, todo: Todo::Check, known: Some(known), replaces: false, old: None };
        self.push(SAME, &task)
    }

    /// A name with which something is to be done; `there` where the destination has something under it.
    pub fn add(&mut self, task: &Task, there: bool) -> fault::Result<()> {
        let is_of_file = |known: Known| known.id.is_some() && known.inode == task.found.known.inode;
        let rank = match task.todo {
            Todo::Check => CHECKED,
            _ if task.known.is_some_and(is_of_file) => KNOWN,
            _ if there => THERE,
            _ => NEW,
        };
        self.push(rank, task)
    }

    fn push(&mut self, rank: u8, task: &Task) -> fault::Result<()> {
        let mut record = file_of(&task.found);
        record.push(rank);
        put_task(&mut record, task);
        self.spool.push(&record)
    }

    /// All were seen: gives the name of each file that leads to `lead`, with whether the destination has nothing of it. The
    /// others follow when it is there.
    pub fn end(
        self,
        work: &Work<'_>,
        lead: &mut dyn FnMut(Task, bool) -> fault::Result<bool>,
    ) -> fault::Result<()> {
        if self.spool.count() == 0 {
            return Ok(());
        }
        let mut first: Option<Box<[u8]>> = None;
        // Nobody follows yet a name that the destination has.
        let mut silent = false;
        for record in self.spool.sorted()? {
            let record = record?;
            let rank = record[FILE];
            match first.as_ref().filter(|first| first[..FILE] == record[..FILE]) {
                None => {
                    silent = rank == SAME;
                    if !silent && !lead(take_task(&record[FILE + 1..])?, rank == NEW)? {
                        return Ok(());
                    }
                    first = Some(record);
                }
                Some(first) if rank == SAME && first[FILE] == SAME => {}
                Some(first) => {
                    let task = take_task(&record[FILE + 1..])?;
                    if std::mem::take(&mut silent) {
                        let leader = take_task(&first[FILE + 1..])?;
                        note_led(work, &leader, &leader.known.unwrap_or(leader.found.known))?;
                    }
                    follow_later(work, &record, &task)?;
                }
            }
        }
        Ok(())
    }
}

fn follow_later(work: &Work<'_>, record: &[u8], task: &Task) -> fault::Result<()> {
    if work.options.dry_run {
        work.planned(Act::Link, &task.found);
        return Ok(());
    }
    let mut follows = record.to_vec();
    follows[FILE] = FOLLOWS;
    lock(&work.links).push(&follows)
}

/// Takes note of a name that is at the destination now. Of another file, which has got the name since, nothing can follow.
pub fn led(work: &Work<'_>, task: &Task, done: &Result<Done, Trouble>) {
    let Ok(Done::Known(known)) = done else { return };
    if apply(work)
        && leads(task, known)
        && let Err(fault) = note_led(work, task, known)
    {
        work.end(fault);
    }
}

fn leads(task: &Task, known: &Known) -> bool {
    let found = &task.found;
    found.linked_on.is_some() && known.kind == Kind::File && known.inode == found.known.inode
}

fn note_led(work: &Work<'_>, task: &Task, known: &Known) -> fault::Result<()> {
    let mut record = file_of(&task.found);
    record.push(LED);
    put_known(&mut record, &task.found.path, known);
    lock(&work.links).push(&record)
}

fn file_of(found: &Found) -> Vec<u8> {
    let mut record = found.linked_on.unwrap_or_default().to_be_bytes().to_vec();
    record.extend_from_slice(&found.known.inode.to_be_bytes());
    record
}

fn put_known(record: &mut Vec<u8>, path: &[u8], known: &Known) {
    let (dir, name) = store::split_last(path);
    let mut section = Section::default();
    section.push(name, known);
    section.put(record, dir);
}

fn take_known(from: &mut &[u8]) -> fault::Result<(Vec<u8>, Known)> {
    let view = SectionView::take(from)?;
    let mut entries = view.entries();
    let (name, known) = entries.next()?.ok_or_else(damaged)?;
    Ok((store::below(view.dir, name), known))
}

const TODOS: [Todo; 4] = [Todo::Copy, Todo::Compare, Todo::Check, Todo::Recheck];

fn put_task(record: &mut Vec<u8>, task: &Task) {
    let todo = TODOS.iter().position(|todo| *todo == task.todo).unwrap_or(0) as u8;
    record.extend_from_slice(&[todo, u8::from(task.replaces), u8::from(task.known.is_some())]);
    if let Some(known) = &task.known {
        put_known(record, &task.found.path, known);
    }
    task.found.put(record);
}

fn take_task(mut from: &[u8]) -> fault::Result<Task> {
    let from = &mut from;
    let flags = take_slice(from, 3)?;
    let todo = *TODOS.get(usize::from(flags[0])).ok_or_else(damaged)?;
    let known = if flags[2] == 1 { Some(take_known(from)?.1) } else { None };
    Ok(Task { found: Found::take(from)?, todo, known, replaces: flags[1] == 1, old: None })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::known_for_tests;

    proptest! {
        #[test]
        fn tasks_are_read_again(
            known in proptest::option::of(known_for_tests()),
            path in "[a-z]{1,9}(/[a-z]{1,9}){0,3}",
            todo in 0usize..4,
            replaces: bool,
            device: Option<u64>,
        ) {
            let mut found = Found::of_known(path.into_bytes(), Known { id: None, racy: false, ..known_of(known) });
            found.linked_on = device;
            found.known.linked = device.is_some();
            let task = Task { found, todo: TODOS[todo], known, replaces, old: None };
            let mut record = Vec::new();
            put_task(&mut record, &task);
            let again = take_task(&record).unwrap();
            prop_assert_eq!((again.found, again.todo, again.known, again.replaces),
                (task.found, task.todo, task.known, task.replaces));
        }

        #[test]
        fn no_record_panics(bytes: Vec<u8>) {
            let _ = take_task(&bytes);
            let _ = take_known(&mut &bytes[..]);
        }
    }

    fn known_of(known: Option<Known>) -> Known {
        known.unwrap_or(Known {
            kind: Kind::File,
            racy: false,
            linked: false,
            size: 1,
            mtime: store::Stamp::default(),
            ctime: store::Stamp::default(),
            inode: 3,
            mode: 0o600,
            uid: 0,
            gid: 0,
            id: None,
        })
    }
}
