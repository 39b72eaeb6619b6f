use record::{HostMoment, Moment, RankMoment};

use crate::phase_clock::Instant;

/// Points kept per curve: wider than any terminal. Beyond it, neighbours become one, so that the whole phase stays in view.
const MOST: usize = 600;

/// What a phase has shown so far.
#[derive(Debug, Default)]
pub struct History {
    /// Seconds and bytes per second.
    pub bandwidth: Curve,
    /// Seconds and operations per second.
    pub operations: Curve,
    /// Seconds and milliseconds.
    pub median: Curve,
    /// Seconds and milliseconds.
    pub p99: Curve,
    /// As of the last moment.
    pub hosts: Vec<HostMoment>,
    /// As of the last moment.
    pub slowest: Vec<RankMoment>,
    /// The last moment, against the plan.
    pub now: Option<Instant>,
    /// How long the phase has run.
    elapsed_seconds: f64,
    /// Data is being made durable.
    pub draining: bool,
}

/// A value over time.
#[derive(Debug)]
pub struct Curve {
    points: Vec<(f64, f64)>,
    /// Values that one point stands for.
    step: u32,
    /// Values that the last point stands for so far.
    in_last: u32,
    /// The last value itself.
    last: Option<f64>,
}

impl History {
    /// Adds a moment.
    pub fn learn(&mut self, moment: &Moment) {
        let seconds = moment.elapsed_ns as f64 / 1e9;
        self.elapsed_seconds = seconds;
        self.bandwidth.push(seconds, moment.bytes_per_second);
        self.operations.push(seconds, moment.operations_per_second);
        if let Some(latency) = &moment.latency {
            self.median.push(seconds, latency.p50_ns as f64 / 1e6);
            self.p99.push(seconds, latency.p99_ns as f64 / 1e6);
        }
        self.hosts.clone_from(&moment.hosts);
        self.slowest.clone_from(&moment.slowest);
    }

    /// Seconds that the phase has run; at least one.
    pub fn seconds(&self) -> f64 {
        self.elapsed_seconds.max(1.0)
    }

    /// Whether any bytes have moved.
    pub fn moves_bytes(&self) -> bool {
        self.bandwidth.points.iter().any(|point| point.1 > 0.0)
    }
}

impl Default for Curve {
    fn default() -> Self {
        Self { points: Vec::new(), step: 1, in_last: 0, last: None }
    }
}

impl Curve {
    /// Adds a value. Of values that share a point the highest is kept: peaks are what one looks for.
    fn push(&mut self, seconds: f64, value: f64) {
        self.last = Some(value);
        match self.points.last_mut() {
            Some(point) if self.in_last < self.step => point.1 = point.1.max(value),
            _ => {
                self.points.push((seconds, value));
                self.in_last = 0;
            }
        }
        self.in_last += 1;
        if self.points.len() > MOST {
            let higher =
                |pair: &[(f64, f64)]| (pair[0].0, pair.iter().map(|point| point.1).fold(0.0, f64::max));
            self.points = self.points.chunks(2).map(higher).collect();
            self.step *= 2;
        }
    }

    /// Seconds and value, in order.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The last value.
    pub fn last(&self) -> Option<f64> {
        self.last
    }
}

/// The largest value of some curves; at least something to divide by.
pub fn top(curves: &[&Curve]) -> f64 {
    curves
        .iter()
        .flat_map(|curve| curve.points())
        .map(|point| point.1)
        .fold(0.0, f64::max)
        .max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_phase_keeps_its_shape() {
        let mut history = History::default();
        for second in 1..=5000u64 {
            let bytes_per_second = if second == 1234 { 9e9 } else { 1e9 };
            history.learn(&Moment {
                elapsed_ns: second * 1_000_000_000,
                bytes_per_second,
                ..Moment::default()
            });
        }
        let points = history.bandwidth.points();
        assert!((300..=MOST).contains(&points.len()));
        let gaps: Vec<f64> = points.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        assert!(gaps.iter().all(|gap| (gap - 16.0).abs() < 0.1), "{gaps:?}");
        let (peak, _) = points.iter().find(|point| point.1 > 2e9).copied().unwrap_or_default();
        assert!((1218.0..=1234.0).contains(&peak), "{peak}");
        assert_eq!(history.bandwidth.last(), Some(1e9));
        assert!((history.seconds() - 5000.0).abs() < 1e-6);
    }
}
