//! What phases leave behind for the phases after them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// What one rank's share of the file set holds. Written by the rank that worked on it, between two meetings of all.
#[derive(Debug, Default)]
pub struct Share {
    bytes: AtomicU64,
    complete: AtomicBool,
    in_order: AtomicBool,
    items: AtomicU64,
    renamed: AtomicBool,
}

/// The data that a share holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Bytes.
    pub bytes: u64,
    /// Whether that is all of it.
    pub complete: bool,
    /// Whether they are the first ones, or those that the walk of the phase that was stopped came to.
    pub in_order: bool,
}

/// All that is known of a share, to be told to other processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareState(u64, bool, bool, u64, bool);

impl ShareState {
    /// Bytes it holds.
    pub fn bytes(self) -> u64 {
        self.0
    }

    /// What became of `self` when processes that began with it left it as `changed`.
    pub fn merged(self, changed: &[Self]) -> Self {
        let mut merged = self;
        for other in changed.iter().filter(|other| **other != self) {
            if other.0 > merged.0 {
                (merged.0, merged.2) = (other.0, other.2);
            }
            merged.1 |= other.1;
            if other.3 != self.3 {
                // Several make the same items: the most that any of them made are there.
                merged.3 = if merged.3 == self.3 { other.3 } else { merged.3.max(other.3) };
            }
        }
        merged.4 = if changed.iter().any(|other| other.4 != self.4) { !self.4 } else { self.4 };
        merged
    }
}

impl Share {
    /// All that is known of it.
    pub fn state(&self) -> ShareState {
        let Written { bytes, complete, in_order } = self.written();
        ShareState(bytes, complete, in_order, self.items(), self.renamed())
    }

    /// Takes over what is known of it elsewhere.
    pub fn restore(&self, state: ShareState) {
        let ShareState(bytes, complete, in_order, items, renamed) = state;
        self.bytes.store(bytes, Ordering::Relaxed);
        self.complete.store(complete, Ordering::Relaxed);
        self.in_order.store(in_order, Ordering::Relaxed);
        self.items.store(items, Ordering::Relaxed);
        self.renamed.store(renamed, Ordering::Relaxed);
    }

    /// A share of files that are there in full.
    pub fn full() -> Self {
        let share = Self::default();
        share.complete.store(true, Ordering::Relaxed);
        share
    }

    /// What has been written.
    pub fn written(&self) -> Written {
        Written {
            bytes: self.bytes.load(Ordering::Relaxed),
            complete: self.complete.load(Ordering::Relaxed),
            in_order: self.in_order.load(Ordering::Relaxed),
        }
    }

    /// Remembers a write phase that visited no byte twice before it had visited all.
    pub fn remember_written(&self, written: Written) {
        if written.bytes > self.bytes.fetch_max(written.bytes, Ordering::Relaxed) {
            self.in_order.store(written.in_order, Ordering::Relaxed);
        }
        self.complete.fetch_or(written.complete, Ordering::Relaxed);
    }

    /// Items made; 0 when no phase made any.
    pub fn items(&self) -> u64 {
        self.items.load(Ordering::Relaxed)
    }

    /// Remembers how many items there are now.
    pub fn remember_items(&self, items: u64) {
        self.items.store(items, Ordering::Relaxed);
    }

    /// Remembers that there are at least so many, where several ranks make the same ones.
    pub fn remember_at_least(&self, items: u64) {
        self.items.fetch_max(items, Ordering::Relaxed);
    }

    /// Whether the items carry their second name.
    pub fn renamed(&self) -> bool {
        self.renamed.load(Ordering::Relaxed)
    }

    /// Remembers that the items got their other name.
    pub fn remember_rename(&self) {
        self.renamed.fetch_xor(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_processes_did_to_one_share_adds_up() {
        let before = ShareState(10, false, true, 5, false);
        assert_eq!(before.merged(&[before, before]), before);
        let more = ShareState(20, true, false, 5, false);
        let items = ShareState(10, false, true, 7, false);
        assert_eq!(before.merged(&[more, before, items]), ShareState(20, true, false, 7, false));
        let fewer = ShareState(10, false, true, 0, false);
        assert_eq!(before.merged(&[before, fewer]), fewer);
        let renamed = ShareState(10, false, true, 5, true);
        assert_eq!(before.merged(&[before, renamed]), renamed);
        assert_eq!(renamed.merged(&[before, renamed]), before, "and back");
        let share = Share::default();
        share.restore(more);
        assert_eq!(share.state(), more);
    }
}
