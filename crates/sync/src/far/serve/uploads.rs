//! Files that come in parts: drafts that are open until their end.

use std::collections::HashMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Mutex};

use store::Draft;

use super::super::words::foreign;
use crate::job::lock;

/// More than any sync has under way at once.
const MOST: usize = 1000;

/// A file whose parts come.
pub struct Coming {
    pub draft: Draft,
    pub path: Vec<u8>,
    pub dir: OwnedFd,
    /// The copy that was there when it began.
    pub old: Option<OwnedFd>,
}

/// All that are coming.
#[derive(Default)]
pub struct Uploads(Mutex<HashMap<u64, Arc<Coming>>>);

impl Uploads {
    /// One begins.
    pub fn begin(&self, upload: u64, coming: Coming) -> fault::Result<()> {
        let mut all = lock(&self.0);
        if all.len() >= MOST || all.contains_key(&upload) {
            return Err(foreign());
        }
        all.insert(upload, Arc::new(coming));
        Ok(())
    }

    /// The one of this number.
    pub fn find(&self, upload: u64) -> fault::Result<Arc<Coming>> {
        lock(&self.0).get(&upload).cloned().ok_or_else(foreign)
    }

    /// The same, which ends.
    pub fn take(&self, upload: u64) -> fault::Result<Arc<Coming>> {
        lock(&self.0).remove(&upload).ok_or_else(foreign)
    }
}

impl Coming {
    /// Nobody wants it: its name goes, if it has one.
    pub fn discard(self: Arc<Self>) {
        // A part that is still being written keeps it; the next sync removes it then.
        if let Some(coming) = Arc::into_inner(self) {
            let _ = coming.draft.discard(coming.dir.as_fd());
        }
    }
}
