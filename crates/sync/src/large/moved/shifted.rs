//! Content that moved by one length, as when something was inserted in front: nothing is cut. Each window is taken from the
//! old copy as far away as the lengths differ, read back and compared with the source; what differs is written.

use std::ops::Range;

use chunk::LEAF;
use store::read_full;

use super::super::{Large, range};
use super::matching::{prefix, suffix};
use super::{Moved, Part};
use crate::job::{Job, Trouble};

/// Bytes that are taken at once: few enough to stay in a core's cache.
pub const WINDOW: u64 = 256 << 10;
/// Bytes at the start and at the end of a window that tell how far it moved.
const LOOK: usize = 4096;

/// Copies a part. Returns how far it had moved, for who comes next.
pub fn copy(part: &Part<'_>, job: &Job<'_>, large: &Large, moved: &Moved, hint: i64) -> Result<i64, Trouble> {
    let by_size = moved.meta.size.cast_signed() - large.meta.size.cast_signed();
    let found =
        [hint, by_size, 0].into_iter().find_map(|shift| Some((shift, stands_at(part, moved, shift)?)));
    let Some((shift, (place, _))) =
        found.filter(|(_, (place, from))| part.copy_old(large, moved, place, *from))
    else {
        range::write(job, large, part.at, part.bytes, 0)?;
        return Ok(hint);
    };
    range::write(job, large, part.at, &part.bytes[..place.start], 0)?;
    range::write(job, large, part.at, &part.bytes[place.end..], place.end)?;
    mend(part, job, large, place)?;
    Ok(shift)
}

/// What of a part the old file can have, and where, if it moved by `shift`.
fn common(part: &Part<'_>, moved: &Moved, shift: i64) -> Option<(Range<usize>, u64)> {
    let first = part.at.checked_add_signed(shift);
    // What would stand before the start of the old file is new.
    let start = first.map_or_else(|| (part.at.cast_signed() + shift).unsigned_abs() as usize, |_| 0);
    let from = first.unwrap_or(0);
    let length = (part.bytes.len().checked_sub(start)?).min(moved.meta.size.saturating_sub(from) as usize);
    (length > 0).then_some((start..start + length, from))
}

/// The same, if the old file has the start or the end of it there.
fn stands_at(part: &Part<'_>, moved: &Moved, shift: i64) -> Option<(Range<usize>, u64)> {
    let (place, from) = common(part, moved, shift)?;
    let length = place.len().min(LOOK);
    let is_at = |start: usize| {
        let mut there = [0; LOOK];
        let read = moved.read_old(&mut there[..length], from + (start - place.start) as u64);
        there[..read] == part.bytes[start..start + length]
    };
    (is_at(place.start) || is_at(place.end - length)).then_some((place, from))
}

/// Reads back what came from the old file, and writes what is not the source's.
fn mend(part: &Part<'_>, job: &Job<'_>, large: &Large, place: Range<usize>) -> Result<(), Trouble> {
    let mut there = vec![0; place.len()];
    let read = read_full(&large.page, &mut there, part.at + place.start as u64)
        .map_err(|error| job.at_destination("read back", &large.path(), error))?;
    // What can't be read back differs.
    there[read..]
        .iter_mut()
        .zip(&part.bytes[place.start + read..])
        .for_each(|(byte, wanted)| *byte = !wanted);
    job.counters.bytes_verified.add(read as u64);
    let mut start = place.start;
    while start < place.end {
        let end = (start / LEAF as usize * LEAF as usize + LEAF as usize).min(place.end);
        let (wanted, found) = (&part.bytes[start..end], &there[start - place.start..end - place.start]);
        let differs = if wanted == found {
            end..end
        } else {
            start + prefix(wanted, found)..end - suffix(wanted, found)
        };
        range::write(job, large, part.at, &part.bytes[differs.clone()], differs.start)?;
        job.counters.bytes_saved.add((end - start - differs.len()) as u64);
        start = end;
    }
    Ok(())
}
