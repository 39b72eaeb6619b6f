//! One entry of a directory that needs something done, and batches of them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use fault::{Fault, Kind as FaultKind};
use store::{Attributes, Errno, Kind, Meta, Stamp, meta_of};

use crate::copy::{Target, copy_file, hash_of};
use crate::event::{Act, Event};
use crate::index::{Known, Section};
use crate::job::{Hand, Job, Trouble};
use crate::judge::Verdict;
use crate::large;
use crate::renames;
use crate::visit::heal;

/// Items and bytes that one thread takes at a time.
const MOST_ITEMS: usize = 64;
const MOST_BYTES: u64 = 8 << 20;

/// A directory open on both sides.
pub struct Pair {
    pub path: Box<[u8]>,
    pub source: OwnedFd,
    destination: OnceLock<OwnedFd>,
}

/// An entry that needs something done.
pub struct Item {
    pub name: Box<[u8]>,
    pub meta: Meta,
    pub known: Option<Known>,
    pub verdict: Verdict,
    /// What has its name at the destination.
    pub there: Option<Meta>,
}

/// Items of one directory, in the order of their names.
pub struct Batch {
    pub pair: Arc<Pair>,
    pub items: Vec<Item>,
    bytes: u64,
}

impl Pair {
    /// Of an open directory of the source; the destination's is opened when it is needed.
    pub fn new(path: &[u8], source: OwnedFd) -> Self {
        Self { path: path.into(), source, destination: OnceLock::new() }
    }

    /// The directory at the destination.
    pub fn destination(&self, job: &Job<'_>) -> store::Os<BorrowedFd<'_>> {
        if let Some(open) = self.destination.get() {
            return Ok(open.as_fd());
        }
        let opened = job.destination.open_dir(&self.path)?;
        Ok(self.destination.get_or_init(|| opened).as_fd())
    }

    /// The path of one of its entries.
    pub fn below(&self, name: &[u8]) -> Vec<u8> {
        store::below(&self.path, name)
    }
}

impl Batch {
    /// No items yet.
    pub fn new(pair: Arc<Pair>) -> Self {
        Self { pair, items: Vec::new(), bytes: 0 }
    }

    /// Adds an item; returns whether the batch is full.
    pub fn push(&mut self, item: Item) -> bool {
        self.bytes += item.meta.size;
        self.items.push(item);
        self.items.len() >= MOST_ITEMS || self.bytes >= MOST_BYTES
    }

    /// Does all of it, and notes what is done.
    pub fn run(self, job: &Job<'_>, hand: &mut Hand) {
        if matches!(self.pair.destination(job), Err(Errno::NOENT)) {
            if let Err(trouble) = heal(job, &self.pair.path) {
                job.trouble(&self.pair.path, trouble);
            }
            return;
        }
        let mut section = Section::default();
        let mut bytes = 0;
        for item in self.items {
            if job.stopping() {
                break;
            }
            match renames::take(job, hand, &self.pair, &item) {
                Ok(None) => {}
                Ok(Some(known)) => {
                    section.push(&item.name, &known);
                    continue;
                }
                Err(trouble) => {
                    job.trouble(&self.pair.below(&item.name), trouble);
                    continue;
                }
            }
            if is_for_many_hands(job, &item) {
                if item.verdict == Verdict::CopyBeside {
                    let kept = self
                        .pair
                        .destination(job)
                        .map_err(|e| job.at_destination("open", &self.pair.path, e));
                    if let Err(trouble) = kept.and_then(|dir| keep_beside(job, &self.pair, &item, dir)) {
                        job.trouble(&self.pair.below(&item.name), trouble);
                        continue;
                    }
                }
                large::start(job, hand, &self.pair, item, 0);
                continue;
            }
            match run_item(job, hand, &self.pair, &item) {
                Ok(known) => {
                    section.push(&item.name, &known);
                    bytes += known.size;
                }
                Err(trouble) => job.trouble(&self.pair.below(&item.name), trouble),
            }
        }
        if job.ledger.done(&self.pair.path, &section, bytes) {
            job.checkpoint();
        }
    }
}

/// Whether a file is large enough for its ranges to be copied by all workers.
fn is_for_many_hands(job: &Job<'_>, item: &Item) -> bool {
    let from = job.options.large_from.unwrap_or(large::LARGE_FROM).max(2 * chunk::LEAF);
    item.meta.kind == Kind::File
        && item.meta.size >= from
        && matches!(item.verdict, Verdict::Copy | Verdict::CopyBeside | Verdict::Recheck)
        && item.there.is_none_or(|there| there.kind != Kind::Directory)
}

/// Tells what would be done, in a dry run.
pub fn plan_item(job: &Job<'_>, pair: &Pair, item: &Item) {
    let act = match (item.verdict, item.there) {
        (_, None) => Act::Create,
        (Verdict::Attributes | Verdict::Adopt, _) => Act::Attributes,
        _ => Act::Change,
    };
    if item.verdict == Verdict::Adopt {
        job.counters.skipped.one();
    } else {
        job.planned(act, &item.meta, &pair.below(&item.name));
    }
}

/// Does what the verdict says. Returns what the index should know.
pub fn run_item(job: &Job<'_>, hand: &mut Hand, pair: &Pair, item: &Item) -> Result<Known, Trouble> {
    let dir = pair.destination(job).map_err(|error| job.at_destination("open", &pair.path, error))?;
    if item.there.is_some_and(|there| there.kind == Kind::Directory) {
        return Err(directory_in_the_way(job, &pair.below(&item.name), item.meta.kind));
    }
    if item.meta.kind != Kind::File {
        return make(job, pair, item, dir);
    }
    match item.verdict {
        Verdict::Same | Verdict::Keep | Verdict::Conflict => Ok(remembered(item)),
        Verdict::Attributes | Verdict::Adopt => {
            set_attributes(job, pair, item, dir, item.verdict == Verdict::Adopt)?;
            Ok(remembered(item))
        }
        Verdict::Check => check(job, hand, pair, item, dir),
        Verdict::Recheck => recheck(job, hand, pair, item, dir),
        Verdict::CopyBeside => {
            keep_beside(job, pair, item, dir)?;
            transfer(job, hand, pair, item, dir)
        }
        Verdict::Copy => transfer(job, hand, pair, item, dir),
    }
}

/// What is adopted without reading it must have been made after its source was last touched.
pub fn doubted(job: &Job<'_>, pair: &Pair, (name, meta): (&[u8], &Meta), verdict: Verdict) -> Verdict {
    let birth = |dir| store::birth_of_entry(dir, name);
    let is_sound = || pair.destination(job).and_then(birth).is_ok_and(|at| job.rules.is_born_later(meta, at));
    if verdict == Verdict::Adopt && !is_sound() { Verdict::Recheck } else { verdict }
}

fn remembered(item: &Item) -> Known {
    let id = item.known.filter(|known| known.size == item.meta.size).and_then(|known| known.id);
    Known { id, ..Known::of(&item.meta) }
}

/// A directory is never removed to make place for something else, but by `--delete`: then the entry waits for that.
pub fn directory_in_the_way(job: &Job<'_>, path: &[u8], kind: Kind) -> Trouble {
    if job.options.delete.is_some() && !job.deletes_done.load(Ordering::Relaxed) {
        return crate::deletes::note(job, path).map_or_else(Trouble::Fatal, |()| Trouble::Waits);
    }
    let text = format!(
        "cannot replace the directory `{}` by a {}",
        job.destination.show(path).display(),
        kind.words()
    );
    let fault = Fault::new(FaultKind::Refused, text);
    Trouble::Item(fault.hint("remove the directory at the destination, then sync again"))
}

fn transfer(
    job: &Job<'_>,
    hand: &mut Hand,
    pair: &Pair,
    item: &Item,
    dir: BorrowedFd<'_>,
) -> Result<Known, Trouble> {
    let unready = |error| job.at_destination("look at", &pair.path, error);
    let mut target = Target::of(job, dir, false).map_err(unready)?;
    target.replaces = item.there.is_some();
    let known = copy_file(job, hand, (pair.source.as_fd(), &pair.path, &item.name), &item.meta, &target)?;
    job.counters.copied.one();
    Ok(known)
}

/// Reads what the destination has; where it is not what the last sync wrote, it is copied again.
fn check(
    job: &Job<'_>,
    hand: &mut Hand,
    pair: &Pair,
    item: &Item,
    dir: BorrowedFd<'_>,
) -> Result<Known, Trouble> {
    let found = hash_destination(job, hand, pair, item, dir)?;
    // What was known of a file that may have changed since says nothing of what it is now.
    let wanted = match item.known.filter(|known| known.is_still(&item.meta)).and_then(|known| known.id) {
        Some(id) => id,
        None => hash_source(job, hand, pair, item)?,
    };
    if found == wanted {
        job.counters.bytes_verified.add(item.meta.size);
        set_attributes(job, pair, item, dir, true)?;
        return Ok(Known { id: Some(wanted), racy: job.is_racy(item.meta.ctime), ..Known::of(&item.meta) });
    }
    let path = job.destination.show(&pair.below(&item.name));
    job.watcher
        .event(&Event::Note(&format!("`{}` was not what the last sync wrote: copied again", path.display())));
    transfer(job, hand, pair, item, dir)
}

fn hash_source(job: &Job<'_>, hand: &mut Hand, pair: &Pair, item: &Item) -> Result<[u8; 16], Trouble> {
    let path = || pair.below(&item.name);
    let file = store::open_reading(&pair.source, &item.name)
        .map_err(|error| job.at_source("open", &path(), error))?;
    let id = hash_of(job, hand, file.as_fd(), item.meta.size)
        .map_err(|error| error.map_or(Trouble::Stopped, |error| job.at_source("read", &path(), error)))?;
    job.counters.bytes_read.add(item.meta.size);
    Ok(id.short())
}

/// Size and time are equal but something says that the content may not be: its hash decides.
fn recheck(
    job: &Job<'_>,
    hand: &mut Hand,
    pair: &Pair,
    item: &Item,
    dir: BorrowedFd<'_>,
) -> Result<Known, Trouble> {
    let path = || pair.below(&item.name);
    // A job that was killed may have put there what the index does not know.
    let wanted = match item.known.and_then(|known| known.id).filter(|_| !job.after_crash) {
        Some(id) => id,
        None => hash_destination(job, hand, pair, item, dir)?,
    };
    let file = store::open_reading(&pair.source, &item.name)
        .map_err(|error| job.at_source("open", &path(), error))?;
    let id = hash_of(job, hand, file.as_fd(), item.meta.size)
        .map_err(|error| error.map_or(Trouble::Stopped, |error| job.at_source("read", &path(), error)))?;
    job.counters.bytes_read.add(item.meta.size);
    let after = meta_of(&file).map_err(|error| job.at_source("look at", &path(), error))?;
    if id.short() != wanted || !after.same_content(&item.meta) {
        return transfer(job, hand, pair, item, dir);
    }
    job.counters.bytes_saved.add(item.meta.size);
    set_attributes(job, pair, item, dir, true)?;
    Ok(Known { id: Some(wanted), racy: job.is_racy(item.meta.ctime), ..Known::of(&item.meta) })
}

fn hash_destination(
    job: &Job<'_>,
    hand: &mut Hand,
    pair: &Pair,
    item: &Item,
    dir: BorrowedFd<'_>,
) -> Result<[u8; 16], Trouble> {
    let path = || pair.below(&item.name);
    let unread = |error| job.at_destination("read", &path(), error);
    let file = store::open_reading(dir, &item.name).map_err(unread)?;
    let id = hash_of(job, hand, file.as_fd(), item.meta.size);
    Ok(id.map_err(|error| error.map_or(Trouble::Stopped, unread))?.short())
}

/// Makes attributes equal without touching the content.
fn set_attributes(
    job: &Job<'_>,
    pair: &Pair,
    item: &Item,
    dir: BorrowedFd<'_>,
    only_if_needed: bool,
) -> Result<(), Trouble> {
    let (path, extended) = (|| pair.below(&item.name), job.options.extended);
    let unset = |error| job.at_destination("set attributes of", &path(), error);
    let source = store::open_reading(&pair.source, &item.name)
        .map_err(|error| job.at_source("open", &path(), error))?;
    let file = store::open_reading(dir, &item.name).map_err(unset)?;
    let there = meta_of(&file).map_err(unset)?;
    let mut wanted = Attributes::of(&item.meta, job.rules.with_owner);
    wanted.named = store::named(&source, extended)
        .map_err(|error| job.at_source("read attributes of", &path(), error))?;
    if only_if_needed
        && is_alike(job, &wanted, &there)
        && store::named(&file, extended).map_err(unset)? == wanted.named
    {
        job.counters.skipped.one();
        return Ok(());
    }
    if there.links > 1 && item.meta.links == 1 {
        // Another name of the same file would change with it.
        return Err(Trouble::Item(shared_with_others(job, &path())));
    }
    store::clear_named(&file, &wanted.named, extended).map_err(unset)?;
    store::apply(&file, &wanted, &there)
        .map_err(|(action, error)| job.at_destination(&action, &path(), error))?;
    job.counters.updated.one();
    Ok(())
}

fn shared_with_others(job: &Job<'_>, path: &[u8]) -> Fault {
    let text = format!("`{}` has other names at the destination", job.destination.show(path).display());
    Fault::new(FaultKind::Refused, text).hint("remove it there; the next sync makes it anew")
}

/// Whether a file that is `there` has these attributes, but for extended ones.
pub fn is_alike(job: &Job<'_>, wanted: &Attributes, there: &Meta) -> bool {
    let owner = wanted.owner.is_none_or(|owner| owner == (there.uid, there.gid));
    let coarse = job.rules.coarse_times && wanted.mtime.seconds == there.mtime.seconds;
    owner && wanted.mode == there.mode && (wanted.mtime == there.mtime || coarse)
}

/// Keeps what is at the destination under another name, which is never in use.
fn keep_beside(job: &Job<'_>, pair: &Pair, item: &Item, dir: BorrowedFd<'_>) -> Result<(), Trouble> {
    let stamp = Stamp::now();
    for number in 0..1000 {
        let mut name = item.name[..item.name.len().min(200)].to_vec();
        name.extend_from_slice(format!(".conflict-{}-{number}", stamp.seconds).as_bytes());
        let linked = rustix::fs::linkat(dir, &*item.name, dir, &name[..], rustix::fs::AtFlags::empty());
        match linked {
            Ok(()) => return Ok(()),
            Err(Errno::EXIST) => {}
            Err(error) => {
                return Err(job.at_destination("keep a copy of", &pair.below(&item.name), error));
            }
        }
    }
    Err(job.at_destination("keep a copy of", &pair.below(&item.name), Errno::EXIST))
}

/// Makes a symlink, fifo or device like the source's.
fn make(job: &Job<'_>, pair: &Pair, item: &Item, dir: BorrowedFd<'_>) -> Result<Known, Trouble> {
    if item.there.is_some_and(|there| is_same_node(job, pair, item, dir, &there)) {
        job.counters.skipped.one();
        return Ok(Known::of(&item.meta));
    }
    let draft = job.drafts.name_in(&pair.path)?;
    let made =
        make_in(job, (pair.source.as_fd(), &pair.path, &item.name), &item.meta, dir, &draft).and_then(|()| {
            rustix::fs::renameat(dir, &draft[..], dir, &*item.name)
                .map_err(|error| job.at_destination("replace", &pair.below(&item.name), error))
        });
    if made.is_err() {
        let _ = store::remove_file(dir, &draft);
    }
    made.map(|()| Known::of(&item.meta))
}

fn is_same_node(job: &Job<'_>, pair: &Pair, item: &Item, dir: BorrowedFd<'_>, there: &Meta) -> bool {
    let mine = Attributes::of(&item.meta, job.rules.with_owner);
    let content = match item.meta.kind {
        Kind::Symlink => {
            store::read_link(&pair.source, &item.name).ok() == store::read_link(dir, &item.name).ok()
        }
        _ => there.node == item.meta.node,
    };
    let mode = item.meta.kind == Kind::Symlink;
    let alike = if mode { Attributes { mode: there.mode, ..mine } } else { mine };
    there.kind == item.meta.kind && content && is_alike(job, &alike, there)
}

/// Makes `name` of the open source directory `from` as `new` in `dir`: a symlink, fifo or device, with its attributes.
pub fn make_in(
    job: &Job<'_>,
    (from, dir_path, name): (BorrowedFd<'_>, &[u8], &[u8]),
    meta: &Meta,
    dir: BorrowedFd<'_>,
    new: &[u8],
) -> Result<(), Trouble> {
    let path = || store::below(dir_path, name);
    let unmade = |error| job.at_destination("create", &path(), error);
    if meta.kind == Kind::Symlink {
        let to = store::read_link(from, name).map_err(|error| match error {
            // Something else has its name by now.
            Errno::INVAL => Trouble::Vanished,
            error => job.at_source("read", &path(), error),
        })?;
        rustix::fs::symlinkat(&to[..], dir, new).map_err(unmade)?;
    } else {
        store::make_node(dir, new, meta).map_err(unmade)?;
        let made = store::meta_of_entry(dir, new).map_err(unmade)?;
        if made.mode != meta.mode && made.kind == meta.kind {
            // Only our own umask can have taken bits away from an entry that we made a moment ago.
            rustix::fs::chmodat(dir, new, meta.mode_bits(), rustix::fs::AtFlags::empty()).map_err(unmade)?;
        }
    }
    let mut wanted = Attributes::of(meta, job.rules.with_owner);
    wanted.named = store::named_of_entry(from, name, job.options.extended)
        .map_err(|error| job.at_source("read attributes of", &path(), error))?;
    store::apply_to_link(dir, new, &wanted)
        .map_err(|(action, error)| job.at_destination(&action, &path(), error))?;
    job.counters.made.one();
    Ok(())
}
