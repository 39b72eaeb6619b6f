//! Files with several names. Which names belong together is only known when all have been seen, so they wait on disk,
//! sorted by inode, until the rest is done.

use std::os::fd::{AsFd, OwnedFd};

use store::{Errno, Kind, Meta, meta_of_entry};

use crate::event::Act;
use crate::index::{Known, Section};
use crate::item::{Item, Pair, directory_in_the_way, doubted, run_item};
use crate::job::{Desk, Hand, Job, Trouble, lock};
use crate::judge::Verdict;
use crate::options::Verify;
use crate::renames;
use crate::visit::heal;

/// Bytes before the path: device and inode; what to do with the name; how many names the file has.
const HEAD: usize = 21;
/// Bytes that stand for the file.
const FILE: usize = 16;
/// It led its group before, and does so again for names that had to wait.
const LEADS: u8 = 0;
/// The destination has it already.
const SAME: u8 = 1;
/// It must be looked at.
const CHANGED: u8 = 2;

/// Notes one name of a file with several. `changed` is false where the destination has it already: such names come first
/// and lead their group.
pub fn note(job: &Job<'_>, meta: &Meta, changed: bool, path: &[u8]) -> fault::Result<()> {
    let mut record = Vec::with_capacity(HEAD + path.len());
    record.extend_from_slice(&meta.device.to_be_bytes());
    record.extend_from_slice(&meta.inode.to_be_bytes());
    record.push(if changed { CHANGED } else { SAME });
    record.extend_from_slice(&meta.links.to_be_bytes());
    record.extend_from_slice(path);
    job.groups.note(meta, changed, path);
    lock(&job.desk.links).push(&record)
}

/// What stands for the file in a record.
pub fn file_of(record: &[u8]) -> &[u8] {
    &record[..FILE]
}

/// The name in a record.
pub fn path_of(record: &[u8]) -> &[u8] {
    &record[HEAD..]
}

/// How many names the file of a record has.
pub fn names_of(record: &[u8]) -> u32 {
    record[FILE + 1..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// The first name of a group: the one the others are linked to.
struct Leader {
    inode: Vec<u8>,
    path: Vec<u8>,
    changed: bool,
    /// What the leader is at the destination, once that is certain.
    there: Option<There>,
}

struct There {
    dir: OwnedFd,
    inode: u64,
    known: Known,
}

/// Brings all names that were noted together at the destination.
pub fn link_all(job: &Job<'_>, hand: &mut Hand) -> fault::Result<()> {
    let mut leader: Option<Leader> = None;
    for record in Desk::take(&job.desk.links, job.state.dir()).sorted()? {
        let record = record?;
        if job.stopping() {
            return Ok(());
        }
        let (inode, what, path) = (file_of(&record), record[FILE], path_of(&record));
        if what == SAME {
            job.counters.skipped.one();
        }
        match &mut leader {
            Some(leader) if leader.inode == inode => {
                if what == CHANGED
                    && let Err(trouble) = follow(job, hand, leader, path)
                {
                    if waits(job, &[path, &leader.path]) {
                        // A name in a directory that is made anew is noted again with that.
                        if !is_missing(job, path) {
                            lock(&job.desk.links).push(&record)?;
                        } else if !is_missing(job, &leader.path) {
                            lock(&job.desk.links).push(&[inode, &[LEADS], &[0; 4], &leader.path].concat())?;
                        }
                        continue;
                    }
                    if matches!(trouble, Trouble::Vanished) {
                        // Perhaps the name that leads, and not this one.
                        let (dir, name) = store::split_last(path);
                        lock(&job.desk.again).name(dir, name, false);
                    }
                    job.trouble(path, trouble);
                }
            }
            _ => {
                let changed = what == CHANGED;
                let first = Leader { inode: inode.into(), path: path.into(), changed, there: None };
                leader = Some(lead(job, hand, first));
            }
        }
    }
    Ok(())
}

/// Links the names that had to wait until a directory in their way was deleted.
pub fn link_late(job: &Job<'_>, hand: &mut Hand) {
    for (leader, path) in std::mem::take(&mut *lock(&job.desk.late_links)) {
        let mut leader = Leader { inode: Vec::new(), path: leader, changed: false, there: None };
        if let Err(trouble) = follow(job, hand, &mut leader, &path) {
            job.trouble(&path, trouble);
        }
    }
}

/// The first name of a group: copied like any file, if it must be.
fn lead(job: &Job<'_>, hand: &mut Hand, mut leader: Leader) -> Leader {
    if !leader.changed {
        return leader;
    }
    match place_leader(job, hand, &leader.path) {
        Ok(there) => leader.there = there,
        Err(_) if waits(job, &[&leader.path]) => {}
        Err(trouble) => job.trouble(&leader.path, trouble),
    }
    leader
}

/// Whether a directory of one of these is gone from the destination; it is made anew, and they wait for that.
fn waits(job: &Job<'_>, paths: &[&[u8]]) -> bool {
    let healed = |path: &[u8]| is_missing(job, path) && heal(job, store::split_last(path).0).is_ok();
    !job.options.dry_run && paths.iter().filter(|path| healed(path)).count() > 0
}

fn is_missing(job: &Job<'_>, path: &[u8]) -> bool {
    matches!(job.destination.open_dir(store::split_last(path).0), Err(Errno::NOENT))
}

/// Makes sure that the destination has the leader; `None` in a dry run.
fn place_leader(job: &Job<'_>, hand: &mut Hand, path: &[u8]) -> Result<Option<There>, Trouble> {
    let (pair, item) = item_of(job, hand, path)?;
    if job.options.dry_run {
        if !renames::plan(job, hand, &pair, &item)? {
            crate::item::plan_item(job, &pair, &item);
        }
        return Ok(None);
    }
    job.drafts.note(&pair.path)?;
    let known = match renames::take(job, hand, &pair, &item)? {
        Some(known) => known,
        None => run_item(job, hand, &pair, &item)?,
    };
    note_done(job, &pair.path, &item.name, &known);
    there_of(job, &pair.path, &item.name, known).map(Some)
}

fn there_of(job: &Job<'_>, dir_path: &[u8], name: &[u8], known: Known) -> Result<There, Trouble> {
    let unready = |error| job.at_destination("look at", &store::below(dir_path, name), error);
    let dir = job.destination.open_dir(dir_path).map_err(unready)?;
    let inode = meta_of_entry(&dir, name).map_err(unready)?.inode;
    Ok(There { dir, inode, known })
}

/// What must be done with the file at `path`, as if it had one name.
fn item_of(job: &Job<'_>, hand: &mut Hand, path: &[u8]) -> Result<(Pair, Item), Trouble> {
    let (dir_path, name) = store::split_last(path);
    let source = job.source.open_dir(dir_path).map_err(|error| job.at_source("open", dir_path, error))?;
    let meta = meta_of_entry(&source, name).map_err(|error| job.at_source("look at", path, error))?;
    if meta.kind != Kind::File {
        return Err(Trouble::Vanished);
    }
    let pair = Pair::new(dir_path, source);
    let there = match pair.destination(job).and_then(|dir| meta_of_entry(dir, name)) {
        Ok(meta) => Some(meta),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(job.at_destination("look at", path, error)),
    };
    let known = known_of(job, hand, dir_path, name)?;
    let verdict = job.rules.judge(&meta, known.as_ref(), there.as_ref());
    let mut verdict = doubted(job, &pair, (name, &meta), verdict);
    if matches!(verdict, Verdict::Same | Verdict::Attributes | Verdict::Adopt)
        && job.options.verify == Verify::All
    {
        verdict = Verdict::Check;
    }
    let same_group = known.is_some_and(|known| known.inode == meta.inode);
    // Where no sync of ours knows it, as many names on both sides are taken for the same ones until the contents differ.
    let may_be_group =
        |there: Meta| verdict == Verdict::Recheck && known.is_none() && there.links == meta.links;
    if there.is_some_and(|there| there.links > 1 && !may_be_group(there)) && !same_group {
        // At the destination it belongs to names that it no longer belongs to at the source.
        verdict = Verdict::Copy;
    }
    Ok((pair, Item { name: name.into(), meta, known, verdict, there }))
}

fn known_of(job: &Job<'_>, hand: &mut Hand, dir: &[u8], name: &[u8]) -> fault::Result<Option<Known>> {
    let Some(mut cursor) = job.known.find(dir, &mut hand.cache)? else { return Ok(None) };
    let doubts = cursor.itself().is_none();
    while let Some((found, known)) = cursor.next()? {
        if found >= name {
            // A job that did not end worked here: the destination may have other content than it says.
            let known = if doubts { Known { id: None, ..known } } else { known };
            return Ok((found == name).then_some(known));
        }
    }
    Ok(None)
}

/// Links a further name to the leader.
fn follow(job: &Job<'_>, hand: &mut Hand, leader: &mut Leader, path: &[u8]) -> Result<(), Trouble> {
    let (dir_path, name) = store::split_last(path);
    if job.options.dry_run {
        let (_, item) = item_of(job, hand, path)?;
        job.planned(Act::Link, &item.meta, path);
        return Ok(());
    }
    if leader.there.is_none() {
        leader.there = find_leader(job, hand, leader)?;
    }
    let Some(to) = &leader.there else { return Ok(()) };
    let unmade = |error| job.at_destination("link", path, error);
    let dir = job.destination.open_dir(dir_path).map_err(unmade)?;
    let there = match meta_of_entry(&dir, name) {
        Ok(meta) => Some(meta),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(unmade(error)),
    };
    if there.is_some_and(|there| there.inode == to.inode) {
        job.counters.skipped.one();
        note_done(job, dir_path, name, &to.known);
        return Ok(());
    }
    if there.is_some_and(|there| there.kind == Kind::Directory) {
        return match directory_in_the_way(job, path, Kind::File) {
            Trouble::Waits => {
                lock(&job.desk.late_links).push((leader.path.clone(), path.to_vec()));
                job.incomplete(dir_path);
                Ok(())
            }
            trouble => Err(trouble),
        };
    }
    let spare = job.drafts.name_in(dir_path)?;
    let leader_name = store::split_last(&leader.path).1;
    match store::publish_link(to.dir.as_fd(), leader_name, &dir, name, &spare) {
        Ok(()) => {
            job.counters.linked.one();
            note_done(job, dir_path, name, &to.known);
            Ok(())
        }
        // As many names as the file system allows: the next ones share another copy.
        Err(Errno::MLINK) => {
            leader.path = path.to_vec();
            leader.there = place_leader(job, hand, path)?;
            Ok(())
        }
        Err(error) => Err(unmade(error)),
    }
}

/// The destination should have the leader from the last sync; if it has not, it is copied.
fn find_leader(job: &Job<'_>, hand: &mut Hand, leader: &Leader) -> Result<Option<There>, Trouble> {
    let (dir_path, name) = store::split_last(&leader.path);
    let (_, item) = item_of(job, hand, &leader.path)?;
    match item.there {
        Some(_) if !leader.changed => {
            let known = item.known.filter(|known| known.is_still(&item.meta));
            // What is there was read before the source was looked at now: the next sync compares them.
            let known = known.unwrap_or_else(|| Known { racy: true, ..Known::of(&item.meta) });
            there_of(job, dir_path, name, known).map(Some)
        }
        _ => place_leader(job, hand, &leader.path),
    }
}

fn note_done(job: &Job<'_>, dir: &[u8], name: &[u8], known: &Known) {
    let mut section = Section::default();
    section.push(name, known);
    if job.ledger.done(dir, &section, known.size) {
        job.checkpoint();
    }
}
