//! Taking the content of a file from where the destination has it under its old name.
//!
//! By renaming it, where the old name goes anyway; else by a copy that the destination's file system makes. Whatever stands
//! in the way, the file is then copied like any other.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{ftruncate, renameat};
use store::{Attributes, Draft, Errno, Kind, Meta, clone_file, copy_range, extents, meta_of, meta_of_entry};

use super::table::Old;
use crate::copy::hash_of;
use crate::event::{Act, Event};
use crate::index::Known;
use crate::item::{Item, Pair, is_alike};
use crate::job::{Hand, Job, Trouble, lock};
use crate::judge::Verdict;
use crate::large;
use crate::options::Verify;

/// The content of a file that is to be copied, from what had another name. `None` where it must be copied after all.
pub fn take(job: &Job<'_>, hand: &mut Hand, pair: &Pair, item: &Item) -> Result<Option<Known>, Trouble> {
    for old in candidates(job, item)? {
        let taken = match Taking::begin(job, pair, item, &old) {
            Some(taking) => taking.end(hand)?,
            None => false,
        };
        if taken {
            job.counters.moved.one();
            job.counters.bytes_saved.add(item.meta.size);
            let racy = job.is_racy(item.meta.ctime);
            return Ok(Some(Known { id: old.known.id, racy, ..Known::of(&item.meta) }));
        }
    }
    Ok(None)
}

/// In a dry run: tells that a file would get its content so. Returns false where it would be copied.
pub fn plan(job: &Job<'_>, hand: &mut Hand, pair: &Pair, item: &Item) -> Result<bool, Trouble> {
    for old in candidates(job, item)? {
        let Some(taking) = Taking::begin(job, pair, item, &old) else { continue };
        if taking.is_same_file(hand)? && taking.has_its_content(hand)? {
            if taking.moves() && !old.kept {
                lock(&job.renames.away).insert(taking.there.inode);
            }
            job.planned(Act::Rename, &item.meta, &taking.path());
            return Ok(true);
        }
    }
    Ok(false)
}

/// What a file that is to be copied may have been called.
fn candidates(job: &Job<'_>, item: &Item) -> fault::Result<Vec<Old>> {
    let is_file = |meta: &Meta| meta.kind == Kind::File;
    let other = item.verdict != Verdict::Copy || item.there.is_some_and(|there| !is_file(&there));
    match job.renames.table() {
        Some(table) if is_file(&item.meta) && !other => table.find(item.meta.inode),
        _ => Ok(Vec::new()),
    }
}

/// A file on its way from one name of the destination to another.
struct Taking<'a, 'b> {
    job: &'a Job<'b>,
    pair: &'a Pair,
    item: &'a Item,
    old: &'a Old,
    source: OwnedFd,
    /// The directory of the old name, the file there, and what that was.
    from: OwnedFd,
    file: OwnedFd,
    there: Meta,
}

impl<'a, 'b> Taking<'a, 'b> {
    /// If the source's file is the one that had the old name, and the destination has under it what the last sync left.
    fn begin(job: &'a Job<'b>, pair: &'a Pair, item: &'a Item, old: &'a Old) -> Option<Self> {
        let (known, meta) = (&old.known, &item.meta);
        let known_alike = known.kind == Kind::File && known.size == meta.size && known.mtime == meta.mtime;
        if !known_alike {
            return None;
        }
        let source = store::open_reading(&pair.source, &item.name).ok()?;
        if !meta_of(&source).ok()?.same_content(meta) {
            return None;
        }
        let from = job.destination.open_dir(&old.dir).ok()?;
        let file = store::open_reading(&from, &old.name).ok()?;
        let there = meta_of(&file).ok().filter(|there| {
            let same_time = job.rules.same_time(meta, there);
            there.kind == Kind::File && there.size == meta.size && same_time
        })?;
        Some(Self { job, pair, item, old, source, from, file, there })
    }

    fn path(&self) -> Vec<u8> {
        self.pair.below(&self.item.name)
    }

    /// Gives it its new name; whether it has it now.
    fn end(&self, hand: &mut Hand) -> Result<bool, Trouble> {
        if !self.is_same_file(hand)? || !self.has_its_content(hand)? {
            return Ok(false);
        }
        let path = self.path();
        let dir = self.pair.destination(self.job);
        let dir = dir.map_err(|error| self.job.at_destination("open", &self.pair.path, error))?;
        if self.moves() { self.rename(dir, &path) } else { self.copy(hand, dir, &path) }
    }

    /// Whether the file itself gets the new name.
    fn moves(&self) -> bool {
        // Further names of the same file there are those of one that is renamed with all of its names, or go, or stay: then
        // one that stays must not change with it.
        self.old.goes && (self.there.links == 1 || self.old.kept || self.item.meta.links > 1)
    }

    /// Whether the file at the source is the one that the last sync knew, with the content that it had. A directory's new
    /// name leaves no trace on the files in it; a file's own does, as a change of its content with its time put back
    /// would: then its hash decides.
    fn is_same_file(&self, hand: &mut Hand) -> Result<bool, Trouble> {
        let (job, known) = (self.job, &self.old.known);
        let one_device = self.item.meta.device == job.renames.device && !job.options.cross_mounts;
        if one_device && known.ctime == self.item.meta.ctime && !known.racy {
            return Ok(true);
        }
        let Some(id) = known.id else { return Ok(false) };
        let size = self.item.meta.size;
        let found = hash_of(job, hand, self.source.as_fd(), size)
            .map_err(|error| error.map_or(Trouble::Stopped, |e| job.at_source("read", &self.path(), e)))?;
        job.counters.bytes_read.add(size);
        Ok(found.short() == id)
    }

    /// Whether the destination has the content that it should have under the old name. What looks right is believed where
    /// the last sync ended and nobody wants it read.
    fn has_its_content(&self, hand: &mut Hand) -> Result<bool, Trouble> {
        let job = self.job;
        let is_doubtful = self.old.doubtful || job.after_crash || !job.rules.believe_times;
        if !is_doubtful && job.options.verify == Verify::None {
            return Ok(true);
        }
        let Some(id) = self.old.known.id else { return Ok(false) };
        let old = store::below(&self.old.dir, &self.old.name);
        match hash_of(job, hand, self.file.as_fd(), self.there.size) {
            Ok(found) if found.short() == id => {
                job.counters.bytes_verified.add(self.there.size);
                Ok(true)
            }
            Ok(_) => {
                let shown = job.destination.show(&old);
                let note = format!("`{}` was not what the last sync wrote: not moved", shown.display());
                job.watcher.event(&Event::Note(&note));
                Ok(false)
            }
            Err(None) => Err(Trouble::Stopped),
            Err(Some(_)) => Ok(false),
        }
    }

    /// Puts on `file`, which is `now`, what the source has beside content.
    fn dress(&self, file: BorrowedFd<'_>, now: &Meta, path: &[u8]) -> Result<(), Trouble> {
        let (job, extended) = (self.job, self.job.options.extended);
        let unset = |error| job.at_destination("set attributes of", path, error);
        let mut wanted = Attributes::of(&self.item.meta, job.rules.with_owner);
        wanted.named = store::named(&self.source, extended)
            .map_err(|error| job.at_source("read attributes of", path, error))?;
        if is_alike(job, &wanted, now) && store::named(file, extended).map_err(unset)? == wanted.named {
            return Ok(());
        }
        store::clear_named(file, &wanted.named, extended).map_err(unset)?;
        store::apply(file, &wanted, now).map_err(|(action, error)| job.at_destination(&action, path, error))
    }

    /// The file itself gets the new name.
    fn rename(&self, dir: BorrowedFd<'_>, path: &[u8]) -> Result<bool, Trouble> {
        let (job, old) = (self.job, self.old);
        // Before anything: a job that is killed here leaves both directories to be looked at.
        job.drafts.note(&old.dir)?;
        job.drafts.note(&self.pair.path)?;
        job.finish_later(&old.dir)?;
        job.open_up(self.from.as_fd());
        self.dress(self.file.as_fd(), &self.there, path)?;
        match renameat(&self.from, &*old.name, dir, &*self.item.name) {
            Ok(()) => {}
            // Another file system is mounted between them, or the old name went.
            Err(Errno::XDEV | Errno::NOENT) => return Ok(false),
            Err(error) => return Err(job.at_destination("rename", path, error)),
        }
        if !old.kept {
            job.ledger.gone(&old.dir, &old.name);
        }
        let made = meta_of_entry(dir, &*self.item.name);
        if !made.is_ok_and(|made| made.inode == self.there.inode && made.device == self.there.device) {
            // Somebody put another file under the old name at this moment.
            return Ok(false);
        }
        if !old.kept {
            large::moved_on(job, (&store::below(&old.dir, &old.name), &self.there), path, dir)?;
        }
        Ok(true)
    }

    /// A copy that the file system makes gets the new name; the file stays.
    fn copy(&self, hand: &mut Hand, dir: BorrowedFd<'_>, path: &[u8]) -> Result<bool, Trouble> {
        let job = self.job;
        let uncreated = |error| job.at_destination("create", path, error);
        let draft = match Draft::unnamed(dir, 0o600).map_err(uncreated)? {
            Some(draft) => draft,
            None => Draft::named(dir, &job.drafts.name_in(&self.pair.path)?, 0o600).map_err(uncreated)?,
        };
        match self.fill(hand, &draft, path) {
            Ok(true) => {
                let spare = job.drafts.name_in(&self.pair.path)?;
                store::publish(&draft, dir, &self.item.name, Some(&spare))
                    .map(|()| true)
                    .map_err(|error| job.at_destination("replace", path, error))
            }
            other => {
                let _ = draft.discard(dir);
                other
            }
        }
    }

    fn fill(&self, hand: &mut Hand, draft: &Draft, path: &[u8]) -> Result<bool, Trouble> {
        let (job, size) = (self.job, self.there.size);
        if clone_file(&self.file, draft.fd()).is_err() {
            // A large one is copied from the source, by all workers at once.
            let small = size < job.options.large_from.unwrap_or(large::LARGE_FROM);
            let copied = || -> store::Os<()> {
                for piece in extents(&self.file, 0, size)? {
                    copy_range(&self.file, draft.fd(), piece)?;
                }
                ftruncate(draft.fd(), size)
            };
            match small.then(copied) {
                Some(Ok(())) => {}
                Some(Err(error @ (Errno::NOSPC | Errno::DQUOT))) => {
                    return Err(job.at_destination("write", path, error));
                }
                _ => return Ok(false),
            }
        }
        if job.options.verify != Verify::None {
            let Some(id) = self.old.known.id else { return Ok(false) };
            let found = hash_of(job, hand, draft.fd(), size).map_err(|error| {
                error.map_or(Trouble::Stopped, |e| job.at_destination("read back", path, e))
            })?;
            if found.short() != id {
                return Ok(false);
            }
        }
        let unset = |error| job.at_destination("set attributes of", path, error);
        store::drop_inherited(draft.fd()).map_err(unset)?;
        let now = meta_of(draft.fd()).map_err(unset)?;
        self.dress(draft.fd(), &now, path)?;
        Ok(true)
    }
}
