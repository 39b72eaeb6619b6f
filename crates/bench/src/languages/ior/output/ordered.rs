use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

/// JSON whose keys stay in the order in which they were written, as readers of IOR's know it.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// A whole number.
    Whole(i64),
    /// A number; one that JSON can't write becomes text.
    Number(f64),
    /// Text.
    Text(String),
    /// Several values.
    List(Vec<Json>),
    /// Keys and values.
    Object(Vec<(&'static str, Json)>),
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(number) => serializer.serialize_i64(*number),
            Self::Number(number) if number.is_finite() => serializer.serialize_f64(*number),
            Self::Number(number) => serializer.serialize_str(&number.to_string()),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => {
                let mut list = serializer.serialize_seq(Some(values.len()))?;
                values.iter().try_for_each(|value| list.serialize_element(value))?;
                list.end()
            }
            Self::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Whole(number)
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Self {
        Self::Whole(i64::from(number))
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}
