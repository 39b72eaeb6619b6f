//! What phases leave behind for the phases after them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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

impl Share {
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
