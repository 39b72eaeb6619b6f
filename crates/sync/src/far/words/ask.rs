//! Questions.

use store::objects::{Bytes, Labels};
use store::{Extended, Stamp};

use super::super::content::{Compress, Press, put_content, take_content};
use super::{foreign, put_labels, put_list, put_path, take_labels, text, understood};
use crate::index::wire::{put, put_bytes, put_signed, take, take_bytes, take_list, take_signed, take_u32};
use crate::objects::{Joining, Moving};

/// Which tree an agent is to serve.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opening {
    /// The tree, absolute or below the home directory.
    pub path: Vec<u8>,
    /// What messages call it.
    pub shown: String,
    /// It is written to.
    pub writes: bool,
    /// It is made if it is not there, and nobody else may write to it: this connection holds the lock for all.
    pub locks: bool,
    /// What drafts are called.
    pub drafts: String,
    /// Which extended attributes take part.
    pub extended: Extended,
    /// How content is pressed on its way back.
    pub compress: Compress,
}

/// Which entries a listing has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Rules hold; without, every entry is listed.
    pub filtered: bool,
    /// Fifos and devices take part.
    pub special_files: bool,
    /// Other file systems below take part.
    pub cross_mounts: bool,
    /// The rules, as [`crate::filter::Filter::put`] writes them.
    pub filter: Vec<u8>,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// Still here; has no answer.
    Beat,
    /// First of all.
    Open(Opening),
    /// All entries; the answer is many items.
    List(Wanted),
    /// One entry, without its content.
    Look(Vec<u8>),
    /// Several entries with their content, if it is at most so long and has not the hash that begins like this; an answer
    /// for each.
    Whole(Vec<(Vec<u8>, Vec<u8>)>, u64),
    /// A piece of a file, while it has this tag.
    Read { path: Vec<u8>, from: u64, to: u64, tag: String },
    /// A whole entry, in place of what has its name.
    Write { path: Vec<u8>, labels: Labels, content: Bytes },
    /// A file that comes in parts, and perhaps from the copy that is there.
    Begin { upload: u64, path: Vec<u8>, from_old: bool },
    /// The same, going on with what an earlier try left of it; the answer is the size of that.
    GoOn { upload: u64, path: Vec<u8> },
    /// The hashes of leaves of what is there of it.
    Kept { upload: u64, from: u64, to: u64 },
    /// A part of it.
    Part { upload: u64, at: u64, sparse: bool, content: Bytes },
    /// A piece that the copy that was there has.
    Copy { upload: u64, from: u64, at: u64, length: u64 },
    /// It is complete, and has this hash, if one is given.
    End { upload: u64, path: Vec<u8>, size: u64, id: Vec<u8>, labels: Labels },
    /// It is not wanted any more.
    Discard { upload: u64 },
    /// A directory, in place of what is none.
    Directory(Vec<u8>),
    /// The second becomes a name of the first.
    Link(Vec<u8>, Vec<u8>),
    /// Attributes of directories, in this order; an answer for each.
    Finish(Vec<(Vec<u8>, Labels)>),
    /// Paths become further names of files, each if the file is what it is said to be; an answer for each.
    Join(Vec<Joining>),
    /// Files get other names, each if it is what it is said to be; an answer for each.
    Rename(Vec<Moving>),
    /// Entries go, in this order, perhaps into a trash of this name; an answer for each.
    Delete { trash: Vec<u8>, paths: Vec<Vec<u8>> },
    /// The hash of a content, and its size.
    Hash(Vec<u8>),
    /// The hashes of leaves, while the file has this tag.
    Sums { path: Vec<u8>, from: u64, to: u64, tag: String },
    /// All chunks of a file, while it has this tag; the answer is many items, and the hash of it all.
    Chunks { path: Vec<u8>, average: u64, tag: String },
    /// All that was written is made durable.
    Sync,
    /// Drafts in these directories go, but for those that a later try may go on with.
    Clean(Vec<Vec<u8>>),
    /// Those go, too.
    Sweep(Vec<Vec<u8>>),
}

impl Ask {
    /// As bytes: its words, and the content that follows them.
    pub fn written(&self, press: &Press) -> (Vec<u8>, Bytes) {
        let mut out = Vec::new();
        let mut tail = Bytes::new();
        match self {
            Self::Beat => out.push(b'.'),
            Self::Open(opening) => opening.put(&mut out),
            Self::List(wanted) => {
                out.push(b'l');
                let flags = [wanted.filtered, wanted.special_files, wanted.cross_mounts];
                flags.into_iter().for_each(|flag| put(&mut out, u64::from(flag)));
                put_bytes(&mut out, &wanted.filter);
            }
            Self::Look(path) => put_path(&mut out, b's', path),
            Self::Whole(paths, most) => {
                out.push(b'w');
                put(&mut out, *most);
                paths.iter().flat_map(|(path, id)| [path, id]).for_each(|bytes| put_bytes(&mut out, bytes));
            }
            Self::Read { path, from, to, tag } => {
                put_path(&mut out, b'r', path);
                put(&mut out, *from);
                put(&mut out, *to);
                put_bytes(&mut out, tag.as_bytes());
            }
            Self::Write { path, labels, content } => {
                put_path(&mut out, b'p', path);
                put_labels(&mut out, labels);
                tail = put_content(&mut out, content, press);
            }
            Self::Begin { upload, path, from_old } => {
                put_path(&mut out, b'b', path);
                put(&mut out, *upload);
                put(&mut out, u64::from(*from_old));
            }
            Self::Copy { upload, from, at, length } => {
                out.push(b'k');
                [*upload, *from, *at, *length].into_iter().for_each(|number| put(&mut out, number));
            }
            Self::Sums { path, from, to, tag } => {
                put_path(&mut out, b'q', path);
                put(&mut out, *from);
                put(&mut out, *to);
                put_bytes(&mut out, tag.as_bytes());
            }
            Self::Chunks { path, average, tag } => {
                put_path(&mut out, b't', path);
                put(&mut out, *average);
                put_bytes(&mut out, tag.as_bytes());
            }
            Self::Part { upload, at, sparse, content } => {
                out.push(b'a');
                [*upload, *at, u64::from(*sparse)].into_iter().for_each(|number| put(&mut out, number));
                tail = put_content(&mut out, content, press);
            }
            Self::End { upload, path, size, id, labels } => {
                put_path(&mut out, b'e', path);
                put(&mut out, *upload);
                put(&mut out, *size);
                put_bytes(&mut out, id);
                put_labels(&mut out, labels);
            }
            Self::Discard { upload } => {
                out.push(b'x');
                put(&mut out, *upload);
            }
            Self::Directory(path) => put_path(&mut out, b'm', path),
            Self::Link(from, to) => {
                put_path(&mut out, b'n', from);
                put_bytes(&mut out, to);
            }
            Self::Finish(directories) => {
                out.push(b'f');
                for (path, labels) in directories {
                    put_bytes(&mut out, path);
                    put_labels(&mut out, labels);
                }
            }
            Self::Delete { trash, paths } => {
                put_path(&mut out, b'd', trash);
                put_list(&mut out, paths);
            }
            Self::Join(all) => {
                out.push(b'j');
                all.iter().for_each(|joining| put_joining(&mut out, joining));
            }
            Self::Rename(all) => {
                out.push(b'v');
                all.iter().for_each(|moving| put_moving(&mut out, moving));
            }
            Self::Hash(path) => put_path(&mut out, b'h', path),
            Self::Sync => out.push(b'y'),
            Self::GoOn { upload, path } => {
                put_path(&mut out, b'g', path);
                put(&mut out, *upload);
            }
            Self::Kept { upload, from, to } => put_numbers(&mut out, b'u', [*upload, *from, *to]),
            Self::Clean(paths) => put_paths(&mut out, b'c', paths),
            Self::Sweep(paths) => put_paths(&mut out, b'z', paths),
        }
        (out, tail)
    }

    /// From the body of a frame.
    pub fn read(body: &[u8]) -> fault::Result<Self> {
        understood(Self::read_words(body))
    }

    fn read_words(body: &[u8]) -> fault::Result<Self> {
        let (letter, mut rest) = body.split_first().ok_or_else(foreign)?;
        let from = &mut rest;
        let path = |from: &mut &[u8]| take_bytes(from).map(<[u8]>::to_vec);
        Ok(match letter {
            b'.' => Self::Beat,
            b'o' => Self::Open(Opening::take(from)?),
            b'l' => Self::List(Wanted {
                filtered: take(from)? == 1,
                special_files: take(from)? == 1,
                cross_mounts: take(from)? == 1,
                filter: path(from)?,
            }),
            b's' => Self::Look(path(from)?),
            b'w' => {
                let (most, mut paths) = (take(from)?, Vec::new());
                while !from.is_empty() {
                    paths.push((path(from)?, path(from)?));
                }
                Self::Whole(paths, most)
            }
            b'r' => Self::Read {
                path: path(from)?,
                from: take(from)?,
                to: take(from)?,
                tag: text(take_bytes(from)?),
            },
            b'p' => {
                Self::Write { path: path(from)?, labels: take_labels(from)?, content: take_content(from)? }
            }
            b'b' => {
                let path = path(from)?;
                Self::Begin { upload: take(from)?, path, from_old: take(from)? == 1 }
            }
            b'a' => Self::Part {
                upload: take(from)?,
                at: take(from)?,
                sparse: take(from)? == 1,
                content: take_content(from)?,
            },
            b'e' => {
                let path = path(from)?;
                let (upload, size) = (take(from)?, take(from)?);
                Self::End { upload, path, size, id: take_bytes(from)?.to_vec(), labels: take_labels(from)? }
            }
            b'k' => {
                Self::Copy { upload: take(from)?, from: take(from)?, at: take(from)?, length: take(from)? }
            }
            b'q' => Self::Sums {
                path: path(from)?,
                from: take(from)?,
                to: take(from)?,
                tag: text(take_bytes(from)?),
            },
            b't' => Self::Chunks { path: path(from)?, average: take(from)?, tag: text(take_bytes(from)?) },
            b'x' => Self::Discard { upload: take(from)? },
            b'm' => Self::Directory(path(from)?),
            b'n' => Self::Link(path(from)?, path(from)?),
            b'f' => {
                let mut directories = Vec::new();
                while !from.is_empty() {
                    directories.push((path(from)?, take_labels(from)?));
                }
                Self::Finish(directories)
            }
            b'd' => Self::Delete { trash: path(from)?, paths: take_list(from)? },
            b'j' => {
                let mut all = Vec::new();
                while !from.is_empty() {
                    all.push(take_joining(from)?);
                }
                Self::Join(all)
            }
            b'v' => {
                let mut all = Vec::new();
                while !from.is_empty() {
                    all.push(take_moving(from)?);
                }
                Self::Rename(all)
            }
            b'h' => Self::Hash(path(from)?),
            b'y' => Self::Sync,
            b'g' => {
                let path = path(from)?;
                Self::GoOn { upload: take(from)?, path }
            }
            b'u' => Self::Kept { upload: take(from)?, from: take(from)?, to: take(from)? },
            b'z' => Self::Sweep(take_list(from)?),
            b'c' => Self::Clean(take_list(from)?),
            _ => return Err(foreign()),
        })
    }
}

fn put_paths(out: &mut Vec<u8>, letter: u8, paths: &[Vec<u8>]) {
    out.push(letter);
    put_list(out, paths);
}

fn put_numbers(out: &mut Vec<u8>, letter: u8, numbers: [u64; 3]) {
    out.push(letter);
    numbers.into_iter().for_each(|number| put(out, number));
}

fn put_joining(out: &mut Vec<u8>, joining: &Joining) {
    put_bytes(out, &joining.from);
    put_bytes(out, &joining.to);
    put(out, joining.size);
    put_signed(out, joining.seconds);
}

fn take_joining(from: &mut &[u8]) -> fault::Result<Joining> {
    Ok(Joining {
        from: take_bytes(from)?.to_vec(),
        to: take_bytes(from)?.to_vec(),
        size: take(from)?,
        seconds: take_signed(from)?,
    })
}

fn put_moving(out: &mut Vec<u8>, moving: &Moving) {
    put_bytes(out, &moving.from);
    put_bytes(out, &moving.to);
    put(out, moving.size);
    put_signed(out, moving.mtime.seconds);
    put(out, moving.mtime.nanos.into());
    put_bytes(out, &moving.id);
    put(out, u64::from(moving.goes));
    put(out, u64::from(moving.shared));
    put_labels(out, &moving.labels);
}

fn take_moving(from: &mut &[u8]) -> fault::Result<Moving> {
    Ok(Moving {
        from: take_bytes(from)?.to_vec(),
        to: take_bytes(from)?.to_vec(),
        size: take(from)?,
        mtime: Stamp { seconds: take_signed(from)?, nanos: take_u32(from)? },
        id: take_bytes(from)?.to_vec(),
        goes: take(from)? == 1,
        shared: take(from)? == 1,
        labels: take_labels(from)?,
    })
}

impl Opening {
    fn put(&self, out: &mut Vec<u8>) {
        put_path(out, b'o', &self.path);
        put_bytes(out, self.shown.as_bytes());
        [self.writes, self.locks].into_iter().for_each(|flag| put(out, u64::from(flag)));
        put_bytes(out, self.drafts.as_bytes());
        [self.extended.acls, self.extended.others].into_iter().for_each(|flag| put(out, u64::from(flag)));
        put(out, self.compress.number());
    }

    fn take(from: &mut &[u8]) -> fault::Result<Self> {
        Ok(Self {
            path: take_bytes(from)?.to_vec(),
            shown: text(take_bytes(from)?),
            writes: take(from)? == 1,
            locks: take(from)? == 1,
            drafts: text(take_bytes(from)?),
            extended: Extended { acls: take(from)? == 1, others: take(from)? == 1 },
            compress: Compress::of(take(from)?),
        })
    }
}
