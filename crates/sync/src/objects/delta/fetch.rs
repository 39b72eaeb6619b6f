//! From a host to here.

use std::collections::VecDeque;
use std::ops::Range;
use std::os::fd::{AsFd as _, OwnedFd};

use chunk::{Chunk, ChunkList, Id, LEAF, Leaves, leaf_id};
use store::objects::Object;
use store::{Draft, Kind, meta_of, read_full};

use super::super::labels::Posix;
use super::super::making::Making;
use super::super::side::Place;
use super::super::work::{PIECE, PIECES_AT_ONCE, Trouble, Work};
use super::{Way, cutter, is_zeros, runs, way};
use crate::far::{Far, Reading};
use crate::options::Delta;

/// Pieces that are on their way at the same time.
const AT_ONCE: usize = 4 * PIECES_AT_ONCE;

/// Brings a large file as what differs from the copy that is here. `None` where there is none, or where that way led nowhere:
/// then all of the file is to be read.
pub fn fetch(
    work: &Work<'_>,
    place: &Place,
    making: &Making<'_>,
    object: &Object,
    posix: &Posix,
) -> Result<Option<Id>, Trouble> {
    let Some(far) = place.far.as_deref().filter(|_| work.options.delta != Delta::Off) else {
        return Ok(None);
    };
    let Ok(old) = store::open_reading(making.dir, making.name) else { return Ok(None) };
    let Some(meta) = meta_of(&old).ok().filter(|meta| meta.kind == Kind::File && meta.size >= LEAF) else {
        return Ok(None);
    };
    let _turn = work.large();
    let draft = making.draft()?;
    let fetching =
        Fetching { work, far, making, object, sparse: posix.sparse, old, old_size: meta.size, draft };
    let id = fetching.content();
    let done = id.and_then(|id| {
        let Some(id) = id.filter(|id| fetching.reads_back(id)) else { return Ok(None) };
        making.publish(&fetching.draft, posix, object.modified)?;
        work.counters.copied.one();
        Ok(Some(id))
    });
    if !matches!(done, Ok(Some(_))) {
        let _ = fetching.draft.discard(making.dir);
    }
    done
}

struct Fetching<'a, 'b> {
    work: &'a Work<'b>,
    far: &'a Far,
    making: &'a Making<'a>,
    object: &'a Object,
    sparse: bool,
    old: OwnedFd,
    old_size: u64,
    draft: Draft,
}

impl<'a> Fetching<'a, '_> {
    /// Fills the draft. The hash that it must have, as the host says.
    fn content(&self) -> Result<Option<Id>, Trouble> {
        let Object { key, tag, size, .. } = self.object;
        let read = |bytes: &mut [u8], at| self.read_old(bytes, at) == bytes.len();
        let way = way(self.work.options.delta, self.far, (key, tag), self.old_size.min(*size), &read)?;
        let mut reads = VecDeque::new();
        let id = match way {
            Way::Chunks if !self.sparse => self.by_chunks(&mut reads)?,
            _ => self.by_leaves(&mut reads)?,
        };
        while let Some(first) = reads.pop_front() {
            self.arrive(first)?;
        }
        self.making.cut(&self.draft, *size)?;
        Ok(id)
    }

    /// What can't be read of the old copy is not there.
    fn read_old(&self, bytes: &mut [u8], at: u64) -> usize {
        read_full(&self.old, bytes, at).unwrap_or(0)
    }

    fn by_leaves(&self, reads: &mut VecDeque<Arriving<'a>>) -> Result<Option<Id>, Trouble> {
        let Object { key, tag, size, .. } = self.object;
        let mut leaves = Leaves::unknown(*size);
        let ask = |at: u64| self.far.sums_later(key, at..(*size).min(at + PIECE), tag);
        let (mut at, mut next, mut buffer) = (0, Some(ask(0)?), vec![0; PIECE as usize]);
        while let Some(asked) = next.take() {
            let ids = asked.ids()?;
            let end = (*size).min(at + PIECE);
            if ids.len() as u64 != (end - at).div_ceil(LEAF) {
                return Ok(None);
            }
            if end < *size {
                next = Some(ask(end)?);
            }
            let length = (end - at) as usize;
            let there = self.read_old(&mut buffer[..length], at);
            let says = |number: usize| {
                let (start, stop) = (number * LEAF as usize, ((number + 1) * LEAF as usize).min(length));
                let alike = stop <= there && leaf_id(at + start as u64, &buffer[start..stop]) == ids[number];
                match alike {
                    true if self.sparse && is_zeros(&buffer[start..stop]) => Leaf::Hole,
                    true => Leaf::Old,
                    false => Leaf::New,
                }
            };
            let said: Vec<Leaf> = (0..ids.len()).map(says).collect();
            leaves.set(at / LEAF, &ids);
            for (leaf, run) in runs(&said, length) {
                let place = at + run.start as u64..at + run.end as u64;
                match leaf {
                    Leaf::Old => self.copy(place.start, place, reads)?,
                    Leaf::New => self.read(place, reads)?,
                    Leaf::Hole => self.work.counters.bytes_saved.add(place.end - place.start),
                }
            }
            at = end;
        }
        Ok(leaves.file_id())
    }

    fn by_chunks(&self, reads: &mut VecDeque<Arriving<'a>>) -> Result<Option<Id>, Trouble> {
        let Object { key, tag, size, .. } = self.object;
        let list = self.cut_old();
        let mut wanted = Vec::new();
        let id = self.far.chunks(key, cutter(), tag, &mut |chunk| wanted.push(chunk))?;
        if wanted.last().map(Chunk::end) != Some(*size) {
            return Ok(None);
        }
        let (mut expected, mut missing) = (None, 0..0);
        for chunk in wanted {
            match list.find(&chunk, expected) {
                Some(from) => {
                    self.read(std::mem::replace(&mut missing, chunk.end()..chunk.end()), reads)?;
                    self.copy(from, chunk.offset..chunk.end(), reads)?;
                    expected = Some(from + u64::from(chunk.length));
                }
                None if missing.end == chunk.offset && chunk.end() - missing.start <= PIECE => {
                    missing.end = chunk.end();
                }
                None => self.read(std::mem::replace(&mut missing, chunk.offset..chunk.end()), reads)?,
            }
        }
        self.read(missing, reads)?;
        Ok(Some(id))
    }

    /// The chunks of the old copy.
    fn cut_old(&self) -> ChunkList {
        let (cutter, mut chunks, mut buffer, mut at) = (cutter(), Vec::new(), Vec::new(), 0);
        loop {
            let kept = buffer.len();
            buffer.resize(kept + PIECE as usize, 0);
            let read = self.read_old(&mut buffer[kept..], at + kept as u64);
            buffer.truncate(kept + read);
            let is_last = read < PIECE as usize;
            let mut done = 0;
            while done < buffer.len() && (is_last || buffer.len() - done >= cutter.most()) {
                let length = cutter.first(&buffer[done..]);
                chunks.push(Chunk::of(at + done as u64, &buffer[done..done + length]));
                done += length;
            }
            buffer.drain(..done);
            at += done as u64;
            if is_last {
                return ChunkList::new(cutter, chunks);
            }
        }
    }

    /// Takes a piece from the old copy; where that can't be, the host has it too.
    fn copy(&self, from: u64, place: Range<u64>, reads: &mut VecDeque<Arriving<'a>>) -> Result<(), Trouble> {
        let length = place.end - place.start;
        if store::copy_between(&self.old, from, self.draft.fd(), place.start, length).is_err() {
            return self.read(place, reads);
        }
        self.work.counters.bytes_saved.add(length);
        Ok(())
    }

    fn read(&self, place: Range<u64>, reads: &mut VecDeque<Arriving<'a>>) -> Result<(), Trouble> {
        for start in (place.start..place.end).step_by(PIECE as usize) {
            if self.work.stopping() {
                return Err(Trouble::Stopped);
            }
            let piece = start..place.end.min(start + PIECE);
            self.work.throttle(piece.end - piece.start);
            reads.push_back((start, self.far.read_later(&self.object.key, piece, &self.object.tag)?));
            if reads.len() >= AT_ONCE
                && let Some(first) = reads.pop_front()
            {
                self.arrive(first)?;
            }
        }
        Ok(())
    }

    fn arrive(&self, (at, reading): Arriving<'_>) -> Result<(), Trouble> {
        let bytes = reading.content()?;
        self.work.passed(bytes.len() as u64);
        self.making.write_piece(&self.draft, &bytes, at, self.sparse)?;
        Ok(())
    }

    /// Whether the whole has the hash that it must have.
    fn reads_back(&self, id: &Id) -> bool {
        let (mut hasher, mut buffer, mut at) = (blake3::Hasher::new(), vec![0; 1 << 20], 0);
        while let Ok(length) = read_full(self.draft.fd().as_fd(), &mut buffer, at) {
            if length == 0 {
                break;
            }
            hasher.update(&buffer[..length]);
            at += length as u64;
        }
        let right = hasher.finalize().as_bytes() == &id.0;
        if right {
            self.work.counters.bytes_verified.add(at);
        }
        right
    }
}

/// Where a leaf comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaf {
    /// The copy that is here.
    Old,
    /// The host.
    New,
    /// Nowhere: it is zeros in a file with holes.
    Hole,
}

/// A piece that is on its way, and where it goes.
type Arriving<'a> = (u64, Reading<'a>);
