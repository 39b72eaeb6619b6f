//! Removing what dead runs left behind, and nothing else.

use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use host::System;
use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, Stat, flock, fstat, openat, statat, unlinkat,
};
use rustix::io::Errno;

use super::claim::remove_named;
use super::journal::{JOURNAL, Journal, NamedEntries};
use super::names::{PREFIX, is_own};
use super::open_target;

/// How long after a dead run's last sign of life a named file may have changed and still be that run's (s): a sign comes
/// every second, and data may reach a file system's servers after it.
const AFTERWARDS: i64 = 5;

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
    let prefix = journal.map_or("", |j| &j.item_prefix);
    let (foreign, faults) = (report.foreign.len(), report.faults.len());
    if let Some(named) = journal.and_then(|journal| journal.named.as_ref()) {
        let target = path.parent().unwrap_or(path);
        // Without the journal's time nothing is certain to be the run's.
        let alive = statat(directory, JOURNAL, AtFlags::SYMLINK_NOFOLLOW).map_or(0, |stat| stat.st_mtime);
        remove_named(parent, target, named, Some(alive + AFTERWARDS), options.dry_run, report);
    }
    remove_contents(directory, path, prefix, options.dry_run, report);
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

/// Removes what a run whose items start with `item` created below its own directory, the journal excepted. Follows no
/// symlink and crosses no mount.
pub(super) fn remove_contents(
    directory: &OwnedFd,
    path: &Path,
    item: &str,
    dry_run: bool,
    report: &mut CleanReport,
) {
    remove_all(directory, path, &|name, _| name == JOURNAL || is_own(item, name), dry_run, report);
}

/// What is the run's, by its name and what it is.
type Ours<'a> = &'a dyn Fn(&str, &Stat) -> bool;

fn remove_all(directory: &OwnedFd, path: &Path, ours: Ours, dry_run: bool, report: &mut CleanReport) {
    let entries = match list(directory) {
        Ok(entries) => entries,
        Err(error) => return report.faults.push(Fault::os("list", path, error)),
    };
    for name in entries {
        let entry = path.join(&name);
        if name == JOURNAL {
            continue;
        }
        if let Err(error) = remove_entry(directory, &name, &entry, ours, dry_run, report) {
            report.faults.push(Fault::os("remove", &entry, error));
        }
    }
}

fn remove_entry(
    parent: &OwnedFd,
    name: &str,
    path: &Path,
    ours: Ours,
    dry_run: bool,
    report: &mut CleanReport,
) -> rustix::io::Result<()> {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if !ours(name, &stat) {
        report.foreign.push(path.to_owned());
        return Ok(());
    }
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => remove_tree(parent, name, path, ours, dry_run, report),
        FileType::RegularFile => {
            report.entries += 1;
            if dry_run { Ok(()) } else { unlinkat(parent, name, AtFlags::empty()) }
        }
        // Runs create regular files and directories; anything else under one of our names is somebody's trick.
        _ => {
            report.foreign.push(path.to_owned());
            Ok(())
        }
    }
}

/// Removes a directory of a run with everything in it that is the run's.
pub(super) fn remove_tree(
    parent: &OwnedFd,
    name: &str,
    path: &Path,
    ours: Ours,
    dry_run: bool,
    report: &mut CleanReport,
) -> rustix::io::Result<()> {
    let directory = open_directory(parent, name)?;
    if fstat(&directory)?.st_dev != fstat(parent)?.st_dev {
        report.foreign.push(path.to_owned());
        return Ok(());
    }
    let foreign = report.foreign.len();
    remove_all(&directory, path, ours, dry_run, report);
    if dry_run || report.foreign.len() > foreign {
        return Ok(());
    }
    report.entries += 1;
    unlinkat(parent, name, AtFlags::REMOVEDIR)
}

/// A run that takes over names makes journals of dead runs that claim the same ones void: from now on these are its own, or
/// what was there before it.
pub(super) fn forget(target: &Path, claimed: &NamedEntries) -> Result<()> {
    let parent = open_target(target)?;
    for name in run_directories(&parent, target)? {
        let Ok(directory) = open_directory(&parent, &name) else { continue };
        let (Owner::Dead, Some(Journal { named: Some(named), .. })) = owner_of(&directory) else { continue };
        let path = target.join(&name);
        if named.overlaps(claimed) {
            unlinkat(&directory, JOURNAL, AtFlags::empty())
                .and_then(|()| unlinkat(&parent, name.as_str(), AtFlags::REMOVEDIR))
                .map_err(|error| Fault::os("remove", &path, error))?;
        }
    }
    Ok(())
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
