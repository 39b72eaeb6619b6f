//! Content by its hash: BLAKE3 of whole files, of leaves of fixed size, whose hashes add up to it, and of chunks that are
//! cut where the content says, so that they are found again after it moved.

mod cutting;
mod id;
mod leaves;
mod list;

pub use cutting::Cutter;
pub use id::Id;
pub use leaves::{LEAF, Leaves, leaf_id, leaf_of};
pub use list::{Chunk, ChunkList};
