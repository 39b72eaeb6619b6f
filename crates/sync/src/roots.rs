//! The two trees of a job, opened once and held: whatever is renamed or mounted over them later, these are what is meant.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use fault::{Fault, Kind};
use rustix::fs::{FlockOperation, Mode, flock, mkdirat};
use store::Root;

use crate::options::Options;
use crate::state::State;

/// Source and destination.
#[derive(Debug)]
pub struct Roots {
    pub source: Root,
    pub destination: Root,
    /// Absolute, symlinks resolved.
    pub paths: (PathBuf, PathBuf),
    /// The destination is not there yet, and this is a dry run: an empty directory stands for it.
    _stand_in: Option<StandIn>,
}

#[derive(Debug)]
struct StandIn(PathBuf);

impl Drop for StandIn {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Opens both; the destination is made if it is not there.
pub fn open_roots(options: &Options) -> fault::Result<Roots> {
    let source_path = canonical(&options.source)?;
    if !source_path.is_dir() {
        let text = format!("`{}` is no directory", options.source.display());
        return Err(
            Fault::new(Kind::Usage, text).hint("give the directory it is in, and the file with --include")
        );
    }
    let (path, stand_in) = destination_path(options)?;
    let destination_path = match &stand_in {
        Some(_) => std::path::absolute(&options.destination)
            .map_err(|e| Fault::os("find", &options.destination, e))?,
        None => canonical(&path)?,
    };
    let beneath = options.at.as_deref().filter(|_| stand_in.is_none());
    let destination = match beneath {
        Some(at) => open_beneath(&path, at)?,
        None => Root::open(&path)?,
    };
    let destination_path = match &options.at {
        Some(at) => destination_path.join(at),
        None => destination_path,
    };
    let within = |a: &Path, b: &Path| a.starts_with(b) || b.starts_with(a);
    if within(&source_path, &destination_path) {
        let text =
            format!("`{}` and `{}` lie in each other", source_path.display(), destination_path.display());
        return Err(Fault::new(Kind::Usage, text).hint("choose a destination outside the source"));
    }
    let source = Root::open(&source_path)?;
    Ok(Roots { source, destination, paths: (source_path, destination_path), _stand_in: stand_in })
}

/// The destination's directory, made if it is not there; its parent must be.
fn destination_path(options: &Options) -> fault::Result<(PathBuf, Option<StandIn>)> {
    let path = &options.destination;
    let whole = options.at.as_ref().map_or_else(|| path.clone(), |at| path.join(at));
    if path.exists() && (!options.dry_run || whole.is_dir()) {
        return Ok((path.clone(), None));
    }
    if options.dry_run {
        let stand_in = std::env::temp_dir().join(format!("forebay-dry-run-{}", std::process::id()));
        std::fs::create_dir(&stand_in).map_err(|error| Fault::os("create", &stand_in, error))?;
        return Ok((stand_in.clone(), Some(StandIn(stand_in))));
    }
    match std::fs::create_dir(path) {
        // Somebody else made it at this moment.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made.map_err(|error| Fault::os("create", path, error))?,
    }
    Ok((path.clone(), None))
}

/// A directory below another, made if it is not there. No symlink is followed on the way.
pub fn open_beneath(path: &Path, at: &str) -> fault::Result<Root> {
    let root = Root::open(path)?;
    let mut dir = root.open_dir(b"").map_err(|error| Fault::os("open", path, error))?;
    let mut shown = path.to_owned();
    for name in at.split('/') {
        shown.push(name);
        match mkdirat(&dir, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(store::Errno::EXIST) => {}
            Err(error) => return Err(Fault::os("create", &shown, error)),
        }
        let below = store::open_dir_in(&dir, name.as_bytes());
        dir = below.map_err(|error| Fault::os("open", &shown, error))?;
    }
    Ok(Root::of(dir, &shown))
}

/// What a job remembers must not be part of what it copies.
pub fn check_place_of_state(state: &State, roots: &Roots) -> fault::Result<()> {
    let dir = canonical(state.dir())?;
    if dir.starts_with(&roots.paths.0) || dir.starts_with(&roots.paths.1) {
        let text = format!("the state directory `{}` lies inside a tree that is synced", dir.display());
        return Err(Fault::new(Kind::Usage, text).hint("choose another with --state"));
    }
    Ok(())
}

/// Movers of one job write to one destination together, and nobody else.
pub fn share_destination(root: &Root) -> fault::Result<OwnedFd> {
    lock(root, FlockOperation::NonBlockingLockShared)
}

/// Two jobs must not write to one destination. Where the file system knows no locks, nothing is known.
pub fn lock_destination(root: &Root) -> fault::Result<OwnedFd> {
    lock(root, FlockOperation::NonBlockingLockExclusive)
}

fn lock(root: &Root, how: FlockOperation) -> fault::Result<OwnedFd> {
    let again = root.open_dir(b"").map_err(|error| Fault::os("open", root.path(), error))?;
    match flock(&again, how) {
        Err(store::Errno::WOULDBLOCK) => {
            let text = format!("another sync is writing to `{}`", root.path().display());
            Err(Fault::new(Kind::Refused, text).hint("wait until it ends"))
        }
        _ => Ok(again),
    }
}

/// The absolute path of a directory, with symlinks resolved.
pub fn canonical(path: &Path) -> fault::Result<PathBuf> {
    path.canonicalize().map_err(|error| Fault::os("find", path, error))
}
