//! From here to a host.

use std::os::fd::OwnedFd;

use chunk::{Chunk, ChunkList, Id, LEAF, leaf_id};
use store::objects::{Bytes, Labels, is_changed};
use store::{Kind, Root, read_full};

use super::super::labels::{Posix, is_sparse};
use super::super::side::Place;
use super::super::upload::{Entry, Sent};
use super::super::work::{PIECE, PIECES_AT_ONCE, Task, Todo, Trouble, Work};
use super::{Way, cutter, is_zeros, runs, way};
use crate::far::{Far, Parts};
use crate::options::{Delta, Verify};

/// The copy that a host has.
struct Old {
    size: u64,
    tag: String,
}

/// Sends what differs from the copy that the host has. `None` where it has none, or where that way led nowhere: then all of
/// the file is to be sent.
pub fn send(
    work: &Work<'_>,
    root: &Root,
    task: &Task,
    entry: &Entry<'_>,
    (place, key, labels): (&Place, &str, &Labels),
) -> Result<Option<Sent>, Trouble> {
    let (Some(far), Some(file), Kind::File) = (&place.far, &entry.file, entry.meta.kind) else {
        return Ok(None);
    };
    let had = task.known.is_some_and(|known| known.kind == Kind::File) || task.todo == Todo::Compare;
    if !had || task.replaces || entry.meta.size <= PIECE || work.options.delta == Delta::Off {
        return Ok(None);
    }
    let _turn = work.large();
    let Some(old) = place.look(key).ok().filter(|object| Posix::read(object).kind == Kind::File) else {
        return Ok(None);
    };
    let old = Old { size: old.size, tag: old.tag };
    let sending = Sending { work, root, path: &task.found.path, file, size: entry.meta.size, far, key };
    let sent = sending.send(&old, labels, &|| entry.is_still(root, &task.found.path, file));
    match sent {
        // Somebody else changed the copy, or it reads back differently: it is no help.
        Err(Trouble::Item(fault)) if is_changed(&fault) => Ok(None),
        Ok(None) => Ok(Some(Sent::Changed)),
        Ok(Some(id)) => {
            work.counters.copied.one();
            if work.options.verify != Verify::None {
                work.counters.bytes_verified.add(entry.meta.size);
            }
            Ok(Some(Sent::Content(id)))
        }
        Err(trouble) => Err(trouble),
    }
}

struct Sending<'a, 'b> {
    work: &'a Work<'b>,
    root: &'a Root,
    path: &'a [u8],
    file: &'a OwnedFd,
    size: u64,
    far: &'a Far,
    key: &'a str,
}

impl Sending<'_, '_> {
    /// The file's hash; `None` if it changed while it was read.
    fn send(
        &self,
        old: &Old,
        labels: &Labels,
        is_still: &dyn Fn() -> Result<bool, Trouble>,
    ) -> Result<Option<Id>, Trouble> {
        let read =
            |bytes: &mut [u8], at| read_full(self.file, bytes, at).is_ok_and(|read| read == bytes.len());
        let common = old.size.min(self.size);
        let sparse = is_sparse(labels);
        let way = way(self.work.options.delta, self.far, (self.key, &old.tag), common, &read)?;
        let upload = self.far.begin_from(self.key, labels, 4 * PIECES_AT_ONCE)?;
        let mut out = Out { work: self.work, upload, old: None, new: Vec::new(), new_at: 0 };
        let done = match way {
            Way::Leaves => self.by_leaves(old, sparse, &mut out),
            Way::Chunks => self.by_chunks(old, sparse, &mut out),
        };
        match done.and_then(|id| Ok(if is_still()? { id } else { None })) {
            Ok(Some(id)) => {
                out.flush()?;
                out.upload.finish_as(self.size, Some(&id))?;
                Ok(Some(id))
            }
            other => {
                out.upload.give_up();
                other
            }
        }
    }

    fn read(&self, bytes: &mut [u8], at: u64) -> Result<bool, Trouble> {
        if self.work.stopping() {
            return Err(Trouble::Stopped);
        }
        let read = read_full(self.file, bytes, at)
            .map_err(|error| fault::Fault::os("read", &self.root.show(self.path), error))?;
        self.work.counters.bytes_read.add(read as u64);
        Ok(read == bytes.len())
    }

    /// Leaf by leaf, where they stand. The hashes of the next window are asked for before this one is read.
    fn by_leaves(&self, old: &Old, sparse: bool, out: &mut Out<'_, '_>) -> Result<Option<Id>, Trouble> {
        let (mut hasher, mut buffer, mut at) = (blake3::Hasher::new(), vec![0; PIECE as usize], 0);
        let ask = |at: u64| {
            let window = at.min(old.size)..old.size.min(at + PIECE);
            self.far.sums_later(self.key, window, &old.tag)
        };
        let mut next = Some(ask(0)?);
        while at < self.size {
            let there = match next.take() {
                Some(asked) => asked.ids()?,
                None => Vec::new(),
            };
            if at + PIECE < self.size.min(old.size) {
                next = Some(ask(at + PIECE)?);
            }
            let length = (self.size - at).min(PIECE) as usize;
            let bytes = &mut buffer[..length];
            if !self.read(bytes, at)? {
                return Ok(None);
            }
            hasher.update(bytes);
            let leaves = (at..).step_by(LEAF as usize).zip(bytes.chunks(LEAF as usize));
            let alike: Vec<bool> = leaves
                .enumerate()
                .map(|(number, (at, leaf))| {
                    // A last leaf that is shorter there has another hash.
                    there.get(number) == Some(&leaf_id(at, leaf)) && !(sparse && is_zeros(leaf))
                })
                .collect();
            for (alike, run) in runs(&alike, length) {
                let start = at + run.start as u64;
                if alike {
                    out.take_old(start, start, run.len() as u64)?;
                } else {
                    out.take_new(start, &bytes[run])?;
                }
            }
            at += length as u64;
        }
        Ok(Some(Id(*hasher.finalize().as_bytes())))
    }

    /// Chunk by chunk, wherever the old copy has them.
    fn by_chunks(&self, old: &Old, sparse: bool, out: &mut Out<'_, '_>) -> Result<Option<Id>, Trouble> {
        let cutter = cutter();
        let mut chunks = Vec::new();
        self.far.chunks(self.key, cutter, &old.tag, &mut |chunk| chunks.push(chunk))?;
        let list = ChunkList::new(cutter, chunks);
        let (mut hasher, mut buffer, mut at, mut expected) =
            (blake3::Hasher::new(), Vec::with_capacity(PIECE as usize), 0, None);
        while at < self.size {
            // What is left of the last window is cut together with what follows it.
            let kept = buffer.len();
            let more = (self.size - at - kept as u64).min(PIECE) as usize;
            buffer.resize(kept + more, 0);
            if !self.read(&mut buffer[kept..], at + kept as u64)? {
                return Ok(None);
            }
            hasher.update(&buffer[kept..]);
            let is_last = at + buffer.len() as u64 == self.size;
            let mut done = 0;
            while done < buffer.len() && (is_last || buffer.len() - done >= cutter.most()) {
                let rest = &buffer[done..];
                let bytes = &rest[..cutter.first(rest)];
                let chunk = Chunk::of(at + done as u64, bytes);
                match list.find(&chunk, expected).filter(|_| !(sparse && is_zeros(bytes))) {
                    Some(from) => {
                        out.take_old(from, chunk.offset, chunk.length.into())?;
                        expected = Some(from + u64::from(chunk.length));
                    }
                    None => out.take_new(chunk.offset, bytes)?,
                }
                done += bytes.len();
            }
            buffer.drain(..done);
            at += done as u64;
        }
        Ok(Some(Id(*hasher.finalize().as_bytes())))
    }
}

/// Where pieces go: joined where they stand side by side.
struct Out<'a, 'b> {
    work: &'a Work<'b>,
    upload: Parts<'a>,
    /// From where in the old copy, to where, how long.
    old: Option<(u64, u64, u64)>,
    new: Vec<u8>,
    new_at: u64,
}

impl Out<'_, '_> {
    fn take_old(&mut self, from: u64, at: u64, length: u64) -> fault::Result<()> {
        self.send_new()?;
        match &mut self.old {
            Some((start, to, so_far)) if *start + *so_far == from && *to + *so_far == at => *so_far += length,
            _ => {
                self.copy_old()?;
                self.old = Some((from, at, length));
            }
        }
        Ok(())
    }

    fn take_new(&mut self, at: u64, bytes: &[u8]) -> fault::Result<()> {
        self.copy_old()?;
        if self.new.is_empty() {
            self.new_at = at;
        }
        self.new.extend_from_slice(bytes);
        if self.new.len() as u64 >= PIECE / 4 { self.send_new() } else { Ok(()) }
    }

    fn flush(&mut self) -> fault::Result<()> {
        self.copy_old()?;
        self.send_new()
    }

    fn copy_old(&mut self) -> fault::Result<()> {
        let Some((from, at, length)) = self.old.take() else { return Ok(()) };
        self.work.counters.bytes_saved.add(length);
        self.upload.copy(from, at, length)
    }

    fn send_new(&mut self) -> fault::Result<()> {
        let bytes = Bytes::from(std::mem::take(&mut self.new));
        for (number, piece) in (0..bytes.len()).step_by(PIECE as usize).enumerate() {
            let piece = bytes.slice(piece..bytes.len().min(piece + PIECE as usize));
            self.work.throttle(piece.len() as u64);
            self.work.counters.bytes_sent.add(piece.len() as u64);
            self.upload.part_at(self.new_at + number as u64 * PIECE, piece)?;
        }
        Ok(())
    }
}
