use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use chunk::{LEAF, Leaves};
use fault::Fault;
use rustix::fs::{Mode, OFlags, XattrFlags, fsetxattr, ftruncate, openat};
use store::{Draft, Errno, Kind, Meta, meta_of};

use super::notes::{Found, Notes, Page, Stored, Version, read};
use super::{Large, MARK, Old, RANGE, Way, key, moved};
use crate::item::{Item, Pair};
use crate::job::{Job, Trouble};
use crate::options::Delta;
use crate::state::State;

/// Files of at least this size are changed in place where they can't be cloned, unless the options say otherwise.
const IN_PLACE_FROM: u64 = 1 << 30;

/// The page that is written to, and what is known of it.
struct Start {
    page: OwnedFd,
    way: Way,
    old: Old,
    /// Ranges that are done already, with their leaves.
    done: Vec<(u64, Vec<chunk::Id>)>,
    notes: Option<Notes>,
}

/// Opens both sides, and finds out what need not be copied.
pub fn begin(job: &Job<'_>, pair: &Arc<Pair>, item: Item, attempt: u32) -> Result<Large, Trouble> {
    let path = pair.below(&item.name);
    let source =
        store::open_reading(&pair.source, &item.name).map_err(|error| job.at_source("open", &path, error))?;
    let meta = meta_of(&source).map_err(|error| job.at_source("look at", &path, error))?;
    if meta.kind != Kind::File || meta.size <= LEAF {
        // It is no longer the file that was listed: the next sync takes it as it is then.
        return Err(Trouble::Unstable);
    }
    let dir = pair.destination(job).map_err(|error| job.at_destination("open", &pair.path, error))?;
    std::fs::create_dir_all(job.state.path("parts")).map_err(|e| Fault::os("create", job.state.dir(), e))?;
    std::fs::create_dir_all(job.state.path("leaves")).map_err(|e| Fault::os("create", job.state.dir(), e))?;
    let resumed = resume(job, &path, &meta, dir, &item)?;
    let is_resumed = resumed.is_some();
    let start = match resumed {
        Some(start) => start,
        None => afresh(job, pair, &path, (&source, &meta), dir, &item)?,
    };
    // The notes that a mover finds are of a file that was shared.
    let blank = job.share.is_some() && (is_resumed || matches!(start.old, Old::Nothing));
    let page = if matches!(start.old, Old::Moved(_)) { Page::Pieces } else { Page::Draft };
    let notes = start.notes.map_or_else(|| new_notes(job, &path, &meta, &start.page, page), Ok)?;
    let mut leaves = Leaves::unknown(meta.size);
    let mut skip = vec![false; meta.size.div_ceil(RANGE) as usize];
    for (range, ids) in &start.done {
        leaves.set(range * (RANGE / LEAF), ids);
        if let Some(skip) = skip.get_mut(*range as usize) {
            *skip = true;
        }
    }
    Ok(Large {
        pair: pair.clone(),
        attempt,
        left: AtomicU64::new(meta.size.div_ceil(RANGE)),
        source,
        page: start.page,
        way: start.way,
        old: start.old,
        blank,
        shared: false,
        leaves: Mutex::new(leaves),
        skip,
        next: AtomicU64::new(0),
        notes,
        trouble: Mutex::new(None),
        stopped: AtomicBool::new(false),
        meta,
        item,
    })
}

fn new_notes(job: &Job<'_>, path: &[u8], meta: &Meta, file: &OwnedFd, page: Page) -> Result<Notes, Trouble> {
    let target = meta_of(file).map_err(|error| job.at_destination("look at", path, error))?.inode;
    let notes = job.state.path(&format!("parts/{}", key(path)));
    Ok(Notes::begin(&notes, path, &Version::of(meta), target, page)?)
}

pub fn draft_name(job: &Job<'_>, path: &[u8]) -> Vec<u8> {
    format!("{}large-{}", job.state.draft_prefix(), key(path)).into_bytes()
}

fn notes_of(state: &State, key: &str) -> Option<Found> {
    read(&std::fs::read(state.path(&format!("parts/{key}"))).ok()?)
}

/// Goes on where an earlier job was killed or stopped.
fn resume(
    job: &Job<'_>,
    path: &[u8],
    meta: &Meta,
    dir: BorrowedFd<'_>,
    item: &Item,
) -> Result<Option<Start>, Trouble> {
    let Some(found) = notes_of(job.state, &key(path)).filter(|found| found.name == path) else {
        return Ok(None);
    };
    let same_source = found.source == Version::of(meta);
    let same_boot = found.boot == store::boot_id().as_bytes();
    if found.page == Page::Final {
        return resume_in_place(job, path, meta, dir, item, found, same_source && same_boot);
    }
    let name = draft_name(job, path);
    let draft = store::Draft::reopen(dir, &name).ok().filter(|draft| {
        same_source && same_boot && meta_of(draft.fd()).is_ok_and(|meta| meta.inode == found.target)
    });
    let (draft, old) = match found.page {
        Page::Pieces => {
            let moved = draft.is_some().then(|| moved::resume(job, path, meta, dir, item)).flatten();
            (draft.filter(|_| moved.is_some()), moved.map(|moved| Old::Moved(Box::new(moved))))
        }
        // A clone that was partly changed is neither: what is not done is read on both sides.
        _ => (draft, Some(Old::Unknown)),
    };
    let Some(draft) = draft else {
        store::remove_file(dir, &name).map_err(|error| job.at_destination("remove", path, error))?;
        job.state.remove(&format!("parts/{}", key(path)))?;
        return Ok(None);
    };
    let notes = Some(Notes::resume(&job.state.path(&format!("parts/{}", key(path))))?);
    let old = old.unwrap_or(Old::Unknown);
    Ok(Some(Start { page: draft.into_fd(), way: Way::Draft(name), old, done: found.done, notes }))
}

/// A file that was being changed in place has old, new and perhaps torn ranges: those that were begun and not done.
fn resume_in_place(
    job: &Job<'_>,
    path: &[u8],
    meta: &Meta,
    dir: BorrowedFd<'_>,
    item: &Item,
    found: Found,
    go_on: bool,
) -> Result<Option<Start>, Trouble> {
    let page = open_in_place(dir, &item.name);
    let page = page.ok().filter(|page| meta_of(page).is_ok_and(|meta| meta.inode == found.target));
    let Some(page) = page else {
        // Somebody replaced it: it is compared like any other.
        job.state.remove(&format!("parts/{}", key(path)))?;
        return Ok(None);
    };
    ftruncate(&page, meta.size).map_err(|error| job.at_destination("write", path, error))?;
    let notes = job.state.path(&format!("parts/{}", key(path)));
    let (done, notes) = if go_on { (found.done, Some(Notes::resume(&notes)?)) } else { (Vec::new(), None) };
    Ok(Some(Start { page, way: Way::InPlace, old: Old::Unknown, done, notes }))
}

fn open_in_place(dir: BorrowedFd<'_>, name: &[u8]) -> store::Os<OwnedFd> {
    openat(dir, name, OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Begins a copy: on a clone of the old one, in place, or from nothing.
fn afresh(
    job: &Job<'_>,
    pair: &Pair,
    path: &[u8],
    (source, meta): (&OwnedFd, &Meta),
    dir: BorrowedFd<'_>,
    item: &Item,
) -> Result<Start, Trouble> {
    let unmade = |error| job.at_destination("create", path, error);
    let old = item.there.filter(|there| there.kind == Kind::File && there.size > 0);
    let old = old.filter(|_| job.options.delta != Delta::Off);
    if let Some(moved) = moved::begin(job, path, (source, meta), dir, item)? {
        let (draft, name) = new_draft(job, pair, path, meta, dir)?;
        ftruncate(draft.fd(), meta.size).map_err(unmade)?;
        let (way, old) = (Way::Draft(name), Old::Moved(Box::new(moved)));
        return Ok(Start { page: draft.into_fd(), way, old, done: Vec::new(), notes: None });
    }
    if let Some(there) = old.filter(|there| may_be_in_place(job, there, meta))
        && let Some(start) = in_place(job, path, meta, dir, item, &there)?
    {
        return Ok(start);
    }
    let (draft, name) = new_draft(job, pair, path, meta, dir)?;
    let cloned = old.and_then(|there| {
        let file = store::open_reading(dir, &item.name).ok()?;
        store::clone_file(&file, draft.fd()).ok().map(|()| there)
    });
    ftruncate(draft.fd(), meta.size).map_err(unmade)?;
    let old = cloned.map_or(Old::Nothing, |there| what_is_known(job.state, path, &there));
    Ok(Start { page: draft.into_fd(), way: Way::Draft(name), old, done: Vec::new(), notes: None })
}

fn new_draft(
    job: &Job<'_>,
    pair: &Pair,
    path: &[u8],
    meta: &Meta,
    dir: BorrowedFd<'_>,
) -> Result<(Draft, Vec<u8>), Trouble> {
    let unmade = |error| job.at_destination("create", path, error);
    job.drafts.note(&pair.path)?;
    let name = draft_name(job, path);
    store::remove_file(dir, &name).map_err(unmade)?;
    let draft = Draft::named(dir, &name, meta.mode & 0o700 | 0o600).map_err(unmade)?;
    Ok((draft, name))
}

fn may_be_in_place(job: &Job<'_>, there: &Meta, meta: &Meta) -> bool {
    // A mover that lost its lease must not be in the middle of a file that has its final name.
    let from = if job.part.is_some() { u64::MAX } else { job.options.in_place_from.unwrap_or(IN_PLACE_FROM) };
    // A file with other names would change under them; much smaller or larger ones gain nothing.
    meta.size >= from && there.links == 1 && there.size >= meta.size / 2
}

/// The leaves of what the destination has, if it is what we left there.
fn what_is_known(state: &State, path: &[u8], there: &Meta) -> Old {
    let stored = std::fs::read(state.path(&format!("leaves/{}", key(path)))).ok();
    match stored.and_then(|bytes| Stored::decode(&bytes)) {
        Some(stored) if stored.version == Version::of(there) => Old::Leaves(stored.leaves),
        _ => Old::Unknown,
    }
}

/// Begins to change the file itself; `None` where a clone is possible, which is safer, or it can't be marked.
fn in_place(
    job: &Job<'_>,
    path: &[u8],
    meta: &Meta,
    dir: BorrowedFd<'_>,
    item: &Item,
    there: &Meta,
) -> Result<Option<Start>, Trouble> {
    let unchanged = |error| job.at_destination("write", path, error);
    let page = open_in_place(dir, &item.name).map_err(unchanged)?;
    if can_clone(dir, &page) {
        return Ok(None);
    }
    let old = what_is_known(job.state, path, there);
    // First the notes, then the mark, then the first change.
    let notes = new_notes(job, path, meta, &page, Page::Final)?;
    match fsetxattr(&page, MARK, b"partial", XattrFlags::empty()) {
        Ok(()) => {}
        Err(Errno::OPNOTSUPP | Errno::PERM | Errno::NOSPC) => {
            job.state.remove(&format!("parts/{}", key(path)))?;
            return Ok(None);
        }
        Err(error) => return Err(unchanged(error)),
    }
    ftruncate(&page, meta.size).map_err(unchanged)?;
    job.drafts.note(store::split_last(path).0)?;
    Ok(Some(Start { page, way: Way::InPlace, old, done: Vec::new(), notes: Some(notes) }))
}

/// Whether files in `dir` can be cloned: tried with a file without a name.
fn can_clone(dir: BorrowedFd<'_>, file: &OwnedFd) -> bool {
    let draft = Draft::unnamed(dir, 0o600);
    draft.ok().flatten().is_some_and(|draft| store::clone_file(file, draft.fd()).is_ok())
}

/// Whether `name` is the draft of a large file that a later job can go on with.
pub fn large_draft_has_notes(state: &State, name: &[u8]) -> bool {
    let key = std::str::from_utf8(name).ok().and_then(|name| name.strip_prefix(&state.draft_prefix()));
    key.and_then(|key| key.strip_prefix("large-"))
        .is_some_and(|key| state.path(&format!("parts/{key}")).exists())
}

/// After a job in which everything was done: removes what was begun by earlier jobs and is wanted no more.
pub fn sweep(job: &Job<'_>) -> fault::Result<()> {
    let Ok(parts) = std::fs::read_dir(job.state.path("parts")) else { return Ok(()) };
    for part in parts.flatten() {
        let key = part.file_name().to_string_lossy().into_owned();
        if let Some(found) = notes_of(job.state, &key) {
            let (dir, _) = store::split_last(&found.name);
            if let Ok(dir) = job.destination.open_dir(dir) {
                let _ = store::remove_file(&dir, &draft_name(job, &found.name));
            }
        }
        job.state.remove(&format!("parts/{key}"))?;
    }
    Ok(())
}
