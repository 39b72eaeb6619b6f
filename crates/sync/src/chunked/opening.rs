//! Whether a prefix holds a chunk store, and what its newest tree is.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use fault::{Fault, Kind};
use store::objects::{Bytes, Depth, Labels, ObjectStore};

use super::cache::Cache;
use super::format::{MARKER, Manifest, Marker};
use super::packer::Packer;
use super::tree::Recent;
use super::{Chunked, Passed};
use crate::options::{Layout, Options, Verify};
use crate::throttle::Throttle;

/// Bytes that a marker has at most.
const MOST_MARKER: u64 = 64 << 10;
/// Bytes that a manifest has at most.
const MOST_MANIFEST: u64 = 256 << 20;

/// What a sync does with a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Source,
    Destination,
}

/// How a prefix is opened.
pub struct Opening<'a> {
    pub store: Box<dyn ObjectStore>,
    pub role: Role,
    /// What it must be, if that was said.
    pub layout: Option<Layout>,
    pub options: &'a Options,
    pub stop: Arc<AtomicBool>,
}

/// What a prefix turned out to be.
pub enum Found {
    /// A chunk store.
    Chunks(Arc<Chunked>),
    /// Objects that are entries themselves.
    Files(Box<dyn ObjectStore>),
}

/// Looks what a prefix holds, and opens it. A destination that is to become a chunk store and has nothing becomes one.
pub fn open(opening: Opening<'_>) -> fault::Result<Found> {
    let Opening { store, role, layout, options, stop } = opening;
    let shown = store.shown();
    let marker = match (read_marker(&*store), layout) {
        (Ok(Some(_)), Some(Layout::Files)) => return Err(other_layout(&shown)),
        (Ok(Some(marker)), _) => marker,
        (Ok(None), Some(Layout::Chunks)) => begin(&*store, role, options.dry_run)?,
        (Err(fault), None | Some(Layout::Files)) if fault.kind() == Kind::Denied => {
            // Who may not list is told so of what is not there.
            return Ok(Found::Files(store));
        }
        (Ok(None), _) => return no_chunks(store, role, options),
        (Err(fault), _) => return Err(fault),
    };
    let wanted = options.manifest.filter(|_| role == Role::Source);
    let base = read_base(&*store, wanted)?;
    Ok(Found::Chunks(Arc::new(Chunked {
        store,
        marker,
        base: Mutex::new(Arc::new(base)),
        cache: Cache::default(),
        locations: Mutex::default(),
        listings: Mutex::default(),
        packer: Packer::default(),
        recent: Recent::default(),
        changes: Mutex::default(),
        told: AtomicU64::new(0),
        throttle: Throttle::new(options.limit.clone()),
        stop,
        verifies: options.verify != Verify::None,
        passed: Passed::default(),
        notes: Mutex::default(),
    })))
}

fn no_chunks(store: Box<dyn ObjectStore>, role: Role, options: &Options) -> fault::Result<Found> {
    let asked = match role {
        Role::Source => options.manifest.map(|_| "--manifest"),
        Role::Destination => options.prune.map(|_| "--prune"),
    };
    match asked {
        None => Ok(Found::Files(store)),
        Some(flag) => Err(Fault::new(Kind::Usage, format!("`{}` is no chunk store", store.shown()))
            .hint(format!("{flag} is for what was written with --layout chunks"))),
    }
}

fn other_layout(shown: &str) -> Fault {
    Fault::new(Kind::Refused, format!("`{shown}` holds a chunk store, not files"))
        .hint("leave --layout out, or choose another prefix for --layout files")
}

fn read_marker(store: &dyn ObjectStore) -> fault::Result<Option<Marker>> {
    match store.read_whole(MARKER, MOST_MARKER) {
        Ok((_, text)) => Marker::read(&text, &store.shown()).map(Some),
        Err(fault) if fault.kind() == Kind::NotFound => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// A prefix without a marker becomes a chunk store, if it has nothing.
fn begin(store: &dyn ObjectStore, role: Role, dry_run: bool) -> fault::Result<Marker> {
    let shown = store.shown();
    if role == Role::Source {
        return Err(Fault::new(Kind::Refused, format!("`{shown}` is no chunk store"))
            .hint("leave --layout out: what a source holds is recognised"));
    }
    let mut first = None;
    let full = store.list("", Depth::One, &mut |object| {
        first.get_or_insert(object.key);
        Err(Fault::new(Kind::Interrupted, "it has something"))
    });
    if let Some(key) = first {
        let text = format!("`{shown}` holds files (`{key}`), not a chunk store");
        return Err(Fault::new(Kind::Refused, text)
            .hint("choose an empty prefix for --layout chunks, or leave it out"));
    }
    full?;
    let marker = Marker::default();
    if !dry_run {
        let text = Bytes::from(marker.encode());
        if store.abilities().writes_new {
            match store.write_new(MARKER, text) {
                Err(fault) if store::objects::is_taken(&fault) => {}
                done => drop(done?),
            }
        } else {
            store.write(MARKER, text, &Labels::new())?;
        }
    }
    // Somebody else may have been first.
    Ok(if dry_run { marker } else { read_marker(store)?.unwrap_or(marker) })
}

/// The numbers of the manifests that are there, in order.
pub fn manifests(store: &dyn ObjectStore) -> fault::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    store.list("manifests/", Depth::All, &mut |object| {
        numbers.extend(Manifest::number(&object.key));
        Ok(())
    })?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// A manifest by its number.
pub fn read_manifest(store: &dyn ObjectStore, number: u64) -> fault::Result<Manifest> {
    let (_, bytes) = store.read_whole(&Manifest::key(number), MOST_MANIFEST)?;
    Manifest::read(&bytes, number)
}

/// The newest manifest, or the one that is wanted; an empty one with number 0 where there is none.
fn read_base(store: &dyn ObjectStore, wanted: Option<u64>) -> fault::Result<Manifest> {
    let numbers = manifests(store)?;
    match wanted {
        Some(number) if !numbers.contains(&number) => {
            let there = match (numbers.first(), numbers.last()) {
                (Some(first), Some(last)) => format!("there are some from {first} to {last}"),
                _ => "there is none".to_owned(),
            };
            let text = format!("`{}` has no manifest {number}", store.shown());
            Err(Fault::new(Kind::NotFound, text).hint(there))
        }
        Some(number) => read_manifest(store, number),
        None => numbers.last().map_or_else(|| Ok(Manifest::default()), |last| read_manifest(store, *last)),
    }
}
