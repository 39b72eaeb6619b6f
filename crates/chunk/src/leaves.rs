use blake3::hazmat::{HasherExt as _, Mode, merge_subtrees_non_root, merge_subtrees_root};
use fault::{Fault, Kind};

use crate::Id;

/// Bytes of a leaf: BLAKE3 runs at full speed from here on (2.8 GB/s per core against 1.7 at 4 KiB), and one changed
/// byte costs no more than this.
pub const LEAF: u64 = 64 << 10;

const MAGIC: &[u8; 8] = b"fbleaf01";

/// The leaf that the byte at `offset` lies in.
pub const fn leaf_of(offset: u64) -> u64 {
    offset / LEAF
}

/// The hash of one leaf that begins at `offset` (a multiple of [`LEAF`]) of a file longer than one leaf. It is a node of
/// BLAKE3's own tree, so that the leaves of a file add up to the file's hash.
pub fn leaf_id(offset: u64, bytes: &[u8]) -> Id {
    let mut hasher = blake3::Hasher::new();
    hasher.set_input_offset(offset);
    hasher.update(bytes);
    Id(hasher.finalize_non_root())
}

/// The hashes of all leaves of a file longer than one leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaves {
    size: u64,
    ids: Vec<Id>,
}

impl Leaves {
    /// Leaves of a file of `size` bytes that are not known yet.
    pub fn unknown(size: u64) -> Self {
        Self { size, ids: vec![Id([0; 32]); size.div_ceil(LEAF) as usize] }
    }

    /// The file's size, bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// All hashes, in order.
    pub fn ids(&self) -> &[Id] {
        &self.ids
    }

    /// The hash of leaf `number`, if the file reaches that far.
    pub fn get(&self, number: u64) -> Option<&Id> {
        self.ids.get(usize::try_from(number).ok()?)
    }

    /// Sets the hashes from leaf `first` on.
    pub fn set(&mut self, first: u64, ids: &[Id]) {
        let first = first as usize;
        if let Some(place) = self.ids.get_mut(first..first + ids.len()) {
            place.copy_from_slice(ids);
        }
    }

    /// Hashes content at hand, longer than one leaf.
    pub fn of(bytes: &[u8]) -> Self {
        let ids = bytes
            .chunks(LEAF as usize)
            .enumerate()
            .map(|(number, leaf)| leaf_id(number as u64 * LEAF, leaf))
            .collect();
        Self { size: bytes.len() as u64, ids }
    }

    /// The hash of the whole file; `None` for a file of one leaf, whose hash can't be had from its leaf.
    pub fn file_id(&self) -> Option<Id> {
        let left = left_of(self.ids.len())?;
        let (left, right) = self.ids.split_at(left);
        let root = merge_subtrees_root(&merged(left), &merged(right), Mode::Hash);
        Some(Id(*root.as_bytes()))
    }

    /// As bytes on disk: magic, size, hashes, and a hash of it all.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16 + 32 * self.ids.len() + 32);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.size.to_le_bytes());
        self.ids.iter().for_each(|id| bytes.extend_from_slice(&id.0));
        let seal = Id::of(&bytes);
        bytes.extend_from_slice(&seal.0);
        bytes
    }

    /// From bytes on disk; a damaged list is an error.
    pub fn decode(bytes: &[u8]) -> fault::Result<Self> {
        let damaged = || Fault::new(Kind::Corrupt, "a stored list of leaf hashes is damaged");
        let (body, seal) = bytes.split_at_checked(bytes.len().saturating_sub(32)).ok_or_else(damaged)?;
        if seal != Id::of(body).0 {
            return Err(damaged());
        }
        let ids = body.strip_prefix(MAGIC).and_then(|rest| rest.split_first_chunk::<8>());
        let (size, ids) = ids.ok_or_else(damaged)?;
        let size = u64::from_le_bytes(*size);
        let (ids, rest) = ids.as_chunks::<32>();
        if !rest.is_empty() || ids.len() as u64 != size.div_ceil(LEAF) {
            return Err(damaged());
        }
        Ok(Self { size, ids: ids.iter().copied().map(Id).collect() })
    }
}

/// How many of `count` leaves the left half of a BLAKE3 tree has: the largest power of two below `count`.
fn left_of(count: usize) -> Option<usize> {
    (count > 1).then(|| 1 << (count - 1).ilog2())
}

fn merged(ids: &[Id]) -> [u8; 32] {
    match left_of(ids.len()) {
        None => ids.first().map_or([0; 32], |id| id.0),
        Some(left) => {
            let (left, right) = ids.split_at(left);
            merge_subtrees_non_root(&merged(left), &merged(right), Mode::Hash)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(length: usize, seed: u64) -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(seed);
        std::iter::repeat_with(|| random.u8(..)).take(length).collect()
    }

    #[test]
    fn leaves_add_up_to_the_hash_of_the_file() {
        for length in [65_537, 131_072, 131_073, 200_000, 65_536 * 5, 65_536 * 8, 1_000_003] {
            let bytes = content(length, length as u64);
            assert_eq!(Leaves::of(&bytes).file_id(), Some(Id::of(&bytes)), "{length}");
        }
        assert_eq!(Leaves::of(&content(65_536, 1)).file_id(), None);
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = Leaves::of(&content(200_000, 7)).encode();
        assert_eq!(Leaves::decode(&bytes).unwrap().encode(), bytes);
        for at in [0, 9, 40, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Leaves::decode(&damaged).is_err(), "{at}");
        }
        assert!(Leaves::decode(&bytes[..bytes.len() - 32]).is_err());
        assert!(Leaves::decode(b"").is_err());
    }

    proptest::proptest! {
        #[test]
        fn decoding_never_panics(bytes: Vec<u8>) {
            let _ = Leaves::decode(&bytes);
        }
    }
}
