//! One mark for a whole file system (fanotify(7), Linux 5.9): what changes in it is told with the directory's handle and
//! the name, by the kernel, without a watch per directory. Needs CAP_SYS_ADMIN, and a file system that has handles.

use std::os::fd::{AsFd, AsRawFd, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fault::Fault;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, fstat, open, readlink};
use store::Errno;

use super::follower::{Follower, Told};
use super::mounts::mounts_below;

const WANTED: u64 = libc::FAN_CREATE
    | libc::FAN_DELETE
    | libc::FAN_MOVED_FROM
    | libc::FAN_MOVED_TO
    | libc::FAN_MODIFY
    | libc::FAN_ATTRIB
    | libc::FAN_CLOSE_WRITE
    | libc::FAN_ONDIR;
/// Events after which a directory may be one that we know nothing of.
const NEW: u64 = libc::FAN_CREATE | libc::FAN_MOVED_TO;
/// Bytes that one read may fill: a thousand events and more.
const BUFFER: usize = 256 << 10;
const HEAD: usize = 24;

/// Follows a source by fanotify.
#[derive(Debug)]
pub struct Fanotify {
    fd: OwnedFd,
    root: OwnedFd,
    marked: Vec<Marked>,
    buffer: Vec<u8>,
}

/// A file system that is marked.
#[derive(Debug)]
struct Marked {
    id: [u8; 8],
    /// A directory on it, to open handles with.
    at: OwnedFd,
}

/// One event as the kernel tells it.
#[derive(Debug, PartialEq, Eq)]
struct Event<'a> {
    mask: u64,
    /// The file system, the directory's handle, the name.
    place: Option<([u8; 8], &'a [u8], &'a [u8])>,
    /// The handle of what has, or had, the name.
    target: Option<&'a [u8]>,
}

impl Fanotify {
    /// Marks the file system of `source`, and those that are mounted below it where `cross_mounts`.
    pub fn start(source: &Path, cross_mounts: bool) -> fault::Result<Self> {
        let failed = |error| Fault::os("watch", source, error);
        let fd = match new_queue(libc::FAN_REPORT_DFID_NAME_TARGET) {
            // Before Linux 5.17.
            Err(Errno::INVAL) => new_queue(libc::FAN_REPORT_DFID_NAME),
            queue => queue,
        };
        let fd = fd.map_err(failed)?;
        let root = open_dir(source).map_err(failed)?;
        let mut marked = vec![Marked::add(&fd, source).map_err(failed)?];
        if cross_mounts {
            for mount in mounts_below(source) {
                marked.push(Marked::add(&fd, &mount).map_err(|error| Fault::os("watch", &mount, error))?);
            }
        }
        Ok(Self { fd, root, marked, buffer: vec![0; BUFFER] })
    }

    /// The path of the source as it is now, whatever was renamed above it.
    fn root_path(&self) -> fault::Result<PathBuf> {
        path_of(&self.root).map_err(|error| Fault::os("find", Path::new("the source"), error))
    }

    /// The path, relative to the source, of the directory with this handle; `None` where it lies elsewhere or is gone.
    fn resolve(&self, root: &Path, id: [u8; 8], handle: &[u8]) -> store::Os<Option<Vec<u8>>> {
        let Some(marked) = self.marked(id) else { return Ok(None) };
        let dir = match open_handle(&marked.at, handle) {
            Err(Errno::STALE | Errno::NOENT) => return Ok(None),
            opened => opened?,
        };
        if fstat(&dir)?.st_nlink == 0 {
            return Ok(None);
        }
        let path = match path_of(&dir) {
            Err(Errno::NOENT) => return Ok(None),
            found => found?,
        };
        Ok(path.strip_prefix(root).ok().map(|path| path.as_os_str().as_bytes().to_vec()))
    }

    /// Parts of one file system may have ids of their own; its handles are good all the same.
    fn marked(&self, id: [u8; 8]) -> Option<&Marked> {
        self.marked.iter().find(|marked| marked.id == id).or(self.marked.first())
    }

    /// The inode number of a file that lost a name and has others still: it may have changed by the name that is gone.
    fn survivor(&self, id: [u8; 8], target: &[u8]) -> Option<u64> {
        let file = open_handle(&self.marked(id)?.at, target).ok()?;
        fstat(&file).ok().filter(|meta| meta.st_nlink > 0).map(|meta| meta.st_ino)
    }

    fn tell(&self, told: &mut Told, bytes: &[u8]) -> fault::Result<()> {
        let root = self.root_path()?;
        // Events of one directory come together.
        let mut last: Option<(&[u8], Option<Vec<u8>>)> = None;
        for event in events(bytes) {
            if event.mask & libc::FAN_Q_OVERFLOW != 0 {
                told.lost("the kernel's queue of events ran over");
                continue;
            }
            let Some((id, handle, name)) = event.place else { continue };
            let dir = match last.take_if(|(same, _)| *same == handle) {
                Some((_, dir)) => dir,
                None => match self.resolve(&root, id, handle) {
                    Ok(dir) => dir,
                    Err(error) => {
                        told.lost(&format!("a directory that changed could not be found ({error})"));
                        continue;
                    }
                },
            };
            if let Some(dir) = &dir {
                note(told, dir, name, event.mask);
                let deleted = event.mask & libc::FAN_DELETE != 0 && event.mask & libc::FAN_ONDIR == 0;
                if let Some(inode) =
                    event.target.filter(|_| deleted).and_then(|target| self.survivor(id, target))
                {
                    told.changes.inode(inode);
                }
            }
            last = Some((handle, dir));
        }
        Ok(())
    }
}

fn note(told: &mut Told, dir: &[u8], name: &[u8], mask: u64) {
    if name.is_empty() || name == b"." {
        return told.changes.directory(dir);
    }
    let is_dir = mask & libc::FAN_ONDIR != 0;
    if is_dir && mask & (WANTED & !libc::FAN_ONDIR) == libc::FAN_ATTRIB {
        return told.changes.directory(&store::below(dir, name));
    }
    told.changes.name(dir, name, is_dir && mask & NEW != 0);
}

impl Follower for Fanotify {
    fn by(&self) -> &'static str {
        "fanotify"
    }

    fn take(&mut self, told: &mut Told, wait: Duration) -> fault::Result<()> {
        let failed = |error| Fault::os("read", Path::new("the kernel's queue of events"), error);
        if !is_ready(&self.fd, wait).map_err(failed)? {
            return Ok(());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = rustix::io::read(&self.fd, &mut buffer[..]);
        let done = match read {
            Ok(length) => self.tell(told, &buffer[..length]),
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(error) => Err(failed(error)),
        };
        self.buffer = buffer;
        done
    }
}

impl Marked {
    fn add(fanotify: &OwnedFd, path: &Path) -> store::Os<Self> {
        let at = open_dir(path)?;
        let flags = libc::FAN_MARK_ADD | libc::FAN_MARK_FILESYSTEM;
        // SAFETY: both descriptors are open, and no path is given: the mark is for the file system of `at`.
        let done = unsafe {
            libc::fanotify_mark(fanotify.as_raw_fd(), flags, WANTED, at.as_raw_fd(), std::ptr::null())
        };
        if done < 0 {
            return Err(last_error());
        }
        // A file system whose handles can't be opened again tells us nothing.
        open_handle(&at, &handle_of(&at)?)?;
        // Events have both words of it, one after the other.
        let words = rustix::fs::fstatvfs(&at)?.f_fsid;
        let mut id = [0; 8];
        id[..4].copy_from_slice(&(words as u32).to_ne_bytes());
        id[4..].copy_from_slice(&((words >> 32) as u32).to_ne_bytes());
        Ok(Self { id, at })
    }
}

fn new_queue(report: libc::c_uint) -> store::Os<OwnedFd> {
    let flags = libc::FAN_CLASS_NOTIF | libc::FAN_CLOEXEC | libc::FAN_NONBLOCK | report;
    // SAFETY: fanotify_init(2) takes two numbers and returns a new descriptor or -1.
    let fd = unsafe { libc::fanotify_init(flags, 0) };
    if fd < 0 {
        return Err(last_error());
    }
    // SAFETY: the kernel just gave us this descriptor; nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn open_dir(path: &Path) -> store::Os<OwnedFd> {
    open(path, OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY, Mode::empty())
}

/// Waits at most `wait` for something to read.
pub fn is_ready(fd: impl AsFd, wait: Duration) -> store::Os<bool> {
    let timeout = Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() };
    match poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&timeout)) {
        Err(Errno::INTR) => Ok(false),
        ready => ready.map(|count| count > 0),
    }
}

fn path_of(fd: &OwnedFd) -> store::Os<PathBuf> {
    let link = readlink(format!("/proc/self/fd/{}", fd.as_raw_fd()), Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(link.as_bytes())))
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// A handle as the kernel has it: its length, its type, its bytes; aligned as the kernel's structure is.
fn aligned(handle: &[u8]) -> Vec<u32> {
    handle
        .chunks(4)
        .map(|word| {
            let mut bytes = [0; 4];
            bytes[..word.len()].copy_from_slice(word);
            u32::from_ne_bytes(bytes)
        })
        .collect()
}

fn handle_of(dir: &OwnedFd) -> store::Os<Vec<u8>> {
    const MOST: usize = 128;
    let mut words = vec![0u32; 2 + MOST / 4];
    words[0] = MOST as u32;
    let mut mount = 0;
    // SAFETY: `words` is a file_handle with room for the 128 bytes that it says; the path is an empty C string.
    let done = unsafe {
        libc::name_to_handle_at(
            dir.as_raw_fd(),
            c"".as_ptr(),
            words.as_mut_ptr().cast::<libc::file_handle>(),
            &raw mut mount,
            libc::AT_EMPTY_PATH,
        )
    };
    if done < 0 {
        return Err(last_error());
    }
    let length = 8 + words[0] as usize;
    Ok(words.iter().flat_map(|word| word.to_ne_bytes()).take(length).collect())
}

fn open_handle(at: &OwnedFd, handle: &[u8]) -> store::Os<OwnedFd> {
    let mut words = aligned(handle);
    // SAFETY: `words` is a whole file_handle: the parser checked that its bytes are as many as it says.
    let fd = unsafe {
        libc::open_by_handle_at(
            at.as_raw_fd(),
            words.as_mut_ptr().cast::<libc::file_handle>(),
            libc::O_PATH | libc::O_CLOEXEC,
        )
    };
    if fd < 0 {
        return Err(last_error());
    }
    // SAFETY: the kernel just gave us this descriptor; nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The events in what was read, as far as they are whole.
fn events(bytes: &[u8]) -> impl Iterator<Item = Event<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = u32::from_ne_bytes(*rest.first_chunk::<4>()?) as usize;
        if length < HEAD {
            return None;
        }
        let event = rest.get(..length)?;
        rest = &rest[length..];
        let mask = event[8..].first_chunk::<8>().map_or(0, |mask| u64::from_ne_bytes(*mask));
        let head = usize::from(u16::from_ne_bytes([event[6], event[7]]));
        let records = || event.get(head..).map(records).into_iter().flatten();
        let place = records().find_map(|(kind, id, handle, name)| {
            let named = kind == libc::FAN_EVENT_INFO_TYPE_DFID_NAME || kind == libc::FAN_EVENT_INFO_TYPE_DFID;
            named.then_some((id, handle, name))
        });
        let target =
            records().find(|record| record.0 == libc::FAN_EVENT_INFO_TYPE_FID).map(|record| record.2);
        Some(Event { mask, place, target })
    })
}

/// The records of an event that have a handle: kind, file system, handle, name.
fn records(mut rest: &[u8]) -> impl Iterator<Item = (u8, [u8; 8], &[u8], &[u8])> {
    std::iter::from_fn(move || {
        let (&kind, length) = (rest.first()?, rest.get(2..4)?);
        let length = usize::from(u16::from_ne_bytes([length[0], length[1]]));
        let record = rest.get(4..length)?;
        rest = &rest[length..];
        let (id, record) = record.split_first_chunk::<8>()?;
        let size = 8 + u32::from_ne_bytes(*record.first_chunk::<4>()?) as usize;
        let (handle, name) = (record.get(..size)?, &record[size..]);
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        Some((kind, *id, handle, &name[..end]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u8, handle: &[u8], name: &[u8]) -> Vec<u8> {
        let mut body = [7u8; 8].to_vec();
        body.extend_from_slice(&(handle.len() as u32).to_ne_bytes());
        body.extend_from_slice(&1i32.to_ne_bytes());
        body.extend_from_slice(handle);
        body.extend_from_slice(name);
        body.push(0);
        body.resize(body.len().next_multiple_of(4), 0);
        let mut out = vec![kind, 0];
        out.extend_from_slice(&((body.len() + 4) as u16).to_ne_bytes());
        out.extend_from_slice(&body);
        out
    }

    fn event(mask: u64, pid: u32, records: &[u8]) -> Vec<u8> {
        let mut out = ((HEAD + records.len()) as u32).to_ne_bytes().to_vec();
        out.extend_from_slice(&[3, 0]);
        out.extend_from_slice(&(HEAD as u16).to_ne_bytes());
        out.extend_from_slice(&mask.to_ne_bytes());
        out.extend_from_slice(&(-1i32).to_ne_bytes());
        out.extend_from_slice(&pid.to_ne_bytes());
        out.extend_from_slice(records);
        out
    }

    #[test]
    fn events_are_read_one_after_the_other() {
        let mut bytes = event(libc::FAN_CREATE, 5, &record(2, b"handle01", b"name"));
        bytes.extend(event(libc::FAN_Q_OVERFLOW, 0, &[]));
        let other = [record(1, b"x", b""), record(2, b"handle02", b"\xff")].concat();
        bytes.extend(event(libc::FAN_DELETE, 6, &other));
        let found: Vec<_> = events(&bytes).collect();
        assert_eq!(found[0].mask, libc::FAN_CREATE);
        let (id, handle, name) = found[0].place.unwrap();
        assert_eq!((id, &handle[8..], name), ([7; 8], &b"handle01"[..], &b"name"[..]));
        assert_eq!((found[1].mask, found[1].place), (libc::FAN_Q_OVERFLOW, None));
        assert_eq!(found[2].place.unwrap().2, b"\xff");
        assert_eq!(found[2].target.map(|handle| &handle[8..]), Some(&b"x"[..]));
        assert_eq!(found[0].target, None);
        assert_eq!(found.len(), 3);
    }

    proptest::proptest! {
        #[test]
        fn garbage_never_panics(bytes: Vec<u8>, cut in 0usize..200, at in 0usize..100, byte: u8) {
            assert!(events(&bytes).count() <= bytes.len());
            let mut whole = event(1, 2, &record(2, b"12345678", b"n"));
            whole.extend(event(1, 2, &record(3, b"12345678", b"")));
            let at = at % whole.len();
            whole[at] = byte;
            whole.truncate(cut);
            assert!(events(&whole).count() <= 5);
        }
    }
}
