//! Making further names at the destination, many at once.

use std::sync::Arc;

use store::{Errno, Kind, Root, meta_of_entry};

use super::super::making::{Names, open_or_make};
use super::super::side::Side;
use super::super::work::{Done, Hand, Task, Trouble, Work};
use super::super::{finish, one};
use super::{FILE, LED, leads, take_known, take_task};
use crate::index::Known;
use crate::job::Desk;

/// Names that one question asks for.
const AT_ONCE: usize = 500;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joining {
    /// A name of the file.
    pub from: Vec<u8>,
    /// The path that is to be another.
    pub to: Vec<u8>,
    /// What it must be: its size, and when its content changed, in seconds, as far as every file system keeps it.
    pub size: u64,
    pub seconds: i64,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// The file is not what it must be, or can have no further name: nothing happened.
    Not = 0,
    /// Both are names of one file now.
    Made = 1,
    /// They were before.
    Already = 2,
}

impl Joined {
    /// From an answer.
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [1] => Self::Made,
            [2] => Self::Already,
            _ => Self::Not,
        }
    }
}

/// Makes `joining.to` a name of the file `joining.from` of the same tree, in place of what has it.
pub fn join(root: &Root, names: &dyn Names, joining: &Joining) -> fault::Result<Joined> {
    let failed = |error| fault::Fault::os("link", &root.show(&joining.to), error);
    let ((from_dir, from_name), (dir, name)) =
        (store::split_last(&joining.from), store::split_last(&joining.to));
    let Ok(from) = root.open_dir(from_dir) else { return Ok(Joined::Not) };
    let Ok(file) = meta_of_entry(&from, from_name) else { return Ok(Joined::Not) };
    let is_right =
        file.kind == Kind::File && file.size == joining.size && file.mtime.seconds == joining.seconds;
    if !is_right {
        return Ok(Joined::Not);
    }
    let dir_fd = open_or_make(root, dir).map_err(failed)?;
    if meta_of_entry(&dir_fd, name)
        .is_ok_and(|there| (there.device, there.inode) == (file.device, file.inode))
    {
        return Ok(Joined::Already);
    }
    match store::publish_link(&from, from_name, &dir_fd, name, &names.name_in(dir)?) {
        Ok(()) => Ok(Joined::Made),
        // As many names as the file system allows, or a file system that allows one.
        Err(Errno::MLINK | Errno::PERM | Errno::OPNOTSUPP | Errno::XDEV | Errno::NOENT) => Ok(Joined::Not),
        Err(error) => Err(failed(error)),
    }
}

/// A name that the destination has, which others of its file are made from.
struct Leader {
    file: Box<[u8]>,
    path: Vec<u8>,
    known: Known,
}

/// Brings all names that were noted together at the destination.
pub fn join_all(work: &Work<'_>) -> fault::Result<()> {
    let mut joiner =
        Joiner { work, hand: Hand::default(), leader: None, waiting: Vec::new(), touched: vec![0] };
    for record in Desk::take(&work.links, work.scratch()).sorted()? {
        let record = record?;
        if work.stopping() {
            return Ok(());
        }
        let file: Box<[u8]> = record[..FILE].into();
        if joiner.leader.as_ref().is_some_and(|leader| leader.file != file) {
            joiner.leader = None;
        }
        let mut rest = &record[FILE + 1..];
        if record[FILE] != LED {
            joiner.follow(file, take_task(rest)?)?;
        } else if joiner.leader.is_none() {
            let (path, known) = take_known(&mut rest)?;
            joiner.leader = Some(Arc::new(Leader { file, path, known }));
        }
    }
    joiner.settle()
}

struct Joiner<'a, 'b> {
    work: &'a Work<'b>,
    hand: Hand,
    /// Of the file whose names come now.
    leader: Option<Arc<Leader>>,
    waiting: Vec<(Arc<Leader>, Task)>,
    /// The directory whose attributes were kept last.
    touched: Vec<u8>,
}

impl Joiner<'_, '_> {
    fn follow(&mut self, file: Box<[u8]>, task: Task) -> fault::Result<()> {
        let Some(leader) = &self.leader else {
            // The name that was to lead could not be done: this one does.
            self.leader = self.lead(file, &task)?;
            return Ok(());
        };
        self.waiting.push((leader.clone(), task));
        if self.waiting.len() >= AT_ONCE { self.settle() } else { Ok(()) }
    }

    /// Does a name as if it were the only one.
    fn lead(&mut self, file: Box<[u8]>, task: &Task) -> fault::Result<Option<Arc<Leader>>> {
        self.touch(&task.found.path)?;
        let done = one(self.work, &mut self.hand, task);
        let leader = match &done {
            Ok(Done::Known(known)) if leads(task, known) => {
                Some(Arc::new(Leader { file, path: task.found.path.clone(), known: *known }))
            }
            _ => None,
        };
        self.work.ended(&task.found.path, done);
        Ok(leader)
    }

    fn touch(&mut self, path: &[u8]) -> fault::Result<()> {
        let dir = store::split_last(path).0;
        if self.touched != dir {
            finish::touch(self.work, dir)?;
            self.touched = dir.to_vec();
        }
        Ok(())
    }

    /// Has the destination make the names that wait. What it can't make is brought like any other file.
    fn settle(&mut self) -> fault::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let mut latest: Option<Arc<Leader>> = None;
        for ((leader, task), joined) in waiting.iter().zip(self.join_many(&waiting)?) {
            let path = &task.found.path;
            match joined {
                Ok(Joined::Not) => {}
                joined => {
                    self.ended(path, leader, joined);
                    continue;
                }
            }
            if self.work.stopping() {
                return Ok(());
            }
            if let Some(again) = latest.clone().filter(|latest| latest.file == leader.file) {
                let pair = [(again.clone(), Task { found: task.found.clone(), old: None, ..*task })];
                match self.join_many(&pair)?.pop() {
                    Some(Ok(Joined::Not)) | None => {}
                    Some(joined) => {
                        self.ended(path, &again, joined);
                        continue;
                    }
                }
            }
            latest = self.lead(leader.file.clone(), task)?;
        }
        if latest.as_ref().is_some_and(|one| self.leader.as_ref().is_some_and(|now| now.file == one.file)) {
            self.leader = latest;
        }
        Ok(())
    }

    fn ended(&self, path: &[u8], leader: &Leader, joined: fault::Result<Joined>) {
        let work = self.work;
        let done = joined.map(|joined| {
            let counters = work.counters;
            if joined == Joined::Made { &counters.linked } else { &counters.skipped }.one();
            Done::Known(leader.known)
        });
        work.ended(path, done.map_err(Trouble::Item));
    }

    fn join_many(&mut self, pairs: &[(Arc<Leader>, Task)]) -> fault::Result<Vec<fault::Result<Joined>>> {
        let mut all = Vec::with_capacity(pairs.len());
        for (leader, task) in pairs {
            self.touch(&task.found.path)?;
            all.push(Joining {
                from: leader.path.clone(),
                to: task.found.path.clone(),
                size: leader.known.size,
                seconds: leader.known.mtime.seconds,
            });
        }
        match &self.work.destination {
            _ if all.is_empty() => Ok(Vec::new()),
            Side::Tree(root) => Ok(all.iter().map(|one| join(root, &self.work.drafts, one)).collect()),
            Side::Store(place) => place.far.as_ref().map_or(Ok(Vec::new()), |far| far.join(all)),
        }
    }
}
