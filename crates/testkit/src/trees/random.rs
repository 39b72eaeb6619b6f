use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Makes random trees and changes them at random; equal seeds make equal choices.
#[derive(Debug)]
pub struct Random {
    rng: fastrand::Rng,
    /// Largest size of a file, bytes.
    pub largest: usize,
    /// Whether files get further names.
    pub hard_links: bool,
}

impl Random {
    /// From this seed.
    pub fn new(seed: u64) -> Self {
        Self { rng: fastrand::Rng::with_seed(seed), largest: 300_000, hard_links: true }
    }

    /// Makes a tree at `root` with about `entries` entries.
    ///
    /// # Panics
    ///
    /// If anything can't be made.
    pub fn grow(&mut self, root: &Path, entries: usize) {
        fs::create_dir_all(root).unwrap();
        for _ in 0..entries {
            self.create(root);
        }
    }

    /// Changes the tree at `root` in `changes` random ways.
    ///
    /// # Panics
    ///
    /// If anything can't be changed.
    pub fn change(&mut self, root: &Path, changes: usize) {
        for _ in 0..changes {
            match self.rng.u8(0..12) {
                0..3 => self.create(root),
                5 => self.remove(root),
                6 => self.rename(root),
                7 => self.mode(root),
                8 if self.hard_links => self.link(root),
                3 | 4 | 8 => self.rewrite(root),
                9 => self.touch(root),
                10 => self.rewrite_in_secret(root),
                _ => self.swap_kind(root),
            }
        }
    }

    fn below(root: &Path, wanted: impl Fn(&fs::Metadata) -> bool) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut dirs = vec![root.to_owned()];
        while let Some(dir) = dirs.pop() {
            let mut inside: Vec<PathBuf> =
                fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
            inside.sort();
            for path in inside {
                let meta = path.symlink_metadata().unwrap();
                if meta.is_dir() {
                    dirs.push(path.clone());
                }
                if wanted(&meta) {
                    found.push(path);
                }
            }
        }
        found
    }

    fn any(&mut self, root: &Path, wanted: impl Fn(&fs::Metadata) -> bool) -> Option<PathBuf> {
        self.rng.choice(Self::below(root, wanted))
    }

    fn dir(&mut self, root: &Path) -> PathBuf {
        self.any(root, fs::Metadata::is_dir)
            .filter(|_| self.rng.u8(0..5) > 0)
            .unwrap_or_else(|| root.to_owned())
    }

    fn content(&mut self) -> Vec<u8> {
        let length = if self.rng.bool() { self.rng.usize(0..200) } else { self.rng.usize(0..self.largest) };
        let byte = self.rng.u8(..);
        let mut bytes = vec![byte; length];
        for _ in 0..length.min(16) {
            bytes[self.rng.usize(0..length)] = self.rng.u8(..);
        }
        bytes
    }

    fn name(&mut self) -> String {
        let length = self.rng.usize(1..4);
        (0..length)
            .map(|_| self.rng.choice(['a', 'b', 'c', 'X', 'Y', 'Z', '0', '!', 'é', ' ']).unwrap_or('a'))
            .collect()
    }

    fn create(&mut self, root: &Path) {
        let path = self.dir(root).join(self.name());
        if path.symlink_metadata().is_ok() {
            return;
        }
        match self.rng.u8(0..10) {
            0..3 => fs::create_dir(path).unwrap(),
            3 => symlink(self.name(), path).unwrap(),
            4 => self.sparse(&path),
            _ => fs::write(path, self.content()).unwrap(),
        }
    }

    fn sparse(&mut self, path: &Path) {
        use std::os::unix::fs::FileExt as _;
        let file = fs::File::create(path).unwrap();
        file.set_len(self.rng.u64(1..4 << 20)).unwrap();
        for _ in 0..self.rng.u8(0..4) {
            file.write_at(&self.content(), self.rng.u64(0..2 << 20)).unwrap();
        }
    }

    fn file(&mut self, root: &Path) -> Option<PathBuf> {
        self.any(root, fs::Metadata::is_file)
    }

    fn rewrite(&mut self, root: &Path) {
        if let Some(path) = self.file(root) {
            fs::write(path, self.content()).unwrap();
        }
    }

    /// Same size, same time of change, other content.
    fn rewrite_in_secret(&mut self, root: &Path) {
        let Some(path) = self.file(root) else { return };
        let before = path.metadata().unwrap().modified().unwrap();
        let mut content = fs::read(&path).unwrap();
        if let Some(byte) = content.first_mut() {
            *byte ^= 0xff;
        }
        fs::write(&path, content).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    }

    fn remove(&mut self, root: &Path) {
        match self.any(root, |_| true) {
            Some(path) if path.is_dir() && !path.is_symlink() => fs::remove_dir_all(path).unwrap(),
            Some(path) => fs::remove_file(path).unwrap(),
            None => {}
        }
    }

    fn rename(&mut self, root: &Path) {
        let Some(from) = self.any(root, |_| true) else { return };
        let to = self.dir(root).join(self.name());
        if to.symlink_metadata().is_err() && !to.starts_with(&from) {
            fs::rename(from, to).unwrap();
        }
    }

    fn mode(&mut self, root: &Path) {
        if let Some(path) = self.any(root, |meta| !meta.is_symlink()) {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700 | self.rng.u32(0..0o100))).unwrap();
        }
    }

    fn link(&mut self, root: &Path) {
        let Some(from) = self.file(root) else { return };
        let to = self.dir(root).join(self.name());
        if to.symlink_metadata().is_err() && from.metadata().unwrap().nlink() < 5 {
            fs::hard_link(from, to).unwrap();
        }
    }

    fn touch(&mut self, root: &Path) {
        let Some(path) = self.file(root) else { return };
        let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(self.rng.u64(0..2_000_000_000_000_000_000));
        fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    /// A file becomes a symlink, a symlink a directory: another kind under the same name. Directories stay what they are.
    fn swap_kind(&mut self, root: &Path) {
        let Some(path) = self.any(root, |meta| !meta.is_dir()) else { return };
        let was_file = path.symlink_metadata().unwrap().is_file();
        fs::remove_file(&path).unwrap();
        if was_file {
            symlink(self.name(), path).unwrap();
        } else {
            fs::create_dir(path).unwrap();
        }
    }
}
