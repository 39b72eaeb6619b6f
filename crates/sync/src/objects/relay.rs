//! From an object store to an object store.

use chunk::Id;
use fault::Kind as FaultKind;
use store::Kind;
use store::objects::{Bytes, Labels, Object, is_changed};

use super::labels::Posix;
use super::side::Place;
use super::upload::{alike, hash_of, piece_for};
use super::work::{CLOCKS, Done, Hand, PIECE, PIECES_AT_ONCE, TRIES, Task, Todo, Trouble, Work};
use crate::far::Entry;
use crate::index::Known;
use crate::options::Verify;

/// Does one entry.
pub fn relay(work: &Work<'_>, hand: &mut Hand, task: &Task) -> Result<Done, Trouble> {
    let (from, to) = (work.source_store()?, work.destination_store()?);
    if let (Kind::Directory, Some(far)) = (task.found.known.kind, &to.far) {
        if far.make_directory(&task.found.path)? {
            work.counters.made.one();
        }
        super::finish::later_far(work, &task.found.path, Some(&task.found.known))?;
        return Ok(Done::Later);
    }
    if task.found.implied {
        // No object says that it is there, and none is needed.
        return Ok(Done::Known(task.found.known));
    }
    let mut ahead = hand.ahead.remove(&task.found.key);
    let is_directory = task.found.known.kind == Kind::Directory;
    let (key, is_apart) = to.key(&task.found.path, is_directory);
    if task.todo == Todo::Check && checks_out(work, to, &key, task)? {
        work.counters.skipped.one();
        return Ok(Done::Known(task.known.unwrap_or(task.found.known)));
    }
    for _ in 0..TRIES {
        if work.stopping() {
            return Err(Trouble::Stopped);
        }
        if task.replaces {
            to.store.delete(&[to.key(&task.found.path, !is_directory).0])?;
        }
        if is_apart {
            to.write_path(&task.found.path, task.found.known.kind)?;
        }
        match send(work, task, (from, to), &key, ahead.take()) {
            Err(Trouble::Item(fault)) if is_changed(&fault) => {}
            Err(Trouble::Item(fault)) if fault.kind() == FaultKind::NotFound => {
                return Err(Trouble::Vanished);
            }
            done => return done,
        }
    }
    Err(Trouble::Unstable)
}

fn send(
    work: &Work<'_>,
    task: &Task,
    (from, to): (&Place, &Place),
    key: &str,
    ahead: Option<fault::Result<Entry>>,
) -> Result<Done, Trouble> {
    let found = &task.found;
    let unmarked = || Ok(Done::Known(Known { racy: work.is_racy_object(found), ..found.known }));
    if key.ends_with('/') && !to.abilities.directory_marks {
        return unmarked();
    }
    let rechecks = task.todo == Todo::Recheck;
    let whole = !rechecks
        && found.known.size <= PIECE
        && from.abilities.labels_with_content
        && !found.key.ends_with('/');
    let (object, content) = if let Some(ahead) = ahead {
        ahead?
    } else if whole {
        let (object, bytes) = from.store.read_whole(&found.key, PIECE)?;
        (object, Some(bytes))
    } else {
        match from.look(&found.key) {
            Err(fault) if fault.kind() == FaultKind::NotFound && found.key.ends_with('/') => {
                return unmarked();
            }
            looked => (looked?, None),
        }
    };
    let same_tag = rechecks && !object.tag.is_empty() && object.tag == found.tag;
    if (task.todo == Todo::Compare || same_tag) && is_there(to, key, &object, same_tag)? {
        work.counters.skipped.one();
        let id = task.known.and_then(|known| known.id).filter(|_| same_tag);
        return Ok(Done::Known(Known { id, racy: work.is_racy_object(found), ..found.known_as(&object) }));
    }
    let posix = Posix::read(&object);
    if to.far.is_some() && !work.options.special_files && (posix.kind.is_device() || posix.kind == Kind::Fifo)
    {
        return Ok(Done::LeftOut);
    }
    let labels = carried(work, &object, from, to)?;
    let tag = Some(&object.tag[..]).filter(|tag| !tag.is_empty() && from.abilities.tied_reads);
    let (id, written) = if object.size <= PIECE {
        let bytes = match content {
            Some(bytes) => bytes,
            None if object.size == 0 => Bytes::new(),
            None => from.store.read(&found.key, 0..object.size, tag)?,
        };
        work.throttle(object.size);
        let id = Id::of(&bytes);
        (id, to.store.write(key, bytes, &labels)?)
    } else {
        in_parts(work, &object, (from, to), key, &labels, tag)?
    };
    if object.size <= PIECE {
        work.passed(object.size);
    }
    if work.options.verify != Verify::None && to.chunked.is_none() && found.known.kind == Kind::File {
        let tag = Some(&written[..]).filter(|tag| !tag.is_empty() && to.abilities.tied_reads);
        if hash_of(work, to, key, object.size, tag)? != Some(id) {
            let text = format!("`{}{key}` reads back differently than it was written", to.store.shown());
            let fault = fault::Fault::new(FaultKind::Corrupt, text);
            return Err(Trouble::Item(fault.hint("does somebody else write there? sync again")));
        }
        work.counters.bytes_verified.add(object.size);
    }
    if found.known.kind == Kind::Directory {
        work.counters.made.one();
    } else {
        work.counters.copied.one();
    }
    if let Some(group) = posix.group.filter(|_| posix.kind == Kind::File && to.far.is_some()) {
        super::finish::link_later(work, group, &found.path, id.short())?;
    }
    let (racy, id) = (work.is_racy_object(found), Some(id.short()));
    Ok(Done::Known(Known { racy, id, ..found.known_as(&object) }))
}

fn in_parts(
    work: &Work<'_>,
    object: &Object,
    (from, to): (&Place, &Place),
    key: &str,
    labels: &Labels,
    tag: Option<&str>,
) -> Result<(Id, String), Trouble> {
    let _turn = work.large();
    let piece = piece_for(to, object.size);
    let mut upload = to.store.begin(key, labels, PIECES_AT_ONCE)?;
    let (mut hasher, mut at) = (blake3::Hasher::new(), 0);
    while at < object.size {
        let end = object.size.min(at + piece);
        let sent = if work.stopping() {
            Err(Trouble::Stopped)
        } else {
            from.store.read(&object.key, at..end, tag).map_err(Trouble::from).and_then(|bytes| {
                work.throttle(end - at);
                hasher.update(&bytes);
                upload.part(bytes).map_err(Trouble::from)
            })
        };
        if let Err(trouble) = sent {
            upload.discard();
            return Err(trouble);
        }
        work.passed(end - at);
        at = end;
    }
    Ok((Id(*hasher.finalize().as_bytes()), upload.finish()?))
}

/// The labels for the destination: the same where both sides name them alike, otherwise what they mean.
fn carried(work: &Work<'_>, object: &Object, from: &Place, to: &Place) -> Result<Labels, Trouble> {
    let none = Labels::new();
    let labels = object.labels.as_ref().unwrap_or(&none);
    if !to.abilities.labels || (labels.is_empty() && to.far.is_none()) {
        return Ok(none);
    }
    let mut posix = Posix::read(object);
    if to.far.is_some() || from.far.is_some() {
        // A tree has its attributes itself: nothing of them is kept apart, and every file has a time.
        if let Some(hash) = posix.spilled.take() {
            posix.named = from.read_attributes(&hash)?;
        }
        posix.named = work.options.extended.of(posix.named);
        posix.mtime = posix.mtime.or(Some(object.modified));
        let (labels, apart) = posix.labels(&to.abilities);
        if let Some(bytes) = apart {
            to.write_attributes(&bytes)?;
        }
        return Ok(labels);
    }
    if let Some(hash) = posix.spilled {
        let named = from.read_attributes(&hash)?;
        to.write_attributes(&super::labels::encode_named(&named))?;
        if from.abilities.plain_label_names != to.abilities.plain_label_names {
            posix.named = named;
            posix.spilled = None;
        }
    }
    if from.abilities.plain_label_names == to.abilities.plain_label_names {
        return Ok(labels.clone());
    }
    let (labels, apart) = posix.labels(&to.abilities);
    if let Some(bytes) = apart {
        to.write_attributes(&bytes)?;
    }
    Ok(labels)
}

/// Whether the destination has the object already: size, labels and tag are equal. Tags of different kinds of stores never
/// are; `same_content` says that the last sync brought this content there.
fn is_there(to: &Place, key: &str, object: &Object, same_content: bool) -> Result<bool, Trouble> {
    match to.look(key) {
        Err(fault) if fault.kind() == FaultKind::NotFound => Ok(false),
        found => {
            let found = found?;
            if to.far.is_some() {
                let there = found.modified.as_nanos() > object.modified.as_nanos() + CLOCKS;
                return Ok(found.size == object.size && there && alike(to, &found, object));
            }
            let alike = Posix::read(&found) == Posix::read(object);
            let same_tag = !found.tag.is_empty() && found.tag == object.tag;
            Ok(found.size == object.size && (same_content || same_tag) && alike)
        }
    }
}

fn checks_out(work: &Work<'_>, to: &Place, key: &str, task: &Task) -> Result<bool, Trouble> {
    let Some(known) = task.known.filter(|known| known.kind == Kind::File) else { return Ok(true) };
    let Some(id) = known.id else { return Ok(false) };
    match hash_of(work, to, key, known.size, None) {
        Ok(found) => {
            let right = found.is_some_and(|found| found.short() == id);
            if right {
                work.counters.bytes_verified.add(known.size);
            }
            Ok(right)
        }
        Err(Trouble::Item(fault)) if fault.kind() == FaultKind::NotFound => Ok(false),
        Err(trouble) => Err(trouble),
    }
}
