use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, openat};

use crate::{Errno, Os};

/// Opens the directory `name` in `dir`; a symlink is not followed.
pub fn open_dir_in(dir: impl AsFd, name: &[u8]) -> Os<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    openat(dir, name, flags, Mode::empty())
}

/// Opens the file `name` in `dir` for reading, without following a symlink, without hanging on what has become a fifo,
/// and without touching its access time where we may.
pub fn open_reading(dir: impl AsFd, name: &[u8]) -> Os<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match openat(&dir, name, flags | OFlags::NOATIME, Mode::empty()) {
        // Only the owner and root may ask for it.
        Err(Errno::PERM) => openat(&dir, name, flags, Mode::empty()),
        result => result,
    }
}

/// Reads at `offset` until `buffer` is full or the file ends; returns the bytes read.
pub fn read_full(file: impl AsFd, buffer: &mut [u8], offset: u64) -> Os<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match rustix::io::pread(&file, &mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Writes all of `bytes` at `offset`.
pub fn write_full(file: impl AsFd, bytes: &[u8], offset: u64) -> Os<()> {
    let mut done = 0;
    while done < bytes.len() {
        match rustix::io::pwrite(&file, &bytes[done..], offset + done as u64) {
            Ok(0) => return Err(Errno::IO),
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Where the symlink `name` in `dir` points.
pub fn read_link(dir: impl AsFd, name: &[u8]) -> Os<Vec<u8>> {
    rustix::fs::readlinkat(dir, name, Vec::with_capacity(256)).map(std::ffi::CString::into_bytes)
}
