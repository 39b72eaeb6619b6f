//! One entry that a scan found, and the record that it sorts by.

use fault::Fault;
use store::objects::Object;
use store::{Kind, Meta, Stamp};

use super::super::side::{Place, is_path};
use crate::far::inode_of;
use crate::index::wire::{put, put_bytes, put_signed, take, take_bytes, take_signed, take_slice, take_u32};
use crate::index::{Known, tree_key};

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
    /// The device it is on, where a tree has it and it is a file with several names.
    pub linked_on: Option<u64>,
}

/// The tag of what a host lists: it has one only when it is looked at.
const LISTED: &str = "listed";
const IMPLIED: u8 = 1;
const RACY: u8 = 2;
const LINKED: u8 = 4;

/// The place of a path among all: what records begin with.
pub fn place_of(path: &[u8]) -> Vec<u8> {
    let (dir, name) = store::split_last(path);
    let mut place = tree_key(dir);
    place.extend_from_slice(name);
    place.push(0);
    place
}

impl Found {
    pub(super) fn record(&self) -> Vec<u8> {
        let mut out = place_of(&self.path);
        self.put(&mut out);
        out
    }

    /// Appends it.
    pub fn put(&self, out: &mut Vec<u8>) {
        let known = &self.known;
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        out.push(
            flag(self.implied, IMPLIED) | flag(known.racy, RACY) | flag(self.linked_on.is_some(), LINKED),
        );
        self.linked_on.into_iter().for_each(|device| put(out, device));
        put_bytes(out, &self.path);
        out.push(KINDS.iter().position(|kind| *kind == known.kind).unwrap_or(0) as u8);
        for number in [known.size, known.inode, known.mode.into(), known.uid.into(), known.gid.into()] {
            put(out, number);
        }
        for stamp in [known.mtime, known.ctime] {
            put_signed(out, stamp.seconds);
            put(out, stamp.nanos.into());
        }
        put_bytes(out, self.key.as_bytes());
        put_bytes(out, self.tag.as_bytes());
    }

    /// From a record, and the place it begins with.
    pub fn of_record(record: &[u8]) -> fault::Result<Self> {
        let damaged = crate::index::wire::damaged;
        let dir = record.windows(2).position(|pair| pair == [0, 0]).ok_or_else(damaged)? + 2;
        let name = record[dir..].iter().position(|byte| *byte == 0).ok_or_else(damaged)?;
        Self::take(&mut &record[dir + name + 1..])
    }

    /// Takes what [`Found::put`] appended.
    pub fn take(rest: &mut &[u8]) -> fault::Result<Self> {
        let damaged = crate::index::wire::damaged;
        let flags = take_slice(rest, 1)?[0];
        let linked_on = if flags & LINKED != 0 { Some(take(rest)?) } else { None };
        let path = take_bytes(rest)?.to_vec();
        let kind = take_slice(rest, 1)?[0];
        let (size, inode) = (take(rest)?, take(rest)?);
        let (mode, uid, gid) = (take_u32(rest)?, take_u32(rest)?, take_u32(rest)?);
        let mut stamp =
            || -> fault::Result<Stamp> { Ok(Stamp { seconds: take_signed(rest)?, nanos: take_u32(rest)? }) };
        let (mtime, ctime) = (stamp()?, stamp()?);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (key, tag) = (text(take_bytes(rest)?), text(take_bytes(rest)?));
        let kind = KINDS.get(usize::from(kind)).copied().ok_or_else(damaged)?;
        let (implied, racy, linked) = (flags & IMPLIED != 0, flags & RACY != 0, linked_on.is_some());
        let known = Known { kind, racy, linked, size, mtime, ctime, inode, mode, uid, gid, id: None };
        Ok(Self { path, known, key, tag, implied, linked_on })
    }

    pub(super) fn of_meta(path: Vec<u8>, meta: &Meta) -> Self {
        let known = Known::of(meta);
        let linked_on = known.linked.then_some(meta.device);
        Self { path, known, key: String::new(), tag: String::new(), implied: false, linked_on }
    }

    /// Of an object as a listing shows it. The tag takes the inode's place: it changes whenever the content does.
    pub(super) fn of_object(path: Vec<u8>, kind: Kind, object: Object) -> Self {
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
        Self { path, known, key: object.key, tag: object.tag, implied: false, linked_on: None }
    }

    /// Of an entry on another host: with the key it is asked for by. What can't be a path is not believed.
    pub(super) fn of_far(place: &Place, found: Self) -> fault::Result<Self> {
        if !found.path.is_empty() && !is_path(&found.path) {
            let text = format!("`{}` lists what can't be a path", place.name);
            return Err(Fault::new(fault::Kind::Corrupt, text).hint("is its program the same as this one?"));
        }
        let (key, _) = place.key(&found.path, found.known.kind == Kind::Directory);
        Ok(Self { key, tag: LISTED.to_owned(), implied: false, ..found })
    }

    /// Of what the last sync knew.
    pub fn of_known(path: Vec<u8>, known: Known) -> Self {
        Self { path, known, key: String::new(), tag: String::new(), implied: false, linked_on: None }
    }

    /// What is known of it once this object was read under its key. A host may have had another file there by then.
    pub fn known_as(&self, object: &Object) -> Known {
        let read = if self.tag == LISTED { inode_of(&object.tag) } else { None };
        Known { inode: read.unwrap_or(self.known.inode), ..self.known }
    }

    pub(super) fn implied(path: Vec<u8>) -> Self {
        let object = Object { key: String::new(), ..Object::default() };
        Self { implied: true, ..Self::of_object(path, Kind::Directory, object) }
    }

    /// As filters see it.
    pub(super) fn meta(&self) -> Meta {
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
