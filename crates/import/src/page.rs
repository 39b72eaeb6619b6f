//! A file's lines, and the error that names one of them.

use std::path::Path;

use fault::{Fault, Kind, Result};

/// Longest part of a broken line that an error shows.
const MOST_SHOWN: usize = 60;

/// The text of a file.
#[derive(Debug)]
pub struct Page<'a> {
    file: &'a Path,
    text: &'a str,
}

impl<'a> Page<'a> {
    /// The page of `file`.
    pub fn new(file: &'a Path, text: &'a str) -> Self {
        Self { file, text }
    }

    /// Where it was read from.
    pub fn file(&self) -> &'a Path {
        self.file
    }

    /// Its whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Lines without their ends, numbered from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &'a str)> {
        self.text.lines().zip(1..).map(|(line, number)| (number, line.trim_end()))
    }

    /// The text after the first line that begins with `start`, trimmed.
    pub fn after(&self, start: &str) -> Option<&'a str> {
        self.lines().find_map(|(_, line)| line.trim_start().strip_prefix(start).map(str::trim))
    }

    /// What is wrong in line `number`.
    pub fn wrong(&self, number: usize, expected: &str, found: &str) -> Fault {
        let shown: String = found.trim().chars().take(MOST_SHOWN).collect();
        self.fault(&format!("line {number}: expected {expected}, found `{shown}`"))
    }

    /// What is missing as a whole.
    pub fn missing(&self, expected: &str) -> Fault {
        self.fault(&format!("expected {expected}, found no such line"))
    }

    fn fault(&self, what: &str) -> Fault {
        Fault::new(Kind::Corrupt, format!("`{}` {what}", self.file.display()))
            .hint("was the run stopped, or the file cut or edited? Import the file as the tool wrote it")
    }

    /// A number in line `number`: finite and not negative.
    pub fn number(&self, number: usize, expected: &str, text: &str) -> Result<f64> {
        match text.trim().parse::<f64>() {
            Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
            _ => Err(self.wrong(number, expected, text)),
        }
    }
}
