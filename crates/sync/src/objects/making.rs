//! Making entries of a tree: drafts that appear whole, with all that belongs to them. Used where what is copied lands, on this
//! host or as an agent on another.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use fault::{Fault, Kind as FaultKind};
use rustix::fs::{AtFlags, Mode, mkdirat, renameat, symlinkat};
use store::{
    Attributes, Draft, Errno, Extended, Kind, Meta, Root, Stamp, meta_of, meta_of_entry, write_full,
};

use super::labels::Posix;

/// How often a directory is made that others make or replace at the same time.
const TRIES: u32 = 8;
/// Zeros of this size may be a hole.
const HOLE: usize = 4096;

/// Names for drafts.
pub trait Names: Sync {
    /// A name in `dir` that is nobody's.
    fn name_in(&self, dir: &[u8]) -> fault::Result<Vec<u8>>;
}

impl Names for crate::job::Drafts {
    fn name_in(&self, dir: &[u8]) -> fault::Result<Vec<u8>> {
        crate::job::Drafts::name_in(self, dir)
    }
}

/// An entry that is about to be made.
pub struct Making<'a> {
    /// The tree.
    pub root: &'a Root,
    /// Where in it.
    pub path: &'a [u8],
    /// The open directory it goes to.
    pub dir: BorrowedFd<'a>,
    /// Its name there.
    pub name: &'a [u8],
    /// What drafts are called.
    pub names: &'a dyn Names,
    /// Stands for a mode that nobody wrote down.
    pub umask: u32,
    /// Owners can be given.
    pub with_owner: bool,
}

impl Making<'_> {
    /// A failure of a call on it.
    pub fn failed(&self, action: &str, error: Errno) -> Fault {
        Fault::os(action, &self.root.show(self.path), error)
    }

    fn own_name(&self) -> fault::Result<Vec<u8>> {
        self.names.name_in(store::split_last(self.path).0)
    }

    /// What it is to have, as labels say.
    pub fn attributes(&self, posix: &Posix, modified: Stamp) -> Attributes {
        posix.attributes(modified, self.umask, self.with_owner)
    }

    /// A file that has no name yet.
    pub fn draft(&self) -> fault::Result<Draft> {
        let failed = |error| self.failed("create", error);
        if let Some(draft) = Draft::unnamed(self.dir, 0o600).map_err(failed)? {
            return Ok(draft);
        }
        Draft::named(self.dir, &self.own_name()?, 0o600).map_err(failed)
    }

    /// Writes content, leaving zeros out where they may be a hole. Returns the bytes left out.
    pub fn write_piece(&self, draft: &Draft, bytes: &[u8], at: u64, sparse: bool) -> fault::Result<u64> {
        let failed = |error| self.failed("write", error);
        if !sparse {
            return write_full(draft.fd(), bytes, at).map(|()| 0).map_err(failed);
        }
        let mut saved = 0;
        for (number, block) in bytes.chunks(HOLE).enumerate() {
            if block.iter().any(|byte| *byte != 0) {
                write_full(draft.fd(), block, at + (number * HOLE) as u64).map_err(failed)?;
            } else {
                saved += block.len() as u64;
            }
        }
        Ok(saved)
    }

    /// Gives a draft its size.
    pub fn cut(&self, draft: &Draft, size: u64) -> fault::Result<()> {
        rustix::fs::ftruncate(draft.fd(), size).map_err(|error| self.failed("write", error))
    }

    /// Puts on a finished draft what belongs to it, and gives it its name.
    pub fn publish(&self, draft: &Draft, posix: &Posix, modified: Stamp) -> fault::Result<()> {
        store::drop_inherited(draft.fd())
            .map_err(|error| self.failed("remove inherited attributes of", error))?;
        let now = meta_of(draft.fd()).map_err(|error| self.failed("look at", error))?;
        store::apply(draft.fd(), &self.attributes(posix, modified), &now)
            .map_err(|(action, error)| self.failed(&action, error))?;
        let spare = self.own_name()?;
        match store::publish(draft, self.dir, self.name, Some(&spare)) {
            Err(Errno::ISDIR | Errno::NOTEMPTY) => Err(self.in_the_way()),
            result => result.map_err(|error| self.failed("replace", error)),
        }
    }

    /// Makes a symlink.
    pub fn link(&self, target: &[u8], posix: &Posix, modified: Stamp) -> fault::Result<()> {
        self.made(posix, modified, |own| symlinkat(target, self.dir, own))
    }

    /// Makes a fifo or a device.
    pub fn node(&self, posix: &Posix, modified: Stamp) -> fault::Result<()> {
        let now = meta_of(self.dir).map_err(|error| self.failed("look at", error))?;
        let mode = posix.attributes(modified, self.umask, false).mode;
        let wanted = Meta { kind: posix.kind, mode, node: posix.node, ..now };
        self.made(posix, modified, |own| {
            store::make_node(self.dir, own, &wanted)?;
            rustix::fs::chmodat(self.dir, own, Mode::from_raw_mode(mode), AtFlags::empty())
        })
    }

    /// Makes an entry under a name of ours, puts on it what belongs to it, and gives it its own name.
    fn made(
        &self,
        posix: &Posix,
        modified: Stamp,
        make: impl FnOnce(&[u8]) -> store::Os<()>,
    ) -> fault::Result<()> {
        let own = self.own_name()?;
        let wanted = self.attributes(posix, modified);
        let done = make(&own).map_err(|error| self.failed("create", error)).and_then(|()| {
            store::apply_to_link(self.dir, &own, &wanted)
                .map_err(|(action, error)| self.failed(&action, error))?;
            renameat(self.dir, &own[..], self.dir, self.name).map_err(|error| match error {
                Errno::ISDIR | Errno::NOTEMPTY => self.in_the_way(),
                error => self.failed("replace", error),
            })
        });
        if done.is_err() {
            let _ = store::remove_file(self.dir, &own);
        }
        done
    }

    fn in_the_way(&self) -> Fault {
        let text =
            format!("cannot replace the directory `{}` by a file", self.root.show(self.path).display());
        Fault::new(FaultKind::Refused, text).hint("remove it, if nobody needs what is in it")
    }
}

/// Makes the directory at `path`, in place of anything that is none. Whether it was made.
pub fn make_directory(root: &Root, path: &[u8]) -> fault::Result<bool> {
    let (dir_path, name) = store::split_last(path);
    let failed = |error| Fault::os("create", &root.show(path), error);
    let dir = root.open_dir(dir_path).map_err(failed)?;
    make_directory_in(dir.as_fd(), name).map_err(failed)
}

fn make_directory_in(dir: BorrowedFd<'_>, name: &[u8]) -> store::Os<bool> {
    let mode = Mode::from_raw_mode(0o700);
    for _ in 0..TRIES {
        match mkdirat(dir, name, mode) {
            Err(Errno::EXIST) => {}
            made => return made.map(|()| true),
        }
        match meta_of_entry(dir, name) {
            Ok(meta) if meta.kind == Kind::Directory => return Ok(false),
            Ok(_) => match store::remove_file(dir, name) {
                // Somebody else made the directory meanwhile.
                Err(Errno::ISDIR | Errno::PERM) => {}
                removed => removed?,
            },
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
    }
    mkdirat(dir, name, mode).map(|()| true)
}

/// Opens the directory at `path`, and makes what is missing on the way.
pub fn open_or_make(root: &Root, path: &[u8]) -> store::Os<OwnedFd> {
    match root.open_dir(path) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if !path.is_empty() => {}
        opened => return opened,
    }
    let mut at = root.open_dir(b"")?;
    for name in path.split(|byte| *byte == b'/') {
        at = match store::open_dir_in(&at, name) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                make_directory_in(at.as_fd(), name)?;
                store::open_dir_in(&at, name)?
            }
            opened => opened?,
        };
    }
    Ok(at)
}

/// Makes `to` a name of the file `from`, if both are alike. They may be of one file no more: then nothing is done.
pub fn link_names(root: &Root, names: &dyn Names, from: &[u8], to: &[u8]) -> fault::Result<bool> {
    let failed = |error| Fault::os("link", &root.show(to), error);
    let ((from_dir, from_name), (dir, name)) = (store::split_last(from), store::split_last(to));
    let spare = names.name_in(dir)?;
    let (from_dir, dir) = (root.open_dir(from_dir).map_err(failed)?, root.open_dir(dir).map_err(failed)?);
    let (one, other) = (meta_of_entry(&from_dir, from_name), meta_of_entry(&dir, name));
    let (one, other) = (one.map_err(failed)?, other.map_err(failed)?);
    if one.size != other.size || one.mtime != other.mtime || one.mode != other.mode {
        return Ok(false);
    }
    store::publish_link(&from_dir, from_name, &dir, name, &spare).map(|()| true).map_err(failed)
}

/// Puts attributes on the directory at `path`. Whether it is there.
pub fn dress_directory(
    root: &Root,
    path: &[u8],
    wanted: &Attributes,
    extended: Extended,
) -> fault::Result<bool> {
    let failed = |error| Fault::os("set attributes of", &root.show(path), error);
    let open = match root.open_dir(path) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(false),
        opened => opened.map_err(failed)?,
    };
    store::clear_named(&open, &wanted.named, extended).map_err(failed)?;
    let now = meta_of(&open).map_err(failed)?;
    store::apply(&open, wanted, &now)
        .map_err(|(action, error)| Fault::os(&action, &root.show(path), error))?;
    Ok(true)
}

/// Removes what a killed job left unfinished in a directory: the names that `is_draft` knows.
pub fn remove_drafts(root: &Root, dir: &[u8], is_draft: &dyn Fn(&[u8]) -> bool) -> fault::Result<()> {
    let failed = |error| Fault::os("remove drafts in", &root.show(dir), error);
    let Ok(open) = root.open_dir(dir) else { return Ok(()) };
    let mut drafts = Vec::new();
    let listed = store::Lister::default().list(&open, |entry| -> store::Os<()> {
        let name = entry.name.to_bytes();
        if is_draft(name) {
            drafts.push(name.to_vec());
        }
        Ok(())
    });
    listed.map_err(failed)?;
    drafts.iter().try_for_each(|name| store::remove_tree(&open, name)).map_err(failed)
}
