//! Content-defined chunks: where content is cut, and that it is cut there again wherever it stands.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::HashSet;

use chunk::{Cutter, Id};
use proptest::prelude::*;

const SMALL: Cutter = Cutter::new(4096);

fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut bytes = vec![0; length];
    random.fill(&mut bytes);
    bytes
}

/// Content with repeated and constant stretches, as real files have.
fn mixed(length: usize, seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        let more = random.usize(1..40_000).min(length - bytes.len());
        match random.u8(..3) {
            0 => bytes.resize(bytes.len() + more, random.u8(..)),
            1 => bytes.extend((0..more).map(|place| (place % 251) as u8)),
            _ => bytes.extend(std::iter::repeat_with(|| random.u8(..)).take(more)),
        }
    }
    bytes
}

fn cuts(cutter: Cutter, bytes: &[u8]) -> Vec<usize> {
    cutter.all(bytes).map(|chunk| chunk.end).collect()
}

/// The same from a buffer that is filled up by pieces of these sizes whenever it has less than the largest chunk.
fn cuts_by_pieces(cutter: Cutter, bytes: &[u8], pieces: &[usize]) -> Vec<usize> {
    let (mut cuts, mut buffer, mut read, mut done) = (Vec::new(), Vec::new(), 0, 0);
    let mut sizes = pieces.iter().cycle();
    loop {
        while buffer.len() < cutter.most() && read < bytes.len() {
            let more = (*sizes.next().unwrap()).min(bytes.len() - read);
            buffer.extend_from_slice(&bytes[read..read + more]);
            read += more;
        }
        if buffer.is_empty() {
            return cuts;
        }
        let length = cutter.first(&buffer);
        buffer.drain(..length);
        done += length;
        cuts.push(done);
    }
}

fn ids(bytes: &[u8]) -> Vec<Id> {
    SMALL.all(bytes).map(|chunk| Id::of(&bytes[chunk])).collect()
}

fn bytes_not_in(known: &HashSet<Id>, bytes: &[u8]) -> usize {
    SMALL.all(bytes).filter(|chunk| !known.contains(&Id::of(&bytes[chunk.clone()]))).map(|c| c.len()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn chunks_cover_the_content_and_keep_their_sizes(length in 0_usize..400_000, seed: u64) {
        let bytes = mixed(length, seed);
        let mut at = 0;
        for chunk in SMALL.all(&bytes) {
            prop_assert_eq!(chunk.start, at);
            prop_assert!(chunk.len() <= SMALL.most());
            prop_assert!(chunk.len() > SMALL.least() || chunk.end == length);
            at = chunk.end;
        }
        prop_assert_eq!(at, length);
    }

    #[test]
    fn how_it_is_fed_makes_no_difference(
        length in 0_usize..200_000, seed: u64, pieces in proptest::collection::vec(1_usize..30_000, 1..5),
    ) {
        let bytes = mixed(length, seed);
        prop_assert_eq!(cuts(SMALL, &bytes), cuts_by_pieces(SMALL, &bytes, &pieces));
    }

    #[test]
    fn an_edit_costs_the_chunks_around_it(
        seed: u64, place in 0_usize..600_000, inserted in 0_usize..3000, deleted in 0_usize..3000,
    ) {
        let old = content(600_000, seed);
        let mut new = old[..place].to_vec();
        new.extend(content(inserted, !seed));
        new.extend_from_slice(&old[(place + deleted).min(old.len())..]);
        let known = ids(&old).into_iter().collect();
        // The chunk of the edit, and until both are cut at the same place again: a few in the worst of cases.
        prop_assert!(bytes_not_in(&known, &new) <= inserted + 6 * SMALL.most());
    }
}

#[test]
fn one_byte_in_front_costs_a_chunk() {
    let old = content(8 << 20, 5);
    let mut new = vec![b'x'];
    new.extend_from_slice(&old);
    let cutter = Cutter::new(65_536);
    let before: HashSet<usize> = cuts(cutter, &old).into_iter().collect();
    let after = cuts(cutter, &new);
    let moved = after.iter().filter(|cut| before.contains(&(*cut - 1))).count();
    assert!(after.len() - moved <= 2, "{moved} of {}", after.len());
}

#[test]
fn most_chunks_are_near_the_average() {
    let cutter = Cutter::new(65_536);
    let bytes = content(16 << 20, 6);
    let lengths: Vec<usize> = cutter.all(&bytes).map(|chunk| chunk.len()).collect();
    let mean = bytes.len() / lengths.len();
    assert!((65_536..90_000).contains(&mean), "{mean}");
    let near = lengths.iter().filter(|length| (32_768..131_072).contains(*length)).count();
    assert!(near * 10 > lengths.len() * 8, "{near} of {}", lengths.len());
}

#[test]
fn zeros_are_cut_at_the_largest_size() {
    assert_eq!(cuts(SMALL, &vec![0; 40_000]), [16_384, 32_768, 40_000]);
    assert!(cuts(SMALL, &[]).is_empty());
}

/// Stored chunk lists are worth nothing if a later version cuts elsewhere.
#[test]
fn places_are_those_of_every_version() {
    let bytes: Vec<u8> = (0..1_u32 << 16)
        .flat_map(|number| number.wrapping_mul(0x9e37_79b1).rotate_left(number).to_le_bytes())
        .collect();
    assert_eq!(cuts(Cutter::new(65_536), &bytes), [174_808, 258_112, 262_144]);
    let small = cuts(SMALL, &bytes);
    assert_eq!((small.len(), &small[..6]), (55, &[2807, 4827, 8364, 15_006, 22_580, 25_911][..]));
}
