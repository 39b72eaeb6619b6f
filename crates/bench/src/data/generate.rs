//! The inner loop: one 64-bit word per counter value, as fast as the vector units store it.
//!
//! A word is a bijection of its index in the file (a Weyl step, then three Feistel rounds on its halves), so no two
//! words of a file are equal. Only 32-bit multiplications are used: AVX2 has no 64-bit one, and the loop vectorises
//! with either. Measured on a 2.0 GHz Sapphire Rapids vCPU, 64 KiB buffer: SSE2 6, AVX2 12, AVX-512 16 GB/s; a
//! SplitMix64 loop reaches 3.5.

/// The widest vector instructions this CPU has, detected once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// Whatever the target guarantees (SSE2 on x86-64).
    Baseline,
    /// 256-bit integers.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit integers.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// What this CPU has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if wide {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Self::Avx2;
            }
        }
        Self::Baseline
    }
}

/// Odd, so that multiples of it visit every 64-bit value (2^64 / golden ratio).
const WEYL: u64 = 0x9E37_79B9_7F4A_7C15;
/// Words per step of the unrolled loop: a multiple of every vector width.
const STEP: usize = 16;

/// Fills `words` with the words `first..` of the sequence `key`.
#[inline]
pub fn fill_words(instructions: Instructions, words: &mut [u64], key: u64, first: u64) {
    match instructions {
        Instructions::Baseline => fill(words, key, first),
        // SAFETY: `detect` saw these instructions on this CPU.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => unsafe { fill_avx2(words, key, first) },
        // SAFETY: `detect` saw these instructions on this CPU.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => unsafe { fill_avx512(words, key, first) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2(words: &mut [u64], key: u64, first: u64) {
    fill(words, key, first);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn fill_avx512(words: &mut [u64], key: u64, first: u64) {
    fill(words, key, first);
}

#[inline(always)]
#[allow(clippy::inline_always, reason = "the callers compile it for their instructions")]
fn fill(words: &mut [u64], key: u64, first: u64) {
    let second_key = super::mix(key);
    let mut counter = key.wrapping_add(first.wrapping_mul(WEYL));
    let mut chunks = words.chunks_exact_mut(STEP);
    for chunk in &mut chunks {
        for (index, word) in chunk.iter_mut().enumerate() {
            *word = scramble(counter.wrapping_add((index as u64).wrapping_mul(WEYL)), second_key);
        }
        counter = counter.wrapping_add(WEYL.wrapping_mul(STEP as u64));
    }
    for (index, word) in chunks.into_remainder().iter_mut().enumerate() {
        *word = scramble(counter.wrapping_add((index as u64).wrapping_mul(WEYL)), second_key);
    }
}

/// A bijection of 64 bits: each line changes one half by a function of the other.
#[inline(always)]
#[allow(clippy::inline_always, reason = "part of the vectorised loop")]
fn scramble(counter: u64, second_key: u64) -> u64 {
    const LOW: u64 = 0xffff_ffff;
    let mut x = counter ^ (counter >> 32) ^ second_key;
    x ^= (x & LOW).wrapping_mul(0xD6E8_FEB9) << 32;
    x ^= (x >> 32).wrapping_mul(0xA3B1_9535) >> 32;
    x ^ ((x & LOW).wrapping_mul(0x9E37_79B1) & !LOW)
}
