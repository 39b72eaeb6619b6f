//! A file of a tree gets another name, or its content a further one, with what belongs to it: on this host, or by an agent on
//! another.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::renameat;
use store::objects::Labels;
use store::{
    Draft, Errno, Extended, Kind, Meta, Stamp, clone_file, copy_range, extents, meta_of, meta_of_entry,
};

use super::super::labels::Posix;
use super::super::making::Making;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moving {
    /// The path that the tree has it under.
    pub from: Vec<u8>,
    /// The path it is to have.
    pub to: Vec<u8>,
    /// What it must be: its size, when its content changed, and the start of its hash, if that is to be looked at.
    pub size: u64,
    pub mtime: Stamp,
    pub id: Vec<u8>,
    /// The old path is not needed any more.
    pub goes: bool,
    /// It is a file with several names, and its names at the destination are those that it had here.
    pub shared: bool,
    /// What it is to have beside content.
    pub labels: Labels,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// It is not what it must be, or it can't be done: nothing happened.
    Not = 0,
    /// The old path is no more.
    Renamed = 1,
    /// Both paths have the content.
    Copied = 2,
}

impl Moved {
    /// From an answer.
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [1] => Self::Renamed,
            [2] => Self::Copied,
            _ => Self::Not,
        }
    }
}

/// Makes what `making` says from the file `moving.from` of the same tree.
pub fn take(
    making: &Making<'_>,
    moving: &Moving,
    (posix, modified): (&Posix, Stamp),
    extended: Extended,
) -> fault::Result<Moved> {
    let (dir, name) = store::split_last(&moving.from);
    let Ok(from) = making.root.open_dir(dir) else { return Ok(Moved::Not) };
    let Some((file, there)) = found(&from, name, moving) else { return Ok(Moved::Not) };
    let alone = there.links == 1;
    if moving.goes && (alone || moving.shared) {
        let wanted = making.attributes(posix, modified);
        store::clear_named(&file, &wanted.named, extended)
            .map_err(|error| making.failed("set attributes of", error))?;
        store::apply(&file, &wanted, &there).map_err(|(action, error)| making.failed(&action, error))?;
        if moving.from == moving.to {
            return Ok(Moved::Renamed);
        }
        let spare = || making.names.name_in(store::split_last(making.path).0);
        if !alone && store::publish_link(&from, name, making.dir, making.name, &spare()?).is_ok() {
            return Ok(Moved::Copied);
        }
    }
    if moving.goes && alone {
        match renameat(&from, name, making.dir, making.name) {
            Ok(()) => {
                let made = meta_of_entry(making.dir, making.name);
                // Somebody may have put another file under the old name at this moment.
                let right = made.is_ok_and(|made| made.inode == there.inode && made.device == there.device);
                return Ok(if right { Moved::Renamed } else { Moved::Not });
            }
            Err(Errno::XDEV) => {}
            Err(Errno::NOENT | Errno::ISDIR | Errno::NOTEMPTY) => return Ok(Moved::Not),
            Err(error) => return Err(making.failed("rename", error)),
        }
    }
    let draft = making.draft()?;
    let done = match copy(&file, &draft, there.size) {
        Ok(()) => making.publish(&draft, posix, modified).map(|()| Moved::Copied),
        Err(error @ (Errno::NOSPC | Errno::DQUOT)) => Err(making.failed("write", error)),
        Err(_) => Ok(Moved::Not),
    };
    if !matches!(done, Ok(Moved::Copied)) {
        let _ = draft.discard(making.dir);
    }
    done
}

/// The file, if it is what it must be.
fn found(from: &OwnedFd, name: &[u8], moving: &Moving) -> Option<(OwnedFd, Meta)> {
    let file = store::open_reading(from, name).ok()?;
    let there = meta_of(&file).ok()?;
    if there.kind != Kind::File || there.size != moving.size || there.mtime != moving.mtime {
        return None;
    }
    let right = moving.id.is_empty() || hash(&file).is_ok_and(|id| id.short()[..] == moving.id[..]);
    right.then_some((file, there))
}

fn hash(file: &OwnedFd) -> store::Os<chunk::Id> {
    let (mut hasher, mut buffer, mut at) = (blake3::Hasher::new(), vec![0; 1 << 20], 0);
    loop {
        let length = store::read_full(file.as_fd(), &mut buffer, at)?;
        if length == 0 {
            return Ok(chunk::Id(*hasher.finalize().as_bytes()));
        }
        hasher.update(&buffer[..length]);
        at += length as u64;
    }
}

fn copy(file: &OwnedFd, draft: &Draft, size: u64) -> store::Os<()> {
    if clone_file(file, draft.fd()).is_ok() {
        return Ok(());
    }
    for piece in extents(file, 0, size)? {
        copy_range(file, draft.fd(), piece)?;
    }
    rustix::fs::ftruncate(draft.fd(), size)
}
