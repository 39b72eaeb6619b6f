//! What is wrong with a parameter file, each with its place; all of it at once.

use std::ops::Range;
use std::path::{Path, PathBuf};

use spec::{LoadError, Problem};

/// Bytes of one of the files that were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Number of the file.
    pub file: usize,
    /// Bytes of its text.
    pub span: Range<usize>,
}

impl Place {
    /// `span` of file number `file`.
    pub fn new(file: usize, span: Range<usize>) -> Self {
        Self { file, span }
    }
}

/// The parameter file and what it includes.
#[derive(Debug, Default)]
pub struct Files(Vec<(PathBuf, String)>);

impl Files {
    /// Adds a file and returns its number.
    pub fn add(&mut self, path: &Path, text: String) -> usize {
        self.0.push((path.to_owned(), text));
        self.0.len() - 1
    }

    /// The text of a file.
    pub fn text(&self, file: usize) -> &str {
        self.0.get(file).map_or("", |(_, text)| text)
    }
}

/// Everything that is wrong.
#[derive(Debug, Default)]
pub struct Troubles(Vec<(usize, Problem)>);

impl Troubles {
    /// Adds one at a place; the hint can be added to what comes back.
    pub fn at(&mut self, place: &Place, message: impl Into<String>, label: impl Into<String>) -> Hint<'_> {
        self.0.push((
            place.file,
            Problem {
                message: message.into(),
                label: label.into(),
                hint: None,
                span: Some(place.span.clone()),
                place: String::new(),
            },
        ));
        Hint(self)
    }

    /// Adds one about the whole file.
    pub fn whole(&mut self, message: impl Into<String>, hint: impl Into<String>) {
        self.0.push((
            0,
            Problem {
                message: message.into(),
                label: String::new(),
                hint: Some(hint.into()),
                span: None,
                place: String::new(),
            },
        ));
    }

    /// Whether there is any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As an error about the first file that has any: a fault in an included file would only be repeated by what uses it.
    pub fn into_error(mut self, files: &Files) -> LoadError {
        let file = self.0.iter().map(|(file, _)| *file).max().unwrap_or(0);
        self.0.retain(|(of, _)| *of == file);
        let mut problems: Vec<Problem> = self.0.into_iter().map(|(_, problem)| problem).collect();
        let (path, text) = files.0.get(file).cloned().unwrap_or_default();
        for problem in &mut problems {
            problem.span = problem.span.take().map(|span| within(&text, &span));
            problem.place = problem.span.as_ref().map_or_else(String::new, |span| keyword(&text, span.start));
        }
        problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        LoadError { what: "parameter file", path, text, problems }
    }
}

/// The keyword whose value stands at `at`, or that stands there itself.
fn keyword(text: &str, at: usize) -> String {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    // A value may be a list, with commas of its own: the keyword is the last word before an equals sign.
    let upto = text[at..].find(['=', ',', '\n']).map_or(text.len(), |end| at + end);
    let names_itself = text[upto..].starts_with('=');
    let end =
        if names_itself { upto } else { text[line..at].rfind('=').map_or(line, |equals| line + equals) };
    let start = text[line..end].rfind([',', ' ', '(']).map_or(line, |comma| line + comma + 1);
    text[start..end].trim().to_owned()
}

/// The span, moved outwards to whole characters of the text.
fn within(text: &str, span: &Range<usize>) -> Range<usize> {
    let mut start = span.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = span.end.clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

/// The problem that was just added.
pub struct Hint<'a>(&'a mut Troubles);

impl Hint<'_> {
    /// What to do about it.
    pub fn hint(self, hint: impl Into<String>) {
        if let Some((_, problem)) = self.0.0.last_mut() {
            problem.hint = Some(hint.into());
        }
    }
}
