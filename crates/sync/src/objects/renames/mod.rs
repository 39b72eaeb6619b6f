//! Files that were renamed at the source, where a side is a store or a tree on another host: the destination takes the content
//! from the old name by itself, and nothing of it travels.
//!
//! Names that are new though their file is old wait until the plan has seen everything; what the index knows and the source
//! has no more goes into a table by inode, as for two trees of this host (`crate::renames`).

mod far;
mod moving;
mod stores;

use store::{Kind, Stamp, birth_of_entry};

use super::scan::{Found, place_of};
use super::side::Side;
use super::work::{Task, Todo, Work};
use crate::index::Known;
use crate::renames::{Old, Table};
use crate::spool::Spool;

pub use far::{Batch, dress, dress_here, fetch};
pub use moving::{Moved, Moving, take};
pub use stores::copy;

/// What was renamed, while a plan is made.
pub struct Renames {
    since: Option<Stamp>,
    gone: Spool,
    waiting: Spool,
}

/// How far it is to be believed that a file under a new name is the one that had another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belief {
    /// It is another, or nothing can be said.
    No,
    /// If its hash is the one that is known.
    ByHash,
    /// It is the same.
    Sure,
}

impl Renames {
    /// Nothing yet. Files can be told from each other on trees only.
    pub fn new(work: &Work<'_>) -> Self {
        let has_inodes = match &work.source {
            Side::Tree(_) => true,
            Side::Store(place) => place.far.is_some() && matches!(work.destination, Side::Tree(_)),
        };
        let takes = match &work.destination {
            Side::Tree(_) => true,
            Side::Store(place) => place.far.is_some() || place.abilities.copies,
        };
        let since = work.state.seen().filter(|_| has_inodes && takes && !work.options.dry_run);
        Self { since, gone: Spool::new(work.scratch()), waiting: Spool::new(work.scratch()) }
    }

    /// The source has no more what the destination has at `path`; `goes` where it will not have it for long.
    pub fn left(&mut self, path: &[u8], known: &Known, goes: bool) -> fault::Result<()> {
        if self.since.is_none() || known.kind != Kind::File || known.size == 0 {
            return Ok(());
        }
        let (dir, name) = store::split_last(path);
        let (dir, name) = (dir.to_vec(), name.to_vec());
        self.gone.push(&Old { dir, name, known: *known, goes, kept: false, doubtful: false }.record())
    }

    /// Whether an entry waits until everything was seen: it may be one that had another name.
    pub fn waits(&mut self, work: &Work<'_>, found: &Found) -> fault::Result<bool> {
        let Some(since) = self.since else { return Ok(false) };
        let known = &found.known;
        if known.kind != Kind::File || known.size == 0 || known.mtime >= since {
            return Ok(false);
        }
        let (dir, name) = store::split_last(&found.path);
        if let Side::Tree(root) = &work.source {
            let birth = root.open_dir(dir).and_then(|dir| birth_of_entry(dir, name));
            if birth.is_ok_and(|birth| birth.is_some_and(|birth| birth >= since)) {
                return Ok(false);
            }
        }
        let mut record = place_of(&found.path);
        found.put(&mut record);
        self.waiting.push(&record)?;
        Ok(true)
    }

    /// Everything was seen: gives each task that waited to `give`, with the file it may be, if there is one.
    pub fn end(
        self,
        work: &Work<'_>,
        give: &mut dyn FnMut(Task) -> fault::Result<bool>,
    ) -> fault::Result<()> {
        let table = if self.waiting.count() > 0 && self.gone.count() > 0 {
            Some(Table::of(self.gone, work.scratch())?)
        } else {
            None
        };
        for record in self.waiting.sorted()? {
            let found = Found::of_record(&record?)?;
            let candidates = table.as_ref().map_or(Ok(Vec::new()), |table| table.find(found.known.inode))?;
            let alike = |old: &Old| {
                old.known.size == found.known.size && old.known.mtime == found.known.mtime && !old.known.racy
            };
            let old = candidates.into_iter().find(alike).map(Box::new);
            if !give(Task { found, todo: Todo::Copy, known: None, replaces: false, old })? {
                break;
            }
        }
        Ok(())
    }
}

/// Files up to this size are read by the plan itself, to be asked for with others; larger ones by the workers.
const SMALL: u64 = 256 << 10;

/// The file that a host has for a small one of which only attributes may have changed, under its own name.
pub fn itself(work: &Work<'_>, task: &Task) -> Option<Old> {
    let Side::Tree(_) = &work.source else { return None };
    work.destination_far()?;
    let small = task.found.known.size <= SMALL && task.known?.mtime == task.found.known.mtime;
    if small { own(task) } else { None }
}

/// The file of the same name as the last sync left it, where it may have the same content.
pub fn own(task: &Task) -> Option<Old> {
    let (known, found) = (task.known?, &task.found.known);
    let may = task.todo == Todo::Copy && !task.replaces && known.id.is_some() && known.size > 0;
    if !may || known.kind != Kind::File || found.kind != Kind::File || known.size != found.size {
        return None;
    }
    let (dir, name) = store::split_last(&task.found.path);
    let (dir, name) = (dir.to_vec(), name.to_vec());
    // Neither its time nor its inode count: its hash decides.
    let known = Known { ctime: Stamp::default(), ..known };
    Some(Old { dir, name, known, goes: true, kept: false, doubtful: false })
}

/// Whether a file of a tree is what had the old name: a directory's new name leaves no trace on the files in it; a file's own
/// does, as a change of its content with its time put back would.
fn belief(work: &Work<'_>, old: &Known, ctime: Stamp) -> Belief {
    match old.id {
        _ if ctime == old.ctime && !work.options.cross_mounts => Belief::Sure,
        Some(_) => Belief::ByHash,
        None => Belief::No,
    }
}
