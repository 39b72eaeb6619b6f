use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use fault::Fault;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};

use crate::{Errno, Meta, Os, meta_of, printable};

/// Bytes of a path that one call takes: the system's limit is 4,096 with the final NUL.
const MOST_PER_CALL: usize = 4000;
/// How often a path is tried again while somebody renames its directories.
const TRIES: u32 = 64;

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// A directory that everything else is reached from, and nothing outside of it.
#[derive(Debug)]
pub struct Root {
    fd: OwnedFd,
    path: PathBuf,
}

impl Root {
    /// Opens `path`. It may be a symlink: that is the user's choice; below it none is followed.
    pub fn open(path: &Path) -> fault::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let fd = rustix::fs::open(path, flags, Mode::empty());
        Ok(Self { fd: fd.map_err(|error| Fault::os("open", path, error))?, path: path.to_owned() })
    }

    /// Around a directory that is open already; `path` is how it is named.
    pub fn of(dir: OwnedFd, path: &Path) -> Self {
        Self { fd: dir, path: path.to_owned() }
    }

    /// The same, called otherwise in messages: as somebody on another host knows it.
    pub fn shown_as(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// The directory's own descriptor.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Where it is, as the user named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the root itself is.
    pub fn meta(&self) -> fault::Result<Meta> {
        meta_of(&self.fd).map_err(|error| Fault::os("look at", &self.path, error))
    }

    /// Opens the directory at the relative path `below`, of any length. No symlink is followed, and nothing outside
    /// the root can be reached: ELOOP or EXDEV where somebody tried, ENOTDIR where it is no directory.
    pub fn open_dir(&self, below: &[u8]) -> Os<OwnedFd> {
        let mut at: Option<OwnedFd> = None;
        let mut rest = if below.is_empty() { &b"."[..] } else { below };
        loop {
            let (piece, later) = first_piece(rest);
            let from = at.as_ref().map_or_else(|| self.fd.as_fd(), AsFd::as_fd);
            let opened = open_piece(from, piece)?;
            if later.is_empty() {
                return Ok(opened);
            }
            at = Some(opened);
            rest = later;
        }
    }

    /// The whole path of what is at `below`, for messages.
    pub fn show(&self, below: &[u8]) -> PathBuf {
        if below.is_empty() { self.path.clone() } else { self.path.join(printable(below)) }
    }
}

/// The longest start of a path, in whole names, that one call takes; and the rest.
fn first_piece(path: &[u8]) -> (&[u8], &[u8]) {
    if path.len() <= MOST_PER_CALL {
        return (path, b"");
    }
    // Names have at most 255 bytes, so there is a slash.
    let cut = path[..MOST_PER_CALL].iter().rposition(|&byte| byte == b'/').unwrap_or(MOST_PER_CALL);
    (&path[..cut], &path[(cut + 1).min(path.len())..])
}

fn open_piece(from: BorrowedFd<'_>, piece: &[u8]) -> Os<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..TRIES {
        match openat2(from, piece, DIRECTORY | OFlags::RDONLY, Mode::empty(), resolve) {
            // A rename somewhere made the kernel unsure whether we are still beneath.
            Err(Errno::AGAIN) => {}
            // Kernels before 5.6, and containers that filter the call.
            Err(Errno::NOSYS | Errno::PERM) => return by_single_names(from, piece),
            result => return result,
        }
    }
    by_single_names(from, piece)
}

/// The same with one call per name: no name is `..`, none may be a symlink, so nothing leads out.
fn by_single_names(from: BorrowedFd<'_>, piece: &[u8]) -> Os<OwnedFd> {
    let mut at: Option<OwnedFd> = None;
    for name in piece.split(|&byte| byte == b'/') {
        if name == b".." {
            return Err(Errno::XDEV);
        }
        let dir = at.as_ref().map_or(from, AsFd::as_fd);
        at = Some(openat(dir, name, DIRECTORY | OFlags::RDONLY, Mode::empty())?);
    }
    at.ok_or(Errno::NOENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_is_reached() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("root");
        std::fs::create_dir_all(inside.join("a/b")).unwrap();
        std::os::unix::fs::symlink(place.path(), inside.join("out")).unwrap();
        std::os::unix::fs::symlink("a", inside.join("within")).unwrap();
        let root = Root::open(&inside).unwrap();
        assert!(root.open_dir(b"").is_ok() && root.open_dir(b"a/b").is_ok());
        for path in [&b".."[..], b"a/../..", b"out", b"out/root", b"within/b", b"/", b"/tmp"] {
            assert!(root.open_dir(path).is_err(), "{}", printable(path));
        }
        assert!(by_single_names(root.fd(), b"a/b").is_ok());
        for path in [&b".."[..], b"a/../..", b"out", b"within/b"] {
            assert!(by_single_names(root.fd(), path).is_err(), "{}", printable(path));
        }
    }

    #[test]
    fn long_paths_are_cut_between_names() {
        let path = vec![b"n".repeat(200); 30].join(&b'/');
        let (first, rest) = first_piece(&path);
        assert!(first.len() <= MOST_PER_CALL && first.len() % 201 == 200);
        assert_eq!([first, rest].join(&b'/'), path);
    }
}
