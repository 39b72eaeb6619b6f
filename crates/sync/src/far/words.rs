//! What a sync asks an agent, and what it answers.
//!
//! A question is a letter and its words; an answer begins with [`DONE`], [`FAILED`] or [`MORE`]. Content is always last.

use fault::{Fault, Kind};
use store::objects::{Bytes, Labels, Object};
use store::{Extended, Stamp};

use super::content::{put_content, take_content};
use crate::index::wire::{
    put, put_bytes, put_signed, take, take_bytes, take_list, take_signed, take_slice, take_u32,
};

/// The answer is here.
pub const DONE: u8 = 0;
/// It could not be done.
pub const FAILED: u8 = 1;
/// A part of the answer; more follows.
pub const MORE: u8 = 2;

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
}

/// What an agent says of the tree it serves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opened {
    /// Type and id of the file system, and the root's inode.
    pub identity: [u64; 3],
    /// Devices and inodes from the tree up to the root of the host.
    pub above: Vec<(u64, u64)>,
    /// The run of its host.
    pub boot: String,
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

/// One item of a listing.
#[derive(Debug, PartialEq, Eq)]
pub enum Listed {
    /// Entries, as [`crate::objects::scan::Found::put`] writes them.
    Entries(Vec<u8>),
    /// So many entries do not take part.
    LeftOut(u64),
    /// An entry could not be looked at.
    Failed(Vec<u8>, Words),
    /// What is in this directory is not known.
    Unseen(Vec<u8>),
    /// Worth knowing.
    Note(String),
}

/// A failure as it travels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Which of [`KINDS`].
    kind: u8,
    /// The entry is no longer the one that was looked at.
    changed: bool,
    message: String,
    hint: String,
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
    /// Several entries with their content, if it is at most so long; an answer for each.
    Whole(Vec<Vec<u8>>, u64),
    /// A piece of a file, while it has this tag.
    Read { path: Vec<u8>, from: u64, to: u64, tag: String },
    /// A whole entry, in place of what has its name.
    Write { path: Vec<u8>, labels: Labels, content: Bytes },
    /// A file that comes in parts.
    Begin { upload: u64, path: Vec<u8> },
    /// A part of it.
    Part { upload: u64, at: u64, sparse: bool, content: Bytes },
    /// It is complete.
    End { upload: u64, path: Vec<u8>, size: u64, labels: Labels },
    /// It is not wanted any more.
    Discard { upload: u64 },
    /// A directory, in place of what is none.
    Directory(Vec<u8>),
    /// The second becomes a name of the first.
    Link(Vec<u8>, Vec<u8>),
    /// Attributes of directories, in this order; an answer for each.
    Finish(Vec<(Vec<u8>, Labels)>),
    /// Entries go, in this order, perhaps into a trash of this name; an answer for each.
    Delete { trash: Vec<u8>, paths: Vec<Vec<u8>> },
    /// The hash of a content, and its size.
    Hash(Vec<u8>),
    /// All that was written is made durable.
    Sync,
    /// Drafts in these directories go.
    Clean(Vec<Vec<u8>>),
}

/// What bytes are called that no agent of this version sends.
pub fn foreign() -> Fault {
    Fault::new(Kind::Corrupt, "what came over the connection is not understood")
        .hint("is another program of the same name there? see `forebay --version` on both hosts")
}

fn understood<T>(taken: fault::Result<T>) -> fault::Result<T> {
    taken.map_err(|_| foreign())
}

fn put_labels(out: &mut Vec<u8>, labels: &Labels) {
    put(out, labels.len() as u64);
    for (name, value) in labels {
        put_bytes(out, name.as_bytes());
        put_bytes(out, value.as_bytes());
    }
}

fn take_labels(from: &mut &[u8]) -> fault::Result<Labels> {
    let mut labels = Labels::new();
    for _ in 0..take(from)? {
        labels.insert(text(take_bytes(from)?), text(take_bytes(from)?));
    }
    Ok(labels)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn put_list(out: &mut Vec<u8>, list: &[Vec<u8>]) {
    put(out, list.len() as u64);
    list.iter().for_each(|item| put_bytes(out, item));
}

/// Appends what a look at an entry says.
pub fn put_object(out: &mut Vec<u8>, object: &Object) {
    put(out, object.size);
    put_bytes(out, object.tag.as_bytes());
    put_signed(out, object.modified.seconds);
    put(out, object.modified.nanos.into());
    put_labels(out, object.labels.as_ref().unwrap_or(&Labels::new()));
}

/// Takes it, for the entry with this key.
pub fn take_object(from: &mut &[u8], key: &str) -> fault::Result<Object> {
    understood(|| -> fault::Result<Object> {
        let (size, tag) = (take(from)?, text(take_bytes(from)?));
        let modified = Stamp { seconds: take_signed(from)?, nanos: take_u32(from)? };
        Ok(Object { key: key.to_owned(), size, tag, modified, labels: Some(take_labels(from)?) })
    }())
}

impl Ask {
    /// As bytes: its words, and the content that follows them.
    pub fn written(&self) -> (Vec<u8>, Bytes) {
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
                put_list(&mut out, paths);
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
                tail = put_content(&mut out, content);
            }
            Self::Begin { upload, path } => {
                put_path(&mut out, b'b', path);
                put(&mut out, *upload);
            }
            Self::Part { upload, at, sparse, content } => {
                out.push(b'a');
                [*upload, *at, u64::from(*sparse)].into_iter().for_each(|number| put(&mut out, number));
                tail = put_content(&mut out, content);
            }
            Self::End { upload, path, size, labels } => {
                put_path(&mut out, b'e', path);
                put(&mut out, *upload);
                put(&mut out, *size);
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
            Self::Hash(path) => put_path(&mut out, b'h', path),
            Self::Sync => out.push(b'y'),
            Self::Clean(paths) => {
                out.push(b'c');
                put_list(&mut out, paths);
            }
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
                let most = take(from)?;
                Self::Whole(take_list(from)?, most)
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
                Self::Begin { upload: take(from)?, path }
            }
            b'a' => Self::Part {
                upload: take(from)?,
                at: take(from)?,
                sparse: take(from)? == 1,
                content: take_content(from)?,
            },
            b'e' => {
                let path = path(from)?;
                Self::End { upload: take(from)?, path, size: take(from)?, labels: take_labels(from)? }
            }
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
            b'h' => Self::Hash(path(from)?),
            b'y' => Self::Sync,
            b'c' => Self::Clean(take_list(from)?),
            _ => return Err(foreign()),
        })
    }
}

fn put_path(out: &mut Vec<u8>, letter: u8, path: &[u8]) {
    out.push(letter);
    put_bytes(out, path);
}

impl Opening {
    fn put(&self, out: &mut Vec<u8>) {
        put_path(out, b'o', &self.path);
        put_bytes(out, self.shown.as_bytes());
        [self.writes, self.locks].into_iter().for_each(|flag| put(out, u64::from(flag)));
        put_bytes(out, self.drafts.as_bytes());
        [self.extended.acls, self.extended.others].into_iter().for_each(|flag| put(out, u64::from(flag)));
    }

    fn take(from: &mut &[u8]) -> fault::Result<Self> {
        Ok(Self {
            path: take_bytes(from)?.to_vec(),
            shown: text(take_bytes(from)?),
            writes: take(from)? == 1,
            locks: take(from)? == 1,
            drafts: text(take_bytes(from)?),
            extended: Extended { acls: take(from)? == 1, others: take(from)? == 1 },
        })
    }
}

impl Opened {
    /// Whether one of both trees lies in the other, on one host.
    pub fn overlaps(&self, other: &Self) -> bool {
        let within =
            |one: &Self, other: &Self| other.above.first().is_some_and(|root| one.above.contains(root));
        self.boot == other.boot && (within(self, other) || within(other, self))
    }

    /// Appends it.
    pub fn put(&self, out: &mut Vec<u8>) {
        self.identity.into_iter().for_each(|number| put(out, number));
        put_bytes(out, self.boot.as_bytes());
        for (device, inode) in &self.above {
            put(out, *device);
            put(out, *inode);
        }
    }

    /// Takes it.
    pub fn take(mut from: &[u8]) -> fault::Result<Self> {
        let from = &mut from;
        understood(|| -> fault::Result<Self> {
            let identity = [take(from)?, take(from)?, take(from)?];
            let mut opened = Self { identity, boot: text(take_bytes(from)?), above: Vec::new() };
            while !from.is_empty() {
                opened.above.push((take(from)?, take(from)?));
            }
            Ok(opened)
        }())
    }
}

impl Listed {
    /// As bytes.
    pub fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Entries(entries) => {
                out.push(b'e');
                out.extend_from_slice(entries);
            }
            Self::LeftOut(count) => {
                out.push(b'o');
                put(out, *count);
            }
            Self::Failed(path, words) => {
                put_path(out, b'f', path);
                words.put(out);
            }
            Self::Unseen(path) => put_path(out, b'u', path),
            Self::Note(note) => put_path(out, b'n', note.as_bytes()),
        }
    }

    /// From bytes.
    pub fn take(bytes: &[u8]) -> fault::Result<Self> {
        let (letter, mut rest) = bytes.split_first().ok_or_else(foreign)?;
        let from = &mut rest;
        understood(|| -> fault::Result<Self> {
            Ok(match letter {
                b'e' => Self::Entries(from.to_vec()),
                b'o' => Self::LeftOut(take(from)?),
                b'f' => {
                    let path = take_bytes(from)?.to_vec();
                    Self::Failed(path, Words::take(from)?)
                }
                b'u' => Self::Unseen(take_bytes(from)?.to_vec()),
                b'n' => Self::Note(text(take_bytes(from)?)),
                _ => return Err(foreign()),
            })
        }())
    }
}

const KINDS: [Kind; 11] = [
    Kind::Usage,
    Kind::Spec,
    Kind::NotFound,
    Kind::Denied,
    Kind::NoSpace,
    Kind::Refused,
    Kind::Io,
    Kind::Corrupt,
    Kind::Interrupted,
    Kind::Unsupported,
    Kind::Bug,
];

impl Words {
    /// Of a failure.
    pub fn of(fault: &Fault) -> Self {
        Self {
            kind: KINDS.iter().position(|kind| *kind == fault.kind()).unwrap_or(6) as u8,
            changed: store::objects::is_changed(fault),
            message: fault.message().to_owned(),
            hint: fault.hint_text().unwrap_or_default().to_owned(),
        }
    }

    /// The failure.
    pub fn fault(self) -> Fault {
        if self.changed {
            // Its message names the entry between two ticks.
            return store::objects::changed(self.message.split('`').nth(1).unwrap_or_default(), "");
        }
        let kind = KINDS.get(usize::from(self.kind)).copied().unwrap_or(Kind::Io);
        let fault = Fault::new(kind, self.message);
        if self.hint.is_empty() { fault } else { fault.hint(self.hint) }
    }

    /// Appends it.
    pub fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.kind, u8::from(self.changed)]);
        put_bytes(out, self.message.as_bytes());
        put_bytes(out, self.hint.as_bytes());
    }

    /// Takes it.
    pub fn take(from: &mut &[u8]) -> fault::Result<Self> {
        understood(|| -> fault::Result<Self> {
            let flags = take_slice(from, 2)?;
            let (kind, changed) = (flags[0], flags[1] == 1);
            Ok(Self { kind, changed, message: text(take_bytes(from)?), hint: text(take_bytes(from)?) })
        }())
    }
}

/// Appends an answer to one of several questions in one: what `fine` says, or the failure.
pub fn put_outcome(out: &mut Vec<u8>, outcome: fault::Result<Vec<u8>>) {
    match outcome {
        Ok(bytes) => {
            out.push(DONE);
            put_bytes(out, &bytes);
        }
        Err(fault) => {
            out.push(FAILED);
            let mut words = Vec::new();
            Words::of(&fault).put(&mut words);
            put_bytes(out, &words);
        }
    }
}

/// Takes such an answer.
pub fn take_outcome<'a>(from: &mut &'a [u8]) -> fault::Result<fault::Result<&'a [u8]>> {
    understood(|| -> fault::Result<fault::Result<&'a [u8]>> {
        let state = take_slice(from, 1)?[0];
        let mut bytes = take_bytes(from)?;
        Ok(if state == DONE { Ok(bytes) } else { Err(Words::take(&mut bytes)?.fault()) })
    }())
}

#[cfg(test)]
mod tests;
