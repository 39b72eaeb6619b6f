use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::{Order, RankShift};

/// Operations on the entries of the tree: mdtest's phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entries {
    /// What is done to each.
    pub operation: EntryOperation,
    /// What the items are.
    #[serde(default)]
    pub item: Item,
    /// Bytes written to each created file (mdtest -w).
    #[serde(default, with = "units::text")]
    #[schemars(with = "String")]
    pub write_bytes: Bytes,
    /// Bytes read from each file (mdtest -e).
    #[serde(default, with = "units::text")]
    #[schemars(with = "String")]
    pub read_bytes: Bytes,
    /// Make each created file durable (mdtest -y).
    #[serde(default)]
    pub fsync: bool,
    /// Flush the target's file system at the end, inside the time (mdtest -Y).
    #[serde(default)]
    pub sync_at_end: bool,
    /// The order of items: sequential or shuffled (mdtest -R).
    #[serde(default)]
    pub order: Order,
    /// Whose items a rank works on (mdtest -N).
    #[serde(default)]
    pub rank_shift: RankShift,
    /// Open each directory once and name items relative to it, instead of by paths from the run directory.
    #[serde(default)]
    pub relative: bool,
    /// Compare what is read with what was written.
    #[serde(default)]
    pub verify: bool,
}

/// What is done to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryOperation {
    /// Make the directories of the tree.
    MakeTree,
    /// Remove them.
    RemoveTree,
    /// Create files (open, write, close), make directories or make nodes.
    Create,
    /// Read attributes.
    Stat,
    /// Open, read, close.
    Read,
    /// Give each a new name in the same directory, and back on the next rename.
    Rename,
    /// Remove.
    Remove,
    /// List all directories of the tree and look at every entry.
    Find,
}

/// What the items of a tree are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// Regular files.
    #[default]
    File,
    /// Directories.
    Directory,
    /// Regular files made with `mknod` (mdtest -k).
    Node,
}

impl Entries {
    /// `operation` on plain files, everything else at its default.
    pub fn of(operation: EntryOperation) -> Self {
        Self {
            operation,
            item: Item::File,
            write_bytes: Bytes::ZERO,
            read_bytes: Bytes::ZERO,
            fsync: false,
            sync_at_end: false,
            order: Order::Sequential,
            rank_shift: RankShift::None,
            relative: false,
            verify: false,
        }
    }
}
