//! What a process had done at any instant of a phase, within a blink: for the instant at which a rank of another process was
//! the first to be done.

use record::Mark;
use units::Bytes;

/// Time between two samples at first.
const STEP_NS: u64 = 50_000_000;
/// Samples kept: at 50 ms more than three minutes; with more, every other one goes and the step doubles.
const MOST: usize = 4096;

/// Samples of what has been done, from the beginning on.
#[derive(Debug, Clone)]
pub struct Curve {
    step_ns: u64,
    /// `elapsed_ns` is the instant on the own monotonic clock.
    samples: Vec<Mark>,
}

impl Default for Curve {
    fn default() -> Self {
        Self { step_ns: STEP_NS, samples: Vec::new() }
    }
}

impl Curve {
    /// Whether a sample is due at `instant`.
    pub fn is_due(&self, instant: u64) -> bool {
        self.samples.last().is_none_or(|last| instant >= last.elapsed_ns + self.step_ns)
    }

    /// Takes a sample; its `elapsed_ns` is the instant.
    pub fn push(&mut self, sample: Mark) {
        self.samples.push(sample);
        if self.samples.len() > MOST {
            let mut keep = false;
            self.samples.retain(|_| {
                keep = !keep;
                keep
            });
            self.step_ns *= 2;
        }
    }

    /// Time between two samples.
    pub fn step_ns(&self) -> u64 {
        self.step_ns
    }

    /// What had been done at `instant`, on a straight line between the samples around it; from zero at `origin` to `end`.
    pub fn at(&self, instant: u64, origin: u64, end: Mark) -> Mark {
        let after = self.samples.partition_point(|sample| sample.elapsed_ns <= instant);
        let before = match after.checked_sub(1).map(|index| self.samples[index]) {
            Some(sample) if sample.elapsed_ns > origin => sample,
            _ => Mark { elapsed_ns: origin, ..Mark::default() },
        };
        let after = self
            .samples
            .get(after)
            .copied()
            .filter(|sample| sample.elapsed_ns < end.elapsed_ns)
            .unwrap_or(end);
        if instant >= after.elapsed_ns || after.elapsed_ns <= before.elapsed_ns {
            return Mark { elapsed_ns: instant, ..after };
        }
        let share =
            instant.saturating_sub(before.elapsed_ns) as f64 / (after.elapsed_ns - before.elapsed_ns) as f64;
        let between = |low: u64, high: u64| low + (high.saturating_sub(low) as f64 * share).round() as u64;
        Mark {
            elapsed_ns: instant,
            operations: between(before.operations, after.operations),
            bytes: Bytes::new(between(before.bytes.get(), after.bytes.get())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(elapsed_ns: u64, operations: u64) -> Mark {
        Mark { elapsed_ns, operations, bytes: Bytes::new(operations * 10) }
    }

    #[test]
    fn between_samples_it_is_a_line() {
        let mut curve = Curve::default();
        assert!(curve.is_due(0));
        [mark(900, 0), mark(2000, 100), mark(3000, 300)].into_iter().for_each(|sample| curve.push(sample));
        let end = mark(5000, 400);
        let at = |instant| curve.at(instant, 1000, end).operations;
        assert_eq!(
            [1000, 1500, 2000, 2500, 3000, 4000, 5000, 9000].map(at),
            [0, 50, 100, 200, 300, 350, 400, 400]
        );
        assert_eq!(Curve::default().at(3000, 1000, end), Mark { elapsed_ns: 3000, ..mark(3000, 200) });
        assert_eq!(Curve::default().at(6000, 1000, end).operations, 400, "done before the first elsewhere");
    }

    #[test]
    fn a_day_keeps_as_many_samples_as_three_minutes() {
        let mut curve = Curve::default();
        let mut now = 1;
        while now < 86_400_000_000_000 {
            curve.push(mark(now, now));
            now += curve.step_ns();
        }
        assert!(curve.samples.len() <= MOST && curve.samples.len() >= MOST / 4);
        let middle = curve.at(40_000_000_000_000, 0, mark(now, now)).operations;
        assert!(middle.abs_diff(40_000_000_000_000) < 10, "{middle}");
    }
}
