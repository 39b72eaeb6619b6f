//! From the text of a parameter file to statements: lines, comments, continuations, variables, includes, quotes, lists.
//! (Vdbench Users Guide 5.04.07, "parameter file" syntax.)

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::trouble::{Files, Place, Troubles};

/// A file may include others, but not without end.
const DEEPEST_INCLUDE: usize = 16;

/// A piece of text and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The text, without quotes.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// `key=value` or `key=(value,value)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// What is set, as it was typed.
    pub key: Word,
    /// One value, or those of a list.
    pub values: Vec<Word>,
    /// Whether it was written in parentheses.
    pub list: bool,
}

impl Parameter {
    /// Where its values stand.
    pub fn place(&self) -> Place {
        let first = self.values.first().map_or(&self.key, |word| word);
        let last = self.values.last().unwrap_or(first);
        Place { file: first.place.file, span: first.place.span.start..last.place.span.end }
    }

    /// Its values as they were typed: `(4k,8k)`.
    pub fn text(&self) -> String {
        let values: Vec<&str> = self.values.iter().map(|word| word.text.as_str()).collect();
        if self.list { format!("({})", values.join(",")) } else { values.join(",") }
    }
}

/// One line, with what continues it: `sd=sd1,lun=/data/one,size=1g`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Never empty; the first names the kind.
    pub parameters: Vec<Parameter>,
}

/// A character and where it comes from: variables move the characters behind them.
type Char = (char, usize);

/// What the command line sets: `name=value`.
pub type Variables = [(String, String)];

/// Reads `text`, the file at `path`, and what it includes.
pub fn statements(
    path: &Path,
    text: String,
    variables: &Variables,
    files: &mut Files,
    troubles: &mut Troubles,
) -> Vec<Statement> {
    let mut lexer = Lexer { variables, files, troubles, statements: Vec::new() };
    lexer.file(path, text, 0);
    lexer.statements
}

struct Lexer<'a> {
    variables: &'a Variables,
    files: &'a mut Files,
    troubles: &'a mut Troubles,
    statements: Vec<Statement>,
}

impl Lexer<'_> {
    /// Returns whether the text ended with `eof`.
    fn file(&mut self, path: &Path, text: String, depth: usize) {
        let file = self.files.add(path, text);
        let text = self.files.text(file).to_owned();
        let mut logical: Vec<Char> = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let at = start;
            start += line.len();
            let body = line.trim_end_matches(['\n', '\r']);
            let content = body.trim_start();
            if content.is_empty() || content.starts_with(['/', '#', '*']) {
                continue;
            }
            if logical.is_empty() && content.split([' ', '\t']).next() == Some("eof") {
                break;
            }
            let at = at + body.len() - content.len();
            let chars = self.substituted(file, content, at);
            logical.extend(self.until_blank(file, chars));
            if logical.last().is_some_and(|(c, _)| *c == ',') {
                continue;
            }
            let line = std::mem::take(&mut logical);
            self.logical_line(file, path, &line, depth);
        }
        self.logical_line(file, path, &logical, depth);
    }

    /// Puts the values of `$variables` in.
    fn substituted(&mut self, file: usize, text: &str, start: usize) -> Vec<Char> {
        let mut chars = Vec::with_capacity(text.len());
        let mut rest = text.char_indices().peekable();
        while let Some((index, c)) = rest.next() {
            let after = &text[index + c.len_utf8()..];
            let names_one = after.starts_with(|next: char| next.is_ascii_alphabetic() || next == '_');
            if c != '$' || !names_one {
                chars.push((c, start + index));
                continue;
            }
            let fitting = self.variables.iter().filter(|(name, _)| after.starts_with(name.as_str()));
            if let Some((name, value)) = fitting.max_by_key(|(name, _)| name.len()) {
                chars.extend(value.chars().map(|c| (c, start + index)));
                (0..name.chars().count()).for_each(|_| {
                    rest.next();
                });
                continue;
            }
            let end = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
            let name = &after[..end];
            let place = Place::new(file, start + index..start + index + 1 + end);
            self.troubles
                .at(&place, format!("variable `${name}` has no value"), "no value")
                .hint(format!("give it one behind the file: `forebay vdbench -f FILE {name}=VALUE`"));
            chars.push((c, start + index));
        }
        chars
    }

    /// Everything behind the first blank is a comment, except in quotes.
    fn until_blank(&mut self, file: usize, chars: Vec<Char>) -> Vec<Char> {
        let mut quote = None;
        let mut kept = Vec::with_capacity(chars.len());
        for (c, at) in chars {
            match c {
                '"' => quote = if quote.is_some() { None } else { Some(at) },
                ' ' | '\t' if quote.is_none() => return kept,
                _ => {}
            }
            kept.push((c, at));
        }
        if let Some(at) = quote {
            self.troubles
                .at(&Place::new(file, at..at + 1), "a quote is opened and not closed", "opened here")
                .hint("close it with `\"` on the same line");
        }
        kept
    }

    fn logical_line(&mut self, file: usize, path: &Path, line: &[Char], depth: usize) {
        let parameters = self.parameters(file, line);
        let Some(first) = parameters.first() else { return };
        if first.key.text == "include" {
            let included = first.values[0].clone();
            return self.include(path, &included, depth);
        }
        self.statements.push(Statement { parameters });
    }

    fn include(&mut self, path: &Path, included: &Word, depth: usize) {
        let beside: PathBuf = path.parent().unwrap_or(Path::new("")).join(&included.text);
        if depth >= DEEPEST_INCLUDE {
            self.troubles
                .at(&included.place, format!("`{}` is included without end", included.text), "once more")
                .hint("a file must not include itself");
            return;
        }
        match std::fs::read_to_string(&beside) {
            Ok(text) => self.file(&beside, text, depth + 1),
            Err(error) => {
                let fault = fault::Fault::os("include", &beside, error);
                self.troubles
                    .at(&included.place, fault.message(), "not readable")
                    .hint("a name without a directory is looked for beside the file that includes it");
            }
        }
    }

    fn parameters(&mut self, file: usize, line: &[Char]) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        let mut at = 0;
        while at < line.len() {
            if line[at].0 == ',' {
                at += 1;
                continue;
            }
            match self.parameter(file, line, &mut at) {
                Some(parameter) => parameters.push(parameter),
                // What follows a slip of the keyboard hardly makes sense.
                None => return parameters,
            }
        }
        parameters
    }

    fn parameter(&mut self, file: usize, line: &[Char], at: &mut usize) -> Option<Parameter> {
        let start = *at;
        while *at < line.len() && !matches!(line[*at].0, '=' | ',' | '(' | ')' | '"') {
            *at += 1;
        }
        let key = word(file, &line[start..*at], line[start].1);
        if line.get(*at).is_none_or(|(c, _)| *c != '=') || key.text.is_empty() {
            let shown: String = line[start..].iter().map(|(c, _)| *c).take_while(|c| *c != ',').collect();
            self.troubles
                .at(
                    &Place::new(file, line[start].1..line[start].1 + shown.len().max(1)),
                    format!("`{shown}` is not `key=value`"),
                    "expected `key=value`",
                )
                .hint("a list of values stands in parentheses: `key=(one,two)`");
            return None;
        }
        *at += 1;
        let (values, list) = self.values(file, line, at, &key)?;
        Some(Parameter { key, values, list })
    }

    /// What stands behind `=`.
    fn values(
        &mut self,
        file: usize,
        line: &[Char],
        at: &mut usize,
        key: &Word,
    ) -> Option<(Vec<Word>, bool)> {
        let list = line.get(*at).is_some_and(|(c, _)| *c == '(');
        let opened = *at;
        if list {
            *at += 1;
        }
        let mut values = Vec::new();
        let (mut start, mut depth, mut quoted) = (*at, 0u32, false);
        loop {
            let next = line.get(*at).map(|(c, _)| *c);
            let ends = match next {
                Some('"') => {
                    quoted = !quoted;
                    false
                }
                Some(_) if quoted => false,
                Some('(') => {
                    depth += 1;
                    false
                }
                Some(')') if depth > 0 => {
                    depth -= 1;
                    false
                }
                None | Some(')') => true,
                Some(',') => depth == 0,
                Some(_) => false,
            };
            if ends {
                let end =
                    line.get(start).map_or_else(|| line.last().map_or(0, |(_, at)| at + 1), |(_, at)| *at);
                values.push(word(file, &line[start..*at], end));
                if next != Some(',') || !list {
                    break;
                }
                start = *at + 1;
            }
            *at += 1;
        }
        values.retain(|value| !value.text.is_empty());
        self.closed(file, line, at, (list, opened), key, !values.is_empty()).then_some((values, list))
    }

    /// Whether the value ended as it began.
    fn closed(
        &mut self,
        file: usize,
        line: &[Char],
        at: &mut usize,
        (list, opened): (bool, usize),
        key: &Word,
        some: bool,
    ) -> bool {
        let closes = line.get(*at).is_some_and(|(c, _)| *c == ')');
        if list != closes {
            let place = line.get(if list { opened } else { *at }).map_or(0, |(_, at)| *at);
            let what = if list { "opened and not closed" } else { "closed and not opened" };
            self.troubles
                .at(&Place::new(file, place..place + 1), format!("a parenthesis is {what}"), "this one")
                .hint(format!("write `{}=(one,two)`", key.text));
            return false;
        }
        if list {
            *at += 1;
        }
        if !some {
            self.troubles.at(&key.place, format!("`{}` has no value", key.text), "no value").hint(format!(
                "write `{}=VALUE`, without a blank: what follows a blank is a comment",
                key.text
            ));
            return false;
        }
        true
    }
}

/// The text of some characters, without quotes.
fn word(file: usize, chars: &[Char], empty_at: usize) -> Word {
    let text = chars.iter().map(|(c, _)| *c).filter(|c| *c != '"').collect();
    let span: Range<usize> = match (chars.first(), chars.last()) {
        (Some((_, first)), Some((c, last))) => *first..(*last + c.len_utf8()).max(*first),
        _ => empty_at..empty_at,
    };
    Word { text, place: Place { file, span } }
}
