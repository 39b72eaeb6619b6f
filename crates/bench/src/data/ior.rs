//! The data that IOR 4 writes, so that files written by it can be verified here, and those written here by it.
//!
//! A transfer is a row of 64-bit words in the machine's order. What stands in word `i` of a transfer depends on the rank it
//! belongs to, on the signature (`-G`) and, but for `t`, on the transfer's offset in the file:
//!
//! | `-l` | word `i` |
//! |---|---|
//! | `t` | rank in the upper half, signature + `i` in the lower |
//! | `o` | the same; each 512th: rank in the upper half, offset times the number of the 4 KiB block, from 1 on, in the lower |
//! | `i` | two draws of `rand_r`, seeded with signature + rank: the same in all words; each 512th as for `o` |
//! | `r` | x times 0x9e37fffffffc0001, shifted right by 3, where x is the word before, and for the first one a draw of `rand_r`, seeded with signature + rank + offset |
//!
//! Sums and products wrap at 32 bits where IOR computes with `int`; the lower half of `t` is a 64-bit sum of a signed
//! signature. `rand_r` is glibc's. From IOR 4's behaviour, src/utilities.c.

/// Words between those that carry the offset.
const STAMP_EVERY: usize = 512;
/// The multiplier of `r`.
const RANDOM_FACTOR: u64 = 0x9e37_ffff_fffc_0001;

/// What IOR calls a data packet type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet {
    /// `-l t`.
    Timestamp,
    /// `-l o`.
    Offset,
    /// `-l i`.
    Incompressible,
    /// `-l r`.
    Random,
}

/// IOR's data of one signature.
#[derive(Debug, Clone, Copy)]
pub struct IorData {
    /// Its kind.
    pub packet: Packet,
    /// `-G`.
    pub signature: u32,
    /// Of a file that all ranks share: bytes of a block, and ranks. `None` where each rank has its own.
    pub shared: Option<(u64, u64)>,
}

impl IorData {
    /// The rank that what stands at `offset` of file number `file` belongs to.
    fn rank(self, file: u64, offset: u64) -> u32 {
        match self.shared {
            Some((block, ranks)) => (offset / block % ranks) as u32,
            None => file as u32,
        }
    }

    /// Fills `words` with the transfer at `offset` of file number `file`.
    pub fn fill(self, file: u64, offset: u64, words: &mut [u64]) {
        let rank = self.rank(file, offset);
        let upper = u64::from(rank) << 32;
        match self.packet {
            Packet::Timestamp | Packet::Offset => {
                let first = i64::from(self.signature.cast_signed()).cast_unsigned();
                for (index, word) in words.iter_mut().enumerate() {
                    *word = upper | first.wrapping_add(index as u64);
                }
            }
            Packet::Incompressible => {
                let mut seed = self.signature.wrapping_add(rank);
                let (high, low) = (rand_r(&mut seed), rand_r(&mut seed));
                words.fill(u64::from(high) << 32 | u64::from(low));
            }
            Packet::Random => {
                let mut seed = self.signature.wrapping_add(rank).wrapping_add(offset as u32);
                let mut state = u64::from(rand_r(&mut seed));
                for word in words {
                    state = state.wrapping_mul(RANDOM_FACTOR) >> 3;
                    *word = state;
                }
                return;
            }
        }
        self.stamp(upper, offset, words);
    }

    /// Fills `words`, which hold another transfer of the same rank and length.
    pub fn refill(self, file: u64, offset: u64, words: &mut [u64]) {
        match self.packet {
            Packet::Timestamp => {}
            Packet::Random => self.fill(file, offset, words),
            Packet::Offset | Packet::Incompressible => {
                self.stamp(u64::from(self.rank(file, offset)) << 32, offset, words);
            }
        }
    }

    fn stamp(self, upper: u64, offset: u64, words: &mut [u64]) {
        if self.packet == Packet::Timestamp {
            return;
        }
        for (index, word) in words.iter_mut().step_by(STAMP_EVERY).enumerate() {
            *word = upper | u64::from((offset as u32).wrapping_mul(index as u32 + 1));
        }
    }
}

/// glibc's `rand_r`: three steps of a linear congruence give 11, 10 and 10 bits.
fn rand_r(seed: &mut u32) -> u32 {
    let mut draw = |bits: u32| {
        *seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        (*seed >> 16) & ((1 << bits) - 1)
    };
    let first = draw(11);
    let second = draw(10);
    first << 20 | second << 10 | draw(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(packet: Packet, signature: u32, file: u64, offset: u64, count: usize) -> Vec<u64> {
        let mut words = vec![0; count];
        IorData { packet, signature, shared: None }.fill(file, offset, &mut words);
        words
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn draws_are_those_of_the_c_library() {
        unsafe extern "C" {
            fn rand_r(seed: *mut libc::c_uint) -> libc::c_int;
        }
        for start in [0, 1, 1234, u32::MAX, 0x8000_0000] {
            let (mut ours, mut theirs) = (start, start);
            for _ in 0..100 {
                // SAFETY: a plain function of the C library on a local variable.
                let expected = unsafe { rand_r(&raw mut theirs) };
                assert_eq!((super::rand_r(&mut ours), ours), (expected.cast_unsigned(), theirs));
            }
        }
    }

    #[test]
    fn timestamps_count_words_below_the_rank() {
        let words = words(Packet::Timestamp, 1234, 3, 1 << 20, 3);
        assert_eq!(words, [0x3_0000_04d2, 0x3_0000_04d3, 0x3_0000_04d4]);
        // A signature is an int: beyond 2^31 it fills the upper half.
        assert_eq!(super::tests::words(Packet::Timestamp, u32::MAX, 3, 0, 2), [u64::MAX, 3 << 32]);
    }

    #[test]
    fn offsets_stand_at_the_start_of_every_4_kib() {
        let words = words(Packet::Offset, 1234, 1, 0x2_0000_1000, 1025);
        assert_eq!(
            (words[0], words[512], words[1024]),
            (1 << 32 | 0x1000, 1 << 32 | 0x2000, 1 << 32 | 0x3000)
        );
        assert_eq!((words[1], words[513]), (1 << 32 | 0x4d3, (1 << 32) + 1234 + 513));
    }

    #[test]
    fn incompressible_words_are_all_the_same() {
        // rand_r of seed 42 gives 681191333, then 928546885.
        let words = words(Packet::Incompressible, 40, 2, 4096, 600);
        assert!(
            words[1..512].iter().chain(&words[513..]).all(|word| *word == (681_191_333 << 32) + 928_546_885)
        );
        assert_eq!((words[0], words[512]), (2 << 32 | 4096, 2 << 32 | 8192));
    }

    #[test]
    fn random_words_follow_from_each_other() {
        // rand_r of seed 42 = signature + rank + offset.
        let words = words(Packet::Random, 30, 4, 8, 3);
        let next = |word: u64| word.wrapping_mul(0x9e37_ffff_fffc_0001) >> 3;
        assert_eq!(words, [next(681_191_333), next(next(681_191_333)), next(next(next(681_191_333)))]);
    }

    #[test]
    fn in_a_shared_file_blocks_belong_to_ranks_in_turn() {
        let data = IorData { packet: Packet::Timestamp, signature: 0, shared: Some((4096, 3)) };
        let rank_at = |offset| {
            let mut word = [0];
            data.fill(0, offset, &mut word);
            word[0] >> 32
        };
        assert_eq!([0, 4096, 8192, 12_288, 16_383].map(rank_at), [0, 1, 2, 0, 0]);
    }

    #[test]
    fn what_is_filled_again_is_what_would_be_filled_anew() {
        for packet in [Packet::Timestamp, Packet::Offset, Packet::Incompressible, Packet::Random] {
            let data = IorData { packet, signature: 77, shared: None };
            let mut again = words(packet, 77, 5, 65536, 2048);
            data.refill(5, 1 << 20, &mut again);
            assert_eq!(again, words(packet, 77, 5, 1 << 20, 2048), "{packet:?}");
        }
    }
}
