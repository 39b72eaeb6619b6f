use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Div, Mul};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Bytes;
use crate::parse::{Grammar, ParseError};

/// Bytes per second. MB/s is 10^6 and MiB/s 2^20 bytes per second; Gbit/s is 10^9 bits per second.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Bandwidth(f64);

const GRAMMAR: Grammar = Grammar {
    quantity: "bandwidth",
    example: "150 MB/s",
    accepted: "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s, Mbit/s, Gbit/s",
};

impl Bandwidth {
    /// Nothing moves.
    pub const ZERO: Self = Self(0.0);

    /// `rate` bytes per second.
    pub const fn bytes_per_second(rate: f64) -> Self {
        Self(rate)
    }

    /// `rate` MB/s (10^6 bytes per second).
    pub fn mb_per_second(rate: f64) -> Self {
        Self(rate * 1e6)
    }

    /// `rate` MiB/s (2^20 bytes per second).
    pub fn mib_per_second(rate: f64) -> Self {
        Self(rate * f64::from(1u32 << 20))
    }

    /// In bytes per second.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// In MB/s (10^6 bytes per second).
    pub fn as_mb(self) -> f64 {
        self.0 / 1e6
    }

    /// In MiB/s (2^20 bytes per second).
    pub fn as_mib(self) -> f64 {
        self.0 / f64::from(1u32 << 20)
    }

    /// How long `bytes` take at this rate; `None` when nothing moves.
    pub fn time_for(self, bytes: Bytes) -> Option<Duration> {
        (self.0 > 0.0).then(|| Duration::try_from_secs_f64(bytes.get() as f64 / self.0).ok()).flatten()
    }
}

impl FromStr for Bandwidth {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (number, suffix) = GRAMMAR.split(text)?;
        let unit: f64 = match suffix {
            "" => return Err(GRAMMAR.no_unit(text)),
            "B/s" => 1.0,
            "kB/s" | "KB/s" => 1e3,
            "MB/s" => 1e6,
            "GB/s" => 1e9,
            "TB/s" => 1e12,
            "KiB/s" => 2f64.powi(10),
            "MiB/s" => 2f64.powi(20),
            "GiB/s" => 2f64.powi(30),
            "TiB/s" => 2f64.powi(40),
            "Mbit/s" | "Mbps" => 1e6 / 8.0,
            "Gbit/s" | "Gbps" => 1e9 / 8.0,
            other => return Err(GRAMMAR.unknown_unit(text, other)),
        };
        let rate = number * unit;
        if rate.is_finite() { Ok(Self(rate)) } else { Err(GRAMMAR.out_of_range(text)) }
    }
}

impl fmt::Display for Bandwidth {
    /// Decimal units, as requirements and providers state them: `152.3 MB/s`; `{:#}` is exact.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return if self.0 >= 1e6 {
                write!(f, "{} MB/s", self.0 / 1e6)
            } else {
                write!(f, "{} B/s", self.0)
            };
        }
        let text = match self.0 {
            rate if rate >= 1e10 => format!("{:.2} GB/s", rate / 1e9),
            rate if rate >= 1e5 || rate == 0.0 => format!("{:.1} MB/s", rate / 1e6),
            rate if rate >= 1e3 => format!("{:.1} kB/s", rate / 1e3),
            rate => format!("{rate:.0} B/s"),
        };
        f.pad(&text)
    }
}

impl Add for Bandwidth {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Mul<f64> for Bandwidth {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<f64> for Bandwidth {
    type Output = Self;
    fn div(self, divisor: f64) -> Self {
        Self(self.0 / divisor)
    }
}

impl Sum for Bandwidth {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        Self(items.map(|b| b.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_binary_and_network_units_differ() {
        let parse = |text: &str| text.parse::<Bandwidth>().unwrap().get();
        assert!((parse("150 MB/s") - 150e6).abs() < 1.0);
        assert!((parse("150MiB/s") - 157_286_400.0).abs() < 1.0);
        assert!((parse("10 Gbit/s") - 1.25e9).abs() < 1.0);
    }

    #[test]
    fn a_bare_number_is_refused() {
        let error = "150".parse::<Bandwidth>().unwrap_err().to_string();
        assert!(error.contains("has no unit") && error.contains("150 MB/s"), "{error}");
        assert!("150 MB".parse::<Bandwidth>().unwrap_err().to_string().contains("MB/s"));
    }

    #[test]
    fn bytes_over_time() {
        assert!((Bytes::new(300_000_000).per(Duration::from_secs(2)).as_mb() - 150.0).abs() < 1e-9);
        assert_eq!(Bytes::mib(1).per(Duration::ZERO), Bandwidth::ZERO);
        assert_eq!(Bandwidth::mb_per_second(150.0).to_string(), "150.0 MB/s");
        assert_eq!(Bandwidth::ZERO.time_for(Bytes::mib(1)), None);
    }
}
