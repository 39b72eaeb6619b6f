//! Content on its way into chunks.

use chunk::Id;

use super::Chunked;
use super::format::{Content, Lists, Piece};
use super::packer::Of;

/// Content up to this many bytes stands in the entry.
const INLINE: usize = 96;
/// Chunks of a file of which the entry knows itself.
const DIRECT: usize = 64;
/// Chunks of a piece of a list: at most, ...
const MOST_IN_LIST: usize = 16 << 10;
/// ... and about so many: a list is cut behind a chunk whose hash says so, so that a change of a file changes one piece.
const IN_LIST: u64 = 1 << 10;

/// Cuts what passes into chunks and keeps those that are new.
pub struct Feed<'a> {
    chunked: &'a Chunked,
    hasher: blake3::Hasher,
    /// What is not cut yet.
    rest: Vec<u8>,
    pieces: Vec<Piece>,
    lists: Vec<Lists>,
    size: u64,
}

impl<'a> Feed<'a> {
    /// Before the first byte.
    pub fn new(chunked: &'a Chunked) -> Self {
        let hasher = blake3::Hasher::new();
        Self { chunked, hasher, rest: Vec::new(), pieces: Vec::new(), lists: Vec::new(), size: 0 }
    }

    /// All of a small file at once.
    pub fn whole(chunked: &'a Chunked, bytes: &[u8]) -> fault::Result<Content> {
        if bytes.len() <= INLINE {
            return Ok(Content::Inline(bytes.to_vec()));
        }
        let mut feed = Self::new(chunked);
        feed.push(bytes)?;
        feed.finish().map(|(content, _)| content)
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> fault::Result<()> {
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
        self.rest.extend_from_slice(bytes);
        self.cut(false)
    }

    fn cut(&mut self, all: bool) -> fault::Result<()> {
        let cutter = self.chunked.marker.cutter();
        let mut done = 0;
        while self.rest.len() - done >= if all { 1 } else { cutter.most() } {
            let rest = &self.rest[done..];
            let bytes = &rest[..cutter.first(rest)];
            let piece = self.chunked.keep(Of::Files, bytes)?;
            done += bytes.len();
            self.pieces.push(piece);
            let end = piece.id.0.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            let is_cut = end % IN_LIST == 0 && self.pieces.len() > DIRECT;
            if is_cut || self.pieces.len() >= MOST_IN_LIST {
                self.list()?;
            }
        }
        self.rest.drain(..done);
        Ok(())
    }

    /// The chunks so far become a piece of a list.
    fn list(&mut self) -> fault::Result<()> {
        let pieces = std::mem::take(&mut self.pieces);
        let content = pieces.iter().map(|piece| u64::from(piece.length)).sum();
        let list = self.chunked.keep(Of::Tree, &Piece::list(&pieces))?;
        self.lists.push(Lists { list, content });
        Ok(())
    }

    /// All of it, and how many bytes.
    pub fn finish(mut self) -> fault::Result<(Content, u64)> {
        self.cut(true)?;
        let id = Id(*self.hasher.finalize().as_bytes());
        if self.lists.is_empty() && self.pieces.len() <= DIRECT {
            return Ok((Content::Chunks(id, self.pieces), self.size));
        }
        if !self.pieces.is_empty() {
            self.list()?;
        }
        Ok((Content::Lists(id, self.lists), self.size))
    }
}
