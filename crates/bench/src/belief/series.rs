//! Rules about how throughput went over time.

use record::statistics::median;
use record::{Check, PhaseResult};
use units::{Bandwidth, Iops};

use super::work::{amount, span};

/// Fewer intervals than this show no level.
const FEWEST: usize = 10;
/// A level has at least this many intervals: one spike is no level.
const SEGMENT: usize = 3;
/// Longer series are averaged down to at most this many points, so that testing one costs milliseconds.
const MOST_POINTS: usize = 600;
/// Shuffles that a shift is held against, and how many of them may look as good: p < 0.01, so that a quiet machine is
/// wrongly suspected in less than one phase of a hundred.
const SHUFFLES: usize = 999;
const SHUFFLES_AS_GOOD: usize = 9;
/// A significant shift is told when the rate falls below this share of what it was, or rises by its inverse.
const DROP: f64 = 0.8;
/// An interval below this share of the median is a stall.
const STALL: f64 = 0.1;

/// The rate over time while all ranks were at work: (start in ns, rate).
struct Rates {
    points: Vec<(f64, f64)>,
    in_bytes: bool,
}

impl Rates {
    /// Without the first interval (ramp) and the last (partial), and only until the first rank was done: after that the
    /// rate falls because the load does. `None` if too few remain.
    fn of(phase: &PhaseResult) -> Option<Self> {
        if phase.series.len() < FEWEST {
            return None;
        }
        let first_rank = phase.ranks.iter().map(|rank| rank.transferred_ns).filter(|ns| *ns > 0).min();
        let ends = [Some(phase.first_done.elapsed_ns).filter(|ns| *ns > 0), first_rank];
        let end = ends.into_iter().flatten().min().unwrap_or(u64::MAX);
        let inner = &phase.series[1..phase.series.len() - 1];
        let whole = inner.iter().filter(|i| i.length_ns > 0 && i.start_ns.saturating_add(i.length_ns) <= end);
        let in_bytes = inner.iter().flat_map(|i| &i.operations).any(|o| o.bytes.get() > 0);
        let points: Vec<(f64, f64)> = whole
            .map(|interval| {
                let results = interval.operations.iter();
                let amount: f64 =
                    results.map(|o| if in_bytes { amount(o.bytes) } else { o.operations as f64 }).sum();
                (interval.start_ns as f64, amount / (interval.length_ns as f64 / 1e9))
            })
            .collect();
        (points.len() >= FEWEST - 2).then_some(Self { points, in_bytes })
    }

    fn values(&self) -> Vec<f64> {
        self.points.iter().map(|(_, value)| *value).collect()
    }

    fn thinned(self) -> Self {
        let group = self.points.len().div_ceil(MOST_POINTS).max(1);
        let mean = |points: &[(f64, f64)]| points.iter().map(|(_, v)| v).sum::<f64>() / points.len() as f64;
        Self { points: self.points.chunks(group).map(|c| (c[0].0, mean(c))).collect(), ..self }
    }

    fn show(&self, rate: f64) -> String {
        if self.in_bytes {
            Bandwidth::bytes_per_second(rate).to_string()
        } else {
            Iops::new(rate).to_string()
        }
    }
}

const TOO_FEW: &str = "fewer than 10 full intervals with all ranks at work";

/// Did the rate change its level on the way: burst credits or free memory running out, a cache warming up?
pub(super) fn change_point(phase: &PhaseResult) -> Check {
    const RULE: &str = "change-point";
    let Some(rates) = Rates::of(phase).map(Rates::thinned) else {
        return Check::not_applicable(RULE, TOO_FEW);
    };
    let values = rates.values();
    let steady = || Check::pass(RULE, format!("one level over {} intervals", values.len()));
    let Some(split) = level_shift(&values) else { return steady() };
    let (Some(before), Some(after)) = (median(&values[..split]), median(&values[split..])) else {
        return steady();
    };
    let when = span(rates.points[split].0);
    let (earlier, later) = (rates.show(before), rates.show(after));
    if after < before * DROP {
        return Check::note(
            RULE,
            format!("burst {earlier} until {when}, sustained {later} from then on"),
            "burst credits or write-back space ran out: plan with the sustained rate, and run longer to see whether it lasts",
        );
    }
    if after * DROP > before {
        return Check::note(
            RULE,
            format!("{earlier} until {when}, {later} from then on"),
            "the rate rose on the way (a cache warming up, volumes touched for the first time, others leaving): run longer, or twice",
        );
    }
    steady()
}

/// Where the level shifts, if it does so by more than the noise.
///
/// The split is the largest standardised CUSUM; its significance comes from shuffling the same values, so no shape of noise
/// is assumed (binary segmentation's first step, with a permutation test).
fn level_shift(values: &[f64]) -> Option<usize> {
    if values.len() < 2 * SEGMENT || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (split, height) = cusum(values)?;
    if height <= 0.0 {
        return None;
    }
    let mut shuffled = values.to_vec();
    let mut random = Xorshift(0x5DEE_CE66_D1CE_4E5B);
    let mut as_good = 0;
    for _ in 0..SHUFFLES {
        random.shuffle(&mut shuffled);
        // A hair below, so that sums in another order do not decide ties.
        as_good += usize::from(cusum(&shuffled).is_some_and(|(_, other)| other >= height * (1.0 - 1e-9)));
        if as_good > SHUFFLES_AS_GOOD {
            return None;
        }
    }
    Some(split)
}

/// The split with the largest |sum of the first t - t x mean| / sqrt(t (n - t) / n), and that figure.
fn cusum(values: &[f64]) -> Option<(usize, f64)> {
    let n = values.len() as f64;
    let mean = values.iter().map(|value| value / n).sum::<f64>();
    let mut sum = 0.0;
    let mut best: Option<(usize, f64)> = None;
    for (index, value) in values.iter().enumerate() {
        sum += value - mean;
        let (before, after) = (index + 1, values.len() - index - 1);
        if before < SEGMENT || after < SEGMENT {
            continue;
        }
        let height = sum.abs() / (before as f64 * after as f64 / n).sqrt();
        if best.is_none_or(|(_, highest)| height > highest) {
            best = Some((before, height));
        }
    }
    best.filter(|(_, height)| height.is_finite())
}

/// Marsaglia's xorshift64: shuffling needs no more.
struct Xorshift(u64);

impl Xorshift {
    fn shuffle(&mut self, values: &mut [f64]) {
        for last in (1..values.len()).rev() {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            let other = ((u128::from(self.0) * (last as u128 + 1)) >> 64) as usize;
            values.swap(last, other);
        }
    }
}

/// Did the storage stand still? In a closed loop a stall delays operations that are never counted as late.
pub(super) fn stalls(phase: &PhaseResult) -> Check {
    const RULE: &str = "stalls";
    let Some(rates) = Rates::of(phase) else { return Check::not_applicable(RULE, TOO_FEW) };
    let values = rates.values();
    let middle = median(&values).unwrap_or_default();
    let stalled = values.iter().filter(|value| **value < middle * STALL).count();
    if stalled == 0 {
        return Check::pass(
            RULE,
            format!("none of {} intervals fell below a tenth of the median", values.len()),
        );
    }
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let evidence = format!(
        "{stalled} of {} intervals fell below a tenth of the median {}; the lowest was {}",
        values.len(),
        rates.show(middle),
        rates.show(lowest)
    );
    let advice = if phase.open_loop {
        "find what stops the storage (journal commits, throttling, failover): the latency percentiles hold these waits"
    } else {
        "find what stops the storage (journal commits, throttling, failover); closed-loop percentiles under-report such waits: use an open loop to see them"
    };
    Check::note(RULE, evidence, advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wobbling(count: usize, level: f64, noise: f64) -> Vec<f64> {
        // A fixed, irregular wobble within +-1.
        (0..count).map(|i| level * (1.0 + noise * ((i * i * 7 + i * 3) as f64).sin())).collect()
    }

    #[test]
    fn a_shift_is_found_where_it_is() {
        for (first, second) in [(20, 40), (3, 57), (50, 10), (5, 5)] {
            let mut values = wobbling(first, 500.0, 0.1);
            values.extend(wobbling(second, 200.0, 0.1));
            assert_eq!(level_shift(&values), Some(first), "{first} and {second}");
        }
    }

    #[test]
    fn noise_alone_and_single_spikes_are_no_shift() {
        assert_eq!(level_shift(&[100.0; 60]), None);
        assert_eq!(level_shift(&wobbling(60, 500.0, 0.5)), None);
        let mut spike = wobbling(30, 500.0, 0.05);
        spike[12] = 5000.0;
        assert_eq!(level_shift(&spike), None);
    }

    #[test]
    fn noise_is_rarely_taken_for_a_shift() {
        let mut random = Xorshift(42);
        let mut values: Vec<f64> = (0..40).map(f64::from).collect();
        let wrong = (0..300)
            .filter(|_| {
                random.shuffle(&mut values);
                level_shift(&values).is_some()
            })
            .count();
        assert!(wrong <= 9, "{wrong} of 300 at p < 0.01");
    }
}
