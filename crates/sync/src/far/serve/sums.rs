//! Hashes of what a file has, and copies of pieces of it.

use std::os::fd::{AsFd, BorrowedFd};

use chunk::{Chunk, Cutter, Id, LEAF, leaf_id};
use fault::{Fault, Kind};
use store::{Errno, Os, read_full, write_full};

use super::super::words::foreign;
use crate::index::wire::put;

/// Bytes that one question may ask to be hashed leaf by leaf.
const MOST: u64 = 64 << 20;
/// Bytes read at once.
const BUFFER: usize = 8 << 20;
/// Bytes of chunks in one item of an answer.
const ITEM: usize = 64 << 10;

fn unread(error: Errno) -> Fault {
    Fault::new(Kind::Io, format!("cannot read a file to hash it: {}", fault::plain(&error.into())))
}

/// The size and the hash of a file.
pub fn hash(file: impl AsFd) -> Os<(u64, Id)> {
    let (mut hasher, mut buffer, mut at) = (blake3::Hasher::new(), vec![0; 1 << 20], 0);
    loop {
        let length = read_full(&file, &mut buffer, at)?;
        if length == 0 {
            return Ok((at, Id(*hasher.finalize().as_bytes())));
        }
        hasher.update(&buffer[..length]);
        at += length as u64;
    }
}

/// The hashes of the leaves of a piece that begins with one, as far as the file has any.
pub fn leaves(file: BorrowedFd<'_>, from: u64, to: u64) -> fault::Result<Vec<u8>> {
    if !from.is_multiple_of(LEAF) || to.saturating_sub(from) > MOST {
        return Err(foreign());
    }
    let (mut out, mut buffer, mut at) = (Vec::new(), vec![0; LEAF as usize], from);
    while at < to {
        let leaf = &mut buffer[..(to - at).min(LEAF) as usize];
        let length = read_full(file, leaf, at).map_err(unread)?;
        if length == 0 {
            break;
        }
        out.extend_from_slice(&leaf_id(at, &leaf[..length]).0);
        at += length as u64;
    }
    Ok(out)
}

/// Gives the chunks of a file to `give`, many at a time. Returns the file's hash.
pub fn chunks(
    file: BorrowedFd<'_>,
    size: u64,
    average: u64,
    give: &dyn Fn(Vec<u8>) -> fault::Result<()>,
) -> fault::Result<Vec<u8>> {
    let cutter = Cutter::new(u32::try_from(average).ok().filter(|average| *average > 0).ok_or_else(foreign)?);
    let (mut hasher, mut out) = (blake3::Hasher::new(), Vec::new());
    let (mut buffer, mut at) = (Vec::new(), 0);
    while at < size {
        // What is left of the last piece is cut together with what follows it.
        let kept = buffer.len();
        let more = (size - at - kept as u64).min((BUFFER + cutter.most()) as u64) as usize;
        buffer.resize(kept + more, 0);
        let read = read_full(file, &mut buffer[kept..], at + kept as u64).map_err(unread)?;
        if read < more {
            break;
        }
        hasher.update(&buffer[kept..]);
        let is_last = at + buffer.len() as u64 == size;
        let mut done = 0;
        while done < buffer.len() && (is_last || buffer.len() - done >= cutter.most()) {
            let length = cutter.first(&buffer[done..]);
            let chunk = Chunk::of(at + done as u64, &buffer[done..done + length]);
            put(&mut out, chunk.length.into());
            out.extend_from_slice(&chunk.id);
            done += length;
        }
        buffer.drain(..done);
        at += done as u64;
        if out.len() >= ITEM {
            give(std::mem::take(&mut out))?;
        }
    }
    give(out)?;
    Ok(hasher.finalize().as_bytes().to_vec())
}

/// Copies a piece of one file into another: shared where the file system can share, else through memory.
pub fn copy(from: impl AsFd, start: u64, to: impl AsFd, at: u64, length: u64) -> Os<()> {
    match store::copy_between(&from, start, &to, at, length) {
        Err(Errno::XDEV | Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS | Errno::TXTBSY) => {}
        done => return done,
    }
    let (mut buffer, mut done) = (vec![0; 1 << 20], 0);
    while done < length {
        let piece = &mut buffer[..(length - done).min(1 << 20) as usize];
        if read_full(&from, piece, start + done)? < piece.len() {
            return Err(Errno::IO);
        }
        write_full(&to, piece, at + done)?;
        done += piece.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn leaves_and_chunks_of_a_file_are_those_of_its_content() {
        let mut random = fastrand::Rng::with_seed(3);
        let content: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(20 << 20).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&content).unwrap();
        let found = leaves(file.as_fd(), LEAF, 3 * LEAF + 5).unwrap();
        assert_eq!(found[..32], leaf_id(LEAF, &content[LEAF as usize..2 * LEAF as usize]).0);
        assert_eq!(found.len(), 3 * 32);
        let all = std::sync::Mutex::new(Vec::new());
        let give = |chunks: Vec<u8>| {
            all.lock().unwrap().extend(chunks);
            Ok(())
        };
        let id = chunks(file.as_fd(), content.len() as u64, 64 << 10, &give).unwrap();
        assert_eq!(id, Id::of(&content).0);
        let mut expected = Vec::new();
        for place in Cutter::new(64 << 10).all(&content) {
            put(&mut expected, place.len() as u64);
            expected.extend_from_slice(&Id::of(&content[place]).short());
        }
        assert_eq!(*all.lock().unwrap(), expected);
        assert!(leaves(file.as_fd(), 1, 2).is_err() && leaves(file.as_fd(), 0, 1 << 40).is_err());
    }
}
