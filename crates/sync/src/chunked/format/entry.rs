use chunk::Id;
use store::objects::Labels;
use store::{Kind, Stamp};

use super::{MOST_PIECE, damaged};
use crate::index::wire::{put, put_bytes, put_signed, take, take_bytes, take_signed, take_slice, take_u32};
use crate::objects::labels::{Posix, decode_named, encode_named};

const MODE: u64 = 1;
const OWNER: u64 = 2;
const MTIME: u64 = 4;
const ATIME: u64 = 8;
const SPARSE: u64 = 16;
const GROUP: u64 = 32;
const NODE: u64 = 64;
const NAMED: u64 = 128;
const OTHERS: u64 = 256;
const ALL: u64 = 511;

const KINDS: [Kind; 6] =
    [Kind::File, Kind::Directory, Kind::Symlink, Kind::Fifo, Kind::CharDevice, Kind::BlockDevice];

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the root, which is the empty path.
    pub path: Vec<u8>,
    /// All but its content.
    pub posix: Posix,
    /// Labels that say nothing of a file, as other stores' objects carry them.
    pub others: Labels,
    /// When it came here.
    pub modified: Stamp,
    /// Bytes of its content, or of a symlink's target.
    pub size: u64,
    pub content: Content,
}

/// The content of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// In the entry itself.
    Inline(Vec<u8>),
    /// In chunks, in order; the hash of it all.
    Chunks(Id, Vec<Piece>),
    /// In chunks whose list is in pieces itself; the hash of it all.
    Lists(Id, Vec<Lists>),
}

/// A piece of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub id: Id,
    /// Bytes.
    pub length: u32,
}

/// A piece of a list of chunks, and what the chunks have together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lists {
    pub list: Piece,
    /// Bytes of content.
    pub content: u64,
}

impl Content {
    /// Bytes that its pieces say they have together; `None` where that is absurd.
    fn size(&self) -> Option<u64> {
        match self {
            Self::Inline(bytes) => Some(bytes.len() as u64),
            Self::Chunks(_, pieces) => Some(pieces.iter().map(|piece| u64::from(piece.length)).sum()),
            Self::Lists(_, lists) => lists.iter().try_fold(0u64, |sum, list| sum.checked_add(list.content)),
        }
    }

    /// The hash of all of it.
    pub fn id(&self) -> Id {
        match self {
            Self::Inline(bytes) => Id::of(bytes),
            Self::Chunks(id, _) | Self::Lists(id, _) => *id,
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Inline(bytes) => {
                out.push(0);
                put_bytes(out, bytes);
            }
            // The hash of a single chunk is that of the file.
            Self::Chunks(id, pieces) => {
                out.push(1);
                put(out, pieces.len() as u64);
                pieces.iter().for_each(|piece| piece.put(out));
                if pieces.len() != 1 {
                    out.extend_from_slice(&id.0);
                }
            }
            Self::Lists(id, lists) => {
                out.push(2);
                put(out, lists.len() as u64);
                for list in lists {
                    list.list.put(out);
                    put(out, list.content);
                }
                out.extend_from_slice(&id.0);
            }
        }
    }

    fn take(from: &mut &[u8]) -> fault::Result<Self> {
        match take_slice(from, 1)?[0] {
            0 => Ok(Self::Inline(take_bytes(from)?.to_vec())),
            1 => {
                let pieces = Piece::take_many(from)?;
                let id = if let [one] = pieces[..] { one.id } else { take_id(from)? };
                Ok(Self::Chunks(id, pieces))
            }
            2 => {
                let (count, mut lists) = (take(from)?, Vec::new());
                for _ in 0..count {
                    let list = Lists { list: Piece::take(from)?, content: take(from)? };
                    if list.content == 0 {
                        return Err(damaged("an entry"));
                    }
                    lists.push(list);
                }
                Ok(Self::Lists(take_id(from)?, lists))
            }
            _ => Err(damaged("an entry")),
        }
    }
}

fn take_id(from: &mut &[u8]) -> fault::Result<Id> {
    Ok(Id(take_slice(from, 32)?.first_chunk().copied().unwrap_or_default()))
}

impl Piece {
    fn put(&self, out: &mut Vec<u8>) {
        put(out, self.length.into());
        out.extend_from_slice(&self.id.0);
    }

    fn take(from: &mut &[u8]) -> fault::Result<Self> {
        let length = take_u32(from)?;
        if length == 0 || length > MOST_PIECE {
            return Err(damaged("an entry"));
        }
        Ok(Self { length, id: take_id(from)? })
    }

    fn take_many(from: &mut &[u8]) -> fault::Result<Vec<Self>> {
        let (count, mut pieces) = (take(from)?, Vec::new());
        for _ in 0..count {
            pieces.push(Self::take(from)?);
        }
        Ok(pieces)
    }

    /// Pieces as a list that is content itself.
    pub fn list(pieces: &[Self]) -> Vec<u8> {
        let mut out = Vec::with_capacity(8 + pieces.len() * 35);
        put(&mut out, pieces.len() as u64);
        pieces.iter().for_each(|piece| piece.put(&mut out));
        out
    }

    /// Pieces of such a list, with `content` bytes together.
    pub fn of_list(mut bytes: &[u8], content: u64) -> fault::Result<Vec<Self>> {
        let pieces = Self::take_many(&mut bytes).map_err(|_| damaged("a list of chunks"))?;
        let sum: u64 = pieces.iter().map(|piece| u64::from(piece.length)).sum();
        if bytes.is_empty() && sum == content { Ok(pieces) } else { Err(damaged("a list of chunks")) }
    }
}

impl Entry {
    /// What the next entry of a block shares with the path before it is left out.
    pub(super) fn put(&self, before: &[u8], out: &mut Vec<u8>) {
        let shared = before.iter().zip(&self.path).take_while(|(a, b)| a == b).count();
        put(out, shared as u64);
        put_bytes(out, &self.path[shared..]);
        put_signed(out, self.modified.seconds);
        put(out, self.modified.nanos.into());
        self.put_rest(out);
    }

    /// All but its path and when it came.
    fn put_rest(&self, out: &mut Vec<u8>) {
        let posix = &self.posix;
        let flag = |is: bool, flag: u64| if is { flag } else { 0 };
        let flags = flag(posix.mode.is_some(), MODE)
            | flag(posix.owner.is_some(), OWNER)
            | flag(posix.mtime.is_some(), MTIME)
            | flag(posix.atime.is_some(), ATIME)
            | flag(posix.sparse, SPARSE)
            | flag(posix.group.is_some(), GROUP)
            | flag(posix.node != 0, NODE)
            | flag(!posix.named.is_empty(), NAMED)
            | flag(!self.others.is_empty(), OTHERS);
        out.push(KINDS.iter().position(|kind| *kind == posix.kind).unwrap_or(0) as u8);
        put(out, flags);
        posix.mode.into_iter().for_each(|mode| put(out, mode.into()));
        if let Some((uid, gid)) = posix.owner {
            put(out, uid.into());
            put(out, gid.into());
        }
        for stamp in [posix.mtime, posix.atime].into_iter().flatten() {
            put_signed(out, stamp.seconds);
            put(out, stamp.nanos.into());
        }
        posix.group.iter().for_each(|group| out.extend_from_slice(group));
        if posix.node != 0 {
            put(out, posix.node);
        }
        if !posix.named.is_empty() {
            put_bytes(out, &encode_named(&posix.named));
        }
        if !self.others.is_empty() {
            put(out, self.others.len() as u64);
            for (name, value) in &self.others {
                put_bytes(out, name.as_bytes());
                put_bytes(out, value.as_bytes());
            }
        }
        put(out, self.size);
        self.content.put(out);
    }

    /// What changes whenever anything of it does but its name.
    pub fn tag(&self) -> String {
        let mut bytes = Vec::new();
        self.put_rest(&mut bytes);
        Id::of(&bytes).to_string()[..32].to_owned()
    }

    /// As bytes that stand alone.
    pub fn alone(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(b"", &mut out);
        out
    }

    /// The next entry of a block, behind one with the path `before`.
    pub(super) fn take(from: &mut &[u8], before: &[u8]) -> fault::Result<Self> {
        let shared = usize::try_from(take(from)?).unwrap_or(usize::MAX);
        let mut path = before.get(..shared).ok_or_else(|| damaged("an entry"))?.to_vec();
        path.extend_from_slice(take_bytes(from)?);
        let modified = take_stamp(from)?;
        let kind = take_slice(from, 1)?[0];
        let kind = KINDS.get(usize::from(kind)).copied().ok_or_else(|| damaged("an entry"))?;
        let flags = take(from)?;
        let has = |flag: u64| flags & flag != 0;
        let mut posix = Posix::bare(kind);
        posix.mode = has(MODE).then(|| take_u32(from)).transpose()?;
        posix.owner = has(OWNER).then(|| Ok((take_u32(from)?, take_u32(from)?))).transpose()?;
        posix.mtime = has(MTIME).then(|| take_stamp(from)).transpose()?;
        posix.atime = has(ATIME).then(|| take_stamp(from)).transpose()?;
        posix.sparse = has(SPARSE);
        if has(GROUP) {
            posix.group = take_slice(from, 8)?.first_chunk().copied();
        }
        if has(NODE) {
            posix.node = take(from)?;
        }
        if has(NAMED) {
            posix.named = decode_named(take_bytes(from)?)?;
        }
        let mut others = Labels::new();
        let count = if has(OTHERS) { take(from)? } else { 0 };
        for _ in 0..count {
            let mut text = || Ok(String::from_utf8_lossy(take_bytes(from)?).into_owned());
            others.insert(text()?, text()?);
        }
        let entry = Self { path, posix, others, modified, size: take(from)?, content: Content::take(from)? };
        if flags & !ALL == 0 && entry.is_sound() { Ok(entry) } else { Err(damaged("an entry")) }
    }

    /// Of bytes as [`Entry::alone`] writes them.
    pub fn of_alone(mut bytes: &[u8]) -> fault::Result<Self> {
        Self::take(&mut bytes, b"")
    }

    fn is_sound(&self) -> bool {
        let is_root = self.path.is_empty() && self.posix.kind == Kind::Directory;
        (is_root || crate::objects::side::is_path(&self.path))
            && self.content.size() == Some(self.size)
            && self.posix.mode.is_none_or(|mode| mode <= 0o7777)
    }
}

fn take_stamp(from: &mut &[u8]) -> fault::Result<Stamp> {
    let stamp = Stamp { seconds: take_signed(from)?, nanos: take_u32(from)? };
    if stamp.nanos < 1_000_000_000 { Ok(stamp) } else { Err(damaged("a time")) }
}
