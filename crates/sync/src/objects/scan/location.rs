//! Listing a place in an object store.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;

use fault::Fault;
use store::objects::{Depth, Object};

use super::super::side::{Meaning, Place};
use super::{Ear, Found, Scanned};
use crate::filter::{Chain, Filter};
use crate::job::lock;
use crate::spool::Spool;

/// Lists a location. Its first level says how the rest is split among `workers`.
pub fn objects(
    place: &Place,
    filter: &Filter,
    (ear, scratch, workers): (&dyn Ear, &Path, usize),
) -> fault::Result<Scanned> {
    let listing =
        Listing { place, filter, ear, spool: Mutex::new(Spool::new(scratch)), last: Mutex::default() };
    let prefixes = listing.first_levels()?;
    let todo = Mutex::new(prefixes);
    let broken: Mutex<Option<Fault>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| {
                while let Some(prefix) = { lock(&todo).pop() } {
                    if let Err(fault) = listing.all_below(&prefix) {
                        lock(&broken).get_or_insert(fault);
                        lock(&todo).clear();
                    }
                }
            });
        }
    });
    if let Some(fault) = lock(&broken).take() {
        return Err(fault);
    }
    let spool = listing.spool.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Scanned { count: spool.count(), records: spool.sorted()?, unseen: HashSet::new() })
}

/// Levels that are looked at to find several prefixes.
const LEVELS: usize = 4;
/// Prefixes that are listed apart from each other; beyond, what is left is listed as one.
const MOST_PREFIXES: usize = 4096;

struct Listing<'a> {
    place: &'a Place,
    filter: &'a Filter,
    ear: &'a dyn Ear,
    spool: Mutex<Spool>,
    /// The directory of the last key, whose parents are known to be noted.
    last: Mutex<Vec<u8>>,
}

impl Listing<'_> {
    /// Prefixes that together have everything but what was seen on the way.
    fn first_levels(&self) -> fault::Result<Vec<String>> {
        let mut at = String::new();
        for _ in 0..LEVELS {
            let (mut prefixes, mut objects) = (Vec::new(), Vec::new());
            let listed = self.place.store.list(&at, Depth::One, &mut |object| {
                if object.key.ends_with('/') && object.key != at {
                    prefixes.push(object.key);
                } else {
                    objects.push(object);
                }
                if prefixes.len() + objects.len() > MOST_PREFIXES { Err(too_many()) } else { Ok(()) }
            });
            match listed {
                Err(fault) if fault.kind() == fault::Kind::Interrupted => return Ok(vec![at]),
                listed => listed?,
            }
            // A listing that began anew gives what it gave before.
            prefixes.sort();
            prefixes.dedup();
            objects.into_iter().try_for_each(|object| self.keep(object))?;
            if prefixes.len() != 1 {
                return Ok(prefixes);
            }
            at = prefixes.remove(0);
        }
        Ok(vec![at])
    }

    fn all_below(&self, prefix: &str) -> fault::Result<()> {
        self.place.store.list(prefix, Depth::All, &mut |object| {
            if self.ear.stopping() {
                return Err(Fault::new(fault::Kind::Interrupted, "stopped"));
            }
            self.keep(object)
        })
    }

    fn keep(&self, object: Object) -> fault::Result<()> {
        let (path, kind) = match self.place.meaning(&object.key)? {
            Meaning::Entry(path, kind) => (path, kind),
            Meaning::Own => return Ok(()),
            Meaning::NoPath => {
                let text = format!("the key of `{}{}` can't be a path", self.place.store.shown(), object.key);
                let fault = Fault::new(fault::Kind::Unsupported, text);
                self.ear.failed(object.key.as_bytes(), &fault.hint("give the object another key"));
                return Ok(());
            }
        };
        let found = Found::of_object(path, kind, object);
        let chain = Chain::default();
        if !self.filter.is_open(&chain) && !self.filter.allows(&chain, &found.path, &found.meta()) {
            self.ear.left_out();
            return Ok(());
        }
        self.ear.scanned();
        let above = store::split_last(&found.path).0.to_vec();
        let is_new = std::mem::replace(&mut *lock(&self.last), above.clone()) != above;
        let mut spool = lock(&self.spool);
        spool.push(&found.record())?;
        let mut dir = &above[..];
        while is_new && !dir.is_empty() {
            spool.push(&Found::implied(dir.to_vec()).record())?;
            dir = store::split_last(dir).0;
        }
        Ok(())
    }
}

/// Ends a listing that is not worth splitting.
fn too_many() -> Fault {
    Fault::new(fault::Kind::Interrupted, "too many for one level")
}
