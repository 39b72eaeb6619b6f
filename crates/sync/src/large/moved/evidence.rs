//! Whether and how the content of a file moved, told from a few places of it.

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
/// Where all that moved did so by one length, for each place that is new so many must have moved.
const TO_ONE: u32 = 4;
/// Bytes that are cut at a place, and how far around it the old file is searched for them.
const STRETCH: u64 = 512 << 10;
const AROUND: u64 = 1 << 20;

/// Where the content of a new file is in the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Where it was, or nowhere.
    Stays,
    /// At least a quarter of it is elsewhere: as far away as the lengths differ, and hardly anything is new.
    Shifted,
    /// At least a quarter of it is elsewhere.
    Moved,
}

/// What stands at one place of the new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The same as in the old file, or zeros.
    There,
    /// What the old file has as far away as the lengths differ.
    Shifted,
    /// What the old file has elsewhere.
    Elsewhere,
    /// Something new.
    New,
}

/// Looks at a few places of both.
pub fn look(source: &OwnedFd, meta: &Meta, moved: &Moved) -> Evidence {
    let (mut shifted, mut elsewhere, mut new) = (0, 0, 0);
    // Not in order, so that the first few say something of the whole.
    for number in (0..SAMPLES).map(|number| number * 7 % SAMPLES) {
        let at = (meta.size - LEAF) / (SAMPLES - 1) * number;
        match look_at(source, meta, moved, at) {
            Place::Shifted => shifted += 1,
            Place::Elsewhere => elsewhere += 1,
            Place::New => new += 1,
            Place::There => {}
        }
        if elsewhere > 0 && shifted + elsewhere >= ENOUGH || shifted + elsewhere == 0 && new >= HOPELESS {
            break;
        }
    }
    match shifted + elsewhere >= ENOUGH {
        false => Evidence::Stays,
        true if elsewhere == 0 && TO_ONE * new <= shifted => Evidence::Shifted,
        true => Evidence::Moved,
    }
}

fn look_at(source: &OwnedFd, meta: &Meta, moved: &Moved, at: u64) -> Place {
    let shift = moved.meta.size.cast_signed() - meta.size.cast_signed();
    // What stands before this can't be shifted.
    let at = at.max((-shift).max(0).unsigned_abs()).min(meta.size - LEAF);
    let new = |length| read(at, length, |bytes, at| read_full(source, bytes, at).unwrap_or(0));
    let old = |at, length| read(at, length, |bytes, at| moved.read_old(bytes, at));
    let leaf = new(LEAF);
    if leaf.iter().all(|byte| *byte == 0) || old(at, LEAF) == leaf {
        return Place::There;
    }
    let by_size = at.checked_add_signed(shift).filter(|from| *from != at);
    if by_size.is_some_and(|from| old(from, LEAF) == leaf) {
        return Place::Shifted;
    }
    let chunks = cut(moved.cutter, at, &new(STRETCH));
    let ways = if let Some(list) = moved.list.get() {
        let find = |chunk: &Chunk| list.find(chunk, chunk.offset.checked_add_signed(shift));
        ways(&chunks, |chunk| find(chunk).into_iter().collect(), shift)
    } else {
        let around = |from: u64| {
            let start = from.saturating_sub(AROUND);
            cut(moved.cutter, start, &old(start, STRETCH + 2 * AROUND))
        };
        let there: Vec<Chunk> = [by_size, Some(at)].into_iter().flatten().flat_map(around).collect();
        let alike =
            |chunk: &Chunk| there.iter().filter(|old| old.id == chunk.id).map(|old| old.offset).collect();
        ways(&chunks, alike, shift)
    };
    match ways.iter().find(|way| **way != 0 && **way != shift) {
        Some(_) => Place::Elsewhere,
        None if ways.iter().any(|way| *way != 0) => Place::Shifted,
        None => Place::New,
    }
}

/// How far away the old file has each chunk that it has; where it has it several times, the likeliest.
fn ways(chunks: &[Chunk], find: impl Fn(&Chunk) -> Vec<u64>, shift: i64) -> Vec<i64> {
    let way = |chunk: &Chunk| {
        let all = find(chunk).into_iter().map(|from| from.cast_signed() - chunk.offset.cast_signed());
        all.min_by_key(|way| (*way != shift, *way != 0))
    };
    chunks.iter().filter_map(way).collect()
}

fn read(at: u64, length: u64, read: impl FnOnce(&mut [u8], u64) -> usize) -> Vec<u8> {
    let mut bytes = vec![0; length as usize];
    let length = read(&mut bytes, at);
    bytes.truncate(length);
    bytes
}
