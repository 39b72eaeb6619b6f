//! What is looked at before anything is created.

use std::path::Path;

use fault::{Fault, Kind, Result};
use host::{Environment, Mount};
use units::{Bytes, Ratio};

use crate::workload::Workload;

/// Beyond this a file system slows down, and other people run out of space.
const FULL: f64 = 0.90;

/// Refuses what would fail half-way, or harm others.
pub fn check(
    target: &Path,
    environment: &Environment,
    workload: &Workload,
    expected: Option<&str>,
    fill_beyond: bool,
) -> Result<()> {
    if !target.is_dir() {
        return Err(Fault::os("use target", target, rustix::io::Errno::NOTDIR));
    }
    let Some(mount) = &environment.target else { return Ok(()) };
    if let Some(expected) = expected
        && expected != mount.file_system
    {
        let message = format!("`{}` is on {}, not on {expected}", target.display(), described(mount));
        return Err(Fault::new(Kind::Refused, message).hint(format!(
            "is the {expected} file system mounted? look at `findmnt --target {}`",
            target.display()
        )));
    }
    // Targets may be on one file system: each must have room for everything.
    check_space(target, mount, workload.space(), fill_beyond)?;
    check_inodes(target, mount, workload.inodes())
}

fn check_space(target: &Path, mount: &Mount, needed: Bytes, fill_beyond: bool) -> Result<()> {
    let (size, available) = (mount.size_bytes, mount.available_bytes);
    if size == Bytes::ZERO {
        // Some network file systems don't say.
        return Ok(());
    }
    if needed > available {
        let message =
            format!("the test needs {needed} in `{}`, and {available} are available", target.display());
        return Err(Fault::new(Kind::NoSpace, message)
            .hint("use a smaller file size, fewer ranks, or another target"));
    }
    let used = size.saturating_sub(available) + needed;
    let share = used.get() as f64 / size.get() as f64;
    if share > FULL && !fill_beyond && needed > Bytes::ZERO {
        let message =
            format!("the test would fill `{}` to {} of {size}", target.display(), Ratio::new(share));
        return Err(Fault::new(Kind::Refused, message)
            .hint("use a smaller file size, or insist with `--fill-beyond`"));
    }
    Ok(())
}

fn check_inodes(target: &Path, mount: &Mount, needed: u64) -> Result<()> {
    if mount.inodes == 0 || needed < mount.inodes_free {
        return Ok(());
    }
    let message = format!(
        "the test makes {needed} files and directories in `{}`, and {} inodes are free",
        target.display(),
        mount.inodes_free
    );
    Err(Fault::new(Kind::NoSpace, message)
        .hint("use fewer items, or a file system with more inodes (`df -i`)"))
}

/// What a person should know before the numbers come.
pub fn notices(environment: &Environment, workload: &Workload) -> Vec<String> {
    let mut notices = Vec::new();
    if let Some(mount) = &environment.target {
        if mount.mount_point == "/" {
            notices.push(format!(
                "the target is on the root file system ({}): is the storage you mean mounted?",
                described(mount)
            ));
        }
        if mount.file_system == "tmpfs" || mount.file_system == "ramfs" {
            notices.push(format!("the target is on {}: memory is measured, not storage", mount.file_system));
        }
    }
    if let Some(what) = workload.data.shrinkable() {
        notices.push(format!(
            "the data written is {what}: storage that compresses or deduplicates will look faster than it is"
        ));
    }
    notices
}

/// A mount in words.
pub fn described(mount: &Mount) -> String {
    format!("{} (`{}` mounted at `{}`)", mount.file_system, mount.source, mount.mount_point)
}
