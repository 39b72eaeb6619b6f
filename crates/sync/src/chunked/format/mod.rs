//! What lies in a chunk store, as bytes: docs/CHUNKS.md says the same in words. Everything is read as if somebody hostile had
//! written it: nothing panics, and nothing is allocated that the bytes at hand don't pay for.

mod block;
mod entry;
mod listing;
mod manifest;
mod marker;
mod pack;
mod sealed;
#[cfg(test)]
mod tests;

use fault::{Fault, Kind};

pub use block::{BlockBuilder, read_block};
pub use entry::{Content, Entry, Lists, Piece};
pub use listing::{PackRows, encode_listing, read_listing};
pub use manifest::{BlockAt, Manifest};
pub use marker::{MARKER, Marker};
pub use pack::{PackBuilder, Row, TAIL, footer_length, pack_bytes, read_footer, unpack};

/// Bytes that one piece of content may have, unpacked: a chunk, a list of chunks, a block of entries.
pub const MOST_PIECE: u32 = 16 << 20;

/// What a damaged part of a chunk store is called.
pub fn damaged(what: &str) -> Fault {
    Fault::new(Kind::Corrupt, format!("{what} is damaged"))
        .hint("sync its source there again with --verify all, or restore an older manifest with --manifest")
}
