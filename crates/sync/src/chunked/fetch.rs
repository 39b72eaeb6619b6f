//! From a chunk store to a tree: large files chunk by chunk, taking what an old copy has; small ones many at once.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use chunk::{Cutter, Id};
use fault::Fault;
use store::objects::{Object, changed};
use store::{Draft, Kind, meta_of, read_full};

use super::Chunked;
use super::format::{Content, Piece};
use super::objects::object_of;
use crate::far;
use crate::job::lock;
use crate::objects::making::Making;
use crate::objects::work::{PIECE, PIECES_AT_ONCE, Task, Trouble, Work};
use crate::options::Delta;

/// Fills a draft with the content of a large file. Returns its hash.
pub fn fetch(
    work: &Work<'_>,
    chunked: &Chunked,
    (making, draft): (&Making<'_>, &Draft),
    (object, sparse): (&Object, bool),
) -> Result<Id, Trouble> {
    let entry = chunked.find(making.path)?.filter(|entry| entry.tag() == object.tag);
    let entry = entry.ok_or_else(|| changed(&chunked.store.shown(), &object.key))?;
    let cutter = chunked.marker.cutter();
    let old = if work.options.delta == Delta::Off { None } else { Old::open(work, making, cutter)? };
    let fetching = Fetching { work, chunked, making, draft, sparse, old };
    match &entry.content {
        Content::Inline(bytes) => drop(making.write_piece(draft, bytes, 0, sparse)?),
        Content::Chunks(_, pieces) => fetching.all(0, pieces)?,
        // List by list: a file may be larger than memory holds chunks of.
        Content::Lists(_, lists) => {
            let mut at = 0;
            for list in lists {
                fetching.all(at, &chunked.listed(list)?)?;
                at += list.content;
            }
        }
    }
    Ok(entry.content.id())
}

/// Pieces that are fetched together, and where they begin; the first begins at `at`.
fn groups(mut at: u64, pieces: &[Piece]) -> Vec<(u64, &[Piece])> {
    let (mut groups, mut start, mut end) = (Vec::new(), 0, at);
    for (number, piece) in pieces.iter().enumerate() {
        end += u64::from(piece.length);
        if end - at >= PIECE || number + 1 == pieces.len() {
            groups.push((at, &pieces[start..=number]));
            (start, at) = (number + 1, end);
        }
    }
    groups
}

struct Fetching<'a, 'b> {
    work: &'a Work<'b>,
    chunked: &'a Chunked,
    making: &'a Making<'a>,
    draft: &'a Draft,
    sparse: bool,
    old: Option<Old>,
}

impl Fetching<'_, '_> {
    /// Pieces side by side, several groups at once.
    fn all(&self, at: u64, pieces: &[Piece]) -> Result<(), Trouble> {
        let groups = groups(at, pieces);
        let (next, broken) = (AtomicUsize::new(0), Mutex::new(None::<Trouble>));
        let run = || {
            while lock(&broken).is_none() {
                let Some((at, group)) = groups.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                if let Err(trouble) = self.group(*at, group) {
                    lock(&broken).get_or_insert(trouble);
                }
            }
        };
        std::thread::scope(|scope| {
            (1..PIECES_AT_ONCE.min(groups.len())).for_each(|_| drop(scope.spawn(run)));
            run();
        });
        let broken = lock(&broken).take();
        broken.map_or(Ok(()), Err)
    }

    fn group(&self, mut at: u64, pieces: &[Piece]) -> Result<(), Trouble> {
        if self.work.stopping() {
            return Err(Trouble::Stopped);
        }
        let (mut places, mut missing) = (Vec::new(), Vec::new());
        for piece in pieces {
            if let Some(bytes) = self.old.as_ref().and_then(|old| old.read(piece)) {
                self.making.write_piece(self.draft, &bytes, at, self.sparse)?;
                self.work.counters.bytes_saved.add(piece.length.into());
            } else {
                places.push(at);
                missing.push(*piece);
            }
            at += u64::from(piece.length);
        }
        self.chunked.read::<Trouble>(&missing, &mut |number, bytes| {
            self.work.throttle(bytes.len() as u64);
            let saved = self.making.write_piece(self.draft, bytes, places[number], self.sparse)?;
            self.work.counters.bytes_saved.add(saved);
            self.work.passed(bytes.len() as u64);
            Ok(())
        })
    }
}

/// The copy that is in the tree, and where its chunks stand.
struct Old {
    file: OwnedFd,
    chunks: HashMap<Id, u64>,
}

impl Old {
    fn open(work: &Work<'_>, making: &Making<'_>, cutter: Cutter) -> Result<Option<Self>, Trouble> {
        let Ok(file) = store::open_reading(making.dir, making.name) else { return Ok(None) };
        if !meta_of(&file).is_ok_and(|meta| meta.kind == Kind::File && meta.size >= cutter.least() as u64) {
            return Ok(None);
        }
        let (mut chunks, mut buffer, mut at) = (HashMap::new(), Vec::new(), 0);
        loop {
            if work.stopping() {
                return Err(Trouble::Stopped);
            }
            let kept = buffer.len();
            buffer.resize(kept + PIECE as usize, 0);
            // What can't be read of the old copy is not there.
            let more = read_full(&file, &mut buffer[kept..], at + kept as u64).unwrap_or(0);
            buffer.truncate(kept + more);
            let mut done = 0;
            while done < buffer.len() && (more == 0 || buffer.len() - done >= cutter.most()) {
                let length = cutter.first(&buffer[done..]);
                chunks.insert(Id::of(&buffer[done..done + length]), at + done as u64);
                done += length;
            }
            buffer.drain(..done);
            at += done as u64;
            if more == 0 {
                return Ok(Some(Self { file, chunks }));
            }
        }
    }

    /// A chunk, if it is still there.
    fn read(&self, piece: &Piece) -> Option<Vec<u8>> {
        let at = *self.chunks.get(&piece.id)?;
        let mut bytes = vec![0; piece.length as usize];
        let length = read_full(&self.file, &mut bytes, at).ok()?;
        (length == bytes.len() && Id::of(&bytes) == piece.id).then_some(bytes)
    }
}

/// Reads small entries at once: what lies side by side in packs comes with one call. What fails is read again in its turn.
pub fn read_ahead(chunked: &Chunked, tasks: &[&Task]) -> HashMap<String, fault::Result<far::Entry>> {
    let (mut found, mut pieces, mut owners) = (Vec::new(), Vec::new(), Vec::new());
    for task in tasks {
        let Ok(Some(entry)) = chunked.find(&task.found.path) else { continue };
        if let Content::Chunks(_, some) = &entry.content {
            let mut at = 0;
            for piece in some {
                pieces.push(*piece);
                owners.push((found.len(), at));
                at += piece.length as usize;
            }
        }
        let (content, left) = match &entry.content {
            Content::Inline(bytes) => (bytes.clone(), 0),
            Content::Chunks(_, some) => (vec![0; entry.size as usize], some.len()),
            Content::Lists(..) => continue,
        };
        found.push((task.found.key.clone(), entry, content, left));
    }
    // Those that came whole are of use, also where another did not.
    let _ = chunked.read::<Fault>(&pieces, &mut |number, bytes| {
        let (owner, at) = owners[number];
        let (_, _, content, left) = &mut found[owner];
        content[at..at + bytes.len()].copy_from_slice(bytes);
        *left -= 1;
        Ok(())
    });
    let whole = found.into_iter().filter(|(_, _, _, left)| *left == 0);
    whole
        .map(|(key, entry, content, _)| (key.clone(), Ok((object_of(key, &entry), Some(content.into())))))
        .collect()
}
