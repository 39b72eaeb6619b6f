use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use serde::{Deserialize, Serialize};

/// US dollars. What time they pay for is said by the name of the value: `per_month`.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Money(f64);

impl Money {
    /// Free of charge.
    pub const ZERO: Self = Self(0.0);

    /// `amount` US dollars.
    pub const fn usd(amount: f64) -> Self {
        Self(amount)
    }

    /// In US dollars.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Money {
    /// `$18,758`; with cents below 100 dollars: `$61.32`; fractions of a cent below one: `$0.0826`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0.0 { "-" } else { "" };
        let amount = self.0.abs();
        let text = match amount {
            amount if amount >= 99.995 => format!("{sign}${}", grouped(amount.round() as u64)),
            amount if amount >= 0.995 || amount == 0.0 => format!("{sign}${amount:.2}"),
            amount => format!("{sign}${amount:.4}"),
        };
        f.pad(&text)
    }
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Money {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<f64> for Money {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<f64> for Money {
    type Output = Self;
    fn div(self, divisor: f64) -> Self {
        Self(self.0 / divisor)
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        Self(items.map(|money| money.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_people_write_it() {
        let shown = |amount| Money::usd(amount).to_string();
        assert_eq!(shown(18_757.6), "$18,758");
        assert_eq!(shown(1_000_000.0), "$1,000,000");
        assert_eq!(shown(99.996), "$100");
        assert_eq!(shown(61.32), "$61.32");
        assert_eq!(shown(0.08256), "$0.0826");
        assert_eq!(shown(0.0), "$0.00");
        assert_eq!(shown(-1_234.0), "-$1,234");
    }
}
