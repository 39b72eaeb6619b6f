//! Whether the content of a file moved, told from a few places of it.

use std::collections::HashSet;
use std::os::fd::OwnedFd;

use chunk::{Chunk, LEAF};
use store::{Meta, read_full};

use super::{Moved, cut};

/// Places that are looked at.
const SAMPLES: u64 = 16;
/// So many of them must have moved: with less, too little is saved for a file that is written anew.
const ENOUGH: u32 = 4;
/// After so many that are new and none that moved, no more are looked at.
const HOPELESS: u32 = 6;
/// Bytes that are cut at a place, and how far around it the old file is searched for them.
const STRETCH: u64 = 512 << 10;
const AROUND: u64 = 1 << 20;

/// Whether at least a quarter of the file stands elsewhere in the old one.
pub fn is_moved(source: &OwnedFd, meta: &Meta, moved: &Moved) -> bool {
    let (mut elsewhere, mut nowhere) = (0, 0);
    // Not in order, so that the first few say something of the whole.
    for number in (0..SAMPLES).map(|number| number * 7 % SAMPLES) {
        let at = (meta.size - LEAF) / (SAMPLES - 1) * number;
        match look(source, meta, moved, at) {
            Some(true) => elsewhere += 1,
            Some(false) => nowhere += 1,
            None => {}
        }
        if elsewhere >= ENOUGH || elsewhere == 0 && nowhere >= HOPELESS {
            break;
        }
    }
    elsewhere >= ENOUGH
}

/// Whether what stands at `at` stands elsewhere in the old file; `None` if it stands there too, or is nothing.
fn look(source: &OwnedFd, meta: &Meta, moved: &Moved, at: u64) -> Option<bool> {
    let new = |length| read(at, length, |bytes, at| read_full(source, bytes, at).unwrap_or(0));
    let old = |at, length| read(at, length, |bytes, at| moved.read_old(bytes, at));
    let leaf = new(LEAF);
    if leaf.iter().all(|byte| *byte == 0) || old(at, LEAF) == leaf {
        return None;
    }
    let shift = moved.meta.size.cast_signed() - meta.size.cast_signed();
    let by_size = at.checked_add_signed(shift).filter(|from| *from != at);
    if by_size.is_some_and(|from| old(from, LEAF) == leaf) {
        return Some(true);
    }
    let chunks = cut(moved.cutter, at, &new(STRETCH));
    if let Some(list) = moved.list.get() {
        return Some(
            chunks.iter().any(|chunk| list.find(chunk, None).is_some_and(|from| from != chunk.offset)),
        );
    }
    Some([by_size, Some(at)].into_iter().flatten().any(|from| {
        let start = from.saturating_sub(AROUND);
        let around = old(start, STRETCH + 2 * AROUND);
        has_moved(&chunks, &cut(moved.cutter, start, &around))
    }))
}

fn read(at: u64, length: u64, read: impl FnOnce(&mut [u8], u64) -> usize) -> Vec<u8> {
    let mut bytes = vec![0; length as usize];
    let length = read(&mut bytes, at);
    bytes.truncate(length);
    bytes
}

fn has_moved(new: &[Chunk], old: &[Chunk]) -> bool {
    let old: HashSet<([u8; 16], u64)> = old.iter().map(|chunk| (chunk.id, chunk.offset)).collect();
    let ids: HashSet<[u8; 16]> = old.iter().map(|(id, _)| *id).collect();
    new.iter().any(|chunk| ids.contains(&chunk.id) && !old.contains(&(chunk.id, chunk.offset)))
}
