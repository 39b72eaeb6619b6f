//! What is decided of each name of one directory.

use std::os::fd::AsFd;
use std::sync::Arc;

use fault::Fault;
use store::{Errno, Kind, Meta, meta_of_entry};

use crate::filter::Chain;
use crate::index::{Known, Recall, Section};
use crate::item::{Batch, Item, Pair, doubted, plan_item};
use crate::job::{Hand, Job, Trouble};
use crate::judge::{Rules, Verdict};
use crate::large::large_draft_has_notes;
use crate::names::Names;
use crate::options::Verify;
use crate::renames::{self, Leaving};
use crate::visit::{DISTRUST, FRESH, REPLACES, Siblings, directory_entry, give, is_wanted};

/// One directory while it is looked at.
pub struct Look<'a, 'b> {
    job: &'a Job<'b>,
    pair: Arc<Pair>,
    chain: &'a Chain,
    /// Whether the destination's directory was listed.
    listed: bool,
    /// Whether something in the destination's directory changes.
    touched: bool,
    /// A job that did not end worked here: what the index says of content may not be what the destination has.
    pub doubts: bool,
    /// It is looked at alone: directories that are new wait until all that changed was looked at.
    pub part: bool,
    news: Section,
    batch: Batch,
    /// Files that replace others, which may be wanted under another name in this directory.
    held: Vec<Item>,
    /// What is known and gone, or another file.
    leaving: Leaving,
    /// Some name waits until it is known what is gone.
    waits: bool,
    children: Siblings,
    /// Entries looked at, and those of them that are what they were, since these were told last.
    scanned: u64,
    rested: u64,
}

/// Entries after which what was counted is told.
const TOLD_AFTER: u64 = 256;
/// Files that replace others and are held until the end of their directory.
const MOST_HELD: usize = 1000;

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
            doubts: false,
            part: false,
            news: Section::default(),
            batch: Batch::new(pair.clone()),
            held: Vec::new(),
            leaving: Leaving::default(),
            waits: false,
            children,
            scanned: 0,
            rested: 0,
            pair,
        }
    }

    /// The directory, open at the source.
    pub fn source(&self) -> std::os::fd::BorrowedFd<'_> {
        self.pair.source.as_fd()
    }

    /// Goes through the names of all sides at once.
    pub fn join(
        &mut self,
        hand: &mut Hand,
        source: &mut Names,
        known: Option<&mut Recall>,
        there: Option<&mut Names>,
    ) -> Result<(), Trouble> {
        let joined = self.join_all(hand, source, known, there);
        self.tell();
        joined
    }

    fn join_all(
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
                self.scanned += 1;
                if self.scanned == TOLD_AFTER {
                    self.tell();
                }
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

    /// Adds to what all workers count. One by one they would wait for each other at every entry.
    fn tell(&mut self) {
        self.job.counters.scanned.add(std::mem::take(&mut self.scanned));
        self.job.counters.skipped.add(std::mem::take(&mut self.rested));
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
            Kind::Directory => self.directory(joined, &meta),
            Kind::File if meta.links > 1 => self.one_of_several(joined, &meta),
            _ if !self.listed && self.is_still(joined, &meta) => {
                self.rested += 1;
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
        let known = joined.known.map(|known| if self.doubts { Known { id: None, ..known } } else { known });
        let believe_times = self.job.rules.believe_times && !(self.doubts && self.job.after_crash);
        let rules = Rules { believe_times, ..self.job.rules };
        let verdict = match meta.kind {
            Kind::File => match doubted(
                self.job,
                &self.pair,
                (joined.name, meta),
                rules.judge(meta, known.as_ref(), there.as_ref()),
            ) {
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
        if verdict == Verdict::Copy && meta.kind == Kind::File && self.waits(&item)? {
            return Ok(());
        }
        match verdict {
            Verdict::Same => {
                self.job.counters.skipped.one();
                if joined.known.is_none_or(|known| !known.is_still(meta)) {
                    self.news.push(joined.name, &Known::of(meta));
                }
            }
            Verdict::Keep => self.job.counters.skipped.one(),
            Verdict::Conflict => self.conflict(joined.name),
            _ if self.job.options.dry_run => {
                if !renames::plan(self.job, hand, &self.pair, &item)? {
                    plan_item(self.job, &self.pair, &item);
                }
            }
            _ => {
                if !matches!(verdict, Verdict::Attributes | Verdict::Adopt) {
                    self.touch()?;
                }
                self.add(hand, item);
            }
        }
        Ok(())
    }

    /// Whether a file is left until it is known what is gone: it may be one that had another name, or have the name of one
    /// that has another now.
    fn waits(&mut self, item: &Item) -> Result<bool, Trouble> {
        let known = item.known.filter(|known| known.kind == Kind::File);
        let replaces = known.is_some_and(|known| known.inode != item.meta.inode);
        if !self.job.renames.gathers() || known.is_some() && !replaces {
            return Ok(false);
        }
        if replaces {
            self.leaving.note(&item.name);
        }
        if self.job.renames.is_older(self.pair.source.as_fd(), &item.name, &item.meta) {
            self.waits = true;
            self.job.renames.wait(&self.pair.path, &item.name)?;
            return Ok(true);
        }
        if replaces && self.held.len() < MOST_HELD {
            let Item { ref name, meta, known, verdict, there } = *item;
            self.held.push(Item { name: name.clone(), meta, known, verdict, there });
            return Ok(true);
        }
        Ok(false)
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

    fn directory(&mut self, joined: &Joined<'_>, meta: &Meta) -> Result<(), Trouble> {
        let is_known = joined.known.is_some_and(|known| known.kind == Kind::Directory);
        if self.job.is_apart(&self.pair.below(joined.name)) {
            if !is_known {
                self.news.push(joined.name, &directory_entry());
            }
            return Ok(());
        }
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
        let source = self.pair.source.as_fd();
        let waits =
            flags == FRESH | DISTRUST && self.job.renames.tree_waits(self.job, source, joined.name, meta);
        if !self.part && waits {
            self.job.tree_later(&self.pair.below(joined.name));
        } else if !self.part {
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
            if joined.known.is_none() && self.job.renames.gathers() {
                self.job.renames.want();
            }
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
            if job.renames.gathers() {
                self.leaving.note(joined.name);
            }
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
        self.tell();
        if !self.batch.items.is_empty() {
            self.hand_over(hand);
        }
        for item in std::mem::take(&mut self.held) {
            if self.waits {
                job.renames.wait(&self.pair.path, &item.name)?;
            } else {
                self.touch()?;
                self.add(hand, item);
            }
        }
        if !self.batch.items.is_empty() {
            self.hand_over(hand);
        }
        if !self.leaving.is_empty() {
            self.leaving.doubts = self.doubts;
            job.renames.left(&self.leaving, &self.pair.path)?;
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
