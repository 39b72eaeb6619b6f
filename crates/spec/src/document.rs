use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::form::Form;
use crate::places::Places;
use crate::problem::{LoadError, Problem};
use crate::{Constraints, Grid, Storage, Sweep, Test, rules};

/// Version of the spec format this program reads.
pub const VERSION: u32 = 1;

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
    read(path, form().read(path)?, workload_files)
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
        Err(problems) => Err(form().error(path, text, problems)),
    }
}

fn understand(path: &Path, text: &str, outside: Outside) -> Result<Spec, Vec<Problem>> {
    form().understand(
        text,
        |_| {},
        |spec, places| {
            let mut problems = rules::check(spec, places);
            problems.extend(outside(path, spec, places));
            problems
        },
    )
}

fn form() -> &'static Form {
    static FORM: LazyLock<Form> = LazyLock::new(|| Form::of::<Spec>("spec", VERSION, INIT_HINT));
    &FORM
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
