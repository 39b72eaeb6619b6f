//! Reading any file that people write in TOML: every problem at once, each with its place.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use fault::Fault;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::Bytes;

use crate::places::Places;
use crate::problem::{LoadError, Problem};
use crate::reading::Reading;
use crate::schema::schema_of;
use crate::shape::Shape;

/// Nothing that people write by hand is larger; it keeps `/dev/zero` from filling the memory.
const LARGEST_FILE: u64 = 1 << 20;

/// A kind of file that people write, and its shape.
#[derive(Debug)]
pub struct Form {
    what: &'static str,
    version: u32,
    /// Where somebody without such a file gets one.
    origin: &'static str,
    shape: Shape,
}

impl Form {
    /// Files called `what` that have the shape of `T`, in this version; `origin` says where to get one.
    pub fn of<T: JsonSchema>(what: &'static str, version: u32, origin: &'static str) -> Self {
        Self { what, version, origin, shape: Shape::from_schema(&schema_of::<T>(what)) }
    }

    /// The text of the file at `path`.
    pub fn read(&self, path: &Path) -> Result<String, LoadError> {
        self.read_text(path).map_err(|problem| self.error(path, String::new(), vec![problem]))
    }

    /// What is wrong with a file, in the order of its text.
    pub fn error(&self, path: &Path, text: String, mut problems: Vec<Problem>) -> LoadError {
        problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        LoadError { what: self.what, path: path.to_owned(), text, problems }
    }

    /// What the text says. `arrange` may write short forms out before the text is held against the shape; `rules` are
    /// checked when every single value is right.
    pub fn understand<T: DeserializeOwned>(
        &self,
        text: &str,
        arrange: impl FnOnce(&mut DeTable<'_>),
        rules: impl FnOnce(&T, &Places) -> Vec<Problem>,
    ) -> Result<T, Vec<Problem>> {
        if text.trim().is_empty() {
            return Err(vec![Problem::new("the file is empty", "empty").hint(self.origin)]);
        }
        let mut tree = DeTable::parse(text).map_err(|error| vec![syntax(text, &error)])?;
        if let Some(problem) = self.other_version(tree.get_ref()) {
            return Err(vec![problem]);
        }
        arrange(tree.get_mut());
        let Reading { places, mut problems, .. } = Reading::of(&self.shape, self.version, &mut tree);
        match T::deserialize(toml::Deserializer::from(tree)) {
            Ok(value) => {
                problems.extend(rules(&value, &places));
                if problems.is_empty() { Ok(value) } else { Err(problems) }
            }
            Err(error) if problems.is_empty() => Err(vec![syntax(text, &error)]),
            Err(_) => Err(problems),
        }
    }

    /// A file of another version is not held against the keys of this one.
    fn other_version(&self, tree: &DeTable<'_>) -> Option<Problem> {
        let value: &Spanned<DeValue<'_>> = tree.get("version")?;
        let number = value.get_ref().as_integer()?;
        let known = u32::from_str_radix(number.as_str(), number.radix()) == Ok(self.version);
        (!known).then(|| {
            let message = format!("version {number} of the {} format is not known", self.what);
            Problem::new(message, "not known")
                .hint(format!("this program reads version {}", self.version))
                .at("version", Some(value.span()))
        })
    }

    fn read_text(&self, path: &Path) -> Result<String, Problem> {
        let os = |error: std::io::Error| {
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            let fault = Fault::os("open", path, error);
            let hint = if missing { Some(self.origin) } else { fault.hint_text() };
            let problem = Problem::new(fault.message(), "");
            match hint {
                Some(hint) => problem.hint(hint),
                None => problem,
            }
        };
        if path.is_dir() {
            let hint = format!("name the file in it, such as `{}`", path.join("grid.toml").display());
            return Err(Problem::new("this is a directory", "").hint(hint));
        }
        let mut bytes = Vec::new();
        File::open(path).map_err(os)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(os)?;
        if bytes.len() as u64 > LARGEST_FILE {
            let message = format!("the file is larger than {}", Bytes::new(LARGEST_FILE));
            return Err(Problem::new(message, "").hint(format!("is this the {}?", self.what)));
        }
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].split(|byte| *byte == b'\n').count();
            let message = format!("line {line} is not UTF-8 text");
            Problem::new(message, "").hint("TOML is UTF-8; save the file in this encoding")
        })
    }
}

/// What the TOML parser says, with hints for the slips people make.
fn syntax(text: &str, error: &toml::de::Error) -> Problem {
    let (message, expected) = error.message().split_once(", expected ").unwrap_or((error.message(), ""));
    let problem = Problem::new(format!("not valid TOML: {}", message.trim_end()), "here");
    let marked = error.span().and_then(|span| text.get(span)).unwrap_or_default();
    let problem = match message {
        "duplicate key" => problem.hint("a key may appear once in its section"),
        "string values must be quoted" => problem.hint(format!("put it in quotes: `\"{marked}\"`")),
        _ if expected.is_empty() => problem,
        _ => problem.hint(format!("expected {expected}")),
    };
    problem.at("", error.span())
}
