use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::parse::{Grammar, ParseError};

/// A share between 0 and 1: of reads in a mix, of a file system, of a block.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Ratio(f64);

const GRAMMAR: Grammar =
    Grammar { quantity: "share", example: "80:20", accepted: "%, or two parts such as `80:20`" };

impl Ratio {
    /// Nothing.
    pub const ZERO: Self = Self(0.0);
    /// All of it.
    pub const ONE: Self = Self(1.0);

    /// `share` clamped to 0..=1; NaN becomes 0.
    pub fn new(share: f64) -> Self {
        Self(if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) })
    }

    /// `percent` of a hundred.
    pub fn percent(percent: f64) -> Self {
        Self::new(percent / 100.0)
    }

    /// The share between 0 and 1.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// What is left: the write share of a read share.
    pub fn complement(self) -> Self {
        Self(1.0 - self.0)
    }
}

impl FromStr for Ratio {
    type Err = ParseError;

    /// `80:20` (the first part of the whole), `80%`, or `0.8`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let share = if let Some((first, second)) = text.split_once(':') {
            let (first, _) = GRAMMAR.split(first)?;
            let (second, _) = GRAMMAR.split(second)?;
            first / (first + second)
        } else {
            match GRAMMAR.split(text)? {
                (number, "%") => number / 100.0,
                (number, "") => number,
                (_, other) => return Err(GRAMMAR.unknown_unit(text, other)),
            }
        };
        if (0.0..=1.0).contains(&share) { Ok(Self(share)) } else { Err(GRAMMAR.out_of_range(text)) }
    }
}

impl fmt::Display for Ratio {
    /// In percent, with at most one decimal; `{:#}` is always exact.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        if f.alternate() && Self(percent.round() / 100.0) != *self {
            return write!(f, "{}", self.0);
        }
        if (percent - percent.round()).abs() < 0.05 {
            f.pad(&format!("{percent:.0} %"))
        } else {
            f.pad(&format!("{percent:.1} %"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_percentages_and_shares() {
        assert!(("80:20".parse::<Ratio>().unwrap().get() - 0.8).abs() < 1e-12);
        assert!(("80%".parse::<Ratio>().unwrap().get() - 0.8).abs() < 1e-12);
        assert!(("0.8".parse::<Ratio>().unwrap().get() - 0.8).abs() < 1e-12);
        assert!("80".parse::<Ratio>().unwrap_err().to_string().contains("out of range"));
        assert!("0:0".parse::<Ratio>().is_err());
        assert_eq!(Ratio::new(0.8).to_string(), "80 %");
        assert_eq!(
            (format!("{:#}", Ratio::new(0.8)), format!("{:#}", Ratio::new(1.0 / 3.0))),
            ("80 %".into(), "0.3333333333333333".into())
        );
        assert_eq!(Ratio::new(f64::NAN), Ratio::ZERO);
    }
}
