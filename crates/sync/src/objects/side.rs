//! One side of a sync that has object stores: a tree or a location, and how paths are keys there.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fault::{Fault, Kind as FaultKind};
use store::objects::{
    Abilities, Bytes, Labels, Location, Object, ObjectStore, Retrying, Settings, connect, key_of, path_of,
};
use store::{Kind, Root};

/// What is ours below a location.
const OWN: &str = ".forebay";
/// The attributes of the root itself, which has no name.
const ROOT: &str = ".forebay/root";
/// Objects whose path is too long for a key, by the hash of the path.
const LONG: &str = ".forebay/long/";
/// Their paths.
const PATHS: &str = ".forebay/path/";
/// Extended attributes that don't fit the labels, by their hash.
const ATTRIBUTES: &str = ".forebay/attributes/";
/// More than any list of attributes has, bytes.
const MOST: u64 = 16 << 20;
/// How often a call is tried.
const TRIES: u32 = 6;

/// One side.
pub enum Side {
    /// A directory and what is below it.
    Tree(Root),
    /// A location in an object store.
    Store(Place),
}

/// An open location.
pub struct Place {
    pub store: Box<dyn ObjectStore>,
    pub location: Location,
    pub abilities: Abilities,
}

/// What a key is to us.
pub enum Meaning {
    /// An entry at this path.
    Entry(Vec<u8>, Kind),
    /// Ours, and no entry.
    Own,
    /// It can't be a path.
    NoPath,
}

impl Place {
    /// Opens a location; calls are tried again until `stop` is set.
    pub fn open(location: &Location, stop: Arc<AtomicBool>) -> fault::Result<Self> {
        let store = Retrying::new(connect(location, Settings::default())?, TRIES, stop);
        Ok(Self::of(Box::new(store), location.clone()))
    }

    /// Around a store that is open.
    pub fn of(store: Box<dyn ObjectStore>, location: Location) -> Self {
        let abilities = store.abilities();
        Self { store, location, abilities }
    }

    /// The key of the entry at `path`, and whether the path had to be written down apart.
    pub fn key(&self, path: &[u8], is_directory: bool) -> (String, bool) {
        if path.is_empty() {
            return (ROOT.to_owned(), false);
        }
        let mut key = key_of(path, OWN);
        if is_directory {
            key.push('/');
        }
        if self.location.prefix.len() + key.len() <= self.abilities.longest_key {
            return (key, false);
        }
        (format!("{LONG}{}", &chunk::Id::of(path).to_string()[..32]), true)
    }

    /// Writes down the path of an entry whose key can't say it.
    pub fn write_path(&self, path: &[u8], kind: Kind) -> fault::Result<()> {
        let mut content = vec![u8::from(kind == Kind::Directory)];
        content.extend_from_slice(path);
        let key = format!("{PATHS}{}", &chunk::Id::of(path).to_string()[..32]);
        self.store.write(&key, content.into(), &Labels::new()).map(drop)
    }

    /// What the key of a listing means.
    pub fn meaning(&self, key: &str) -> fault::Result<Meaning> {
        if key == ROOT {
            return Ok(Meaning::Entry(Vec::new(), Kind::Directory));
        }
        if let Some(hash) = key.strip_prefix(LONG) {
            let (_, content) = self.store.read_whole(&format!("{PATHS}{hash}"), MOST)?;
            let Some((kind, path)) = content.split_first() else { return Ok(Meaning::NoPath) };
            if chunk::Id::of(path).to_string().get(..32) != Some(hash) || !is_path(path) {
                return Ok(Meaning::NoPath);
            }
            return Ok(Meaning::Entry(path.to_vec(), if *kind == 1 { Kind::Directory } else { Kind::File }));
        }
        if key.strip_prefix(OWN).is_some_and(|rest| rest.starts_with('/')) {
            return Ok(Meaning::Own);
        }
        let (name, kind) = key.strip_suffix('/').map_or((key, Kind::File), |name| (name, Kind::Directory));
        Ok(path_of(name, OWN).map_or(Meaning::NoPath, |path| Meaning::Entry(path, kind)))
    }

    /// Keeps extended attributes apart, where every entry that has the same ones finds them.
    pub fn write_attributes(&self, bytes: &[u8]) -> fault::Result<()> {
        let key = format!("{ATTRIBUTES}{}", chunk::Id::of(bytes));
        match self.store.stat(&key) {
            Ok(object) if object.size == bytes.len() as u64 => return Ok(()),
            Err(fault) if fault.kind() != FaultKind::NotFound => return Err(fault),
            _ => {}
        }
        self.store.write(&key, Bytes::copy_from_slice(bytes), &Labels::new()).map(drop)
    }

    /// Extended attributes that were kept apart.
    pub fn read_attributes(&self, hash: &[u8; 32]) -> fault::Result<store::Named> {
        let id = chunk::Id(*hash);
        let (object, bytes) = self.store.read_whole(&format!("{ATTRIBUTES}{id}"), MOST)?;
        if chunk::Id::of(&bytes) != id {
            let text = format!("`{}{}` is damaged", self.store.shown(), object.key);
            return Err(Fault::new(FaultKind::Corrupt, text).hint("sync the tree to the store again"));
        }
        super::labels::decode_named(&bytes)
    }

    /// Looks at an object, labels included, as far as the store keeps any.
    pub fn look(&self, key: &str) -> fault::Result<Object> {
        self.store.stat(key)
    }

    /// How an entry is named in messages.
    pub fn show(&self, path: &[u8]) -> String {
        format!("{}{}", self.store.shown(), store::printable(path))
    }
}

/// Whether every name of a path can be one.
fn is_path(path: &[u8]) -> bool {
    let is_name =
        |name: &[u8]| !matches!(name, b"" | b"." | b"..") && name.len() <= 255 && !name.contains(&0);
    path.split(|byte| *byte == b'/').all(is_name)
}

impl Side {
    /// As people named it.
    pub fn shown(&self) -> String {
        match self {
            Self::Tree(root) => root.path().display().to_string(),
            Self::Store(place) => place.store.shown(),
        }
    }

    /// How an entry is named in messages.
    pub fn show(&self, path: &[u8]) -> String {
        match self {
            Self::Tree(root) => root.show(path).display().to_string(),
            Self::Store(place) => place.show(path),
        }
    }
}

/// Whether a source or destination is a place in an object store.
pub fn is_location(path: &Path) -> bool {
    path.to_str().is_some_and(Location::is_url)
}

/// The place that a source or destination names.
pub fn location_of(path: &Path) -> fault::Result<Option<Location>> {
    path.to_str().filter(|text| Location::is_url(text)).map(str::parse).transpose()
}

/// A location as the path that the state of a job knows it by.
pub fn as_path(location: &Location) -> PathBuf {
    PathBuf::from(location.to_string())
}
