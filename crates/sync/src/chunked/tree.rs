//! The entries of a manifest: in order, or one by its path.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use chunk::Id;

use super::Chunked;
use super::format::{BlockAt, Entry, Manifest, Piece, read_block};
use crate::job::lock;
use crate::objects::scan::place_of;

/// Blocks that are read at once.
const AHEAD: usize = 16;
/// Unpacked blocks that are held for looking up entries.
const HELD: usize = 8;
const LEVEL: i32 = 1;

/// Blocks that entries were looked up in lately.
#[derive(Debug, Default)]
pub struct Recent(Mutex<VecDeque<(Id, Arc<Vec<Entry>>)>>);

/// The entries of a manifest, in order.
#[derive(Debug)]
pub struct Entries {
    manifest: Arc<Manifest>,
    next: usize,
    ahead: HashMap<Id, Vec<u8>>,
}

fn kept_name(id: &Id) -> String {
    format!("block-{id}")
}

impl Entries {
    /// From the first.
    pub fn new(manifest: Arc<Manifest>) -> Self {
        Self { manifest, next: 0, ahead: HashMap::new() }
    }

    /// What the manifest says of the block that comes next.
    pub fn peek(&self) -> Option<&BlockAt> {
        self.manifest.blocks.get(self.next)
    }

    /// Where the block after that begins.
    pub fn after(&self) -> Option<&BlockAt> {
        self.manifest.blocks.get(self.next + 1)
    }

    /// Leaves out the block that comes next.
    pub fn skip(&mut self) {
        self.next += 1;
    }

    /// The entries of the next block, after which it goes on in any case; `None` at the end.
    pub fn next(&mut self, chunked: &Chunked) -> fault::Result<Option<Vec<Entry>>> {
        let manifest = self.manifest.clone();
        let Some(at) = manifest.blocks.get(self.next) else { return Ok(None) };
        self.next += 1;
        let here = self.ahead.remove(&at.id).or_else(|| chunked.kept_block(&at.id));
        let bytes = if let Some(bytes) = here {
            bytes
        } else {
            self.read_ahead(chunked);
            self.ahead.remove(&at.id).map_or_else(|| chunked.block(at), Ok)?
        };
        read_block(&bytes, at).map(Some)
    }

    /// Reads this and some further blocks. What fails is read again in its turn, and fails there.
    fn read_ahead(&mut self, chunked: &Chunked) {
        let next = &self.manifest.blocks[self.next - 1..];
        let some: Vec<Piece> = next
            .iter()
            .take(AHEAD)
            .filter(|at| !self.ahead.contains_key(&at.id))
            .map(|at| Piece { id: at.id, length: at.length })
            .collect();
        let _ = chunked.read::<fault::Fault>(&some, &mut |number, bytes| {
            chunked.keep_block(&some[number].id, bytes);
            self.ahead.insert(some[number].id, bytes.to_vec());
            Ok(())
        });
    }
}

impl Chunked {
    /// A block as it is kept here.
    pub fn kept_block(&self, id: &Id) -> Option<Vec<u8>> {
        let packed = self.cache.get_packed(&kept_name(id))?;
        let bytes = zstd::bulk::decompress(&packed, super::format::MOST_PIECE as usize).ok()?;
        (Id::of(&bytes) == *id).then_some(bytes)
    }

    /// Keeps a block here.
    pub fn keep_block(&self, id: &Id, bytes: &[u8]) {
        if let Ok(packed) = zstd::bulk::compress(bytes, LEVEL) {
            self.cache.put(&kept_name(id), &packed);
        }
    }

    /// Keeps no other blocks than those of `manifest`.
    pub fn keep_blocks_of(&self, manifest: &Manifest) {
        self.cache.retain("block-", &manifest.blocks.iter().map(|at| kept_name(&at.id)).collect());
    }

    fn block(&self, at: &BlockAt) -> fault::Result<Vec<u8>> {
        let mut found = Vec::new();
        self.read::<fault::Fault>(&[Piece { id: at.id, length: at.length }], &mut |_, bytes| {
            found = bytes.to_vec();
            Ok(())
        })?;
        self.keep_block(&at.id, &found);
        Ok(found)
    }

    /// All entries of the tree, in the order of their places.
    pub fn all(&self) -> Entries {
        Entries::new(self.base())
    }

    /// The entry at `path`, as the tree was when it was opened.
    pub fn find(&self, path: &[u8]) -> fault::Result<Option<Entry>> {
        let (base, place) = (self.base(), place_of(path));
        let number = base.blocks.partition_point(|at| *at.first <= *place);
        let Some(at) = number.checked_sub(1).and_then(|number| base.blocks.get(number)) else {
            return Ok(None);
        };
        let entries = self.unpacked(at)?;
        let found = entries.binary_search_by(|entry| place_of(&entry.path).cmp(&place));
        Ok(found.ok().and_then(|number| entries.get(number)).cloned())
    }

    fn unpacked(&self, at: &BlockAt) -> fault::Result<Arc<Vec<Entry>>> {
        let held = lock(&self.recent.0).iter().find(|(id, _)| *id == at.id).map(|(_, held)| held.clone());
        if let Some(held) = held {
            return Ok(held);
        }
        let bytes = self.kept_block(&at.id).map_or_else(|| self.block(at), Ok)?;
        let entries = Arc::new(read_block(&bytes, at)?);
        let mut recent = lock(&self.recent.0);
        recent.push_front((at.id, entries.clone()));
        recent.truncate(HELD);
        Ok(entries)
    }
}
