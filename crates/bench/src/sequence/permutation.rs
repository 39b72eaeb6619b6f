//! A shuffled order that is computed, not stored.

use crate::data::mix;

/// A permutation of `0..size`, computed and not stored: a four-round Feistel network on the next even number of bits,
/// walked until it lands inside (at most four tries on average). Black and Rogaway, "Ciphers with arbitrary finite
/// domains", 2002.
#[derive(Debug, Clone, Copy)]
pub struct Permutation {
    size: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// The permutation of `0..size` drawn from `seed`.
    pub fn new(size: u64, seed: u64) -> Self {
        let bits = u64::BITS - size.saturating_sub(1).leading_zeros();
        Self {
            size,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|round| mix(seed ^ mix(round as u64))),
        }
    }

    /// Where `index` goes. `index` must be below the size.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        let mut value = self.shuffle(index);
        while value >= self.size {
            value = self.shuffle(value);
        }
        value
    }

    #[inline]
    fn shuffle(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            let mixed = (right ^ key).wrapping_mul(0xD6E8_FEB8_6659_FD93);
            (left, right) = (right, (left ^ (mixed >> 32)) & mask);
        }
        left << self.half_bits | right
    }
}
