//! The ground a run stands on: one fresh directory in the target, in which everything is created, with a journal that
//! says whose it is. What a dead run leaves behind can be told from everything else, and removed.
//!
//! Where a workload says what its entries are called, they stand in the target itself, and the run directory beside them
//! holds only the journal, which names them.

mod claim;
mod clean;
mod journal;
mod names;
mod run_directory;
mod several;
mod site;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use rustix::fs::{Mode, OFlags, ResolveFlags, mkdirat, openat, openat2};
use rustix::io::Errno;

pub use claim::Claim;
pub use clean::{CleanOptions, CleanReport, Leftover, Owner, clean, leftovers};
pub use journal::{JOURNAL, Journal, NamedEntries};
pub use names::{MARKER, Names, PREFIX};
use run_directory::RunDirectory;
pub use several::Grounds;
pub use site::Site;

/// Where entries of a run are in one target.
#[derive(Debug)]
pub struct Ground {
    standing: Standing,
}

#[derive(Debug)]
enum Standing {
    /// Everything is in the run's own directory.
    Fresh(RunDirectory),
    /// Entries are in the target, under names that somebody chose. The run directory is there when something is made.
    Named { path: PathBuf, directory: OwnedFd, claim: Claim, journal: Option<RunDirectory> },
}

impl Ground {
    /// Makes a fresh directory for run `id` in `target` and writes its journal.
    pub fn fresh(target: &Path, id: &str, item_prefix: &str) -> Result<Self> {
        let journal = Journal::ours(id, item_prefix);
        Ok(Self { standing: Standing::Fresh(RunDirectory::create(target, id, &journal)?) })
    }

    /// Stands in `target` itself and makes ready what is in the way of `claim`. The journal is durable before anything
    /// changes.
    pub fn named(target: &Path, id: &str, claim: Claim) -> Result<Self> {
        let directory = open_target(target)?;
        clean::forget(target, &claim.entries())?;
        let journal = match claim.to_journal() {
            Some(named) => {
                let journal = Journal { named: Some(named), ..Journal::ours(id, "") };
                Some(RunDirectory::create(target, id, &journal)?)
            }
            None => None,
        };
        let path = target.to_owned();
        if let Err(fault) = claim.make_ready(&directory, &path) {
            // What was made is removed; what was there before is not touched by this.
            let _ = claim.remove(&directory, &path, true);
            let _ = journal.map_or(Ok(()), RunDirectory::remove);
            return Err(fault);
        }
        Ok(Self { standing: Standing::Named { path, directory, claim, journal } })
    }

    /// Where it is, for other processes of the run.
    pub fn site(&self) -> Result<Site> {
        let of = |run: &RunDirectory| -> Result<_> {
            let (journal, _) = Journal::read(&run.as_fd(), run.path())?;
            Ok((run.path().to_owned(), journal))
        };
        let (run, named) = match &self.standing {
            Standing::Fresh(run) => (Some(of(run)?), false),
            Standing::Named { journal, .. } => (journal.as_ref().map(of).transpose()?, true),
        };
        Ok(Site { target: self.target().to_owned(), run, named })
    }

    /// Goes to where another process of the run stands.
    pub fn join(site: &Site) -> Result<Self> {
        let run = match &site.run {
            Some((path, Some(journal))) => Some(RunDirectory::join(path, journal)?),
            _ => None,
        };
        let standing = match (site.named, run) {
            (false, Some(run)) => Standing::Fresh(run),
            (true, journal) => Standing::Named {
                path: site.target.clone(),
                directory: open_target(&site.target)?,
                claim: Claim::default(),
                journal,
            },
            (false, None) => {
                return Err(Fault::new(
                    Kind::Corrupt,
                    "another process of the run made a directory without a journal",
                ));
            }
        };
        Ok(Self { standing })
    }

    /// The directory that entries are named in.
    pub fn path(&self) -> &Path {
        match &self.standing {
            Standing::Fresh(run) => run.path(),
            Standing::Named { path, .. } => path,
        }
    }

    /// The target.
    pub fn target(&self) -> &Path {
        match &self.standing {
            Standing::Fresh(run) => run.path().parent().unwrap_or(run.path()),
            Standing::Named { path, .. } => path,
        }
    }

    /// What is claimed where names are somebody else's.
    pub fn claim(&self) -> Option<&Claim> {
        match &self.standing {
            Standing::Fresh(_) => None,
            Standing::Named { claim, .. } => Some(claim),
        }
    }

    /// Permissions of the files it makes: those of a run directory are its own, named ones what the umask leaves.
    pub fn file_mode(&self) -> Mode {
        match self.standing {
            Standing::Fresh(_) => Mode::RUSR | Mode::WUSR,
            Standing::Named { .. } => Mode::from_raw_mode(0o664),
        }
    }

    /// The same for directories.
    pub fn directory_mode(&self) -> Mode {
        match self.standing {
            Standing::Fresh(_) => Mode::RWXU,
            Standing::Named { .. } => Mode::from_raw_mode(0o777),
        }
    }

    /// Makes a directory below it; one that is there already is fine.
    pub fn make_directory(&self, name: &str) -> rustix::io::Result<()> {
        match mkdirat(self.as_fd(), name, self.directory_mode()) {
            Err(Errno::EXIST) => Ok(()),
            made => made,
        }
    }

    /// Opens a file below it, following no symlink and never leaving the directory.
    pub fn open(&self, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        open_beneath(self.as_fd(), name, flags, self.file_mode())
    }

    /// The run's own directory, for what nobody names: the mark that finds look for what is newer than.
    pub fn own(&self) -> BorrowedFd<'_> {
        match &self.standing {
            Standing::Fresh(run) | Standing::Named { journal: Some(run), .. } => run.as_fd(),
            Standing::Named { directory, .. } => directory.as_fd(),
        }
    }

    /// The directory itself, for operations relative to it.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.standing {
            Standing::Fresh(run) => run.as_fd(),
            Standing::Named { directory, .. } => directory.as_fd(),
        }
    }

    /// Says in the journal that the run was alive now.
    pub fn beat(&self) {
        if let Standing::Named { journal: Some(run), .. } = &self.standing {
            run.beat();
        }
    }

    /// Removes everything the run made, and its directory. Whatever else somebody put there stays, and is named. With
    /// `keep`, entries under names that somebody chose stay.
    pub fn remove(self, keep: bool) -> Result<()> {
        match self.standing {
            Standing::Fresh(run) => run.remove(),
            Standing::Named { path, directory, claim, journal } => {
                let removed = claim.remove(&directory, &path, !keep);
                // The journal goes last, and only when it has nothing more to tell.
                removed.and_then(|()| journal.map_or(Ok(()), RunDirectory::remove))
            }
        }
    }
}

/// Opens the target directory itself; here a symlink is the user's choice.
pub fn open_target(target: &Path) -> Result<OwnedFd> {
    rustix::fs::open(target, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| Fault::os("use target", target, error))
}

/// Opens `name` below `directory` without following any symlink.
fn open_beneath(
    directory: BorrowedFd<'_>,
    name: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = if flags.contains(OFlags::CREATE) { mode } else { Mode::empty() };
    match openat2(directory, name, flags, mode, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS) {
        // Kernels before 5.6, and sandboxes that forbid it. A run directory is ours alone (mode 0700) and fresh.
        Err(Errno::NOSYS | Errno::PERM) => openat(directory, name, flags, mode),
        result => result,
    }
}

#[cfg(test)]
mod tests;
