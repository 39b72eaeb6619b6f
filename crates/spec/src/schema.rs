//! The JSON Schema of the spec file, derived from its types. Quantities appear as the text people write.

use std::borrow::Cow;

use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::Value;
use units::{Bandwidth, Bytes, ParseError, Ratio};

use crate::document::Spec;

/// The JSON Schema (2020-12) of a spec file, for editors and other programs.
pub fn schema() -> Value {
    schema_of::<Spec>("Forebay spec file")
}

/// The JSON Schema (2020-12) of a file of this type.
pub fn schema_of<T: JsonSchema>(title: &str) -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .with_transform(RecursiveTransform(without_null));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema.to_value()
}

/// TOML has no null: an optional key is left out instead.
fn without_null(schema: &mut Schema) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(any)) = schema.get_mut("anyOf") {
        any.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = any.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                schema.ensure_object().entry(key).or_insert(value);
            }
        }
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
}

/// The sorts of text with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    Bytes,
    Bandwidth,
    Duration,
    Mix,
}

impl Quantity {
    const ALL: [Self; 4] = [Self::Bytes, Self::Bandwidth, Self::Duration, Self::Mix];

    /// The `format` that marks it in the schema.
    const fn format(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Bandwidth => "bandwidth",
            Self::Duration => "duration-with-unit",
            Self::Mix => "read-write-mix",
        }
    }

    pub fn from_format(format: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|quantity| quantity.format() == format)
    }

    pub const fn noun(self) -> &'static str {
        match self {
            Self::Bytes => "a size in bytes",
            Self::Bandwidth => "a bandwidth",
            Self::Duration => "a duration",
            Self::Mix => "a read:write mix",
        }
    }

    /// Whether `text` is such a quantity, and if so whether it is more than nothing.
    pub fn is_positive(self, text: &str) -> Result<bool, ParseError> {
        match self {
            Self::Bytes => text.parse::<Bytes>().map(|bytes| bytes > Bytes::ZERO),
            Self::Bandwidth => text.parse::<Bandwidth>().map(|bandwidth| bandwidth > Bandwidth::ZERO),
            Self::Duration => units::parse_duration(text).map(|duration| !duration.is_zero()),
            // no reads at all is a mix, too
            Self::Mix if is_plain(text) => text.parse::<Ratio>().map(|_| true),
            Self::Mix => Err(ParseError::NoNumber {
                text: text.to_owned(),
                quantity: "read:write mix",
                example: "80:20",
            }),
        }
    }

    /// A necessary condition; the units themselves are checked by parsing.
    const fn pattern(self) -> &'static str {
        match self {
            Self::Bytes => {
                r"^\s*[0-9._]+\s*([bB]|[kKmMgGtTpP]|[kKmMgGtTpP][bB]|[KMGTP]i|[kmgtp]i|[KMGTP]iB|[kmgtp]ib)?\s*$"
            }
            Self::Bandwidth => r"^\s*[0-9._]+\s*((B|[kKMGT]B|[KMGT]iB|[MG]bit)/s|[MG]bps)\s*$",
            Self::Duration => r"^\s*([0-9._]+\s*(ns|us|µs|ms|s|sec|m|min|h|d)\s*)+$",
            Self::Mix => r"^\s*[0-9._]+\s*(%|:\s*[0-9._]+)?\s*$",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Bytes => {
                "Number and unit. KiB MiB GiB TiB PiB and bare k m g t p are binary, kB MB GB TB PB decimal."
            }
            Self::Bandwidth => {
                "Number and unit. MB/s is 10^6 and MiB/s 2^20 bytes per second; Gbit/s is 10^9 bits."
            }
            Self::Duration => "Numbers and units: ns, us, ms, s, m, h, d; `1h30m` is fine.",
            Self::Mix => "Reads to writes such as `80:20`, or the share of reads as `80%` or `0.8`.",
        }
    }

    fn schema(self) -> Schema {
        json_schema!({
            "type": "string",
            "format": self.format(),
            "pattern": self.pattern(),
            "description": self.description(),
        })
    }
}

/// Whether nothing follows the numbers of a mix with two parts: `80:20:5` and `80:20 MB` are slips.
fn is_plain(mix: &str) -> bool {
    let number =
        |part: &str| part.trim().chars().all(|letter| letter.is_ascii_digit() || "._".contains(letter));
    mix.split_once(':').is_none_or(|(reads, writes)| number(reads) && number(writes))
}

macro_rules! text_schema {
    ($($name:ident => $quantity:ident),+) => {$(
        /// Stands in for a quantity's type where the schema is derived.
        pub struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                Quantity::$quantity.schema()
            }
        }
    )+};
}

text_schema!(BytesText => Bytes, BandwidthText => Bandwidth, DurationText => Duration, MixText => Mix);
