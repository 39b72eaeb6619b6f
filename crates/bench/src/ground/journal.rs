use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use fault::{Fault, Kind, Result};
use host::System;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, openat};
use serde::{Deserialize, Serialize};

/// Name of the journal in a run directory.
pub const JOURNAL: &str = ".forebay-journal.json";
const VERSION: u32 = 1;

/// Whose directory this is, and what names may be in it. Written and durable before anything else is created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    /// Version of this layout.
    pub version: u32,
    /// Run.
    pub run: String,
    /// Host the run is on.
    pub host: String,
    /// Boot of that host.
    pub boot_id: String,
    /// Process.
    pub process: u32,
    /// When that process started (clock ticks since boot), since numbers are used again.
    pub process_start: u64,
    /// First part of the names of items.
    pub item_prefix: String,
    /// What the run makes beside this directory, under names that somebody chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<NamedEntries>,
}

/// Entries of a run in the target itself. None of them was there when this was written, but for files that the run was told
/// to replace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedEntries {
    /// Regular files.
    pub files: Vec<String>,
    /// Directories that hold some of these files and nothing else.
    pub directories: Vec<String>,
    /// Directories with everything in them that has one of mdtest's names.
    pub trees: Vec<String>,
}

impl NamedEntries {
    /// Whether both claim something of the same name.
    pub fn overlaps(&self, other: &Self) -> bool {
        let any = |one: &[String], other: &[String]| one.iter().any(|name| other.contains(name));
        any(&self.files, &other.files) || any(&self.trees, &other.trees)
    }
}

impl Journal {
    /// The journal of a run of this process.
    pub fn ours(run: &str, item_prefix: &str) -> Self {
        let system = System::here();
        let process = std::process::id();
        Self {
            version: VERSION,
            run: run.to_owned(),
            host: system.hostname(),
            boot_id: system.boot_id(),
            process,
            process_start: system.process_start(process).unwrap_or(0),
            item_prefix: item_prefix.to_owned(),
            named: None,
        }
    }

    /// Writes and locks it. The returned file holds the lock for as long as it is open.
    pub fn write(&self, directory: &impl AsFd, path: &Path) -> Result<OwnedFd> {
        let path = path.join(JOURNAL);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(directory, JOURNAL, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| Fault::os("write the journal", &path, error))?;
        // File systems without locks still have the process number in the journal.
        let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
        let text = serde_json::to_vec(self)
            .map_err(|error| Fault::new(Kind::Bug, format!("cannot express the journal: {error}")))?;
        let mut file = std::fs::File::from(file);
        file.write_all(&text)
            .and_then(|()| file.sync_all())
            .map_err(|error| Fault::os("write the journal", &path, error))?;
        Ok(file.into())
    }

    /// Reads the journal in a run directory, without locking it; the first is `None` if it is damaged.
    pub fn read(directory: &impl AsFd, path: &Path) -> Result<(Option<Self>, OwnedFd)> {
        let path = path.join(JOURNAL);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(directory, JOURNAL, flags, Mode::empty())
            .map_err(|error| Fault::os("read the journal", &path, error))?;
        let mut file = std::fs::File::from(file);
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(|error| Fault::os("read the journal", &path, error))?;
        Ok((Self::parse(&text), file.into()))
    }

    /// Reads a journal; `None` if it is damaged or of a version we don't know.
    pub fn parse(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok().filter(|journal: &Self| journal.version == VERSION)
    }
}
