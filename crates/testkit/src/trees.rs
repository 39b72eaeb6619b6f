//! Trees of files for tests of what moves them: everything that can be seen of one, one that is full of traps, and random
//! ones with random changes.

#![allow(clippy::unwrap_used, reason = "a tree that can't be made is a failed test")]

mod picture;
mod random;
mod traps;

pub use picture::{Entry, Picture, differences, picture};
pub use random::Random;
pub use traps::trap_tree;

/// Waits until what was written is older than the kernel's clock can tell apart: what is copied sooner is read again by the next
/// sync.
pub fn rest() {
    std::thread::sleep(std::time::Duration::from_millis(60));
}
