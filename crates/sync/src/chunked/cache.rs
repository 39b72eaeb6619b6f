//! Parts of a chunk store that are kept here, so that they are not fetched again. Each is called after what it must be, and
//! is not believed otherwise.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::OnceLock;

use chunk::Id;

/// Files in a directory; without one, nothing is kept.
#[derive(Debug, Default)]
pub struct Cache {
    dir: OnceLock<PathBuf>,
}

impl Cache {
    /// Keeps them in `dir` from now on. Where it can't be made, nothing is kept.
    pub fn keep_in(&self, dir: PathBuf) {
        if std::fs::create_dir_all(&dir).is_ok() {
            let _ = self.dir.set(dir);
        }
    }

    /// What is kept under `name`, if it has its hash.
    pub fn get(&self, name: &str, id: &Id) -> Option<Vec<u8>> {
        self.get_packed(name).filter(|bytes| Id::of(bytes) == *id)
    }

    /// What is kept under `name`, whose hash is that of something in it.
    pub fn get_packed(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.dir.get()?.join(name)).ok()
    }

    /// Keeps something. A disk that is full costs no more than time.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        let Some(dir) = self.dir.get() else { return };
        if std::fs::write(dir.join(name), bytes).is_err() {
            let _ = std::fs::remove_file(dir.join(name));
        }
    }

    /// Removes what begins with `prefix` but is not in `names`.
    pub fn retain(&self, prefix: &str, names: &HashSet<String>) {
        let Some(listed) = self.dir.get().and_then(|dir| std::fs::read_dir(dir).ok()) else { return };
        for file in listed.flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            if name.starts_with(prefix) && !names.contains(&name) {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }
}
