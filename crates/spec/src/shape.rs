//! The JSON Schema of the spec, in the form reading needs it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::schema::Quantity;

/// What may stand at one place of a spec.
#[derive(Debug)]
pub struct Shape {
    pub kind: Kind,
    /// A value that would be accepted, as TOML.
    pub example: Option<String>,
}

/// The sorts of values.
#[derive(Debug)]
pub enum Kind {
    Table(Table),
    List(Box<Shape>),
    Text,
    Choice(Vec<String>),
    Integer { min: i64, max: i64 },
    Boolean,
    Quantity(Quantity),
}

/// The keys of a table.
#[derive(Debug, Default)]
pub struct Table {
    pub keys: BTreeMap<String, Shape>,
    pub required: Vec<String>,
}

impl Shape {
    /// What a schema describes.
    pub fn from_schema(schema: &Value) -> Self {
        let example = schema["examples"].get(0).and_then(as_toml);
        Self { kind: Kind::from_schema(schema), example }
    }

    /// What is expected here, for people: `an integer`, `a size in bytes`.
    pub fn noun(&self) -> &'static str {
        match &self.kind {
            Kind::Table(_) => "a table",
            Kind::List(_) => "a list",
            Kind::Text | Kind::Choice(_) => "text in quotes",
            Kind::Integer { .. } => "an integer",
            Kind::Boolean => "`true` or `false`",
            Kind::Quantity(quantity) => quantity.noun(),
        }
    }

    /// How the place is written in a file: `[grid]`, `[[storage]]`, or nothing for what is no table.
    pub fn header(&self, place: &str) -> Option<String> {
        let bare = without_numbers(place);
        match &self.kind {
            Kind::Table(_) if place.is_empty() => Some("the top of the file".to_owned()),
            Kind::Table(_) if place.contains('[') => Some(format!("`[[{bare}]]`")),
            Kind::Table(_) => Some(format!("`[{place}]`")),
            Kind::List(element) if matches!(element.kind, Kind::Table(_)) => Some(format!("`[[{bare}]]`")),
            _ => None,
        }
    }

    /// Headers of all tables that have `key`.
    pub fn homes_of(&self, key: &str) -> Vec<String> {
        let mut homes = Vec::new();
        self.collect_homes(key, "", None, &mut homes);
        homes
    }

    fn collect_homes(&self, key: &str, place: &str, header: Option<String>, homes: &mut Vec<String>) {
        let header = header.or_else(|| self.header(place));
        match &self.kind {
            Kind::List(element) => element.collect_homes(key, place, header, homes),
            Kind::Table(table) => {
                if table.keys.contains_key(key) {
                    homes.extend(header);
                }
                for (name, shape) in &table.keys {
                    shape.collect_homes(key, &crate::places::join(place, name), None, homes);
                }
            }
            _ => {}
        }
    }
}

impl Kind {
    fn from_schema(schema: &Value) -> Self {
        if let Some(quantity) = schema["format"].as_str().and_then(Quantity::from_format) {
            return Self::Quantity(quantity);
        }
        if let Some(names) = choices(schema) {
            return Self::Choice(names);
        }
        match schema["type"].as_str() {
            Some("object") => Self::Table(Table::from_schema(schema)),
            Some("array") => Self::List(Box::new(Shape::from_schema(&schema["items"]))),
            Some("integer") => Self::Integer {
                min: schema["minimum"].as_i64().unwrap_or(0),
                max: schema["maximum"].as_i64().unwrap_or_else(|| i64::from(u32::MAX)),
            },
            Some("boolean") => Self::Boolean,
            _ => Self::Text,
        }
    }
}

impl Table {
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.keys.keys().map(String::as_str)
    }

    fn from_schema(schema: &Value) -> Self {
        let keys = schema["properties"].as_object().into_iter().flatten();
        let required = schema["required"].as_array().into_iter().flatten();
        Self {
            keys: keys.map(|(name, shape)| (name.clone(), Shape::from_schema(shape))).collect(),
            required: required.filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    }
}

/// `job[0].source` as it is written: `job.source`.
fn without_numbers(place: &str) -> String {
    place.split('[').map(|part| part.split_once(']').map_or(part, |(_, after)| after)).collect()
}

/// The words of an enum, whether its variants carry descriptions (`oneOf`) or not (`enum`).
fn choices(schema: &Value) -> Option<Vec<String>> {
    let word = |choice: &Value| choice.as_str().or_else(|| choice["const"].as_str()).map(str::to_owned);
    schema.get("enum").or_else(|| schema.get("oneOf"))?.as_array()?.iter().map(word).collect()
}

fn as_toml(example: &Value) -> Option<String> {
    toml::Value::try_from(example).ok().map(|value| value.to_string())
}
