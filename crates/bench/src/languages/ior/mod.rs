//! IOR 4's command line, as people type it: its own parser's rules, its options, its scripts, its data, its output.
//!
//! Where IOR is known to be wrong it is done right, and a line says so; `strict` gives the original.

mod compile;
mod options;
mod output;
mod parameters;
mod parse;
mod script;
mod validate;

#[cfg(test)]
mod tests;

pub use compile::{CHECK, READ, Test, WRITE, World};
pub use options::help;
pub use output::{Document, Report, SummaryFormat};
pub use parameters::Parameters;
pub use parse::Parsed;

use fault::Result;

/// What a command line asks for.
#[derive(Debug, Clone)]
pub struct Ior {
    /// The tests, one after the other.
    pub tests: Vec<Test>,
    /// What should be said before they run.
    pub notes: Vec<String>,
}

impl Ior {
    /// Reads a command line without the program's name, for whoever takes part. Nothing is created, and nothing is wrong
    /// with the tests when this returns.
    pub fn read(arguments: &[String], world: World, strict: bool) -> Result<Self> {
        let (parameters, mut notes) = script::tests(arguments)?;
        let tests = parameters.iter().map(|parameters| Test::of(parameters, world, strict));
        let tests = tests.collect::<Result<Vec<_>>>()?;
        for note in tests.iter().flat_map(|test| &test.notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        Ok(Self { tests, notes })
    }
}
