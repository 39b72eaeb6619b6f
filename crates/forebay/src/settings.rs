//! What the command line and the environment decide for every command: a flag wins over the environment, the
//! environment over the default.

use std::path::{Path, PathBuf};

use catalog::Catalog;
use console::Format;
use record::Store;

use crate::cli::Global;

/// The settings every command sees.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How results are written.
    pub format: Format,
    /// Only results and errors.
    pub quiet: bool,
    /// How often `-v` was given.
    pub verbosity: u8,
    /// The command line as it was typed, for the record.
    pub command: Vec<String>,
    runs_dir: Option<PathBuf>,
}

impl Settings {
    /// Settings from the global flags (clap has read the environment into them).
    pub fn new(global: &Global, command: Vec<String>) -> Self {
        Self {
            format: global.format.into(),
            quiet: global.quiet,
            verbosity: global.verbose,
            command,
            runs_dir: global.runs_dir.clone(),
        }
    }

    /// Where run records are kept: `--runs-dir`, `FOREBAY_RUNS_DIR`, or the user's data directory.
    pub fn store(&self) -> fault::Result<Store> {
        match &self.runs_dir {
            Some(dir) => Store::open(dir),
            None => Store::open(Store::default_dir()?),
        }
    }

    /// The facts to plan with: the built-in catalog, with `dir` on top, or else with the directory `catalog` beside where
    /// run records are kept, if there is one.
    pub fn catalog(dir: Option<&Path>) -> fault::Result<Catalog> {
        match dir.map(Path::to_owned).or_else(users_catalog) {
            Some(dir) => Catalog::load(&dir),
            None => Catalog::embedded(),
        }
    }
}

impl Settings {
    /// Where new facts are written: `dir`, or the directory `catalog` beside where run records are kept.
    pub fn overlay(dir: Option<&Path>) -> fault::Result<PathBuf> {
        match dir {
            Some(dir) => Ok(dir.to_owned()),
            None => Ok(Store::default_dir()?.with_file_name("catalog")),
        }
    }

    /// The facts with those of an overlay that need not be there yet.
    pub fn catalog_with(overlay: &Path) -> fault::Result<Catalog> {
        if overlay.exists() { Catalog::load(overlay) } else { Catalog::embedded() }
    }
}

/// The user's own overlay, if there is one.
fn users_catalog() -> Option<PathBuf> {
    let runs = Store::default_dir().ok()?;
    Some(runs.parent()?.join("catalog")).filter(|dir| dir.is_dir())
}
