//! How IOR, mdtest and IO500 read a command line: their own rules, not getopt's.
//!
//! `-b 4k`, `-b4k` and `-b=4k` are the same, as are `--long 4k` and `--long=4k`. Flags may be grouped (`-wr`) and repeated
//! (`-vvv`: each counts), and may have a value (`-F=1`, `-e=0`). Directives (`key=value`) name the same options in any case.
//! Quotes that come along when a command line is copied from a document (`-b=\"128m\"`) are not part of a value.

mod line;
#[cfg(test)]
mod tests;
mod values;

use fault::{Fault, Kind, Result};

pub use line::Line;
pub use values::{leading_integer, no_size, number, size};

/// An option that a program knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// `-b`.
    pub short: Option<char>,
    /// `--random-seed`, without its hyphens.
    pub long: Option<&'static str>,
    /// Its names as a directive, `-O blockSize=4k`.
    pub directives: &'static [&'static str],
    /// Whether a value must follow.
    pub takes_value: bool,
}

impl Known {
    /// A flag, `-F`.
    pub const fn flag(short: char) -> Self {
        Self { short: Some(short), long: None, directives: &[], takes_value: false }
    }

    /// An option with a value, `-b 4k`.
    pub const fn value(short: char) -> Self {
        Self { takes_value: true, ..Self::flag(short) }
    }

    /// A flag with a long name, `--warningAsErrors`.
    pub const fn long_flag(long: &'static str) -> Self {
        Self { short: None, long: Some(long), directives: &[], takes_value: false }
    }

    /// An option with a long name and a value, `--random-seed 7`.
    pub const fn long_value(long: &'static str) -> Self {
        Self { takes_value: true, ..Self::long_flag(long) }
    }

    /// The same under a long name as well.
    pub const fn or(self, long: &'static str) -> Self {
        Self { long: Some(long), ..self }
    }

    /// Its name: `-b`, `--random-seed` where there is no letter, `-O platform` where there is neither.
    pub fn name(&self) -> String {
        match (self.short, self.long, self.directives.first()) {
            (Some(short), _, _) => format!("-{short}"),
            (None, Some(long), _) => format!("--{long}"),
            (None, None, Some(directive)) => format!("-O {directive}"),
            (None, None, None) => String::new(),
        }
    }
}

/// An option that somebody typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Which of those known.
    pub option: usize,
    /// Its name as it was typed: `-b`, `--random-seed`, `-O blockSize`.
    pub name: String,
    /// Its value; flags have one only if it was typed.
    pub value: Option<String>,
}

/// A program's options.
#[derive(Debug, Clone, Copy)]
pub struct Grammar<'a> {
    /// `ior`, as in `forebay ior`.
    pub program: &'static str,
    /// All options.
    pub known: &'a [Known],
}

impl Grammar<'_> {
    /// Reads the words behind the program's name.
    pub fn read(&self, words: &[String]) -> Result<Vec<Given>> {
        let mut given = Vec::new();
        let mut words = words.iter().map(|word| values::unquoted(word));
        while let Some(word) = words.next() {
            let mut next = || words.next();
            if let Some(long) = word.strip_prefix("--").filter(|long| !long.is_empty()) {
                given.push(self.long_option(long, &mut next)?);
            } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                self.short_options(letters, &mut next, &mut given)?;
            } else {
                return Err(wrong(format!("`{word}` is no option of {}", self.program)).hint(format!(
                    "every word is an option or the value of the one before it, and values with spaces need quotes; \
                     `forebay {} --help` shows what there is",
                    self.program
                )));
            }
        }
        Ok(given)
    }

    /// Reads `key=value`; `#` begins a comment. Nothing is given by a comment alone.
    pub fn directive(&self, text: &str) -> Result<Option<Given>> {
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            return Ok(None);
        }
        let Some((key, value)) = text.split_once('=') else {
            return Err(wrong(format!("directive `{text}` has no value"))
                .hint("write `key=value`, several with commas between"));
        };
        let (key, value) = (key.trim(), values::unquoted(value.trim()));
        let named = |known: &&Known| known.directives.iter().any(|own| own.eq_ignore_ascii_case(key));
        // Unknown ones are tried as long names: `posix.odirect=1`.
        let found = self.find(|known| named(&known)).or_else(|| self.find(|known| known.long == Some(key)));
        let Some((option, known)) = found else {
            let message = format!("directive `{key}` is none of {}", self.program);
            return Err(wrong(message).hint(self.nearest(key)));
        };
        Self::complete(option, known, format!("-O {key}"), Some(value)).map(Some)
    }

    fn long_option(&self, text: &str, next: &mut dyn FnMut() -> Option<String>) -> Result<Given> {
        let (long, value) = match text.split_once('=') {
            Some((long, value)) => (long, Some(value.to_owned())),
            None => (text, None),
        };
        let Some((option, known)) = self.find(|known| known.long == Some(long)) else {
            let message = format!("`--{long}` is no option of {}", self.program);
            return Err(wrong(message).hint(self.nearest(long)));
        };
        let value = if known.takes_value && value.is_none() { next() } else { value };
        Self::complete(option, known, format!("--{long}"), value)
    }

    /// Letters behind one hyphen: flags, and at the end perhaps an option with its value.
    fn short_options(
        &self,
        letters: &str,
        next: &mut dyn FnMut() -> Option<String>,
        given: &mut Vec<Given>,
    ) -> Result<()> {
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            let Some((option, known)) = self.find(|known| known.short == Some(letter)) else {
                let group =
                    if letters.chars().count() > 1 { format!(" (in `-{letters}`)") } else { String::new() };
                return Err(wrong(format!("`-{letter}` is no option of {}{group}", self.program))
                    .hint(format!("`forebay {} --help` shows what there is", self.program)));
            };
            let (name, behind) = (format!("-{letter}"), rest.as_str());
            let value = behind.strip_prefix('=').map(str::to_owned);
            if known.takes_value {
                let value =
                    value.or_else(|| (!behind.is_empty()).then(|| behind.to_owned())).or_else(&mut *next);
                given.push(Self::complete(option, known, name, value)?);
                return Ok(());
            }
            let ends = value.is_some();
            given.push(Self::complete(option, known, name, value)?);
            if ends {
                return Ok(());
            }
        }
        Ok(())
    }

    fn find(&self, is: impl Fn(&Known) -> bool) -> Option<(usize, &Known)> {
        self.known.iter().enumerate().find(|(_, known)| is(known))
    }

    fn complete(option: usize, known: &Known, name: String, value: Option<String>) -> Result<Given> {
        let value = value.map(|value| values::unquoted(&value));
        if value.as_ref().map_or(known.takes_value, String::is_empty) {
            return Err(wrong(format!("`{name}` has no value"))
                .hint(format!("write it behind the option: `{name}=VALUE`")));
        }
        Ok(Given { option, name, value })
    }

    fn nearest(&self, word: &str) -> String {
        let names = self.known.iter().flat_map(|known| known.directives.iter().copied().chain(known.long));
        spec::nearest(word, names).map_or_else(
            || format!("`forebay {} --help` shows what there is", self.program),
            |near| {
                let directive = self
                    .known
                    .iter()
                    .any(|known| known.long != Some(near) && known.directives.contains(&near));
                if directive {
                    format!("did you mean `-O {near}=...`?")
                } else {
                    format!("did you mean `--{near}`?")
                }
            },
        )
    }
}

/// A wrong command line.
pub fn wrong(message: impl Into<String>) -> Fault {
    Fault::new(Kind::Usage, message)
}
