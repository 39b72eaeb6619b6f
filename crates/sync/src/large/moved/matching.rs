//! Which pieces of some content the old file has, and where. Pure but for the reads of the old file.

use std::ops::Range;

use chunk::{Chunk, ChunkList};

/// Content that no chunk was found for is taken for the old file's only if so many bytes agree.
const LEAST: usize = 4096;
/// Bytes of the old file that are compared first, and then at a time.
const FIRST: usize = 4096;
const STEP: usize = 64 << 10;

/// Some content, and where it stands in the new file.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub at: u64,
    pub bytes: &'a [u8],
}

/// What the old file has: `place` of the content stands at `from` there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub place: Range<usize>,
    pub from: u64,
}

/// Where a piece of the new file comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// From `from` of the old file.
    Old { place: Range<usize>, from: u64 },
    /// From the source.
    New(Range<usize>),
}

impl Place<'_> {
    /// How far it moved: its place in the old file less its place in the new one.
    pub fn shift(&self, found: &Found) -> i64 {
        found.from.cast_signed() - (self.at + found.place.start as u64).cast_signed()
    }

    /// What the chunks of the old file say.
    pub fn find(&self, chunks: &[Chunk], list: &ChunkList) -> Vec<Found> {
        let mut all: Vec<Found> = Vec::new();
        for chunk in chunks {
            let start = (chunk.offset - self.at) as usize;
            let place = start..start + chunk.length as usize;
            // Of several places, the one where the content before it goes on.
            let expected = all.last().map(|last| last.from + (start - last.place.start) as u64);
            let Some(from) = list.find(chunk, expected) else { continue };
            match all.last_mut().filter(|last| last.place.end == start && expected == Some(from)) {
                Some(last) => last.place.end = place.end,
                None => all.push(Found { place, from }),
            }
        }
        all
    }

    /// Lengthens what was found by comparing bytes with the old file, so that an edit costs its own bytes and not the chunks
    /// around it. Where no chunk was found to go on from, shifts that were seen elsewhere (`hints`) are tried. `old` reads
    /// the old file and returns how much it has.
    pub fn extend(
        &self,
        found: Vec<Found>,
        hints: &[i64],
        mut old: impl FnMut(&mut [u8], u64) -> usize,
    ) -> Vec<Found> {
        let mut all: Vec<Found> = Vec::with_capacity(found.len() + 2);
        let mut rest = found.into_iter();
        loop {
            let mut next = rest.next();
            let start = all.last().map_or(0, |last| last.place.end);
            let gap = start..next.as_ref().map_or(self.bytes.len(), |next| next.place.start);
            let gap = self.forward(gap, &mut all, hints, &mut old);
            self.backward(gap, &mut all, next.as_mut(), hints, &mut old);
            match next {
                Some(next) => all.push(next),
                None => return all,
            }
        }
    }

    /// Goes on behind what was found last. Returns what is left of the gap.
    fn forward(
        &self,
        gap: Range<usize>,
        all: &mut Vec<Found>,
        hints: &[i64],
        old: &mut impl FnMut(&mut [u8], u64) -> usize,
    ) -> Range<usize> {
        if gap.is_empty() {
            return gap;
        }
        if let Some(last) = all.last_mut() {
            let same = self.same_from(gap.clone(), last.from + last.place.len() as u64, old);
            last.place.end += same;
            return gap.start + same..gap.end;
        }
        for from in self.hinted(gap.start, hints) {
            let same = self.same_from(gap.clone(), from, old);
            if same >= LEAST.min(gap.len()) {
                all.push(Found { place: gap.start..gap.start + same, from });
                return gap.start + same..gap.end;
            }
        }
        gap
    }

    /// Goes back before what was found next.
    fn backward(
        &self,
        gap: Range<usize>,
        all: &mut Vec<Found>,
        next: Option<&mut Found>,
        hints: &[i64],
        old: &mut impl FnMut(&mut [u8], u64) -> usize,
    ) {
        if gap.is_empty() {
            return;
        }
        if let Some(next) = next {
            let same = self.same_before(gap, next.from, old);
            next.place.start -= same;
            next.from -= same as u64;
            return;
        }
        for end in self.hinted(gap.end, hints) {
            let same = self.same_before(gap.clone(), end, old);
            if same >= LEAST.min(gap.len()) {
                all.push(Found { place: gap.end - same..gap.end, from: end - same as u64 });
                return;
            }
        }
    }

    /// Where the old file has what stands at `place`, if it moved as far as one of the hints.
    fn hinted(&self, place: usize, hints: &[i64]) -> impl Iterator<Item = u64> {
        let at = self.at + place as u64;
        hints.iter().filter_map(move |shift| at.checked_add_signed(*shift))
    }

    /// How many bytes from the start of `gap` on are those of the old file from `from` on.
    fn same_from(
        &self,
        gap: Range<usize>,
        from: u64,
        old: &mut impl FnMut(&mut [u8], u64) -> usize,
    ) -> usize {
        let (bytes, mut same, mut step) = (&self.bytes[gap], 0, FIRST);
        let mut buffer = vec![0; STEP.min(bytes.len())];
        while same < bytes.len() {
            let wanted = &bytes[same..(same + step).min(bytes.len())];
            let there = &mut buffer[..wanted.len()];
            let read = old(there, from + same as u64);
            let alike = if wanted == &there[..read] { read } else { prefix(wanted, &there[..read]) };
            same += alike;
            if alike < wanted.len() {
                break;
            }
            step = STEP;
        }
        same
    }

    /// How many bytes before the end of `gap` are those of the old file before `end`.
    fn same_before(
        &self,
        gap: Range<usize>,
        end: u64,
        old: &mut impl FnMut(&mut [u8], u64) -> usize,
    ) -> usize {
        let most = usize::try_from(end).unwrap_or(usize::MAX).min(gap.len());
        let (bytes, mut same, mut step) = (&self.bytes[gap.end - most..gap.end], 0, FIRST);
        let mut buffer = vec![0; STEP.min(most)];
        while same < most {
            let length = step.min(most - same);
            let wanted = &bytes[most - same - length..most - same];
            let there = &mut buffer[..length];
            if old(there, end - (same + length) as u64) < length {
                break;
            }
            let alike = if wanted == there { length } else { suffix(wanted, there) };
            same += alike;
            if alike < length {
                break;
            }
            step = STEP;
        }
        same
    }

    /// The whole content, piece by piece.
    pub fn pieces(&self, found: &[Found]) -> Vec<Piece> {
        let (mut pieces, mut at) = (Vec::with_capacity(2 * found.len() + 1), 0);
        for Found { place, from } in found {
            if at < place.start {
                pieces.push(Piece::New(at..place.start));
            }
            pieces.push(Piece::Old { place: place.clone(), from: *from });
            at = place.end;
        }
        if at < self.bytes.len() {
            pieces.push(Piece::New(at..self.bytes.len()));
        }
        pieces
    }
}

/// How many bytes are the same from the start on.
pub fn prefix(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// How many bytes are the same before the end.
pub fn suffix(one: &[u8], other: &[u8]) -> usize {
    one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use chunk::Cutter;
    use proptest::prelude::*;

    use super::super::cut;
    use super::*;

    const CUTTER: Cutter = Cutter::new(4096);

    fn content(length: usize, seed: u64) -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(seed);
        std::iter::repeat_with(|| random.u8(..)).take(length).collect()
    }

    /// What the new file is made of, as `Part::copy` would, and how much of it comes from the source.
    fn made(old: &[u8], new: &[u8], window: usize, hints: &[i64]) -> (Vec<u8>, usize) {
        let list = ChunkList::new(CUTTER, cut(CUTTER, 0, old));
        let read = |bytes: &mut [u8], at: u64| {
            let there = old.get(at as usize..).unwrap_or(&[]);
            let length = there.len().min(bytes.len());
            bytes[..length].copy_from_slice(&there[..length]);
            length
        };
        let (mut made, mut sent) = (Vec::new(), 0);
        for (number, bytes) in new.chunks(window).enumerate() {
            let place = Place { at: (number * window) as u64, bytes };
            let found = place.find(&cut(CUTTER, place.at, bytes), &list);
            for piece in place.pieces(&place.extend(found, hints, read)) {
                match piece {
                    Piece::Old { place, from } => {
                        made.extend_from_slice(&old[from as usize..from as usize + place.len()]);
                    }
                    Piece::New(place) => {
                        sent += place.len();
                        made.extend_from_slice(&bytes[place]);
                    }
                }
            }
        }
        (made, sent)
    }

    #[test]
    fn an_edit_costs_its_own_bytes() {
        let old = content(300_000, 1);
        let mut new = old.clone();
        new.insert(0, b'x');
        new.splice(100_000..100_010, *b"instead");
        new.drain(200_000..220_000);
        let (all, sent) = made(&old, &new, 128 << 10, &[]);
        assert!(all == new);
        assert!(sent <= 8, "{sent}");
    }

    #[test]
    fn content_that_is_nowhere_cut_is_found_by_how_far_the_rest_moved() {
        // A number in each page, and zeros: chunks of the largest size, which never meet again.
        let mut old = vec![0; 600_000];
        (0_u64..)
            .zip(old.chunks_mut(4096))
            .for_each(|(n, page)| page[..4].copy_from_slice(&(n as u32 + 1).to_be_bytes()));
        let new = [&b"in front"[..], &old].concat();
        let (all, sent) = made(&old, &new, 128 << 10, &[-8]);
        assert!(all == new);
        assert!(sent <= 5000, "{sent}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_made_is_what_is_wanted(
            seed: u64,
            length in 0_usize..150_000,
            window in 10_000_usize..100_000,
            hints in proptest::collection::vec(-200_000_i64..200_000, 0..3),
            edits in proptest::collection::vec((0_usize..150_000, 0_usize..30_000, 0_usize..30_000), 0..6),
        ) {
            let old = content(length, seed);
            let mut new = old.clone();
            for (number, (place, deleted, inserted)) in edits.into_iter().enumerate() {
                let start = place.min(new.len());
                let end = (start + deleted).min(new.len());
                // Half of what is inserted is old content from elsewhere.
                let more = if number % 2 == 0 || old.is_empty() {
                    content(inserted, number as u64)
                } else {
                    old[(place / 2).min(old.len())..].iter().copied().take(inserted).collect()
                };
                new.splice(start..end, more);
            }
            let (all, sent) = made(&old, &new, window, &hints);
            prop_assert!(all == new);
            prop_assert!(sent <= new.len());
        }
    }
}
