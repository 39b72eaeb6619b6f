//! The content of one file, and what belongs to it, from one side to the other.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use chunk::Id;
use fault::{Fault, Kind};
use rustix::fs::{Advice, Mode, OFlags, fadvise, fdatasync, ftruncate, openat};
use store::{Attributes, Draft, Errno, Meta, extents, is_sparse, meta_of, read_full, write_full};

use crate::index::Known;
use crate::job::{BUFFER, Hand, Job, Trouble};
use crate::options::Verify;

/// How often a file that changes while it is read is tried.
const TRIES: u32 = 4;

/// Where a file goes.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// The directory at the destination.
    pub dir: BorrowedFd<'a>,
    /// Nobody sees this directory yet: files get their names at once.
    pub hidden: bool,
    /// The directory gives new entries an ACL of its own.
    pub default_acl: bool,
    /// The owner and group that new files have here from the start, where that is certain.
    pub birth: Option<(u32, u32)>,
    /// Something has the final name already.
    pub replaces: bool,
}

impl<'a> Target<'a> {
    /// Of a directory at the destination.
    pub fn of(job: &Job<'_>, dir: BorrowedFd<'a>, hidden: bool) -> store::Os<Self> {
        let default_acl = has_default_acl(dir);
        let mut birth = None;
        if hidden && !default_acl {
            // We made this directory a moment ago: it shows what new entries get here. A squashing server or a mount
            // option may decide otherwise than we would.
            let meta = meta_of(dir)?;
            let expected = (job.birth.uid, if meta.mode & 0o2000 == 0 { job.birth.gid } else { meta.gid });
            birth = (expected == (meta.uid, meta.gid)).then_some(expected);
        }
        Ok(Self { dir, hidden, default_acl, birth, replaces: false })
    }
}

fn has_default_acl(dir: BorrowedFd<'_>) -> bool {
    let mut value = [0u8; 1024];
    match rustix::fs::fgetxattr(dir, "system.posix_acl_default", &mut value[..]) {
        Ok(size) => size > 0,
        Err(error) => error == Errno::RANGE,
    }
}

/// The place that content is written to before it has its final name.
enum Page {
    Hidden(OwnedFd),
    Draft(Draft),
}

impl Page {
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Hidden(fd) => fd.as_fd(),
            Self::Draft(draft) => draft.fd(),
        }
    }
}

/// Copies the file `name` of `dir_path`, which was `meta` when it was listed. At the end it is complete under its final
/// name, or not there at all. Returns what the index should know.
pub fn copy_file(
    job: &Job<'_>,
    hand: &mut Hand,
    (from, dir_path, name): (BorrowedFd<'_>, &[u8], &[u8]),
    meta: &Meta,
    target: &Target<'_>,
) -> Result<Known, Trouble> {
    let path = || store::below(dir_path, name);
    let mut meta = *meta;
    for _ in 0..TRIES {
        if job.stopping() {
            return Err(Trouble::Stopped);
        }
        let source =
            store::open_reading(from, name).map_err(|error| job.at_source("open", &path(), error))?;
        let page = open_page(job, dir_path, name, &meta, target)
            .map_err(|error| error.unwrap_or_else(|error| job.at_destination("create", &path(), error)))?;
        let done = write_page(job, hand, &source, &page, &meta, &path).and_then(|id| {
            let after = meta_of(&source).map_err(|error| job.at_source("look at", &path(), error))?;
            if !meta.same_content(&after) {
                meta = after;
                return Ok(None);
            }
            finish_page(job, &source, &page, &meta, target, &path)?;
            verify(job, hand, &page, &meta, &id, &path)?;
            Ok(Some(id))
        });
        match done {
            Ok(Some(id)) => {
                publish(job, dir_path, name, &page, target)?;
                let racy = job.is_racy(meta.ctime);
                return Ok(Known { id: Some(id.short()), racy, ..Known::of(&meta) });
            }
            Ok(None) => drop(discard(page, name, target)),
            Err(trouble) => {
                let _ = discard(page, name, target);
                return Err(trouble);
            }
        }
        if meta.kind != store::Kind::File {
            return Err(Trouble::Vanished);
        }
    }
    Err(Trouble::Unstable)
}

fn open_page(
    job: &Job<'_>,
    dir_path: &[u8],
    name: &[u8],
    meta: &Meta,
    target: &Target<'_>,
) -> Result<Page, Result<Trouble, Errno>> {
    let mode = meta.mode & 0o777;
    if target.hidden {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        return openat(target.dir, name, flags, Mode::from_raw_mode(mode)).map(Page::Hidden).map_err(Err);
    }
    // Whoever takes over a mover's work finds and removes drafts that have a name: what it had in hand can't appear later.
    if !target.replaces
        && job.part.is_none()
        && let Some(draft) = Draft::unnamed(target.dir, mode).map_err(Err)?
    {
        return Ok(Page::Draft(draft));
    }
    let own = job.drafts.name_in(dir_path).map_err(|fault| Ok(Trouble::Fatal(fault)))?;
    Draft::named(target.dir, &own, mode).map(Page::Draft).map_err(Err)
}

fn discard(page: Page, name: &[u8], target: &Target<'_>) -> store::Os<()> {
    match page {
        Page::Hidden(_) => store::remove_file(target.dir, name),
        Page::Draft(draft) => draft.discard(target.dir),
    }
}

/// Reads the source to the end of `meta`'s size, writes it, and returns its hash.
fn write_page(
    job: &Job<'_>,
    hand: &mut Hand,
    source: &OwnedFd,
    page: &Page,
    meta: &Meta,
    path: &dyn Fn() -> Vec<u8>,
) -> Result<Id, Trouble> {
    let unread = |error| job.at_source("read", &path(), error);
    let unwritten = |error| job.at_destination("write", &path(), error);
    if is_sparse(meta) {
        return write_sparse(job, hand, source, page, meta, path);
    }
    if meta.size <= BUFFER as u64 {
        let bytes = &mut hand.buffer[..meta.size as usize];
        let length = read_full(source, bytes, 0).map_err(unread)?;
        job.throttle.pass(length as u64, || job.stopping());
        write_full(page.fd(), &bytes[..length], 0).map_err(unwritten)?;
        count(job, length);
        return Ok(Id::of(&bytes[..length]));
    }
    let mut hasher = blake3::Hasher::new();
    let mut at = 0;
    while at < meta.size {
        if job.stopping() {
            return Err(Trouble::Stopped);
        }
        let wanted = (meta.size - at).min(BUFFER as u64) as usize;
        let length = read_full(source, &mut hand.buffer[..wanted], at).map_err(unread)?;
        if length == 0 {
            break;
        }
        job.throttle.pass(length as u64, || job.stopping());
        hasher.update(&hand.buffer[..length]);
        write_full(page.fd(), &hand.buffer[..length], at).map_err(unwritten)?;
        count(job, length);
        at += length as u64;
    }
    Ok(Id(*hasher.finalize().as_bytes()))
}

fn count(job: &Job<'_>, length: usize) {
    job.counters.bytes_read.add(length as u64);
    job.counters.bytes_sent.add(length as u64);
}

/// The same for a file with holes: they stay holes, and are hashed as the zeros that they read as.
fn write_sparse(
    job: &Job<'_>,
    hand: &mut Hand,
    source: &OwnedFd,
    page: &Page,
    meta: &Meta,
    path: &dyn Fn() -> Vec<u8>,
) -> Result<Id, Trouble> {
    let unread = |error| job.at_source("read", &path(), error);
    let unwritten = |error| job.at_destination("write", &path(), error);
    let mut hasher = blake3::Hasher::new();
    let mut at = 0;
    for piece in extents(source, 0, meta.size).map_err(unread)? {
        hash_zeros(&mut hasher, &mut hand.buffer, piece.offset - at);
        job.counters.bytes_saved.add(piece.offset - at);
        at = piece.offset;
        while at < piece.end() {
            if job.stopping() {
                return Err(Trouble::Stopped);
            }
            let wanted = (piece.end() - at).min(BUFFER as u64) as usize;
            let length = read_full(source, &mut hand.buffer[..wanted], at).map_err(unread)?;
            if length == 0 {
                // It became shorter: the look afterwards will tell.
                return Ok(Id(*hasher.finalize().as_bytes()));
            }
            job.throttle.pass(length as u64, || job.stopping());
            hasher.update(&hand.buffer[..length]);
            write_full(page.fd(), &hand.buffer[..length], at).map_err(unwritten)?;
            count(job, length);
            at += length as u64;
        }
    }
    hash_zeros(&mut hasher, &mut hand.buffer, meta.size - at);
    job.counters.bytes_saved.add(meta.size - at);
    ftruncate(page.fd(), meta.size).map_err(unwritten)?;
    Ok(Id(*hasher.finalize().as_bytes()))
}

fn hash_zeros(hasher: &mut blake3::Hasher, buffer: &mut [u8], mut length: u64) {
    if length == 0 {
        return;
    }
    buffer.fill(0);
    while length > 0 {
        let now = length.min(buffer.len() as u64);
        hasher.update(&buffer[..now as usize]);
        length -= now;
    }
}

/// Puts owner, mode, attributes and times on it, through the open file.
fn finish_page(
    job: &Job<'_>,
    source: &OwnedFd,
    page: &Page,
    meta: &Meta,
    target: &Target<'_>,
    path: &dyn Fn() -> Vec<u8>,
) -> Result<(), Trouble> {
    let mut wanted = Attributes::of(meta, job.rules.with_owner);
    wanted.named = store::named(source, job.options.extended)
        .map_err(|error| job.at_source("read attributes of", &path(), error))?;
    let unset = |error| job.at_destination("remove inherited attributes of", &path(), error);
    if target.default_acl && job.options.extended.acls {
        store::drop_inherited(page.fd()).map_err(unset)?;
    }
    let now = match target.birth {
        Some((uid, gid)) => Meta { uid, gid, mode: meta.mode & 0o777 & !job.birth.umask, ..*meta },
        None => meta_of(page.fd()).map_err(unset)?,
    };
    store::apply(page.fd(), &wanted, &now)
        .map_err(|(action, error)| job.at_destination(&action, &path(), error))
}

/// Reads back what was written, if that is asked for.
fn verify(
    job: &Job<'_>,
    hand: &mut Hand,
    page: &Page,
    meta: &Meta,
    id: &Id,
    path: &dyn Fn() -> Vec<u8>,
) -> Result<(), Trouble> {
    if job.options.verify == Verify::None {
        return Ok(());
    }
    if meta.size > BUFFER as u64 {
        // From the disk, not from memory.
        fdatasync(page.fd()).map_err(|error| job.at_destination("write", &path(), error))?;
        let _ = fadvise(page.fd(), 0, None, Advice::DontNeed);
    }
    let found = hash_of(job, hand, page.fd(), meta.size).map_err(|error| {
        error.map_or(Trouble::Stopped, |error| job.at_destination("read back", &path(), error))
    })?;
    job.counters.bytes_verified.add(meta.size);
    if found == *id { Ok(()) } else { Err(Trouble::Item(reads_back_differently(job, &path()))) }
}

/// The failure of a file that does not read back as it was written.
pub fn reads_back_differently(job: &Job<'_>, path: &[u8]) -> Fault {
    let text =
        format!("`{}` reads back differently than it was written", job.destination.show(path).display());
    Fault::new(Kind::Io, text).hint("its file system or memory is damaged: look at `dmesg`")
}

/// The hash of an open file of `size` bytes; `None` as error when the job stops.
pub fn hash_of(job: &Job<'_>, hand: &mut Hand, file: BorrowedFd<'_>, size: u64) -> Result<Id, Option<Errno>> {
    let mut hasher = blake3::Hasher::new();
    let mut at = 0;
    while at < size {
        if job.stopping() {
            return Err(None);
        }
        let wanted = (size - at).min(BUFFER as u64) as usize;
        let length = read_full(file, &mut hand.buffer[..wanted], at).map_err(Some)?;
        if length == 0 {
            break;
        }
        hasher.update(&hand.buffer[..length]);
        at += length as u64;
    }
    Ok(Id(*hasher.finalize().as_bytes()))
}

fn publish(
    job: &Job<'_>,
    dir_path: &[u8],
    name: &[u8],
    page: &Page,
    target: &Target<'_>,
) -> Result<(), Trouble> {
    let Page::Draft(draft) = page else { return Ok(()) };
    let mut done = store::publish(draft, target.dir, name, None);
    if done == Err(Errno::EXIST) {
        let spare = job.drafts.name_in(dir_path)?;
        done = store::publish(draft, target.dir, name, Some(&spare));
    }
    done.map_err(|error| job.at_destination("replace", &store::below(dir_path, name), error))
}
