//! The open loop: operations start when they are due, whatever the storage does. Latency counts from the instant an
//! operation was due, so a stall shows in every operation it delayed (no coordinated omission).

use crate::workload::{Arrival, Pacing, PhaseRate, RateStep};

/// Hands out the instants at which a rank's operations are due.
#[derive(Debug)]
pub struct Pacer {
    gap_ns: f64,
    arrival: Arrival,
    due: f64,
    origin: f64,
    random: fastrand::Rng,
    series: Option<Series>,
}

/// Rates that follow each other, again and again.
#[derive(Debug)]
struct Series {
    /// Where each step ends (ns), and its rate as a multiple of the mean.
    steps: Vec<(f64, f64)>,
}

impl Pacer {
    /// The pacer of one of `ranks` ranks that share the rate; `None` for the closed loop.
    pub fn new(pacing: Pacing, rank: u32, ranks: u32, seed: u64) -> Option<Self> {
        let Pacing::Open { operations_per_second, arrival } = pacing else { return None };
        let gap_ns = 1e9 * f64::from(ranks) / operations_per_second;
        // Ranks take turns: rank k of n starts k/n of a gap later.
        let due = gap_ns * f64::from(rank) / f64::from(ranks);
        let random = fastrand::Rng::with_seed(seed);
        Some(Self { gap_ns, arrival, due, origin: 0.0, random, series: None })
    }

    /// The same around whose mean the rate changes as the phase asks for.
    pub fn following(mut self, rate: Option<&PhaseRate>) -> Self {
        if let Some(PhaseRate::Series { steps, .. }) = rate {
            self.series = Some(Series::new(steps));
        }
        self
    }

    /// Sets the common start (ns, monotonic).
    pub fn start(&mut self, origin: u64) {
        self.origin = origin as f64;
        self.due = self.origin + self.series.as_ref().map_or(self.due, |series| series.after(0.0, self.due));
    }

    /// When the next operation is due (ns, monotonic).
    pub fn due(&self) -> u64 {
        self.due as u64
    }

    /// Moves on to the one after.
    pub fn advance(&mut self) {
        let gap = match self.arrival {
            Arrival::Uniform => self.gap_ns,
            Arrival::Jittered => 2.0 * self.random.f64() * self.gap_ns,
            // Exponential gaps: -ln(1 - u) of the mean, u in [0, 1).
            Arrival::Poisson => -(1.0 - self.random.f64()).ln() * self.gap_ns,
        };
        match &self.series {
            None => self.due += gap,
            Some(series) => self.due = self.origin + series.after(self.due - self.origin, gap),
        }
    }
}

impl Series {
    fn new(steps: &[RateStep]) -> Self {
        let mean = RateStep::mean(steps);
        let mut end = 0.0;
        let step = |step: &RateStep| {
            end += step.time.as_nanos() as f64;
            (end, step.operations_per_second / mean)
        };
        Self { steps: steps.iter().map(step).collect() }
    }

    /// When `gap` (ns at the mean rate) after instant `from` is over: slow steps make it longer, fast ones shorter.
    fn after(&self, mut from: f64, mut gap: f64) -> f64 {
        let period = self.steps.last().map_or(1.0, |(end, _)| *end);
        loop {
            let within = from % period;
            let Some((end, factor)) = self.steps.iter().find(|(end, _)| within < *end) else { return from };
            let left = (end - within).max(1.0);
            if factor * left >= gap {
                return from + if *factor > 0.0 { gap / factor } else { 0.0 };
            }
            gap -= factor * left;
            from += left;
        }
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
    fn a_series_has_its_rates_in_its_times_again_and_again() {
        let step = |operations_per_second, seconds| RateStep {
            operations_per_second,
            time: std::time::Duration::from_secs(seconds),
        };
        let steps = vec![step(100.0, 2), step(0.0, 3), step(500.0, 1)];
        assert!((RateStep::mean(&steps) - 700.0 / 6.0).abs() < 1e-9);
        let rate = PhaseRate::Series { steps: steps.clone(), arrival: Arrival::Uniform };
        let mut counts = [0; 12];
        for rank in 0..3 {
            let pacing =
                Pacing::Open { operations_per_second: RateStep::mean(&steps), arrival: Arrival::Uniform };
            let mut pacer = Pacer::new(pacing, rank, 3, 1).unwrap().following(Some(&rate));
            pacer.start(1_000_000_000);
            while let Some(count) = counts.get_mut((pacer.due() / 1_000_000_000 - 1) as usize) {
                *count += 1;
                pacer.advance();
            }
        }
        let expected = [100, 100, 0, 0, 0, 500, 100, 100, 0, 0, 0, 500];
        for (count, expected) in counts.iter().zip(expected) {
            assert!(i32::abs(*count - expected) <= 3, "{counts:?}");
        }
    }

    #[test]
    fn jittered_gaps_are_anything_up_to_twice_the_mean() {
        let pacing = Pacing::Open { operations_per_second: 1000.0, arrival: Arrival::Jittered };
        let mut pacer = Pacer::new(pacing, 0, 1, 7).unwrap();
        let gaps: Vec<f64> = (0..20_000)
            .map(|_| {
                let before = pacer.due;
                pacer.advance();
                (pacer.due - before) / 1e6
            })
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let most = gaps.iter().copied().fold(0.0, f64::max);
        let low = gaps.iter().filter(|gap| **gap < 0.5).count() as f64 / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.02 && (1.9..2.0).contains(&most) && (low - 0.25).abs() < 0.02);
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
