//! Tests that need more than every machine has. A test that can't run says why and ends; in CI that is a failure.
//!
//! ```
//! use testkit::skip::{Need, can};
//!
//! if !can("a full file system", &[Need::Root, Need::Program("mkfs.ext4")]) {
//!     return;
//! }
//! ```

#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use std::path::{Path, PathBuf};

/// What a test needs beside Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The right to mount (root with CAP_SYS_ADMIN).
    Root,
    /// A program that is installed, also in `/usr/sbin`.
    Program(&'static str),
    /// A file or device, such as `/dev/fuse`.
    File(&'static str),
    /// A file system type that the kernel has, perhaps as a module it can load.
    FileSystem(&'static str),
    /// A server that `scripts/install-test-tools` installs.
    Server(&'static str),
}

/// Capability number of CAP_SYS_ADMIN (capabilities(7)).
const SYS_ADMIN: u32 = 21;

/// Whether the test called `what` can run here. `FOREBAY_QUICK` leaves all tests with needs out without a word.
///
/// # Panics
///
/// In CI (`CI=true`) if it can't run.
pub fn can(what: &str, needs: &[Need]) -> bool {
    if std::env::var_os("FOREBAY_QUICK").is_some() && !needs.is_empty() {
        return false;
    }
    let missing: Vec<String> = needs.iter().filter(|need| !need.is_met()).map(Need::words).collect();
    if missing.is_empty() {
        return true;
    }
    let reason = format!("{what}: {}", missing.join(", "));
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "must not be skipped in CI: {reason}");
    eprintln!("skipped: {reason}");
    false
}

/// Where a program is installed, if it is.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

impl Need {
    fn is_met(&self) -> bool {
        match self {
            Self::Root => may_mount(&std::fs::read_to_string("/proc/self/status").unwrap_or_default()),
            Self::Program(name) => program(name).is_some(),
            Self::File(path) => Path::new(path).exists(),
            Self::FileSystem(name) => has_file_system(name),
            Self::Server("postgres") => crate::servers::postgres_programs().is_some(),
            Self::Server(name) => crate::servers::installed(name).is_some(),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Root => "not allowed to mount (not root)".to_owned(),
            Self::Program(name) => format!("`{name}` is not installed"),
            Self::File(path) => format!("`{path}` is not there"),
            Self::FileSystem(name) => format!("this kernel has no {name}"),
            Self::Server(name) => format!("the {name} server is not installed (scripts/install-test-tools)"),
        }
    }
}

fn has_file_system(name: &str) -> bool {
    let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let modules = Path::new("/lib/modules").join(release.trim()).join("kernel/fs").join(name);
    known.lines().any(|line| line.split_whitespace().next_back() == Some(name)) || modules.exists()
}

fn may_mount(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << SYS_ADMIN) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_everywhere_and_nonsense_nowhere() {
        assert!(Need::Program("sh").is_met() && Need::File("/proc/self").is_met());
        assert!(!Need::Program("no-such-program-here").is_met());
        assert!(Need::FileSystem("proc").is_met() && !Need::FileSystem("nosuchfs").is_met());
    }

    #[test]
    fn only_the_right_capability_counts() {
        assert!(may_mount("Name:\tx\nCapEff:\t000001ffffffffff\n"));
        assert!(!may_mount("CapEff:\t0000000000000000\n"));
        assert!(!may_mount("CapEff:\t00000000a80425fb\n"));
        assert!(!may_mount(""));
    }
}
