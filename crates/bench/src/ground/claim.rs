//! What a run has in one target under names that somebody chose: looked at first, then made ready, in the end removed.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use fault::{Fault, Kind, Result};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use units::Bytes;

use super::clean::{self, CleanReport};
use super::journal::NamedEntries;
use super::names::{Names, is_mdtests};
use crate::workload::{Activity, EntryOperation, Existing, Layout, Workload};

/// What is a run's in one target, and what it found there.
#[derive(Debug, Default)]
pub struct Claim {
    /// Data files that it makes.
    made: Vec<String>,
    /// Those of them that are there and are removed first.
    replaced: Vec<String>,
    /// Data files that are there and are used: number and size.
    found: Vec<(u32, Bytes)>,
    /// Directories for the data files of one rank that it makes.
    directories: Vec<String>,
    /// Directories with mdtest's trees that it makes.
    tops: Vec<String>,
    /// Directories with mdtest's trees that it empties, whoever made them.
    emptied: Vec<String>,
    /// It needs a place for the mark that finds look for what is newer than.
    marks: bool,
    /// What is made stays: nobody needs to know whose it was.
    keep: bool,
}

/// Which of a workload's targets is meant, of how many.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// Counting from 0.
    pub number: usize,
    /// All of them.
    pub targets: usize,
}

impl Claim {
    /// Looks at what is in `target` and says what the run may do there. Nothing is changed.
    pub fn of(workload: &Workload, names: &Names, target: &Path, turn: Turn) -> Result<Self> {
        let directory = super::open_target(target)?;
        let existing = workload.files.named.as_ref().map_or(Existing::Refuse, |named| named.existing);
        let keep = workload.files.named.as_ref().is_some_and(|named| named.keep);
        let marks = workload.entries().any(|entries| entries.operation == EntryOperation::Mark);
        let mut claim = Self { marks, keep, ..Self::default() };
        claim.look_at_data(workload, names, (&directory, target), turn, existing)?;
        claim.look_at_tops(workload, names, (&directory, target))?;
        Ok(claim)
    }

    fn look_at_data(
        &mut self,
        workload: &Workload,
        names: &Names,
        (directory, target): (&OwnedFd, &Path),
        turn: Turn,
        existing: Existing,
    ) -> Result<()> {
        let files = &workload.files;
        let writes = transfers(workload).any(|writes| writes);
        if transfers(workload).next().is_none() {
            return Ok(());
        }
        for number in 0..files.file_count(workload.ranks) {
            let owner = if files.layout == Layout::Shared { 0 } else { number / files.files_per_rank };
            let named = files.named.as_ref().filter(|named| named.exact);
            let nobodys = named.is_some_and(|named| number as usize >= named.data.len());
            if nobodys || owner as usize % turn.targets != turn.number {
                continue;
            }
            let own = files.directory_per_rank.then(|| names.own(owner));
            if let Some(own) = own.filter(|own| !self.directories.contains(own)) {
                match kind_of(directory, &own).map_err(|e| Fault::os("look at", &target.join(&own), e))? {
                    None if writes => self.directories.push(own),
                    None | Some((FileType::Directory, _)) => {}
                    Some(_) => return Err(in_the_way(&target.join(own), "no directory")),
                }
            }
            let name = names.data(files, number);
            let path = target.join(&name);
            match kind_of(directory, &name).map_err(|error| Fault::os("look at", &path, error))? {
                None if writes => self.made.push(name),
                None => return Err(missing(&path)),
                Some((FileType::RegularFile, stat)) => match existing {
                    Existing::Use => self.found.push((number, Bytes::new(stat.st_size.cast_unsigned()))),
                    Existing::Replace if writes => {
                        self.replaced.push(name.clone());
                        self.made.push(name);
                    }
                    Existing::Refuse | Existing::Replace => return Err(in_the_way(&path, "there already")),
                },
                Some(_) => return Err(in_the_way(&path, "no regular file")),
            }
        }
        Ok(())
    }

    fn look_at_tops(
        &mut self,
        workload: &Workload,
        names: &Names,
        (directory, target): (&OwnedFd, &Path),
    ) -> Result<()> {
        let uses = |operation| workload.entries().any(|entries| entries.operation == operation);
        if workload.entries().next().is_none() {
            return Ok(());
        }
        for top in names.tops() {
            let path = target.join(&top);
            match kind_of(directory, &top).map_err(|error| Fault::os("look at", &path, error))? {
                None if uses(EntryOperation::MakeTree) => self.tops.push(top.clone()),
                None => return Err(missing(&path)),
                // What is below it is reached by its path: nobody else may be able to turn that elsewhere.
                Some((FileType::Directory, stat)) if is_ours(&stat) => {}
                Some((FileType::Directory, _)) => return Err(in_the_way(&path, "somebody else's")),
                Some(_) => return Err(in_the_way(&path, "no directory")),
            }
            if uses(EntryOperation::RemoveTree) {
                self.emptied.push(top);
            }
        }
        Ok(())
    }

    /// What the journal must say; `None` when the run leaves everything as it makes it.
    pub fn to_journal(&self) -> Option<NamedEntries> {
        let makes = !self.made.is_empty() || !self.directories.is_empty() || !self.tops.is_empty();
        if makes && !self.keep { Some(self.entries()) } else { self.marks.then(NamedEntries::default) }
    }

    /// What the run makes.
    pub fn entries(&self) -> NamedEntries {
        NamedEntries {
            files: self.made.clone(),
            directories: self.directories.clone(),
            trees: self.tops.clone(),
        }
    }

    /// What people should know before it begins.
    pub fn notices(&self, target: &Path) -> Vec<String> {
        let mut notices = Vec::new();
        if let Some(first) = self.replaced.first() {
            let others = self.replaced.len() - 1;
            let more = if others > 0 { format!(" and {others} more") } else { String::new() };
            notices.push(format!(
                "`{}`{more} exists already and is removed first",
                target.join(first).display()
            ));
        }
        notices
    }

    /// Data files that were there and are used: number and size.
    pub fn found(&self) -> &[(u32, Bytes)] {
        &self.found
    }

    /// Removes what is replaced and makes the directories.
    pub fn make_ready(&self, directory: &OwnedFd, target: &Path) -> Result<()> {
        for name in &self.replaced {
            remove_file(directory, name).map_err(|error| Fault::os("remove", &target.join(name), error))?;
        }
        for name in self.directories.iter().chain(&self.tops) {
            match mkdirat(directory, name.as_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(Fault::os("make", &target.join(name), error)),
            }
        }
        Ok(())
    }

    /// Removes what the run made, unless it is kept, and directories that it emptied.
    pub fn remove(&self, directory: &OwnedFd, target: &Path, made: bool) -> Result<()> {
        let mut report = CleanReport::default();
        if made && !self.keep {
            remove_named(directory, target, &self.entries(), None, false, &mut report);
        }
        for top in &self.emptied {
            match unlinkat(directory, top.as_str(), AtFlags::REMOVEDIR) {
                // Something in it is not the run's, or was left by one that was stopped.
                Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => {}
                Err(error) => report.faults.push(Fault::os("remove", &target.join(top), error)),
            }
        }
        report.into_result()
    }
}

/// Removes what a run made under names that somebody chose. With `until`, only what nobody changed after that time (in
/// seconds, by the clock that gives the files theirs).
pub(super) fn remove_named(
    directory: &OwnedFd,
    target: &Path,
    entries: &NamedEntries,
    until: Option<i64>,
    dry_run: bool,
    report: &mut CleanReport,
) {
    let untouched = |stat: &Stat| until.is_none_or(|until| stat.st_ctime <= until);
    for name in &entries.files {
        let path = target.join(name);
        match kind_of(directory, name) {
            Ok(None) => {}
            Ok(Some((FileType::RegularFile, stat))) if untouched(&stat) => {
                report.entries += 1;
                if !dry_run && let Err(error) = remove_file(directory, name) {
                    report.faults.push(Fault::os("remove", &path, error));
                }
            }
            Ok(Some(_)) => report.foreign.push(path),
            Err(error) => report.faults.push(Fault::os("look at", &path, error)),
        }
    }
    for name in &entries.trees {
        let path = target.join(name);
        let ours = |name: &str, stat: &Stat| {
            let directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            is_mdtests(name) && (directory || untouched(stat))
        };
        match clean::remove_tree(directory, name, &path, &ours, dry_run, report) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => report.faults.push(Fault::os("remove", &path, error)),
        }
    }
    for name in entries.directories.iter().filter(|_| !dry_run) {
        match unlinkat(directory, name.as_str(), AtFlags::REMOVEDIR) {
            Ok(()) => report.entries += 1,
            // Somebody put something into it: the directory is theirs now.
            Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(error) => report.faults.push(Fault::os("remove", &target.join(name), error)),
        }
    }
}

/// Whether each transfer writes.
fn transfers(workload: &Workload) -> impl Iterator<Item = bool> {
    workload.phases.iter().flat_map(|phase| &phase.jobs).filter_map(|job| match &job.activity {
        Activity::Transfer(transfer) => Some(transfer.writes()),
        Activity::Entries(_) => None,
    })
}

/// What stands under a name, if anything does; what is behind a symlink is not looked at.
fn kind_of(directory: &OwnedFd, name: &str) -> rustix::io::Result<Option<(FileType, Stat)>> {
    let looked = match name.split_once('/') {
        None => statat(directory, name, AtFlags::SYMLINK_NOFOLLOW),
        Some((own, name)) => {
            open_directory(directory, own).and_then(|own| statat(&own, name, AtFlags::SYMLINK_NOFOLLOW))
        }
    };
    match looked {
        Ok(stat) => Ok(Some((FileType::from_raw_mode(stat.st_mode), stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

fn remove_file(directory: &OwnedFd, name: &str) -> rustix::io::Result<()> {
    let removed = match name.split_once('/') {
        None => unlinkat(directory, name, AtFlags::empty()),
        Some((own, name)) => {
            open_directory(directory, own).and_then(|own| unlinkat(&own, name, AtFlags::empty()))
        }
    };
    if removed == Err(Errno::NOENT) { Ok(()) } else { removed }
}

fn open_directory(directory: &impl AsFd, name: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::empty())
}

fn is_ours(stat: &Stat) -> bool {
    let user = rustix::process::geteuid();
    user.is_root() || stat.st_uid == user.as_raw()
}

fn in_the_way(path: &Path, what: &str) -> Fault {
    Fault::new(Kind::Refused, format!("`{}` is {what}", path.display()))
        .hint("move it away, or name another file or directory")
}

fn missing(path: &Path) -> Fault {
    Fault::new(Kind::NotFound, format!("`{}` is to be read and is not there", path.display()))
        .hint("write it first and keep it (-w -k; mdtest: -C), with the same names, ranks and repetitions")
}
