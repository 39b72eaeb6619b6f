use std::io::Read as _;

use chunk::Id;
use fault::{Fault, Kind};

use super::damaged;

const LEVEL: i32 = 3;

/// Bytes of an object: a magic, the body compressed with zstd, and the BLAKE3 hash of both.
pub fn seal(magic: [u8; 8], body: &[u8]) -> fault::Result<Vec<u8>> {
    let packed = zstd::bulk::compress(body, LEVEL)
        .map_err(|error| Fault::new(Kind::Bug, "cannot compress a list").caused_by(error))?;
    let mut bytes = magic.to_vec();
    bytes.extend_from_slice(&packed);
    let seal = Id::of(&bytes);
    bytes.extend_from_slice(&seal.0);
    Ok(bytes)
}

/// The body of such an object, of at most `most` bytes. Memory grows as it is unpacked, not as anything claims.
pub fn unseal(magic: [u8; 8], bytes: &[u8], most: u64, what: &str) -> fault::Result<Vec<u8>> {
    let bad = || damaged(what);
    let (body, seal) = bytes.split_at_checked(bytes.len().saturating_sub(32)).ok_or_else(bad)?;
    let packed = body.strip_prefix(&magic).ok_or_else(bad)?;
    if seal != Id::of(body).0 {
        return Err(bad());
    }
    let mut out = Vec::new();
    let decoder = zstd::stream::Decoder::new(packed).map_err(|_| bad())?;
    decoder.take(most + 1).read_to_end(&mut out).map_err(|_| bad())?;
    if out.len() as u64 > most { Err(bad()) } else { Ok(out) }
}
