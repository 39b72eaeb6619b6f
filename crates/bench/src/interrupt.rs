//! Stopping cleanly: a signal sets a flag, ranks look at it between transfers, files are removed, the record is kept.

use std::sync::atomic::{AtomicI32, Ordering};

static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Remembers that `signal` asked us to stop. Safe to call from a signal handler.
pub fn request(signal: i32) {
    SIGNAL.store(signal, Ordering::Relaxed);
}

/// The signal that asked us to stop, if one did.
pub fn requested() -> Option<i32> {
    match SIGNAL.load(Ordering::Relaxed) {
        0 => None,
        signal => Some(signal),
    }
}
