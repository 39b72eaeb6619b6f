//! Chunks that are not there yet go into packs, which are sent as they fill up.

use std::sync::{Condvar, Mutex, PoisonError};

use chunk::Id;
use fault::{Fault, Kind};
use store::objects::{Bytes, Labels};

use super::format::{MOST_PIECE, PackBuilder, PackRows, Piece, encode_listing, pack_bytes};
use super::{Chunked, key_of_pack, unique};
use crate::job::lock;

/// Bytes of a pack after which it is sent.
const ENOUGH: usize = 16 << 20;
/// Packs that are on their way at the same time, so that memory stays bounded.
const AT_ONCE: u32 = 4;
/// Chunks of new packs after which what is in them is written down.
const LISTED: usize = 32 << 10;

/// What a piece belongs to: manifests are read without the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Files,
    Tree,
}

/// Packs that are being filled.
#[derive(Debug)]
pub struct Packer {
    files: Mutex<PackBuilder>,
    tree: Mutex<PackBuilder>,
    gate: (Mutex<u32>, Condvar),
    /// Packs that are there and in no listing.
    unlisted: Mutex<Vec<PackRows>>,
    /// Why nothing more can be sent.
    broken: Mutex<Option<String>>,
}

impl Default for Packer {
    fn default() -> Self {
        Self {
            files: Mutex::default(),
            tree: Mutex::default(),
            gate: (Mutex::new(AT_ONCE), Condvar::new()),
            unlisted: Mutex::default(),
            broken: Mutex::default(),
        }
    }
}

impl Packer {
    fn room(&self, of: Of) -> &Mutex<PackBuilder> {
        match of {
            Of::Files => &self.files,
            Of::Tree => &self.tree,
        }
    }

    /// A pack that was found, and that no listing has.
    pub fn unlisted(&self, pack: PackRows) {
        lock(&self.unlisted).push(pack);
    }
}

impl Chunked {
    /// Stores content, unless it is there.
    pub fn keep(&self, of: Of, content: &[u8]) -> fault::Result<Piece> {
        let piece = Piece { id: Id::of(content), length: content.len() as u32 };
        if piece.length > MOST_PIECE {
            return Err(Fault::new(
                Kind::Unsupported,
                "an entry's attributes are too large for a chunk store",
            ));
        }
        if !self.with_locations(|locations| locations.claim(piece.id))? {
            if of == Of::Files {
                self.passed.saved.fetch_add(piece.length.into(), std::sync::atomic::Ordering::Relaxed);
            }
            return Ok(piece);
        }
        let packed = pack_bytes(content)?;
        let stored = packed.as_deref().map_or((content, false), |packed| (packed, true));
        let full = {
            let mut open = lock(self.packer.room(of));
            open.push(piece.id, piece.length, stored);
            open.is_full(ENOUGH).then(|| std::mem::take(&mut *open))
        };
        full.map_or(Ok(()), |pack| self.send(pack))?;
        Ok(piece)
    }

    /// Sends what is open.
    pub fn flush(&self) -> fault::Result<()> {
        for of in [Of::Files, Of::Tree] {
            let open = std::mem::take(&mut *lock(self.packer.room(of)));
            self.send(open)?;
        }
        Ok(())
    }

    /// Why nothing more can be sent, if so.
    pub fn broken(&self) -> Option<Fault> {
        let why = lock(&self.packer.broken).clone()?;
        Some(Fault::new(Kind::Io, why).hint("the same command goes on from here"))
    }

    fn send(&self, pack: PackBuilder) -> fault::Result<()> {
        if pack.is_empty() {
            return Ok(());
        }
        if let Some(fault) = self.broken() {
            return Err(fault);
        }
        // What is lost with a pack is not known: nothing may be built on it.
        self.send_now(pack).inspect_err(|fault| {
            lock(&self.packer.broken).get_or_insert_with(|| fault.message().to_owned());
        })
    }

    fn send_now(&self, pack: PackBuilder) -> fault::Result<()> {
        let (bytes, rows) = pack.finish();
        let _turn = Turn::take(&self.packer.gate);
        let size = bytes.len() as u64;
        self.throttle.pass(size, || self.stopped());
        let pack = PackRows { name: unique(&bytes[bytes.len() - 44..]), size, rows };
        let (key, bytes) = (key_of_pack(&pack.name), Bytes::from(bytes));
        self.store.write(&key, bytes.clone(), &Labels::new())?;
        self.sent(size);
        if self.verifies {
            self.read_back(&key, &bytes, &pack)?;
        }
        self.with_locations(|locations| locations.came(&pack))?;
        let full = {
            let mut unlisted = lock(&self.packer.unlisted);
            unlisted.push(pack);
            let rows: usize = unlisted.iter().map(|pack| pack.rows.len()).sum();
            (rows >= LISTED).then(|| std::mem::take(&mut *unlisted))
        };
        full.map_or(Ok(()), |packs| self.list(&packs).map(drop))
    }

    fn read_back(&self, key: &str, bytes: &Bytes, pack: &PackRows) -> fault::Result<()> {
        let (_, found) = self.store.read_whole(key, bytes.len() as u64)?;
        if found != *bytes {
            let text = format!("`{}{key}` reads back differently than it was written", self.store.shown());
            return Err(Fault::new(Kind::Corrupt, text).hint("does somebody else write there? sync again"));
        }
        let verified = pack.rows.iter().map(|row| u64::from(row.length)).sum();
        self.passed.verified.fetch_add(verified, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    }

    /// Writes down what is in all packs that are in no listing.
    pub fn list_packs(&self) -> fault::Result<()> {
        let packs = std::mem::take(&mut *lock(&self.packer.unlisted));
        self.list(&packs).map(drop)
    }

    /// Writes listings of packs. Returns their keys.
    pub fn list(&self, packs: &[PackRows]) -> fault::Result<Vec<String>> {
        let mut keys = Vec::new();
        for some in by_rows(packs) {
            let bytes = encode_listing(some)?;
            let id = Id::of(&bytes);
            let key = format!("index/{id}");
            self.sent(bytes.len() as u64);
            self.cache.put(&format!("index-{id}"), &bytes);
            self.store.write(&key, bytes.into(), &Labels::new())?;
            lock(&self.listings).insert(key.clone());
            keys.push(key);
        }
        Ok(keys)
    }

    pub(super) fn sent(&self, bytes: u64) {
        self.passed.sent.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Packs in groups of which a listing stays small.
fn by_rows(packs: &[PackRows]) -> Vec<&[PackRows]> {
    let (mut groups, mut start, mut rows) = (Vec::new(), 0, 0);
    for (number, pack) in packs.iter().enumerate() {
        rows += pack.rows.len();
        if rows >= LISTED {
            groups.push(&packs[start..=number]);
            (start, rows) = (number + 1, 0);
        }
    }
    if start < packs.len() {
        groups.push(&packs[start..]);
    }
    groups
}

/// The right to send a pack.
struct Turn<'a>(&'a (Mutex<u32>, Condvar));

impl<'a> Turn<'a> {
    fn take(gate: &'a (Mutex<u32>, Condvar)) -> Self {
        let mut free = lock(&gate.0);
        while *free == 0 {
            free = gate.1.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Self(gate)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.0.0) += 1;
        self.0.1.notify_one();
    }
}
