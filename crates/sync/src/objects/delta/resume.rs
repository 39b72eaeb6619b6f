//! A large file that a host has no copy of. What an earlier try left of it is compared leaf by leaf, and only the rest is sent.

use std::os::fd::OwnedFd;

use chunk::{Id, LEAF, leaf_id};
use fault::Fault;
use store::objects::{Bytes, Labels, is_changed};
use store::{Root, read_full};

use super::super::side::Place;
use super::super::upload::{Entry, Sent, verify};
use super::super::work::{PIECE, PIECES_AT_ONCE, Trouble, Work};
use super::runs;
use crate::far::{Parts, Summing};

/// Sends a file that is larger than a piece. `None` where the destination is no tree on a host.
pub fn go_on(
    work: &Work<'_>,
    root: &Root,
    path: &[u8],
    entry: &Entry<'_>,
    (place, key, labels): (&Place, &str, &Labels),
) -> Result<Option<Sent>, Trouble> {
    let (Some(far), Some(file)) = (&place.far, &entry.file) else { return Ok(None) };
    let _turn = work.large();
    let size = entry.meta.size;
    let (mut upload, kept) = far.go_on(key, labels, PIECES_AT_ONCE)?;
    let sending = Sending { work, root, path, file, size, kept };
    let id = match sending.send(&mut upload) {
        Ok(Some(id)) if entry.is_still(root, path, file)? => id,
        // What is there is compared again.
        Err(Trouble::Stopped) => {
            upload.leave();
            return Err(Trouble::Stopped);
        }
        other => {
            upload.give_up();
            return other.map(|_| Some(Sent::Changed));
        }
    };
    // What an earlier try left is read back with the rest.
    let tag = match upload.finish_as(size, Some(&id).filter(|_| kept > 0)) {
        Err(fault) if is_changed(&fault) => return Ok(Some(Sent::Changed)),
        finished => finished?,
    };
    verify(work, place, key, (size, &tag), &id)?;
    work.counters.copied.one();
    Ok(Some(Sent::Content(id)))
}

struct Sending<'a, 'b> {
    work: &'a Work<'b>,
    root: &'a Root,
    path: &'a [u8],
    file: &'a OwnedFd,
    size: u64,
    /// Bytes that an earlier try left.
    kept: u64,
}

impl Sending<'_, '_> {
    /// The file's hash; `None` if it became shorter while it was read.
    fn send(&self, upload: &mut Parts<'_>) -> Result<Option<Id>, Trouble> {
        let work = self.work;
        let (mut hasher, mut buffer, mut at) = (blake3::Hasher::new(), vec![0; PIECE as usize], 0);
        let kept = self.kept.min(self.size);
        let mut next = (kept > 0).then(|| upload.kept_later(0, kept.min(PIECE))).transpose()?;
        while at < self.size {
            if work.stopping() {
                return Err(Trouble::Stopped);
            }
            let there = next.take().map_or(Ok(Vec::new()), Summing::ids)?;
            if at + PIECE < kept {
                next = Some(upload.kept_later(at + PIECE, kept.min(at + 2 * PIECE))?);
            }
            let bytes = &mut buffer[..(self.size - at).min(PIECE) as usize];
            let read = read_full(self.file, bytes, at)
                .map_err(|error| Fault::os("read", &self.root.show(self.path), error))?;
            if read < bytes.len() {
                return Ok(None);
            }
            work.counters.bytes_read.add(read as u64);
            hasher.update(bytes);
            let leaves = (at..).step_by(LEAF as usize).zip(bytes.chunks(LEAF as usize)).enumerate();
            let alike: Vec<bool> =
                leaves.map(|(number, (at, leaf))| there.get(number) == Some(&leaf_id(at, leaf))).collect();
            for (alike, run) in runs(&alike, bytes.len()) {
                let length = run.len() as u64;
                if alike {
                    work.counters.bytes_saved.add(length);
                    continue;
                }
                work.throttle(length);
                upload.part_at(at + run.start as u64, Bytes::copy_from_slice(&bytes[run]))?;
                work.counters.bytes_sent.add(length);
            }
            at += bytes.len() as u64;
        }
        Ok(Some(Id(*hasher.finalize().as_bytes())))
    }
}
