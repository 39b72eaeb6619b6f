//! In an object store: the store copies the object itself, and the old key goes like any other that is not needed. Where it is the
//! same key, and only labels are others, it makes the object anew of itself.

use store::objects::{Labels, Object};
use store::{Kind, Root};

use super::super::labels::Posix;
use super::super::side::Place;
use super::super::upload::{Entry, alike, hash_of};
use super::super::work::{PIECES_AT_ONCE, Task, Trouble, Work};
use super::far::hash;
use super::{Belief, belief, own};
use crate::renames::Old;

/// More is not copied in one call.
const MOST: u64 = 5 << 30;
/// Bytes of a part that the store takes from an object it has.
const PART: u64 = 256 << 20;

/// Has the store make an entry's object of what it has: of its old name, or of its own with other labels. Returns the start of
/// the content's hash; `None` where it must be sent after all.
pub fn copy(
    work: &Work<'_>,
    root: &Root,
    task: &Task,
    entry: &Entry<'_>,
    to: (&Place, &str, &Labels),
) -> Result<Option<[u8; 16]>, Trouble> {
    let (place, key, labels) = to;
    let meta = &entry.meta;
    let takes_parts = place.abilities.takes_parts && meta.size > place.abilities.least_part;
    let own = || own(task).filter(|_| takes_parts);
    let Some(old) = task.old.as_deref().cloned().or_else(own) else { return Ok(None) };
    if place.far.is_some() || !place.abilities.copies || meta.size != old.known.size {
        return Ok(None);
    }
    let Some(id) = old.known.id else { return Ok(None) };
    let (from, is_apart) = place.key(&store::below(&old.dir, &old.name), false);
    if is_apart || !has_content(work, root, task, entry, &old)? {
        return Ok(None);
    }
    let Some(found) = there(work, place, &from, &old)? else { return Ok(None) };
    let wanted = Object { key: key.to_owned(), labels: Some(labels.clone()), ..Object::default() };
    let made = match (alike(place, &found, &wanted), from == key) {
        (true, true) => true,
        (true, false) if meta.size <= MOST => place.store.copy(&from, key).is_ok(),
        _ => takes_parts && make_of(work, to, &found).is_ok(),
    };
    if !made {
        return Ok(None);
    }
    if from == key {
        // Labels that are as they should be were not written.
        if alike(place, &found, &wanted) { &work.counters.skipped } else { &work.counters.updated }.one();
    } else {
        if old.goes {
            work.counters.moved_away.one();
        }
        work.moved(meta.size);
    }
    Ok(Some(id))
}

/// Whether the file has the content that the last sync brought there.
fn has_content(
    work: &Work<'_>,
    root: &Root,
    task: &Task,
    entry: &Entry<'_>,
    old: &Old,
) -> Result<bool, Trouble> {
    let (Some(file), Kind::File) = (&entry.file, entry.meta.kind) else { return Ok(false) };
    Ok(match belief(work, &old.known, entry.meta.ctime) {
        Belief::No => false,
        Belief::Sure => entry.meta.mtime == old.known.mtime,
        Belief::ByHash => {
            Some(hash(work, entry)?.short()) == old.known.id
                && entry.is_still(root, &task.found.path, file)?
        }
    })
}

/// The object, if it looks like what the last sync brought there, and is that where this may be doubted.
fn there(work: &Work<'_>, place: &Place, from: &str, old: &Old) -> Result<Option<Object>, Trouble> {
    let Ok(found) = place.look(from) else { return Ok(None) };
    let posix = Posix::read(&found);
    if found.size != old.known.size || posix.kind != Kind::File || posix.mtime != Some(old.known.mtime) {
        return Ok(None);
    }
    let tag = Some(&found.tag[..]).filter(|tag| !tag.is_empty());
    let right = !(work.verifies() || work.is_after_crash())
        || hash_of(work, place, from, found.size, tag)?.map(|id| id.short()) == old.known.id;
    Ok(Some(found).filter(|_| right))
}

/// Has the store make an object of all the content of another, or of itself, with these labels.
fn make_of(
    work: &Work<'_>,
    (place, key, labels): (&Place, &str, &Labels),
    from: &Object,
) -> Result<(), Trouble> {
    let part = PART.max(from.size.div_ceil(place.abilities.most_parts));
    let mut upload = place.store.begin(key, labels, PIECES_AT_ONCE)?;
    let mut at = 0;
    while at < from.size {
        let end = from.size.min(at + part);
        let taken = if work.stopping() {
            Err(Trouble::Stopped)
        } else {
            upload.part_of(&from.key, at..end, &from.tag).map_err(Trouble::from)
        };
        if let Err(trouble) = taken {
            upload.discard();
            return Err(trouble);
        }
        at = end;
    }
    upload.finish().map(drop).map_err(Trouble::from)
}
