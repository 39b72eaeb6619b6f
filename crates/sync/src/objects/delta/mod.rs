//! Large files to and from a tree on another host of which both sides have a copy: only what differs travels.
//!
//! Either leaves are compared where they stand, or, where content moved, chunks that are cut where the content says. Which of
//! them is told by a look at a few places. What comes out of an old copy is read back with the rest: unless the whole has the
//! hash that the source has, it gets no name, and all of the file travels.

mod fetch;
mod resume;
mod send;

use chunk::{Cutter, LEAF, leaf_id};

use crate::far::Far;
use crate::options::Delta;

pub use fetch::fetch;
pub use resume::go_on;
pub use send::send;

/// Places that are looked at.
const SAMPLES: u64 = 16;
/// Average size of a chunk, bytes.
const CHUNK: u32 = 64 << 10;

/// How content is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Where it stands.
    Leaves,
    /// Wherever it stands.
    Chunks,
}

fn cutter() -> Cutter {
    Cutter::new(CHUNK)
}

/// How a file is compared whose copy here is read by `read`, and there has `key` and `tag`; `common` bytes both have at least.
fn way(
    rule: Delta,
    far: &Far,
    (key, tag): (&str, &str),
    common: u64,
    read: &dyn Fn(&mut [u8], u64) -> bool,
) -> fault::Result<Way> {
    match rule {
        Delta::Fixed => return Ok(Way::Leaves),
        Delta::Content => return Ok(Way::Chunks),
        Delta::Auto | Delta::Off => {}
    }
    let leaves = common / LEAF;
    let places: Vec<u64> =
        (0..SAMPLES.min(leaves)).map(|number| number * leaves / SAMPLES.min(leaves) * LEAF).collect();
    let asked = places.iter().map(|at| far.sums_later(key, *at..at + LEAF, tag));
    let asked: Vec<_> = asked.collect::<fault::Result<_>>()?;
    let (mut bytes, mut alike) = (vec![0; LEAF as usize], 0);
    for (at, there) in places.iter().zip(asked) {
        let there = there.ids()?;
        if read(&mut bytes, *at) && there.first() == Some(&leaf_id(*at, &bytes)) {
            alike += 1;
        }
    }
    Ok(if 2 * alike >= places.len() { Way::Leaves } else { Way::Chunks })
}

/// Leaves of a window side by side of which the same is to be said.
fn runs<Said: Copy + PartialEq>(leaves: &[Said], length: usize) -> Vec<(Said, std::ops::Range<usize>)> {
    let mut runs: Vec<(Said, std::ops::Range<usize>)> = Vec::new();
    for (number, said) in leaves.iter().enumerate() {
        let (start, end) = (number * LEAF as usize, ((number + 1) * LEAF as usize).min(length));
        match runs.last_mut() {
            Some((last, run)) if last == said => run.end = end,
            _ => runs.push((*said, start..end)),
        }
    }
    runs
}

fn is_zeros(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_side_by_side_go_together() {
        let leaf = LEAF as usize;
        assert_eq!(runs::<bool>(&[], 0), []);
        assert_eq!(
            runs(&[true, true, false, true], 3 * leaf + 5),
            [(true, 0..2 * leaf), (false, 2 * leaf..3 * leaf), (true, 3 * leaf..3 * leaf + 5)]
        );
    }
}
