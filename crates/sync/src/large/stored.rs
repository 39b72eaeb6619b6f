//! What is kept of the content of large files, when they get other names.

use std::os::fd::BorrowedFd;

use store::{Meta, meta_of_entry};

use super::notes::{Stored, Version};
use super::{key, moved};
use crate::job::Job;
use crate::job::Trouble;

/// The destination's file `from`, which was `before`, is now called `to`, in `dir`: what is known of its leaves and chunks
/// goes with it.
pub fn moved_on(
    job: &Job<'_>,
    (from, before): (&[u8], &Meta),
    to: &[u8],
    dir: BorrowedFd<'_>,
) -> Result<(), Trouble> {
    if before.size <= chunk::LEAF {
        return Ok(());
    }
    let (old, new) = (key(from), key(to));
    let read = |kind: &str| std::fs::read(job.state.path(&format!("{kind}/{old}"))).ok();
    let now = || {
        meta_of_entry(dir, store::split_last(to).1).map_err(|error| job.at_destination("look at", to, error))
    };
    if let Some(stored) = read("leaves").and_then(|bytes| Stored::decode(&bytes)) {
        if stored.version == Version::of(before) {
            let stored = Stored { version: Version::of(&now()?), ..stored };
            job.state.write(&format!("leaves/{new}"), &stored.encode())?;
        }
        job.state.remove(&format!("leaves/{old}"))?;
    }
    if let Some((version, list)) = read("chunks").and_then(|bytes| moved::decode(&bytes)) {
        if version == Version::of(before) {
            moved::keep(job.state, to, &now()?, &list)?;
        }
        job.state.remove(&format!("chunks/{old}"))?;
    }
    Ok(())
}

/// The destination's file at `path`, which was `before`, is gone: nothing of its content is kept.
pub fn forget(job: &Job<'_>, path: &[u8], before: &Meta) -> fault::Result<()> {
    if before.size <= chunk::LEAF {
        return Ok(());
    }
    let key = key(path);
    ["leaves", "chunks"].into_iter().try_for_each(|kind| job.state.remove(&format!("{kind}/{key}")))
}
