//! Answers.

use fault::{Fault, Kind};
use store::Stamp;
use store::objects::{Labels, Object};

use super::{DONE, FAILED, foreign, put_labels, put_path, take_labels, text, understood};
use crate::index::wire::{put, put_bytes, put_signed, take, take_bytes, take_signed, take_slice, take_u32};

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
    /// Chunks of a file: length and hash of each.
    Chunks(Vec<u8>),
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
            Self::Chunks(chunks) => {
                out.push(b'c');
                out.extend_from_slice(chunks);
            }
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
                b'c' => Self::Chunks(from.to_vec()),
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
