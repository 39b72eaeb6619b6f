//! What a POSIX entry is beside its content, as labels of an object, in the form that others write and read too.
//!
//! S3, Google, Swift: `file-permissions` (octal, with the type), `file-owner`, `file-group`, `file-mtime` and `file-atime`
//! (nanoseconds, ending in `ns`), as FSx for Lustre, File Cache and DataSync have them, and `mtime` (seconds with a
//! fraction), as rclone has it. Azure, whose names have no dashes: `permissions` (decimal, with the type), `posix_owner`,
//! `posix_group`, `modtime`, `posix_atime` (nanoseconds), `hdi_isfolder`, `is_symlink` and so on, as AzCopy has them. What
//! none of them knows is in `forebay`.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use store::objects::{Abilities, Labels, Object};
use store::{Attributes, Kind, Meta, Stamp};

use crate::index::wire::{put, put_bytes, take, take_bytes, take_slice};

/// Room that is left for what services count beside names and values.
const SPARE: usize = 64;
const VERSION: u64 = 1;
const SPARSE: u64 = 1;
const GROUP: u64 = 2;
const NODE: u64 = 4;
const NAMED: u64 = 8;
const SPILLED: u64 = 16;

/// An entry without its content. What nobody wrote down is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posix {
    /// What it is.
    pub kind: Kind,
    /// Permission bits: 07777.
    pub mode: Option<u32>,
    /// Owner and group.
    pub owner: Option<(u32, u32)>,
    /// Last change of the content.
    pub mtime: Option<Stamp>,
    /// Last read.
    pub atime: Option<Stamp>,
    /// Device that a device file stands for.
    pub node: u64,
    /// Its zeros may be holes.
    pub sparse: bool,
    /// What all names of one file have in common.
    pub group: Option<[u8; 8]>,
    /// Extended attributes.
    pub named: store::Named,
    /// The hash of extended attributes that are kept in an object of their own.
    pub spilled: Option<[u8; 32]>,
}

/// Names of labels that say what a file is; the forms of others included.
const NAMES: [&str; 20] = [
    "file-permissions",
    "permissions",
    "mode",
    "file-owner",
    "posix_owner",
    "uid",
    "file-group",
    "posix_group",
    "gid",
    "file-mtime",
    "modtime",
    "mtime",
    "file-atime",
    "posix_atime",
    "hdi_isfolder",
    "is_symlink",
    "is_fifo",
    "is_char_dev",
    "is_block_dev",
    "forebay",
];

/// Labels that say nothing of a file.
pub fn others(labels: &Labels) -> Labels {
    let is_other = |(name, _): &(&String, &String)| !NAMES.contains(&name.as_str());
    labels.iter().filter(is_other).map(|(name, value)| (name.clone(), value.clone())).collect()
}

impl Posix {
    /// Something of which only the kind is known.
    pub const fn bare(kind: Kind) -> Self {
        Self {
            kind,
            mode: None,
            owner: None,
            mtime: None,
            atime: None,
            node: 0,
            sparse: false,
            group: None,
            named: store::Named::new(),
            spilled: None,
        }
    }

    /// Of an entry of a file system.
    pub fn of(meta: &Meta, named: store::Named) -> Self {
        Self {
            kind: meta.kind,
            mode: Some(meta.mode),
            owner: Some((meta.uid, meta.gid)),
            mtime: Some(meta.mtime),
            atime: Some(meta.atime),
            node: if meta.kind.is_device() { meta.node } else { 0 },
            sparse: meta.kind == Kind::File && store::is_sparse(meta),
            group: (meta.kind == Kind::File && meta.links > 1).then(|| group_of(meta)),
            named,
            spilled: None,
        }
    }

    /// As labels for a store with these abilities, and the extended attributes that did not fit, as bytes.
    pub fn labels(&self, abilities: &Abilities) -> (Labels, Option<Vec<u8>>) {
        let whole = self.written(abilities);
        let size: usize = whole.iter().map(|(name, value)| name.len() + value.len()).sum();
        if size + SPARE <= abilities.most_label_bytes || self.named.is_empty() {
            return (whole, None);
        }
        let bytes = encode_named(&self.named);
        let hash = *blake3::hash(&bytes).as_bytes();
        let rest = Self { named: store::Named::new(), spilled: Some(hash), ..self.clone() };
        (rest.written(abilities), Some(bytes))
    }

    fn written(&self, abilities: &Abilities) -> Labels {
        let mut labels = Labels::new();
        let mut set = |name: &str, value: String| drop(labels.insert(name.to_owned(), value));
        let plain = abilities.plain_label_names;
        if let Some(mode) = self.mode {
            let mode = type_bits(self.kind) | mode;
            if plain {
                set("permissions", mode.to_string());
            } else {
                set("file-permissions", format!("0{mode:o}"));
            }
        }
        if let Some((uid, gid)) = self.owner {
            set(if plain { "posix_owner" } else { "file-owner" }, uid.to_string());
            set(if plain { "posix_group" } else { "file-group" }, gid.to_string());
        }
        let unit = if plain { "" } else { "ns" };
        if let Some(mtime) = self.mtime {
            set(if plain { "modtime" } else { "file-mtime" }, format!("{}{unit}", mtime.as_nanos()));
            if !plain {
                set("mtime", seconds(mtime));
            }
        }
        if let Some(atime) = self.atime {
            set(if plain { "posix_atime" } else { "file-atime" }, format!("{}{unit}", atime.as_nanos()));
        }
        if let Some(mark) = mark_of(self.kind).filter(|_| plain) {
            set(mark, "true".to_owned());
        }
        if let Some(rest) = self.rest() {
            set("forebay", BASE64_URL_SAFE_NO_PAD.encode(rest));
        }
        labels
    }

    /// What only we know, if there is anything.
    fn rest(&self) -> Option<Vec<u8>> {
        let flag = |is: bool, flag: u64| if is { flag } else { 0 };
        let flags = flag(self.sparse, SPARSE)
            | flag(self.group.is_some(), GROUP)
            | flag(self.node != 0, NODE)
            | flag(!self.named.is_empty(), NAMED)
            | flag(self.spilled.is_some(), SPILLED);
        if flags == 0 {
            return None;
        }
        let mut out = Vec::new();
        put(&mut out, VERSION);
        put(&mut out, flags);
        out.extend_from_slice(self.group.as_ref().map_or(&[][..], |group| group));
        if self.node != 0 {
            put(&mut out, self.node);
        }
        if !self.named.is_empty() {
            put_bytes(&mut out, &encode_named(&self.named));
        }
        out.extend_from_slice(self.spilled.as_ref().map_or(&[][..], |hash| hash));
        Some(out)
    }

    /// Of an object: of its labels what can be read, whoever wrote them.
    pub fn read(object: &Object) -> Self {
        let none = Labels::new();
        let labels = object.labels.as_ref().unwrap_or(&none);
        let get = |name: &str| labels.get(name).map(|value| value.trim());
        let is_mark = object.key.ends_with('/');
        let octal = |text: &str| u32::from_str_radix(text, 8).ok();
        let mode = (get("file-permissions").and_then(octal))
            .or_else(|| get("permissions").and_then(|text| text.parse().ok()))
            .or_else(|| get("mode").and_then(octal));
        let marked = KINDS.into_iter().find(|kind| {
            mark_of(*kind).and_then(get).is_some_and(|value| value.eq_ignore_ascii_case("true"))
        });
        let kind = marked.or_else(|| mode.and_then(kind_of)).unwrap_or(Kind::File);
        let number = |names: [&str; 3]| names.into_iter().find_map(|name| get(name)?.parse::<u32>().ok());
        let owner =
            number(["file-owner", "posix_owner", "uid"]).zip(number(["file-group", "posix_group", "gid"]));
        let mtime = get("file-mtime").and_then(nanos).or_else(|| get("modtime").and_then(plain_nanos));
        let mut posix = Self {
            kind: if is_mark { Kind::Directory } else { kind },
            mode: mode.map(|mode| mode & 0o7777),
            owner,
            mtime: mtime.or_else(|| get("mtime").and_then(read_seconds)),
            atime: get("file-atime").and_then(nanos).or_else(|| get("posix_atime").and_then(plain_nanos)),
            node: 0,
            sparse: false,
            group: None,
            named: store::Named::new(),
            spilled: None,
        };
        if let Some(rest) = get("forebay").and_then(|text| BASE64_URL_SAFE_NO_PAD.decode(text).ok()) {
            // What a later version wrote is left out, not guessed.
            let _ = posix.read_rest(&rest);
        }
        posix
    }

    fn read_rest(&mut self, mut from: &[u8]) -> fault::Result<()> {
        if take(&mut from)? != VERSION {
            return Ok(());
        }
        let flags = take(&mut from)?;
        self.sparse = flags & SPARSE != 0;
        if flags & GROUP != 0 {
            self.group = take_slice(&mut from, 8)?.first_chunk().copied();
        }
        if flags & NODE != 0 {
            self.node = take(&mut from)?;
        }
        if flags & NAMED != 0 {
            self.named = decode_named(take_bytes(&mut from)?)?;
        }
        if flags & SPILLED != 0 {
            self.spilled = take_slice(&mut from, 32)?.first_chunk().copied();
        }
        Ok(())
    }

    /// For putting on a file. `modified` stands for times nobody wrote down, `umask` for a mode.
    pub fn attributes(&self, modified: Stamp, umask: u32, with_owner: bool) -> Attributes {
        let usual = if self.kind == Kind::Directory { 0o777 } else { 0o666 };
        let mtime = self.mtime.unwrap_or(modified);
        Attributes {
            mode: self.mode.unwrap_or(usual & !umask),
            owner: self.owner.filter(|_| with_owner),
            mtime,
            atime: self.atime.unwrap_or(mtime),
            named: self.named.clone(),
        }
    }
}

/// Whether zeros of an object with these labels may be holes.
pub fn is_sparse(labels: &Labels) -> bool {
    let object = Object { labels: Some(labels.clone()), ..Object::default() };
    Posix::read(&object).sparse
}

/// The names of one file share device, inode, and the moment of its last change.
fn group_of(meta: &Meta) -> [u8; 8] {
    let mut hasher = blake3::Hasher::new();
    for number in [meta.device, meta.inode, meta.size] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(&meta.ctime.as_nanos().to_le_bytes());
    *hasher.finalize().as_bytes().first_chunk().unwrap_or(&[0; 8])
}

/// Extended attributes as bytes.
pub fn encode_named(named: &store::Named) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in named {
        put_bytes(&mut out, name);
        put_bytes(&mut out, value);
    }
    out
}

/// Extended attributes from bytes.
pub fn decode_named(mut from: &[u8]) -> fault::Result<store::Named> {
    let mut named = store::Named::new();
    while !from.is_empty() {
        named.push((take_bytes(&mut from)?.to_vec(), take_bytes(&mut from)?.to_vec()));
    }
    Ok(named)
}

const KINDS: [Kind; 6] =
    [Kind::Directory, Kind::Symlink, Kind::Fifo, Kind::CharDevice, Kind::BlockDevice, Kind::File];

const fn mark_of(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Directory => Some("hdi_isfolder"),
        Kind::Symlink => Some("is_symlink"),
        Kind::Fifo => Some("is_fifo"),
        Kind::CharDevice => Some("is_char_dev"),
        Kind::BlockDevice => Some("is_block_dev"),
        Kind::File | Kind::Socket => None,
    }
}

/// The type in `st_mode` (inode(7)).
const fn type_bits(kind: Kind) -> u32 {
    match kind {
        Kind::File => 0o100_000,
        Kind::Directory => 0o040_000,
        Kind::Symlink => 0o120_000,
        Kind::Fifo => 0o010_000,
        Kind::Socket => 0o140_000,
        Kind::BlockDevice => 0o060_000,
        Kind::CharDevice => 0o020_000,
    }
}

fn kind_of(mode: u32) -> Option<Kind> {
    KINDS.into_iter().find(|kind| type_bits(*kind) == mode & 0o170_000)
}

fn from_nanos(nanos: i128) -> Option<Stamp> {
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).ok()?;
    Some(Stamp { seconds, nanos: nanos.rem_euclid(1_000_000_000) as u32 })
}

fn plain_nanos(text: &str) -> Option<Stamp> {
    from_nanos(text.parse().ok()?)
}

/// Nanoseconds with their unit, milliseconds without.
fn nanos(text: &str) -> Option<Stamp> {
    match text.strip_suffix("ns") {
        Some(text) => plain_nanos(text),
        None => from_nanos(text.parse::<i64>().ok().map(i128::from)? * 1_000_000),
    }
}

/// `-1.5`, as decimals go: half a second before -1.
fn seconds(stamp: Stamp) -> String {
    let nanos = stamp.as_nanos();
    let (sign, nanos) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    format!("{sign}{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

fn read_seconds(text: &str) -> Option<Stamp> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(part) {
        return None;
    }
    let part: i128 = format!("{part:0<9.9}").parse().ok()?;
    from_nanos(sign * (whole.parse::<i64>().ok().map(i128::from)? * 1_000_000_000 + part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn abilities(plain: bool) -> Abilities {
        let memory = store::objects::ObjectStore::abilities(&store::objects::Memory::default());
        Abilities { plain_label_names: plain, ..memory }
    }

    fn object(labels: Labels) -> Object {
        Object { key: "k".to_owned(), labels: Some(labels), ..Object::default() }
    }

    fn posix() -> impl Strategy<Value = Posix> {
        let stamp = || {
            (-10_000_000_000i64..10_000_000_000, 0u32..1_000_000_000)
                .prop_map(|(seconds, nanos)| Stamp { seconds, nanos })
        };
        let named = proptest::collection::vec((any::<Vec<u8>>(), any::<Vec<u8>>()), 0..3);
        let facts = (0usize..6, 0u32..0o10000, any::<(u32, u32)>(), stamp(), stamp());
        (facts, any::<u64>(), any::<bool>(), any::<Option<[u8; 8]>>(), named).prop_map(
            |((kind, mode, owner, mtime, atime), node, sparse, group, named)| Posix {
                kind: KINDS[kind],
                mode: Some(mode),
                owner: Some(owner),
                mtime: Some(mtime),
                atime: Some(atime),
                node,
                sparse,
                group,
                named,
                spilled: None,
            },
        )
    }

    proptest! {
        #[test]
        fn everything_is_read_again(posix in posix(), plain: bool) {
            let (labels, spilled) = posix.labels(&abilities(plain));
            let mut found = Posix::read(&object(labels));
            if let Some(bytes) = spilled {
                prop_assert_eq!(found.spilled.take(), Some(*blake3::hash(&bytes).as_bytes()));
                found.named = decode_named(&bytes).unwrap();
            }
            prop_assert_eq!(found, posix);
        }

        #[test]
        fn no_label_panics(name in "file-(permissions|mtime|owner)|mtime|modtime|permissions|forebay", value in ".{0,30}") {
            let _ = Posix::read(&object(Labels::from([(name, value)])));
        }

        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let text = BASE64_URL_SAFE_NO_PAD.encode(bytes);
            let _ = Posix::read(&object(Labels::from([("forebay".to_owned(), text)])));
        }
    }

    #[test]
    fn others_labels_are_understood() {
        let read = |pairs: &[(&str, &str)]| {
            Posix::read(&object(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()))
        };
        let stamp = |seconds, nanos| Some(Stamp { seconds, nanos });
        let lustre = read(&[("file-permissions", "0120777"), ("file-mtime", "1595002920000000001ns")]);
        assert_eq!(
            (lustre.kind, lustre.mode, lustre.mtime),
            (Kind::Symlink, Some(0o777), stamp(1_595_002_920, 1))
        );
        let millis = read(&[("file-mtime", "1595002920123"), ("file-owner", "5"), ("file-group", "6")]);
        assert_eq!((millis.mtime, millis.owner), (stamp(1_595_002_920, 123_000_000), Some((5, 6))));
        assert_eq!(read(&[("mtime", "1595002920.5")]).mtime, stamp(1_595_002_920, 500_000_000));
        assert_eq!(read(&[("mtime", "-1.25")]).mtime, stamp(-2, 750_000_000));
        let azure = read(&[("hdi_isfolder", "True"), ("permissions", "16877"), ("modtime", "-1")]);
        assert_eq!(
            (azure.kind, azure.mode, azure.mtime),
            (Kind::Directory, Some(0o755), stamp(-1, 999_999_999))
        );
    }

    #[test]
    fn what_does_not_fit_goes_apart() {
        let mut posix = Posix::read(&object(Labels::new()));
        posix.named = vec![(b"user.large".to_vec(), vec![7; 4000])];
        let (labels, spilled) = posix.labels(&abilities(false));
        assert!(spilled.is_some_and(|bytes| bytes.len() > 4000));
        assert!(labels.values().map(String::len).sum::<usize>() < 2048);
    }
}
