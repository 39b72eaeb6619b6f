//! Removing what the source no longer has: after all copies, counted before the first, and never more than allowed.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use fault::{Fault, Kind as FaultKind};
use rustix::fs::{AtFlags, Mode, mkdirat, renameat, unlinkat};
use store::{Errno, Kind, Lister, Meta, meta_of_entry};

use crate::event::Act;
use crate::filter::Chain;
use crate::job::{Desk, Job, Trouble, lock};
use crate::large;
use crate::movers::PROBE;
use crate::options::Deletes;

/// Directory below the destination that removed entries are moved to.
pub const TRASH: &[u8] = b".forebay-trash";
/// Fewer deletes than this need no permission.
pub const ALWAYS_ALLOWED: u64 = 1000;

/// Removes what was found to be at the destination only, if it is not too much.
pub fn delete_all(job: &Job<'_>, rules: &Deletes, known_entries: u64) -> fault::Result<()> {
    let extras = Desk::take(&job.desk.extras, job.state.dir());
    if extras.count() == 0 {
        return Ok(());
    }
    let paths: Vec<Box<[u8]>> = extras.sorted()?.collect::<fault::Result<_>>()?;
    let sweep = Sweep { job, trash: None };
    let mut count = 0;
    for path in &paths {
        count += sweep.count(path);
    }
    let most = rules.most.unwrap_or_else(|| (known_entries / 10).max(ALWAYS_ALLOWED));
    if count > most {
        // What no index knows of is only found where the destination is listed: the next sync must do that again.
        paths.iter().for_each(|path| job.incomplete(store::split_last(path).0));
        return Err(too_many(job, count, most));
    }
    if job.options.dry_run {
        return Ok(());
    }
    let trash = rules.trash.then(|| open_trash(job)).transpose()?;
    let sweep = Sweep { job, trash };
    for path in &paths {
        if job.stopping() {
            return Ok(());
        }
        sweep.remove(path)?;
    }
    Ok(())
}

fn too_many(job: &Job<'_>, count: u64, most: u64) -> Fault {
    let text = format!(
        "{count} entries of `{}` are no longer at the source, more than the {most} that may be deleted",
        job.destination.path().display()
    );
    Fault::new(FaultKind::Refused, text)
        .hint("nothing was deleted; look at it with --dry-run, and allow it with --max-delete N")
}

/// A directory for what is removed now, below the destination.
fn open_trash(job: &Job<'_>) -> fault::Result<OwnedFd> {
    let unmade = |error| Fault::os("create", &job.destination.show(TRASH), error);
    let made = |dir: BorrowedFd<'_>, name: &[u8]| match mkdirat(dir, name, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => store::open_dir_in(dir, name),
        Err(error) => Err(error),
    };
    let all = made(job.destination.fd(), TRASH).map_err(unmade)?;
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    made(all.as_fd(), now.as_bytes()).map_err(unmade)
}

struct Sweep<'a, 'b> {
    job: &'a Job<'b>,
    trash: Option<OwnedFd>,
}

impl Sweep<'_, '_> {
    /// How many entries would go with `path`. In a dry run each is told.
    fn count(&self, path: &[u8]) -> u64 {
        let (dir_path, name) = store::split_last(path);
        let Ok(dir) = self.job.destination.open_dir(dir_path) else { return 0 };
        self.count_in(dir.as_fd(), name, path)
    }

    fn count_in(&self, dir: BorrowedFd<'_>, name: &[u8], path: &[u8]) -> u64 {
        let Ok(meta) = meta_of_entry(dir, name) else { return 0 };
        if self.job.renames.goes_away(&meta) {
            return 0;
        }
        let mut count = 1;
        if meta.kind == Kind::Directory {
            for inside in self.removable(dir, name, path) {
                let Ok(inner) = store::open_dir_in(dir, name) else { continue };
                count += self.count_in(inner.as_fd(), &inside, &store::below(path, &inside));
            }
        }
        if self.job.options.dry_run {
            self.job.planned(Act::Delete, &meta, path);
        }
        count
    }

    /// The names in a directory that no filter protects.
    fn removable(&self, dir: BorrowedFd<'_>, name: &[u8], path: &[u8]) -> Vec<Vec<u8>> {
        let Ok(inner) = store::open_dir_in(dir, name) else { return Vec::new() };
        let mut names = Vec::new();
        let listed = Lister::default().list(&inner, |entry| -> store::Os<()> {
            let (name, filter) = (entry.name.to_bytes(), &self.job.options.filter);
            let inside = store::below(path, name);
            let may = |is_dir| filter.allows_name(&Chain::default(), &inside, is_dir);
            if may(true) && may(false) {
                names.push(name.to_vec());
            }
            Ok(())
        });
        if listed.is_err() { Vec::new() } else { names }
    }

    /// Removes one entry that the source has not, with what is in it.
    fn remove(&self, path: &[u8]) -> fault::Result<()> {
        let job = self.job;
        let (dir_path, name) = store::split_last(path);
        job.drafts.note(dir_path)?;
        job.finish_later(dir_path)?;
        let done = job
            .destination
            .open_dir(dir_path)
            .map_err(|error| job.at_destination("open", dir_path, error))
            .and_then(|dir| self.remove_in(dir.as_fd(), name, path));
        match done {
            Ok(()) => {
                job.ledger.gone(dir_path, name);
                job.ledger.tree_gone(path);
            }
            Err(Trouble::Vanished) => job.ledger.gone(dir_path, name),
            Err(trouble) => job.trouble(path, trouble),
        }
        Ok(())
    }

    fn remove_in(&self, dir: BorrowedFd<'_>, name: &[u8], path: &[u8]) -> Result<(), Trouble> {
        let job = self.job;
        let meta = match meta_of_entry(dir, name) {
            Ok(meta) => meta,
            Err(Errno::NOENT) => return Err(Trouble::Vanished),
            Err(error) => return Err(job.at_destination("look at", path, error)),
        };
        if meta.kind == Kind::Directory {
            let inner =
                store::open_dir_in(dir, name).map_err(|error| job.at_destination("open", path, error))?;
            for inside in self.removable(dir, name, path) {
                if job.stopping() {
                    return Err(Trouble::Stopped);
                }
                match self.remove_in(inner.as_fd(), &inside, &store::below(path, &inside)) {
                    Ok(()) | Err(Trouble::Vanished) => {}
                    Err(trouble) => return Err(trouble),
                }
            }
        }
        job.open_up(dir);
        self.take_away(dir, name, path, &meta).map_err(|error| job.at_destination("remove", path, error))?;
        if meta.kind == Kind::File {
            large::forget(job, path, &meta)?;
        }
        job.counters.deleted.one();
        Ok(())
    }

    fn take_away(&self, dir: BorrowedFd<'_>, name: &[u8], path: &[u8], meta: &Meta) -> store::Os<()> {
        let is_dir = meta.kind == Kind::Directory;
        if let Some(trash) = self.trash.as_ref().filter(|_| !is_dir) {
            return into_trash(trash.as_fd(), dir, name, path);
        }
        match unlinkat(dir, name, if is_dir { AtFlags::REMOVEDIR } else { AtFlags::empty() }) {
            // A filter protects something in it, or somebody put something there since.
            Err(Errno::NOTEMPTY | Errno::EXIST) if is_dir => Ok(()),
            result => result,
        }
    }
}

/// Moves a file to the same path below the trash.
pub fn into_trash(trash: BorrowedFd<'_>, dir: BorrowedFd<'_>, name: &[u8], path: &[u8]) -> store::Os<()> {
    let mut at: Option<OwnedFd> = None;
    let parents = store::split_last(path).0;
    for parent in parents.split(|byte| *byte == b'/').filter(|parent| !parent.is_empty()) {
        let from = at.as_ref().map_or(trash, AsFd::as_fd);
        match mkdirat(from, parent, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        at = Some(store::open_dir_in(from, parent)?);
    }
    renameat(dir, name, at.as_ref().map_or(trash, AsFd::as_fd), name)
}

/// Notes that an entry is at the destination only.
pub fn note(job: &Job<'_>, path: &[u8]) -> fault::Result<()> {
    // Movers still compare what it says.
    let is_probe = job.part.is_some() && path.starts_with(PROBE.as_bytes());
    if path == TRASH || is_probe { Ok(()) } else { lock(&job.desk.extras).push(path) }
}
