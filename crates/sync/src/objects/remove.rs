//! Removing what the source no longer has: after all copies, counted before the first, and never more than allowed.

use std::os::fd::{AsFd, OwnedFd};

use fault::{Fault, Kind as FaultKind};
use rustix::fs::{AtFlags, Mode, mkdirat, unlinkat};
use store::{Errno, Kind, Root, meta_of_entry};

use super::scan::Found;
use super::side::{Place, Side};
use super::work::{Trouble, Work};
use crate::deletes::{ALWAYS_ALLOWED, TRASH, into_trash};
use crate::event::Act;
use crate::far::Far;
use crate::options::Deletes;
use crate::spool::Spool;

/// Objects that one call removes.
const AT_ONCE: usize = 500;

/// Entries that only the destination has, deepest first.
pub struct Extras {
    spool: Spool,
}

impl Extras {
    /// None yet.
    pub fn new(spool: Spool) -> Self {
        Self { spool }
    }

    /// Adds one.
    pub fn push(&mut self, found: &Found) -> fault::Result<()> {
        let depth = found.path.split(|byte| *byte == b'/').count() as u32;
        let mut record = (u32::MAX - depth).to_be_bytes().to_vec();
        record.push(u8::from(found.known.kind == Kind::Directory));
        record.extend_from_slice(&found.path);
        self.spool.push(&record)
    }

    /// Removes all of them, if they are not too many.
    pub fn remove(self, work: &Work<'_>, rules: &Deletes, known_entries: u64) -> fault::Result<()> {
        // What has another name now is not lost.
        let count = self.spool.count().saturating_sub(work.counters.moved_away.get());
        let most = rules.most.unwrap_or_else(|| (known_entries / 10).max(ALWAYS_ALLOWED));
        if count > most {
            let text = format!(
                "{count} entries of `{}` are no longer at the source, more than the {most} that may be deleted",
                work.destination.shown()
            );
            return Err(Fault::new(FaultKind::Refused, text)
                .hint("nothing was deleted; look at it with --dry-run, and allow it with --max-delete N"));
        }
        if work.options.dry_run || self.spool.count() == 0 {
            return Ok(());
        }
        let entries =
            self.spool.sorted()?.map(|record| record.map(|record| (record[4] == 1, record[5..].to_vec())));
        match &work.destination {
            Side::Store(Place { far: Some(far), .. }) => elsewhere(work, far, rules, entries),
            Side::Store(place) => objects(work, place, entries),
            Side::Tree(root) => tree(work, root, rules, entries),
        }
    }
}

/// Tells what would be removed, in a dry run.
pub fn plan(work: &Work<'_>, found: &Found) {
    work.planned(Act::Delete, found);
}

type Entry = fault::Result<(bool, Vec<u8>)>;

fn objects(work: &Work<'_>, place: &Place, entries: impl Iterator<Item = Entry>) -> fault::Result<()> {
    let (mut keys, mut paths) = (Vec::new(), Vec::new());
    let send = |keys: &mut Vec<String>, paths: &mut Vec<Vec<u8>>| {
        match place.store.delete(keys) {
            Ok(()) => paths.iter().for_each(|path| {
                let (dir, name) = store::split_last(path);
                work.ledger.gone(dir, name);
                work.counters.deleted.one();
            }),
            Err(fault) => {
                let first = paths.first().map_or(&b""[..], |path| path);
                work.ended(first, Err(Trouble::Item(fault)));
            }
        }
        keys.clear();
        paths.clear();
    };
    for entry in entries {
        let (is_directory, path) = entry?;
        if work.stopping() {
            return Ok(());
        }
        keys.push(place.key(&path, is_directory).0);
        paths.push(path);
        if keys.len() >= AT_ONCE {
            send(&mut keys, &mut paths);
        }
    }
    if !keys.is_empty() {
        send(&mut keys, &mut paths);
    }
    Ok(())
}

/// From a tree on another host.
fn elsewhere(
    work: &Work<'_>,
    far: &Far,
    rules: &Deletes,
    mut entries: impl Iterator<Item = Entry>,
) -> fault::Result<()> {
    let trash = if rules.trash { trash_now() } else { String::new() };
    loop {
        let some: Vec<Vec<u8>> = entries
            .by_ref()
            .take(AT_ONCE)
            .map(|entry| entry.map(|(_, path)| path))
            .collect::<fault::Result<_>>()?;
        if some.is_empty() || work.stopping() {
            return Ok(());
        }
        let mut touched: Vec<u8> = vec![0];
        for path in &some {
            let dir = store::split_last(path).0;
            if touched != dir {
                super::finish::touch(work, dir)?;
                touched = dir.to_vec();
            }
        }
        for (path, done) in some.iter().zip(far.delete(&trash, some.clone())?) {
            match done {
                Ok(removed) => {
                    if removed {
                        work.counters.deleted.one();
                    }
                    let (dir, name) = store::split_last(path);
                    work.ledger.gone(dir, name);
                }
                Err(fault) => work.ended(path, Err(Trouble::Item(fault))),
            }
        }
    }
}

fn tree(
    work: &Work<'_>,
    root: &Root,
    rules: &Deletes,
    entries: impl Iterator<Item = Entry>,
) -> fault::Result<()> {
    let trash = rules.trash.then(|| open_trash(root, &trash_now())).transpose()?;
    let mut touched: Vec<u8> = vec![0];
    for entry in entries {
        let (_, path) = entry?;
        if work.stopping() {
            return Ok(());
        }
        let (dir, name) = store::split_last(&path);
        if touched != dir {
            super::finish::touch(work, dir)?;
            touched = dir.to_vec();
        }
        match remove_one(root, &path, trash.as_ref()) {
            Ok(true) => {
                work.counters.deleted.one();
                work.ledger.gone(dir, name);
            }
            Ok(false) => work.ledger.gone(dir, name),
            Err(fault) => work.ended(&path, Err(Trouble::Item(fault))),
        }
    }
    Ok(())
}

/// Removes one entry of a tree. Whether there was something to remove.
pub fn remove_one(root: &Root, path: &[u8], trash: Option<&OwnedFd>) -> fault::Result<bool> {
    let failed = |error| Fault::os("remove", &root.show(path), error);
    let (dir_path, name) = store::split_last(path);
    let dir = match root.open_dir(dir_path) {
        Err(Errno::NOENT) => return Ok(false),
        opened => opened.map_err(failed)?,
    };
    let is_directory = match meta_of_entry(&dir, name) {
        Err(Errno::NOENT) => return Ok(false),
        meta => meta.map_err(failed)?.kind == Kind::Directory,
    };
    if let Some(trash) = trash.filter(|_| !is_directory) {
        return into_trash(trash.as_fd(), dir.as_fd(), name, path).map(|()| true).map_err(failed);
    }
    match unlinkat(&dir, name, if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() }) {
        // A filter protects something in it, or somebody put something there since.
        Err(Errno::NOTEMPTY | Errno::EXIST) if is_directory => Ok(false),
        result => result.map(|()| true).map_err(failed),
    }
}

/// What the trash of this moment is called.
fn trash_now() -> String {
    jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string()
}

/// Opens, or makes, the directory `name` of a tree's trash.
pub fn open_trash(root: &Root, name: &str) -> fault::Result<OwnedFd> {
    let unmade = |error| Fault::os("create", &root.show(TRASH), error);
    let mode = Mode::from_raw_mode(0o700);
    let made = |dir: std::os::fd::BorrowedFd<'_>, name: &[u8]| match mkdirat(dir, name, mode) {
        Ok(()) | Err(Errno::EXIST) => store::open_dir_in(dir, name),
        Err(error) => Err(error),
    };
    let all = made(root.fd(), TRASH).map_err(unmade)?;
    made(all.as_fd(), name.as_bytes()).map_err(unmade)
}
