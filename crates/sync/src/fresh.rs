//! A directory that the destination does not have. It is filled under a name of our own and then renamed, so that all of
//! its files appear at once, each complete, for the price of one rename.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{Mode, mkdirat};
use store::{Errno, Kind, Meta, meta_of_entry};

use crate::copy::{Target, copy_file};
use crate::filter::Chain;
use crate::index::Section;
use crate::item::{Batch, Item, Pair, make_in, plan_item};
use crate::job::{Hand, Job, Trouble};
use crate::judge::Verdict;
use crate::links;
use crate::names::Names;
use crate::visit::{
    DISTRUST, FRESH, REPLACES, Siblings, Visit, directory_entry, give, is_wanted, plan_directory,
    visit_existing,
};

/// A directory with more entries is made first and filled by all workers.
const MOST_ENTRIES: usize = 4096;
/// Bytes that are copied before the directory appears; the rest follows, file by file.
const MOST_BYTES: u64 = 64 << 20;
/// Files of at least this size always follow.
const LARGE: u64 = 4 << 20;

/// Visits a directory that the destination does not have.
pub fn visit(
    job: &Job<'_>,
    hand: &mut Hand,
    pair: Pair,
    (meta, names): (&Meta, &mut Names),
    visit: &Visit,
    chain: &Chain,
) -> Result<(), Trouble> {
    if job.options.dry_run {
        plan_directory(job, meta, &visit.path);
        return plan(job, &pair, names, chain);
    }
    let (parent_path, name) = store::split_last(&visit.path);
    let parent = job.destination.open_dir(parent_path);
    let parent = parent.map_err(|error| job.at_destination("open", parent_path, error))?;
    if visit.flags & REPLACES != 0 {
        store::remove_file(&parent, name)
            .map_err(|error| job.at_destination("replace", &visit.path, error))?;
    }
    let few = names.count().is_some_and(|count| count <= MOST_ENTRIES);
    if few && fill(job, hand, &pair, names, visit, chain, &parent)? {
        job.counters.made.one();
        return Ok(());
    }
    match mkdirat(&parent, name, Mode::from_raw_mode(0o700)) {
        Ok(()) => job.counters.made.one(),
        Err(Errno::EXIST) => {}
        Err(error) => return Err(job.at_destination("create", &visit.path, error)),
    }
    names.rewind();
    visit_existing(job, hand, pair, (meta, names), DISTRUST, chain)
}

/// What a directory has beside small files, for after it has appeared.
struct Later {
    section: Section,
    items: Vec<Item>,
    children: Siblings,
    /// Files with several names: their metadata and paths.
    linked: Vec<(Meta, Vec<u8>)>,
    bytes: u64,
}

/// Makes the directory whole under a name of our own and renames it. Returns false, with nothing left behind, if
/// something has its name by now.
fn fill(
    job: &Job<'_>,
    hand: &mut Hand,
    pair: &Pair,
    names: &mut Names,
    visit: &Visit,
    chain: &Chain,
    parent: &OwnedFd,
) -> Result<bool, Trouble> {
    let (parent_path, name) = store::split_last(&visit.path);
    let draft = job.drafts.name_in(parent_path)?;
    let unmade = |error| job.at_destination("create", &visit.path, error);
    mkdirat(parent, &draft[..], Mode::from_raw_mode(0o700)).map_err(unmade)?;
    let filled = store::open_dir_in(parent, &draft)
        .map_err(unmade)
        .and_then(|dir| fill_draft(job, hand, pair, names, chain, dir.as_fd()));
    let placed = filled.map(|later| store::swap_in(parent, &draft, name).map(|()| later));
    match placed {
        Ok(Ok(later)) => {
            appear(job, hand, visit, later)?;
            Ok(true)
        }
        Ok(Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR)) => {
            store::remove_tree(parent, &draft).map_err(unmade)?;
            Ok(false)
        }
        Ok(Err(error)) => {
            let _ = store::remove_tree(parent, &draft);
            Err(unmade(error))
        }
        Err(trouble) => {
            let _ = store::remove_tree(parent, &draft);
            Err(trouble)
        }
    }
}

fn fill_draft(
    job: &Job<'_>,
    hand: &mut Hand,
    pair: &Pair,
    names: &mut Names,
    chain: &Chain,
    dir: BorrowedFd<'_>,
) -> Result<Later, Trouble> {
    let target =
        Target::of(job, dir, true).map_err(|error| job.at_destination("look at", &pair.path, error))?;
    let mut later = Later {
        section: Section::default(),
        items: Vec::new(),
        children: Siblings::new(&pair.path, chain),
        linked: Vec::new(),
        bytes: 0,
    };
    while let Some(name) = names.peek() {
        if job.stopping() {
            return Err(Trouble::Stopped);
        }
        job.counters.scanned.one();
        match fill_entry(job, hand, pair, name, chain, &target, &mut later) {
            Ok(()) => {}
            Err(trouble @ (Trouble::Fatal(_) | Trouble::Stopped)) => return Err(trouble),
            Err(trouble) => job.trouble(&pair.below(name), trouble),
        }
        names.advance()?;
    }
    Ok(later)
}

fn fill_entry(
    job: &Job<'_>,
    hand: &mut Hand,
    pair: &Pair,
    name: &[u8],
    chain: &Chain,
    target: &Target<'_>,
    later: &mut Later,
) -> Result<(), Trouble> {
    let meta = meta_of_entry(&pair.source, name)
        .map_err(|error| job.at_source("look at", &pair.below(name), error))?;
    if !is_wanted(job, chain, &pair.path, name, &meta) {
        job.counters.left_out.one();
        return Ok(());
    }
    let from = (pair.source.as_fd(), &*pair.path, name);
    match meta.kind {
        Kind::Directory => {
            later.section.push(name, &directory_entry());
            if !job.is_apart(&pair.below(name)) {
                later.children.push(name, FRESH);
            }
        }
        Kind::File if meta.links > 1 => {
            job.renames.want();
            later.linked.push((meta, pair.below(name)));
        }
        Kind::File if job.renames.gathers() && job.renames.is_older(pair.source.as_fd(), name, &meta) => {
            job.renames.wait(&pair.path, name)?;
        }
        Kind::File
            if meta.size >= LARGE || later.bytes + meta.size > MOST_BYTES || job.renames.knows(&meta)? =>
        {
            let verdict = Verdict::Copy;
            later.items.push(Item { name: name.into(), meta, known: None, verdict, there: None });
        }
        Kind::File => {
            let known = copy_file(job, hand, from, &meta, target)?;
            job.counters.copied.one();
            later.bytes += known.size;
            later.section.push(name, &known);
        }
        _ => {
            make_in(job, from, &meta, target.dir, name)?;
            later.section.push(name, &crate::index::Known::of(&meta));
        }
    }
    Ok(())
}

/// The directory has appeared: notes what is in it, and hands over what is still missing.
fn appear(job: &Job<'_>, hand: &mut Hand, visit: &Visit, later: Later) -> Result<(), Trouble> {
    if job.ledger.done(&visit.path, &later.section, later.bytes) {
        job.checkpoint();
    }
    job.finish_later(&visit.path)?;
    for (meta, path) in &later.linked {
        links::note(job, meta, true, path)?;
    }
    if !later.children.is_empty() {
        job.pool.push(later.children);
    }
    if later.items.is_empty() {
        return Ok(());
    }
    let source = job.source.open_dir(&visit.path);
    let source = source.map_err(|error| job.at_source("open", &visit.path, error))?;
    let pair = Arc::new(Pair::new(&visit.path, source));
    let mut batch = Batch::new(pair.clone());
    for item in later.items {
        if batch.push(item) {
            give(job, hand, std::mem::replace(&mut batch, Batch::new(pair.clone())));
        }
    }
    give(job, hand, batch);
    Ok(())
}

/// In a dry run: tells what would be made.
fn plan(job: &Job<'_>, pair: &Pair, names: &mut Names, chain: &Chain) -> Result<(), Trouble> {
    let mut children = Siblings::new(&pair.path, chain);
    while let Some(name) = names.peek() {
        if job.stopping() {
            return Err(Trouble::Stopped);
        }
        job.counters.scanned.one();
        match meta_of_entry(&pair.source, name) {
            Err(error) => job.trouble(&pair.below(name), job.at_source("look at", &pair.below(name), error)),
            Ok(meta) if !is_wanted(job, chain, &pair.path, name, &meta) => job.counters.left_out.one(),
            Ok(meta) if meta.kind == Kind::Directory => children.push(name, FRESH),
            Ok(meta) if meta.kind == Kind::File && meta.links > 1 => {
                job.renames.want();
                links::note(job, &meta, true, &pair.below(name))?;
            }
            Ok(meta)
                if job.renames.gathers()
                    && meta.kind == Kind::File
                    && job.renames.is_older(pair.source.as_fd(), name, &meta) =>
            {
                job.renames.wait(&pair.path, name)?;
            }
            Ok(meta) => {
                let item = Item { name: name.into(), meta, known: None, verdict: Verdict::Copy, there: None };
                plan_item(job, pair, &item);
            }
        }
        names.advance()?;
    }
    if !children.is_empty() {
        job.pool.push(children);
    }
    Ok(())
}
