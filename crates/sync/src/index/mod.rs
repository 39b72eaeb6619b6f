//! What the last sync left at the destination, entry by entry, so that the next one need not look there.
//!
//! An [`Index`] is one immutable file: directories in tree order, entries front-coded, compressed in blocks of 64 KiB. A
//! [`Journal`] beside it takes what becomes durable while a job runs; [`fold`] makes the next index of both in one pass.
//! An [`Overlay`](overlay::Overlay) holds in memory what a watch has learned since the index was written.
//! Nothing is ever in either before it is durable at the destination.

mod file;
mod fold;
mod journal;
mod known;
mod order;
mod overlay;
mod section;
pub mod wire;

pub use file::{Cache, Index};
pub use fold::fold;
pub use journal::{Journal, Parts};
pub use known::Known;
pub use order::{is_within, tree_key};
pub use overlay::{Knowledge, Recall};
pub use section::{Itself, Section, SectionView};

#[cfg(test)]
pub use known::tests::known as known_for_tests;

#[cfg(test)]
mod tests;
