use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

/// One thing that is wrong with a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong: lower case, naming the thing and the value.
    pub message: String,
    /// A few words for the caret: `unknown key`, `expected an integer`.
    pub label: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Bytes of the text it is about; `None` when it is about the whole file.
    pub span: Option<Range<usize>>,
    /// The key it is about, such as `storage[0].capacity`; empty when it is about the whole file.
    pub place: String,
}

impl Problem {
    /// A problem about the whole file.
    pub fn new(message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { message: message.into(), label: label.into(), hint: None, span: None, place: String::new() }
    }

    /// Adds what the person can do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says where it is: the key, and its bytes of the text.
    pub fn at(mut self, place: impl Into<String>, span: Option<Range<usize>>) -> Self {
        self.place = place.into();
        self.span = span;
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A line and a column, both counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

/// Places that are told of several problems.
const PLACES_NAMED: usize = 5;

/// A spec that can't be used, with everything needed to show why. Never without a problem.
#[derive(Debug, Clone, thiserror::Error)]
pub struct LoadError {
    /// What it is: `spec`, `design`, `parameter file`.
    pub what: &'static str,
    /// Where the spec is.
    pub path: PathBuf,
    /// Its text, as far as it was read; spans point into it.
    pub text: String,
    /// What is wrong, in the order of the text.
    pub problems: Vec<Problem>,
}

impl LoadError {
    /// Line and column where a problem starts; `None` if it is about the whole file.
    pub fn position(&self, problem: &Problem) -> Option<Position> {
        let before = self.text.get(..problem.span.as_ref()?.start)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Some(Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        })
    }
}

impl LoadError {
    /// `line 3 (xfersize)`
    fn place(&self, problem: &Problem) -> Option<String> {
        let line = self.position(problem)?.line;
        Some(if problem.place.is_empty() {
            format!("line {line}")
        } else {
            format!("line {line} ({})", problem.place)
        })
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {} `{}`", self.what, self.path.display())?;
        match self.problems.as_slice() {
            [only] => match self.position(only) {
                Some(position) => write!(f, ", line {}: {only}", position.line),
                None => write!(f, ": {only}"),
            },
            problems => {
                write!(f, ": {} problems", problems.len())?;
                let places: Vec<String> = problems.iter().filter_map(|problem| self.place(problem)).collect();
                match places.len().saturating_sub(PLACES_NAMED) {
                    _ if places.is_empty() => Ok(()),
                    0 => write!(f, ": {}", places.join(", ")),
                    more => write!(f, ": {} and {more} more", places[..PLACES_NAMED].join(", ")),
                }
            }
        }
    }
}
