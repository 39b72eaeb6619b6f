//! What is written: data that no storage can shrink or deduplicate unless asked to, and that can be verified from
//! (seed, file, offset) alone, without keeping any of it.

mod generate;
mod ior;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Ratio;

pub use generate::{Instructions, fill_words};
use ior::{IorData, Packet};

use crate::workload::{FileSet, Layout, Workload};

/// Granularity of the dials: a block is unique, a duplicate, or partly compressible as a whole.
pub const BLOCK: usize = 4096;
const WORDS_PER_BLOCK: usize = BLOCK / 8;

/// What the bytes look like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Every 8 bytes unique; incompressible unless the dials say otherwise.
    #[default]
    Unique,
    /// Zeros, as `dd if=/dev/zero` writes. Compressing and deduplicating storage reports fantasy rates.
    Zeros,
    /// The same 4 KiB over and over.
    Repeated,
    /// What IOR writes with `-l t`, its default: storage that deduplicates keeps one transfer of each rank.
    IorTimestamp,
    /// What IOR writes with `-l o`: the same, with the offset in each 4 KiB.
    IorOffset,
    /// What IOR writes with `-l i`: one word over and over, with the offset in each 4 KiB. It compresses 900:1.
    IorIncompressible,
    /// What IOR writes with `-l r`: does not compress.
    IorRandom,
}

/// The data of a workload and its dials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Data {
    /// What the bytes look like.
    pub pattern: Pattern,
    /// Share of each 4 KiB block that compresses away (zeros at its end).
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub compressible: Ratio,
    /// Share of 4 KiB blocks that are copies of one of a few others.
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub duplicate: Ratio,
    /// The number that IOR's data begins with (IOR -G).
    #[serde(skip_serializing_if = "is_zero")]
    pub signature: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Data {
    /// Why storage may shrink this data; `None` when it can't.
    pub fn shrinkable(&self) -> Option<String> {
        match self.pattern {
            Pattern::Zeros => Some("zeros".to_owned()),
            Pattern::Repeated => Some("one repeated 4 KiB block".to_owned()),
            Pattern::IorTimestamp => {
                Some("the same in every transfer of a rank (IOR's default; -l r is not)".to_owned())
            }
            Pattern::IorOffset => {
                Some("the same in every transfer but for the offsets (-l r is not)".to_owned())
            }
            Pattern::IorIncompressible => {
                Some("one word over and over, whatever IOR calls it (-l r is not)".to_owned())
            }
            Pattern::Unique if self.compressible.get() > 0.0 || self.duplicate.get() > 0.0 => {
                Some(format!("{} compressible, {} duplicate", self.compressible, self.duplicate))
            }
            Pattern::Unique | Pattern::IorRandom => None,
        }
    }
}

/// Distinct contents that duplicate blocks are drawn from.
const DUPLICATE_POOL: u64 = 64;
/// The dials compare against 2^32, so that a share of 1 is always true.
const SHARE_ONE: f64 = 4_294_967_296.0;

/// Generates and verifies the data of one workload.
#[derive(Debug, Clone, Copy)]
pub struct Generator {
    seed: u64,
    pattern: Pattern,
    duplicate_below: u64,
    unique_words: usize,
    plain: bool,
    instructions: Instructions,
    ior: Option<IorData>,
}

/// The first word that is not what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// Offset of the word in the file.
    pub offset: u64,
    /// What should stand there.
    pub expected: u64,
    /// What stands there.
    pub found: u64,
    /// Words of the buffer that differ, this one included.
    pub words: u64,
}

impl Generator {
    /// The generator of `data` for a run with `seed`.
    pub fn new(data: Data, seed: u64) -> Self {
        let unique_share = data.compressible.complement().get();
        Self {
            seed,
            pattern: data.pattern,
            duplicate_below: (data.duplicate.get() * SHARE_ONE) as u64,
            unique_words: (unique_share * WORDS_PER_BLOCK as f64).round() as usize,
            plain: data.pattern == Pattern::Unique
                && data.duplicate.get() == 0.0
                && data.compressible.get() == 0.0,
            instructions: Instructions::detect(),
            ior: packet(data.pattern).map(|packet| IorData {
                packet,
                signature: data.signature,
                shared: None,
            }),
        }
    }

    /// The generator of a workload's data. IOR's depends on whose block it is in.
    pub fn of(workload: &Workload) -> Self {
        let FileSet { layout, block_size, .. } = &workload.files;
        let shared = (*layout == Layout::Shared).then_some((block_size.get(), u64::from(workload.ranks)));
        let new = Self::new(workload.data, workload.seed);
        Self { ior: new.ior.map(|ior| IorData { shared, ..ior }), ..new }
    }

    /// Fills `buffer` with what stands at `offset` of file number `file`. Offset and length need no alignment.
    #[inline]
    pub fn fill(&self, file: u64, offset: u64, buffer: &mut [u8]) {
        // A buffer from `Buffer` is aligned to pages, so both ends are empty unless the length is odd.
        // SAFETY: every bit pattern is a valid u64 and a valid u8.
        let (head, words, tail) = unsafe { buffer.align_to_mut::<u64>() };
        if let (Some(ior), [], []) = (self.ior, &head, &tail) {
            ior.fill(file, offset, words);
        } else if offset.is_multiple_of(8) && head.is_empty() {
            self.fill_aligned(file, offset / 8, words);
            let end = offset + 8 * words.len() as u64;
            self.fill_bytes(file, end, tail);
        } else {
            self.fill_bytes(file, offset, buffer);
        }
    }

    /// The same for a buffer that holds an earlier transfer of the same rank and length.
    #[inline]
    pub fn refill(&self, file: u64, offset: u64, buffer: &mut [u8]) {
        // SAFETY: every bit pattern is a valid u64 and a valid u8.
        let (head, words, tail) = unsafe { buffer.align_to_mut::<u64>() };
        match (self.ior, &head, &tail) {
            (Some(ior), [], []) => ior.refill(file, offset, words),
            _ => self.fill(file, offset, buffer),
        }
    }

    /// Compares `buffer` with what was written at `offset` of file number `file`; `scratch` is at least as long.
    pub fn verify(&self, file: u64, offset: u64, buffer: &[u8], scratch: &mut [u8]) -> Result<(), Mismatch> {
        let expected = &mut scratch[..buffer.len()];
        self.fill(file, offset, expected);
        if buffer == &*expected {
            return Ok(());
        }
        let word = |chunk: &[u8]| {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(bytes)
        };
        let pairs =
            buffer.chunks(8).zip(expected.chunks(8)).map(|(found, expected)| (word(found), word(expected)));
        let mut first = None;
        let mut words = 0;
        for (index, (found, expected)) in pairs.enumerate() {
            if found != expected {
                words += 1;
                first.get_or_insert((offset + 8 * index as u64, expected, found));
            }
        }
        first.map_or(Ok(()), |(offset, expected, found)| Err(Mismatch { offset, expected, found, words }))
    }

    fn fill_aligned(&self, file: u64, first: u64, words: &mut [u64]) {
        if self.plain {
            fill_words(self.instructions, words, self.key(file), first);
            return;
        }
        let mut position = first;
        let mut rest = words;
        while !rest.is_empty() {
            let in_block = (position % WORDS_PER_BLOCK as u64) as usize;
            let length = rest.len().min(WORDS_PER_BLOCK - in_block);
            let (part, after) = rest.split_at_mut(length);
            self.fill_in_block(file, position, in_block, part);
            position += length as u64;
            rest = after;
        }
    }

    /// Fills words of one 4 KiB block, starting `in_block` words into it.
    fn fill_in_block(&self, file: u64, position: u64, in_block: usize, words: &mut [u64]) {
        match self.pattern {
            // IOR's data has whole words only: what is not aligned is nobody's to verify.
            Pattern::Zeros
            | Pattern::IorTimestamp
            | Pattern::IorOffset
            | Pattern::IorIncompressible
            | Pattern::IorRandom => words.fill(0),
            Pattern::Repeated => fill_words(self.instructions, words, self.key(0), in_block as u64),
            Pattern::Unique => {
                let unique = self.unique_words.saturating_sub(in_block).min(words.len());
                let (unique, zeros) = words.split_at_mut(unique);
                let (key, first) = self.content(file, position, in_block);
                fill_words(self.instructions, unique, key, first);
                zeros.fill(0);
            }
        }
    }

    /// The key and first word of a block's content: its own, or that of a member of the duplicate pool.
    fn content(&self, file: u64, position: u64, in_block: usize) -> (u64, u64) {
        let block = position / WORDS_PER_BLOCK as u64;
        let draw = mix(self.key(file) ^ mix(block));
        if (draw & 0xffff_ffff) < self.duplicate_below {
            let member = (draw >> 32) % DUPLICATE_POOL;
            (self.key(u64::MAX), member * WORDS_PER_BLOCK as u64 + in_block as u64)
        } else {
            (self.key(file), position)
        }
    }

    /// Fills byte by byte: for the odd ends and for odd offsets.
    fn fill_bytes(&self, file: u64, offset: u64, bytes: &mut [u8]) {
        let mut word = [0u64; 1];
        let mut at = u64::MAX;
        for (index, byte) in bytes.iter_mut().enumerate() {
            let position = offset + index as u64;
            if position / 8 != at {
                at = position / 8;
                self.fill_aligned(file, at, &mut word);
            }
            *byte = word[0].to_le_bytes()[(position % 8) as usize];
        }
    }

    fn key(&self, file: u64) -> u64 {
        mix(self.seed ^ mix(file))
    }
}

fn packet(pattern: Pattern) -> Option<Packet> {
    match pattern {
        Pattern::Unique | Pattern::Zeros | Pattern::Repeated => None,
        Pattern::IorTimestamp => Some(Packet::Timestamp),
        Pattern::IorOffset => Some(Packet::Offset),
        Pattern::IorIncompressible => Some(Packet::Incompressible),
        Pattern::IorRandom => Some(Packet::Random),
    }
}

/// A bijection of 64 bits that spreads every bit (the finalizer of SplitMix64; Steele, Lea, Flood 2014).
pub fn mix(value: u64) -> u64 {
    let mut x = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;
