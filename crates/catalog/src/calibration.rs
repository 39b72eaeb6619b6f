use std::sync::Arc;

use crate::{Catalog, Source};

/// What systems of a kind reach of what their limits allow, for one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    /// The kind of system: `lustre-on-vms`, `managed-lustre`, `nfs-service`.
    pub architecture: Arc<str>,
    /// `read` or `write`.
    pub operation: Arc<str>,
    /// Median of measured over model.
    pub factor: f64,
    /// Measurements it rests on; 0: it is assumed.
    pub n: u32,
    /// Smallest seen.
    pub min: f64,
    /// Largest seen.
    pub max: f64,
    /// What else is known.
    pub notes: Arc<str>,
    /// Where the measurements stand.
    pub source: Source,
}

impl Factor {
    /// What is assumed of a kind of system that nobody measured: 0.9, in the range that measured ones showed.
    pub fn assumed(architecture: &str, operation: &str) -> Self {
        Self {
            architecture: architecture.into(),
            operation: operation.into(),
            factor: 0.9,
            n: 0,
            min: 0.85,
            max: 1.0,
            notes: "assumed: nothing was measured on this kind of system".into(),
            source: Source {
                document: "the range of the systems that were measured".into(),
                as_of: "".into(),
            },
        }
    }

    /// The factor to plan with: never more than 1, because a limit that was exceeded was stated too low, not passed.
    pub fn usable(&self) -> f64 {
        self.factor.min(1.0)
    }

    /// Too few measurements to trust the median.
    pub fn few(&self) -> bool {
        self.n < 3
    }

    /// `0.95 (0.91-0.97, n=4)`, `1.00 (n=1, few data)`, `0.9 (assumed; 0.85-1 elsewhere)`.
    pub fn text(&self) -> String {
        let Self { factor, min, max, n, .. } = self;
        let few = if self.few() { ", few data" } else { "" };
        match n {
            0 => format!("{factor} (assumed; {min}-{max} elsewhere)"),
            1 => format!("{factor:.2} (n=1{few})"),
            _ => format!("{factor:.2} ({min:.2}-{max:.2}, n={n}{few})"),
        }
    }
}

/// A measurement beside what the model says of the same system, in the same unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Measured.
    pub measured: f64,
    /// The model's smallest limit, before any factor.
    pub model: f64,
    /// Memory of the servers took part: it says nothing about the limits and is left out.
    pub cached: bool,
}

/// The outcome of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fitted {
    /// Median of measured over model; the mean of the middle two of an even number.
    pub factor: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Pairs used.
    pub n: u32,
}

/// Fits a factor to pairs. Pairs that memory took part in, and those whose figures are not positive, are left out; `None`
/// when nothing is left.
pub fn fit(pairs: &[Pair]) -> Option<Fitted> {
    let real = |pair: &&Pair| !pair.cached && pair.measured > 0.0 && pair.model > 0.0;
    let mut ratios: Vec<f64> = pairs.iter().filter(real).map(|pair| pair.measured / pair.model).collect();
    ratios.retain(|ratio| ratio.is_finite());
    ratios.sort_by(f64::total_cmp);
    let (min, max) = (*ratios.first()?, *ratios.last()?);
    let half = ratios.len() / 2;
    let factor =
        if ratios.len() % 2 == 1 { ratios[half] } else { f64::midpoint(ratios[half - 1], ratios[half]) };
    Some(Fitted { factor, min, max, n: u32::try_from(ratios.len()).unwrap_or(u32::MAX) })
}

impl Catalog {
    /// What systems of this kind reach of their limits, or what is assumed when that is not known.
    pub fn factor(&self, architecture: &str, operation: &str) -> Factor {
        let known = self
            .calibration
            .iter()
            .find(|factor| *factor.architecture == *architecture && *factor.operation == *operation);
        known.cloned().unwrap_or_else(|| Factor::assumed(architecture, operation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(measured: f64, model: f64) -> Pair {
        Pair { measured, model, cached: false }
    }

    #[test]
    fn the_median_of_what_memory_had_no_part_in() {
        let cached = Pair { cached: true, ..pair(353.0, 192.0) };
        let fitted = fit(&[pair(3.0, 4.0), cached, pair(1.0, 4.0), pair(2.0, 4.0)]).unwrap();
        assert_eq!(fitted, Fitted { factor: 0.5, min: 0.25, max: 0.75, n: 3 });
        assert_eq!(
            fit(&[pair(1.0, 4.0), pair(3.0, 4.0)]),
            Some(Fitted { factor: 0.5, min: 0.25, max: 0.75, n: 2 })
        );
        assert_eq!(fit(&[cached]), None);
        assert_eq!(fit(&[pair(1.0, 0.0), pair(f64::NAN, 1.0)]), None);
    }

    #[test]
    fn a_text_says_how_much_it_rests_on() {
        let assumed = Factor::assumed("shared-volumes", "write");
        assert_eq!(assumed.text(), "0.9 (assumed; 0.85-1 elsewhere)");
        let measured = Factor { n: 4, factor: 0.95, min: 0.91, max: 1.2, ..assumed };
        assert_eq!(measured.text(), "0.95 (0.91-1.20, n=4)");
        assert_eq!(Factor { n: 1, factor: 1.1, ..measured.clone() }.text(), "1.10 (n=1, few data)");
        assert!(Factor { factor: 1.1, ..measured }.usable() <= 1.0);
    }
}
