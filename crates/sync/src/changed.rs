//! What changed in one directory, and nothing else of it: the names that a watch heard of are judged, copied and noted as
//! in a sync of all.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use store::{Errno, meta_of, meta_of_entry};

use crate::filter::Chain;
use crate::index::{Itself, Recall};
use crate::item::Pair;
use crate::job::{Hand, Job, Trouble};
use crate::look::{Joined, Look};
use crate::scope::Inside;
use crate::visit::{SHALLOW, heal, is_wanted, list, visit_existing};

/// Looks at what changed in the directory `dir`.
pub fn visit_changed(job: &Job<'_>, hand: &mut Hand, dir: &[u8], inside: &Inside) {
    let done = match enter(job, dir) {
        Ok(Some((source, chain))) if inside.whole => whole(job, hand, dir, source, &chain)
            .and_then(|()| if inside.names.is_empty() { Ok(()) } else { reopened(job, hand, dir, inside) }),
        Ok(Some((source, chain))) => names(job, hand, Pair::new(dir, source), inside, &chain),
        // Left out, or gone: then its parent changed too.
        Ok(None) | Err(Trouble::Vanished) => Ok(()),
        Err(trouble) => Err(trouble),
    };
    if let Err(trouble) = done {
        job.incomplete(dir);
        job.trouble(dir, trouble);
    }
}

/// The directory `dir` of the source, and the rules that hold in it; `None` where it does not take part.
fn enter(job: &Job<'_>, dir: &[u8]) -> Result<Option<(OwnedFd, Chain)>, Trouble> {
    let unopened = |error| match error {
        // Something else has the name of a directory above: that is told of its own.
        Errno::NOTDIR | Errno::LOOP => Trouble::Vanished,
        error => job.at_source("open", dir, error),
    };
    let mut at = job.source.open_dir(b"").map_err(unopened)?;
    let mut chain = job.options.filter.enter(&Chain::default(), at.as_fd(), b"");
    let mut path = Vec::new();
    for name in dir.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
        let meta = meta_of_entry(&at, name).map_err(unopened)?;
        if !is_wanted(job, &chain, &path, name, &meta) {
            return Ok(None);
        }
        at = store::open_dir_in(&at, name).map_err(unopened)?;
        path = store::below(&path, name);
        chain = job.options.filter.enter(&chain, at.as_fd(), &path);
    }
    Ok(Some((at, chain)))
}

fn whole(job: &Job<'_>, hand: &mut Hand, dir: &[u8], source: OwnedFd, chain: &Chain) -> Result<(), Trouble> {
    let meta = meta_of(&source).map_err(|error| job.at_source("look at", dir, error))?;
    let mut all = std::mem::take(&mut hand.names);
    let listed = list(job, hand, &mut all, source.as_fd(), |_| true)
        .map_err(|unlisted| unlisted.into_trouble(|error| job.at_source("list", dir, error)));
    let done = listed
        .and_then(|()| visit_existing(job, hand, Pair::new(dir, source), (&meta, &mut all), SHALLOW, chain));
    hand.names = all;
    done
}

/// After the whole directory, the trees in it that must be looked at.
fn reopened(job: &Job<'_>, hand: &mut Hand, dir: &[u8], inside: &Inside) -> Result<(), Trouble> {
    match enter(job, dir)? {
        Some((source, chain)) => names(job, hand, Pair::new(dir, source), inside, &chain),
        None => Ok(()),
    }
}

fn names(job: &Job<'_>, hand: &mut Hand, pair: Pair, inside: &Inside, chain: &Chain) -> Result<(), Trouble> {
    let path = pair.path.clone();
    if matches!(pair.destination(job), Err(Errno::NOENT)) && !job.options.dry_run {
        return heal(job, &path);
    }
    let meta = meta_of(&pair.source).map_err(|error| job.at_source("look at", &path, error))?;
    let mut known = job.known.find(&path, &mut hand.cache)?;
    let itself = known.as_ref().and_then(Recall::itself);
    let mut look = Look::new(job, pair, chain, false);
    look.doubts = known.is_some() && itself.is_none();
    look.part = true;
    let mut head = next(known.as_mut())?;
    for (name, deep) in &inside.names {
        while head.as_ref().is_some_and(|(known, _)| known < name) {
            head = next(known.as_mut())?;
        }
        if job.stopping() {
            return Err(Trouble::Stopped);
        }
        // After the deletes, what the index says of names that waited for them is no longer true.
        let told =
            head.as_ref().filter(|(known, _)| known == name && !job.deletes_done.load(Ordering::Relaxed));
        let known = told.map(|(_, known)| *known);
        let joined = Joined { name, known, in_destination: None, deep: *deep };
        if matches!(meta_of_entry(look.source(), &**name), Err(Errno::NOENT)) {
            look.extra(&joined)?;
        } else {
            if !job.renames.looks_again() {
                job.counters.scanned.one();
            }
            look.at_source(hand, &joined)?;
        }
    }
    look.end(hand, itself != Some(Itself::of(&meta)))
}

type Head = Option<(Box<[u8]>, crate::index::Known)>;

fn next(known: Option<&mut Recall>) -> fault::Result<Head> {
    let Some(recall) = known else { return Ok(None) };
    Ok(recall.next()?.map(|(name, known)| (name.into(), known)))
}
