//! From an object store to a tree.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use chunk::{Id, LEAF, Leaves, leaf_id};
use fault::{Fault, Kind as FaultKind};
use store::objects::{Bytes, Object, is_changed};
use store::{Attributes, Draft, Errno, Kind, Meta, Root, Stamp, meta_of_entry, read_full};

use super::labels::Posix;
use super::making::{self, Making};
use super::side::Place;
use super::work::{CLOCKS, Done, Hand, PIECE, PIECES_AT_ONCE, TRIES, Task, Todo, Trouble, Work};
use crate::chunked;
use crate::far::Entry;
use crate::index::Known;
use crate::job::lock;
use crate::options::Verify;

/// Files of a chunk store larger than this are compared with an old copy, bytes.
const CHUNKED: u64 = 1 << 20;
/// No path to a symlink's target is longer.
const LONGEST_TARGET: u64 = 4096;

/// What was read before its turn.
type Ahead = Option<fault::Result<Entry>>;

/// Does one entry. Its directory is there.
pub fn download(work: &Work<'_>, hand: &mut Hand, root: &Root, task: &Task) -> Result<Done, Trouble> {
    let place = work.source_store()?;
    let path = &task.found.path[..];
    let mut ahead = hand.ahead.remove(&task.found.key);
    if task.found.known.kind == Kind::Directory {
        return directory(work, place, task, ahead);
    }
    let (dir_path, name) = store::split_last(path);
    let failed = |error| unwritten(root, "open", dir_path, error);
    if hand.destination.as_ref().is_none_or(|(open, _)| open != dir_path) {
        hand.destination = Some((dir_path.to_vec(), root.open_dir(dir_path).map_err(failed)?));
    }
    let Some((_, dir)) = &hand.destination else { return Err(Trouble::Stopped) };
    let making = Making {
        root,
        path,
        dir: dir.as_fd(),
        name,
        names: &work.drafts,
        umask: work.birth.umask,
        with_owner: work.with_owner,
    };
    let target = Target { work, place, path, making };
    if task.todo == Todo::Check && target.checks_out(task)? {
        work.counters.skipped.one();
        return Ok(Done::Known(task.known.unwrap_or(task.found.known)));
    }
    let made = match &ahead {
        // What is known was not read.
        Some(Ok((object, None))) => super::renames::dress_here(work, &target.making, task, object)?,
        Some(_) => None,
        None => super::renames::fetch(work, place, &target.making, task)?,
    };
    if let Some(done) = made {
        return Ok(done);
    }
    ahead = ahead.filter(|ahead| !matches!(ahead, Ok((_, None))));
    for _ in 0..TRIES {
        if work.stopping() {
            return Err(Trouble::Stopped);
        }
        match target.fetch(task, ahead.take()) {
            // It became another object while it was read: begin anew with that one.
            Err(Trouble::Item(fault)) if is_changed(&fault) => {}
            Err(Trouble::Item(fault)) if fault.kind() == FaultKind::NotFound => {
                return Err(Trouble::Vanished);
            }
            done => return done,
        }
    }
    Err(Trouble::Unstable)
}

/// A failure at the destination.
pub fn unwritten(root: &Root, action: &str, path: &[u8], error: Errno) -> Trouble {
    Trouble::Item(Fault::os(action, &root.show(path), error))
}

/// What a directory has is set at the end, when nothing in it changes any more.
fn directory(work: &Work<'_>, place: &Place, task: &Task, ahead: Ahead) -> Result<Done, Trouble> {
    let found = &task.found;
    let mut posix = if found.implied || found.key.is_empty() {
        Posix::read(&Object { key: "/".to_owned(), ..Object::default() })
    } else {
        match ahead.map_or_else(|| place.look(&found.key), |ahead| ahead.map(|(object, _)| object)) {
            // A store that shows directories that are no objects.
            Err(fault) if fault.kind() == FaultKind::NotFound => {
                Posix::read(&Object { key: "/".to_owned(), ..Object::default() })
            }
            looked => Posix::read(&looked?),
        }
    };
    if posix.kind != Kind::Directory {
        let text = format!("`{}` is an empty file, and there are entries below it", place.show(&found.path));
        let fault = Fault::new(FaultKind::Unsupported, text);
        return Err(Trouble::Item(fault.hint("a tree can hold one of them: rename the other")));
    }
    if let Some(hash) = posix.spilled {
        posix.named = place.read_attributes(&hash)?;
    }
    super::finish::later(work, found, &posix)?;
    Ok(Done::Later)
}

/// An entry's place in the tree.
struct Target<'a, 'b> {
    work: &'a Work<'b>,
    place: &'a Place,
    path: &'a [u8],
    making: Making<'a>,
}

impl Target<'_, '_> {
    fn failed(&self, action: &str, error: Errno) -> Trouble {
        Trouble::Item(self.making.failed(action, error))
    }

    fn fetch(&self, task: &Task, ahead: Ahead) -> Result<Done, Trouble> {
        let (work, place, found) = (self.work, self.place, &task.found);
        let large = found.known.size > PIECE || self.comes_in_chunks(found.known.size);
        let (object, content) = if let Some(ahead) = ahead {
            ahead?
        } else if large || task.todo == Todo::Recheck || !place.abilities.labels_with_content {
            (place.look(&found.key)?, None)
        } else {
            let (object, bytes) = place.store.read_whole(&found.key, PIECE)?;
            (object, Some(bytes))
        };
        let mut posix = Posix::read(&object);
        if let Some(hash) = posix.spilled {
            posix.named = place.read_attributes(&hash)?;
        }
        posix.named = work.options.extended.of(posix.named);
        if posix.kind.is_device() || posix.kind == Kind::Fifo {
            if !work.options.special_files {
                return Ok(Done::LeftOut);
            }
        } else if task.todo == Todo::Compare && self.is_there(&object, &posix) {
            work.counters.skipped.one();
            return Ok(Done::Known(found.known_as(&object)));
        } else if let Some(id) = self.unchanged(task, &object, &posix) {
            if let Some(group) = posix.group {
                super::finish::link_later(work, group, self.path, id)?;
            }
            work.counters.skipped.one();
            return Ok(Done::Known(Known {
                id: Some(id),
                racy: work.is_racy_object(found),
                ..found.known_as(&object)
            }));
        }
        let read_tag = Some(&object.tag[..]).filter(|tag| !tag.is_empty() && place.abilities.tied_reads);
        let id = match posix.kind {
            Kind::File if content.is_none() && self.comes_in_chunks(object.size) => {
                self.chunked_file(&object, &posix)?
            }
            Kind::File if object.size > PIECE => {
                match super::delta::fetch(work, place, &self.making, &object, &posix)? {
                    Some(id) => id,
                    None => self.large_file(&object, &posix, read_tag)?,
                }
            }
            Kind::File => {
                let bytes = self.content(&object, content, read_tag)?;
                self.small_file(&object, &posix, &bytes)?
            }
            Kind::Symlink if object.size > LONGEST_TARGET => {
                return Err(Trouble::Item(self.odd("is longer than a link's target may be")));
            }
            Kind::Symlink => {
                let bytes = self.content(&object, content, read_tag)?;
                self.link(&bytes, &posix, object.modified)?;
                Id::of(&bytes)
            }
            // The root's mark of another sync, seen from above.
            Kind::Directory if found.key.ends_with("/.forebay/root") => return Ok(Done::LeftOut),
            Kind::Directory => return self.marked_directory(task, &posix),
            Kind::Socket => return Err(Trouble::Item(self.odd("says that it is no file"))),
            _ => {
                self.node(&posix, object.modified)?;
                Id::of(b"")
            }
        };
        if let Some(group) = posix.group.filter(|_| posix.kind == Kind::File) {
            super::finish::link_later(work, group, self.path, id.short())?;
        }
        // As listed: if it was replaced since, the next listing differs and it is copied again.
        let racy = work.is_racy_object(found);
        Ok(Done::Known(Known { id: Some(id.short()), racy, ..found.known_as(&object) }))
    }

    /// A directory whose mark's key has no slash, as others write it.
    fn marked_directory(&self, task: &Task, posix: &Posix) -> Result<Done, Trouble> {
        if making::make_directory(self.making.root, self.path)? {
            self.work.counters.made.one();
        }
        super::finish::later(self.work, &task.found, posix)?;
        Ok(Done::Later)
    }

    fn odd(&self, what: &str) -> Fault {
        Fault::new(FaultKind::Corrupt, format!("`{}` {what}", self.place.show(self.path)))
            .hint("its labels are damaged: write it again from its tree, or leave it out")
    }

    fn content(&self, object: &Object, content: Option<Bytes>, tag: Option<&str>) -> Result<Bytes, Trouble> {
        self.work.throttle(object.size);
        let bytes = match content {
            Some(bytes) => bytes,
            None => self.place.store.read(&object.key, 0..object.size, tag)?,
        };
        self.work.passed(bytes.len() as u64);
        Ok(bytes)
    }

    /// Whether the tree has the file already, though no sync of ours knows: size, time and mode are equal.
    fn is_there(&self, object: &Object, posix: &Posix) -> bool {
        let Some((there, _)) = self.alike(object, posix) else { return false };
        there.kind == Kind::File
            && there.links == 1
            && posix.group.is_none()
            // It was written after the object, which may have changed without its size and time showing it.
            && object.modified.as_nanos() + CLOCKS < there.ctime.as_nanos()
    }

    /// What is in the tree under the name and what it should have, if it has the kind, size, time, mode and owner that
    /// the labels say.
    fn alike(&self, object: &Object, posix: &Posix) -> Option<(Meta, Attributes)> {
        let there = meta_of_entry(self.making.dir, self.making.name).ok()?;
        let wanted = posix.attributes(object.modified, self.work.birth.umask, self.work.with_owner);
        let alike = there.kind == posix.kind
            && (there.kind != Kind::File || there.size == object.size)
            && there.mtime == wanted.mtime
            && (there.kind == Kind::Symlink || there.mode == wanted.mode)
            && wanted.owner.is_none_or(|owner| owner == (there.uid, there.gid));
        alike.then_some((there, wanted))
    }

    /// The hash of an entry whose tag says that its content is what the last sync brought, and that has in the tree what
    /// its labels say. Device files are made anew, and so is a name that is not of several any more.
    fn unchanged(&self, task: &Task, object: &Object, posix: &Posix) -> Option<[u8; 16]> {
        let same_tag = !object.tag.is_empty() && object.tag == task.found.tag;
        let id = task.known.and_then(|known| known.id).filter(|_| task.todo == Todo::Recheck && same_tag)?;
        let (there, mut wanted) = self.alike(object, posix)?;
        if there.kind.is_device() || there.links > 1 && posix.group.is_none() {
            return None;
        }
        let extended = self.work.options.extended;
        let mut named = store::named_of_entry(self.making.dir, self.making.name, extended).ok()?;
        named.sort_unstable();
        wanted.named.sort_unstable();
        (named == wanted.named).then_some(id)
    }

    fn small_file(&self, object: &Object, posix: &Posix, bytes: &[u8]) -> Result<Id, Trouble> {
        let draft = self.making.draft()?;
        let done = self
            .write_piece(&draft, bytes, 0, posix.sparse)
            .and_then(|()| self.publish(&draft, object, posix, Id::of(bytes)));
        self.settle(draft, done)
    }

    /// In pieces, several at once. A piece is hashed by whoever has it; the leaves add up to the file's hash.
    fn large_file(&self, object: &Object, posix: &Posix, tag: Option<&str>) -> Result<Id, Trouble> {
        let _turn = self.work.large();
        let draft = self.making.draft()?;
        let (next, leaves) = (AtomicU64::new(0), Mutex::new(Leaves::unknown(object.size)));
        let broken: Mutex<Option<Trouble>> = Mutex::default();
        let fetch = || {
            while lock(&broken).is_none() {
                let at = next.fetch_add(PIECE, Ordering::Relaxed);
                if at >= object.size {
                    return;
                }
                if let Err(trouble) = self.piece(&draft, object, tag, (at, posix.sparse), &leaves) {
                    lock(&broken).get_or_insert(trouble);
                }
            }
        };
        std::thread::scope(|scope| {
            (1..PIECES_AT_ONCE).for_each(|_| drop(scope.spawn(fetch)));
            fetch();
        });
        let broken = lock(&broken).take();
        let done = match (broken, lock(&leaves).file_id()) {
            (Some(trouble), _) => Err(trouble),
            (None, Some(id)) => self.publish(&draft, object, posix, id),
            (None, None) => Err(Trouble::Item(Fault::new(FaultKind::Bug, "a large file has one leaf"))),
        };
        self.settle(draft, done)
    }

    /// Whether a file of this size may have chunks that an old copy has too.
    fn comes_in_chunks(&self, size: u64) -> bool {
        self.place.chunked.is_some() && size > CHUNKED
    }

    /// By chunks, taking what an old copy has.
    fn chunked_file(&self, object: &Object, posix: &Posix) -> Result<Id, Trouble> {
        let _turn = (object.size > PIECE).then(|| self.work.large());
        let draft = self.making.draft()?;
        let Some(chunked) = self.place.chunked.as_deref() else { return Err(Trouble::Stopped) };
        let filled = chunked::fetch(self.work, chunked, (&self.making, &draft), (object, posix.sparse));
        let done = filled.and_then(|id| self.publish(&draft, object, posix, id));
        self.settle(draft, done)
    }

    fn piece(
        &self,
        draft: &Draft,
        object: &Object,
        tag: Option<&str>,
        (at, sparse): (u64, bool),
        leaves: &Mutex<Leaves>,
    ) -> Result<(), Trouble> {
        if self.work.stopping() {
            return Err(Trouble::Stopped);
        }
        let end = object.size.min(at + PIECE);
        self.work.throttle(end - at);
        let bytes = self.place.store.read(&object.key, at..end, tag)?;
        self.work.passed(end - at);
        let leaf = LEAF as usize;
        let ids: Vec<Id> =
            bytes.chunks(leaf).zip((at..).step_by(leaf)).map(|(bytes, at)| leaf_id(at, bytes)).collect();
        lock(leaves).set(at / LEAF, &ids);
        self.write_piece(draft, &bytes, at, sparse)
    }

    /// Writes content, leaving zeros out where they may be a hole.
    fn write_piece(&self, draft: &Draft, bytes: &[u8], at: u64, sparse: bool) -> Result<(), Trouble> {
        self.work.counters.bytes_saved.add(self.making.write_piece(draft, bytes, at, sparse)?);
        Ok(())
    }

    /// Puts on a finished draft what belongs to it, and gives it its name.
    fn publish(&self, draft: &Draft, object: &Object, posix: &Posix, id: Id) -> Result<Id, Trouble> {
        self.making.cut(draft, object.size)?;
        if self.work.options.verify != Verify::None {
            self.read_back(draft, object.size, &id)?;
        }
        self.making.publish(draft, posix, object.modified)?;
        self.work.counters.copied.one();
        Ok(id)
    }

    fn read_back(&self, draft: &Draft, size: u64, id: &Id) -> Result<(), Trouble> {
        let found = self.hash(draft.fd(), size)?;
        if found != *id {
            let text = format!(
                "`{}` reads back differently than it was written",
                self.making.root.show(self.path).display()
            );
            let fault = Fault::new(FaultKind::Io, text);
            return Err(Trouble::Item(fault.hint("its file system or memory is damaged: look at `dmesg`")));
        }
        self.work.counters.bytes_verified.add(size);
        Ok(())
    }

    fn hash(&self, file: BorrowedFd<'_>, size: u64) -> Result<Id, Trouble> {
        let (mut hasher, mut buffer, mut at) = (blake3::Hasher::new(), vec![0; 1 << 20], 0);
        while at < size {
            if self.work.stopping() {
                return Err(Trouble::Stopped);
            }
            let length = read_full(file, &mut buffer, at).map_err(|error| self.failed("read back", error))?;
            if length == 0 {
                break;
            }
            hasher.update(&buffer[..length]);
            at += length as u64;
        }
        Ok(Id(*hasher.finalize().as_bytes()))
    }

    fn settle(&self, draft: Draft, done: Result<Id, Trouble>) -> Result<Id, Trouble> {
        if done.is_err() {
            let _ = draft.discard(self.making.dir);
        }
        done
    }

    fn link(&self, target: &[u8], posix: &Posix, modified: Stamp) -> Result<(), Trouble> {
        if target.is_empty() || target.contains(&0) {
            return Err(Trouble::Item(self.odd("is no link's target")));
        }
        self.making.link(target, posix, modified)?;
        self.work.counters.made.one();
        Ok(())
    }

    fn node(&self, posix: &Posix, modified: Stamp) -> Result<(), Trouble> {
        self.making.node(posix, modified)?;
        self.work.counters.made.one();
        Ok(())
    }

    /// Whether the file of an unchanged object has the content that it had.
    fn checks_out(&self, task: &Task) -> Result<bool, Trouble> {
        let Some((known, id)) = task.known.and_then(|known| Some((known, known.id?))) else {
            return Ok(false);
        };
        let Ok(there) = meta_of_entry(self.making.dir, self.making.name) else { return Ok(false) };
        if there.kind == Kind::Symlink {
            let target = store::read_link(self.making.dir, self.making.name);
            return Ok(target.is_ok_and(|target| Id::of(&target).short() == id));
        }
        if there.kind != Kind::File {
            return Ok(known.size == 0);
        }
        if there.size != known.size {
            return Ok(false);
        }
        let file = store::open_reading(self.making.dir, self.making.name)
            .map_err(|error| self.failed("open", error))?;
        let right = self.hash(file.as_fd(), known.size)?.short() == id;
        if right {
            self.work.counters.bytes_verified.add(known.size);
        }
        Ok(right)
    }
}
