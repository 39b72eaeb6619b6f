//! The index from its first entry to its last.

use std::collections::VecDeque;
use std::sync::Arc;

use super::scan::place_of;
use crate::index::{Index, Known, SectionView};

/// Reads all entries of an index in order.
pub struct KnownStream {
    index: Option<Arc<Index>>,
    block: usize,
    /// Entries of the block we are in: place, path, what is known.
    held: VecDeque<(Vec<u8>, Vec<u8>, Known)>,
}

impl KnownStream {
    /// Of this index; none has no entries.
    pub fn new(index: Option<Arc<Index>>) -> fault::Result<Self> {
        let mut stream = Self { index, block: 0, held: VecDeque::new() };
        stream.refill()?;
        Ok(stream)
    }

    fn refill(&mut self) -> fault::Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        while self.held.is_empty() && self.block < index.blocks() {
            let bytes = index.unpack(self.block)?;
            self.block += 1;
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let view = SectionView::take(&mut rest)?;
                let mut entries = view.entries();
                while let Some((name, known)) = entries.next()? {
                    // The root is its own entry, without a name.
                    let path = if name.is_empty() { Vec::new() } else { store::below(view.dir, name) };
                    self.held.push_back((place_of(&path), path, known));
                }
            }
        }
        Ok(())
    }

    /// The place of the entry we are at.
    pub fn place(&self) -> Option<&[u8]> {
        self.held.front().map(|(place, _, _)| &place[..])
    }

    /// Takes the entry we are at, if it is at `place`.
    pub fn take(&mut self, place: &[u8]) -> fault::Result<Option<(Vec<u8>, Known)>> {
        if self.place() != Some(place) {
            return Ok(None);
        }
        let taken = self.held.pop_front();
        self.refill()?;
        Ok(taken.map(|(_, path, known)| (path, known)))
    }
}
