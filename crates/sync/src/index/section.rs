use store::{Meta, Stamp};

use super::known::{Known, Previous, put_known, take_known};
use super::wire::{damaged, put, put_bytes, put_signed, take, take_bytes, take_signed, take_u32};

/// What a directory itself was when its last sync was complete; while it is not, there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Itself {
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Last change of its list of names.
    pub mtime: Stamp,
    /// Last change of anything of it.
    pub ctime: Stamp,
    /// Inode number at the source.
    pub inode: u64,
}

impl Itself {
    /// What `meta` says.
    pub fn of(meta: &Meta) -> Self {
        Self {
            mode: meta.mode,
            uid: meta.uid,
            gid: meta.gid,
            mtime: meta.mtime,
            ctime: meta.ctime,
            inode: meta.inode,
        }
    }
}

/// Entries of one directory in the order of their names: all of them, or a part.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// The directory itself, if it is complete.
    pub itself: Option<Itself>,
    count: u64,
    entries: Vec<u8>,
    ids: Vec<u8>,
    previous: Previous,
}

impl Section {
    /// No entries yet.
    pub fn new(itself: Option<Itself>) -> Self {
        Self { itself, ..Self::default() }
    }

    /// Adds an entry; names must come in ascending order.
    pub fn push(&mut self, name: &[u8], known: &Known) {
        put_known(&mut self.entries, &mut self.ids, &mut self.previous, name, known);
        self.count += 1;
    }

    /// How many entries it has.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.itself.is_none()
    }

    /// Bytes it takes.
    pub fn size(&self) -> usize {
        self.entries.len() + self.ids.len() + 64
    }

    /// Appends it for the directory `dir`.
    pub fn put(&self, out: &mut Vec<u8>, dir: &[u8]) {
        put_bytes(out, dir);
        put_itself(out, self.itself.as_ref());
        put(out, self.count);
        put_bytes(out, &self.entries);
        put_bytes(out, &self.ids);
    }
}

/// A section where it lies in memory.
#[derive(Debug, Clone, Copy)]
pub struct SectionView<'a> {
    /// The directory.
    pub dir: &'a [u8],
    /// The directory itself, if it is complete.
    pub itself: Option<Itself>,
    /// How many entries it has.
    pub count: u64,
    entries: &'a [u8],
    ids: &'a [u8],
}

impl<'a> SectionView<'a> {
    /// Takes one from the front.
    pub fn take(from: &mut &'a [u8]) -> fault::Result<Self> {
        Ok(Self {
            dir: take_bytes(from)?,
            itself: take_itself(from)?,
            count: take(from)?,
            entries: take_bytes(from)?,
            ids: take_bytes(from)?,
        })
    }

    /// Appends it as it is, but for what it says of the directory itself.
    pub fn put_with(&self, itself: Option<Itself>, out: &mut Vec<u8>) {
        put_bytes(out, self.dir);
        put_itself(out, itself.as_ref());
        put(out, self.count);
        put_bytes(out, self.entries);
        put_bytes(out, self.ids);
    }

    /// Its entries as they lie in memory.
    pub fn raw_entries(&self) -> &'a [u8] {
        self.entries
    }

    /// The hashes of its entries as they lie in memory.
    pub fn raw_ids(&self) -> &'a [u8] {
        self.ids
    }

    /// Its entries, in the order of their names.
    pub fn entries(&self) -> Entries<'a> {
        Entries { left: self.count, entries: self.entries, ids: self.ids, previous: Previous::default() }
    }
}

/// Reads the entries of a section.
#[derive(Debug)]
pub struct Entries<'a> {
    left: u64,
    entries: &'a [u8],
    ids: &'a [u8],
    previous: Previous,
}

impl Entries<'_> {
    /// The next entry, or `None` at the end.
    pub fn next(&mut self) -> fault::Result<Option<(&[u8], Known)>> {
        if self.left == 0 {
            return if self.entries.is_empty() { Ok(None) } else { Err(damaged()) };
        }
        self.left -= 1;
        let known = take_known(&mut self.entries, &mut self.ids, &mut self.previous)?;
        Ok(Some((self.previous.name(), known)))
    }
}

fn put_itself(out: &mut Vec<u8>, itself: Option<&Itself>) {
    let Some(itself) = itself else { return out.push(0) };
    out.push(1);
    put(out, itself.mode.into());
    put(out, itself.uid.into());
    put(out, itself.gid.into());
    for stamp in [itself.mtime, itself.ctime] {
        put_signed(out, stamp.seconds);
        put(out, stamp.nanos.into());
    }
    put(out, itself.inode);
}

fn take_itself(from: &mut &[u8]) -> fault::Result<Option<Itself>> {
    match take(from)? {
        0 => return Ok(None),
        1 => {}
        _ => return Err(damaged()),
    }
    let (mode, uid, gid) = (take_u32(from)?, take_u32(from)?, take_u32(from)?);
    let mtime = Stamp { seconds: take_signed(from)?, nanos: take_u32(from)? };
    let ctime = Stamp { seconds: take_signed(from)?, nanos: take_u32(from)? };
    Ok(Some(Itself { mode, uid, gid, mtime, ctime, inode: take(from)? }))
}
