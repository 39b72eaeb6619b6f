//! What is on disk about a large file while it is copied, so that a killed job goes on inside it.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use chunk::{Id, Leaves};
use fault::Fault;
use store::{Meta, Stamp};

use crate::index::wire::{put, put_bytes, put_signed, take, take_bytes, take_signed, take_u32};
use crate::job::lock;

const DONE: u8 = 0;
const STARTED: u8 = 1;

/// Which content it is about: a file that changed has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    size: u64,
    inode: u64,
    mtime: Stamp,
    ctime: Stamp,
}

impl Version {
    /// Of a file as it is.
    pub fn of(meta: &Meta) -> Self {
        Self { size: meta.size, inode: meta.inode, mtime: meta.mtime, ctime: meta.ctime }
    }

    /// Bytes of the file.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// As bytes on disk.
    pub fn put(&self, out: &mut Vec<u8>) {
        put(out, self.size);
        put(out, self.inode);
        for stamp in [self.mtime, self.ctime] {
            put_signed(out, stamp.seconds);
            put(out, stamp.nanos.into());
        }
    }

    /// From bytes on disk.
    pub fn take(from: &mut &[u8]) -> fault::Result<Self> {
        let (size, inode) = (take(from)?, take(from)?);
        let mut stamp = || Ok(Stamp { seconds: take_signed(from)?, nanos: take_u32(from)? });
        Ok(Self { size, inode, mtime: stamp()?, ctime: stamp()? })
    }
}

/// What is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// A draft, in which what is not done is compared.
    Draft = 0,
    /// The final file itself.
    Final = 1,
    /// A draft without content, into which pieces of the old file are put.
    Pieces = 2,
}

impl Page {
    fn of(number: u64) -> Option<Self> {
        [Self::Draft, Self::Final, Self::Pieces].into_iter().find(|page| *page as u64 == number)
    }
}

/// Notes of one copy: for which content it is, where it is written to, and which ranges are done.
#[derive(Debug)]
pub struct Notes {
    path: PathBuf,
    file: Mutex<File>,
}

/// Notes that an earlier job left.
#[derive(Debug)]
pub struct Found {
    /// The path of the file below the roots.
    pub name: Vec<u8>,
    /// The content at the source that was copied.
    pub source: Version,
    /// The inode that was written to.
    pub target: u64,
    /// What is written there.
    pub page: Page,
    /// The run of the host in which it was written.
    pub boot: Vec<u8>,
    /// Ranges that were begun; in place their old content is gone.
    pub started: Vec<u64>,
    /// Ranges that are done, with the hashes of their leaves.
    pub done: Vec<(u64, Vec<Id>)>,
}

impl Notes {
    /// Begins notes at `path`, durable before anything is written in place.
    pub fn begin(path: &Path, name: &[u8], source: &Version, target: u64, page: Page) -> fault::Result<Self> {
        let mut head = Vec::new();
        put_bytes(&mut head, name);
        source.put(&mut head);
        put(&mut head, target);
        put(&mut head, page as u64);
        put_bytes(&mut head, store::boot_id().as_bytes());
        let failed = |error| Fault::os("write", path, error);
        let mut file = File::create(path).map_err(failed)?;
        file.write_all(&sealed(&head)).and_then(|()| file.sync_all()).map_err(failed)?;
        Ok(Self { path: path.to_owned(), file: Mutex::new(file) })
    }

    /// Goes on with notes that are there.
    pub fn resume(path: &Path) -> fault::Result<Self> {
        let file = File::options().append(true).open(path).map_err(|error| Fault::os("open", path, error))?;
        Ok(Self { path: path.to_owned(), file: Mutex::new(file) })
    }

    /// A range is about to be written.
    pub fn started(&self, range: u64) -> fault::Result<()> {
        let mut record = vec![STARTED];
        put(&mut record, range);
        self.append(&record)
    }

    /// A range is written.
    pub fn done(&self, range: u64, ids: &[Id]) -> fault::Result<()> {
        let mut record = vec![DONE];
        put(&mut record, range);
        ids.iter().for_each(|id| record.extend_from_slice(&id.0));
        self.append(&record)
    }

    fn append(&self, record: &[u8]) -> fault::Result<()> {
        lock(&self.file).write_all(&sealed(record)).map_err(|error| Fault::os("write", &self.path, error))
    }
}

/// A record with its length and the start of its hash.
fn sealed(record: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(record.len() + 16);
    put_bytes(&mut out, record);
    out.extend_from_slice(&blake3::hash(record).as_bytes()[..8]);
    out
}

fn unsealed<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let record = take_bytes(from).ok()?;
    let (seal, rest) = from.split_at_checked(8)?;
    *from = rest;
    (blake3::hash(record).as_bytes()[..8] == *seal).then_some(record)
}

/// Reads notes; `None` if there are none that make sense. What a kill cut off at the end is left out.
pub fn read(bytes: &[u8]) -> Option<Found> {
    let mut rest = bytes;
    let mut head = unsealed(&mut rest)?;
    let mut found = Found {
        name: take_bytes(&mut head).ok()?.to_vec(),
        source: Version::take(&mut head).ok()?,
        target: take(&mut head).ok()?,
        page: Page::of(take(&mut head).ok()?)?,
        boot: take_bytes(&mut head).ok()?.to_vec(),
        started: Vec::new(),
        done: Vec::new(),
    };
    while let Some(record) = unsealed(&mut rest) {
        let (kind, mut record) = record.split_first()?;
        let range = take(&mut record).ok()?;
        match *kind {
            STARTED => found.started.push(range),
            DONE => {
                let ids = record.as_chunks::<32>().0;
                found.done.push((range, ids.iter().copied().map(Id).collect()));
            }
            _ => return None,
        }
    }
    Some(found)
}

/// The hashes of a large file's leaves as it lies at the destination.
#[derive(Debug)]
pub struct Stored {
    /// The file at the destination when they were stored.
    pub version: Version,
    /// The hashes.
    pub leaves: Leaves,
}

impl Stored {
    /// As bytes on disk.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.version.put(&mut bytes);
        bytes.extend_from_slice(&self.leaves.encode());
        bytes
    }

    /// From bytes on disk; `None` if they are damaged.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let version = Version::take(&mut bytes).ok()?;
        Some(Self { version, leaves: Leaves::decode(bytes).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(number: u64) -> Version {
        let stamp = Stamp { seconds: -5, nanos: 7 };
        Version { size: number, inode: 9, mtime: stamp, ctime: stamp }
    }

    #[test]
    fn notes_survive_a_kill_at_any_byte() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes");
        let notes = Notes::begin(&path, b"a/\xffb", &version(3), 42, Page::Final).unwrap();
        let ids = [Id([1; 32]), Id([2; 32])];
        notes.started(5).unwrap();
        notes.done(5, &ids).unwrap();
        Notes::resume(&path).unwrap().started(6).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let found = read(&whole).unwrap();
        assert_eq!((found.name.as_slice(), found.source, found.target), (&b"a/\xffb"[..], version(3), 42));
        assert_eq!((found.started, found.done), (vec![5, 6], vec![(5, ids.to_vec())]));
        for length in 0..whole.len() {
            if let Some(found) = read(&whole[..length]) {
                assert!(found.started.len() < 2);
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn garbage_never_panics(bytes: Vec<u8>) {
            let _ = read(&bytes);
            let _ = Stored::decode(&bytes);
        }
    }
}
