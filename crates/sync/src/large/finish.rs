use std::os::fd::AsFd;
use std::sync::Arc;

use chunk::Id;
use rustix::fs::{Advice, fadvise, fremovexattr, ftruncate, renameat};
use store::{Attributes, Durability, meta_of};

use super::notes::{Stored, Version};
use super::{Large, MARK, Old, TRIES, Way, key, moved, start};
use crate::copy::{hash_of, reads_back_differently};
use crate::index::{Known, Section};
use crate::item::Item;
use crate::job::{Hand, Job, Trouble, lock};
use crate::options::Verify;

/// All ranges are done, or one could not be: gives the file its name, or says why not.
pub fn finish(job: &Job<'_>, hand: &mut Hand, large: &Arc<Large>) {
    let path = large.path();
    let trouble = lock(&large.trouble).take();
    let done = match trouble {
        None => complete(job, hand, large),
        Some(trouble) => Err(trouble),
    };
    match done {
        Ok(known) => {
            let mut section = Section::default();
            section.push(&large.item.name, &known);
            job.counters.copied.one();
            if job.ledger.done(&large.pair.path, &section, known.size) {
                job.checkpoint();
            }
        }
        Err(Trouble::Unstable) if large.attempt + 1 < TRIES && !job.stopping() => {
            let item = &large.item;
            let again = Item {
                name: item.name.clone(),
                meta: item.meta,
                known: item.known,
                verdict: item.verdict,
                there: item.there,
            };
            start(job, hand, &large.pair, again, large.attempt + 1);
        }
        Err(trouble) => {
            if matches!(trouble, Trouble::Unstable) {
                discard(job, large);
            }
            job.trouble(&path, trouble);
        }
    }
}

/// A draft of content that never was is of no use; a file changed in place keeps its mark and its notes.
fn discard(job: &Job<'_>, large: &Large) {
    let Way::Draft(name) = &large.way else { return };
    if let Ok(dir) = large.pair.destination(job) {
        let _ = store::remove_file(dir, name);
    }
    let _ = job.state.remove(&format!("parts/{}", key(&large.path())));
}

fn complete(job: &Job<'_>, hand: &mut Hand, large: &Large) -> Result<Known, Trouble> {
    let path = large.path();
    let unwritten = |error| job.at_destination("write", &path, error);
    let after = meta_of(&large.source).map_err(|error| job.at_source("look at", &path, error))?;
    if !large.meta.same_content(&after) {
        return Err(Trouble::Unstable);
    }
    let leaves = lock(&large.leaves).clone();
    let Some(id) = leaves.file_id() else { return Err(Trouble::Unstable) };
    ftruncate(&large.page, large.meta.size).map_err(unwritten)?;
    // Its leaves will be believed by the next sync: they must not be ahead of the disk.
    Durability::one(&large.page).map_err(unwritten)?;
    verify(job, hand, large, &id, &path)?;
    set_attributes(job, large, &path)?;
    give_name(job, large, &path)?;
    let there = meta_of(&large.page).map_err(unwritten)?;
    let stored = Stored { version: Version::of(&there), leaves };
    job.state.write(&format!("leaves/{}", key(&path)), &stored.encode())?;
    if let Old::Moved(moved) = &large.old {
        moved::finish(job, large, moved, &there)?;
    }
    job.state.remove(&format!("parts/{}", key(&path)))?;
    let racy = job.is_racy(large.meta.ctime);
    Ok(Known { id: Some(id.short()), racy, ..Known::of(&large.meta) })
}

fn verify(job: &Job<'_>, hand: &mut Hand, large: &Large, id: &Id, path: &[u8]) -> Result<(), Trouble> {
    if job.options.verify == Verify::None {
        return Ok(());
    }
    // From the disk, not from memory.
    let _ = fadvise(&large.page, 0, None, Advice::DontNeed);
    let found = hash_of(job, hand, large.page.as_fd(), large.meta.size).map_err(|error| {
        error.map_or(Trouble::Stopped, |error| job.at_destination("read back", path, error))
    })?;
    job.counters.bytes_verified.add(large.meta.size);
    if found == *id { Ok(()) } else { Err(Trouble::Item(reads_back_differently(job, path))) }
}

fn set_attributes(job: &Job<'_>, large: &Large, path: &[u8]) -> Result<(), Trouble> {
    let unset = |error| job.at_destination("set attributes of", path, error);
    let mut wanted = Attributes::of(&large.meta, job.rules.with_owner);
    wanted.named = store::named(&large.source, job.options.extended)
        .map_err(|error| job.at_source("read attributes of", path, error))?;
    if matches!(large.way, Way::InPlace) {
        fremovexattr(&large.page, MARK).map_err(unset)?;
    }
    store::clear_named(&large.page, &wanted.named, job.options.extended).map_err(unset)?;
    let now = meta_of(&large.page).map_err(unset)?;
    store::apply(&large.page, &wanted, &now)
        .map_err(|(action, error)| job.at_destination(&action, path, error))
}

fn give_name(job: &Job<'_>, large: &Large, path: &[u8]) -> Result<(), Trouble> {
    let Way::Draft(name) = &large.way else { return Ok(()) };
    let dir =
        large.pair.destination(job).map_err(|error| job.at_destination("open", &large.pair.path, error))?;
    renameat(dir, &name[..], dir, &*large.item.name)
        .map_err(|error| job.at_destination("replace", path, error))
}
