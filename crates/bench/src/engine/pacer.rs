//! The open loop: operations start when they are due, whatever the storage does. Latency counts from the instant an
//! operation was due, so a stall shows in every operation it delayed (no coordinated omission).

use crate::workload::{Arrival, Pacing};

/// Hands out the instants at which a rank's operations are due.
#[derive(Debug)]
pub struct Pacer {
    gap_ns: f64,
    arrival: Arrival,
    due: f64,
    random: fastrand::Rng,
}

impl Pacer {
    /// The pacer of one of `ranks` ranks that share the rate; `None` for the closed loop.
    pub fn new(pacing: Pacing, rank: u32, ranks: u32, seed: u64) -> Option<Self> {
        let Pacing::Open { operations_per_second, arrival } = pacing else { return None };
        let gap_ns = 1e9 * f64::from(ranks) / operations_per_second;
        // Ranks take turns: rank k of n starts k/n of a gap later.
        let due = gap_ns * f64::from(rank) / f64::from(ranks);
        Some(Self { gap_ns, arrival, due, random: fastrand::Rng::with_seed(seed) })
    }

    /// Sets the common start (ns, monotonic).
    pub fn start(&mut self, origin: u64) {
        self.due += origin as f64;
    }

    /// When the next operation is due (ns, monotonic).
    pub fn due(&self) -> u64 {
        self.due as u64
    }

    /// Moves on to the one after.
    pub fn advance(&mut self) {
        self.due += match self.arrival {
            Arrival::Uniform => self.gap_ns,
            // Exponential gaps: -ln(1 - u) of the mean, u in [0, 1).
            Arrival::Poisson => -(1.0 - self.random.f64()).ln() * self.gap_ns,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_share_the_rate_and_take_turns() {
        let pacing = Pacing::Open { operations_per_second: 1000.0, arrival: Arrival::Uniform };
        let due = |rank| {
            let mut pacer = Pacer::new(pacing, rank, 4, 1).unwrap();
            pacer.start(1_000_000_000);
            let first = pacer.due();
            pacer.advance();
            (first - 1_000_000_000, pacer.due() - first)
        };
        assert_eq!(due(0), (0, 4_000_000));
        assert_eq!(due(3), (3_000_000, 4_000_000));
    }

    #[test]
    fn poisson_gaps_have_the_right_mean_and_spread() {
        let pacing = Pacing::Open { operations_per_second: 1000.0, arrival: Arrival::Poisson };
        let mut pacer = Pacer::new(pacing, 0, 1, 7).unwrap();
        let gaps: Vec<f64> = (0..20_000)
            .map(|_| {
                let before = pacer.due;
                pacer.advance();
                pacer.due - before
            })
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((mean / 1e6 - 1.0).abs() < 0.05, "{mean}");
        assert!((deviation / mean - 1.0).abs() < 0.05, "exponential: deviation equals mean, {deviation}");
    }
}
