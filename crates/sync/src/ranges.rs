//! What a mover does in a directory that it shares with others, each in a range of its names, and what is left of such a
//! directory for the rest.

use std::os::fd::{AsFd, OwnedFd};

use fault::Fault;
use store::{Errno, meta_of, meta_of_entry};

use crate::filter::Chain;
use crate::index::{Cache, Itself, Section, is_within};
use crate::job::{Job, Trouble, lock};
use crate::part::Part;
use crate::scope::Scope;
use crate::span::Span;
use crate::stages::{copy_all, copy_trees};
use crate::visit::Siblings;

impl Job<'_> {
    /// Whether the directory is the work of another mover.
    pub fn is_apart(&self, path: &[u8]) -> bool {
        match self.part {
            Some(Part::Rest(rest)) => rest.layout.is_tree(path),
            Some(Part::Range(range)) => path != range.span.dir && range.layout.is_named(path),
            _ => false,
        }
    }

    /// Whether it is ours to make a directory that is missing at the destination.
    pub fn may_make(&self, path: &[u8]) -> bool {
        match self.part {
            Some(Part::Tree(tree)) => is_within(path, tree),
            Some(Part::Range(range)) => range.span.covers(path),
            _ => true,
        }
    }

    /// Which names of `dir` are ours, where others have the rest of them.
    pub fn span_in(&self, dir: &[u8]) -> Option<&Span> {
        match self.part {
            Some(Part::Range(range)) if range.span.dir == dir => Some(&range.span),
            _ => None,
        }
    }

    /// Whether others have the names of the directory, and we what it is itself.
    pub fn is_divided(&self, dir: &[u8]) -> bool {
        matches!(self.part, Some(Part::Rest(rest)) if rest.layout.is_divided(dir))
    }
}

/// Copies what is in a range.
pub fn copy_range(job: &Job<'_>, span: &Span) -> fault::Result<()> {
    // Whoever divided the job made it: what is not there now is nobody's to make who has only some of its names.
    let unopened = |error| Fault::os("open", &job.destination.show(&span.dir), error);
    job.destination.open_dir(&span.dir).map_err(unopened)?;
    if span.dir.is_empty() {
        copy_all(job, &Scope::All);
    } else {
        job.tree_later(&span.dir);
        copy_trees(job);
    }
    Ok(())
}

/// Whether a name that the destination has in `dir` is ours to look at. Drafts are left to the rest, wherever the range begins
/// and ends: they may be another mover's, who is at work in the same directory.
pub fn is_ours(job: &Job<'_>, dir: &[u8], name: &[u8]) -> bool {
    let Some(span) = job.span_in(dir) else { return true };
    let is_draft = job.drafts.is_one(name);
    if is_draft {
        lock(&job.left).draft(&store::below(dir, name));
    }
    !is_draft && span.has(name)
}

/// All names of the range were looked at: next time nobody need list the destination for them.
pub fn note_range(job: &Job<'_>, dir: &[u8], source: &OwnedFd) -> Result<(), Trouble> {
    let meta = meta_of(source).map_err(|error| job.at_source("look at", dir, error))?;
    let known = job.known.find(dir, &mut Cache::default())?.and_then(|recall| recall.itself());
    if known.is_none() && job.is_complete(dir) {
        job.ledger.done(dir, &Section::new(Some(Itself::of(&meta))), 0);
    }
    Ok(())
}

/// A directory whose names are others' work: what is left is itself, and the directories in it that have parts in them.
pub fn pass_through(job: &Job<'_>, dir: &[u8], chain: &Chain) -> Result<(), Trouble> {
    let Some(Part::Rest(rest)) = job.part else { return Ok(()) };
    let source = job.source.open_dir(dir).map_err(|error| job.at_source("open", dir, error))?;
    let mut children = Siblings::new(dir, &job.options.filter.enter(chain, source.as_fd(), dir));
    rest.layout.others_in(dir).for_each(|child| children.push(store::split_last(child).1, 0));
    if !children.is_empty() {
        job.pool.push(children);
    }
    Ok(job.finish_later(dir)?)
}

/// Removes a draft that somebody found in a directory of several: all of them are done.
pub fn remove_draft(job: &Job<'_>, path: &[u8]) -> fault::Result<()> {
    let (dir, name) = store::split_last(path);
    let in_source = job.source.open_dir(dir).and_then(|dir| meta_of_entry(&dir, name));
    if !matches!(in_source, Err(Errno::NOENT)) {
        return Ok(());
    }
    let Ok(there) = job.destination.open_dir(dir) else { return Ok(()) };
    if matches!(meta_of_entry(&there, name), Err(Errno::NOENT)) {
        // Its mover finished what it was for.
        return Ok(());
    }
    job.drafts.note(dir)?;
    job.finish_later(dir)?;
    if let Err(error) = store::remove_tree(&there, name) {
        job.trouble(path, job.at_destination("remove", path, error));
    }
    Ok(())
}
