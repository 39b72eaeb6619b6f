//! In an object store: the store copies the object itself, and the old key goes like any other that is not needed.

use store::objects::{Labels, Object};
use store::{Kind, Root};

use super::super::side::Place;
use super::super::upload::{Entry, alike, hash_of};
use super::super::work::{Task, Trouble, Work};
use super::far::hash;
use super::{Belief, belief};

/// More is not copied in one call.
const MOST: u64 = 5 << 30;

/// Has the store copy what it has under the old name of an entry, with its labels. Returns the start of the content's hash;
/// `None` where it must be sent after all.
pub fn copy(
    work: &Work<'_>,
    root: &Root,
    task: &Task,
    entry: &Entry<'_>,
    (place, key, labels): (&Place, &str, &Labels),
) -> Result<Option<[u8; 16]>, Trouble> {
    let Some(old) = task.old.as_ref().filter(|_| place.far.is_none() && place.abilities.copies) else {
        return Ok(None);
    };
    let (Some(id), Some(file), Kind::File) = (old.known.id, &entry.file, entry.meta.kind) else {
        return Ok(None);
    };
    let meta = &entry.meta;
    if meta.size != old.known.size || meta.mtime != old.known.mtime || meta.size > MOST {
        return Ok(None);
    }
    let sure = match belief(work, &old.known, meta.ctime) {
        Belief::No => false,
        Belief::Sure => true,
        Belief::ByHash => hash(work, entry)?.short() == id && entry.is_still(root, &task.found.path, file)?,
    };
    let (from, is_apart) = place.key(&store::below(&old.dir, &old.name), false);
    if !sure || is_apart {
        return Ok(None);
    }
    let Ok(found) = place.look(&from) else { return Ok(None) };
    let wanted = Object { key: key.to_owned(), labels: Some(labels.clone()), ..Object::default() };
    if found.size != meta.size || !alike(place, &found, &wanted) {
        return Ok(None);
    }
    if (work.verifies() || work.is_after_crash())
        && hash_of(
            work,
            place,
            &from,
            meta.size,
            Some(&found.tag).filter(|tag| !tag.is_empty()).map(|tag| &**tag),
        )?
        .is_none_or(|found| found.short() != id)
    {
        return Ok(None);
    }
    if place.store.copy(&from, key).is_err() {
        return Ok(None);
    }
    if old.goes {
        work.counters.moved_away.one();
    }
    Ok(Some(id))
}
