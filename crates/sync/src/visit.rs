//! One directory: what the source has, what the last sync knew, what the destination has, joined in the order of names.

use std::os::fd::AsFd;
use std::sync::Arc;

use fault::Fault;
use store::{Errno, Kind, Meta, meta_of, meta_of_entry};

use crate::event::{Act, Event};
use crate::filter::Chain;
use crate::fresh;
use crate::index::{Itself, Known, Recall, Section};
use crate::item::{Item, Pair, plan_item};
use crate::job::{Hand, Job, Trouble};
use crate::judge::Verdict;
use crate::names::{Names, Unlisted};
use crate::options::Verify;
use crate::pool::Divisible;
use crate::scope::Inside;

use crate::item::Batch;
use crate::large::{Large, large_draft_has_notes};

/// A small piece of work.
pub enum Chore {
    /// Some entries of a directory.
    Batch(Batch),
    /// Ranges of a large file.
    Large(Arc<Large>),
    /// What changed in a directory.
    Changed(Vec<u8>, Inside),
}

/// Batches that wait for a thread, per worker; beyond that who makes them does them.
const WAITING: usize = 4;

/// Directories of one parent that are still to be visited.
pub struct Siblings {
    parent: Box<[u8]>,
    chain: Chain,
    /// Flags, length, name; one after the other.
    packed: Vec<u8>,
    at: usize,
}

/// A directory to visit.
pub struct Visit {
    pub path: Vec<u8>,
    pub chain: Chain,
    pub flags: u8,
}

/// The destination has no such directory.
pub const FRESH: u8 = 1;
/// Something else has its name there.
pub const REPLACES: u8 = 2;
/// What the last sync knew of it does not count.
pub const DISTRUST: u8 = 4;
/// Directories in it that the destination has are left for when they change themselves.
pub const SHALLOW: u8 = 8;

impl Siblings {
    /// Of this parent; `chain` are the rules that hold in it.
    pub fn new(parent: &[u8], chain: &Chain) -> Self {
        Self { parent: parent.into(), chain: chain.clone(), packed: Vec::new(), at: 0 }
    }

    /// Adds a directory.
    pub fn push(&mut self, name: &[u8], flags: u8) {
        self.packed.extend_from_slice(&[flags, name.len() as u8]);
        self.packed.extend_from_slice(name);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }
}

impl Divisible for Siblings {
    type Item = Visit;

    fn take(&mut self) -> Option<Visit> {
        let (&flags, &length) = (self.packed.get(self.at)?, self.packed.get(self.at + 1)?);
        let start = self.at + 2;
        self.at = start + usize::from(length);
        let path = store::below(&self.parent, &self.packed[start..self.at]);
        Some(Visit { path, chain: self.chain.clone(), flags })
    }
}

/// Visits one directory: does or hands over what its entries need, and queues the directories in it.
pub fn visit(job: &Job<'_>, hand: &mut Hand, visit: &Visit) {
    if let Err(trouble) = try_visit(job, hand, visit) {
        // What is in it was not looked at, or not all.
        job.incomplete(&visit.path);
        job.trouble(&visit.path, trouble);
    }
}

fn try_visit(job: &Job<'_>, hand: &mut Hand, visit: &Visit) -> Result<(), Trouble> {
    let path = &visit.path;
    let opened = job.source.open_dir(path);
    let source = opened.map_err(|error| job.at_source("open", path, error))?;
    let meta = meta_of(&source).map_err(|error| job.at_source("look at", path, error))?;
    let mut names = std::mem::take(&mut hand.names);
    list(job, hand, &mut names, source.as_fd())
        .map_err(|unlisted| unlisted.into_trouble(|error| job.at_source("list", path, error)))?;
    let chain = job.options.filter.enter(&visit.chain, source.as_fd(), path);
    let pair = Pair::new(path, source);
    let result = if visit.flags & FRESH != 0 {
        fresh::visit(job, hand, pair, (&meta, &mut names), visit, &chain)
    } else {
        visit_existing(job, hand, pair, (&meta, &mut names), visit.flags, &chain)
    };
    hand.names = names;
    result
}

/// The names in an open directory of either side.
pub fn list(
    job: &Job<'_>,
    hand: &mut Hand,
    names: &mut Names,
    dir: std::os::fd::BorrowedFd<'_>,
) -> Result<(), Unlisted> {
    names.list(dir, &mut hand.lister, job.state.dir())
}

impl Unlisted {
    /// What it means for the directory.
    pub fn into_trouble(self, of_os: impl FnOnce(Errno) -> Trouble) -> Trouble {
        match self {
            Self::Os(error) => of_os(error),
            Self::Scratch(fault) => Trouble::Fatal(fault),
        }
    }
}

/// Visits a directory that the destination has, or should have.
pub fn visit_existing(
    job: &Job<'_>,
    hand: &mut Hand,
    pair: Pair,
    (meta, names): (&Meta, &mut Names),
    flags: u8,
    chain: &Chain,
) -> Result<(), Trouble> {
    let (path, distrust) = (pair.path.clone(), flags & DISTRUST != 0);
    let mut known = if distrust { None } else { job.known.find(&path, &mut hand.cache)? };
    let itself = known.as_ref().and_then(Recall::itself);
    let mut there = std::mem::take(&mut hand.others);
    let listed = job.list_destination || itself.is_none();
    if listed {
        let open = pair.destination(job);
        if matches!(open, Err(Errno::NOENT)) && !job.options.dry_run {
            return heal(job, &path);
        }
        let listing = open.map_err(Unlisted::from).and_then(|dir| list(job, hand, &mut there, dir));
        listing
            .map_err(|unlisted| unlisted.into_trouble(|error| job.at_destination("list", &path, error)))?;
    }
    let mut look = Look::new(job, pair, chain, listed);
    look.part = flags & SHALLOW != 0;
    let result = look.join(hand, names, known.as_mut(), listed.then_some(&mut there));
    hand.others = there;
    result?;
    let changed = itself != Some(Itself::of(meta));
    look.end(hand, changed)
}

/// A directory that the last sync knew is gone from the destination: it is made anew, from the topmost one that is
/// missing.
pub fn heal(job: &Job<'_>, dir: &[u8]) -> Result<(), Trouble> {
    let mut missing = dir;
    while !missing.is_empty() {
        let parent = store::split_last(missing).0;
        match job.destination.open_dir(parent) {
            Ok(_) => break,
            Err(Errno::NOENT) => missing = parent,
            Err(error) => return Err(job.at_destination("open", parent, error)),
        }
    }
    let (parent, name) = store::split_last(missing);
    if job.is_gathering() {
        job.tree_later(missing);
        return Ok(());
    }
    let chain = chain_of(job, parent)?;
    job.ledger.tree_gone(missing);
    let mut section = Section::default();
    section.push(name, &directory_entry());
    // Its parent may not know it yet, if only what changed is looked at.
    job.ledger.done(parent, &section, 0);
    job.drafts.note(parent)?;
    job.finish_later(parent)?;
    let mut again = Siblings::new(parent, &chain);
    again.push(name, FRESH | DISTRUST);
    job.pool.push(again);
    Ok(())
}

/// Queues a directory with all below it, after what changed was looked at piece by piece.
pub fn visit_tree(job: &Job<'_>, tree: &[u8]) -> Result<(), Trouble> {
    let (parent, name) = store::split_last(tree);
    let opened = match job.destination.open_dir(parent) {
        Err(Errno::NOENT) => return heal(job, tree),
        opened => opened.map_err(|error| job.at_destination("open", parent, error))?,
    };
    let flags = match meta_of_entry(&opened, name) {
        Ok(there) if there.kind == Kind::Directory => 0,
        Ok(_) => FRESH | REPLACES | DISTRUST,
        Err(Errno::NOENT) => FRESH | DISTRUST,
        Err(error) => return Err(job.at_destination("look at", tree, error)),
    };
    let mut alone = Siblings::new(parent, &chain_of(job, parent)?);
    alone.push(name, flags);
    job.pool.push(alone);
    Ok(())
}

/// The rules that hold in the directory `dir` of the source.
fn chain_of(job: &Job<'_>, dir: &[u8]) -> Result<Chain, Trouble> {
    let mut chain = Chain::default();
    for end in (0..=dir.len()).filter(|end| *end == dir.len() || *end == 0 || dir[*end] == b'/') {
        let above = job.source.open_dir(&dir[..end]);
        let above = above.map_err(|error| job.at_source("open", dir, error))?;
        chain = job.options.filter.enter(&chain, above.as_fd(), &dir[..end]);
    }
    Ok(chain)
}

/// One directory while it is looked at.
pub struct Look<'a, 'b> {
    job: &'a Job<'b>,
    pair: Arc<Pair>,
    chain: &'a Chain,
    /// Whether the destination's directory was listed.
    listed: bool,
    /// Whether something in the destination's directory changes.
    touched: bool,
    /// It is looked at alone: directories that are new wait until all that changed was looked at.
    pub part: bool,
    news: Section,
    batch: Batch,
    children: Siblings,
}

/// An entry could not be looked at, and that was reported.
struct Reported;

/// One name, and who has it.
pub struct Joined<'n> {
    pub name: &'n [u8],
    pub known: Option<Known>,
    /// `None` where the destination was not listed.
    pub in_destination: Option<bool>,
    /// A directory is gone into though the last sync knew it, where only a part is looked at.
    pub deep: bool,
}

impl<'a, 'b> Look<'a, 'b> {
    /// At a directory that is open at the source.
    pub fn new(job: &'a Job<'b>, pair: Pair, chain: &'a Chain, listed: bool) -> Self {
        let (children, pair) = (Siblings::new(&pair.path, chain), Arc::new(pair));
        Self {
            job,
            chain,
            listed,
            touched: false,
            part: false,
            news: Section::default(),
            batch: Batch::new(pair.clone()),
            children,
            pair,
        }
    }

    /// The directory, open at the source.
    pub fn source(&self) -> std::os::fd::BorrowedFd<'_> {
        self.pair.source.as_fd()
    }

    /// Goes through the names of all sides at once.
    fn join(
        &mut self,
        hand: &mut Hand,
        source: &mut Names,
        mut known: Option<&mut Recall>,
        mut there: Option<&mut Names>,
    ) -> Result<(), Trouble> {
        let mut name = Vec::new();
        let mut head = next_known(&mut known)?;
        loop {
            let known_name = known.as_ref().filter(|_| head.is_some()).map(|cursor| cursor.name());
            let there_name = there.as_ref().and_then(|names| names.peek());
            let heads = [source.peek(), known_name, there_name];
            let Some(least) = heads.iter().flatten().min() else { return Ok(()) };
            name.clear();
            name.extend_from_slice(least);
            let [in_source, in_known, in_there] = heads.map(|head| head == Some(&name[..]));
            let joined = Joined {
                name: &name,
                known: head.filter(|_| in_known),
                in_destination: self.listed.then_some(in_there),
                deep: false,
            };
            if self.job.stopping() {
                return Err(Trouble::Stopped);
            }
            if in_source {
                self.job.counters.scanned.one();
                self.at_source(hand, &joined)?;
                source.advance()?;
            } else {
                self.extra(&joined)?;
            }
            if in_known {
                head = next_known(&mut known)?;
            }
            if let Some(names) = there.as_mut().filter(|_| in_there) {
                names.advance()?;
            }
        }
    }

    /// An entry that the source has: decides what it needs.
    pub fn at_source(&mut self, hand: &mut Hand, joined: &Joined<'_>) -> Result<(), Trouble> {
        let job = self.job;
        let meta = match meta_of_entry(&self.pair.source, joined.name) {
            Ok(meta) => meta,
            Err(error) => {
                let path = self.pair.below(joined.name);
                job.trouble(&path, job.at_source("look at", &path, error));
                return Ok(());
            }
        };
        if !is_wanted(job, self.chain, &self.pair.path, joined.name, &meta) {
            job.counters.left_out.one();
            return Ok(());
        }
        match meta.kind {
            Kind::Directory => self.directory(joined),
            Kind::File if meta.links > 1 => self.one_of_several(joined, &meta),
            _ if !self.listed && self.is_still(joined, &meta) => {
                job.counters.skipped.one();
                Ok(())
            }
            _ => self.judge(hand, joined, &meta),
        }
    }

    /// Whether nothing need be looked at: the last sync knew it as it is, and nobody wants it read back.
    fn is_still(&self, joined: &Joined<'_>, meta: &Meta) -> bool {
        joined.known.is_some_and(|known| known.is_still(meta)) && !self.wants_check(joined.name, meta)
    }

    /// Whether an unchanged file is read back all the same.
    fn wants_check(&self, name: &[u8], meta: &Meta) -> bool {
        meta.kind == Kind::File
            && match self.job.options.verify {
                Verify::None | Verify::Transferred => false,
                Verify::Sampled => self.job.is_sampled(&self.pair.below(name)),
                Verify::All => true,
            }
    }

    /// Looks at what the destination has, and decides.
    fn judge(&mut self, hand: &mut Hand, joined: &Joined<'_>, meta: &Meta) -> Result<(), Trouble> {
        let Ok(there) = self.look_there(joined) else { return Ok(()) };
        let verdict = match meta.kind {
            Kind::File => match self.job.rules.judge(meta, joined.known.as_ref(), there.as_ref()) {
                Verdict::Same | Verdict::Attributes | Verdict::Adopt | Verdict::Recheck
                    if self.wants_check(joined.name, meta) =>
                {
                    Verdict::Check
                }
                verdict => verdict,
            },
            _ => Verdict::Copy,
        };
        let item = Item { name: joined.name.into(), meta: *meta, known: joined.known, verdict, there };
        match verdict {
            Verdict::Same => {
                self.job.counters.skipped.one();
                if joined.known.is_none_or(|known| !known.is_still(meta)) {
                    self.news.push(joined.name, &Known::of(meta));
                }
            }
            Verdict::Keep => self.job.counters.skipped.one(),
            Verdict::Conflict => self.conflict(joined.name),
            _ if self.job.options.dry_run => plan_item(self.job, &self.pair, &item),
            _ => {
                if !matches!(verdict, Verdict::Attributes | Verdict::Adopt) {
                    self.touch()?;
                }
                self.add(hand, item);
            }
        }
        Ok(())
    }

    /// What has the name at the destination, if anything has; an error where it can't be looked at, which was reported.
    fn look_there(&self, joined: &Joined<'_>) -> Result<Option<Meta>, Reported> {
        if joined.in_destination == Some(false) {
            return Ok(None);
        }
        let found = self.pair.destination(self.job).and_then(|dir| meta_of_entry(dir, joined.name));
        match found {
            Ok(meta) => Ok(Some(meta)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => {
                let path = self.pair.below(joined.name);
                self.job.trouble(&path, self.job.at_destination("look at", &path, error));
                Err(Reported)
            }
        }
    }

    fn conflict(&self, name: &[u8]) {
        let path = self.pair.below(name);
        let text = format!(
            "`{}` changed on both sides since the last sync",
            self.job.destination.show(&path).display()
        );
        let fault = Fault::new(fault::Kind::Refused, text);
        self.job.failed(&path, &fault.hint("choose one with --conflict newer or --conflict keep-both"));
    }

    /// Something in the destination's directory is about to change.
    fn touch(&mut self) -> Result<(), Trouble> {
        if !self.touched && !self.job.options.dry_run {
            self.job.drafts.note(&self.pair.path)?;
            if let Ok(dir) = self.pair.destination(self.job) {
                self.job.open_up(dir);
            }
        }
        self.touched = true;
        Ok(())
    }

    fn add(&mut self, hand: &mut Hand, item: Item) {
        if self.batch.push(item) {
            self.hand_over(hand);
        }
    }

    fn hand_over(&mut self, hand: &mut Hand) {
        let batch = std::mem::replace(&mut self.batch, Batch::new(self.pair.clone()));
        give(self.job, hand, batch);
    }

    fn directory(&mut self, joined: &Joined<'_>) -> Result<(), Trouble> {
        let is_known = joined.known.is_some_and(|known| known.kind == Kind::Directory);
        let mut flags = 0;
        if self.listed || !is_known {
            let Ok(there) = self.look_there(joined) else { return Ok(()) };
            flags |= match there {
                None => FRESH | DISTRUST,
                Some(there) if there.kind == Kind::Directory => 0,
                Some(_) => FRESH | REPLACES | DISTRUST,
            };
        }
        if !is_known {
            self.news.push(joined.name, &directory_entry());
        }
        if flags & FRESH != 0 {
            self.touch()?;
        }
        if !self.part {
            self.children.push(joined.name, flags);
        } else if joined.deep || !is_known || flags & FRESH != 0 {
            self.job.tree_later(&self.pair.below(joined.name));
        }
        Ok(())
    }

    /// A file with several names: they are brought together at the end.
    fn one_of_several(&mut self, joined: &Joined<'_>, meta: &Meta) -> Result<(), Trouble> {
        let all = self.job.options.verify == Verify::All;
        let doubts = all || self.job.groups.is_doubting();
        let mut rest = joined.known.is_some_and(|known| known.is_still(meta)) && !doubts;
        if rest && self.listed {
            let Ok(there) = self.look_there(joined) else { return Ok(()) };
            let alike =
                |there: Meta| there.size == meta.size && there.mtime == meta.mtime && there.mode == meta.mode;
            rest = there.is_some_and(alike);
        }
        if !rest {
            self.touch()?;
        }
        let path = self.pair.below(joined.name);
        crate::links::note(self.job, meta, !rest, &path)?;
        Ok(())
    }

    /// What the source has not.
    pub fn extra(&mut self, joined: &Joined<'_>) -> Result<(), Trouble> {
        let job = self.job;
        if let Some(known) = &joined.known {
            job.groups.gone(&self.pair.below(joined.name), known);
        }
        if job.drafts.is_one(joined.name) && joined.in_destination == Some(true) {
            return self.remove_draft(joined.name);
        }
        if job.options.delete.is_none() {
            return Ok(());
        }
        let path = self.pair.below(joined.name);
        if joined.in_destination != Some(true) && joined.known.is_none() {
            return Ok(());
        }
        // Names alone decide: nobody knows size or owner that it had at the source.
        let may = |is_dir| job.options.filter.allows_name(self.chain, &path, is_dir);
        if may(true) && may(false) {
            crate::deletes::note(job, &path)?;
        }
        Ok(())
    }

    fn remove_draft(&self, name: &[u8]) -> Result<(), Trouble> {
        if self.job.options.dry_run || large_draft_has_notes(self.job.state, name) {
            return Ok(());
        }
        let removed = self.pair.destination(self.job).and_then(|dir| store::remove_tree(dir, name));
        removed.map_err(|error| self.job.at_destination("remove", &self.pair.below(name), error))
    }

    /// All entries were looked at; `changed` where the directory itself is not what it was.
    pub fn end(mut self, hand: &mut Hand, changed: bool) -> Result<(), Trouble> {
        let job = self.job;
        if !self.batch.items.is_empty() {
            self.hand_over(hand);
        }
        if !self.children.is_empty() {
            job.pool.push(self.children);
        }
        if job.options.dry_run {
            return Ok(());
        }
        if changed || self.touched {
            job.finish_later(&self.pair.path)?;
        } else {
            job.counters.skipped.one();
        }
        if job.ledger.done(&self.pair.path, &self.news, 0) {
            job.checkpoint();
        }
        Ok(())
    }
}

fn next_known(known: &mut Option<&mut Recall>) -> Result<Option<Known>, Trouble> {
    let Some(cursor) = known else { return Ok(None) };
    Ok(cursor.next()?.map(|(_, known)| known))
}

/// Hands a batch to whoever is free; where enough are waiting, does it at once.
pub fn give(job: &Job<'_>, hand: &mut Hand, batch: Batch) {
    if let Some(Chore::Batch(batch)) = job.pool.offer(Chore::Batch(batch), WAITING * job.workers) {
        batch.run(job, hand);
    }
}

/// How a directory appears among its parent's entries: the index keeps what it is with its own.
pub fn directory_entry() -> Known {
    let nothing = store::Stamp::default();
    Known {
        kind: Kind::Directory,
        racy: false,
        linked: false,
        size: 0,
        mtime: nothing,
        ctime: nothing,
        inode: 0,
        mode: 0,
        uid: 0,
        gid: 0,
        id: None,
    }
}

/// Whether an entry of the source takes part: filters, mounts, special files.
pub fn is_wanted(job: &Job<'_>, chain: &Chain, dir: &[u8], name: &[u8], meta: &Meta) -> bool {
    let options = job.options;
    if meta.kind == Kind::Directory && meta.device != job.source_device && !options.cross_mounts {
        let path = job.source.show(&store::below(dir, name));
        let note = format!("`{}` is another file system: left out (--cross-mounts takes it)", path.display());
        job.watcher.event(&Event::Note(&note));
        return false;
    }
    let special = meta.kind == Kind::Fifo || meta.kind.is_device();
    if meta.kind == Kind::Socket || (special && !options.special_files) {
        return false;
    }
    options.filter.is_open(chain) || options.filter.allows(chain, &store::below(dir, name), meta)
}

/// In a dry run: tells that a directory would be made.
pub fn plan_directory(job: &Job<'_>, meta: &Meta, path: &[u8]) {
    job.planned(Act::Create, meta, path);
}
