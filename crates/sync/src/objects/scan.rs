//! Everything that a side has, as records that sort in the order of the index: by directory, then by name.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Mutex;

use fault::Fault;
use store::objects::{Depth, Object};
use store::{Kind, Lister, Meta, Root, Stamp, meta_of, meta_of_entry};

use super::side::{Meaning, Place};
use crate::filter::{Chain, Filter};
use crate::index::wire::{put, put_bytes, put_signed, take, take_bytes, take_signed, take_u32};
use crate::index::{Known, tree_key};
use crate::job::lock;
use crate::options::Options;
use crate::spool::{Sorted, Spool};

/// One entry of a side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Relative to the root, which is the empty path.
    pub path: Vec<u8>,
    /// What the side says of it, in the words of the index.
    pub known: Known,
    /// Its key, where it is an object.
    pub key: String,
    /// Its tag, where it is an object.
    pub tag: String,
    /// Only what lies below it says that it is there.
    pub implied: bool,
}

/// Hears what a scan meets.
pub trait Ear: Sync {
    /// An entry takes part.
    fn scanned(&self);
    /// An entry does not take part.
    fn left_out(&self);
    /// An entry could not be looked at; nothing below it is known.
    fn failed(&self, path: &[u8], fault: &Fault);
    /// Worth knowing.
    fn note(&self, text: &str);
    /// Whether to stop.
    fn stopping(&self) -> bool;
}

/// The place of a path among all: what records begin with.
pub fn place_of(path: &[u8]) -> Vec<u8> {
    let (dir, name) = store::split_last(path);
    let mut place = tree_key(dir);
    place.extend_from_slice(name);
    place.push(0);
    place
}

impl Found {
    fn record(&self) -> Vec<u8> {
        let mut out = place_of(&self.path);
        let known = &self.known;
        out.push(u8::from(self.implied));
        put_bytes(&mut out, &self.path);
        out.push(KINDS.iter().position(|kind| *kind == known.kind).unwrap_or(0) as u8);
        for number in [known.size, known.inode, known.mode.into(), known.uid.into(), known.gid.into()] {
            put(&mut out, number);
        }
        for stamp in [known.mtime, known.ctime] {
            put_signed(&mut out, stamp.seconds);
            put(&mut out, stamp.nanos.into());
        }
        put_bytes(&mut out, self.key.as_bytes());
        put_bytes(&mut out, self.tag.as_bytes());
        out
    }

    /// From a record, and the place it begins with.
    pub fn of_record(record: &[u8]) -> fault::Result<Self> {
        let damaged = crate::index::wire::damaged;
        let dir = record.windows(2).position(|pair| pair == [0, 0]).ok_or_else(damaged)? + 2;
        let name = record[dir..].iter().position(|byte| *byte == 0).ok_or_else(damaged)?;
        let mut rest = &record[dir + name + 1..];
        let (implied, later) = rest.split_first().ok_or_else(damaged)?;
        rest = later;
        let path = take_bytes(&mut rest)?.to_vec();
        let (kind, later) = rest.split_first().ok_or_else(damaged)?;
        rest = later;
        let (size, inode) = (take(&mut rest)?, take(&mut rest)?);
        let (mode, uid, gid) = (take_u32(&mut rest)?, take_u32(&mut rest)?, take_u32(&mut rest)?);
        let mut stamp = || -> fault::Result<Stamp> {
            Ok(Stamp { seconds: take_signed(&mut rest)?, nanos: take_u32(&mut rest)? })
        };
        let (mtime, ctime) = (stamp()?, stamp()?);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (key, tag) = (text(take_bytes(&mut rest)?), text(take_bytes(&mut rest)?));
        let kind = KINDS.get(usize::from(*kind)).copied().ok_or_else(damaged)?;
        let known =
            Known { kind, racy: false, linked: false, size, mtime, ctime, inode, mode, uid, gid, id: None };
        Ok(Self { path, known, key, tag, implied: *implied == 1 })
    }

    fn of_meta(path: Vec<u8>, meta: &Meta) -> Self {
        let known = Known::of(meta);
        Self { path, known, key: String::new(), tag: String::new(), implied: false }
    }

    /// Of an object as a listing shows it. The tag takes the inode's place: it changes whenever the content does.
    fn of_object(path: Vec<u8>, kind: Kind, object: Object) -> Self {
        let tag = blake3::hash(object.tag.as_bytes());
        let known = Known {
            kind,
            racy: false,
            linked: false,
            size: object.size,
            mtime: object.modified,
            ctime: object.modified,
            inode: u64::from_le_bytes(*tag.as_bytes().first_chunk().unwrap_or(&[0; 8])),
            mode: 0,
            uid: 0,
            gid: 0,
            id: None,
        };
        Self { path, known, key: object.key, tag: object.tag, implied: false }
    }

    /// Of what the last sync knew.
    pub fn of_known(path: Vec<u8>, known: Known) -> Self {
        Self { path, known, key: String::new(), tag: String::new(), implied: false }
    }

    fn implied(path: Vec<u8>) -> Self {
        let object = Object { key: String::new(), ..Object::default() };
        Self { implied: true, ..Self::of_object(path, Kind::Directory, object) }
    }

    /// As filters see it.
    fn meta(&self) -> Meta {
        let known = &self.known;
        Meta {
            kind: known.kind,
            mode: known.mode,
            uid: known.uid,
            gid: known.gid,
            size: known.size,
            blocks: known.size.div_ceil(512),
            inode: known.inode,
            device: 0,
            node: 0,
            links: 1,
            mtime: known.mtime,
            ctime: known.ctime,
            atime: known.mtime,
        }
    }
}

const KINDS: [Kind; 7] = [
    Kind::File,
    Kind::Directory,
    Kind::Symlink,
    Kind::Fifo,
    Kind::Socket,
    Kind::BlockDevice,
    Kind::CharDevice,
];

/// All that a scan found, sorted, and what it could not see.
pub struct Scanned {
    pub records: Sorted,
    pub count: u64,
    /// Directories whose content is not known.
    pub unseen: HashSet<Vec<u8>>,
}

/// Looks at a tree, by `workers` threads.
pub fn tree(
    root: &Root,
    options: &Options,
    filtered: bool,
    (ear, scratch, workers): (&dyn Ear, &Path, usize),
) -> fault::Result<Scanned> {
    let nothing = Filter::default();
    let walk = Walk {
        root,
        options,
        filter: if filtered { &options.filter } else { &nothing },
        filtered,
        device: root.meta()?.device,
        ear,
        spool: Mutex::new(Spool::new(scratch)),
        unseen: Mutex::default(),
        broken: Mutex::default(),
        todo: crate::pool::Pool::default(),
    };
    let itself = meta_of(root.fd()).map_err(|error| Fault::os("look at", root.path(), error))?;
    walk.keep(&Found::of_meta(Vec::new(), &itself));
    ear.scanned();
    walk.todo.push(Below(vec![(Vec::new(), Chain::default())]));
    std::thread::scope(|scope| {
        (1..workers.max(1)).for_each(|_| drop(scope.spawn(|| walk.work())));
        walk.work();
    });
    if let Some(fault) = lock(&walk.broken).take() {
        return Err(fault);
    }
    let spool = walk.spool.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let unseen = walk.unseen.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Scanned { count: spool.count(), records: spool.sorted()?, unseen })
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
    options: &'a Options,
    filter: &'a Filter,
    filtered: bool,
    device: u64,
    ear: &'a dyn Ear,
    spool: Mutex<Spool>,
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

    fn keep(&self, found: &Found) {
        if let Err(fault) = lock(&self.spool).push(&found.record()) {
            lock(&self.broken).get_or_insert(fault);
            self.todo.close();
        }
    }

    fn directory(&self, lister: &mut Lister, dir: &[u8], outer: &Chain) -> store::Os<()> {
        let open = self.root.open_dir(dir)?;
        let chain = self.filter.enter(outer, open.as_fd(), dir);
        let mut below = Vec::new();
        lister.list(&open, |entry| -> store::Os<()> {
            let name = entry.name.to_bytes();
            let path = store::below(dir, name);
            match meta_of_entry(&open, entry.name) {
                Ok(meta) if self.is_wanted(&chain, &path, &meta) => {
                    self.ear.scanned();
                    self.keep(&Found::of_meta(path.clone(), &meta));
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
        if !self.filtered {
            return true;
        }
        let (options, special) = (self.options, meta.kind == Kind::Fifo || meta.kind.is_device());
        if meta.kind == Kind::Directory && meta.device != self.device && !options.cross_mounts {
            let path = self.root.show(path);
            self.ear.note(&format!(
                "`{}` is another file system: left out (--cross-mounts takes it)",
                path.display()
            ));
            return false;
        }
        meta.kind != Kind::Socket
            && (!special || options.special_files)
            && (self.filter.is_open(chain) || self.filter.allows(chain, path, meta))
    }
}

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

/// Reads records in order, one entry for each path.
pub struct Stream {
    records: Sorted,
    next: Option<(Vec<u8>, Found)>,
}

impl Stream {
    /// Of what a scan found.
    pub fn new(records: Sorted) -> fault::Result<Self> {
        let mut stream = Self { records, next: None };
        stream.advance()?;
        Ok(stream)
    }

    fn advance(&mut self) -> fault::Result<()> {
        self.next = match self.records.next().transpose()? {
            Some(record) => {
                let found = Found::of_record(&record)?;
                Some((place_of(&found.path), found))
            }
            None => None,
        };
        Ok(())
    }

    /// The place of the entry we are at.
    pub fn place(&self) -> Option<&[u8]> {
        self.next.as_ref().map(|(place, _)| &place[..])
    }

    /// Takes the entry we are at, if it is at `place`. Of several with one path the first counts; the others are returned
    /// beside it if they are something else.
    pub fn take(&mut self, place: &[u8]) -> fault::Result<Option<(Found, Vec<Found>)>> {
        let Some((_, mut first)) = self.next.take_if(|(at, _)| at == place) else { return Ok(None) };
        let mut others = Vec::new();
        loop {
            self.advance()?;
            match self.next.take_if(|(_, next)| next.path == first.path) {
                Some((_, twin)) if twin.implied && first.known.kind == Kind::Directory => {}
                // A directory's mark without a slash, as others write it: its labels say so.
                Some((_, twin)) if twin.implied && first.known.size == 0 && !first.key.is_empty() => {
                    first.known.kind = Kind::Directory;
                }
                Some((_, twin)) if twin.key == first.key => {}
                Some((_, twin)) => others.push(twin),
                None => return Ok(Some((first, others))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_sort_as_the_index_does_and_are_read_again() {
        let mut paths = [&b"a!"[..], b"b", b"a/b", b"", b"a", b"a/b/c", b"a/a"];
        paths.sort_by_key(|path| place_of(path));
        assert_eq!(paths, [&b""[..], b"a", b"a!", b"b", b"a/a", b"a/b", b"a/b/c"]);
        let object = Object { key: "a/b".to_owned(), size: 7, tag: "\"x\"".to_owned(), ..Object::default() };
        for found in [Found::of_object(b"a/b".to_vec(), Kind::File, object), Found::implied(b"a".to_vec())] {
            assert_eq!(Found::of_record(&found.record()).unwrap(), found);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_record_panics(bytes: Vec<u8>) {
            let _ = Found::of_record(&bytes);
        }
    }
}
