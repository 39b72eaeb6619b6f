//! Text forms that read back as the very same value, for quantities held in floating point.

use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
use units::{Bandwidth, Ratio};

/// In MB/s if that loses nothing, else in B/s.
pub fn bandwidth_text(value: Bandwidth) -> String {
    let megabytes = format!("{} MB/s", value.as_mb());
    if megabytes.parse() == Ok(value) { megabytes } else { format!("{} B/s", value.get()) }
}

/// As `80:20` if that loses nothing, else as a share of one.
pub fn mix_text(value: Ratio) -> String {
    let reads = (value.get() * 1e4).round() / 100.0;
    let parts = format!("{reads}:{}", 100.0 - reads);
    if parts.parse() == Ok(value) { parts } else { value.get().to_string() }
}

/// Serde for an optional bandwidth.
pub mod bandwidth {
    use super::{Bandwidth, Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes the field by reference")]
    pub fn serialize<S: Serializer>(value: &Option<Bandwidth>, serializer: S) -> Result<S::Ok, S::Error> {
        super::write(value.map(super::bandwidth_text), serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Bandwidth>, D::Error> {
        super::read(deserializer)
    }
}

/// Serde for an optional read:write mix.
pub mod mix {
    use super::{Deserializer, Ratio, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes the field by reference")]
    pub fn serialize<S: Serializer>(value: &Option<Ratio>, serializer: S) -> Result<S::Ok, S::Error> {
        super::write(value.map(super::mix_text), serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ratio>, D::Error> {
        super::read(deserializer)
    }
}

fn write<S: Serializer>(text: Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    match text {
        Some(text) => serializer.serialize_str(&text),
        None => serializer.serialize_none(),
    }
}

fn read<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: std::str::FromStr<Err = units::ParseError>,
    D: Deserializer<'de>,
{
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_what_people_write() {
        assert_eq!(bandwidth_text(Bandwidth::mb_per_second(150.0)), "150 MB/s");
        assert_eq!(mix_text(Ratio::percent(80.0)), "80:20");
        assert_eq!(mix_text(Ratio::ONE), "100:0");
        assert_eq!(mix_text(Ratio::new(1.0 / 3.0)), "0.3333333333333333");
    }

    proptest::proptest! {
        #[test]
        fn reads_back_the_same(rate in 0.0..1e15f64, share in 0.0..=1.0f64) {
            let (rate, share) = (Bandwidth::bytes_per_second(rate), Ratio::new(share));
            proptest::prop_assert_eq!(bandwidth_text(rate).parse::<Bandwidth>().unwrap(), rate);
            proptest::prop_assert_eq!(mix_text(share).parse::<Ratio>().unwrap(), share);
        }
    }
}
