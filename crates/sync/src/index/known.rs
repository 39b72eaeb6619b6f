use store::{Kind, Meta, Stamp};

use super::wire::{damaged, put, put_bytes, put_signed, take, take_bytes, take_signed, take_slice, take_u32};

/// What the last sync knew of one entry of the source, once it was safely at the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// What it is.
    pub kind: Kind,
    /// Its content may have changed after we read it without any time showing it: read it again.
    pub racy: bool,
    /// It had several names.
    pub linked: bool,
    /// Size, bytes.
    pub size: u64,
    /// Last change of the content.
    pub mtime: Stamp,
    /// Last change of anything.
    pub ctime: Stamp,
    /// Inode number at the source.
    pub inode: u64,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// The start of the content's BLAKE3 hash, where it is known.
    pub id: Option<[u8; 16]>,
}

impl Known {
    /// What `meta` says, without a hash.
    pub fn of(meta: &Meta) -> Self {
        Self {
            kind: meta.kind,
            racy: false,
            linked: meta.kind == Kind::File && meta.links > 1,
            size: meta.size,
            mtime: meta.mtime,
            ctime: meta.ctime,
            inode: meta.inode,
            mode: meta.mode,
            uid: meta.uid,
            gid: meta.gid,
            id: None,
        }
    }

    /// Whether the entry has not been touched since: size, both times, inode and kind are equal, and equal times can be
    /// trusted.
    pub fn is_still(&self, meta: &Meta) -> bool {
        !self.racy
            && self.kind == meta.kind
            && self.size == meta.size
            && self.mtime == meta.mtime
            && self.ctime == meta.ctime
            && self.inode == meta.inode
    }
}

/// What encoding one entry needs of the one before.
#[derive(Debug, Clone, Default)]
pub struct Previous {
    name: Vec<u8>,
    seconds: i64,
    inode: u64,
    owner: (u32, u32, u32),
}

const RACY: u8 = 0x08;
const HAS_ID: u8 = 0x10;
const SAME_OWNER: u8 = 0x20;
const SAME_TIMES: u8 = 0x40;
const LINKED: u8 = 0x80;

/// Appends an entry; its hash goes to `ids`, which no compression makes smaller.
pub fn put_known(out: &mut Vec<u8>, ids: &mut Vec<u8>, previous: &mut Previous, name: &[u8], known: &Known) {
    let shared = name.iter().zip(&previous.name).take_while(|(a, b)| a == b).count();
    put(out, shared as u64);
    put_bytes(out, &name[shared..]);
    let owner = (known.mode, known.uid, known.gid);
    let mut head = kind_number(known.kind);
    head |= if known.racy { RACY } else { 0 };
    head |= if known.linked { LINKED } else { 0 };
    head |= if known.id.is_some() { HAS_ID } else { 0 };
    head |= if owner == previous.owner { SAME_OWNER } else { 0 };
    head |= if known.mtime == known.ctime { SAME_TIMES } else { 0 };
    out.push(head);
    put(out, known.size);
    put_stamp(out, known.mtime, previous.seconds);
    if head & SAME_TIMES == 0 {
        put_stamp(out, known.ctime, known.mtime.seconds);
    }
    put_signed(out, known.inode.wrapping_sub(previous.inode).cast_signed());
    if head & SAME_OWNER == 0 {
        put(out, known.mode.into());
        put(out, known.uid.into());
        put(out, known.gid.into());
    }
    ids.extend_from_slice(known.id.as_ref().map_or(&[][..], |id| id));
    previous.name.truncate(shared);
    previous.name.extend_from_slice(&name[shared..]);
    previous.seconds = known.mtime.seconds;
    previous.inode = known.inode;
    previous.owner = owner;
}

/// Takes an entry; its name is then in `previous`.
pub fn take_known(from: &mut &[u8], ids: &mut &[u8], previous: &mut Previous) -> fault::Result<Known> {
    let shared = usize::try_from(take(from)?).map_err(|_| damaged())?;
    let suffix = take_bytes(from)?;
    if shared > previous.name.len() || shared + suffix.len() > 255 {
        return Err(damaged());
    }
    previous.name.truncate(shared);
    previous.name.extend_from_slice(suffix);
    let head = take_slice(from, 1)?[0];
    let kind = kind_of(head & 0x07)?;
    let size = take(from)?;
    let mtime = take_stamp(from, previous.seconds)?;
    let ctime = if head & SAME_TIMES == 0 { take_stamp(from, mtime.seconds)? } else { mtime };
    let inode = previous.inode.wrapping_add(take_signed(from)?.cast_unsigned());
    if head & SAME_OWNER == 0 {
        previous.owner = (take_u32(from)?, take_u32(from)?, take_u32(from)?);
    }
    let id = if head & HAS_ID == 0 {
        None
    } else {
        Some(*take_slice(ids, 16)?.first_chunk::<16>().ok_or_else(damaged)?)
    };
    previous.seconds = mtime.seconds;
    previous.inode = inode;
    let (mode, uid, gid) = previous.owner;
    let (racy, linked) = (head & RACY != 0, head & LINKED != 0);
    Ok(Known { kind, racy, linked, size, mtime, ctime, inode, mode, uid, gid, id })
}

impl Previous {
    /// The name of the last entry.
    pub fn name(&self) -> &[u8] {
        &self.name
    }
}

fn put_stamp(out: &mut Vec<u8>, stamp: Stamp, base: i64) {
    put_signed(out, stamp.seconds.wrapping_sub(base));
    put(out, stamp.nanos.into());
}

fn take_stamp(from: &mut &[u8], base: i64) -> fault::Result<Stamp> {
    Ok(Stamp { seconds: base.wrapping_add(take_signed(from)?), nanos: take_u32(from)? })
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

fn kind_number(kind: Kind) -> u8 {
    KINDS.iter().position(|other| *other == kind).unwrap_or(0) as u8
}

fn kind_of(number: u8) -> fault::Result<Kind> {
    KINDS.get(usize::from(number)).copied().ok_or_else(damaged)
}

#[cfg(test)]
pub mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stamp() -> impl Strategy<Value = Stamp> {
        (any::<i64>(), 0u32..1_000_000_000).prop_map(|(seconds, nanos)| Stamp { seconds, nanos })
    }

    pub fn known() -> impl Strategy<Value = Known> {
        let times = (stamp(), stamp(), any::<bool>(), any::<bool>());
        let numbers = (any::<u64>(), any::<u64>(), 0u32..0o10000, 0u32..3, any::<u32>());
        (0usize..7, any::<bool>(), times, numbers, any::<Option<[u8; 16]>>()).prop_map(
            |(kind, racy, (mtime, ctime, same, linked), (size, inode, mode, uid, gid), id)| Known {
                kind: KINDS[kind],
                racy,
                linked,
                size,
                mtime,
                ctime: if same { mtime } else { ctime },
                inode,
                mode,
                uid,
                gid,
                id,
            },
        )
    }

    pub fn name() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(any::<u8>().prop_filter("a name", |b| *b != 0 && *b != b'/'), 1..20)
    }

    proptest! {
        #[test]
        fn entries_survive(entries in proptest::collection::btree_map(name(), known(), 0..40)) {
            let (mut out, mut ids, mut previous) = (Vec::new(), Vec::new(), Previous::default());
            for (name, known) in &entries {
                put_known(&mut out, &mut ids, &mut previous, name, known);
            }
            let (mut out, mut ids, mut previous) = (&out[..], &ids[..], Previous::default());
            for (name, known) in &entries {
                prop_assert_eq!(&take_known(&mut out, &mut ids, &mut previous).unwrap(), known);
                prop_assert_eq!(previous.name(), &name[..]);
            }
            prop_assert!(out.is_empty() && ids.is_empty());
        }

        #[test]
        fn garbage_never_panics(bytes: Vec<u8>, ids: Vec<u8>) {
            let (mut bytes, mut ids, mut previous) = (&bytes[..], &ids[..], Previous::default());
            while take_known(&mut bytes, &mut ids, &mut previous).is_ok() && !bytes.is_empty() {}
        }
    }
}
