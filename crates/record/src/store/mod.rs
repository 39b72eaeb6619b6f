//! Where run documents are kept: one JSON file per run in one directory.

mod read;
mod summary;
mod temporary;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::id::is_id;
use crate::run::RunRecord;
pub use summary::Summary;

const EXTENSION: &str = "json";
const REPORT_EXTENSION: &str = "html";

/// The run documents in one directory. The directory comes into being with the first save; until then it is an empty store.
#[derive(Debug, Clone)]
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// The store in `directory`, which need not exist yet.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self> {
        let directory = directory.into();
        match std::fs::metadata(&directory) {
            Ok(metadata) if !metadata.is_dir() => Err(Fault::os("use", &directory, Errno::NOTDIR)),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Fault::os("open", &directory, error))
            }
            _ => Ok(Self { directory }),
        }
    }

    /// Where runs are kept if nobody says otherwise: `$XDG_DATA_HOME/forebay/runs`, else `~/.local/share/forebay/runs`.
    pub fn default_dir() -> Result<PathBuf> {
        default_dir_from(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"))
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file that the run `id` has or would have.
    pub fn path_of(&self, id: &str) -> Result<PathBuf> {
        if is_id(id) { Ok(self.directory.join(id).with_extension(EXTENSION)) } else { Err(not_an_id(id)) }
    }

    /// Writes `record`, replacing an earlier state of the same run. Whatever happens, the file holds the earlier state or
    /// this one and never a part; once this returns, it survives a power cut. Returns the file's path.
    pub fn save(&self, record: &RunRecord) -> Result<PathBuf> {
        let path = self.path_of(&record.id)?;
        let text = serde_json::to_vec_pretty(record).map_err(|error| {
            Fault::new(Kind::Bug, format!("cannot write run `{}` as JSON: {error}", record.id))
                .caused_by(error)
        })?;
        std::fs::create_dir_all(&self.directory)
            .map_err(|error| Fault::os("create directory", &self.directory, error))?;
        let directory = self.handle()?;
        temporary::clean(&directory, &self.directory);
        temporary::replace(&directory, &path, &record.id, &text)?;
        Ok(path)
    }

    /// Writes the report of run `id` beside its document, as safely. Returns the file's path.
    pub fn save_report(&self, id: &str, html: &str) -> Result<PathBuf> {
        let path = self.path_of(id)?.with_extension(REPORT_EXTENSION);
        temporary::replace(&self.handle()?, &path, id, html.as_bytes())?;
        Ok(path)
    }

    /// The run that `reference` names: an id or the beginning of exactly one, `latest`, or a path to a JSON file
    /// (anything with a `/` or a dot, which ids never have).
    pub fn load(&self, reference: &str) -> Result<RunRecord> {
        if reference.contains(['/', '.']) {
            return read::record(Path::new(reference));
        }
        let id = if reference == "latest" { self.latest_id()? } else { self.resolve(reference)? };
        read::record(&self.path_of(&id)?)
    }

    /// The newest run that can be read.
    pub fn latest(&self) -> Result<RunRecord> {
        self.load("latest")
    }

    /// All runs, oldest first. A file that can't be read is in the list with the reason.
    pub fn list(&self) -> Result<Vec<Summary>> {
        let mut summaries: Vec<Summary> = self
            .ids()?
            .into_iter()
            .filter_map(|id| {
                let path = self.path_of(&id).ok()?;
                read::summary(id, &path)
            })
            .collect();
        summaries.sort_by(|a, b| a.order().cmp(&b.order()));
        Ok(summaries)
    }

    /// Removes the run `id` (a full id: nothing is removed by guessing), damaged or not, and the report beside it. Never
    /// touches another file.
    pub fn remove(&self, id: &str) -> Result<()> {
        let path = self.path_of(id)?;
        let unlinked = self.handle().and_then(|directory| {
            // A run may have no report: it can be written elsewhere, or not yet.
            let _ = rustix::fs::unlinkat(&directory, format!("{id}.{REPORT_EXTENSION}"), AtFlags::empty());
            rustix::fs::unlinkat(&directory, file_name(id), AtFlags::empty())
                .map_err(|error| Fault::os("remove", &path, error))?;
            temporary::sync(&directory, &self.directory)
        });
        unlinked.map_err(|fault| if fault.kind() == Kind::NotFound { no_run(id) } else { fault })
    }

    fn handle(&self) -> Result<rustix::fd::OwnedFd> {
        rustix::fs::open(&self.directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| Fault::os("open", &self.directory, error))
    }

    /// The id a full id or unique beginning stands for.
    pub fn resolve(&self, reference: &str) -> Result<String> {
        if !is_id(reference) {
            return Err(not_an_id(reference));
        }
        let mut ids = self.ids()?;
        ids.retain(|id| id.starts_with(reference));
        if let Some(exact) = ids.iter().find(|id| *id == reference) {
            return Ok(exact.clone());
        }
        match ids.as_slice() {
            [] => Err(no_run(reference)),
            [id] => Ok(id.clone()),
            [first, second, ..] => Err(Fault::new(
                Kind::Usage,
                format!("`{reference}` can mean {} runs, such as `{first}` and `{second}`", ids.len()),
            )
            .hint("give more of the id; `forebay runs list` shows them")),
        }
    }

    fn latest_id(&self) -> Result<String> {
        let newest = self.list()?.into_iter().rfind(|summary| summary.damaged.is_none());
        newest.map(|summary| summary.id).ok_or_else(|| {
            Fault::new(Kind::NotFound, format!("no runs in `{}`", self.directory.display()))
                .hint("run a test first (`forebay prove`, `forebay iotest`), or name the directory with `--runs-dir`")
        })
    }

    /// Ids of all files whose names are ids, sorted.
    fn ids(&self) -> Result<Vec<String>> {
        let entries = match std::fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Fault::os("read directory", &self.directory, error)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| Fault::os("read directory", &self.directory, error))?;
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".json")).filter(|id| is_id(id));
            ids.extend(id.map(str::to_owned));
        }
        ids.sort();
        Ok(ids)
    }
}

fn file_name(id: &str) -> String {
    format!("{id}.{EXTENSION}")
}

fn not_an_id(text: &str) -> Fault {
    Fault::new(Kind::Usage, format!("`{text}` is not a run id"))
        .hint("ids hold letters, digits and hyphens, such as 20261121-214226-3f9a1c; `forebay runs list` shows them")
}

fn no_run(id: &str) -> Fault {
    Fault::new(Kind::NotFound, format!("no run `{id}`")).hint("`forebay runs list` shows what there is")
}

/// Relative paths in `XDG_DATA_HOME` are to be ignored, says the XDG base directory specification.
fn default_dir_from(
    data_home: Option<std::ffi::OsString>,
    home: Option<std::ffi::OsString>,
) -> Result<PathBuf> {
    let absolute = |value: Option<std::ffi::OsString>| value.map(PathBuf::from).filter(|p| p.is_absolute());
    absolute(data_home)
        .or_else(|| absolute(home).map(|home| home.join(".local/share")))
        .map(|data| data.join("forebay/runs"))
        .ok_or_else(|| {
            Fault::new(Kind::NotFound, "no home directory to keep run records in")
                .hint("set HOME, or name a directory with `--runs-dir`")
        })
}
