//! Removing what dead runs left behind, and nothing else.

use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use host::System;
use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, fstat, openat, statat, unlinkat,
};
use rustix::io::Errno;

use super::journal::{JOURNAL, Journal};
use super::names::{Names, PREFIX};
use super::open_target;

/// Whose run directory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A run that is still going.
    Alive,
    /// A run of this host that is gone.
    Dead,
    /// A run of another host: from here nobody can tell.
    OtherHost,
    /// It has files but no journal that we can read: not ours to judge.
    Unknown,
}

/// A run directory found in a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Where it is.
    pub path: PathBuf,
    /// Whose it is.
    pub owner: Owner,
    /// Host and process of the run, for people; empty without a journal.
    pub origin: String,
}

/// What `clean` may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleanOptions {
    /// Only look.
    pub dry_run: bool,
    /// Also remove directories of runs of other hosts.
    pub other_hosts: bool,
}

/// What `clean` did.
#[derive(Debug, Default)]
pub struct CleanReport {
    /// Run directories removed (or that would be).
    pub removed: Vec<PathBuf>,
    /// Run directories left, and why.
    pub kept: Vec<(PathBuf, String)>,
    /// Entries removed inside.
    pub entries: u64,
    /// Entries inside that are not ours and were left.
    pub foreign: Vec<PathBuf>,
    /// What could not be removed.
    pub faults: Vec<Fault>,
}

impl CleanReport {
    /// The first failure, or a refusal that names what is not ours.
    pub(super) fn into_result(mut self) -> Result<()> {
        if !self.faults.is_empty() {
            return Err(self.faults.swap_remove(0));
        }
        match self.foreign.first() {
            None => Ok(()),
            Some(path) => Err(Fault::new(
                Kind::Refused,
                format!(
                    "`{}` is not forebay's; {} such entries were left where they are",
                    path.display(),
                    self.foreign.len()
                ),
            )
            .hint("move them away, then run `forebay clean` on the target")),
        }
    }
}

/// Finds run directories in `target`.
pub fn leftovers(target: &Path) -> Result<Vec<Leftover>> {
    let parent = open_target(target)?;
    let mut found = Vec::new();
    for name in run_directories(&parent, target)? {
        let path = target.join(&name);
        let (owner, journal) = match open_directory(&parent, &name) {
            Ok(directory) => owner_of(&directory),
            Err(_) => (Owner::Unknown, None),
        };
        let origin = journal
            .map_or_else(String::new, |j| format!("run {} of process {} on {}", j.run, j.process, j.host));
        found.push(Leftover { path, owner, origin });
    }
    Ok(found)
}

/// Removes the leftovers of dead runs in `target`.
pub fn clean(target: &Path, options: CleanOptions) -> Result<CleanReport> {
    let parent = open_target(target)?;
    let mut report = CleanReport::default();
    for name in run_directories(&parent, target)? {
        clean_one(&parent, target, &name, options, &mut report);
    }
    Ok(report)
}

fn clean_one(parent: &OwnedFd, target: &Path, name: &str, options: CleanOptions, report: &mut CleanReport) {
    let path = target.join(name);
    let directory = match open_directory(parent, name) {
        Ok(directory) => directory,
        Err(error) => return report.faults.push(Fault::os("open", &path, error)),
    };
    let (owner, journal) = owner_of(&directory);
    let reason = match owner {
        Owner::Alive => "its run is still going",
        Owner::OtherHost if !options.other_hosts => {
            "it belongs to a run of another host (--other-hosts removes it)"
        }
        Owner::Unknown => "it has no journal that says whose it is",
        Owner::Dead | Owner::OtherHost => {
            remove_run(parent, &directory, &path, journal.as_ref(), options, report);
            return;
        }
    };
    report.kept.push((path, reason.to_owned()));
}

fn remove_run(
    parent: &OwnedFd,
    directory: &OwnedFd,
    path: &Path,
    journal: Option<&Journal>,
    options: CleanOptions,
    report: &mut CleanReport,
) {
    let names = Names::new(journal.map_or("", |j| &j.item_prefix));
    let (foreign, faults) = (report.foreign.len(), report.faults.len());
    remove_contents(directory, path, &names, options.dry_run, report);
    if report.foreign.len() > foreign || report.faults.len() > faults {
        report
            .kept
            .push((path.to_owned(), "something in it is not forebay's or could not be removed".to_owned()));
        return;
    }
    if !options.dry_run {
        let name = path.file_name().unwrap_or_default();
        let removed = unlinkat(directory, JOURNAL, AtFlags::empty());
        let removed = removed.or_else(|e| if e == Errno::NOENT { Ok(()) } else { Err(e) });
        if let Err(error) = removed.and_then(|()| unlinkat(parent, name, AtFlags::REMOVEDIR)) {
            report.faults.push(Fault::os("remove", path, error));
            return;
        }
    }
    report.removed.push(path.to_owned());
}

/// Removes what a run created below `directory`, the journal excepted. Follows no symlink and crosses no mount.
pub(super) fn remove_contents(
    directory: &OwnedFd,
    path: &Path,
    names: &Names,
    dry_run: bool,
    report: &mut CleanReport,
) {
    let entries = match list(directory) {
        Ok(entries) => entries,
        Err(error) => return report.faults.push(Fault::os("list", path, error)),
    };
    for name in entries {
        let entry = path.join(&name);
        if name == JOURNAL {
            continue;
        }
        if !names.is_ours(&name) {
            report.foreign.push(entry);
            continue;
        }
        if let Err(error) = remove_entry(directory, &name, &entry, names, dry_run, report) {
            report.faults.push(Fault::os("remove", &entry, error));
        }
    }
}

fn remove_entry(
    parent: &OwnedFd,
    name: &str,
    path: &Path,
    names: &Names,
    dry_run: bool,
    report: &mut CleanReport,
) -> rustix::io::Result<()> {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind == FileType::Directory {
        let directory = open_directory(parent, name)?;
        if fstat(&directory)?.st_dev != fstat(parent)?.st_dev {
            report.foreign.push(path.to_owned());
            return Ok(());
        }
        let foreign = report.foreign.len();
        remove_contents(&directory, path, names, dry_run, report);
        if dry_run || report.foreign.len() > foreign {
            return Ok(());
        }
        report.entries += 1;
        return unlinkat(parent, name, AtFlags::REMOVEDIR);
    }
    // Runs create regular files and directories; anything else under one of our names is somebody's trick.
    if kind != FileType::RegularFile {
        report.foreign.push(path.to_owned());
        return Ok(());
    }
    report.entries += 1;
    if dry_run { Ok(()) } else { unlinkat(parent, name, AtFlags::empty()) }
}

/// Removes a directory of ours that never got its journal.
pub(super) fn discard(parent: &OwnedFd, name: &str) {
    if let Ok(directory) = open_directory(parent, name) {
        let _ = unlinkat(&directory, JOURNAL, AtFlags::empty());
    }
    let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
}

fn owner_of(directory: &OwnedFd) -> (Owner, Option<Journal>) {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let journal = openat(directory, JOURNAL, flags, Mode::empty());
    // A run makes nothing before its journal is complete: a directory with nothing else in it is safe to remove.
    let bare = list(directory).is_ok_and(|entries| entries.iter().all(|name| name == JOURNAL));
    let unreadable = if bare { Owner::Dead } else { Owner::Unknown };
    let Ok(file) = journal else { return (unreadable, None) };
    if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
        return (Owner::Alive, None);
    }
    let mut text = Vec::new();
    let read = std::fs::File::from(file).take(65_536).read_to_end(&mut text);
    match read.ok().and_then(|_| Journal::parse(&text)) {
        None => (unreadable, None),
        Some(journal) => (judge(&journal), Some(journal)),
    }
}

fn judge(journal: &Journal) -> Owner {
    let system = System::here();
    if journal.boot_id != system.boot_id() {
        // The same host after a reboot, or another one.
        return if journal.host == system.hostname() { Owner::Dead } else { Owner::OtherHost };
    }
    if host::process_alive(journal.process, journal.process_start) { Owner::Alive } else { Owner::Dead }
}

fn run_directories(parent: &OwnedFd, target: &Path) -> Result<Vec<String>> {
    let mut names = list(parent).map_err(|error| Fault::os("list", target, error))?;
    names.retain(|name| {
        name.starts_with(PREFIX)
            && statat(parent, name.as_str(), AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
    });
    names.sort_unstable();
    Ok(names)
}

fn open_directory(parent: &impl AsFd, name: &str) -> rustix::io::Result<OwnedFd> {
    openat(
        parent,
        name,
        OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

/// The names in a directory. One that is not UTF-8 can't be ours; it is listed in a form that no name of ours has.
fn list(directory: &impl AsFd) -> rustix::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}
