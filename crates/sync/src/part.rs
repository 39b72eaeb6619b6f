//! The part of a sync that one of several movers does: a directory with all below it, or what is left when those are done.

use std::path::Path;

use fault::Fault;

use crate::counters::Counters;
use crate::event::{Event, Stage, Watcher};
use crate::index::{Known, Section};
use crate::job::{Desk, Job, lock};
use crate::large::{Share, Task, do_task};
use crate::links;
use crate::options::Options;
use crate::ranges::{copy_range, remove_draft};
use crate::record::Record;
use crate::run::Listener;
use crate::scope::Scope;
use crate::session::Session;
use crate::span::{Layout, Span};
use crate::spool::Spool;
use crate::stages::{after_deletes, copy_all, copy_trees, finish_stage, link};
use crate::visit::directory_entry;

/// What one mover looks at.
#[derive(Debug)]
pub enum Part {
    /// A directory with all below it. What only the destination has there, and names of files that have others elsewhere, are
    /// left to the rest.
    Tree(Vec<u8>),
    /// Some names of a directory, in the same way; the directory itself is the rest's.
    Range(Range),
    /// All else, and what the trees left.
    Rest(Rest),
    /// A stretch of a large file of another's part.
    Stretch(Task),
}

/// Names of a directory that other movers are in, too.
#[derive(Debug)]
pub struct Range {
    pub span: Span,
    pub layout: Layout,
}

/// What is done when all other parts are.
#[derive(Debug, Default)]
pub struct Rest {
    pub layout: Layout,
    /// What the others left.
    pub left: Vec<Left>,
    /// Entries in them.
    pub entries: u64,
}

/// What a tree leaves to the rest; each a list of byte strings.
#[derive(Debug, Default)]
pub struct Left {
    /// Entries that only the destination has.
    extras: List,
    /// Names of files that have others elsewhere, as the spool of links has them.
    links: List,
    /// Entries that wait until a directory in their way is deleted.
    behind: List,
    /// The same for names of files with several: the name to link to, the new one, in turn.
    late_links: List,
    /// Drafts in directories that others are in, too: nobody else's when all other parts are done.
    drafts: List,
}

/// Byte strings, each after its length.
#[derive(Debug, Default)]
struct List(Vec<u8>);

impl List {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.0[..];
        std::iter::from_fn(move || {
            let (length, after) = rest.split_first_chunk::<4>()?;
            let (item, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = after;
            Some(item)
        })
    }
}

impl Left {
    /// A draft, perhaps of another mover that is at work.
    pub fn draft(&mut self, path: &[u8]) {
        self.drafts.push(path);
    }

    /// The drafts that were found.
    pub fn drafts(&self) -> impl Iterator<Item = &[u8]> {
        self.drafts.iter()
    }

    /// For the queue.
    pub fn pack(&self) -> Vec<u8> {
        let mut all = List::default();
        let lists = [&self.extras, &self.links, &self.behind, &self.late_links, &self.drafts];
        lists.iter().for_each(|list| all.push(&list.0));
        zstd::bulk::compress(&all.0, 3).unwrap_or_default()
    }

    /// From the queue; nothing where there is nothing.
    pub fn unpack(bytes: &[u8]) -> fault::Result<Self> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let all = zstd::stream::decode_all(bytes).map_err(|error| {
            Fault::new(fault::Kind::Corrupt, "the queue has a list that can't be read").caused_by(error)
        })?;
        let all = List(all);
        let mut lists = all.iter().map(|list| List(list.to_vec()));
        let mut next = || lists.next().unwrap_or_default();
        Ok(Self { extras: next(), links: next(), behind: next(), late_links: next(), drafts: next() })
    }
}

/// What a part did.
#[derive(Debug)]
pub struct Done {
    pub record: Record,
    pub left: Left,
    /// What was done of a large file of another's part.
    pub stretch: Option<Vec<u8>>,
    /// Entries that are known in it.
    pub entries: u64,
}

/// Does one part, with what is known of it in `state`. With `doubt` its destination is listed, with `distrust` what is
/// there is compared by content.
pub fn run_part(
    options: &Options,
    part: Part,
    state: &Path,
    (doubt, distrust): (bool, bool),
    share: Option<&dyn Share>,
    watcher: &dyn Watcher,
    counters: &Counters,
) -> fault::Result<Done> {
    let started = (std::time::Instant::now(), jiff::Zoned::now());
    let listener = Listener::new(watcher);
    let scanned = counters.scanned.get();
    let mut session = Session::open_part(options, part, state, &listener)?;
    session.doubt(doubt, distrust);
    session.share = share;
    let round = session.round(&Scope::All, &listener, counters)?;
    if round.end == crate::record::End::Stopped {
        session.renew_index()?;
    }
    let entries = session.known.entries().max(counters.scanned.get() - scanned);
    let (left, stretch) = (std::mem::take(&mut session.left), session.stretch.take());
    Ok(Done { record: session.record(&started, round.end, counters, &listener), left, stretch, entries })
}

/// All stages of a part.
pub fn do_part(job: &Job<'_>, part: &Part) -> fault::Result<()> {
    job.watcher.event(&Event::Stage(Stage::Copy));
    job.groups.begin(&Scope::All);
    match part {
        Part::Tree(tree) => {
            job.tree_later(tree);
            copy_trees(job);
            leave(job)
        }
        Part::Range(range) => {
            copy_range(job, &range.span)?;
            leave(job)
        }
        Part::Rest(rest) => do_rest(job, rest),
        Part::Stretch(task) => do_task(job, task),
    }
}

/// What was found and is not ours to decide goes to the rest.
fn leave(job: &Job<'_>) -> fault::Result<()> {
    if job.stopping() {
        return Ok(());
    }
    link(job)?;
    let mut left = lock(&job.left);
    for path in Desk::take(&job.desk.extras, job.state.dir()).sorted()? {
        left.extras.push(&path?);
    }
    lock(&job.desk.behind).paths().iter().for_each(|path| left.behind.push(path));
    for (leader, path) in std::mem::take(&mut *lock(&job.desk.late_links)) {
        left.late_links.push(&leader);
        left.late_links.push(&path);
    }
    drop(left);
    finish_stage(job)
}

/// Names of files that have others elsewhere are left to the rest.
pub fn leave_open_groups(job: &Job<'_>) -> fault::Result<()> {
    if !matches!(job.part, Some(Part::Tree(_) | Part::Range(_))) {
        return Ok(());
    }
    let (mut group, mut kept) = (Vec::<Box<[u8]>>::new(), Spool::new(job.state.dir()));
    let mut close = |group: &mut Vec<Box<[u8]>>| -> fault::Result<()> {
        let whole =
            group.first().is_some_and(|first| group.len() as u64 >= u64::from(links::names_of(first)));
        for record in group.drain(..) {
            if whole {
                kept.push(&record)?;
            } else {
                note_elsewhere(job, &record);
                lock(&job.left).links.push(&record);
            }
        }
        Ok(())
    };
    for record in Desk::take(&job.desk.links, job.state.dir()).sorted()? {
        let record = record?;
        if group.first().is_some_and(|first| links::file_of(first) != links::file_of(&record)) {
            close(&mut group)?;
        }
        group.push(record);
    }
    close(&mut group)?;
    *lock(&job.desk.links) = kept;
    Ok(())
}

/// The rest knows what such a name is; the tree must know that it is there, so that it can see when it is gone.
fn note_elsewhere(job: &Job<'_>, record: &[u8]) {
    let (dir, name) = store::split_last(links::path_of(record));
    let mut section = Section::default();
    // No file is as this says: the name is looked at every time.
    section.push(name, &Known { kind: store::Kind::File, linked: true, ..directory_entry() });
    if job.ledger.done(dir, &section, 0) {
        job.checkpoint();
    }
}

fn do_rest(job: &Job<'_>, rest: &Rest) -> fault::Result<()> {
    for path in rest.left.iter().flat_map(Left::drafts) {
        remove_draft(job, path)?;
    }
    for record in rest.left.iter().flat_map(|left| left.links.iter()) {
        lock(&job.desk.links).push(record)?;
        let dir = store::split_last(links::path_of(record)).0;
        job.drafts.note(dir)?;
        job.finish_later(dir)?;
    }
    copy_all(job, &Scope::All);
    if job.stopping() {
        return Ok(());
    }
    link(job)?;
    let Some(rules) = job.options.delete.as_ref().filter(|_| !job.stopping()) else {
        return finish_stage(job);
    };
    job.watcher.event(&Event::Stage(Stage::Delete));
    take_over(job, rest)?;
    let entries = job.known.entries().max(job.counters.scanned.get() - job.scanned_before) + rest.entries;
    if let Err(fault) = crate::deletes::delete_all(job, rules, entries) {
        finish_stage(job)?;
        return Err(fault);
    }
    after_deletes(job)?;
    finish_stage(job)
}

/// What the trees left for the deletes, and after them.
fn take_over(job: &Job<'_>, rest: &Rest) -> fault::Result<()> {
    for left in &rest.left {
        left.extras.iter().try_for_each(|path| lock(&job.desk.extras).push(path))?;
        left.behind.iter().for_each(|path| lock(&job.desk.behind).path(path));
        let mut late = left.late_links.iter();
        while let (Some(leader), Some(path)) = (late.next(), late.next()) {
            lock(&job.desk.late_links).push((leader.to_vec(), path.to_vec()));
        }
    }
    Ok(())
}
