use std::fmt;
use std::iter::Sum;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Operations per second.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Iops(f64);

impl Iops {
    /// `rate` operations per second.
    pub const fn new(rate: f64) -> Self {
        Self(rate)
    }

    /// `operations` done in `elapsed`; zero when no time has passed.
    pub fn over(operations: u64, elapsed: Duration) -> Self {
        let seconds = elapsed.as_secs_f64();
        Self(if seconds > 0.0 { operations as f64 / seconds } else { 0.0 })
    }

    /// Operations per second.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Iops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            rate if rate >= 1e6 => format!("{:.2} M op/s", rate / 1e6),
            rate if rate >= 1e4 => format!("{:.1} k op/s", rate / 1e3),
            rate if rate >= 100.0 => format!("{rate:.0} op/s"),
            rate => format!("{rate:.1} op/s"),
        };
        f.pad(&text)
    }
}

impl Sum for Iops {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        Self(items.map(|i| i.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_over_time() {
        assert_eq!(Iops::over(1000, Duration::from_millis(500)).to_string(), "2000 op/s");
        assert_eq!(Iops::over(5, Duration::ZERO), Iops::new(0.0));
        assert_eq!(Iops::new(719_000.0).to_string(), "719.0 k op/s");
    }
}
