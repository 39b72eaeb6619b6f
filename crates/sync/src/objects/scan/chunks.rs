//! The manifest of a chunk store says what is there.

use std::collections::HashSet;
use std::path::Path;

use fault::Fault;
use store::objects::Object;
use store::{Kind, Meta};

use super::super::side::Place;
use super::{Ear, Found, Scanned};
use crate::chunked::Entry;
use crate::filter::{Chain, Filter};
use crate::spool::Spool;

/// Reads the manifest. A block that is damaged is told, and nothing counts as gone then.
pub fn chunks(place: &Place, filter: &Filter, (ear, scratch): (&dyn Ear, &Path)) -> fault::Result<Scanned> {
    let (mut spool, mut unseen) = (Spool::new(scratch), HashSet::new());
    let Some(chunked) = &place.chunked else {
        return Err(Fault::new(fault::Kind::Bug, "it is no chunk store"));
    };
    let (mut entries, mut last, mut count) = (chunked.all(), Vec::new(), 0);
    loop {
        if ear.stopping() {
            return Err(Fault::new(fault::Kind::Interrupted, "stopped"));
        }
        let first = entries.peek().map(|at| path_of_place(&at.first)).unwrap_or_default();
        match entries.next(chunked) {
            Ok(None) => break,
            Ok(Some(some)) => some.iter().try_for_each(|entry| {
                if keep(place, filter, ear, &mut spool, entry)? {
                    count += 1;
                    imply(&entry.path, &mut last, &mut spool)?;
                }
                Ok(())
            })?,
            Err(fault) if fault.kind() == fault::Kind::Corrupt => {
                ear.failed(&first, &fault);
                unseen.insert(Vec::new());
            }
            Err(fault) => return Err(fault),
        }
    }
    Ok(Scanned { count, records: spool.sorted()?, unseen })
}

/// Notes an entry, if it takes part.
fn keep(
    place: &Place,
    filter: &Filter,
    ear: &dyn Ear,
    spool: &mut Spool,
    entry: &Entry,
) -> fault::Result<bool> {
    let is_directory = entry.posix.kind == Kind::Directory;
    let (key, _) = place.key(&entry.path, is_directory);
    let object = Object { key, size: entry.size, tag: entry.tag(), modified: entry.modified, labels: None };
    let kind = if is_directory { Kind::Directory } else { Kind::File };
    let found = Found::of_object(entry.path.clone(), kind, object);
    let chain = Chain::default();
    if !filter.is_open(&chain) && !filter.allows(&chain, &entry.path, &meta(&found, entry)) {
        ear.left_out();
        return Ok(false);
    }
    ear.scanned();
    spool.push(&found.record()).map(|()| true)
}

/// The directories that an entry is in, whether or not they have entries: a filter may have left them out, and another
/// program's list may lack them. Those of the entry before are noted already.
fn imply(path: &[u8], last: &mut Vec<u8>, spool: &mut Spool) -> fault::Result<()> {
    let mut dir = store::split_last(path).0;
    if last == dir {
        return Ok(());
    }
    *last = dir.to_vec();
    while !dir.is_empty() {
        spool.push(&Found::implied(dir.to_vec()).record())?;
        dir = store::split_last(dir).0;
    }
    Ok(())
}

/// As filters see it.
fn meta(found: &Found, entry: &Entry) -> Meta {
    let (posix, usual) = (&entry.posix, found.meta());
    let (uid, gid) = posix.owner.unwrap_or((usual.uid, usual.gid));
    let mtime = posix.mtime.unwrap_or(usual.mtime);
    Meta { kind: posix.kind, mode: posix.mode.unwrap_or(usual.mode), uid, gid, mtime, ..usual }
}

/// The path that a place stands for, for messages.
fn path_of_place(place: &[u8]) -> Vec<u8> {
    let Some(end) = place.windows(2).position(|pair| pair == [0, 0]) else { return Vec::new() };
    let dir: Vec<u8> = place[..end].iter().map(|byte| if *byte == 0 { b'/' } else { *byte }).collect();
    let name = place[end + 2..].strip_suffix(&[0]).unwrap_or_default();
    store::below(&dir, name)
}
