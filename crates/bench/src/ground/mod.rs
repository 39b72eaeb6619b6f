//! The ground a run stands on: one fresh directory in the target, in which everything is created, with a journal that
//! says whose it is. What a dead run leaves behind can be told from everything else, and removed.

mod clean;
mod journal;
mod names;
mod several;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, unlinkat};
use rustix::io::Errno;

pub use clean::{CleanOptions, CleanReport, Leftover, Owner, clean, leftovers};
pub use journal::{JOURNAL, Journal};
pub use names::{MARKER, Names, PREFIX};
pub use several::Grounds;

/// How often a fresh directory is tried again when somebody removes it under our feet.
const ATTEMPTS: u32 = 3;

/// A run's own directory in the target.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    directory: OwnedFd,
    names: Names,
    /// Held open: its lock tells others that the run is alive.
    _journal: OwnedFd,
}

impl RunDirectory {
    /// Makes a fresh directory for run `id` in `target` and writes its journal.
    pub fn create(target: &Path, id: &str, item_prefix: &str) -> Result<Self> {
        let parent = open_target(target)?;
        let journal = Journal::ours(id, item_prefix);
        let mut last = None;
        for attempt in 0..ATTEMPTS {
            let name = if attempt == 0 { format!("{PREFIX}{id}") } else { format!("{PREFIX}{id}-{attempt}") };
            let path = target.join(&name);
            match mkdirat(&parent, &name, Mode::RWXU) {
                Ok(()) => {}
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(Fault::os("make a run directory in", target, error)),
            }
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
            let opened =
                openat(&parent, &name, flags, Mode::empty()).map_err(|e| Fault::os("open", &path, e));
            match opened.and_then(|directory| Ok((journal.write(&directory, &path)?, directory))) {
                Ok((lock, directory)) => {
                    return Ok(Self { path, directory, names: Names::new(item_prefix), _journal: lock });
                }
                Err(fault) => {
                    // Nothing but our own journal can be in it.
                    clean::discard(&parent, &name);
                    last = Some(fault);
                }
            }
        }
        Err(last.unwrap_or_else(|| {
            Fault::new(
                Kind::Refused,
                format!("a directory of run `{id}` exists in `{}` already", target.display()),
            )
            .hint("wait a second and run again")
        }))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a directory below it; one that is there already is fine.
    pub fn make_directory(&self, name: &str) -> rustix::io::Result<()> {
        match mkdirat(&self.directory, name, Mode::RWXU) {
            Err(Errno::EXIST) => Ok(()),
            made => made,
        }
    }

    /// Opens a file below it, following no symlink and never leaving the directory.
    pub fn open(&self, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        open_beneath(self.directory.as_fd(), name, flags)
    }

    /// The directory itself, for operations relative to it.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Removes a file; one that is gone already is fine.
    pub fn remove_file(&self, name: &str) -> Result<()> {
        match unlinkat(&self.directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(Fault::os("remove", &self.path.join(name), error)),
        }
    }

    /// Removes everything the run created, but not the directory and its journal.
    pub fn empty(&self) -> Result<()> {
        let mut report = CleanReport::default();
        clean::remove_contents(&self.directory, &self.path, &self.names, false, &mut report);
        report.into_result()
    }

    /// Removes everything the run created, and the directory. Whatever else somebody put there stays, and is named.
    pub fn remove(self) -> Result<()> {
        self.empty()?;
        let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) else { return Ok(()) };
        let parent = open_target(parent)?;
        // The journal goes last: a kill before this still leaves a directory that `forebay clean` knows.
        self.remove_file(JOURNAL)?;
        match unlinkat(&parent, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(Fault::os("remove", &self.path, error)),
        }
    }
}

/// Opens the target directory itself; here a symlink is the user's choice.
pub fn open_target(target: &Path) -> Result<OwnedFd> {
    rustix::fs::open(target, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| Fault::os("use target", target, error))
}

fn open_beneath(directory: BorrowedFd<'_>, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = if flags.contains(OFlags::CREATE) { Mode::RUSR | Mode::WUSR } else { Mode::empty() };
    match openat2(directory, name, flags, mode, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS) {
        // Kernels before 5.6, and sandboxes that forbid it. The directory is ours alone (mode 0700) and fresh.
        Err(Errno::NOSYS | Errno::PERM) => openat(directory, name, flags, mode),
        result => result,
    }
}

#[cfg(test)]
mod tests;
