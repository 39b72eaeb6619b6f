use chunk::Id;
use fault::{Fault, Kind};

use super::{MOST_PIECE, damaged};

const MAGIC: &[u8; 8] = b"fbpack01";
const END: &[u8; 8] = b"fbpkend1";
/// Bytes of a row of the footer: hash, way, stored length, length.
const ROW: usize = 32 + 1 + 4 + 4;
/// Bytes after the footer: number of rows, hash of the footer, magic.
pub const TAIL: usize = 4 + 32 + 8;
/// The most pieces of a pack.
pub const MOST_ROWS: usize = 32_768;
const LEVEL: i32 = 1;

/// One piece of content in a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The BLAKE3 hash of the content.
    pub id: Id,
    /// Where it begins in the pack, bytes.
    pub offset: u32,
    /// How many bytes it takes there.
    pub stored: u32,
    /// How many bytes the content has.
    pub length: u32,
    /// It is compressed with zstd.
    pub compressed: bool,
}

/// A pack that is being filled.
#[derive(Debug)]
pub struct PackBuilder {
    bytes: Vec<u8>,
    rows: Vec<Row>,
}

impl Default for PackBuilder {
    fn default() -> Self {
        Self { bytes: MAGIC.to_vec(), rows: Vec::new() }
    }
}

impl PackBuilder {
    /// Whether it has nothing.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether no further piece should go in.
    pub fn is_full(&self, size: usize) -> bool {
        self.bytes.len() >= size || self.rows.len() >= MOST_ROWS
    }

    /// Adds a piece as [`pack_bytes`] made it.
    pub fn push(&mut self, id: Id, length: u32, (stored, compressed): (&[u8], bool)) {
        let (offset, size) = (self.bytes.len() as u32, stored.len() as u32);
        self.bytes.extend_from_slice(stored);
        self.rows.push(Row { id, offset, stored: size, length, compressed });
    }

    /// The whole pack, and what is in it.
    pub fn finish(mut self) -> (Vec<u8>, Vec<Row>) {
        let start = self.bytes.len();
        self.rows.iter().for_each(|row| put_row(&mut self.bytes, row));
        let seal = Id::of(&self.bytes[start..]);
        self.bytes.extend_from_slice(&(self.rows.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(&seal.0);
        self.bytes.extend_from_slice(END);
        (self.bytes, self.rows)
    }
}

/// Appends a row as it stands in footers and listings.
pub fn put_row(out: &mut Vec<u8>, row: &Row) {
    out.extend_from_slice(&row.id.0);
    out.push(u8::from(row.compressed));
    out.extend_from_slice(&row.stored.to_le_bytes());
    out.extend_from_slice(&row.length.to_le_bytes());
}

/// The rows of a pack of `size` bytes, from bytes as [`put_row`] writes them. They must fill the pack.
pub fn take_rows(from: &mut &[u8], count: usize, size: u64) -> fault::Result<Vec<Row>> {
    let bad = || damaged("the list of a pack's content");
    let length = count.checked_mul(ROW).filter(|_| count <= MOST_ROWS).ok_or_else(bad)?;
    let (bytes, rest) = from.split_at_checked(length).ok_or_else(bad)?;
    *from = rest;
    let (mut rows, mut offset) = (Vec::with_capacity(count), MAGIC.len() as u64);
    for bytes in bytes.as_chunks::<ROW>().0 {
        let row = read_row(bytes, offset).ok_or_else(bad)?;
        offset += u64::from(row.stored);
        rows.push(row);
    }
    if fills(&rows, size) { Ok(rows) } else { Err(bad()) }
}

/// Whether a pack of `size` bytes has these rows and nothing else.
pub fn fills(rows: &[Row], size: u64) -> bool {
    let stored: u64 = rows.iter().map(|row| u64::from(row.stored)).sum();
    (MAGIC.len() + rows.len() * ROW + TAIL) as u64 + stored == size
}

fn read_row(bytes: &[u8; ROW], offset: u64) -> Option<Row> {
    let (id, rest) = bytes.split_first_chunk::<32>()?;
    let ([way], rest) = rest.split_first_chunk::<1>()?;
    let (stored, rest) = rest.split_first_chunk::<4>()?;
    let (stored, length) = (u32::from_le_bytes(*stored), u32::from_le_bytes(*rest.first_chunk::<4>()?));
    let compressed = match way {
        0 if stored == length => false,
        1 => true,
        _ => return None,
    };
    (stored <= MOST_PIECE && length <= MOST_PIECE).then_some(())?;
    Some(Row { id: Id(*id), offset: u32::try_from(offset).ok()?, stored, length, compressed })
}

/// How many bytes the footer of a pack has, as the pack's last bytes say; the tail follows it.
pub fn footer_length(tail: &[u8]) -> fault::Result<usize> {
    let bad = || damaged("the end of a pack");
    let (count, rest) = tail.split_first_chunk::<4>().ok_or_else(bad)?;
    let count = u32::from_le_bytes(*count) as usize;
    if rest.len() != TAIL - 4 || !rest.ends_with(END) || count > MOST_ROWS {
        return Err(bad());
    }
    Ok(count * ROW)
}

/// What is in a pack of `size` bytes, of its footer and tail.
pub fn read_footer(bytes: &[u8], size: u64) -> fault::Result<Vec<Row>> {
    let bad = || damaged("the footer of a pack");
    let (mut footer, tail) = bytes.split_at_checked(bytes.len().saturating_sub(TAIL)).ok_or_else(bad)?;
    if footer_length(tail)? != footer.len() || tail[4..36] != Id::of(footer).0 {
        return Err(bad());
    }
    let count = footer.len() / ROW;
    take_rows(&mut footer, count, size)
}

/// A piece as it goes into a pack: compressed where that makes it smaller by a thirtieth.
pub fn pack_bytes(content: &[u8]) -> fault::Result<Option<Vec<u8>>> {
    let packed = zstd::bulk::compress(content, LEVEL)
        .map_err(|error| Fault::new(Kind::Bug, "cannot compress a chunk").caused_by(error))?;
    Ok((packed.len() + content.len() / 30 < content.len()).then_some(packed))
}

/// The content of a piece, if it has its hash.
pub fn unpack(row: &Row, stored: &[u8]) -> Option<Vec<u8>> {
    let content = if row.compressed {
        zstd::bulk::decompress(stored, row.length as usize).ok()?
    } else {
        stored.to_vec()
    };
    (content.len() == row.length as usize && Id::of(&content) == row.id).then_some(content)
}
