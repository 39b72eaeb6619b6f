//! Large files to an object store: in parts, of which several travel at once. Where the store lets a later process go on with
//! them, what it has is noted beside the index, so that a job that was killed or stopped need not send it again.

mod notes;

use std::os::fd::OwnedFd;

use chunk::Id;
use fault::{Fault, Kind as FaultKind};
use store::objects::{Bytes, Labels, ObjectStore, Upload};
use store::{Root, read_full};

use self::notes::{Head, Notes};
use super::side::{Place, Side};
use super::upload::{Entry, Sent, piece_for, unread, verify};
use super::work::{PIECES_AT_ONCE, Trouble, Work};
use crate::job::lock;

/// Where the notes are, in the state of a pair.
const NOTES: &str = "uploads";

type From<'a, 'b> = (&'a [u8], &'a Entry<'b>, &'a OwnedFd);
type To<'a> = (&'a Place, &'a str, &'a Labels);

/// Sends a large file.
pub fn send(work: &Work<'_>, root: &Root, from: From<'_, '_>, to: To<'_>) -> Result<Sent, Trouble> {
    let _turn = work.large();
    // What an earlier job left may be gone from the store: then all of it is sent.
    match try_send(work, root, from, to)? {
        Some(sent) => Ok(sent),
        None => try_send(work, root, from, to)?
            .ok_or_else(|| Trouble::Item(Fault::new(FaultKind::Bug, "a new upload goes on with nothing"))),
    }
}

/// `None` where the store has no more what was noted: the notes are gone, too.
fn try_send(work: &Work<'_>, root: &Root, from: From<'_, '_>, to: To<'_>) -> Result<Option<Sent>, Trouble> {
    let (place, key, labels) = to;
    let (size, piece) = (from.1.meta.size, piece_for(place, from.1.meta.size));
    let notes = notes_of(work, place, Head::new(key, (size, piece), labels))?;
    let goes_on = notes.as_ref().is_some_and(|notes| notes.id().is_some());
    let upload = match notes.as_ref().and_then(Notes::id) {
        Some(id) => place.store.go_on(key, id, PIECES_AT_ONCE)?,
        None => place.store.begin(key, labels, PIECES_AT_ONCE)?,
    };
    let mut sending = Sending { work, root, from, upload, notes, hasher: blake3::Hasher::new() };
    let sent = sending.parts(piece);
    let Sending { upload, notes, hasher, .. } = sending;
    match sent {
        Ok(true) => {}
        Ok(false) => {
            upload.discard();
            forget(notes)?;
            return Ok(Some(Sent::Changed));
        }
        Err(Trouble::Item(fault)) if goes_on && !fault.may_retry() => return stale(place, notes, &fault),
        Err(trouble) => {
            leave(work, notes, upload)?;
            return Err(trouble);
        }
    }
    let tag = match upload.finish() {
        Err(fault) if goes_on && !fault.may_retry() => return stale(place, notes, &fault),
        Err(fault) => {
            lock(&work.unfinished).extend(notes.map(|notes| notes.path().to_owned()));
            return Err(fault.into());
        }
        Ok(tag) => tag,
    };
    forget(notes)?;
    let id = Id(*hasher.finalize().as_bytes());
    verify(work, place, key, (size, &tag), &id)?;
    work.counters.copied.one();
    Ok(Some(Sent::Content(id)))
}

/// What an earlier job left of an object, and where more is noted; `None` where the store does not let anybody go on.
fn notes_of(work: &Work<'_>, place: &Place, head: Head) -> fault::Result<Option<Notes>> {
    if !place.abilities.resumes {
        return Ok(None);
    }
    let (notes, other) = Notes::open(&work.state.path(NOTES), head)?;
    if let Some((key, id)) = other {
        abort(&*place.store, &key, &id);
    }
    Ok(Some(notes))
}

fn forget(notes: Option<Notes>) -> fault::Result<()> {
    notes.map_or(Ok(()), Notes::remove)
}

fn stale(place: &Place, notes: Option<Notes>, fault: &Fault) -> Result<Option<Sent>, Trouble> {
    tracing::debug!("begun anew: {fault}");
    if let Some(notes) = notes {
        if let Some((key, id)) = notes::upload_of(notes.path()) {
            abort(&*place.store, &key, &id);
        }
        notes.remove()?;
    }
    Ok(None)
}

/// Leaves what has arrived for a later job.
fn leave(work: &Work<'_>, notes: Option<Notes>, upload: Box<dyn Upload + '_>) -> fault::Result<()> {
    let Some(mut notes) = notes else {
        upload.discard();
        return Ok(());
    };
    notes.note(&upload.begun())?;
    upload.leave();
    lock(&work.unfinished).insert(notes.path().to_owned());
    Ok(())
}

/// A file whose parts are being sent.
struct Sending<'a, 'b> {
    work: &'a Work<'b>,
    root: &'a Root,
    from: From<'a, 'a>,
    upload: Box<dyn Upload + 'a>,
    notes: Option<Notes>,
    hasher: blake3::Hasher,
}

impl Sending<'_, '_> {
    /// Sends all parts; whether the file stayed as it was meanwhile.
    fn parts(&mut self, piece: u64) -> Result<bool, Trouble> {
        let (path, entry, file) = self.from;
        let mut at = 0;
        while at < entry.meta.size {
            if self.work.stopping() {
                return Err(Trouble::Stopped);
            }
            let mut bytes = vec![0; (entry.meta.size - at).min(piece) as usize];
            let length =
                read_full(file, &mut bytes, at).map_err(|error| unread(self.root, "read", path, error))?;
            if length < bytes.len() {
                return Ok(false);
            }
            self.hasher.update(&bytes);
            self.part(bytes.into())?;
            at += length as u64;
        }
        entry.is_still(self.root, path, file)
    }

    fn part(&mut self, bytes: Bytes) -> Result<(), Trouble> {
        let (work, length) = (self.work, bytes.len() as u64);
        let tag = self.notes.as_mut().and_then(|notes| notes.next(&bytes));
        if let Some(tag) = tag {
            self.upload.part_again(bytes, &tag)?;
            work.counters.bytes_read.add(length);
            work.counters.bytes_saved.add(length);
        } else {
            work.throttle(length);
            self.upload.part(bytes)?;
            work.passed(length);
        }
        if let Some(notes) = &mut self.notes {
            notes.note(&self.upload.begun())?;
        }
        Ok(())
    }
}

/// Has the store forget what nobody goes on with any more.
pub fn sweep(work: &Work<'_>) -> fault::Result<()> {
    let Side::Store(place) = &work.destination else { return Ok(()) };
    if !place.abilities.resumes {
        return Ok(());
    }
    for path in notes::all(&work.state.path(NOTES))? {
        if lock(&work.unfinished).contains(&path) {
            continue;
        }
        if let Some((key, id)) = notes::upload_of(&path) {
            abort(&*place.store, &key, &id);
        }
        notes::remove(&path)?;
    }
    Ok(())
}

/// An upload is given up by whoever goes on with it. What can't be given up now, the store's own rules for unfinished uploads
/// remove.
fn abort(store: &dyn ObjectStore, key: &str, id: &str) {
    let given_up = || -> fault::Result<()> {
        let mut upload = store.go_on(key, id, 1)?;
        // It is only taken up with its first part, which is sent when there is a second.
        (0..2).try_for_each(|_| upload.part_again(Bytes::from_static(b"-"), "-"))?;
        upload.discard();
        Ok(())
    };
    if let Err(fault) = given_up() {
        tracing::debug!("{fault}");
    }
}
