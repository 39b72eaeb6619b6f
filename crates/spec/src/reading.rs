//! Holding a TOML tree against the shape of a spec: finds every wrong key and value, and leaves only right ones.

use std::collections::BTreeSet;

use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

use crate::nearest::{nearest, quoted};
use crate::places::{Places, join};
use crate::problem::Problem;
use crate::schema::Quantity;
use crate::shape::{Kind, Shape, Table};

/// What reading a tree found.
#[derive(Debug)]
pub struct Reading<'shape> {
    pub places: Places,
    pub problems: Vec<Problem>,
    /// The shape of the whole file, and its version.
    root: &'shape Shape,
    version: u32,
    /// Places of keys that some misspelt key probably stands for.
    meant: BTreeSet<String>,
}

impl<'shape> Reading<'shape> {
    /// Reads a whole document of this shape and version. What is wrong is reported and taken out of the tree.
    pub fn of(root: &'shape Shape, version: u32, tree: &mut Spanned<DeTable<'_>>) -> Self {
        let (places, problems, meant) = (Places::default(), Vec::new(), BTreeSet::new());
        let mut reading = Self { places, problems, root, version, meant };
        if let Kind::Table(shape) = &root.kind {
            reading.places.record_value("", tree.span());
            reading.table("", shape, tree.get_mut());
        }
        reading
    }

    /// Whether the table has all it must have; the wrong parts are gone afterwards.
    fn table(&mut self, place: &str, shape: &Table, table: &mut DeTable<'_>) -> bool {
        let before = self.problems.len();
        let written = std::mem::take(table).into_iter();
        *table = written.filter_map(|(key, value)| self.entry(place, shape, key, value)).collect();
        self.missing_keys(place, shape);
        if self.problems.len() > before {
            self.places.record_broken(place);
        }
        shape.required.iter().all(|name| table.contains_key(name.as_str()))
    }

    /// The entry, if it can stay.
    fn entry<'text>(
        &mut self,
        table: &str,
        shape: &Table,
        key: Spanned<DeString<'text>>,
        mut value: Spanned<DeValue<'text>>,
    ) -> Option<(Spanned<DeString<'text>>, Spanned<DeValue<'text>>)> {
        let name: &str = key.get_ref();
        let here = join(table, name);
        let Some(expected) = shape.keys.get(name) else {
            self.problems.push(unknown_key(name, shape, self.root).at(here, Some(key.span())));
            self.meant.extend(nearest(name, shape.names()).map(|near| join(table, near)));
            return None;
        };
        self.places.record_key(&here, key.span());
        self.value(&here, expected, &mut value).then_some((key, value))
    }

    /// Reports required keys that are not written; a key whose name or value was wrong is written.
    fn missing_keys(&mut self, place: &str, shape: &Table) {
        for name in &shape.required {
            let here = join(place, name);
            if self.places.key(&here).is_none() && !self.meant.contains(&here) {
                let problem = missing_key(place, name, shape.keys.get(name), self.version);
                let span = if place.is_empty() { None } else { self.places.value(place) };
                self.problems.push(problem.at(here, span));
            }
        }
    }

    /// Whether the value can stay.
    fn value(&mut self, place: &str, shape: &Shape, value: &mut Spanned<DeValue<'_>>) -> bool {
        let span = value.span();
        self.places.record_value(place, span.clone());
        let found = match (&shape.kind, value.get_mut()) {
            (Kind::Table(shape), DeValue::Table(table)) => return self.table(place, shape, table),
            (Kind::List(element), DeValue::Array(list)) => {
                let mut good = true;
                for (index, item) in list.iter_mut().enumerate() {
                    good &= self.value(&format!("{place}[{index}]"), element, item);
                }
                return good;
            }
            (Kind::Text, DeValue::String(_)) | (Kind::Boolean, DeValue::Boolean(_)) => Ok(()),
            (Kind::Choice(words), DeValue::String(word)) => choice(place, words, word),
            (Kind::Integer { min, max }, DeValue::Integer(number)) => integer(place, *min, *max, number),
            (Kind::Quantity(kind), DeValue::String(text)) => quantity(place, shape, *kind, text),
            (_, other) => Err(wrong_type(place, shape, other)),
        };
        let problem = found.err().map(|problem| problem.at(place, Some(span)));
        let good = problem.is_none();
        self.problems.extend(problem);
        good
    }
}

/// The last key of a place: `capacity` of `storage[0].capacity`.
fn key_of(place: &str) -> &str {
    place.rsplit('.').next().unwrap_or(place)
}

fn unknown_key(name: &str, shape: &Table, root: &Shape) -> Problem {
    let problem = Problem::new(format!("unknown key `{}`", name.escape_debug()), "unknown key");
    let homes = root.homes_of(name);
    if !homes.is_empty() {
        problem.hint(format!("`{name}` belongs in {}", homes.join(" or ")))
    } else if let Some(near) = nearest(name, shape.names()) {
        problem.hint(format!("did you mean `{near}`?"))
    } else {
        problem.hint(format!("accepted keys: {}", quoted(shape.names())))
    }
}

fn missing_key(place: &str, name: &str, shape: Option<&Shape>, version: u32) -> Problem {
    if let Some(header) = shape.and_then(|shape| shape.header(&join(place, name))) {
        return Problem::new(format!("there is no {header}"), "missing")
            .hint(format!("add a section {header}"));
    }
    let problem = Problem::new(format!("`{name}` is missing"), format!("`{name}` is missing here"));
    if place.is_empty() {
        return problem.hint(format!("begin the file with `{name} = {version}`"));
    }
    match (shape.map(|shape| &shape.kind), shape.and_then(|shape| shape.example.as_ref())) {
        (Some(Kind::Choice(words)), _) => problem
            .hint(format!("add `{name} = ...` with one of {}", quoted(words.iter().map(String::as_str)))),
        (_, Some(example)) => problem.hint(format!("add for example `{name} = {example}`")),
        _ => problem,
    }
}

fn wrong_type(place: &str, shape: &Shape, found: &DeValue<'_>) -> Problem {
    let (key, noun) = (key_of(place), shape.noun());
    let message = format!("`{key}` is {}, but must be {noun}", described(found));
    let problem = Problem::new(message, format!("expected {noun}"));
    match (shape.header(key), &shape.example) {
        (Some(header), _) => problem.hint(format!("write it as a section {header}")),
        (None, Some(example)) => problem.hint(format!("write for example `{key} = {example}`")),
        (None, None) => problem,
    }
}

/// A found value with its sort: ``the integer `5` ``.
fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text `{}`", shortened(text)),
        DeValue::Integer(number) => format!("the integer `{number}`"),
        DeValue::Float(number) => format!("the fraction `{number}`"),
        DeValue::Boolean(value) => format!("`{value}`"),
        DeValue::Datetime(date) => format!("the date `{date}`"),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn choice(place: &str, words: &[String], found: &str) -> Result<(), Problem> {
    if words.iter().any(|word| word == found) {
        return Ok(());
    }
    let words = || words.iter().map(String::as_str);
    let message =
        format!("`{}` is `{}`, but must be one of {}", key_of(place), shortened(found), quoted(words()));
    let problem = Problem::new(message, "not one of the accepted words");
    Err(match nearest(found, words()) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem,
    })
}

fn integer(place: &str, min: i64, max: i64, found: &DeInteger<'_>) -> Result<(), Problem> {
    let number = i64::from_str_radix(found.as_str(), found.radix());
    if number.as_ref().is_ok_and(|number| (min..=max).contains(number)) {
        return Ok(());
    }
    let below = number.is_ok_and(|number| number < min);
    let bound = if below { format!("at least {min}") } else { format!("at most {max}") };
    let message = format!("`{}` is {found}, but must be {bound}", key_of(place));
    Err(Problem::new(message, format!("must be {bound}")))
}

fn quantity(place: &str, shape: &Shape, kind: Quantity, text: &str) -> Result<(), Problem> {
    use units::ParseError::{NoNumber, NoUnit, OutOfRange, UnknownUnit};
    let (key, noun, found) = (key_of(place), shape.noun(), shortened(text));
    let because =
        |what: &str| Problem::new(format!("`{key}` is `{found}`{what}"), format!("expected {noun}"));
    let example = shape.example.as_deref().unwrap_or_default();
    Err(match kind.is_positive(text) {
        Ok(true) => return Ok(()),
        Ok(false) => because(", but must be more than zero"),
        Err(UnknownUnit { suffix, accepted, quantity, .. }) => {
            let problem = because(&format!(", but `{}` is not a unit of {quantity}", shortened(&suffix)));
            problem.hint(match near_unit(&suffix, accepted) {
                Some(unit) => format!("did you mean `{unit}`?"),
                None => format!("use one of {accepted}"),
            })
        }
        Err(OutOfRange { .. }) if kind == Quantity::Mix => {
            because(", which is not a share of a whole").hint("write for example `80:20`, `80%` or `0.8`")
        }
        Err(OutOfRange { .. }) => because(", which is too large"),
        Err(NoUnit { .. }) => {
            because(", which has no unit").hint(format!("write for example `{key} = {example}`"))
        }
        Err(NoNumber { .. }) => {
            because(&format!(", which is not {noun}")).hint(format!("write for example `{key} = {example}`"))
        }
    })
}

/// The accepted unit that differs from `suffix` only in case, or in how "per second" is written.
fn near_unit<'a>(suffix: &str, accepted: &'a str) -> Option<&'a str> {
    let core = |unit: &str| {
        let unit = unit.to_lowercase();
        unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps")).unwrap_or(&unit).to_owned()
    };
    accepted.split(", ").find(|unit| core(unit) == core(suffix))
}

/// Text that fits into a message, without line breaks or control characters.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut letters = text.chars();
    let start: String = letters.by_ref().take(LONGEST).flat_map(char::escape_debug).collect();
    if letters.next().is_some() {
        format!("{start}...")
    } else {
        start.replace("\\\"", "\"").replace("\\'", "'")
    }
}
