//! A tree in an object store as chunks in packs: `--layout chunks`. docs/CHUNKS.md has the format.
//!
//! To a sync it is an object store whose objects are the entries, with their attributes as labels ([`ChunkStore`]); what it
//! is given is gathered aside, and becomes the tree when [`Chunked::commit`] writes a manifest.
//!
//! ```text
//! content -> chunks (cut by content) -> those that are not there -> packs           feed, packer
//! entries as they were + what changed, one sorted pass -> blocks -> packs            commit
//!     -> index of the new packs -> manifest, if nobody else wrote one meanwhile      commit
//! newest manifest -> blocks -> entries -> chunks, packs read in ranges, verified     tree, reading, fetch
//! ```

mod cache;
mod commit;
mod feed;
mod fetch;
mod format;
mod locations;
mod objects;
mod opening;
mod packer;
mod prune;
mod reading;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use chunk::Id;
use fault::{Fault, Kind as FaultKind};
use store::objects::ObjectStore;

pub use self::fetch::{fetch, read_ahead};
pub use self::format::Entry;
pub use self::objects::ChunkStore;
pub use self::opening::{Found, Opening, Role, open};

use self::cache::Cache;
use self::format::{Manifest, Marker};
use self::locations::Locations;
use self::packer::Packer;
use self::tree::Recent;
use crate::job::lock;
use crate::spool::Spool;
use crate::throttle::Throttle;

/// An open chunk store.
#[derive(Debug)]
pub struct Chunked {
    store: Box<dyn ObjectStore>,
    marker: Marker,
    /// The tree as it was when it was opened.
    base: Mutex<Arc<Manifest>>,
    cache: Cache,
    /// Read when it is needed first.
    locations: Mutex<Option<Locations>>,
    /// Keys of the listings that were read or written.
    listings: Mutex<HashSet<String>>,
    packer: Packer,
    recent: Recent,
    /// What is to become of the tree: what is at a place, in the order that it was told.
    changes: Mutex<Option<Spool>>,
    told: AtomicU64,
    throttle: Throttle,
    stop: Arc<AtomicBool>,
    /// Packs are read back before they count.
    verifies: bool,
    passed: Passed,
    notes: Mutex<Vec<String>>,
}

/// Bytes since the last look.
#[derive(Debug, Default)]
struct Passed {
    sent: AtomicU64,
    saved: AtomicU64,
    verified: AtomicU64,
}

impl Chunked {
    /// Keeps in `dir` what need not be fetched again, and sorts there.
    pub fn settle_in(&self, dir: &std::path::Path) {
        // A job may be between two chunk stores.
        let place = &Id::of(self.store.shown().as_bytes()).to_string()[..16];
        self.cache.keep_in(dir.join(format!("chunks-{place}")));
        lock(&self.changes).get_or_insert_with(|| Spool::new(dir));
    }

    /// Bytes sent, saved and verified since this was asked last.
    pub fn take_passed(&self) -> [u64; 3] {
        let Passed { sent, saved, verified } = &self.passed;
        [sent, saved, verified].map(|count| count.swap(0, Ordering::Relaxed))
    }

    /// What is worth telling since this was asked last.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.notes))
    }

    fn note(&self, text: String) {
        lock(&self.notes).push(text);
    }

    /// The tree that was found or written last.
    fn base(&self) -> Arc<Manifest> {
        lock(&self.base).clone()
    }

    /// What tells the tree that was found or written last from every other.
    pub fn version(&self) -> String {
        let base = self.base();
        format!("{} {}", base.sequence, hex(&base.nonce))
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What tells a pack or a manifest from every other.
fn unique(about: &[u8]) -> [u8; 16] {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut bytes = about.to_vec();
    let now = store::Stamp::now().as_nanos();
    bytes.extend_from_slice(&now.to_le_bytes());
    bytes.extend_from_slice(&std::process::id().to_le_bytes());
    bytes.extend_from_slice(&NUMBER.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    bytes.extend_from_slice(store::boot_id().as_bytes());
    let mut random = fastrand::Rng::new();
    (0..4).for_each(|_| bytes.extend_from_slice(&random.u64(..).to_le_bytes()));
    Id::of(&bytes).short()
}

fn hex(name: &[u8]) -> String {
    use std::fmt::Write as _;
    name.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<[u8; 16]> {
    let mut name = [0; 16];
    if text.len() != 32 || !text.is_ascii() {
        return None;
    }
    for (number, byte) in name.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * number..2 * number + 2], 16).ok()?;
    }
    (hex(&name) == text).then_some(name)
}

fn key_of_pack(name: &[u8; 16]) -> String {
    format!("packs/{}", hex(name))
}

/// Nothing goes on after a stop.
fn interrupted() -> Fault {
    Fault::new(FaultKind::Interrupted, "stopped")
}
