//! Files on their way: `.<id>.<boot>.<pid>.<number>.tmp`, locked by their writer until they get their final name.

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fault::{Fault, Result};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::process::{boot_id, is_alive};

/// A file of another boot or host is only taken for abandoned after this long: its writer can't be asked.
const ABANDONED_AFTER: Duration = Duration::from_hours(24);
/// As much of the boot id as keeps names short and boots apart.
const BOOT_LETTERS: usize = 8;

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Puts `text` under its final name in one step.
pub(super) fn replace(directory: &OwnedFd, path: &Path, id: &str, text: &[u8]) -> Result<()> {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!(".{id}.{}.{}.{number}.tmp", boot_letters(), std::process::id());
    let written = write(directory, &name, text).and_then(|_locked| {
        Ok(rustix::fs::renameat(directory, &name, directory, path.file_name().unwrap_or_default())?)
    });
    if let Err(error) = written {
        // The first error is the one worth telling; the leftover is cleaned by the next save if this fails too.
        let _ = rustix::fs::unlinkat(directory, &name, AtFlags::empty());
        return Err(Fault::os("write", path, error));
    }
    sync(directory, path)
}

/// The written, durable and still locked file.
fn write(directory: &OwnedFd, name: &str, text: &[u8]) -> std::io::Result<std::fs::File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
    let file = rustix::fs::openat(directory, name, flags, mode)?;
    // Some network file systems have no locks; the process id in the name then has to do.
    let _ = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
    let mut file = std::fs::File::from(file);
    file.write_all(text)?;
    file.sync_all()?;
    Ok(file)
}

/// Makes names in the directory durable.
pub(super) fn sync(directory: &OwnedFd, path: &Path) -> Result<()> {
    match rustix::fs::fsync(directory) {
        // Some FUSE and network file systems have nothing to sync for a directory.
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(Fault::os("make durable", path, error)),
    }
}

/// Removes what dead writers left. Failing at it is no reason to fail the save.
pub(super) fn clean(directory: &OwnedFd, path: &Path) {
    let Ok(entries) = std::fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(writer) = name.to_str().and_then(Writer::parse) else { continue };
        let age = entry.metadata().ok().and_then(|m| m.modified().ok()).and_then(|t| t.elapsed().ok());
        if writer.is_gone(age.unwrap_or_default()) && is_unlocked(directory, &name) {
            let _ = rustix::fs::unlinkat(directory, &name, AtFlags::empty());
        }
    }
}

fn is_unlocked(directory: &OwnedFd, name: &std::ffi::OsStr) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(directory, name, flags, Mode::empty()) else { return false };
    !matches!(
        rustix::fs::flock(file.as_fd(), FlockOperation::NonBlockingLockExclusive),
        Err(Errno::WOULDBLOCK)
    )
}

fn boot_letters() -> String {
    boot_id().chars().filter(char::is_ascii_alphanumeric).take(BOOT_LETTERS).collect()
}

/// Who wrote a temporary file, from its name.
struct Writer<'a> {
    boot: &'a str,
    pid: u32,
}

impl<'a> Writer<'a> {
    fn parse(name: &'a str) -> Option<Self> {
        let mut parts = name.strip_prefix('.')?.strip_suffix(".tmp")?.split('.');
        let (id, boot, pid, number) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let whole = parts.next().is_none() && crate::is_id(id) && number.parse::<u64>().is_ok();
        whole.then_some(Self { boot, pid: pid.parse().ok()? })
    }

    fn is_gone(&self, age: Duration) -> bool {
        if self.boot == boot_letters() { !is_alive(self.pid) } else { age > ABANDONED_AFTER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_kind_of_name_is_ever_cleaned() {
        assert!(Writer::parse(".20261121-214226-3f9a1c.0123abcd.42.0.tmp").is_some());
        for name in [
            "a.tmp",
            ".a.tmp",
            ".a.b.c.d.tmp",
            ".a.b.1.2.3.tmp",
            ".a/b.c.1.2.tmp",
            "20261121-214226-3f9a1c.json",
        ] {
            assert!(Writer::parse(name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_writer_is_judged_by_process_here_and_by_age_elsewhere() {
        let here = boot_letters();
        assert!(!Writer { boot: &here, pid: std::process::id() }.is_gone(ABANDONED_AFTER * 2));
        assert!(Writer { boot: &here, pid: u32::MAX }.is_gone(Duration::ZERO));
        assert!(!Writer { boot: "elsewher", pid: u32::MAX }.is_gone(Duration::from_mins(5)));
        assert!(Writer { boot: "elsewher", pid: 1 }.is_gone(ABANDONED_AFTER * 2));
    }
}
