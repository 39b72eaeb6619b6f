use chunk::Id;
use store::Stamp;

use super::damaged;
use super::sealed::{seal, unseal};
use crate::index::wire::{put, put_bytes, put_signed, take, take_bytes, take_signed, take_slice, take_u32};

const MAGIC: [u8; 8] = *b"fbmanf01";
/// Bytes of a manifest, unpacked: three million blocks, or three thousand million entries.
const MOST: u64 = 256 << 20;

/// The list of everything that a tree has at one moment: blocks of entries, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manifest {
    /// One more than the one it was made from.
    pub sequence: u64,
    /// Tells it from another of the same number.
    pub nonce: [u8; 16],
    /// When it was written.
    pub written: Stamp,
    /// How many entries it has.
    pub entries: u64,
    /// Bytes of all files.
    pub content: u64,
    /// Packs that are being removed: nothing may be built on what is in them.
    pub leaving: Vec<[u8; 16]>,
    /// Where the entries are.
    pub blocks: Vec<BlockAt>,
}

/// A block of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockAt {
    /// The hash of the block.
    pub id: Id,
    /// How many bytes it has.
    pub length: u32,
    /// How many entries it has.
    pub count: u32,
    /// Bytes of the files in it.
    pub content: u64,
    /// The place of its first entry, as `place_of` writes it.
    pub first: Box<[u8]>,
}

impl Manifest {
    /// The key of the manifest with this number.
    pub fn key(sequence: u64) -> String {
        format!("manifests/{sequence:020}")
    }

    /// The number that a key says.
    pub fn number(key: &str) -> Option<u64> {
        let digits = key.strip_prefix("manifests/").filter(|digits| digits.len() == 20)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
        digits.parse().ok().filter(|number| *number > 0)
    }

    /// As an object.
    pub fn encode(&self) -> fault::Result<Vec<u8>> {
        let mut out = Vec::new();
        put(&mut out, self.sequence);
        out.extend_from_slice(&self.nonce);
        put_signed(&mut out, self.written.seconds);
        put(&mut out, self.written.nanos.into());
        put(&mut out, self.entries);
        put(&mut out, self.content);
        put(&mut out, self.leaving.len() as u64);
        self.leaving.iter().for_each(|name| out.extend_from_slice(name));
        put(&mut out, self.blocks.len() as u64);
        for block in &self.blocks {
            out.extend_from_slice(&block.id.0);
            put(&mut out, block.length.into());
            put(&mut out, block.count.into());
            put(&mut out, block.content);
            put_bytes(&mut out, &block.first);
        }
        seal(MAGIC, &out)
    }

    /// Of an object with this number.
    pub fn read(bytes: &[u8], sequence: u64) -> fault::Result<Self> {
        let what = format!("manifest {sequence}");
        let body = unseal(MAGIC, bytes, MOST, &what)?;
        let read = Self::take(&mut &body[..]).map_err(|_| damaged(&what))?;
        if read.sequence == sequence && read.is_in_order() { Ok(read) } else { Err(damaged(&what)) }
    }

    fn take(from: &mut &[u8]) -> fault::Result<Self> {
        let sequence = take(from)?;
        let nonce = take_slice(from, 16)?.first_chunk().copied().unwrap_or_default();
        let written = Stamp { seconds: take_signed(from)?, nanos: take_u32(from)? };
        let (entries, content) = (take(from)?, take(from)?);
        let mut leaving = Vec::new();
        for _ in 0..take(from)? {
            leaving.push(take_slice(from, 16)?.first_chunk().copied().unwrap_or_default());
        }
        let mut blocks = Vec::new();
        for _ in 0..take(from)? {
            let id = Id(take_slice(from, 32)?.first_chunk().copied().unwrap_or_default());
            let (length, count) = (take_u32(from)?, take_u32(from)?);
            let (content, first) = (take(from)?, take_bytes(from)?.into());
            blocks.push(BlockAt { id, length, count, content, first });
        }
        if !from.is_empty() {
            return Err(damaged("a manifest"));
        }
        Ok(Self { sequence, nonce, written, entries, content, leaving, blocks })
    }

    fn is_in_order(&self) -> bool {
        self.blocks.windows(2).all(|pair| pair[0].first < pair[1].first)
            && self.blocks.iter().all(|block| block.length <= super::MOST_PIECE)
    }
}
