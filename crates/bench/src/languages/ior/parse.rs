//! IOR's command line: what the grammar read, option by option, becomes [`Parameters`].

use fault::{Fault, Kind as FaultKind, Result};

use super::super::grammar::{Given, Grammar, Known, no_size, number, size};
use super::options::{Description, Kind, OPTIONS};
use super::parameters::Parameters;

/// The name in messages.
const PROGRAM: &str = "ior";

/// What was read, and what should be said about it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// What is asked for.
    pub parameters: Parameters,
    /// Remarks: older names, options that change nothing.
    pub notes: Vec<String>,
}

/// The options as the grammar needs them.
fn known() -> Vec<Known> {
    let known = |option: &Description| Known {
        short: option.letter,
        long: option.long,
        directives: option.directives,
        takes_value: option.takes_value(),
    };
    OPTIONS.iter().map(known).collect()
}

impl Parsed {
    /// Reads a command line, without the program's name.
    pub fn from_arguments(arguments: &[String]) -> Result<Self> {
        let mut parsed = Self::default();
        let given = Grammar { program: PROGRAM, known: &known() }.read(arguments)?;
        given.iter().try_for_each(|given| parsed.set(given))?;
        Ok(parsed)
    }

    /// Reads `key=value`; `#` begins a comment.
    pub fn read_directive(&mut self, text: &str) -> Result<()> {
        let given = Grammar { program: PROGRAM, known: &known() }.directive(text)?;
        given.map_or(Ok(()), |given| self.set(&given))
    }

    fn set(&mut self, given: &Given) -> Result<()> {
        let option = &OPTIONS[given.option];
        let (name, value) = (given.name.as_str(), given.value.as_deref());
        if let Some(note) = option.note {
            self.note(note.to_owned());
        }
        let p = &mut self.parameters;
        // The grammar sees to it that what takes a value has one.
        let text = value.unwrap_or_default();
        match option.kind {
            Kind::Flag(of) => match value {
                None => *of(p) += 1,
                Some(value) => *of(p) = number(name, value)?.max(0),
            },
            Kind::Number(of) => *of(p) = number(name, text)?,
            Kind::Size(of) => *of(p) = bytes(name, text)?,
            Kind::Text(of) => text.clone_into(of(p)),
            Kind::Word(of) => *of(p) = Some(text.to_owned()),
            Kind::Directives => {
                return text.split(',').try_for_each(|directive| self.read_directive(directive));
            }
            // Off is what it is here.
            Kind::Refused(_, _) | Kind::Ignored(_, _) if value == Some("0") => {}
            Kind::Refused(_, why) => {
                return Err(Fault::new(FaultKind::Usage, format!("option `{name}` is not done here: {why}"))
                    .hint("leave it out"));
            }
            Kind::Ignored(_, why) => self.note(format!("{name} changes nothing here: {why}")),
        }
        Ok(())
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// A size in bytes, for parameters that IOR keeps as numbers with a sign.
pub(super) fn bytes(name: &str, text: &str) -> Result<i64> {
    let size = size(text).and_then(|size| i64::try_from(size.get()).ok());
    size.ok_or_else(|| no_size(name, text))
}

pub(super) fn wrong(message: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Usage, message).hint(hint)
}
