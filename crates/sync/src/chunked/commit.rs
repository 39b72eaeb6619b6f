//! A new manifest: the tree as it was, with what changed, in one pass over both.

use std::collections::HashSet;
use std::iter::Peekable;
use std::sync::Arc;

use fault::{Fault, Kind as FaultKind};
use store::objects::{Bytes, Labels, is_taken};
use store::{Kind, Stamp};

use super::format::{BlockAt, BlockBuilder, Entry, Manifest};
use super::packer::Of;
use super::tree::Entries;
use super::{Chunked, interrupted, unique};
use crate::index::wire::damaged;
use crate::job::lock;
use crate::objects::scan::place_of;
use crate::spool::Sorted;

impl Chunked {
    /// Makes what was told since the tree was opened the tree. It is not there before the last call, which writes the
    /// manifest, and only if nobody else wrote one meanwhile. Nothing is written where nothing changed.
    pub fn commit(&self) -> fault::Result<()> {
        let Some(spool) = lock(&self.changes).take() else { return Ok(()) };
        let base = self.base();
        if spool.count() == 0 && base.sequence > 0 {
            return Ok(());
        }
        let blocks = self.merge(base.clone(), Changes::new(spool.sorted()?))?;
        if blocks == base.blocks && base.sequence > 0 {
            return Ok(());
        }
        let packs = self.with_locations(|locations| {
            locations.packs().iter().filter(|pack| pack.leaving).map(|pack| pack.name).collect()
        })?;
        self.publish(&base, blocks, packs)
    }

    /// Writes the manifest that follows `base`.
    pub fn publish(
        &self,
        base: &Manifest,
        blocks: Vec<BlockAt>,
        leaving: Vec<[u8; 16]>,
    ) -> fault::Result<()> {
        self.flush()?;
        self.list_packs()?;
        if self.stopped() {
            return Err(interrupted());
        }
        let next = Manifest {
            sequence: base.sequence + 1,
            nonce: unique(b"manifest"),
            written: Stamp::now(),
            entries: blocks.iter().map(|at| u64::from(at.count)).sum(),
            content: blocks.iter().fold(0, |sum, at| at.content.saturating_add(sum)),
            leaving,
            blocks,
        };
        self.write_manifest(&next)?;
        self.keep_blocks_of(&next);
        *lock(&self.base) = Arc::new(next);
        Ok(())
    }

    fn write_manifest(&self, next: &Manifest) -> fault::Result<()> {
        let (key, bytes) = (Manifest::key(next.sequence), Bytes::from(next.encode()?));
        self.sent(bytes.len() as u64);
        let is_ours = || {
            let found = self.store.read_whole(&key, bytes.len() as u64);
            found.is_ok_and(|(_, found)| found == bytes)
        };
        if self.store.abilities().writes_new {
            return match self.store.write_new(&key, bytes.clone()) {
                // The answer of a try may have been lost.
                Err(fault) if is_taken(&fault) && !is_ours() => Err(self.overtaken(next.sequence)),
                Err(fault) if is_taken(&fault) => Ok(()),
                done => done.map(drop),
            };
        }
        match self.store.stat(&key) {
            Ok(_) => return Err(self.overtaken(next.sequence)),
            Err(fault) if fault.kind() == FaultKind::NotFound => {}
            Err(fault) => return Err(fault),
        }
        self.store.write(&key, bytes.clone(), &Labels::new())?;
        if is_ours() { Ok(()) } else { Err(self.overtaken(next.sequence)) }
    }

    /// The failure of coming second.
    pub fn overtaken(&self, sequence: u64) -> Fault {
        let text = format!("somebody else wrote manifest {sequence} of `{}` meanwhile", self.store.shown());
        Fault::new(FaultKind::Refused, text)
            .hint("theirs stands, and nothing of yours is lost: sync again, what was sent is found there")
    }

    fn merge(&self, base: Arc<Manifest>, changes: Changes) -> fault::Result<Vec<BlockAt>> {
        let mut merge = Merge {
            chunked: self,
            old: Entries::new(base),
            changes: changes.peekable(),
            builder: BlockBuilder::default(),
            blocks: Vec::new(),
            cleared: HashSet::new(),
        };
        merge.run()?;
        Ok(merge.blocks)
    }
}

/// What changed, in the order of places; of several things that were told of one place, the last.
struct Changes {
    records: Peekable<Sorted>,
}

/// A place, and what is to be there.
type Change = (Vec<u8>, Option<Entry>);

/// A record's place, and what was told of it.
fn split(record: &[u8]) -> fault::Result<(&[u8], &[u8])> {
    let dir = record.windows(2).position(|pair| pair == [0, 0]).ok_or_else(damaged)? + 2;
    let name = record[dir..].iter().position(|byte| *byte == 0).ok_or_else(damaged)?;
    let (place, rest) = record.split_at(dir + name + 1);
    Ok((place, rest.get(8..).ok_or_else(damaged)?))
}

impl Changes {
    fn new(records: Sorted) -> Self {
        Self { records: records.peekable() }
    }

    fn take(&mut self) -> fault::Result<Option<Change>> {
        let Some(mut record) = self.records.next().transpose()? else { return Ok(None) };
        let place = split(&record)?.0.to_vec();
        while let Some(Ok(next)) = self.records.peek()
            && split(next)?.0 == place
        {
            if let Some(next) = self.records.next() {
                record = next?;
            }
        }
        let rest = split(&record)?.1;
        let entry = if rest.is_empty() { None } else { Some(Entry::of_alone(rest)?) };
        Ok(Some((place, entry)))
    }
}

impl Iterator for Changes {
    type Item = fault::Result<Change>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take().transpose()
    }
}

struct Merge<'a> {
    chunked: &'a Chunked,
    old: Entries,
    changes: Peekable<Changes>,
    builder: BlockBuilder,
    blocks: Vec<BlockAt>,
    /// What was a directory and is none any more: nothing stays below it.
    cleared: HashSet<Vec<u8>>,
}

impl Merge<'_> {
    fn run(&mut self) -> fault::Result<()> {
        while let Some(at) = self.old.peek().cloned() {
            if self.chunked.stopped() {
                return Err(interrupted());
            }
            let end = self.old.after().map(|at| at.first.clone());
            if self.builder.is_empty() && self.cleared.is_empty() && !self.changes_before(end.as_deref())? {
                self.old.skip();
                self.as_it_is(at)?;
                continue;
            }
            for entry in self.old.next(self.chunked)?.unwrap_or_default() {
                self.before(Some(&place_of(&entry.path)))?;
                self.entry(entry)?;
            }
        }
        self.before(None)?;
        if self.builder.is_empty() { Ok(()) } else { self.end_block() }
    }

    /// Whether anything changes before this place.
    fn changes_before(&mut self, end: Option<&[u8]>) -> fault::Result<bool> {
        match self.changes.peek() {
            Some(Ok((place, _))) => Ok(end.is_none_or(|end| place[..] < *end)),
            Some(Err(_)) => self.changes.next().transpose().map(|_| true),
            None => Ok(false),
        }
    }

    /// A block in which nothing changes.
    fn as_it_is(&mut self, at: BlockAt) -> fault::Result<()> {
        if !self.chunked.with_locations(|locations| locations.has(&at.id))? {
            match self.chunked.kept_block(&at.id) {
                Some(bytes) => drop(self.chunked.keep(Of::Tree, &bytes)?),
                None => return Err(super::format::damaged("a block of the newest manifest")),
            }
        }
        self.blocks.push(at);
        Ok(())
    }

    /// Adds what is new before `place`.
    fn before(&mut self, place: Option<&[u8]>) -> fault::Result<()> {
        while self.changes.peek().is_some() {
            if let (Some(Ok((next, _))), Some(place)) = (self.changes.peek(), place)
                && next[..] >= *place
            {
                return Ok(());
            }
            if let Some((_, Some(entry))) = self.changes.next().transpose()? {
                self.push(&entry)?;
            }
        }
        Ok(())
    }

    /// An entry that was there: stays, unless something else is to be there.
    fn entry(&mut self, old: Entry) -> fault::Result<()> {
        let place = place_of(&old.path);
        let is_changed = matches!(self.changes.peek(), Some(Ok((next, _))) if *next == place);
        let new = if is_changed {
            self.changes.next().transpose()?.and_then(|(_, entry)| entry)
        } else {
            Some(old.clone()).filter(|old| !self.is_cleared(&old.path))
        };
        let was_directory = old.posix.kind == Kind::Directory;
        if was_directory && new.as_ref().is_some_and(|new| new.posix.kind != Kind::Directory) {
            self.cleared.insert(old.path);
        }
        new.map_or(Ok(()), |new| self.push(&new))
    }

    fn is_cleared(&self, path: &[u8]) -> bool {
        let mut at = path;
        while !self.cleared.is_empty() && !at.is_empty() {
            at = store::split_last(at).0;
            if self.cleared.contains(at) {
                return true;
            }
        }
        false
    }

    fn push(&mut self, entry: &Entry) -> fault::Result<()> {
        if self.builder.push(entry) { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> fault::Result<()> {
        let (bytes, at) = self.builder.finish();
        self.chunked.keep(Of::Tree, &bytes)?;
        self.chunked.keep_block(&at.id, &bytes);
        self.blocks.push(at);
        Ok(())
    }
}
