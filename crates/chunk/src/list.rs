use fault::{Fault, Kind};

use crate::{Cutter, Id};

const MAGIC: &[u8; 8] = b"fbchnk01";
/// Bytes of a chunk in a stored list: offset, length, hash.
const STORED: usize = 8 + 4 + 16;

/// A piece of a file that was cut by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Where it begins, bytes.
    pub offset: u64,
    /// How long it is, bytes.
    pub length: u32,
    /// The first half of its BLAKE3 hash.
    pub id: [u8; 16],
}

impl Chunk {
    /// Of `bytes` that stand at `offset`.
    pub fn of(offset: u64, bytes: &[u8]) -> Self {
        Self { offset, length: bytes.len() as u32, id: Id::of(bytes).short() }
    }

    /// Where it ends.
    pub const fn end(&self) -> u64 {
        self.offset + self.length as u64
    }
}

/// The chunks of one file, found by what they are and by where they stand. Holes have none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkList {
    cutter: Cutter,
    /// In the order of offsets.
    chunks: Vec<Chunk>,
    /// Places in `chunks`, in the order of hashes.
    by_id: Vec<u32>,
}

impl ChunkList {
    /// Of chunks in any order, cut by `cutter`.
    pub fn new(cutter: Cutter, mut chunks: Vec<Chunk>) -> Self {
        chunks.sort_unstable_by_key(|chunk| chunk.offset);
        let mut by_id: Vec<u32> = (0..chunks.len() as u32).collect();
        by_id.sort_unstable_by_key(|place| (chunks[*place as usize].id, *place));
        Self { cutter, chunks, by_id }
    }

    /// What it was cut by.
    pub const fn cutter(&self) -> Cutter {
        self.cutter
    }

    /// All chunks, in the order of offsets.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Where the content of `wanted` stands. Where it stands several times: at `expected`, if there too.
    pub fn find(&self, wanted: &Chunk, expected: Option<u64>) -> Option<u64> {
        let alike = |chunk: &&Chunk| chunk.id == wanted.id && chunk.length == wanted.length;
        let at = expected.and_then(|offset| self.chunks.binary_search_by_key(&offset, |c| c.offset).ok());
        if let Some(chunk) = at.and_then(|place| self.chunks.get(place)).filter(alike) {
            return Some(chunk.offset);
        }
        let id_at = |place: &u32| self.chunks[*place as usize].id;
        let first = self.by_id.partition_point(|place| id_at(place) < wanted.id);
        let place = *self.by_id.get(first)?;
        self.chunks.get(place as usize).filter(alike).map(|chunk| chunk.offset)
    }

    /// As bytes on disk: magic, average, number, chunks, and a hash of it all.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(MAGIC.len() + 12 + STORED * self.chunks.len() + 32);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&(self.cutter.average() as u32).to_le_bytes());
        bytes.extend_from_slice(&(self.chunks.len() as u64).to_le_bytes());
        for chunk in &self.chunks {
            bytes.extend_from_slice(&chunk.offset.to_le_bytes());
            bytes.extend_from_slice(&chunk.length.to_le_bytes());
            bytes.extend_from_slice(&chunk.id);
        }
        let seal = Id::of(&bytes);
        bytes.extend_from_slice(&seal.0);
        bytes
    }

    /// From bytes on disk; a damaged list is an error.
    pub fn decode(bytes: &[u8]) -> fault::Result<Self> {
        let damaged = || Fault::new(Kind::Corrupt, "a stored list of chunks is damaged");
        let (body, seal) = bytes.split_at_checked(bytes.len().saturating_sub(32)).ok_or_else(damaged)?;
        if seal != Id::of(body).0 {
            return Err(damaged());
        }
        let head = body.strip_prefix(MAGIC).and_then(|rest| rest.split_first_chunk::<4>());
        let (average, rest) = head.ok_or_else(damaged)?;
        let (count, rest) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
        let (chunks, rest) = rest.as_chunks::<STORED>();
        if !rest.is_empty() || chunks.len() as u64 != u64::from_le_bytes(*count) {
            return Err(damaged());
        }
        let chunks = chunks.iter().map(stored).collect::<Option<_>>().ok_or_else(damaged)?;
        Ok(Self::new(Cutter::new(u32::from_le_bytes(*average).max(1)), chunks))
    }
}

fn stored(bytes: &[u8; STORED]) -> Option<Chunk> {
    let (offset, rest) = bytes.split_first_chunk::<8>()?;
    let (length, id) = rest.split_first_chunk::<4>()?;
    let (offset, length) = (u64::from_le_bytes(*offset), u32::from_le_bytes(*length));
    offset.checked_add(length.into())?;
    Some(Chunk { offset, length, id: id.try_into().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> ChunkList {
        let texts = ["one", "two", "three", "two", "five"];
        let mut chunks: Vec<Chunk> =
            (0..).zip(texts).map(|(n, text)| Chunk::of(n * 10, text.as_bytes())).collect();
        chunks.reverse();
        ChunkList::new(Cutter::new(4096), chunks)
    }

    #[test]
    fn a_chunk_is_found_where_it_is_expected_or_first() {
        let (list, two) = (list(), Chunk::of(0, b"two"));
        assert_eq!(list.find(&two, None), Some(10));
        assert_eq!(list.find(&two, Some(30)), Some(30));
        assert_eq!(list.find(&two, Some(20)), Some(10));
        assert_eq!(list.find(&Chunk::of(0, b"four"), Some(30)), None);
        assert_eq!(list.find(&Chunk { length: 2, ..two }, None), None);
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = list().encode();
        assert_eq!(ChunkList::decode(&bytes).unwrap(), list());
        for at in [0, 9, 13, 30, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(ChunkList::decode(&damaged).is_err(), "{at}");
        }
        assert!(ChunkList::decode(&bytes[..bytes.len() - 28]).is_err());
    }

    proptest::proptest! {
        #[test]
        fn decoding_never_panics(mut bytes: Vec<u8>) {
            let _ = ChunkList::decode(&bytes);
            bytes.splice(..0, *MAGIC);
            let seal = Id::of(&bytes);
            bytes.extend_from_slice(&seal.0);
            let _ = ChunkList::decode(&bytes);
        }
    }
}
