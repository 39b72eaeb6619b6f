use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::describe::{median, median_of_sorted, quantile};

/// Resamples drawn: the ends of a 95 % interval then rest on 250 draws each and move by well under the interval's own
/// width from seed to seed.
pub const RESAMPLES: usize = 10_000;
/// Any constant will do; a fixed one makes two readers of the same records see the same interval.
const SEED: u64 = 0x00F0_4EBA_1000_0001;

/// The range that holds a figure with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval95 {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Bootstrap interval (percentile method) of median(`b`) / median(`a`); always the same for the same samples.
///
/// `None` with fewer than three values on a side, where resampling only repeats the range, or when a resampled median
/// of `a` is not above zero.
pub fn median_ratio_interval(a: &[f64], b: &[f64]) -> Option<Interval95> {
    if a.len() < 3 || b.len() < 3 || !median(a)?.is_finite() || !median(b)?.is_finite() {
        return None;
    }
    let mut random = SplitMix(SEED);
    let mut scratch = Vec::with_capacity(a.len().max(b.len()));
    let mut ratios = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let below = random.median_of_resample(a, &mut scratch)?;
        let above = random.median_of_resample(b, &mut scratch)?;
        if below <= 0.0 {
            return None;
        }
        ratios.push(above / below);
    }
    Some(Interval95 { low: quantile(&ratios, 0.025)?, high: quantile(&ratios, 0.975)? })
}

/// SplitMix64 (Steele, Lea, Flood 2014): enough randomness to draw indices.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// Below `bound`, by the high half of a product: no modulo bias worth the name for small bounds.
    fn index(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    fn median_of_resample(&mut self, values: &[f64], scratch: &mut Vec<f64>) -> Option<f64> {
        scratch.clear();
        scratch.extend((0..values.len()).map(|_| values[self.index(values.len())]));
        scratch.sort_by(f64::total_cmp);
        median_of_sorted(scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_ratio_and_repeats_exactly() {
        let a = [100.0, 102.0, 98.0, 101.0, 99.0];
        let b = [150.0, 153.0, 147.0, 151.0, 149.0];
        let interval = median_ratio_interval(&a, &b).unwrap();
        assert!(interval.low < 1.5 && 1.5 < interval.high, "{interval:?}");
        assert!(interval.low > 1.4 && interval.high < 1.6, "{interval:?}");
        assert_eq!(median_ratio_interval(&a, &b), Some(interval));
    }

    // All 27 x 27 resamples of three and three counted with itertools.product: a median of a resample of (90, 100, 110)
    // is 90 in 7 of 27 cases, so the 2.5 % end is 90/110 (49 of 729 cases lie there) and the other 110/90.
    #[test]
    fn three_repetitions_give_the_ratio_of_the_extremes() {
        let interval = median_ratio_interval(&[90.0, 100.0, 110.0], &[90.0, 100.0, 110.0]).unwrap();
        assert!((interval.low - 90.0 / 110.0).abs() < 1e-12, "{interval:?}");
        assert!((interval.high - 110.0 / 90.0).abs() < 1e-12, "{interval:?}");
    }

    #[test]
    fn no_interval_from_too_little_or_from_zero() {
        assert_eq!(median_ratio_interval(&[1.0, 2.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(median_ratio_interval(&[0.0, 0.0, 0.0], &[1.0, 2.0, 3.0]), None);
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(32))]
        #[test]
        fn nothing_panics(a in proptest::collection::vec(proptest::num::f64::ANY, 0..6),
                          b in proptest::collection::vec(proptest::num::f64::ANY, 0..6)) {
            let _ = median_ratio_interval(&a, &b);
        }
    }
}
