use std::path::{Path, PathBuf};

use fault::Fault;

/// A directory of this process, where indexes lie while their parts are worked on.
pub struct Scratch {
    dir: PathBuf,
    _lock: std::fs::File,
}

impl Scratch {
    /// Makes one below `place`, and removes those of processes that are gone.
    pub fn make(place: &Path) -> fault::Result<Self> {
        use rustix::fs::{FlockOperation, flock};
        let unmade = |error| Fault::os("create", place, error);
        std::fs::create_dir_all(place).map_err(unmade)?;
        // One at a time: what another has just made, and not locked yet, looks as if its process were gone.
        let turn = std::fs::File::create(place.join("turn")).map_err(unmade)?;
        let _ = flock(&turn, FlockOperation::LockExclusive);
        // Other hosts may have theirs at the same place, and locks may not reach from one to the other.
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let prefix = format!("mover-{host}-");
        for entry in std::fs::read_dir(place).map_err(unmade)?.flatten() {
            if !entry.file_name().to_string_lossy().starts_with(&prefix) {
                continue;
            }
            let lock = std::fs::File::open(entry.path().join("alive"));
            if lock.is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let dir = place.join(format!("{prefix}{:016x}", fastrand::u64(..)));
        std::fs::create_dir(&dir).map_err(unmade)?;
        let alive = std::fs::File::create(dir.join("alive")).map_err(unmade)?;
        flock(&alive, FlockOperation::NonBlockingLockExclusive)
            .map_err(|error| Fault::os("lock", &dir, error))?;
        Ok(Self { dir, _lock: alive })
    }

    /// An empty directory for a part.
    pub fn part(&self, part: &[u8]) -> fault::Result<PathBuf> {
        let path = self.dir.join(&chunk::Id::of(part).to_string()[..16]);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).map_err(|error| Fault::os("create", &path, error))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}
