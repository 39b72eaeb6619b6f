//! File systems of our own, for as long as a test runs.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::run::{disk, memory};

/// A mounted file system.
pub struct Mount {
    directory: TempDir,
    /// The empty directory in it that a run may have.
    target: std::path::PathBuf,
    image: Option<TempDir>,
}

pub fn call(program: &str, arguments: &[&str]) {
    let found = testkit::skip::program(program).unwrap_or_else(|| panic!("no {program}"));
    let output = Command::new(found).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Mount {
    /// Mounts with these arguments of `mount`, in front of the directory.
    pub fn new(name: &str, arguments: &[&str]) -> Self {
        let directory = disk();
        let path = directory.path().to_str().unwrap();
        call("mount", &[arguments, &[path]].concat());
        let target = directory.path().join(name);
        std::fs::create_dir(&target).unwrap();
        Self { directory, target, image: None }
    }

    /// An ext4 in an image in memory, through a loop device of its own.
    pub fn ext4(size: &str) -> Self {
        let backing = memory();
        let file = backing.path().join("image");
        let path = file.to_str().unwrap();
        call("truncate", &["--size", size, path]);
        call("mkfs.ext4", &["-q", path]);
        let mut mount = Self::new("ext4", &["-o", "loop", path]);
        mount.image = Some(backing);
        mount
    }

    pub fn path(&self) -> &Path {
        &self.target
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // The kernel may still be closing what the run had open: then it goes when that is done.
        call("umount", &["--lazy", self.directory.path().to_str().unwrap()]);
    }
}
