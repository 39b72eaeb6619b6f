//! A changelog record as the kernel gives it: a head of 64 bytes, what its flags announce, then the names.

use std::fmt;

/// The number of a file of Lustre, whatever its names are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fid {
    /// Sequence.
    pub sequence: u64,
    /// Object.
    pub object: u32,
    /// Version.
    pub version: u32,
}

impl fmt::Display for Fid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:#x}:{:#x}:{:#x}]", self.sequence, self.object, self.version)
    }
}

impl Fid {
    /// Whether it names anything.
    pub const fn is_some(&self) -> bool {
        self.sequence != 0
    }
}

/// What happened, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The log was switched on or off: what happened in between is in no record.
    Mark,
    /// A name came, went or is another's now.
    Name,
    /// The same, of what may be a directory with anything in it.
    Tree,
    /// Content or attributes of a file changed.
    File,
    /// Nothing that a copy could show: opened, read, archived.
    Nothing,
}

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// What happened.
    pub what: What,
    /// Its number in the log of its MDT.
    pub index: u64,
    /// When, ns since 1970.
    pub time: u64,
    /// What it happened to.
    pub target: Fid,
    /// The directory of the name.
    pub parent: Fid,
    /// The name; empty where none is told.
    pub name: &'a [u8],
    /// Of a rename: where it was.
    pub from: Option<(Fid, &'a [u8])>,
}

const HEAD: usize = 64;
const RENAME: u16 = 0x2000;
const JOB: u16 = 0x4000;
const EXTRA: u16 = 0x8000;
/// Bytes of what each extra flag announces, in the order in which they come: owner, NID, open flags, attribute name.
const EXTRAS: [(u64, usize); 4] = [(1, 16), (2, 20), (4, 4), (8, 256)];

/// The number and the meaning of each type, in the order of their numbers (lustre_user.h).
const TYPES: [What; 25] = [
    What::Mark,    // MARK
    What::Name,    // CREAT
    What::Tree,    // MKDIR
    What::Name,    // HLINK
    What::Name,    // SLINK
    What::Name,    // MKNOD
    What::Name,    // UNLNK
    What::Name,    // RMDIR
    What::Tree,    // RENME
    What::Tree,    // RNMTO
    What::Nothing, // OPEN
    What::File,    // CLOSE
    What::File,    // LYOUT
    What::File,    // TRUNC
    What::File,    // SATTR
    What::File,    // XATTR
    What::File,    // HSM: a restored file has its content again
    What::File,    // MTIME
    What::File,    // CTIME
    What::Nothing, // ATIME
    What::Tree,    // MIGRT
    What::File,    // FLRW
    What::Nothing, // RESYNC
    What::Nothing, // GXATR
    What::Nothing, // NOPEN
];

/// How many bytes the record that begins with `head` has; `None` if `head` is too short to tell.
pub fn length(head: &[u8]) -> Option<usize> {
    let fixed = head.get(..HEAD)?;
    let names = usize::from(u16_at(fixed, 0));
    let flags = u16_at(fixed, 2);
    let mut at = HEAD;
    at += if flags & RENAME != 0 { 32 } else { 0 };
    at += if flags & JOB != 0 { 32 } else { 0 };
    if flags & EXTRA != 0 {
        let extras = u64::from_ne_bytes(*head.get(at..)?.first_chunk::<8>()?);
        at += 8;
        at += EXTRAS.iter().filter(|(flag, _)| extras & flag != 0).map(|(_, size)| size).sum::<usize>();
    }
    Some(at + names)
}

/// Bytes that are enough for [`length`], whatever the flags.
pub const LONGEST_HEAD: usize = HEAD + 32 + 32 + 8;

/// Reads one record; `None` where `bytes` is not a whole one.
pub fn parse(bytes: &[u8]) -> Option<Record<'_>> {
    let whole = bytes.get(..length(bytes)?)?;
    let flags = u16_at(whole, 2);
    let names = &whole[whole.len() - usize::from(u16_at(whole, 0))..];
    let what = TYPES.get(u32_at(whole, 4) as usize).copied().unwrap_or(What::File);
    let (name, old) = match names.iter().position(|byte| *byte == 0) {
        Some(end) => (&names[..end], until_nul(&names[end + 1..])),
        None => (names, &names[names.len()..]),
    };
    let from =
        (flags & RENAME != 0).then(|| (fid_at(whole, HEAD + 16), old)).filter(|(dir, _)| dir.is_some());
    Some(Record {
        what,
        index: u64_at(whole, 8),
        time: nanos(u64_at(whole, 24)),
        target: fid_at(whole, 32),
        parent: fid_at(whole, 48),
        name,
        from,
    })
}

/// Seconds in the upper 34 bits, nanoseconds in the lower 30.
const fn nanos(time: u64) -> u64 {
    (time >> 30).saturating_mul(1_000_000_000).saturating_add(time & ((1 << 30) - 1))
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len())]
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u16::from_ne_bytes(*word))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_ne_bytes(*word))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_ne_bytes(*word))
}

fn fid_at(bytes: &[u8], at: usize) -> Fid {
    Fid { sequence: u64_at(bytes, at), object: u32_at(bytes, at + 8), version: u32_at(bytes, at + 12) }
}
