use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Div, Mul, Sub};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Bandwidth;
use crate::parse::{Grammar, ParseError};

/// A number of bytes.
///
/// Bare `k m g t p` are binary, as users of IOR, fio and lfs type them; `kB MB GB` are decimal; `KiB MiB GiB` binary.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Bytes(u64);

const GRAMMAR: Grammar = Grammar {
    quantity: "size in bytes",
    example: "64KiB",
    accepted: "B, k, m, g, t, p (binary), KiB, MiB, GiB, TiB, PiB, kB, MB, GB, TB, PB",
};

const BINARY: [(&str, u32); 5] = [("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];

impl Bytes {
    /// No bytes at all.
    pub const ZERO: Self = Self(0);

    /// `count` bytes.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// `count` KiB (2^10 bytes).
    pub const fn kib(count: u64) -> Self {
        Self(count << 10)
    }

    /// `count` MiB (2^20 bytes).
    pub const fn mib(count: u64) -> Self {
        Self(count << 20)
    }

    /// `count` GiB (2^30 bytes).
    pub const fn gib(count: u64) -> Self {
        Self(count << 30)
    }

    /// `count` TiB (2^40 bytes).
    pub const fn tib(count: u64) -> Self {
        Self(count << 40)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bytes as an index into memory (64-bit targets only).
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }

    /// In MiB (2^20 bytes).
    pub fn as_mib(self) -> f64 {
        self.0 as f64 / f64::from(1u32 << 20)
    }

    /// In GiB (2^30 bytes).
    pub fn as_gib(self) -> f64 {
        self.0 as f64 / f64::from(1u32 << 30)
    }

    /// The difference, or zero if `other` is larger.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The largest multiple of `unit` not above this.
    pub fn round_down(self, unit: Self) -> Self {
        Self(self.0 - self.0.checked_rem(unit.0).unwrap_or(0))
    }

    /// The share `ratio` of these bytes, rounded down.
    pub fn share(self, ratio: crate::Ratio) -> Self {
        Self((self.0 as f64 * ratio.get()) as u64)
    }

    /// The rate at which these bytes moved in `elapsed`; zero when no time has passed.
    pub fn per(self, elapsed: Duration) -> Bandwidth {
        let seconds = elapsed.as_secs_f64();
        if seconds > 0.0 { Bandwidth::bytes_per_second(self.0 as f64 / seconds) } else { Bandwidth::ZERO }
    }
}

impl FromStr for Bytes {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (number, suffix) = GRAMMAR.split(text)?;
        let unit: f64 = match suffix {
            "" | "B" | "b" => 1.0,
            "k" | "K" | "KiB" | "kib" | "Ki" => 2f64.powi(10),
            "m" | "M" | "MiB" | "mib" | "Mi" => 2f64.powi(20),
            "g" | "G" | "GiB" | "gib" | "Gi" => 2f64.powi(30),
            "t" | "T" | "TiB" | "tib" | "Ti" => 2f64.powi(40),
            "p" | "P" | "PiB" | "pib" | "Pi" => 2f64.powi(50),
            "kB" | "KB" | "kb" => 1e3,
            "MB" | "mb" => 1e6,
            "GB" | "gb" => 1e9,
            "TB" | "tb" => 1e12,
            "PB" | "pb" => 1e15,
            other => return Err(GRAMMAR.unknown_unit(text, other)),
        };
        let bytes = number * unit;
        if !(0.0..=9.0e18).contains(&bytes) {
            return Err(GRAMMAR.out_of_range(text));
        }
        Ok(Self(bytes.round() as u64))
    }
}

impl fmt::Display for Bytes {
    /// Exact where a binary unit divides it (`64 KiB`), else two decimals (`1.50 GiB`); `{:#}` is always exact.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            let exact =
                BINARY.iter().find(|(_, shift)| self.0 >= 1 << shift && self.0.is_multiple_of(1 << shift));
            return match exact {
                Some((name, shift)) => write!(f, "{} {name}", self.0 >> shift),
                None => write!(f, "{} B", self.0),
            };
        }
        for (name, shift) in BINARY {
            if self.0 >= 1 << shift {
                let unit = 1u64 << shift;
                return if self.0.is_multiple_of(unit) {
                    f.pad(&format!("{} {name}", self.0 / unit))
                } else {
                    f.pad(&format!("{:.2} {name}", self.0 as f64 / unit as f64))
                };
            }
        }
        f.pad(&format!("{} B", self.0))
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, count: u64) -> Self {
        Self(self.0 * count)
    }
}

impl Div<u64> for Bytes {
    type Output = Self;
    fn div(self, count: u64) -> Self {
        Self(self.0 / count)
    }
}

/// How many whole times `other` fits.
impl Div for Bytes {
    type Output = u64;
    fn div(self, other: Self) -> u64 {
        self.0 / other.0
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        Self(items.map(|b| b.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_letters_are_binary_and_b_suffixes_decimal() {
        assert_eq!("64k".parse::<Bytes>().unwrap(), Bytes::kib(64));
        assert_eq!("64KiB".parse::<Bytes>().unwrap(), Bytes::kib(64));
        assert_eq!("64 kB".parse::<Bytes>().unwrap(), Bytes::new(64_000));
        assert_eq!("1.5g".parse::<Bytes>().unwrap(), Bytes::mib(1536));
        assert_eq!("4096".parse::<Bytes>().unwrap(), Bytes::kib(4));
        assert_eq!("1_000".parse::<Bytes>().unwrap(), Bytes::new(1000));
    }

    #[test]
    fn wrong_text_says_what_is_accepted() {
        let error = "64x".parse::<Bytes>().unwrap_err().to_string();
        assert!(error.contains("`x` in `64x`") && error.contains("MiB"), "{error}");
        assert!("".parse::<Bytes>().is_err());
        assert!("-1k".parse::<Bytes>().is_err());
        assert!("1e30".parse::<Bytes>().is_err());
        assert!("99999999p".parse::<Bytes>().unwrap_err().to_string().contains("out of range"));
    }

    #[test]
    fn prints_with_a_unit() {
        assert_eq!(Bytes::kib(64).to_string(), "64 KiB");
        assert_eq!(Bytes::new(1).to_string(), "1 B");
        assert_eq!(Bytes::new(47_008).to_string(), "45.91 KiB");
        assert_eq!(format!("{:#}", Bytes::new(47_008)), "47008 B");
        assert_eq!(format!("{:#}", Bytes::kib(96)), "96 KiB");
        assert_eq!(Bytes::ZERO.to_string(), "0 B");
    }

    proptest::proptest! {
        #[test]
        fn exact_printing_survives(count in 0u64..(1 << 52)) {
            let bytes = Bytes::new(count);
            proptest::prop_assert_eq!(format!("{bytes:#}").parse::<Bytes>().unwrap(), bytes);
        }
        #[test]
        fn parsing_never_panics(text in ".{0,24}") {
            let _ = text.parse::<Bytes>();
        }
    }
}
