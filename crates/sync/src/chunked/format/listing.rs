use fault::Result;

use super::damaged;
use super::pack::{Row, fills, put_row, take_rows};
use super::sealed::{seal, unseal};
use crate::index::wire::{put, take, take_slice};

const MAGIC: [u8; 8] = *b"fbcidx01";
/// Bytes of a listing, unpacked.
const MOST: u64 = 16 << 20;

/// What is in one pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackRows {
    /// The pack's name.
    pub name: [u8; 16],
    /// Its size, bytes.
    pub size: u64,
    pub rows: Vec<Row>,
}

impl PackRows {
    /// Whether the rows fill the pack.
    pub fn is_whole(&self) -> bool {
        fills(&self.rows, self.size)
    }
}

/// What is in several packs, as an object below `index/`.
pub fn encode_listing(packs: &[PackRows]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    for pack in packs {
        body.extend_from_slice(&pack.name);
        put(&mut body, pack.size);
        put(&mut body, pack.rows.len() as u64);
        pack.rows.iter().for_each(|row| put_row(&mut body, row));
    }
    seal(MAGIC, &body)
}

/// The same, read.
pub fn read_listing(bytes: &[u8]) -> Result<Vec<PackRows>> {
    let what = "a list of what is in packs";
    let body = unseal(MAGIC, bytes, MOST, what)?;
    let (mut rest, mut packs) = (&body[..], Vec::new());
    while !rest.is_empty() {
        let mut one = || {
            let name = take_slice(&mut rest, 16)?.first_chunk().copied().unwrap_or_default();
            let (size, count) = (take(&mut rest)?, take(&mut rest)?);
            let rows = take_rows(&mut rest, usize::try_from(count).unwrap_or(usize::MAX), size)?;
            Ok::<_, fault::Fault>(PackRows { name, size, rows })
        };
        packs.push(one().map_err(|_| damaged(what))?);
    }
    Ok(packs)
}
