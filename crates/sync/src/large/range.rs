use std::ops::Range;

use chunk::{Id, LEAF, leaf_id, leaf_of};
use store::{read_full, write_full};

use super::holes::Holes;
use super::{Large, Old, RANGE, Way, moved};
use crate::job::{BUFFER, Hand, Job, Trouble, lock};

/// Copies what differs in one range; the hashes of its leaves.
pub fn copy(job: &Job<'_>, hand: &mut Hand, large: &Large, number: u64) -> Result<Vec<Id>, Trouble> {
    let (start, end) = (number * RANGE, large.meta.size.min((number + 1) * RANGE));
    if matches!(large.way, Way::InPlace) {
        large.notes.started(number)?;
    }
    let again = || store::open_reading(&large.pair.source, &large.item.name);
    let holes = Holes::of(&large.meta, start, end, again)
        .map_err(|error| job.at_source("read", &large.path(), error))?;
    let ids = match &large.old {
        Old::Moved(moved) => moved::copy(job, large, moved, start..end, &holes)?,
        _ => pieces(job, hand, large, start..end, &holes)?,
    };
    lock(&large.leaves).set(leaf_of(start), &ids);
    large.notes.done(number, &ids)?;
    Ok(ids)
}

fn pieces(
    job: &Job<'_>,
    hand: &mut Hand,
    large: &Large,
    range: Range<u64>,
    holes: &Holes,
) -> Result<Vec<Id>, Trouble> {
    let mut ids = Vec::with_capacity((RANGE / LEAF) as usize);
    let mut at = range.start;
    while at < range.end {
        if job.stopping() {
            return Err(Trouble::Stopped);
        }
        let length = (range.end - at).min(BUFFER as u64) as usize;
        piece(job, hand, large, at, length, holes, &mut ids)?;
        at += length as u64;
    }
    Ok(ids)
}

/// Copies what differs in one piece of a range, leaf by leaf; leaves side by side are written together.
fn piece(
    job: &Job<'_>,
    hand: &mut Hand,
    large: &Large,
    at: u64,
    length: usize,
    holes: &Holes,
    ids: &mut Vec<Id>,
) -> Result<(), Trouble> {
    let mut buffer = std::mem::take(&mut hand.buffer);
    let result = piece_with(job, large, at, &mut buffer[..length], holes, ids);
    hand.buffer = buffer;
    result
}

fn piece_with(
    job: &Job<'_>,
    large: &Large,
    at: u64,
    bytes: &mut [u8],
    holes: &Holes,
    ids: &mut Vec<Id>,
) -> Result<(), Trouble> {
    read(job, large, at, bytes, holes)?;
    let mut there = Vec::new();
    if matches!(large.old, Old::Unknown) {
        there = vec![0; bytes.len()];
        let length = read_full(&large.page, &mut there, at)
            .map_err(|error| job.at_destination("read", &large.path(), error))?;
        there.truncate(length);
    }
    // Where leaves that differ, side by side, begin.
    let mut run: Option<usize> = None;
    for (place, leaf) in (0..bytes.len()).step_by(LEAF as usize).zip(bytes.chunks(LEAF as usize)) {
        let offset = at + place as u64;
        let id = leaf_id(offset, leaf);
        let differs = match &large.old {
            Old::Nothing | Old::Moved(_) => !holes.covers(offset, offset + leaf.len() as u64),
            Old::Leaves(leaves) => leaves.get(leaf_of(offset)) != Some(&id),
            Old::Unknown => there.get(place..place + leaf.len()) != Some(leaf),
        };
        ids.push(id);
        if differs {
            run.get_or_insert(place);
        } else {
            job.counters.bytes_saved.add(leaf.len() as u64);
            if let Some(start) = run.take() {
                write(job, large, at, &bytes[start..place], start)?;
            }
        }
    }
    if let Some(start) = run {
        write(job, large, at, &bytes[start..], start)?;
    }
    Ok(())
}

/// Reads the source at `at`; what is a hole there is known without.
pub fn read(job: &Job<'_>, large: &Large, at: u64, bytes: &mut [u8], holes: &Holes) -> Result<(), Trouble> {
    if holes.covers(at, at + bytes.len() as u64) {
        bytes.fill(0);
        return Ok(());
    }
    let read =
        read_full(&large.source, bytes, at).map_err(|error| job.at_source("read", &large.path(), error))?;
    if read < bytes.len() {
        // It became shorter: the look at the end would tell, but there is nothing more to read.
        return Err(Trouble::Unstable);
    }
    job.counters.bytes_read.add(read as u64);
    Ok(())
}

/// Writes what stands at `at + place`.
pub fn write(job: &Job<'_>, large: &Large, at: u64, bytes: &[u8], place: usize) -> Result<(), Trouble> {
    job.throttle.pass(bytes.len() as u64, || job.stopping());
    write_full(&large.page, bytes, at + place as u64)
        .map_err(|error| job.at_destination("write", &large.path(), error))?;
    job.counters.bytes_sent.add(bytes.len() as u64);
    Ok(())
}
