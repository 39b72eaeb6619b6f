//! A made-up `/proc` and `/sys` in a temporary directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use host::System;
use tempfile::TempDir;

pub struct Tree {
    directory: TempDir,
}

impl Tree {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub fn system(&self) -> System {
        System::at(self.directory.path())
    }

    /// Writes `text` and a newline, as the kernel does.
    pub fn file(&self, path: impl AsRef<Path>, text: &str) -> &Self {
        let path = self.make_room(path.as_ref());
        fs::write(path, format!("{text}\n")).unwrap();
        self
    }

    pub fn files(&self, directory: &str, files: &[(&str, &str)]) -> &Self {
        for (name, text) in files {
            self.file(Path::new(directory).join(name), text);
        }
        self
    }

    pub fn directory(&self, path: &str) -> &Self {
        fs::create_dir_all(self.place(path.as_ref())).unwrap();
        self
    }

    /// A link at `path` to the absolute `target`, both inside of the tree.
    pub fn link(&self, path: &str, target: &str) -> &Self {
        let target = self.place(target.as_ref());
        symlink(target, self.make_room(path.as_ref())).unwrap();
        self
    }

    /// A block device with its number, in sysfs at `place` below `/sys/devices`.
    pub fn block_device(&self, number: &str, place: &str, files: &[(&str, &str)]) -> &Self {
        let directory = format!("/sys/devices/{place}");
        let name = Path::new(place).file_name().unwrap().to_str().unwrap();
        self.file(format!("{directory}/dev"), number).files(&directory, files);
        self.link(&format!("/sys/dev/block/{number}"), &directory);
        self.link(&format!("/sys/class/block/{name}"), &directory)
    }

    /// What `lctl get_param` printed, taken apart into one file per parameter below `base`.
    pub fn lustre_parameters(&self, base: &str, printed: &str) -> &Self {
        let is_start = |line: &str| ["osc.", "mdc.", "llite."].iter().any(|kind| line.starts_with(kind));
        let mut current: Option<(String, String)> = None;
        for line in printed.lines() {
            if is_start(line) {
                self.parameter(base, current.take());
                let (name, value) = line.split_once('=').unwrap();
                current = Some((name.to_owned(), value.to_owned()));
            } else if let Some((_, text)) = &mut current {
                text.push('\n');
                text.push_str(line);
            }
        }
        self.parameter(base, current);
        self
    }

    fn parameter(&self, base: &str, parameter: Option<(String, String)>) {
        if let Some((name, text)) = parameter {
            self.file(format!("{base}/{}", name.replace('.', "/")), text.trim_start());
        }
    }

    fn make_room(&self, path: &Path) -> PathBuf {
        let place = self.place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        place
    }

    fn place(&self, path: &Path) -> PathBuf {
        fs::canonicalize(self.directory.path()).unwrap().join(path.strip_prefix("/").unwrap())
    }
}
