//! What was typed, by the names of options.

use fault::Result;
use units::Bytes;

use super::values::{leading_integer, no_size, number, size};
use super::{Given, Grammar, Known, wrong};

/// What was typed, by the names of options as [`Known::name`] has them. The last value counts; flags add up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    given: Vec<(String, Given)>,
}

impl Line {
    /// Reads the words behind `program`.
    pub fn read(program: &'static str, known: &[Known], words: &[String]) -> Result<Self> {
        let given = Grammar { program, known }.read(words)?;
        Ok(Self { given: given.into_iter().map(|given| (known[given.option].name(), given)).collect() })
    }

    fn all(&self, name: &str) -> impl DoubleEndedIterator<Item = &Given> {
        self.given.iter().filter(move |(own, _)| own == name).map(|(_, given)| given)
    }

    /// Whether an option was typed at all.
    pub fn has(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// The last value of an option.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.all(name).next_back().and_then(|given| given.value.as_deref())
    }

    /// How often a flag was set; `-F=0` takes it back, `-F=3` is three times.
    pub fn count(&self, name: &str) -> u64 {
        self.all(name).fold(0, |count, given| match &given.value {
            None => count + 1,
            Some(value) => leading_integer(value).unwrap_or(0).max(0).unsigned_abs(),
        })
    }

    /// Whether a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        self.count(name) > 0
    }

    /// A number without a sign.
    pub fn number(&self, name: &str) -> Result<Option<u64>> {
        let Some(number) = self.signed(name)? else { return Ok(None) };
        u64::try_from(number).map(Some).map_err(|_| {
            wrong(format!("`{name} {number}` is negative"))
                .hint(format!("write `{name} N` with N of 0 or more"))
        })
    }

    /// A number that may have a sign.
    pub fn signed(&self, name: &str) -> Result<Option<i64>> {
        self.text(name).map(|text| number(name, text)).transpose()
    }

    /// A size.
    pub fn size(&self, name: &str) -> Result<Option<Bytes>> {
        let of = |text| size(text).ok_or_else(|| no_size(name, text));
        self.text(name).map(of).transpose()
    }
}
