use std::os::fd::AsFd;

use rustix::fs::{AtFlags, unlinkat};

use crate::{Errno, Kind, Lister, Os, meta_of_entry, open_dir_in};

/// Removes the name of anything but a directory; gone already is fine.
pub fn remove_file(dir: impl AsFd, name: &[u8]) -> Os<()> {
    match unlinkat(dir, name, AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        result => result,
    }
}

/// Removes `name` and everything below it, never through a symlink. For what is ours alone: drafts and trash.
pub fn remove_tree(dir: impl AsFd, name: &[u8]) -> Os<()> {
    let meta = match meta_of_entry(&dir, name) {
        Err(Errno::NOENT) => return Ok(()),
        result => result?,
    };
    if meta.kind != Kind::Directory {
        return remove_file(dir, name);
    }
    let inner = open_dir_in(&dir, name)?;
    let mut names = Vec::new();
    Lister::default().list(&inner, |entry| -> Os<()> {
        names.push(entry.name.to_bytes().to_vec());
        Ok(())
    })?;
    for inside in names {
        remove_tree(&inner, &inside)?;
    }
    unlinkat(dir, name, AtFlags::REMOVEDIR)
}
