use chunk::Id;

use super::manifest::BlockAt;
use super::{Entry, damaged};
use crate::objects::scan::place_of;

/// A block ends behind a path whose hash says so, one in so many, ...
const ONE_IN: u64 = 1024;
/// ... but not before it has so many bytes, ...
const LEAST: usize = 32 << 10;
/// ... and at the latest when it has so many.
const ENOUGH: usize = 1 << 20;

/// A block of entries that is being filled. Where it ends depends on paths alone, so that a change of one entry changes one
/// block.
#[derive(Debug, Default)]
pub struct BlockBuilder {
    bytes: Vec<u8>,
    first: Option<Box<[u8]>>,
    before: Vec<u8>,
    count: u32,
    content: u64,
}

impl BlockBuilder {
    /// Whether it has nothing.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds an entry; entries come in the order of their places. Whether the block ends behind it.
    pub fn push(&mut self, entry: &Entry) -> bool {
        self.first.get_or_insert_with(|| place_of(&entry.path).into());
        entry.put(&self.before, &mut self.bytes);
        self.before.clone_from(&entry.path);
        self.count += 1;
        self.content = self.content.saturating_add(entry.size);
        let hash = Id::of(&entry.path).0.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        self.bytes.len() >= ENOUGH || self.bytes.len() >= LEAST && hash % ONE_IN == 0
    }

    /// The block's bytes, and what a manifest says of it.
    pub fn finish(&mut self) -> (Vec<u8>, BlockAt) {
        let Self { bytes, first, count, content, .. } = std::mem::take(self);
        let at = BlockAt {
            id: Id::of(&bytes),
            length: bytes.len() as u32,
            count,
            content,
            first: first.unwrap_or_default(),
        };
        (bytes, at)
    }
}

/// The entries of a block, which must be in order.
pub fn read_block(bytes: &[u8], at: &BlockAt) -> fault::Result<Vec<Entry>> {
    let bad = || damaged("a block of a manifest");
    let (mut rest, mut entries, mut last) = (bytes, Vec::<Entry>::new(), Vec::new());
    while !rest.is_empty() {
        let before = entries.last().map_or(&b""[..], |entry| &entry.path);
        let entry = Entry::take(&mut rest, before).map_err(|_| bad())?;
        let place = place_of(&entry.path);
        if if entries.is_empty() { place[..] != *at.first } else { place <= last } {
            return Err(bad());
        }
        last = place;
        entries.push(entry);
    }
    if entries.len() == at.count as usize { Ok(entries) } else { Err(bad()) }
}
