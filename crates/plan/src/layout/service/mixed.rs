//! Most that reads and writes reach together where the provider or a study names some mixes only (F19).

use catalog::ServiceTier;
use units::{Bandwidth, Ratio};

use super::words::{number, rate};

/// A bound on reads and writes together at one mix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Together {
    /// Bytes per second.
    pub total: f64,
    /// A source names this very mix; `false`: we drew a straight line between the mixes that are named.
    pub named: bool,
}

/// What is known of a tier at a mix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mixed {
    /// The tier's figures name no mixes.
    Unbounded,
    /// A bound.
    Bound(Together),
    /// The mix lies outside those that are named.
    Unknown,
}

/// The bound at `read_share`. The ends of the line are reading alone and writing alone.
pub fn at(tier: &ServiceTier, read_share: Ratio) -> Mixed {
    if tier.mixed_max.is_empty() {
        return Mixed::Unbounded;
    }
    between(&points(tier), read_share.get()).map_or(Mixed::Unknown, Mixed::Bound)
}

/// Share of reads and total of the mixes that are named, ascending.
fn points(tier: &ServiceTier) -> Vec<(f64, f64)> {
    let inner = tier.mixed_max.iter().map(|mix| (mix.read_share.get(), mix.total.get()));
    let write = tier.write_max.map(|max| (0.0, max.get()));
    let read = tier.read_max.map(|max| (1.0, max.get()));
    let mut points: Vec<(f64, f64)> = write.into_iter().chain(inner).chain(read).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Says so where the bound at a mix is our own assumption.
pub fn note(tier: &ServiceTier, read_share: Ratio) -> Option<String> {
    let Mixed::Bound(Together { named: false, .. }) = at(tier, read_share) else { return None };
    let points: Vec<String> = points(tier)
        .into_iter()
        .rev()
        .map(|(share, total)| {
            format!("{} = {}", mix(Ratio::new(share)), rate(Bandwidth::bytes_per_second(total)))
        })
        .collect();
    let between = points.join(", ");
    Some(format!("the most at {} is our own assumption: a straight line between {between}", mix(read_share)))
}

/// Reads to writes: `80:20`.
pub fn mix(read_share: Ratio) -> String {
    let reads = read_share.get() * 100.0;
    format!("{}:{}", number(reads), number(100.0 - reads))
}

fn between(points: &[(f64, f64)], share: f64) -> Option<Together> {
    let named = points.iter().find(|(at, _)| (at - share).abs() < 1e-9);
    if let Some((_, total)) = named {
        return Some(Together { total: *total, named: true });
    }
    let above = points.iter().position(|(at, _)| *at > share)?;
    let ((x0, y0), (x1, y1)) = (*points.get(above.checked_sub(1)?)?, *points.get(above)?);
    Some(Together { total: y0 + (y1 - y0) * (share - x0) / (x1 - x0), named: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [(f64, f64); 3] = [(0.0, 1500.0), (0.8, 3000.0), (1.0, 4500.0)];

    #[test]
    fn named_mixes_are_exact_and_others_on_a_line() {
        assert_eq!(between(&POINTS, 0.8), Some(Together { total: 3000.0, named: true }));
        assert_eq!(between(&POINTS, 0.4), Some(Together { total: 2250.0, named: false }));
        let high = between(&POINTS, 0.9).map_or(0.0, |mix| mix.total);
        assert!((high - 3750.0).abs() < 1e-9);
        assert_eq!(between(&POINTS[1..], 0.5), None);
        assert_eq!(between(&POINTS[..2], 0.9), None);
    }
}
