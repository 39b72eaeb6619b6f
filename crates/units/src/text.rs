//! Serde for files that people write: a quantity is text with a unit, never a bare number.
//!
//! `#[serde(with = "units::text")]` for a quantity, `#[serde(default, with = "units::text::option")]` for an optional one,
//! `units::text::list` for several, `#[serde(with = "units::text::duration")]` and `units::text::duration::option` for durations.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// Writes the quantity with its unit, exactly (`{:#}`).
pub fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{value:#}"))
}

/// Reads text with a unit.
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// The same for an optional quantity; pair it with `#[serde(default)]`.
pub mod option {
    use super::{Deserialize, Deserializer, Display, FromStr, Serializer};
    use serde::de::Error as _;

    /// Writes the quantity with its unit, or nothing.
    pub fn serialize<T: Display, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => super::serialize(value, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads text with a unit, if there is any.
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}

/// The same for several quantities.
pub mod list {
    use super::{Deserialize, Deserializer, Display, FromStr, Serializer};
    use serde::de::Error as _;

    /// Writes each quantity with its unit.
    pub fn serialize<T: Display, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|value| format!("{value:#}")))
    }

    /// Reads texts with units.
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let texts = Vec::<String>::deserialize(deserializer)?;
        texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
    }
}

/// The same for durations.
pub mod duration {
    use std::time::Duration;

    use super::{Deserialize, Deserializer, Serializer};
    use serde::de::Error as _;

    /// Writes the duration exactly, in the largest whole unit (`90s`, `1500ms`).
    pub fn serialize<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&exact(*value))
    }

    /// Reads a duration with its unit.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        crate::parse_duration(&text).map_err(D::Error::custom)
    }

    fn exact(value: Duration) -> String {
        match value.as_nanos() {
            n if n % 1_000_000_000 == 0 => format!("{}s", n / 1_000_000_000),
            n if n % 1_000_000 == 0 => format!("{}ms", n / 1_000_000),
            n if n % 1_000 == 0 => format!("{}us", n / 1_000),
            n => format!("{n}ns"),
        }
    }

    /// The same for an optional duration; pair it with `#[serde(default)]`.
    pub mod option {
        use std::time::Duration;

        use super::{Deserialize, Deserializer, Serializer};
        use serde::de::Error as _;

        /// Writes the duration exactly, or nothing.
        pub fn serialize<S: Serializer>(value: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
            match value {
                Some(value) => super::serialize(value, serializer),
                None => serializer.serialize_none(),
            }
        }

        /// Reads a duration with its unit, if there is any.
        pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
            let text = Option::<String>::deserialize(deserializer)?;
            text.map(|text| crate::parse_duration(&text).map_err(D::Error::custom)).transpose()
        }
    }
}
