/// The score of IO500: the geometric mean of four bandwidths in GiB/s, of eight metadata rates in kIOPS, and of these two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Io500Score {
    /// Of the bandwidth phases: ior easy and hard, written and read.
    pub bandwidth: f64,
    /// Of the metadata phases: mdtest easy and hard, and find.
    pub metadata: f64,
    /// The square root of their product.
    pub total: f64,
}

impl Io500Score {
    /// The score of a run's phases; `None` if there are none or one has no rate.
    pub fn of(bandwidths: &[f64], metadata: &[f64]) -> Option<Self> {
        Self::of_means(geometric_mean(bandwidths)?, geometric_mean(metadata)?)
    }

    /// The score of the two means that IO500's list shows.
    pub fn of_means(bandwidth: f64, metadata: f64) -> Option<Self> {
        Some(Self { bandwidth, metadata, total: geometric_mean(&[bandwidth, metadata])? })
    }
}

/// The geometric mean; `None` for an empty sample or values that are not above zero.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let positive = values.iter().all(|value| value.is_finite() && *value > 0.0);
    if values.is_empty() || !positive {
        return None;
    }
    // Logarithms keep many large values from overflowing.
    Some((values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_the_mean_of_two_means() {
        let score = Io500Score::of(&[1.0, 4.0], &[8.0, 8.0]).unwrap();
        assert!((score.bandwidth - 2.0).abs() < 1e-12 && (score.metadata - 8.0).abs() < 1e-12);
        assert!((score.total - 4.0).abs() < 1e-12);
        assert!(geometric_mean(&[1e300, 1e300]).is_some_and(|mean| (mean / 1e300 - 1.0).abs() < 1e-9));
    }

    #[test]
    fn a_phase_without_a_rate_leaves_no_score() {
        assert_eq!(Io500Score::of(&[1.0, 0.0], &[1.0]), None);
        assert_eq!(Io500Score::of(&[], &[1.0]), None);
    }
}
