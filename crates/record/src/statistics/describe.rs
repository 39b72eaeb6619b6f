/// The middle value, or the mean of the two middle ones; `None` for an empty sample.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// [`median`] of values that are already in rising order.
pub fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len().is_multiple_of(2) {
        // Halving first keeps two huge values from overflowing.
        Some(sorted.get(middle.checked_sub(1)?)? / 2.0 + upper / 2.0)
    } else {
        Some(upper)
    }
}

/// The value below which the `share` (0 to 1) of the sample lies, linear between neighbours (R's type 7, the default
/// of NumPy and R); `None` for an empty sample.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = share.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let lower = *sorted.get(position.floor() as usize)?;
    let upper = *sorted.get(position.ceil() as usize)?;
    Some(lower + (upper - lower) * position.fract())
}

/// The arithmetic mean; `None` for an empty sample.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
}

/// Standard deviation (of a sample: divided by n - 1) over mean; `None` for fewer than two values or a mean of zero.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    if values.len() < 2 || mean == 0.0 || !mean.is_finite() {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (values.len() - 1) as f64).sqrt();
    Some(deviation / mean.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(seen: Option<f64>, expected: f64) {
        assert!((seen.unwrap() - expected).abs() < 1e-9, "{seen:?} is not {expected}");
    }

    #[test]
    fn the_median_of_odd_and_even_samples() {
        close(median(&[3.0, 1.0, 2.0]), 2.0);
        close(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        close(median(&[7.0]), 7.0);
        assert_eq!(median(&[]), None);
    }

    // Python: statistics.quantiles([1, 2, 3, 4], n=4, method='inclusive') == [1.75, 2.5, 3.25]
    #[test]
    fn quantiles_are_those_of_numpy() {
        let sample = [4.0, 2.0, 1.0, 3.0];
        close(quantile(&sample, 0.25), 1.75);
        close(quantile(&sample, 0.5), 2.5);
        close(quantile(&sample, 0.75), 3.25);
        close(quantile(&sample, 0.0), 1.0);
        close(quantile(&sample, 1.0), 4.0);
        assert_eq!(quantile(&[], 0.5), None);
    }

    // Python: statistics.stdev([2, 4, 4, 4, 5, 5, 7, 9]) / 5 == 0.4276179870598791
    #[test]
    fn variation_is_the_sample_deviation_over_the_mean() {
        close(coefficient_of_variation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), 0.427_617_987_059_879_1);
        assert_eq!(coefficient_of_variation(&[5.0]), None);
        assert_eq!(coefficient_of_variation(&[1.0, -1.0]), None);
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(values in proptest::collection::vec(proptest::num::f64::ANY, 0..20), share in proptest::num::f64::NORMAL) {
            let _ = (median(&values), quantile(&values, share), mean(&values), coefficient_of_variation(&values));
        }

        #[test]
        fn a_median_is_within_the_range(values in proptest::collection::vec(-1e12..1e12f64, 1..20)) {
            let median = median(&values).unwrap();
            proptest::prop_assert!(values.iter().any(|v| *v <= median) && values.iter().any(|v| *v >= median));
        }
    }
}
