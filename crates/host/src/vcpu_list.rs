//! The kernel's lists of vCPU and node numbers: `0-3,8,10-11`.

use std::collections::BTreeSet;

/// Larger ranges than this are garbage: no Linux has so many vCPUs.
const MOST: u32 = 1 << 16;

/// The numbers of a list; parts that make no sense are left out.
pub(crate) fn parse(text: &str) -> BTreeSet<u32> {
    text.trim().split(',').filter_map(range).flatten().collect()
}

fn range(part: &str) -> Option<std::ops::RangeInclusive<u32>> {
    let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    (last < MOST).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_ranges_and_single_numbers() {
        assert_eq!(parse("0-2,5,8-9\n"), BTreeSet::from([0, 1, 2, 5, 8, 9]));
        assert_eq!(parse(""), BTreeSet::new());
        assert_eq!(parse("x,3,4-,0-4294967295,7-6"), BTreeSet::from([3]));
    }
}
