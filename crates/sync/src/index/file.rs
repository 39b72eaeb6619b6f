use std::cmp::Ordering;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fault::Fault;

use super::known::{Known, Previous, take_known};
use super::order::{tree_key, tree_order};
use super::section::{Itself, Section, SectionView};
use super::wire::{damaged, put, put_bytes, take, take_bytes};

const MAGIC: &[u8; 8] = b"fbindx01";
const FOOTER: u64 = 8 * 4 + 8;
/// Bytes of entries that are compressed together: large enough for a good ratio, small enough to be read for one
/// directory.
const BLOCK: usize = 64 << 10;
/// More than any block may have; a larger number is damage.
const MOST: usize = 64 << 20;
/// Entries of a directory that lie together. A directory of any size is read piece by piece.
pub const SECTION: u64 = 4096;
const LEVEL: i32 = 1;

/// The last sync's entries, sorted, front-coded and compressed; looked up by directory.
#[derive(Debug)]
pub struct Index {
    file: File,
    path: PathBuf,
    blocks: Vec<BlockAt>,
    entries: u64,
}

#[derive(Debug)]
struct BlockAt {
    key: Box<[u8]>,
    offset: u64,
    length: usize,
    raw: usize,
    entries: u64,
}

/// Blocks that a thread has unpacked lately.
#[derive(Debug, Default)]
pub struct Cache {
    slots: Vec<(usize, Arc<Vec<u8>>)>,
    next: usize,
}

const SLOTS: usize = 4;

impl Index {
    /// Opens the index at `path`; `None` if there is none.
    pub fn open(path: &Path) -> fault::Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Fault::os("open", path, error)),
        };
        let size = file.metadata().map_err(|error| Fault::os("look at", path, error))?.len();
        let mut footer = [0; FOOTER as usize];
        let start = size.checked_sub(FOOTER).ok_or_else(damaged)?;
        file.read_exact_at(&mut footer, start).map_err(|error| Fault::os("read", path, error))?;
        let word = |at: usize| -> u64 {
            footer[at..at + 8].first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let (at, length, raw, entries) = (word(0), word(8), word(16), word(24));
        if &footer[32..] != MAGIC || at.checked_add(length) != Some(start) {
            return Err(damaged());
        }
        let table = unpack(&file, path, at, length as usize, raw as usize)?;
        let blocks = read_table(&table)?;
        Ok(Some(Self { file, path: path.to_owned(), blocks, entries }))
    }

    /// How many entries it has.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// What is known of the directory `dir`.
    pub fn find(self: &Arc<Self>, dir: &[u8], cache: &mut Cache) -> fault::Result<Option<Cursor>> {
        let key = tree_key(dir);
        for block in self.first_block(&key)..self.blocks.len() {
            if *self.blocks[block].key > *key {
                break;
            }
            let bytes = self.block(block, cache)?;
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let at = bytes.len() - rest.len();
                let view = SectionView::take(&mut rest)?;
                match tree_order(view.dir, dir) {
                    Ordering::Less => {}
                    Ordering::Equal => {
                        return Cursor::new(self.clone(), dir, block, bytes.clone(), at).map(Some);
                    }
                    Ordering::Greater => return Ok(None),
                }
            }
        }
        Ok(None)
    }

    /// The first block that may have the directory with this key.
    pub fn first_block(&self, key: &[u8]) -> usize {
        self.blocks.partition_point(|block| *block.key < *key).saturating_sub(1)
    }

    fn block(&self, number: usize, cache: &mut Cache) -> fault::Result<Arc<Vec<u8>>> {
        if let Some((_, bytes)) = cache.slots.iter().find(|(slot, _)| *slot == number) {
            return Ok(bytes.clone());
        }
        let bytes = Arc::new(self.unpack(number)?);
        if cache.slots.len() < SLOTS {
            cache.slots.push((number, bytes.clone()));
        } else {
            cache.slots[cache.next] = (number, bytes.clone());
            cache.next = (cache.next + 1) % SLOTS;
        }
        Ok(bytes)
    }

    /// How many blocks it has.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The key of the first directory of a block.
    pub fn key(&self, block: usize) -> Option<&[u8]> {
        self.blocks.get(block).map(|block| &*block.key)
    }

    /// A block, unpacked.
    pub fn unpack(&self, number: usize) -> fault::Result<Vec<u8>> {
        let at = &self.blocks[number];
        unpack(&self.file, &self.path, at.offset, at.length, at.raw)
    }

    /// A block as it lies on disk, with its size unpacked and its number of entries.
    pub fn packed(&self, number: usize) -> fault::Result<(Vec<u8>, usize, u64)> {
        let at = &self.blocks[number];
        let mut bytes = vec![0; at.length];
        self.file
            .read_exact_at(&mut bytes, at.offset)
            .map_err(|error| Fault::os("read", &self.path, error))?;
        Ok((bytes, at.raw, at.entries))
    }
}

fn unpack(file: &File, path: &Path, at: u64, length: usize, raw: usize) -> fault::Result<Vec<u8>> {
    if raw > MOST.max(length.saturating_mul(1000)) {
        return Err(damaged());
    }
    let size = file.metadata().map_err(|error| Fault::os("look at", path, error))?.len();
    if at.checked_add(length as u64).is_none_or(|end| end > size) {
        return Err(damaged());
    }
    let mut packed = vec![0; length];
    file.read_exact_at(&mut packed, at).map_err(|error| Fault::os("read", path, error))?;
    let bytes = zstd::bulk::decompress(&packed, raw).map_err(|_| damaged())?;
    if bytes.len() == raw { Ok(bytes) } else { Err(damaged()) }
}

fn read_table(mut table: &[u8]) -> fault::Result<Vec<BlockAt>> {
    let mut blocks = Vec::new();
    while !table.is_empty() {
        blocks.push(BlockAt {
            key: take_bytes(&mut table)?.into(),
            offset: take(&mut table)?,
            length: take(&mut table)? as usize,
            raw: take(&mut table)? as usize,
            entries: take(&mut table)?,
        });
    }
    Ok(blocks)
}

/// Reads the entries of one directory, in the order of their names, piece by piece.
#[derive(Debug)]
pub struct Cursor {
    index: Arc<Index>,
    dir: Box<[u8]>,
    itself: Option<Itself>,
    number: usize,
    block: Arc<Vec<u8>>,
    /// Places in the block: entries and hashes that are left, and where the next section begins.
    entries: (usize, usize),
    ids: (usize, usize),
    next: usize,
    left: u64,
    previous: Previous,
}

impl Cursor {
    fn new(
        index: Arc<Index>,
        dir: &[u8],
        number: usize,
        block: Arc<Vec<u8>>,
        at: usize,
    ) -> fault::Result<Self> {
        let mut cursor = Self {
            index,
            dir: dir.into(),
            itself: None,
            number,
            block,
            entries: (0, 0),
            ids: (0, 0),
            next: at,
            left: 0,
            previous: Previous::default(),
        };
        cursor.next_section()?;
        Ok(cursor)
    }

    /// The directory itself, if its last sync was complete.
    pub fn itself(&self) -> Option<Itself> {
        self.itself
    }

    /// The name of the entry that was given last.
    pub fn name(&self) -> &[u8] {
        self.previous.name()
    }

    /// The next entry, or `None` at the end.
    pub fn next(&mut self) -> fault::Result<Option<(&[u8], Known)>> {
        while self.left == 0 {
            if !self.next_section()? {
                return Ok(None);
            }
        }
        self.left -= 1;
        let mut entries = &self.block[self.entries.0..self.entries.1];
        let mut ids = &self.block[self.ids.0..self.ids.1];
        let known = take_known(&mut entries, &mut ids, &mut self.previous)?;
        self.entries.0 = self.entries.1 - entries.len();
        self.ids.0 = self.ids.1 - ids.len();
        Ok(Some((self.previous.name(), known)))
    }

    /// Goes to the directory's next section, if there is one.
    fn next_section(&mut self) -> fault::Result<bool> {
        if self.next == self.block.len() {
            if self.number + 1 >= self.index.blocks.len() {
                return Ok(false);
            }
            self.number += 1;
            self.block = Arc::new(self.index.unpack(self.number)?);
            self.next = 0;
        }
        let mut rest = &self.block[self.next..];
        let view = SectionView::take(&mut rest)?;
        if view.dir != &*self.dir {
            return Ok(false);
        }
        let base = self.block.as_ptr() as usize;
        let place = |bytes: &[u8]| {
            let start = bytes.as_ptr() as usize - base;
            (start, start + bytes.len())
        };
        self.entries = place(view.raw_entries());
        self.ids = place(view.raw_ids());
        self.left = view.count;
        self.itself = view.itself.or(self.itself);
        self.next = self.block.len() - rest.len();
        self.previous = Previous::default();
        Ok(true)
    }
}

/// Writes an index; directories must come in [`tree_order`].
#[derive(Debug)]
pub struct IndexWriter {
    file: BufWriter<File>,
    path: PathBuf,
    offset: u64,
    raw: Vec<u8>,
    key: Vec<u8>,
    in_block: u64,
    table: Vec<u8>,
    entries: u64,
}

impl IndexWriter {
    /// A new index at `path`, replacing what is there.
    pub fn create(path: &Path) -> fault::Result<Self> {
        let file = File::create(path).map_err(|error| Fault::os("create", path, error))?;
        Ok(Self {
            file: BufWriter::with_capacity(1 << 20, file),
            path: path.to_owned(),
            offset: 0,
            raw: Vec::with_capacity(BLOCK * 2),
            key: Vec::new(),
            in_block: 0,
            table: Vec::new(),
            entries: 0,
        })
    }

    /// Adds a section of the directory `dir`.
    pub fn section(&mut self, dir: &[u8], section: &Section) -> fault::Result<()> {
        self.begin(dir);
        section.put(&mut self.raw, dir);
        self.end(section.count())
    }

    /// Adds a section as it lies in memory.
    pub fn packed_section(&mut self, dir: &[u8], bytes: &[u8], count: u64) -> fault::Result<()> {
        self.begin(dir);
        self.raw.extend_from_slice(bytes);
        self.end(count)
    }

    /// Adds a block of another index as it is.
    pub fn packed_block(&mut self, key: &[u8], packed: &[u8], raw: usize, count: u64) -> fault::Result<()> {
        self.flush()?;
        self.write_block(key, packed, raw, count)
    }

    fn begin(&mut self, dir: &[u8]) {
        if self.raw.is_empty() {
            self.key = tree_key(dir);
        }
    }

    fn end(&mut self, count: u64) -> fault::Result<()> {
        self.in_block += count;
        if self.raw.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> fault::Result<()> {
        if self.raw.is_empty() {
            return Ok(());
        }
        let packed = pack(&self.raw)?;
        let (key, count) = (std::mem::take(&mut self.key), std::mem::take(&mut self.in_block));
        self.write_block(&key, &packed, self.raw.len(), count)?;
        self.raw.clear();
        Ok(())
    }

    fn write_block(&mut self, key: &[u8], packed: &[u8], raw: usize, count: u64) -> fault::Result<()> {
        put_bytes(&mut self.table, key);
        put(&mut self.table, self.offset);
        put(&mut self.table, packed.len() as u64);
        put(&mut self.table, raw as u64);
        put(&mut self.table, count);
        self.entries += count;
        self.write(packed)
    }

    fn write(&mut self, bytes: &[u8]) -> fault::Result<()> {
        self.offset += bytes.len() as u64;
        self.file.write_all(bytes).map_err(|error| Fault::os("write", &self.path, error))
    }

    /// Writes the table and makes all of it durable.
    pub fn finish(mut self) -> fault::Result<()> {
        self.flush()?;
        let (at, table) = (self.offset, std::mem::take(&mut self.table));
        let packed = pack(&table)?;
        self.write(&packed)?;
        for word in [at, packed.len() as u64, table.len() as u64, self.entries] {
            self.write(&word.to_le_bytes())?;
        }
        self.write(MAGIC)?;
        let failed = |error| Fault::os("write", &self.path, error);
        let file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)
    }
}

fn pack(bytes: &[u8]) -> fault::Result<Vec<u8>> {
    let failed = |error| Fault::new(fault::Kind::Bug, "cannot compress the index").caused_by(error);
    let mut packer = zstd::bulk::Compressor::new(LEVEL).map_err(failed)?;
    // A checksum per block: damage on disk is noticed, not believed.
    packer.include_checksum(true).map_err(failed)?;
    packer.compress(bytes).map_err(failed)
}
