//! The one door to `/proc` and `/sys`: every fact is read below a root, so that a saved tree answers as a live host does.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fault::Result;

use crate::{Environment, block_device, client, network};

/// A Linux system as its `/proc` and `/sys` show it: the running one, or a copy of these trees below some directory.
///
/// Files that are missing or garbled make a fact unknown (empty, zero, `None`), never an error.
#[derive(Debug, Clone)]
pub struct System {
    root: PathBuf,
}

impl System {
    /// The system this process runs on.
    pub fn here() -> Self {
        Self { root: PathBuf::from("/") }
    }

    /// A system saved below `root` (`root/proc/…`, `root/sys/…`). Paths given to it are taken as written: nothing of the
    /// running system is asked about them, so file systems have no sizes.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self { root: fs::canonicalize(&root).unwrap_or(root) }
    }

    /// Everything a run's record says about this host and, if given, the storage below `target`.
    /// Fails only when `target` cannot be looked at.
    pub fn environment(&self, target: Option<&Path>) -> Result<Environment> {
        let target = target.map(|path| self.mount_of(path)).transpose()?;
        Ok(Environment {
            hostname: self.hostname(),
            kernel: self.kernel(),
            operating_system: self.operating_system(),
            machine: self.machine(),
            cpu: self.cpu(),
            memory: self.memory(),
            clock_source: self.clock_source(),
            devices: target.as_ref().map(|mount| block_device::below(self, mount)).unwrap_or_default(),
            interfaces: network::interfaces(self),
            client_parameters: target
                .as_ref()
                .map(|mount| client::parameters(self, mount))
                .unwrap_or_default(),
            target,
        })
    }

    /// Whether questions about paths may be put to the running kernel.
    pub(crate) fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Where the absolute `path` of this system really is.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// A file's text without surrounding white space; `None` if it can't be read.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = fs::read(self.path(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// A file that holds one number.
    pub(crate) fn number<N: FromStr>(&self, path: impl AsRef<Path>) -> Option<N> {
        self.text(path)?.parse().ok()
    }

    /// Names in a directory, sorted; none if it can't be read.
    pub(crate) fn names(&self, directory: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(directory)) else { return Vec::new() };
        let mut names: Vec<_> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Whether this system has something at `path`.
    pub(crate) fn has(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).exists()
    }

    /// The absolute path behind all symbolic links, as this system names it.
    pub(crate) fn resolve(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let real = fs::canonicalize(self.path(path)).ok()?;
        Some(Path::new("/").join(real.strip_prefix(&self.root).ok()?))
    }

    /// The last name of what a symbolic link points to, whether or not that exists.
    pub(crate) fn link_name(&self, path: impl AsRef<Path>) -> Option<String> {
        let link = fs::read_link(self.path(path)).ok()?;
        Some(link.file_name()?.to_string_lossy().into_owned())
    }
}
