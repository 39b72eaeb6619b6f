use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use rustix::fs::{
    AtFlags, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, futimens, mkdirat, openat, unlinkat,
};
use rustix::io::Errno;

use super::clean::{self, CleanReport};
use super::journal::{JOURNAL, Journal};
use super::{PREFIX, open_target};

/// How often a fresh directory is tried again when somebody removes it under our feet.
const ATTEMPTS: u32 = 3;

/// A run's own directory in the target.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    directory: OwnedFd,
    item_prefix: String,
    /// Held open: its lock tells others that the run is alive.
    journal: OwnedFd,
}

impl RunDirectory {
    /// Makes a fresh directory for run `id` in `target` and writes its journal.
    pub fn create(target: &Path, id: &str, journal: &Journal) -> Result<Self> {
        let parent = open_target(target)?;
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
                    return Ok(Self {
                        path,
                        directory,
                        item_prefix: journal.item_prefix.clone(),
                        journal: lock,
                    });
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

    /// Goes to a directory that another process of the run made: its journal must be there, word for word.
    pub fn join(path: &Path, journal: &Journal) -> Result<Self> {
        let parent = open_target(path.parent().unwrap_or(path))?;
        let name = path.file_name().unwrap_or_default();
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let directory =
            openat(&parent, name, flags, Mode::empty()).map_err(|error| Fault::os("open", path, error))?;
        let (found, file) = Journal::read(&directory, path)?;
        if found.as_ref() != Some(journal) {
            let message = format!("`{}` is not the directory that the run made", path.display());
            return Err(Fault::new(Kind::Refused, message));
        }
        Ok(Self { path: path.to_owned(), directory, item_prefix: journal.item_prefix.clone(), journal: file })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory itself, for operations relative to it.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Gives the journal the time of now, by the clock that also gives the run's files theirs.
    pub fn beat(&self) {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        // Where it fails, fewer files of a dead run are taken for its own.
        let _ = futimens(&self.journal, &Timestamps { last_access: now, last_modification: now });
    }

    /// Removes everything the run created in it, and the directory. Whatever else somebody put there stays, and is named.
    pub fn remove(self) -> Result<()> {
        let mut report = CleanReport::default();
        clean::remove_contents(&self.directory, &self.path, &self.item_prefix, false, &mut report);
        report.into_result()?;
        let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) else { return Ok(()) };
        let parent = open_target(parent)?;
        // The journal goes last: a kill before this still leaves a directory that `forebay clean` knows.
        let journal = unlinkat(&self.directory, JOURNAL, AtFlags::empty());
        let removed = match journal {
            Ok(()) | Err(Errno::NOENT) => unlinkat(&parent, name, AtFlags::REMOVEDIR),
            failed => failed,
        };
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(Fault::os("remove", &self.path, error)),
        }
    }
}
