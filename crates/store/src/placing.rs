use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, linkat, mknodat, openat, renameat, renameat_with,
};

use crate::{Errno, Kind, Meta, Os, remove_file};

/// A file that is being written and has no final name yet.
#[derive(Debug)]
pub struct Draft {
    fd: OwnedFd,
    name: Option<Vec<u8>>,
}

impl Draft {
    /// A draft without any name in `dir`, which vanishes if we die. `None` where the file system has no such files.
    pub fn unnamed(dir: impl AsFd, mode: u32) -> Os<Option<Self>> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match openat(dir, c".", flags, Mode::from_raw_mode(mode)) {
            Ok(fd) => Ok(Some(Self { fd, name: None })),
            Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::ISDIR | Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A draft called `name` in `dir`. One that is there already is somebody else's: EEXIST.
    pub fn named(dir: impl AsFd, name: &[u8], mode: u32) -> Os<Self> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = openat(dir, name, flags, Mode::from_raw_mode(mode))?;
        Ok(Self { fd, name: Some(name.to_vec()) })
    }

    /// A draft called `name` that an earlier try left.
    pub fn reopen(dir: impl AsFd, name: &[u8]) -> Os<Self> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(Self { fd: openat(dir, name, flags, Mode::empty())?, name: Some(name.to_vec()) })
    }

    /// The open file.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The open file alone; its name, if it has one, is the caller's business.
    pub fn into_fd(self) -> OwnedFd {
        self.fd
    }

    /// Takes the draft's own name away, if it has one.
    pub fn discard(self, dir: impl AsFd) -> Os<()> {
        self.name.map_or(Ok(()), |name| remove_file(dir, &name))
    }
}

/// Gives a complete draft its final name in `dir`, at once. What has that name is replaced; `spare` is a name of ours in
/// the same directory that is free, which a draft without a name needs for that: EEXIST where there is none.
pub fn publish(draft: &Draft, dir: impl AsFd, name: &[u8], spare: Option<&[u8]>) -> Os<()> {
    if let Some(own) = &draft.name {
        return renameat(&dir, &own[..], &dir, name);
    }
    match (link_open_file(&draft.fd, &dir, name), spare) {
        (Err(Errno::EXIST), Some(spare)) => {
            remove_file(&dir, spare)?;
            link_open_file(&draft.fd, &dir, spare)?;
            let renamed = renameat(&dir, spare, &dir, name);
            if renamed.is_err() {
                let _ = remove_file(&dir, spare);
            }
            renamed
        }
        (result, _) => result,
    }
}

fn link_open_file(file: &OwnedFd, dir: impl AsFd, name: &[u8]) -> Os<()> {
    match linkat(file, c"", &dir, name, AtFlags::EMPTY_PATH) {
        // Needs CAP_DAC_READ_SEARCH before Linux 6.10; the name in /proc needs nothing.
        Err(Errno::NOENT) => {
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            linkat(rustix::fs::CWD, path, dir, name, AtFlags::SYMLINK_FOLLOW)
        }
        result => result,
    }
}

/// Gives the file `from` in `from_dir` the further name `name` in `dir`, replacing what has it. Two names of one file are
/// left alone.
pub fn publish_link(from_dir: impl AsFd, from: &[u8], dir: impl AsFd, name: &[u8], spare: &[u8]) -> Os<()> {
    match linkat(&from_dir, from, &dir, name, AtFlags::empty()) {
        Err(Errno::EXIST) => {
            remove_file(&dir, spare)?;
            linkat(&from_dir, from, &dir, spare, AtFlags::empty())?;
            let renamed = renameat(&dir, spare, &dir, name);
            // If both were one file already, the rename did nothing; if it failed, nothing may be left.
            let removed = remove_file(&dir, spare);
            renamed.and(removed)
        }
        result => result,
    }
}

/// Renames the finished `draft` in `dir` to `name`, which must be free.
pub fn swap_in(dir: impl AsFd, draft: &[u8], name: &[u8]) -> Os<()> {
    match renameat_with(&dir, draft, &dir, name, RenameFlags::NOREPLACE) {
        // File systems that know no flags; a directory is never replaced unless it is empty.
        Err(Errno::INVAL | Errno::NOSYS) => renameat(&dir, draft, &dir, name),
        result => result,
    }
}

/// Makes a fifo or device `name` like `meta`, which must be free.
pub fn make_node(dir: impl AsFd, name: &[u8], meta: &Meta) -> Os<()> {
    let kind = match meta.kind {
        Kind::Fifo => FileType::Fifo,
        Kind::BlockDevice => FileType::BlockDevice,
        Kind::CharDevice => FileType::CharacterDevice,
        _ => return Err(Errno::INVAL),
    };
    mknodat(dir, name, kind, meta.mode_bits(), meta.node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Root, write_full};

    #[test]
    fn a_draft_appears_whole_and_replaces() {
        let place = tempfile::tempdir().unwrap();
        let root = Root::open(place.path()).unwrap();
        for text in ["first", "second"] {
            let named = Draft::named(root.fd(), b".draft", 0o600).unwrap();
            write_full(named.fd(), text.as_bytes(), 0).unwrap();
            publish(&named, root.fd(), b"named", None).unwrap();
            if let Some(unnamed) = Draft::unnamed(root.fd(), 0o600).unwrap() {
                write_full(unnamed.fd(), text.as_bytes(), 0).unwrap();
                publish(&unnamed, root.fd(), b"unnamed", Some(b".spare")).unwrap();
                assert_eq!(std::fs::read_to_string(place.path().join("unnamed")).unwrap(), text);
            }
            assert_eq!(std::fs::read_to_string(place.path().join("named")).unwrap(), text);
        }
        // A directory is in the way: nothing of ours is left.
        std::fs::create_dir(place.path().join("in the way")).unwrap();
        if let Some(unnamed) = Draft::unnamed(root.fd(), 0o600).unwrap() {
            assert_eq!(publish(&unnamed, root.fd(), b"in the way", Some(b".spare")), Err(Errno::ISDIR));
        }
        assert!(std::fs::read_dir(place.path()).unwrap().count() <= 3);
    }

    #[test]
    fn linking_replaces_and_may_be_repeated() {
        use std::os::unix::fs::MetadataExt as _;
        let place = tempfile::tempdir().unwrap();
        let root = Root::open(place.path()).unwrap();
        std::fs::write(place.path().join("a"), "a").unwrap();
        std::fs::write(place.path().join("b"), "b").unwrap();
        for _ in 0..2 {
            publish_link(root.fd(), b"a", root.fd(), b"b", b".spare").unwrap();
        }
        assert_eq!(place.path().join("b").metadata().unwrap().nlink(), 2);
        std::fs::create_dir(place.path().join("c")).unwrap();
        assert_eq!(publish_link(root.fd(), b"a", root.fd(), b"c", b".spare"), Err(Errno::ISDIR));
        std::fs::remove_dir(place.path().join("c")).unwrap();
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 2);
    }
}
