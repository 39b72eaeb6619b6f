/// Up to this many values in both samples together, the p value is exact; the normal approximation is good to three
/// digits well below it.
const EXACT_UP_TO: usize = 60;

/// A two-sided Mann-Whitney U test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// U of the first sample: in how many of the pairs its value is the larger one (ties count half).
    pub u: f64,
    /// How likely a U at least this far from the middle is if both samples come from the same source.
    pub p: f64,
    /// Whether `p` is exact (ties included) or the normal approximation.
    pub exact: bool,
}

/// Compares two samples by ranks; `None` if one is empty or holds something that is not a number.
///
/// The exact p counts, over all ways to split the pooled values into two samples of these sizes, those with a rank
/// sum at least as far from its mean (Lehmann, Nonparametrics, chapter 1). Mid-ranks make it hold with ties too.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<MannWhitney> {
    if first.is_empty() || second.is_empty() || first.iter().chain(second).any(|value| value.is_nan()) {
        return None;
    }
    let pooled = Pooled::new(first, second);
    let (n, m) = (first.len(), second.len());
    let u = pooled.doubled_rank_sum as f64 / 2.0 - (n * (n + 1)) as f64 / 2.0;
    let exact = n + m <= EXACT_UP_TO;
    let p = if exact { pooled.exact_p(n) } else { pooled.normal_p(u, n, m) };
    Some(MannWhitney { u, p, exact })
}

/// The smallest two-sided p that samples of these sizes can reach, when one lies wholly above the other:
/// 2 / C(n + m, n). Three against three never goes below 0.1.
pub fn smallest_p(n: usize, m: usize) -> f64 {
    let ways: f64 = (1..=n.min(m)).map(|i| (n.max(m) + i) as f64 / i as f64).product();
    (2.0 / ways).min(1.0)
}

struct Pooled {
    /// Twice the mid-rank of every pooled value: whole numbers.
    doubled_ranks: Vec<usize>,
    /// Twice the rank sum of the first sample.
    doubled_rank_sum: usize,
    /// Sum of t^3 - t over groups of t tied values.
    ties: f64,
}

impl Pooled {
    fn new(first: &[f64], second: &[f64]) -> Self {
        let mut values: Vec<(f64, bool)> =
            first.iter().map(|v| (*v, true)).chain(second.iter().map(|v| (*v, false))).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut pooled =
            Self { doubled_ranks: Vec::with_capacity(values.len()), doubled_rank_sum: 0, ties: 0.0 };
        // In rising order, not below the next means equal to it.
        for group in values.chunk_by(|a, b| a.0 >= b.0) {
            let before = pooled.doubled_ranks.len();
            // The mean of the ranks before+1 ..= before+len, doubled.
            let doubled = 2 * before + group.len() + 1;
            pooled.doubled_ranks.extend(group.iter().map(|_| doubled));
            pooled.doubled_rank_sum += doubled * group.iter().filter(|(_, is_first)| *is_first).count();
            let tied = group.len() as f64;
            pooled.ties += tied.powi(3) - tied;
        }
        pooled
    }

    fn exact_p(&self, n: usize) -> f64 {
        let total: usize = self.doubled_ranks.iter().sum();
        // ways[k][s]: how many choices of k values have the doubled rank sum s.
        let mut ways = vec![vec![0.0f64; total + 1]; n + 1];
        ways[0][0] = 1.0;
        for &rank in &self.doubled_ranks {
            for chosen in (1..=n).rev() {
                let (fewer, more) = ways.split_at_mut(chosen);
                for (target, source) in more[0][rank..].iter_mut().zip(&fewer[chosen - 1]) {
                    *target += source;
                }
            }
        }
        // Twice the mean rank sum is n (N + 1): a whole number, so distances are exact.
        let middle = n * (self.doubled_ranks.len() + 1);
        let distance = self.doubled_rank_sum.abs_diff(middle);
        let all: f64 = ways[n].iter().sum();
        let far: f64 =
            ways[n].iter().enumerate().filter(|(s, _)| s.abs_diff(middle) >= distance).map(|(_, w)| w).sum();
        (far / all).min(1.0)
    }

    fn normal_p(&self, u: f64, n: usize, m: usize) -> f64 {
        let (n, m) = (n as f64, m as f64);
        let all = n + m;
        let variance = n * m / 12.0 * (all + 1.0 - self.ties / (all * (all - 1.0)));
        if variance <= 0.0 {
            return 1.0;
        }
        // Half a step of continuity correction.
        let distance = ((u - n * m / 2.0).abs() - 0.5).max(0.0);
        erfc(distance / variance.sqrt() / std::f64::consts::SQRT_2).min(1.0)
    }
}

/// Complementary error function for x >= 0, off by less than 1.5e-7 (Abramowitz and Stegun, 7.1.26).
fn erfc(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let polynomial = t
        * (0.254_829_592
            + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    polynomial * (-x * x).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(first: &[f64], second: &[f64]) -> MannWhitney {
        mann_whitney(first, second).unwrap()
    }

    // The example of scipy.stats.mannwhitneyu: U1 = 17, exact p = 0.1111111111111111 (14 of the 126 splits).
    const MALES: [f64; 5] = [19.0, 22.0, 16.0, 29.0, 24.0];
    const FEMALES: [f64; 4] = [20.0, 11.0, 17.0, 12.0];

    #[test]
    fn the_published_example_of_scipy() {
        let seen = test(&MALES, &FEMALES);
        assert!((seen.u - 17.0).abs() < 1e-12 && seen.exact);
        assert!((seen.p - 14.0 / 126.0).abs() < 1e-12, "{seen:?}");
        assert!((test(&FEMALES, &MALES).p - seen.p).abs() < 1e-12, "the order does not matter");
    }

    // The same example, method='asymptotic': p = 0.11134688653314041.
    #[test]
    fn the_normal_approximation_of_the_same_example() {
        let p = Pooled::new(&MALES, &FEMALES).normal_p(17.0, 5, 4);
        assert!((p - 0.111_346_886_533).abs() < 1e-6, "{p}");
    }

    // Counted with itertools.combinations over mid-ranks: 11 of the 126 splits are at least as far out.
    // With sd = sqrt(n m / 12 (N + 1 - sum(t^3 - t) / (N (N - 1)))) the approximation is 0.0785458509511907.
    #[test]
    fn ties_are_exact_too() {
        let (first, second) = ([1.0, 2.0, 2.0, 3.0], [2.0, 3.0, 4.0, 4.0, 5.0]);
        let seen = test(&first, &second);
        assert!((seen.u - 2.5).abs() < 1e-12);
        assert!((seen.p - 11.0 / 126.0).abs() < 1e-12, "{seen:?}");
        assert!((Pooled::new(&first, &second).normal_p(2.5, 4, 5) - 0.078_545_850_951).abs() < 1e-6);
    }

    #[test]
    fn three_against_three_cannot_go_below_a_tenth() {
        assert!((test(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).p - 0.1).abs() < 1e-12);
        assert!((smallest_p(3, 3) - 0.1).abs() < 1e-12);
        assert!((smallest_p(4, 4) - 2.0 / 70.0).abs() < 1e-12);
        assert!((smallest_p(1, 1) - 1.0).abs() < 1e-12);
        assert!((smallest_p(0, 5) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn equal_samples_are_not_different() {
        assert!((test(&[5.0; 6], &[5.0; 6]).p - 1.0).abs() < 1e-12);
        assert!((test(&[5.0; 60], &[5.0; 60]).p - 1.0).abs() < 1e-12);
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[f64::NAN], &[1.0]), None);
    }

    proptest::proptest! {
        #[test]
        fn both_methods_agree_on_larger_samples(first in proptest::collection::vec(0.0..100.0f64, 15..25),
                                                second in proptest::collection::vec(0.0..120.0f64, 15..25)) {
            let exact = test(&first, &second);
            let normal = Pooled::new(&first, &second).normal_p(exact.u, first.len(), second.len());
            proptest::prop_assert!((exact.p - normal).abs() < 0.02, "{} {}", exact.p, normal);
        }

        #[test]
        fn p_is_a_probability(first in proptest::collection::vec(proptest::num::f64::ANY, 0..8),
                              second in proptest::collection::vec(proptest::num::f64::ANY, 0..80)) {
            if let Some(seen) = mann_whitney(&first, &second) {
                proptest::prop_assert!((0.0..=1.0).contains(&seen.p));
            }
        }
    }
}
