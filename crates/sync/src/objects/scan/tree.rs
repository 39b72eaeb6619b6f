//! Looking at trees: of this host by threads here, of another by its agent.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Mutex;

use fault::Fault;
use store::{Kind, Lister, Meta, Root, meta_of, meta_of_entry};

use super::super::side::Place;
use super::{Ear, Found, Scanned};
use crate::far::{Far, Listed, Wanted, foreign};
use crate::filter::{Chain, Filter};
use crate::job::lock;
use crate::options::Options;
use crate::spool::Spool;

/// Looks at a tree, by `workers` threads.
pub fn tree(
    root: &Root,
    options: &Options,
    filtered: bool,
    (ear, scratch, workers): (&dyn Ear, &Path, usize),
) -> fault::Result<Scanned> {
    let nothing = Filter::default();
    let rules = Rules {
        filtered,
        filter: if filtered { &options.filter } else { &nothing },
        special_files: options.special_files,
        cross_mounts: options.cross_mounts,
    };
    let spool = Mutex::new(Spool::new(scratch));
    let keep = |found: Found| {
        ear.scanned();
        lock(&spool).push(&found.record())
    };
    let unseen = walk(root, rules, (ear, workers), &keep)?;
    let spool = spool.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Scanned { count: spool.count(), records: spool.sorted()?, unseen })
}

/// Which entries of a tree take part.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// Whether the others hold; without, every entry takes part.
    pub filtered: bool,
    pub filter: &'a Filter,
    pub special_files: bool,
    pub cross_mounts: bool,
}

/// Gives every entry of a tree that takes part to `keep`, by `workers` threads, the root first. Returns the directories whose
/// content could not be seen.
pub fn walk(
    root: &Root,
    rules: Rules<'_>,
    (ear, workers): (&dyn Ear, usize),
    keep: &(dyn Fn(Found) -> fault::Result<()> + Sync),
) -> fault::Result<HashSet<Vec<u8>>> {
    let walk = Walk {
        root,
        rules,
        device: root.meta()?.device,
        ear,
        keep,
        unseen: Mutex::default(),
        broken: Mutex::default(),
        todo: crate::pool::Pool::default(),
    };
    let itself = meta_of(root.fd()).map_err(|error| Fault::os("look at", root.path(), error))?;
    walk.keep(Found::of_meta(Vec::new(), &itself));
    walk.todo.push(Below(vec![(Vec::new(), Chain::default())]));
    std::thread::scope(|scope| {
        (1..workers.max(1)).for_each(|_| drop(scope.spawn(|| walk.work())));
        walk.work();
    });
    if let Some(fault) = lock(&walk.broken).take() {
        return Err(fault);
    }
    Ok(walk.unseen.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Directories to look at.
struct Below(Vec<(Vec<u8>, Chain)>);

impl crate::pool::Divisible for Below {
    type Item = (Vec<u8>, Chain);

    fn take(&mut self) -> Option<Self::Item> {
        self.0.pop()
    }
}

struct Walk<'a> {
    root: &'a Root,
    rules: Rules<'a>,
    device: u64,
    ear: &'a dyn Ear,
    keep: &'a (dyn Fn(Found) -> fault::Result<()> + Sync),
    unseen: Mutex<HashSet<Vec<u8>>>,
    broken: Mutex<Option<Fault>>,
    todo: crate::pool::Pool<(), Below>,
}

impl Walk<'_> {
    fn work(&self) {
        let mut lister = Lister::default();
        while let Some(piece) = self.todo.take() {
            if let crate::pool::Piece::Item((dir, chain)) = piece {
                if self.ear.stopping() {
                    self.todo.close();
                } else if let Err(error) = self.directory(&mut lister, &dir, &chain) {
                    let fault = Fault::os("list", &self.root.show(&dir), error);
                    self.ear.failed(&dir, &fault);
                    lock(&self.unseen).insert(dir);
                }
            }
            self.todo.done();
        }
    }

    fn keep(&self, found: Found) {
        if let Err(fault) = (self.keep)(found) {
            lock(&self.broken).get_or_insert(fault);
            self.todo.close();
        }
    }

    fn directory(&self, lister: &mut Lister, dir: &[u8], outer: &Chain) -> store::Os<()> {
        let open = self.root.open_dir(dir)?;
        let chain = self.rules.filter.enter(outer, open.as_fd(), dir);
        let mut below = Vec::new();
        lister.list(&open, |entry| -> store::Os<()> {
            let name = entry.name.to_bytes();
            let path = store::below(dir, name);
            match meta_of_entry(&open, entry.name) {
                Ok(meta) if self.is_wanted(&chain, &path, &meta) => {
                    self.keep(Found::of_meta(path.clone(), &meta));
                    if meta.kind == Kind::Directory {
                        below.push((path, chain.clone()));
                    }
                }
                Ok(_) => self.ear.left_out(),
                Err(store::Errno::NOENT) => {}
                Err(error) => self.ear.failed(&path, &Fault::os("look at", &self.root.show(&path), error)),
            }
            Ok(())
        })?;
        if !below.is_empty() {
            self.todo.push(Below(below));
        }
        Ok(())
    }

    fn is_wanted(&self, chain: &Chain, path: &[u8], meta: &Meta) -> bool {
        let rules = &self.rules;
        if !rules.filtered {
            return true;
        }
        let special = meta.kind == Kind::Fifo || meta.kind.is_device();
        if meta.kind == Kind::Directory && meta.device != self.device && !rules.cross_mounts {
            let path = self.root.show(path);
            self.ear.note(&format!(
                "`{}` is another file system: left out (--cross-mounts takes it)",
                path.display()
            ));
            return false;
        }
        meta.kind != Kind::Socket
            && (!special || rules.special_files)
            && (rules.filter.is_open(chain) || rules.filter.allows(chain, path, meta))
    }
}

/// Has a tree on another host looked at, by the rules of a source or by none.
pub fn far(
    (place, far): (&Place, &Far),
    options: &Options,
    filtered: bool,
    (ear, scratch): (&dyn Ear, &Path),
) -> fault::Result<Scanned> {
    let mut filter = Vec::new();
    if filtered {
        options.filter.put(&mut filter);
    } else {
        Filter::default().put(&mut filter);
    }
    let (special_files, cross_mounts) = (options.special_files, options.cross_mounts);
    let wanted = Wanted { filtered, special_files, cross_mounts, filter };
    let (mut spool, mut unseen) = (Spool::new(scratch), HashSet::new());
    far.list(&wanted, &mut |listed| {
        if ear.stopping() {
            return Err(Fault::new(fault::Kind::Interrupted, "stopped"));
        }
        match listed {
            Listed::Entries(bytes) => {
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    let found = Found::of_far(place, Found::take(&mut rest)?)?;
                    ear.scanned();
                    spool.push(&found.record())?;
                }
            }
            Listed::LeftOut(count) => (0..count).for_each(|_| ear.left_out()),
            Listed::Failed(path, words) => ear.failed(&path, &words.fault()),
            Listed::Unseen(path) => drop(unseen.insert(path)),
            Listed::Note(note) => ear.note(&note),
            Listed::Chunks(_) => return Err(foreign()),
        }
        Ok(())
    })?;
    Ok(Scanned { count: spool.count(), records: spool.sorted()?, unseen })
}
