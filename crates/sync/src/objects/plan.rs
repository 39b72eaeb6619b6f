//! What is to be done: the source, the last sync's index and, if need be, the destination, joined in one order.

use std::collections::HashSet;

use fault::{Fault, Kind as FaultKind};
use store::Kind;

use super::known::KnownStream;
use super::links::Waiting;
use super::remove::{self, Extras};
use super::renames::{self, Batch, Renames};
use super::scan::{Found, Stream};
use super::side::Side;
use super::work::{Task, Todo, Trouble, Work};
use super::{finish, making};
use crate::deletes::TRASH;
use crate::event::Act;
use crate::far::Far;
use crate::filter::Chain;
use crate::index::Known;

/// The sides in order.
pub struct Sides {
    pub source: Stream,
    pub known: KnownStream,
    /// Only where the destination was looked at.
    pub there: Option<Stream>,
    /// Directories of the source whose content is not known.
    pub unseen: HashSet<Vec<u8>>,
}

/// Goes through all sides at once. Tasks go to `give`, which says whether to go on.
pub fn plan(
    work: &Work<'_>,
    mut sides: Sides,
    extras: &mut Extras,
    give: &mut dyn FnMut(Task) -> bool,
) -> fault::Result<()> {
    let unseen = std::mem::take(&mut sides.unseen);
    let mut planner = Planner {
        work,
        unseen,
        extras,
        give,
        touched: None,
        renames: Renames::new(work),
        names: Waiting::new(work),
        batch: Batch::default(),
    };
    let listed = sides.there.is_some();
    loop {
        let there_place = sides.there.as_ref().and_then(Stream::place);
        let heads = [sides.source.place(), sides.known.place(), there_place];
        let Some(place) = heads.into_iter().flatten().min().map(<[u8]>::to_vec) else {
            return planner.end();
        };
        if work.stopping() {
            return Ok(());
        }
        let source = sides.source.take(&place)?;
        let known = sides.known.take(&place)?;
        let there = match &mut sides.there {
            Some(stream) => stream.take(&place)?.map(|(found, _)| found),
            None => None,
        };
        let go_on = match source {
            Some((found, others)) if others.is_empty() => {
                planner.entry(found, known.map(|(_, known)| known), there, listed)?
            }
            Some((found, _)) => planner.clash(&found),
            None => planner.extra(known, there, listed)?,
        };
        if !go_on {
            return Ok(());
        }
    }
}

struct Planner<'a, 'b> {
    work: &'a Work<'b>,
    unseen: HashSet<Vec<u8>>,
    extras: &'a mut Extras,
    give: &'a mut dyn FnMut(Task) -> bool,
    /// The directory of the tree whose attributes were kept last.
    touched: Option<Vec<u8>>,
    renames: Renames,
    /// Names of files with several.
    names: Waiting,
    batch: Batch,
}

/// Whether nothing has changed since the last sync.
fn is_still(known: &Known, found: &Known) -> bool {
    !known.racy
        && known.kind == found.kind
        && known.size == found.size
        && known.mtime == found.mtime
        && known.ctime == found.ctime
        && known.inode == found.inode
}

/// Whether only the clock's tick makes it doubtful that nothing has changed.
fn may_be_same(known: &Known, found: &Known) -> bool {
    known.kind == Kind::File
        && known.racy
        && known.id.is_some()
        && is_still(&Known { racy: false, ..*known }, found)
}

impl Planner<'_, '_> {
    fn entry(
        &mut self,
        found: Found,
        known: Option<Known>,
        there: Option<Found>,
        listed: bool,
    ) -> fault::Result<bool> {
        let work = self.work;
        let is_directory = found.known.kind == Kind::Directory;
        let is_file = |found: &Found| found.known.kind == Kind::File;
        let resized = there
            .as_ref()
            .is_some_and(|there| is_file(there) && is_file(&found) && there.known.size != found.known.size);
        let still = known.as_ref().is_some_and(|known| same(&found, known))
            && (!listed || there.is_some() && !resized);
        let newer = there.as_ref().is_some_and(|there| {
            there.known.kind == Kind::File && there.known.mtime.as_nanos() > found.known.mtime.as_nanos()
        });
        let todo = match (&known, &there) {
            _ if still && is_directory => None,
            _ if still => work.wants_check(&found.path).then_some(Todo::Check),
            _ if work.options.update && newer && !is_directory => None,
            (None, Some(there)) if there.known.kind == found.known.kind && work.believes_looks() => {
                Some(Todo::Compare)
            }
            (Some(known), _)
                if may_be_same(known, &found.known) && (!listed || there.is_some() && !resized) =>
            {
                Some(Todo::Recheck)
            }
            _ => Some(Todo::Copy),
        };
        let Some(todo) = todo else {
            work.counters.skipped.one();
            if let Some(known) = known.filter(|_| still && self.names.wait_for(&found)) {
                self.names.same(found, known)?;
            }
            return Ok(true);
        };
        let is_new = known.is_none() && there.is_none();
        let old = there.map(|there| there.known.kind).or(known.map(|known| known.kind));
        let replaces = old.is_some_and(|old| (old == Kind::Directory) != is_directory);
        let task = Task { found, todo, known, replaces, old: None };
        if self.names.wait_for(&task.found) {
            return self.names.add(&task, !is_new).map(|()| true);
        }
        self.go(task, is_new)
    }

    /// Has an entry done, now or when everything was seen.
    fn go(&mut self, task: Task, is_new: bool) -> fault::Result<bool> {
        let work = self.work;
        if work.options.dry_run {
            work.planned(if is_new { Act::Create } else { Act::Change }, &task.found);
            return Ok(true);
        }
        if task.todo == Todo::Copy && is_new && self.renames.waits(work, &task.found)? {
            return Ok(true);
        }
        match renames::itself(work, &task) {
            Some(old) => self.together(Task { old: Some(Box::new(old)), ..task }),
            None => self.start(task),
        }
    }

    /// Hands a task to the workers. Its directory is there.
    fn start(&mut self, task: Task) -> fault::Result<bool> {
        let (work, found) = (self.work, &task.found);
        if task.todo != Todo::Check && !found.path.is_empty() {
            self.touch(store::split_last(&found.path).0)?;
            if found.known.kind == Kind::Directory
                && let Side::Tree(root) = &work.destination
            {
                match making::make_directory(root, &found.path) {
                    Ok(true) => work.counters.made.one(),
                    Ok(false) => {}
                    Err(fault) => {
                        work.ended(&found.path, Err(Trouble::Item(fault)));
                        return Ok(true);
                    }
                }
            }
        }
        Ok((self.give)(task))
    }

    /// Everything was seen: what waited is renamed, or done like anything else.
    fn end(mut self) -> fault::Result<()> {
        let work = self.work;
        let names = std::mem::replace(&mut self.names, Waiting::new(work));
        names.end(work, &mut |task, is_new| self.go(task, is_new))?;
        let renames = std::mem::replace(&mut self.renames, Renames::new(work));
        renames.end(work, &mut |task| {
            if task.old.is_some() { self.together(task) } else { self.start(task) }
        })?;
        work.destination_far().map_or(Ok(()), |far| self.end_batch(far))
    }

    /// Where another host has the content of a file already: many are asked for at once.
    fn together(&mut self, task: Task) -> fault::Result<bool> {
        let work = self.work;
        let (Side::Tree(root), Some(far)) = (&work.source, work.destination_far()) else {
            return self.start(task);
        };
        match self.batch.add(work, root, task) {
            Ok(false) => {}
            Ok(true) => self.end_batch(far)?,
            Err(task) => return self.start(Task { old: None, ..*task }),
        }
        Ok(!work.stopping())
    }

    fn end_batch(&mut self, far: &Far) -> fault::Result<()> {
        let rest = self.batch.end(self.work, far)?;
        rest.into_iter().try_for_each(|task| self.start(Task { old: None, ..task }).map(drop))
    }

    /// Something in a directory of the tree is about to change.
    fn touch(&mut self, dir: &[u8]) -> fault::Result<()> {
        if self.touched.as_deref() != Some(dir) {
            finish::touch(self.work, dir)?;
            self.touched = Some(dir.to_vec());
        }
        Ok(())
    }

    fn clash(&self, found: &Found) -> bool {
        let text = format!(
            "`{}` is a file, and a directory or file of the same path is there too",
            self.work.source.show(&found.path)
        );
        let fault =
            Fault::new(FaultKind::Unsupported, text).hint("a tree can hold one of them: rename the other");
        self.work.ended(&found.path, Err(Trouble::Item(fault)));
        true
    }

    /// What the source has not.
    fn extra(
        &mut self,
        known: Option<(Vec<u8>, Known)>,
        there: Option<Found>,
        listed: bool,
    ) -> fault::Result<bool> {
        let is_there = !listed || there.is_some();
        let left = known.as_ref().filter(|_| is_there).map(|(path, known)| (path.clone(), *known));
        let goes = is_there && self.goes(known, there)?;
        if let Some((path, known)) = left {
            self.renames.left(&path, &known, goes)?;
        }
        Ok(true)
    }

    /// Whether what the source has not goes from the destination; it is noted then.
    fn goes(&mut self, known: Option<(Vec<u8>, Known)>, there: Option<Found>) -> fault::Result<bool> {
        let (work, filter) = (self.work, &self.work.options.filter);
        if work.options.delete.is_none() {
            return Ok(false);
        }
        let Some(found) = there.or_else(|| known.map(|(path, known)| Found::of_known(path, known))) else {
            return Ok(false);
        };
        let path = &found.path[..];
        let may = |is_dir| filter.allows_name(&Chain::default(), path, is_dir);
        let is_ours = path == TRASH || path.starts_with(&[TRASH, b"/"].concat()) || path.is_empty();
        let name = store::split_last(path).1;
        if is_ours
            || found.implied
            || work.drafts.is_one(name)
            || self.is_unseen(path)
            || !(may(true) && may(false))
        {
            return Ok(false);
        }
        if work.options.dry_run {
            remove::plan(work, &found);
        }
        self.extras.push(&found)?;
        Ok(true)
    }

    /// Whether the source could not be looked at there.
    fn is_unseen(&self, path: &[u8]) -> bool {
        let mut at = path;
        while !self.unseen.is_empty() && !at.is_empty() {
            at = store::split_last(at).0;
            if self.unseen.contains(at) {
                return true;
            }
        }
        false
    }
}

/// Whether an entry is as the last sync knew it. Of a directory that is only implied nothing can change.
fn same(found: &Found, known: &Known) -> bool {
    is_still(known, &found.known)
        || (found.implied && known.kind == Kind::Directory && known.inode == found.known.inode)
}
