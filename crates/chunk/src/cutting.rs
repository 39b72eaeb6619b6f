use std::ops::Range;

/// Bytes that a hash of the content looks back over.
const WINDOW: usize = 64;

/// Finds where content is cut, by what stands there and not by where it stands: content that moved is cut at the same
/// places again.
///
/// FastCDC (Xia et al., USENIX ATC 2016; IEEE TPDS 2020): a gear hash, nothing looked at before the smallest size, and two
/// thresholds (normalised chunking, level 2), so that most chunks are near the average. Ours differs in that the hash is
/// always of the 64 bytes before a place, also right behind the smallest size: whether a place is a candidate does not
/// depend on where the chunk began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutter {
    bits: u32,
}

impl Cutter {
    /// Chunks of about this many bytes, 2^12 to 2^26, rounded down to a power of two. No chunk is smaller than a quarter
    /// of it, but the last, and none is larger than four times. The mean is about 1.2 times the average asked for.
    pub const fn new(average: u32) -> Self {
        let bits = average.ilog2();
        Self {
            bits: if bits < 12 {
                12
            } else if bits > 26 {
                26
            } else {
                bits
            },
        }
    }

    /// The average asked for, bytes.
    pub const fn average(self) -> usize {
        1 << self.bits
    }

    /// The size of the smallest chunk, bytes.
    pub const fn least(self) -> usize {
        self.average() / 4
    }

    /// The size of the largest chunk, bytes.
    pub const fn most(self) -> usize {
        self.average() * 4
    }

    /// The length of the chunk that begins with `bytes`: all of them where no place to cut is among them. So that the
    /// answer does not depend on how much is at hand, give it [`Cutter::most`] bytes or all that are left.
    pub fn first(self, bytes: &[u8]) -> usize {
        let end = bytes.len().min(self.most());
        let normal = end.min(self.average());
        // A place is judged by the hash of the bytes before it, which ends there.
        let strong = candidate(bytes, self.least()..normal, limit(self.bits + 2));
        strong
            .or_else(|| candidate(bytes, normal.max(self.least())..end, limit(self.bits - 2)))
            .unwrap_or(end)
    }

    /// All chunks of `bytes`, in order; the last may be small.
    pub fn all(self, bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
            let start = at;
            at += self.first(rest);
            Some(start..at)
        })
    }
}

/// Hashes below this have so many leading zero bits. The leading bits are those that depend on all 64 bytes.
const fn limit(bits: u32) -> u64 {
    1 << (64 - bits)
}

fn roll(hash: u64, byte: u8) -> u64 {
    (hash << 1).wrapping_add(GEAR[byte as usize])
}

fn hash_before(bytes: &[u8], place: usize) -> u64 {
    bytes[place - WINDOW..place].iter().fold(0, |hash, byte| roll(hash, *byte))
}

/// The end of the first byte of `places` behind which the hash is below `limit`: there the next chunk may begin.
fn candidate(bytes: &[u8], places: Range<usize>, limit: u64) -> Option<usize> {
    if places.is_empty() {
        return None;
    }
    let (mut hash, mut at) = (hash_before(bytes, places.start), places.start);
    let (fours, rest) = bytes[places].as_chunks::<4>();
    for bytes in fours {
        let hashes = four(hash, *bytes);
        if let Some(place) = hashes.iter().position(|hash| *hash < limit) {
            return Some(at + place + 1);
        }
        hash = hashes[3];
        at += 4;
    }
    rest.iter().find_map(|byte| {
        hash = roll(hash, *byte);
        at += 1;
        (hash < limit).then_some(at)
    })
}

/// The hashes behind each of four bytes. One by one each waits for the one before; like this, four wait for one.
#[inline]
fn four(hash: u64, [first, second, third, fourth]: [u8; 4]) -> [u64; 4] {
    let one = GEAR[first as usize];
    let two = roll(one, second);
    let three = roll(two, third);
    let all = roll(three, fourth);
    [
        (hash << 1).wrapping_add(one),
        (hash << 2).wrapping_add(two),
        (hash << 3).wrapping_add(three),
        (hash << 4).wrapping_add(all),
    ]
}

/// A random number for each byte: SplitMix64 from a fixed seed. Another table would cut elsewhere: it never changes.
static GEAR: [u64; 256] = {
    let mut table = [0; 256];
    let (mut state, mut byte) = (0x466f_7265_6261_7921_u64, 0);
    while byte < 256 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        table[byte] = mixed ^ (mixed >> 31);
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn content(length: usize, seed: u64) -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = vec![0; length];
        random.fill(&mut bytes);
        bytes
    }

    /// The definition, one place after the other.
    fn plainly(cutter: Cutter, bytes: &[u8]) -> usize {
        let end = bytes.len().min(cutter.most());
        for place in cutter.least() + 1..=end {
            let bits = if place <= cutter.average() { cutter.bits + 2 } else { cutter.bits - 2 };
            if hash_before(bytes, place).leading_zeros() >= bits {
                return place;
            }
        }
        end
    }

    #[test]
    fn four_at_once_find_what_one_after_the_other_finds() {
        for (seed, average) in [(1, 4096), (2, 16_384), (3, 65_536)] {
            let (cutter, bytes) = (Cutter::new(average), content(700_001, seed));
            let mut at = 0;
            for chunk in cutter.all(&bytes) {
                assert_eq!(chunk.len(), plainly(cutter, &bytes[at..]), "{seed} {at}");
                at = chunk.end;
            }
            assert_eq!(at, bytes.len());
        }
    }
}
