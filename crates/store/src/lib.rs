//! Where entries live: POSIX file systems, reached by directory file descriptors alone, and object stores ([`objects`]).
//!
//! Nothing here takes an absolute path but [`Root::open`]. Everything below a root is opened relative to it with
//! `openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)`, or as one name in an open directory without following a symlink:
//! no depth is too deep (paths may be far longer than 4,096 bytes), and whoever swaps a directory for a symlink while
//! we work leads us nowhere.
//!
//! Functions return the operating system's error number; who knows the whole path turns it into a `fault::Fault`.

mod access;
mod attributes;
mod copying;
mod holes;
mod listing;
mod meta;
mod name;
pub mod objects;
mod placing;
mod removing;
mod root;
mod system;

pub use access::{open_dir_in, open_reading, read_full, read_link, write_full};
pub use attributes::{
    Attributes, Extended, Named, apply, apply_to_link, clear_named, drop_inherited, named, named_of_entry,
};
pub use copying::{clone_file, copy_between, copy_range, punch};
pub use holes::{Extent, extents, is_sparse};
pub use listing::{Listed, Lister};
pub use meta::{Kind, Meta, Stamp, birth_of_entry, meta_of, meta_of_entry};
pub use name::{below, printable, split_last};
pub use placing::{Draft, make_node, publish, publish_link, swap_in};
pub use removing::{remove_file, remove_tree};
pub use root::Root;
pub use system::{Durability, FileSystem, boot_id};

/// What calls of the operating system return.
pub type Os<T> = rustix::io::Result<T>;
/// The operating system's error numbers.
pub use rustix::io::Errno;
