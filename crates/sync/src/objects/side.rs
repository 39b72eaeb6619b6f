//! One side of a sync that is not between two trees of this host: a tree or a location, and how paths are keys there.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fault::{Fault, Kind as FaultKind};
use store::objects::{
    Abilities, Bytes, Labels, Location, Object, ObjectStore, Retrying, Settings, connect, key_of, path_of,
};
use store::{Kind, Root};

use crate::chunked::{self, ChunkStore, Chunked};
use crate::far::{Address, Far, FarStore, Role};
use crate::options::{Layout, Options};

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
    pub abilities: Abilities,
    /// As people write it.
    pub name: String,
    /// What else can be asked of it where it is a tree on another host.
    pub far: Option<Arc<Far>>,
    /// The same where it is a chunk store.
    pub chunked: Option<Arc<Chunked>>,
    /// Bytes that all keys begin with.
    prefix: usize,
}

/// What is written as a place that is not this host's.
pub enum Elsewhere {
    /// In an object store.
    Objects(Location),
    /// A tree on another host.
    Host(Address),
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
    pub fn open(
        location: &Location,
        (role, layout): (chunked::Role, Option<Layout>),
        options: &Options,
        stop: Arc<AtomicBool>,
    ) -> fault::Result<Self> {
        let store = Retrying::new(connect(location, Settings::default())?, TRIES, stop.clone());
        let opening = chunked::Opening { store: Box::new(store), role, layout, options, stop };
        let (name, prefix) = (location.to_string(), location.prefix.len());
        Ok(match chunked::open(opening)? {
            chunked::Found::Files(store) => {
                let abilities = store.abilities();
                Self { store, abilities, name, far: None, chunked: None, prefix }
            }
            chunked::Found::Chunks(chunked) => {
                let store = Box::new(ChunkStore(chunked.clone()));
                let abilities = store.abilities();
                Self { store, abilities, name, far: None, chunked: Some(chunked), prefix: 0 }
            }
        })
    }

    /// Opens a tree on another host.
    pub fn open_far(address: &Address, role: &Role, options: &Options) -> fault::Result<Self> {
        let far = Far::open(address, role, options.extended, &options.reach)?;
        let store = FarStore(far.clone());
        let abilities = store.abilities();
        Ok(Self {
            store: Box::new(store),
            abilities,
            name: far.shown().to_owned(),
            far: Some(far),
            chunked: None,
            prefix: 0,
        })
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
        if self.prefix + key.len() <= self.abilities.longest_key {
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
pub fn is_path(path: &[u8]) -> bool {
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

/// Whether a source or destination is not a tree of this host.
pub fn is_elsewhere(path: &Path) -> bool {
    path.to_str().is_some_and(Location::is_url) || Address::is_one(path)
}

/// Whether it is a tree on another host.
pub fn is_on_host(path: &Path) -> bool {
    Address::is_one(path)
}

/// The place that a source or destination names.
pub fn elsewhere(path: &Path) -> fault::Result<Option<Elsewhere>> {
    if let Some(address) = Address::of(path)? {
        return Ok(Some(Elsewhere::Host(address)));
    }
    let location = path.to_str().filter(|text| Location::is_url(text)).map(str::parse).transpose()?;
    Ok(location.map(Elsewhere::Objects))
}

impl Elsewhere {
    /// As the path that the state of a job knows it by.
    pub fn as_path(&self) -> PathBuf {
        match self {
            Self::Objects(location) => PathBuf::from(location.to_string()),
            Self::Host(address) => PathBuf::from(address.to_string()),
        }
    }
}
