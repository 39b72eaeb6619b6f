//! From a tree to an object store.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use chunk::Id;
use fault::{Fault, Kind as FaultKind};
use store::objects::{Bytes, Labels, Object};
use store::{Errno, Extended, Kind, Meta, Root, meta_of, meta_of_entry, read_full};

use super::in_parts;
use super::labels::Posix;
use super::side::Place;
use super::work::{CLOCKS, Done, Hand, PIECE, TRIES, Task, Todo, Trouble, Work};
use crate::index::Known;
use crate::options::Verify;

/// Does one entry.
pub fn upload(work: &Work<'_>, hand: &mut Hand, root: &Root, task: &Task) -> Result<Done, Trouble> {
    let place = work.destination_store()?;
    if task.todo == Todo::Check && checks_out(work, place, task)? {
        work.counters.skipped.one();
        return Ok(Done::Known(task.known.unwrap_or(task.found.known)));
    }
    if let Some(known) = super::renames::dress(work, hand, root, task)? {
        return Ok(Done::Known(known));
    }
    let path = &task.found.path[..];
    for _ in 0..TRIES {
        if work.stopping() {
            return Err(Trouble::Stopped);
        }
        let entry = Entry::open(root, hand, path)?;
        if entry.meta.kind == Kind::Socket {
            return Ok(Done::LeftOut);
        }
        let posix = Posix::of(&entry.meta, entry.named(work.options.extended, root, path)?);
        if task.todo == Todo::Compare && is_there(place, &entry.meta, &posix, path)? {
            work.counters.skipped.one();
            return Ok(Done::Known(Known::of(&entry.meta)));
        }
        let (labels, apart) = wanted_labels(place, &posix);
        if let Some(bytes) = apart {
            place.write_attributes(&bytes)?;
        }
        if let (Kind::Directory, Some(far)) = (entry.meta.kind, &place.far) {
            if far.make_directory(path)? {
                work.counters.made.one();
            }
            super::finish::later_far(work, path, Some(&Known::of(&entry.meta)))?;
            return Ok(Done::Later);
        }
        if task.todo == Todo::Recheck && entry.has_content_of(work, root, task)? {
            work.counters.skipped.one();
            let racy = work.is_racy(entry.meta.ctime);
            return Ok(Done::Known(Known { racy, ..task.known.unwrap_or(task.found.known) }));
        }
        let (key, is_apart) = place.key(path, entry.meta.kind == Kind::Directory);
        if task.replaces {
            place.store.delete(&[place.key(path, entry.meta.kind != Kind::Directory).0])?;
        }
        if is_apart {
            place.write_path(path, entry.meta.kind)?;
        }
        if let Some(id) = super::renames::copy(work, root, task, &entry, (place, &key, &labels))? {
            let racy = work.is_racy(entry.meta.ctime);
            return Ok(Done::Known(Known { racy, id: Some(id), ..Known::of(&entry.meta) }));
        }
        let sent = match super::delta::send(work, root, task, &entry, (place, &key, &labels))? {
            Some(sent) => sent,
            None => entry.send(work, root, path, (place, &key, &labels))?,
        };
        let id = match sent {
            Sent::Changed => continue,
            Sent::Marks => None,
            Sent::Content(id) => {
                if let Some(group) = posix.group.filter(|_| place.far.is_some()) {
                    super::finish::link_later(work, group, path, id.short())?;
                }
                Some(id.short())
            }
        };
        let racy = work.is_racy(entry.meta.ctime);
        return Ok(Done::Known(Known { racy, id, ..Known::of(&entry.meta) }));
    }
    Err(Trouble::Unstable)
}

/// What an object is to carry, as far as the store keeps anything.
fn wanted_labels(place: &Place, posix: &Posix) -> (Labels, Option<Vec<u8>>) {
    if place.abilities.labels { posix.labels(&place.abilities) } else { (Labels::new(), None) }
}

/// What became of a try to send an entry.
pub enum Sent {
    /// It changed meanwhile: nothing of it has its key.
    Changed,
    /// All that there is but content.
    Marks,
    /// A file, with its hash.
    Content(Id),
}

/// An entry of the tree that is open, or the directory it is in.
pub struct Entry<'a> {
    pub meta: Meta,
    pub dir: BorrowedFd<'a>,
    pub name: &'a [u8],
    /// Files and directories.
    pub file: Option<OwnedFd>,
}

/// A failure at the source.
pub fn unread(root: &Root, action: &str, path: &[u8], error: Errno) -> Trouble {
    match error {
        Errno::NOENT | Errno::NOTDIR => Trouble::Vanished,
        error => Trouble::Item(Fault::os(action, &root.show(path), error)),
    }
}

impl<'a> Entry<'a> {
    /// Opens it.
    pub fn open(root: &Root, hand: &'a mut Hand, path: &'a [u8]) -> Result<Self, Trouble> {
        let failed = |error| unread(root, "open", path, error);
        let (dir_path, name) = store::split_last(path);
        if hand.source.as_ref().is_none_or(|(open, _)| open != dir_path) {
            hand.source = Some((dir_path.to_vec(), root.open_dir(dir_path).map_err(failed)?));
        }
        let Some((_, dir)) = &hand.source else { return Err(Trouble::Vanished) };
        let dir = dir.as_fd();
        let listed = if name.is_empty() { meta_of(dir) } else { meta_of_entry(dir, name) }.map_err(failed)?;
        let file = match listed.kind {
            _ if name.is_empty() => Some(root.open_dir(b"").map_err(failed)?),
            Kind::File => Some(store::open_reading(dir, name).map_err(failed)?),
            Kind::Directory => Some(store::open_dir_in(dir, name).map_err(failed)?),
            _ => None,
        };
        let meta = file.as_ref().map_or(Ok(listed), meta_of).map_err(failed)?;
        Ok(Self { meta, dir, name, file })
    }

    /// Its extended attributes, as far as they take part.
    pub fn named(&self, extended: Extended, root: &Root, path: &[u8]) -> Result<store::Named, Trouble> {
        let named = match &self.file {
            Some(file) => store::named(file, extended),
            None => store::named_of_entry(self.dir, self.name, extended),
        };
        named.map_err(|error| unread(root, "read attributes of", path, error))
    }

    /// Sends it.
    fn send(
        &self,
        work: &Work<'_>,
        root: &Root,
        path: &[u8],
        to: (&Place, &str, &Labels),
    ) -> Result<Sent, Trouble> {
        let (place, key, labels) = to;
        match (self.meta.kind, &self.file) {
            (Kind::File, Some(file)) if self.meta.size <= PIECE => {
                self.send_whole(work, root, path, file, to)
            }
            (Kind::File, Some(file)) => match super::delta::go_on(work, root, path, self, to)? {
                Some(sent) => Ok(sent),
                None => in_parts::send(work, root, (path, self, file), to),
            },
            (Kind::Directory, _) if !place.abilities.directory_marks && key.ends_with('/') => Ok(Sent::Marks),
            (Kind::Symlink, _) => {
                if !place.abilities.labels {
                    return Err(Trouble::Item(needs_labels(work, path)));
                }
                let target = store::read_link(self.dir, self.name)
                    .map_err(|error| unread(root, "read the link", path, error))?;
                place.store.write(key, target.into(), labels)?;
                work.counters.made.one();
                Ok(Sent::Marks)
            }
            _ => {
                if !place.abilities.labels && self.meta.kind != Kind::Directory {
                    return Err(Trouble::Item(needs_labels(work, path)));
                }
                place.store.write(key, Bytes::new(), labels)?;
                work.counters.made.one();
                Ok(Sent::Marks)
            }
        }
    }

    fn send_whole(
        &self,
        work: &Work<'_>,
        root: &Root,
        path: &[u8],
        file: &OwnedFd,
        (place, key, labels): (&Place, &str, &Labels),
    ) -> Result<Sent, Trouble> {
        let mut bytes = vec![0; self.meta.size as usize];
        let length = read_full(file, &mut bytes, 0).map_err(|error| unread(root, "read", path, error))?;
        if length != bytes.len() || !self.is_still(root, path, file)? {
            return Ok(Sent::Changed);
        }
        work.throttle(length as u64);
        let id = Id::of(&bytes);
        let tag = place.store.write(key, bytes.into(), labels)?;
        work.passed(length as u64);
        verify(work, place, key, (self.meta.size, &tag), &id)?;
        work.counters.copied.one();
        Ok(Sent::Content(id))
    }

    /// Whether the content is what the last sync sent, and stays so while it is read.
    fn has_content_of(&self, work: &Work<'_>, root: &Root, task: &Task) -> Result<bool, Trouble> {
        let (Some(file), Some(id)) = (&self.file, task.known.and_then(|known| known.id)) else {
            return Ok(false);
        };
        let (mut hasher, mut buffer, mut at) = (blake3::Hasher::new(), vec![0; 1 << 20], 0);
        while at < self.meta.size {
            if work.stopping() {
                return Err(Trouble::Stopped);
            }
            let length = read_full(file, &mut buffer, at)
                .map_err(|error| unread(root, "read", &task.found.path, error))?;
            if length == 0 {
                break;
            }
            hasher.update(&buffer[..length]);
            work.counters.bytes_read.add(length as u64);
            at += length as u64;
        }
        Ok(Id(*hasher.finalize().as_bytes()).short() == id && self.is_still(root, &task.found.path, file)?)
    }

    /// Whether it is as it was opened.
    pub fn is_still(&self, root: &Root, path: &[u8], file: &OwnedFd) -> Result<bool, Trouble> {
        let after = meta_of(file).map_err(|error| unread(root, "look at", path, error))?;
        Ok(self.meta.same_content(&after))
    }
}

/// Bytes of a part, so that a store's most parts are enough.
pub fn piece_for(place: &Place, size: u64) -> u64 {
    let least = size.div_ceil(place.abilities.most_parts.max(1)).next_multiple_of(1 << 20);
    PIECE.max(least).max(place.abilities.least_part)
}

fn needs_labels(work: &Work<'_>, path: &[u8]) -> Fault {
    let text = format!("`{}` can only be kept where objects have labels", work.source.show(path));
    Fault::new(FaultKind::Unsupported, text).hint("leave it out with --exclude")
}

/// Reads back what was written, if that is asked for.
pub fn verify(
    work: &Work<'_>,
    place: &Place,
    key: &str,
    (size, tag): (u64, &str),
    id: &Id,
) -> Result<(), Trouble> {
    if work.options.verify == Verify::None || place.chunked.is_some() {
        // Packs are read back as they are written.
        return Ok(());
    }
    let tag = Some(tag).filter(|tag| !tag.is_empty() && place.abilities.tied_reads);
    if hash_of(work, place, key, size, tag)? != Some(*id) {
        let text = format!("`{}{key}` reads back differently than it was written", place.store.shown());
        let fault = Fault::new(FaultKind::Corrupt, text);
        return Err(Trouble::Item(fault.hint("does somebody else write there? sync again")));
    }
    work.counters.bytes_verified.add(size);
    Ok(())
}

/// The hash of an object of `size` bytes; `None` if it has another size.
pub fn hash_of(
    work: &Work<'_>,
    place: &Place,
    key: &str,
    size: u64,
    tag: Option<&str>,
) -> Result<Option<Id>, Trouble> {
    if let Some(far) = &place.far {
        let (found, id) = far.hash(key)?;
        return Ok((found == size).then_some(id));
    }
    if place.store.stat(key)?.size != size {
        return Ok(None);
    }
    let mut hasher = blake3::Hasher::new();
    let mut at = 0;
    while at < size {
        if work.stopping() {
            return Err(Trouble::Stopped);
        }
        let end = size.min(at + PIECE);
        hasher.update(&place.store.read(key, at..end, tag)?);
        at = end;
    }
    Ok(Some(Id(*hasher.finalize().as_bytes())))
}

/// Whether the object of an unchanged file has the content that it had.
fn checks_out(work: &Work<'_>, place: &Place, task: &Task) -> Result<bool, Trouble> {
    let Some(known) = task.known.filter(|known| known.kind == Kind::File) else { return Ok(true) };
    let (key, _) = place.key(&task.found.path, false);
    let Some(id) = known.id else { return Ok(false) };
    match hash_of(work, place, &key, known.size, None) {
        Ok(found) => {
            let right = found.is_some_and(|found| found.short() == id);
            if right {
                work.counters.bytes_verified.add(known.size);
            }
            Ok(right)
        }
        Err(Trouble::Item(fault)) if fault.kind() == FaultKind::NotFound => Ok(false),
        // A chunk that is damaged or missing counts as not there, and comes again.
        Err(Trouble::Item(fault)) if place.chunked.is_some() && fault.kind() == FaultKind::Corrupt => {
            Ok(false)
        }
        Err(trouble) => Err(trouble),
    }
}

/// Whether the destination has the entry as it is, though no sync of ours knows: size and labels are equal, and it was
/// written after the entry was last touched.
fn is_there(place: &Place, meta: &Meta, posix: &Posix, path: &[u8]) -> Result<bool, Trouble> {
    if !place.abilities.labels {
        return Ok(false);
    }
    let (key, _) = place.key(path, meta.kind == Kind::Directory);
    let found = match place.look(&key) {
        Err(fault) if fault.kind() == FaultKind::NotFound => return Ok(false),
        found => found?,
    };
    let size = if meta.kind == Kind::File { meta.size } else { found.size };
    let (labels, _) = posix.labels(&place.abilities);
    let wanted = Object { key, labels: Some(labels), ..Object::default() };
    Ok(found.size == size
        && alike(place, &found, &wanted)
        && meta.ctime.as_nanos() + CLOCKS < found.modified.as_nanos())
}

/// Whether labels mean the same. In a tree a file with several names is not like any, and holes are the file system's.
pub fn alike(place: &Place, found: &Object, wanted: &Object) -> bool {
    let is_tree = place.far.is_some();
    let bare = |object: &Object| Posix { atime: None, sparse: false, ..Posix::read(object) };
    let (found, wanted) = (bare(found), bare(wanted));
    found == wanted && !(is_tree && wanted.group.is_some())
}
