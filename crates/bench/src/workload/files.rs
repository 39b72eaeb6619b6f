use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

/// The files and directories a workload works on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FileSet {
    /// Whose files they are.
    pub layout: Layout,
    /// Contiguous bytes one rank owns per segment (IOR -b).
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub block_size: Bytes,
    /// Rounds of blocks over all ranks (IOR -s).
    pub segments: u64,
    /// Files of each rank with `per_rank`.
    pub files_per_rank: u32,
    /// The directory tree for operations on entries.
    pub tree: Tree,
}

/// Whose files they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Every rank has its own (IOR -F).
    #[default]
    PerRank,
    /// One file for all: offset = segment x ranks x block + rank x block + position.
    Shared,
}

/// A tree of directories with items in it, numbered like mdtest's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tree {
    /// Directories per directory (mdtest -b).
    pub branch: u32,
    /// Levels below the root (mdtest -z).
    pub depth: u32,
    /// Items of each rank in all (mdtest -n).
    pub items: u64,
    /// Only the deepest directories hold items (mdtest -L).
    pub leaf_only: bool,
    /// Every rank has a tree of its own (mdtest -u).
    pub per_rank: bool,
    /// First part of item names.
    pub prefix: String,
}

impl Default for FileSet {
    fn default() -> Self {
        Self {
            layout: Layout::PerRank,
            block_size: Bytes::mib(64),
            segments: 1,
            files_per_rank: 1,
            tree: Tree::default(),
        }
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self { branch: 1, depth: 0, items: 0, leaf_only: false, per_rank: false, prefix: "file".to_owned() }
    }
}

impl FileSet {
    /// Bytes of one file with `ranks` ranks.
    pub fn file_size(&self, ranks: u32) -> Bytes {
        let own = self.block_size * self.segments;
        match self.layout {
            Layout::PerRank => own,
            Layout::Shared => own * u64::from(ranks),
        }
    }

    /// Number of data files with `ranks` ranks.
    pub fn file_count(&self, ranks: u32) -> u32 {
        match self.layout {
            Layout::PerRank => ranks * self.files_per_rank,
            Layout::Shared => 1,
        }
    }

    /// Bytes of all data files.
    pub fn total_size(&self, ranks: u32) -> Bytes {
        self.file_size(ranks) * u64::from(self.file_count(ranks))
    }
}

impl Tree {
    /// Directories in one tree: 1 at depth 0, depth + 1 with one branch, else (b^(depth+1) - 1) / (b - 1).
    pub fn directories(&self) -> u64 {
        match self.branch {
            0 | 1 => u64::from(self.depth) + 1,
            // 64 levels of two branches are more than can be counted.
            branch => (0..=self.depth.min(64))
                .map(|level| u64::from(branch).saturating_pow(level))
                .fold(0, u64::saturating_add),
        }
    }

    /// Number of the first directory that holds items.
    pub fn first_item_directory(&self) -> u64 {
        if self.leaf_only {
            self.directories() - u64::from(self.branch).saturating_pow(self.depth)
        } else {
            0
        }
    }

    /// Items of one rank in each directory that holds any (the last may have fewer).
    pub fn items_per_directory(&self) -> u64 {
        self.items.div_ceil((self.directories() - self.first_item_directory()).max(1)).max(1)
    }

    /// The directory of a rank's item number `item`.
    pub fn directory_of(&self, item: u64) -> u64 {
        self.first_item_directory() + item / self.items_per_directory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_numbered_like_mdtests() {
        let tree = Tree { branch: 3, depth: 2, items: 18, leaf_only: true, ..Tree::default() };
        assert_eq!(tree.directories(), 13);
        assert_eq!(tree.first_item_directory(), 4);
        assert_eq!((tree.directory_of(0), tree.directory_of(17)), (4, 12));
        let chain = Tree { branch: 1, depth: 4, items: 10, ..Tree::default() };
        assert_eq!(chain.directories(), 5);
        assert_eq!(chain.directory_of(9), 4);
    }
}
