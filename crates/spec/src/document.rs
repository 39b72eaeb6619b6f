use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use fault::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::Bytes;

use crate::places::Places;
use crate::problem::{LoadError, Problem};
use crate::reading::Reading;
use crate::{Constraints, Grid, Storage, Sweep, Test, rules};

/// Version of the spec format this program reads.
pub const VERSION: u32 = 1;

/// Nothing that people write by hand is larger; it keeps `/dev/zero` from filling the memory.
const LARGEST_FILE: u64 = 1 << 20;

const INIT_HINT: &str = "`forebay init` writes one with comments";

/// A spec file: what a grid needs from its storage, and how to find out whether it gets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Version of this format: 1.
    #[schemars(extend("const" = 1), example = 1)]
    pub version: u32,
    /// The compute side.
    pub grid: Grid,
    /// What the grid needs from each file system; at least one.
    #[schemars(length(min = 1))]
    pub storage: Vec<Storage>,
    /// What a design may use.
    #[serde(default)]
    pub constraints: Constraints,
    /// The tests that judge the storage, in the order they run.
    #[serde(default)]
    pub test: Vec<Test>,
    /// Tests at every combination of some settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<Sweep>,
}

impl Spec {
    /// The storage with this name.
    pub fn storage_named(&self, name: &str) -> Option<&Storage> {
        self.storage.iter().find(|storage| storage.name == name)
    }

    /// The storage a test judges: the named one, or the only one.
    pub fn storage_of(&self, test: &Test) -> Option<&Storage> {
        match (&test.storage, self.storage.as_slice()) {
            (Some(name), _) => self.storage_named(name),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }

    /// Bytes of one I/O call of a test: its own, or the I/O size of the storage it judges.
    pub fn transfer_size(&self, test: &Test) -> Bytes {
        let io_size = || self.storage_of(test).map_or(crate::DEFAULT_IO_SIZE, |storage| storage.io_size);
        test.transfer_size.unwrap_or_else(io_size)
    }
}

/// A spec with the text it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// What it says.
    pub spec: Spec,
}

impl Document {
    /// A path written in the spec; relative ones start at the directory of the spec file.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        resolve(&self.path, path)
    }
}

/// Reads the spec at `path`. Workload files it names must exist.
pub fn load(path: &Path) -> Result<Document, LoadError> {
    let text = read_text(path).map_err(|problem| LoadError {
        what: "spec",
        path: path.to_owned(),
        text: String::new(),
        problems: vec![problem],
    })?;
    read(path, text, workload_files)
}

/// Reads a spec from `text`; `path` is where it came from, for messages and relative paths.
pub fn parse(path: impl AsRef<Path>, text: impl Into<String>) -> Result<Document, LoadError> {
    read(path.as_ref(), text.into(), |_, _, _| Vec::new())
}

/// Checks beyond the text, given the spec file's path.
type Outside = fn(&Path, &Spec, &Places) -> Vec<Problem>;

fn read(path: &Path, text: String, outside: Outside) -> Result<Document, LoadError> {
    match understand(path, &text, outside) {
        Ok(spec) => Ok(Document { path: path.to_owned(), text, spec }),
        Err(mut problems) => {
            problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
            Err(LoadError { what: "spec", path: path.to_owned(), text, problems })
        }
    }
}

fn understand(path: &Path, text: &str, outside: Outside) -> Result<Spec, Vec<Problem>> {
    if text.trim().is_empty() {
        return Err(vec![Problem::new("the file is empty", "empty").hint(INIT_HINT)]);
    }
    let mut tree = DeTable::parse(text).map_err(|error| vec![syntax(text, &error)])?;
    if let Some(problem) = other_version(tree.get_ref()) {
        return Err(vec![problem]);
    }
    let Reading { places, mut problems, .. } = Reading::of(&mut tree);
    match Spec::deserialize(toml::Deserializer::from(tree)) {
        Ok(spec) => {
            problems.extend(rules::check(&spec, &places));
            problems.extend(outside(path, &spec, &places));
            if problems.is_empty() { Ok(spec) } else { Err(problems) }
        }
        Err(error) if problems.is_empty() => Err(vec![syntax(text, &error)]),
        Err(_) => Err(problems),
    }
}

/// A file of another version is not held against the keys of this one.
fn other_version(tree: &DeTable<'_>) -> Option<Problem> {
    let value: &Spanned<DeValue<'_>> = tree.get("version")?;
    let number = value.get_ref().as_integer()?;
    let known = u32::from_str_radix(number.as_str(), number.radix()) == Ok(VERSION);
    (!known).then(|| {
        Problem::new(format!("version {number} of the spec format is not known"), "not known")
            .hint(format!("this program reads version {VERSION}"))
            .at("version", Some(value.span()))
    })
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

fn read_text(path: &Path) -> Result<String, Problem> {
    let os = |error: std::io::Error| {
        let missing = error.kind() == std::io::ErrorKind::NotFound;
        let fault = Fault::os("open", path, error);
        let hint = if missing { Some(INIT_HINT) } else { fault.hint_text() };
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
        return Err(Problem::new(message, "").hint("is this the spec?"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].split(|byte| *byte == b'\n').count();
        let message = format!("line {line} is not UTF-8 text");
        Problem::new(message, "").hint("TOML is UTF-8; save the file in this encoding")
    })
}

fn workload_files(path: &Path, spec: &Spec, places: &Places) -> Vec<Problem> {
    let missing = spec.test.iter().enumerate().filter_map(|(index, test)| {
        let file = resolve(path, test.workload.as_ref()?);
        (!file.is_file()).then(|| (format!("test[{index}].workload"), file))
    });
    missing
        .map(|(place, file)| {
            let span = places.value(&place);
            Problem::new(format!("there is no workload file `{}`", file.display()), "no such file")
                .hint("relative paths start at the directory of the spec file")
                .at(place, span)
        })
        .collect()
}

fn resolve(spec: &Path, path: &Path) -> PathBuf {
    spec.parent().unwrap_or(Path::new("")).join(path)
}
