//! A large file whose content moved: something was inserted, deleted or put elsewhere, so that hardly a leaf stands where it
//! stood. It is cut where its content says so, and what the destination's old copy has of it, wherever that stands, comes
//! from there; only the rest comes from the source.
//!
//! The new file is a draft of its own. The old copy's chunks are known from the last sync of this kind or found by reading
//! it once; where all of it moved by one length, nothing is cut (`shifted`), and the list of chunks is empty. What is copied
//! from the old file is read back, leaf by leaf: a leaf that is not the source's is written from the source. So the chunks
//! say how bytes travel, never what arrives.

mod evidence;
mod learning;
mod matching;
mod shifted;

use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use chunk::{Chunk, ChunkList, Cutter, Id, LEAF, leaf_id};
use store::{Kind, Meta, meta_of, read_full};

use self::evidence::Evidence;
use self::matching::{Piece, Place};
use super::holes::Holes;
use super::notes::Version;
use super::{Large, RANGE, key, range};
use crate::item::Item;
use crate::job::{Job, Trouble, lock};
use crate::options::Delta;
use crate::state::State;

pub use learning::learn;

/// Bytes that are cut and looked up at once. A chunk ends with them; what that tears apart is joined again by comparing
/// bytes.
const WINDOW: u64 = 2 << 20;

/// What is known of the old copy, and of the new one so far.
pub struct Moved {
    old: OwnedFd,
    meta: Meta,
    cutter: Cutter,
    /// The old copy's chunks, as soon as they are known. None at all where nothing is to be cut.
    list: OnceLock<ChunkList>,
    next: AtomicU64,
    left: AtomicU64,
    learned: Mutex<Vec<Chunk>>,
    /// The new one's.
    made: Mutex<Vec<Chunk>>,
    /// How far the content last found had moved.
    hint: AtomicI64,
}

impl Moved {
    fn new(old: OwnedFd, meta: Meta, new_size: u64, list: Option<ChunkList>) -> Self {
        let cutter = list.as_ref().map_or_else(|| cutter_for(meta.size), ChunkList::cutter);
        let ranges = meta.size.div_ceil(RANGE);
        Self {
            old,
            cutter,
            list: list.map_or_else(OnceLock::new, OnceLock::from),
            next: AtomicU64::new(0),
            left: AtomicU64::new(ranges),
            learned: Mutex::default(),
            made: Mutex::default(),
            hint: AtomicI64::new(meta.size.cast_signed() - new_size.cast_signed()),
            meta,
        }
    }

    /// Whether nothing is cut: what moved did so by the difference of the lengths.
    fn is_shifted(&self) -> bool {
        self.list.get().is_some_and(|list| list.chunks().is_empty())
    }

    fn read_old(&self, bytes: &mut [u8], at: u64) -> usize {
        // What can't be read is not there: it comes from the source.
        read_full(&self.old, bytes, at).unwrap_or(0)
    }
}

/// About a million chunks at most, so that their list stays small; larger chunks only from 64 GiB on.
fn cutter_for(size: u64) -> Cutter {
    Cutter::new((size >> 20).clamp(64 << 10, 256 << 10) as u32)
}

/// Looks whether the content of the destination's copy moved. `None` where it did not, or nothing can be said: then leaves
/// are compared where they stand.
pub fn begin(
    job: &Job<'_>,
    path: &[u8],
    (source, meta): (&OwnedFd, &Meta),
    dir: BorrowedFd<'_>,
    item: &Item,
) -> fault::Result<Option<Moved>> {
    if !matches!(job.options.delta, Delta::Auto | Delta::Content) {
        return Ok(None);
    }
    let Some(mut moved) = open(job.state, path, meta, dir, item) else { return Ok(None) };
    let evidence = evidence::look(source, meta, &moved);
    let sure = job.options.delta == Delta::Content || evidence != Evidence::Stays;
    // It takes a second copy for a while.
    if !sure || !has_room(dir, meta.size) {
        return Ok(None);
    }
    if evidence == Evidence::Shifted {
        let nothing = ChunkList::new(moved.cutter, Vec::new());
        // So that a job that goes on after a kill knows.
        keep(job.state, path, &moved.meta, &nothing)?;
        moved.list = OnceLock::from(nothing);
    }
    Ok(Some(moved))
}

/// Goes on with a draft that was begun this way.
pub fn resume(job: &Job<'_>, path: &[u8], meta: &Meta, dir: BorrowedFd<'_>, item: &Item) -> Option<Moved> {
    open(job.state, path, meta, dir, item).filter(|moved| moved.list.get().is_some())
}

fn open(state: &State, path: &[u8], meta: &Meta, dir: BorrowedFd<'_>, item: &Item) -> Option<Moved> {
    item.there.filter(|there| there.kind == Kind::File && there.size > 0)?;
    let old = store::open_reading(dir, &item.name).ok()?;
    let there = meta_of(&old).ok().filter(|there| there.kind == Kind::File && there.size > 0)?;
    let stored = std::fs::read(state.path(&format!("chunks/{}", key(path)))).ok();
    let list = stored.and_then(|bytes| decode(&bytes)).filter(|(version, _)| *version == Version::of(&there));
    Some(Moved::new(old, there, meta.size, list.map(|(_, list)| list)))
}

fn has_room(dir: BorrowedFd<'_>, size: u64) -> bool {
    rustix::fs::fstatvfs(dir).is_ok_and(|room| room.f_bavail.saturating_mul(room.f_frsize) > size)
}

/// Keeps a list of chunks for the next sync, with the file at the destination that has them.
pub fn keep(state: &State, path: &[u8], there: &Meta, list: &ChunkList) -> fault::Result<()> {
    let chunks = state.path("chunks");
    std::fs::create_dir_all(&chunks).map_err(|error| fault::Fault::os("create", &chunks, error))?;
    let mut bytes = Vec::new();
    Version::of(there).put(&mut bytes);
    bytes.extend_from_slice(&list.encode());
    state.write(&format!("chunks/{}", key(path)), &bytes)
}

/// From bytes on disk.
pub fn decode(mut bytes: &[u8]) -> Option<(Version, ChunkList)> {
    let version = Version::take(&mut bytes).ok()?;
    Some((version, ChunkList::decode(bytes).ok()?))
}

/// The file at the destination is complete: its chunks are kept, if all of them are known. Content that moved once will
/// move again.
pub fn finish(job: &Job<'_>, large: &Large, moved: &Moved, there: &Meta) -> fault::Result<()> {
    if large.skip.contains(&true) || moved.is_shifted() {
        return job.state.remove(&format!("chunks/{}", key(&large.path())));
    }
    let made = std::mem::take(&mut *lock(&moved.made));
    keep(job.state, &large.path(), there, &ChunkList::new(moved.cutter, made))
}

/// Copies one range. Returns the hashes of its leaves.
pub fn copy(
    job: &Job<'_>,
    large: &Large,
    moved: &Moved,
    range: Range<u64>,
    holes: &Holes,
) -> Result<Vec<Id>, Trouble> {
    let window = if moved.is_shifted() { shifted::WINDOW } else { WINDOW };
    let mut buffer = vec![0; window.min(range.end - range.start) as usize];
    let mut ids = Vec::with_capacity((RANGE / LEAF) as usize);
    // Other workers see other parts of the file, which may have moved otherwise: what came before counts first.
    let (mut at, mut hint) = (range.start, 0);
    while at < range.end {
        if job.stopping() {
            return Err(Trouble::Stopped);
        }
        let bytes = &mut buffer[..(range.end - at).min(window) as usize];
        range::read(job, large, at, bytes, holes)?;
        let leaves = leaves_of(at, bytes);
        let data = data_in(at, bytes.len(), holes);
        let there: usize = data.iter().map(Range::len).sum();
        job.counters.bytes_saved.add((bytes.len() - there) as u64);
        for run in data {
            let first = run.start / LEAF as usize;
            let part = Part { at: at + run.start as u64, bytes: &bytes[run], leaves: &leaves[first..] };
            hint = if moved.is_shifted() {
                shifted::copy(&part, job, large, moved, hint)?
            } else {
                part.copy(job, large, moved, hint)?
            };
        }
        ids.extend(leaves);
        at += bytes.len() as u64;
    }
    Ok(ids)
}

fn leaves_of(at: u64, bytes: &[u8]) -> Vec<Id> {
    let leaves = bytes.chunks(LEAF as usize);
    (at..).step_by(LEAF as usize).zip(leaves).map(|(offset, leaf)| leaf_id(offset, leaf)).collect()
}

/// Leaves side by side that are not all hole.
fn data_in(at: u64, length: usize, holes: &Holes) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for start in (0..length).step_by(LEAF as usize) {
        let end = (start + LEAF as usize).min(length);
        if holes.covers(at + start as u64, at + end as u64) {
            continue;
        }
        match runs.last_mut().filter(|run| run.end == start) {
            Some(run) => run.end = end,
            None => runs.push(start..end),
        }
    }
    runs
}

/// The chunks of `bytes`, which stand at `offset`.
fn cut(cutter: Cutter, offset: u64, bytes: &[u8]) -> Vec<Chunk> {
    cutter.all(bytes).map(|place| Chunk::of(offset + place.start as u64, &bytes[place])).collect()
}

/// Content of the source without holes, which begins with a leaf.
struct Part<'a> {
    at: u64,
    bytes: &'a [u8],
    leaves: &'a [Id],
}

impl Part<'_> {
    /// Returns how far what was found last had moved, for who comes next.
    fn copy(&self, job: &Job<'_>, large: &Large, moved: &Moved, hint: i64) -> Result<i64, Trouble> {
        let Some(list) = moved.list.get() else { return Err(Trouble::Stopped) };
        let chunks = cut(moved.cutter, self.at, self.bytes);
        let place = Place { at: self.at, bytes: self.bytes };
        let by_size = moved.meta.size.cast_signed() - large.meta.size.cast_signed();
        let hints = [hint, moved.hint.load(Ordering::Relaxed), by_size, 0];
        let found = place.extend(place.find(&chunks, list), &hints, |bytes, at| moved.read_old(bytes, at));
        let hint = found.last().map_or(hint, |last| place.shift(last));
        moved.hint.store(hint, Ordering::Relaxed);
        lock(&moved.made).extend(chunks);
        let mut copied = Vec::new();
        for piece in place.pieces(&found) {
            match piece {
                Piece::Old { place, from } if self.copy_old(large, moved, &place, from) => copied.push(place),
                Piece::Old { place, .. } | Piece::New(place) => {
                    range::write(job, large, self.at, &self.bytes[place.clone()], place.start)?;
                }
            }
        }
        self.check(job, large, &copied)?;
        Ok(hint)
    }

    /// Copies from the old file; whatever the reason why it can't be, the source has the bytes too.
    fn copy_old(&self, large: &Large, moved: &Moved, place: &Range<usize>, from: u64) -> bool {
        let to = self.at + place.start as u64;
        store::copy_between(&moved.old, from, &large.page, to, place.len() as u64).is_ok()
    }

    /// Reads back all leaves that have something of the old file.
    fn check(&self, job: &Job<'_>, large: &Large, copied: &[Range<usize>]) -> Result<(), Trouble> {
        let mut there = vec![0; LEAF as usize];
        for (start, id) in (0..self.bytes.len()).step_by(LEAF as usize).zip(self.leaves) {
            let leaf = start..(start + LEAF as usize).min(self.bytes.len());
            let from_old: usize = copied.iter().map(|place| common(place, &leaf)).sum();
            if from_old == 0 {
                continue;
            }
            let (at, there) = (self.at + start as u64, &mut there[..leaf.len()]);
            let read = read_full(&large.page, there, at)
                .map_err(|error| job.at_destination("read back", &large.path(), error))?;
            if read == there.len() && leaf_id(at, there) == *id {
                job.counters.bytes_saved.add(from_old as u64);
                job.counters.bytes_verified.add(read as u64);
            } else {
                range::write(job, large, self.at, &self.bytes[leaf.clone()], leaf.start)?;
            }
        }
        Ok(())
    }
}

fn common(one: &Range<usize>, other: &Range<usize>) -> usize {
    one.end.min(other.end).saturating_sub(one.start.max(other.start))
}
