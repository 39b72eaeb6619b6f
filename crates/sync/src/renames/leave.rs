//! Names that are gone from the source, or are other files there now, and what the destination has under them.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, linkat};
use store::{Errno, Kind, Meta, meta_of_entry};

use super::table::{Old, Table};
use crate::filter::Chain;
use crate::index::wire::{put, put_bytes, take_bytes, take_list, take_slice};
use crate::index::{Cache, Known};
use crate::job::{Job, lock};
use crate::spool::Spool;
use crate::visit::chain_of;

/// Names that are told apart; with more, all that is known of a directory is looked at.
const MOST_NAMES: usize = 64;
const ALL: u8 = 1;
const DOUBTS: u8 = 2;

/// What left its name in one directory.
#[derive(Debug, Default)]
pub struct Leaving {
    names: Vec<Vec<u8>>,
    all: bool,
    /// A job that did not end worked there.
    pub doubts: bool,
}

impl Leaving {
    /// A known name is gone, or another file's.
    pub fn note(&mut self, name: &[u8]) {
        if self.names.len() < MOST_NAMES {
            self.names.push(name.to_vec());
        } else {
            self.all = true;
        }
    }

    /// Whether nothing left.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// As a record.
    pub fn record(&self, dir: &[u8]) -> Vec<u8> {
        let mut record = Vec::new();
        put_bytes(&mut record, dir);
        record.push(if self.all { ALL } else { 0 } | if self.doubts { DOUBTS } else { 0 });
        put(&mut record, self.names.len() as u64);
        self.names.iter().for_each(|name| put_bytes(&mut record, name));
        record
    }

    fn read(mut record: &[u8]) -> fault::Result<(Vec<u8>, Self)> {
        let dir = take_bytes(&mut record)?.to_vec();
        let flags = take_slice(&mut record, 1)?[0];
        let (all, doubts) = (flags & ALL != 0, flags & DOUBTS != 0);
        Ok((dir, Self { names: take_list(&mut record)?, all, doubts }))
    }
}

/// Finds out what the destination has of what left.
pub struct Leaver<'a, 'b> {
    job: &'a Job<'b>,
    found: Spool,
    cache: Cache,
}

impl<'a, 'b> Leaver<'a, 'b> {
    pub fn new(job: &'a Job<'b>) -> Self {
        Self { job, found: Spool::new(&job.renames.scratch), cache: Cache::default() }
    }

    /// Everything that left, by inode.
    pub fn all(mut self, left: Spool) -> fault::Result<Table> {
        for record in left.sorted()? {
            let (dir, leaving) = Leaving::read(&record?)?;
            if self.job.stopping() {
                break;
            }
            self.dir(&dir, &leaving)?;
        }
        Table::of(self.found, &self.job.renames.scratch)
    }

    fn dir(&mut self, dir: &[u8], leaving: &Leaving) -> fault::Result<()> {
        let (Ok(source), Ok(chain)) = (self.job.source.open_dir(dir), chain_of(self.job, dir)) else {
            return Ok(());
        };
        let Some(mut known) = self.job.known.find(dir, &mut self.cache)? else { return Ok(()) };
        let (mut trees, mut files) = (Vec::new(), Vec::new());
        while let Some((name, known)) = known.next()? {
            if leaving.all || leaving.names.iter().any(|gone| gone == name) {
                match known.kind {
                    Kind::Directory => trees.push(name.to_vec()),
                    Kind::File => files.push((name.to_vec(), known)),
                    _ => {}
                }
            }
        }
        for (name, known) in files {
            self.file((dir, &name), known, leaving.doubts, (source.as_fd(), &chain))?;
        }
        for name in trees {
            let is_gone = !matches!(meta_of_entry(&source, &*name), Ok(Meta { kind: Kind::Directory, .. }));
            if is_gone {
                let path = store::below(dir, &name);
                self.tree(&path, self.goes(&chain, &path))?;
            }
        }
        Ok(())
    }

    /// Whether an entry that is gone from the source will go from the destination.
    fn goes(&self, chain: &Chain, path: &[u8]) -> bool {
        let may = |is_dir| self.job.options.filter.allows_name(chain, path, is_dir);
        self.job.options.delete.is_some() && may(true) && may(false)
    }

    fn file(
        &mut self,
        (dir, name): (&[u8], &[u8]),
        known: Known,
        doubtful: bool,
        (source, chain): (BorrowedFd<'_>, &Chain),
    ) -> fault::Result<()> {
        let path = store::below(dir, name);
        let (goes, kept) = match meta_of_entry(source, name) {
            Err(Errno::NOENT) => (self.goes(chain, &path), None),
            Ok(meta) if meta.inode != known.inode => match self.keep(dir, name, &known)? {
                Some(kept) => (true, Some(kept)),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let is_kept = kept.is_some();
        let name = kept.unwrap_or_else(|| name.to_vec());
        self.found.push(&Old { dir: dir.to_vec(), name, known, goes, kept: is_kept, doubtful }.record())
    }

    /// Another file comes under this name: what has it now gets one of ours until it is taken.
    fn keep(&self, dir: &[u8], name: &[u8], known: &Known) -> fault::Result<Option<Vec<u8>>> {
        if self.job.options.dry_run {
            return Ok(Some(name.to_vec()));
        }
        let own = format!("{}kept-{:x}", self.job.state.draft_prefix(), known.inode).into_bytes();
        let Ok(open) = self.job.destination.open_dir(dir) else { return Ok(None) };
        self.job.drafts.note(dir)?;
        self.job.open_up(open.as_fd());
        let kept = store::remove_file(&open, &own)
            .and_then(|()| linkat(&open, name, &open, &*own, AtFlags::empty()));
        if kept.is_err() {
            return Ok(None);
        }
        let mut record = Vec::new();
        put_bytes(&mut record, dir);
        record.extend_from_slice(&own);
        lock(&self.job.renames.kept).push(&record)?;
        Ok(Some(own))
    }

    /// A directory that is gone with all below it.
    fn tree(&mut self, tree: &[u8], goes: bool) -> fault::Result<()> {
        let mut trees = vec![(tree.to_vec(), goes)];
        while let Some((dir, goes)) = trees.pop() {
            let Some(mut known) = self.job.known.find(&dir, &mut self.cache)? else { continue };
            let doubtful = known.itself().is_none();
            while let Some((name, known)) = known.next()? {
                let path = store::below(&dir, name);
                let goes = goes && self.goes(&Chain::default(), &path);
                if known.kind == Kind::Directory {
                    trees.push((path, goes));
                } else if known.kind == Kind::File {
                    let (dir, name) = (dir.clone(), name.to_vec());
                    let old = Old { dir, name, known, goes, kept: false, doubtful };
                    self.found.push(&old.record())?;
                }
            }
        }
        Ok(())
    }
}
