//! What can only be done when the rest is: names of one file, and what directories have.

use fault::Fault;
use store::{Errno, Kind, Root, Stamp, meta_of, meta_of_entry};

use super::download::unwritten;
use super::labels::{Posix, decode_named, encode_named};
use super::scan::Found;
use super::work::{Trouble, Work};
use crate::index::Known;
use crate::index::wire::{damaged, put, put_bytes, put_signed, take, take_bytes, take_signed, take_u32};
use crate::job::{Desk, lock};

/// Notes one name of a file with several.
pub fn link_later(work: &Work<'_>, group: [u8; 8], path: &[u8], id: [u8; 16]) -> fault::Result<()> {
    let mut record = group.to_vec();
    record.extend_from_slice(&id);
    record.extend_from_slice(path);
    lock(&work.links).push(&record)
}

/// Makes names that belong together names of one file.
pub fn link_all(work: &Work<'_>, root: &Root) -> fault::Result<()> {
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
                match link(work, root, &leader[24..], path) {
                    Ok(()) => work.counters.linked.one(),
                    Err(trouble) => work.ended(path, Err(trouble)),
                }
            }
        }
    }
    Ok(())
}

fn link(work: &Work<'_>, root: &Root, from: &[u8], to: &[u8]) -> Result<(), Trouble> {
    let failed = |error| unwritten(root, "link", to, error);
    let ((from_dir, from_name), (dir, name)) = (store::split_last(from), store::split_last(to));
    let spare = work.drafts.name_in(dir)?;
    let (from_dir, dir) = (root.open_dir(from_dir).map_err(failed)?, root.open_dir(dir).map_err(failed)?);
    let (one, other) = (meta_of_entry(&from_dir, from_name), meta_of_entry(&dir, name));
    let (one, other) = (one.map_err(failed)?, other.map_err(failed)?);
    if one.size != other.size || one.mtime != other.mtime || one.mode != other.mode {
        // They were of one file when they were written, and are not any more.
        return Ok(());
    }
    store::publish_link(&from_dir, from_name, &dir, name, &spare).map_err(failed)
}

/// A directory gets its attributes at the end.
pub fn later(work: &Work<'_>, found: &Found, posix: &Posix) -> fault::Result<()> {
    let known = Known { racy: work.is_racy_object(found), ..found.known };
    note(work, &found.path, 0, Some(&known), posix, found.known.mtime)
}

/// Something is about to change in a directory that itself has not changed: it gets back what it has now.
pub fn keep(work: &Work<'_>, root: &Root, path: &[u8]) -> fault::Result<()> {
    work.drafts.note(path)?;
    let Ok(open) = root.open_dir(path) else { return Ok(()) };
    let (Ok(meta), Ok(named)) = (meta_of(&open), store::named(&open, work.options.extended)) else {
        return Ok(());
    };
    note(work, path, 1, None, &Posix::of(&meta, named), Stamp::default())
}

fn note(
    work: &Work<'_>,
    path: &[u8],
    rank: u8,
    known: Option<&Known>,
    posix: &Posix,
    modified: Stamp,
) -> fault::Result<()> {
    let depth = if path.is_empty() { 0 } else { path.split(|byte| *byte == b'/').count() as u32 };
    let mut record = (u32::MAX - depth).to_be_bytes().to_vec();
    record.extend_from_slice(path);
    record.extend_from_slice(&[0, rank]);
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
    put(&mut record, u64::from(known.is_some()));
    if let Some(known) = known {
        put(&mut record, known.racy.into());
        put(&mut record, known.inode);
        put_signed(&mut record, known.mtime.seconds);
        put(&mut record, known.mtime.nanos.into());
    }
    lock(&work.finishes).push(&record)
}

/// Sets the attributes of all directories that were noted, deepest first.
pub fn finish_all(work: &Work<'_>, root: &Root) -> fault::Result<()> {
    let mut last: Vec<u8> = vec![0];
    for record in Desk::take(&work.finishes, work.scratch()).sorted()? {
        let record = record?;
        if work.stopping() {
            return Ok(());
        }
        let end = 4 + record[4..].iter().position(|byte| *byte == 0).ok_or_else(damaged)?;
        let path = &record[4..end];
        if path == &last[..] {
            continue;
        }
        match finish(work, root, path, &record[end + 2..]) {
            Ok(Some(known)) => work.know(path, &known),
            Ok(None) => {}
            Err(trouble) => work.ended(path, Err(trouble)),
        }
        last = path.to_vec();
    }
    Ok(())
}

fn finish(work: &Work<'_>, root: &Root, path: &[u8], mut from: &[u8]) -> Result<Option<Known>, Trouble> {
    let from = &mut from;
    let mode = take_u32(from)?;
    let (has_owner, uid, gid) = (take(from)? == 1, take_u32(from)?, take_u32(from)?);
    let mut stamp =
        || -> fault::Result<Stamp> { Ok(Stamp { seconds: take_signed(from)?, nanos: take_u32(from)? }) };
    let (mtime, atime) = (stamp()?, stamp()?);
    let named = work.options.extended.of(decode_named(take_bytes(from)?)?);
    let known = if take(from)? == 1 {
        let racy = take(from)? == 1;
        let inode = take(from)?;
        let mtime = Stamp { seconds: take_signed(from)?, nanos: take_u32(from)? };
        Some(Known {
            kind: Kind::Directory,
            racy,
            linked: false,
            size: 0,
            mtime,
            ctime: mtime,
            inode,
            mode: 0,
            uid: 0,
            gid: 0,
            id: None,
        })
    } else {
        None
    };
    let owner = (has_owner && work.with_owner).then_some((uid, gid));
    let wanted = store::Attributes { mode, owner, mtime, atime, named };
    let failed = |error| unwritten(root, "set attributes of", path, error);
    let open = match root.open_dir(path) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    store::clear_named(&open, &wanted.named, work.options.extended).map_err(failed)?;
    let now = meta_of(&open).map_err(failed)?;
    store::apply(&open, &wanted, &now)
        .map_err(|(action, error)| Trouble::Item(Fault::os(&action, &root.show(path), error)))?;
    Ok(known)
}
