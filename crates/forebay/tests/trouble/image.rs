//! Small file systems in files, mounted through loop devices, taken down again whatever happens.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::skip::{Need, can, program};

pub struct Image {
    file: PathBuf,
    device: String,
    mount_point: PathBuf,
}

/// Kinds of file systems that images are made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ext4,
    /// Without a journal: its blocks can be lost one by one.
    Ext4WithoutJournal,
    /// With this many inodes.
    Ext4OfInodes(u32),
    Xfs,
    Btrfs,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Ext4 | Self::Ext4WithoutJournal | Self::Ext4OfInodes(_) => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }

    fn mkfs(self) -> &'static str {
        match self {
            Self::Xfs => "mkfs.xfs",
            Self::Btrfs => "mkfs.btrfs",
            _ => "mkfs.ext4",
        }
    }

    fn format(self, file: &str) {
        match self {
            Self::Ext4 => tool("mkfs.ext4", &["-qF", file]),
            Self::Ext4WithoutJournal => tool("mkfs.ext4", &["-qF", "-O", "^has_journal", file]),
            Self::Ext4OfInodes(count) => tool("mkfs.ext4", &["-qF", "-N", &count.to_string(), file]),
            Self::Xfs => tool("mkfs.xfs", &["-qf", file]),
            Self::Btrfs => tool("mkfs.btrfs", &["-qf", file]),
        };
    }

    /// The smallest size its tools accept, with some room.
    fn mebibytes(self) -> u64 {
        match self {
            Self::Xfs => 320,
            Self::Btrfs => 256,
            _ => 64,
        }
    }

    /// Whether this machine can make and mount one.
    pub fn is_possible(self, what: &str) -> bool {
        let needs =
            [Need::Root, Need::Program(self.mkfs()), Need::Program("losetup"), Need::FileSystem(self.name())];
        can(what, &needs)
    }
}

impl Image {
    /// An empty file system in `dir`, mounted there.
    pub fn mount(dir: &Path, kind: Kind) -> Self {
        let file = dir.join(format!("{}.img", kind.name()));
        let handle = std::fs::File::create(&file).unwrap();
        handle.set_len(kind.mebibytes() << 20).unwrap();
        kind.format(file.to_str().unwrap());
        let mount_point = dir.join(kind.name());
        std::fs::create_dir(&mount_point).unwrap();
        let device = tool("losetup", &["--find", "--show", file.to_str().unwrap()]).trim().to_owned();
        let image = Self { file, device, mount_point };
        image.mount_again(&[]);
        image
    }

    pub fn path(&self) -> &Path {
        &self.mount_point
    }

    pub fn mount_again(&self, options: &[&str]) {
        let path = self.mount_point.to_str().unwrap();
        tool("mount", &[options, &[&self.device, path]].concat());
    }

    pub fn unmount(&self) {
        tool("umount", &[self.mount_point.to_str().unwrap()]);
    }

    /// The device loses what is beyond `mebibytes`: I/O there fails with EIO, as on a disk with bad sectors.
    pub fn lose_beyond(&self, mebibytes: u64) {
        let file = std::fs::File::options().write(true).open(&self.file).unwrap();
        file.set_len(mebibytes << 20).unwrap();
        tool("losetup", &["--set-capacity", &self.device]);
    }

    /// The device is whole again: what was lost is zero, and the file system has been checked.
    #[allow(dead_code, reason = "of what tests do with images, each needs a part")]
    pub fn repair(&self, kind: Kind) {
        self.unmount();
        let file = std::fs::File::options().write(true).open(&self.file).unwrap();
        file.set_len(kind.mebibytes() << 20).unwrap();
        tool("losetup", &["--set-capacity", &self.device]);
        // It says with its exit code that it has repaired something.
        let fsck = program("fsck.ext4").unwrap_or_else(|| "fsck.ext4".into());
        Command::new(fsck).args(["-fy", &self.device]).output().unwrap();
        self.mount_again(&[]);
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let quietly = |name: &str, arguments: &[&str]| {
            let program = program(name).unwrap_or_else(|| name.into());
            let output = Command::new(program).args(arguments).output();
            output.is_ok_and(|output| output.status.success())
        };
        let path = self.mount_point.to_string_lossy();
        // Lazily if somebody is still in it: the loop device goes with the last user.
        let _ = quietly("umount", &[&path]) || quietly("umount", &["--lazy", &path]);
        quietly("losetup", &["--detach", &self.device]);
    }
}

/// Runs a program of the system that must succeed; returns what it wrote.
#[track_caller]
pub fn tool(name: &str, arguments: &[&str]) -> String {
    let path = program(name).unwrap_or_else(|| panic!("`{name}` is not installed"));
    let output = Command::new(path).args(arguments).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {words}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
