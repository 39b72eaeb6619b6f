//! vdbench's parameter language: what is read, what it expands to, what is refused, and that it runs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that panics has failed")]

mod expansion;
mod hosts;
mod reading;
mod running;

use std::path::Path;

use bench::languages::vdbench::{Overrides, Script, read};
use spec::LoadError;

/// The script in `text`.
fn script(text: &str) -> Result<Script, Box<LoadError>> {
    read(Path::new("test.vdb"), text.to_owned(), &Overrides::default())
}

/// Its points, as they are announced.
fn points(text: &str) -> Vec<String> {
    let script = script(text).unwrap_or_else(|error| panic!("{:?}", error.problems));
    script.tests.iter().flat_map(|test| &test.shown).map(|shown| shown.loops.clone()).collect()
}

/// What is wrong with `text`: line, column and words of each problem.
fn problems(text: &str) -> Vec<(usize, usize, String, String)> {
    let error = script(text).expect_err("this is wrong");
    let place = |problem| error.position(problem).map_or((0, 0), |at| (at.line, at.column));
    error
        .problems
        .iter()
        .map(|problem| {
            let (line, column) = place(problem);
            (line, column, problem.message.clone(), problem.hint.clone().unwrap_or_default())
        })
        .collect()
}
