//! What can only be done when the rest is: names of one file, and what directories have.

mod far;

use store::{Kind, Root, Stamp, meta_of};

use super::labels::{Posix, decode_named, encode_named};
use super::links;
use super::making::{dress_directory, link_names};
use super::scan::Found;
use super::side::Side;
use super::work::{Trouble, Work};
use crate::index::Known;
use crate::index::wire::{damaged, put, put_bytes, put_signed, take, take_bytes, take_signed, take_u32};
use crate::job::{Desk, lock};

pub use far::note as later_far;

/// Notes one name of a file with several, of which only labels tell.
pub fn link_later(work: &Work<'_>, group: [u8; 8], path: &[u8], id: [u8; 16]) -> fault::Result<()> {
    if links::apply(work) {
        return Ok(());
    }
    let mut record = group.to_vec();
    record.extend_from_slice(&id);
    record.extend_from_slice(path);
    lock(&work.links).push(&record)
}

/// Makes names that belong together names of one file.
pub fn link_all(work: &Work<'_>) -> fault::Result<()> {
    if links::apply(work) {
        return links::join_all(work);
    }
    let mut leader: Option<Box<[u8]>> = None;
    for record in Desk::take(&work.links, work.scratch()).sorted()? {
        let record = record?;
        if work.stopping() {
            return Ok(());
        }
        match leader.as_ref().filter(|leader| leader[..24] == record[..24]) {
            None => leader = Some(record),
            Some(leader) => {
                let path = &record[24..];
                match link(work, &leader[24..], path) {
                    Ok(true) => work.counters.linked.one(),
                    Ok(false) => {}
                    Err(fault) => work.ended(path, Err(Trouble::Item(fault))),
                }
            }
        }
    }
    Ok(())
}

fn link(work: &Work<'_>, from: &[u8], to: &[u8]) -> fault::Result<bool> {
    match &work.destination {
        Side::Tree(root) => link_names(root, &work.drafts, from, to),
        Side::Store(place) => place.far.as_ref().map_or(Ok(false), |far| far.link(from, to)),
    }
}

/// A directory gets its attributes at the end.
pub fn later(work: &Work<'_>, found: &Found, posix: &Posix) -> fault::Result<()> {
    let known = Known { racy: work.is_racy_object(found), ..found.known };
    note(work, &found.path, 0, Some(&known), posix, found.known.mtime)
}

/// Something is about to change in a directory of the destination that itself has not changed: here it gets back what it has
/// now, on another host what the source has.
pub fn touch(work: &Work<'_>, path: &[u8]) -> fault::Result<()> {
    match &work.destination {
        Side::Tree(root) => keep(work, root, path),
        Side::Store(place) if place.far.is_some() => {
            work.drafts.note(path)?;
            far::note(work, path, None)
        }
        Side::Store(_) => Ok(()),
    }
}

fn keep(work: &Work<'_>, root: &Root, path: &[u8]) -> fault::Result<()> {
    work.drafts.note(path)?;
    let Ok(open) = root.open_dir(path) else { return Ok(()) };
    let (Ok(meta), Ok(named)) = (meta_of(&open), store::named(&open, work.options.extended)) else {
        return Ok(());
    };
    note(work, path, 1, None, &Posix::of(&meta, named), Stamp::default())
}

/// What a directory's record begins with: the deepest first, then by path, then by rank.
fn start_of(path: &[u8], rank: u8) -> Vec<u8> {
    let depth = if path.is_empty() { 0 } else { path.split(|byte| *byte == b'/').count() as u32 };
    let mut record = (u32::MAX - depth).to_be_bytes().to_vec();
    record.extend_from_slice(path);
    record.extend_from_slice(&[0, rank]);
    record
}

/// The path of a record, and what follows it and its rank.
fn split_start(record: &[u8]) -> fault::Result<(&[u8], &[u8])> {
    let end =
        4 + record.get(4..).and_then(|rest| rest.iter().position(|byte| *byte == 0)).ok_or_else(damaged)?;
    Ok((&record[4..end], record.get(end + 2..).ok_or_else(damaged)?))
}

fn put_known(record: &mut Vec<u8>, known: Option<&Known>) {
    put(record, u64::from(known.is_some()));
    if let Some(known) = known {
        put(record, known.inode);
        for stamp in [known.mtime, known.ctime] {
            put_signed(record, stamp.seconds);
            put(record, stamp.nanos.into());
        }
        for number in [known.mode, known.uid, known.gid] {
            put(record, number.into());
        }
        put(record, known.size);
        put(record, u64::from(known.racy));
    }
}

fn take_known(from: &mut &[u8]) -> fault::Result<Option<Known>> {
    if take(from)? == 0 {
        return Ok(None);
    }
    let inode = take(from)?;
    let mut stamp =
        || -> fault::Result<Stamp> { Ok(Stamp { seconds: take_signed(from)?, nanos: take_u32(from)? }) };
    let (mtime, ctime) = (stamp()?, stamp()?);
    let (mode, uid, gid) = (take_u32(from)?, take_u32(from)?, take_u32(from)?);
    let (size, racy) = (take(from)?, take(from)? == 1);
    let kind = Kind::Directory;
    Ok(Some(Known { kind, racy, linked: false, size, mtime, ctime, inode, mode, uid, gid, id: None }))
}

fn note(
    work: &Work<'_>,
    path: &[u8],
    rank: u8,
    known: Option<&Known>,
    posix: &Posix,
    modified: Stamp,
) -> fault::Result<()> {
    let mut record = start_of(path, rank);
    let attributes = posix.attributes(modified, work.birth.umask, true);
    put(&mut record, attributes.mode.into());
    put(&mut record, u64::from(attributes.owner.is_some()));
    let (uid, gid) = attributes.owner.unwrap_or_default();
    put(&mut record, uid.into());
    put(&mut record, gid.into());
    for stamp in [attributes.mtime, attributes.atime] {
        put_signed(&mut record, stamp.seconds);
        put(&mut record, stamp.nanos.into());
    }
    put_bytes(&mut record, &encode_named(&attributes.named));
    put_known(&mut record, known);
    lock(&work.finishes).push(&record)
}

/// Sets the attributes of all directories that were noted, deepest first.
pub fn finish_all(work: &Work<'_>) -> fault::Result<()> {
    let root = match &work.destination {
        Side::Tree(root) => root,
        Side::Store(place) => return place.far.as_ref().map_or(Ok(()), |far| far::finish_all(work, far)),
    };
    let mut last: Vec<u8> = vec![0];
    for record in Desk::take(&work.finishes, work.scratch()).sorted()? {
        let record = record?;
        if work.stopping() {
            return Ok(());
        }
        let (path, rest) = split_start(&record)?;
        if path == &last[..] {
            continue;
        }
        match finish(work, root, path, rest) {
            Ok(Some(known)) => work.know(path, &known),
            Ok(None) => {}
            Err(fault) => work.ended(path, Err(Trouble::Item(fault))),
        }
        last = path.to_vec();
    }
    Ok(())
}

fn finish(work: &Work<'_>, root: &Root, path: &[u8], mut from: &[u8]) -> fault::Result<Option<Known>> {
    let from = &mut from;
    let mode = take_u32(from)?;
    let (has_owner, uid, gid) = (take(from)? == 1, take_u32(from)?, take_u32(from)?);
    let mut stamp =
        || -> fault::Result<Stamp> { Ok(Stamp { seconds: take_signed(from)?, nanos: take_u32(from)? }) };
    let (mtime, atime) = (stamp()?, stamp()?);
    let named = work.options.extended.of(decode_named(take_bytes(from)?)?);
    let known = take_known(from)?;
    let owner = (has_owner && work.with_owner).then_some((uid, gid));
    let wanted = store::Attributes { mode, owner, mtime, atime, named };
    Ok(if dress_directory(root, path, &wanted, work.options.extended)? { known } else { None })
}
