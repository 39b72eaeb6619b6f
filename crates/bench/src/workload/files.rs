use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::{Named, Striping, WeightedSize};
use crate::data::mix;

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
    /// Block sizes of the ranks' own files, in turn by rank, where they differ (vdbench sd size): at most `block_size`.
    #[serde(with = "units::text::list", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub block_sizes: Vec<Bytes>,
    /// Rounds of blocks over all ranks (IOR -s).
    pub segments: u64,
    /// Files of each rank with `per_rank`.
    pub files_per_rank: u32,
    /// Every rank has a directory of its own for its files (IOR -u).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub directory_per_rank: bool,
    /// Where entries are and what they are called, instead of a fresh run directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named: Option<Named>,
    /// How new files are spread over the servers; only on Lustre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub striping: Option<Striping>,
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
    /// Items of each rank in each directory that holds any (mdtest -I). When a tree is full, another one like it follows
    /// (mdtest's directory loops). Without it, items are spread evenly over the directories of one tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory_items: Option<u64>,
    /// All ranks work on the same items: each opens and writes all of them, the first one removes them (mdtest -S).
    pub shared_items: bool,
    /// Only the deepest directories hold items (mdtest -L).
    pub leaf_only: bool,
    /// Every rank has a tree of its own (mdtest -u).
    pub per_rank: bool,
    /// Sizes of the items, drawn for each (vdbench `sizes=(4k,50,1m,50)`): creating writes, reading reads all of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<WeightedSize>,
    /// First part of item names.
    pub prefix: String,
}

/// Items whose sizes are added up one by one; the sum of more is what can be expected of it.
const COUNTED: u64 = 1 << 20;
/// Draws the sizes of items.
const SIZES: u64 = 1 << 59;

impl Default for FileSet {
    fn default() -> Self {
        Self {
            layout: Layout::PerRank,
            block_size: Bytes::mib(64),
            block_sizes: Vec::new(),
            segments: 1,
            files_per_rank: 1,
            directory_per_rank: false,
            named: None,
            striping: None,
            tree: Tree::default(),
        }
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            branch: 1,
            depth: 0,
            items: 0,
            directory_items: None,
            shared_items: false,
            leaf_only: false,
            per_rank: false,
            sizes: Vec::new(),
            prefix: "file".to_owned(),
        }
    }
}

impl FileSet {
    /// Contiguous bytes that rank `owner` owns per segment.
    pub fn block_of(&self, owner: u32) -> Bytes {
        match self.block_sizes.len() {
            0 => self.block_size,
            count => self.block_sizes[owner as usize % count],
        }
    }

    /// Bytes that rank `owner` owns in all.
    pub fn share_of(&self, owner: u32) -> Bytes {
        let own = self.block_of(owner) * self.segments;
        match self.layout {
            Layout::PerRank => own * u64::from(self.files_per_rank),
            Layout::Shared => own,
        }
    }

    /// Whether all blocks are whole multiples of `unit`.
    pub fn are_multiples_of(&self, unit: Bytes) -> bool {
        let mut blocks = std::iter::once(&self.block_size).chain(&self.block_sizes);
        blocks.all(|block| block.get().is_multiple_of(unit.get().max(1)))
    }

    /// The smallest block of any rank.
    pub fn smallest_block(&self) -> Bytes {
        self.block_sizes.iter().copied().min().unwrap_or(self.block_size)
    }

    /// Bytes of one file, the largest where they differ, with `ranks` ranks.
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

    /// Bytes of all data files of `ranks`.
    pub fn total_size(&self, ranks: u32) -> Bytes {
        (0..ranks).map(|owner| self.share_of(owner)).sum()
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

    /// Directories of one tree that hold items.
    fn item_directories(&self) -> u64 {
        self.directories().saturating_sub(self.first_item_directory()).max(1)
    }

    /// Items of one rank in each directory that holds any (the last may have fewer).
    pub fn items_per_directory(&self) -> u64 {
        self.directory_items.unwrap_or_else(|| self.items.div_ceil(self.item_directories())).max(1)
    }

    /// Trees that a rank's items need, one after the other.
    pub fn trees(&self) -> u64 {
        self.items.div_ceil(self.items_per_directory().saturating_mul(self.item_directories())).max(1)
    }

    /// Directories in all trees of a rank, or in those that all share.
    pub fn all_directories(&self) -> u64 {
        self.directories().saturating_mul(self.trees())
    }

    /// The directory of a rank's item number `item`, counted through all its trees.
    pub fn directory_of(&self, item: u64) -> u64 {
        let place = item / self.items_per_directory();
        let (tree, within) = (place / self.item_directories(), place % self.item_directories());
        tree * self.directories() + self.first_item_directory() + within
    }

    /// Size of a rank's item where items have sizes of their own. Equal seeds give equal sizes.
    pub fn size_of(&self, seed: u64, owner: u32, item: u64) -> Option<Bytes> {
        let total: u64 = self.sizes.iter().map(|size| u64::from(size.weight)).sum();
        let mut ticket = mix(seed ^ mix(u64::from(owner) << 40 | item) ^ SIZES) % total.max(1);
        let drawn = self.sizes.iter().find(|size| {
            let weight = u64::from(size.weight);
            let hit = ticket < weight;
            ticket = ticket.saturating_sub(weight);
            hit
        });
        drawn.map(|drawn| drawn.size)
    }

    /// The largest size that an item can have, where items have sizes of their own.
    pub fn largest_size(&self) -> Option<Bytes> {
        self.sizes.iter().filter(|size| size.weight > 0).map(|size| size.size).max()
    }

    /// Bytes of all items of `ranks`, where items have sizes of their own.
    pub fn all_sizes(&self, seed: u64, ranks: u32) -> Bytes {
        let Some(largest) = self.largest_size() else { return Bytes::ZERO };
        let items = self.items.saturating_mul(u64::from(ranks));
        if items > COUNTED {
            let weights: u64 = self.sizes.iter().map(|size| u64::from(size.weight)).sum();
            let weighted = |size: &WeightedSize| size.size.get() as f64 * f64::from(size.weight);
            let mean = self.sizes.iter().map(weighted).sum::<f64>() / weights as f64;
            return Bytes::new((mean * items as f64) as u64).min(largest * items);
        }
        let numbers = (0..ranks).flat_map(|owner| (0..self.items).map(move |item| (owner, item)));
        numbers.filter_map(|(owner, item)| self.size_of(seed, owner, item)).sum()
    }

    /// Items of all `ranks`.
    pub fn all_items(&self, ranks: u32) -> u64 {
        if self.shared_items { self.items } else { self.items.saturating_mul(u64::from(ranks)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_8_gib_for_each_of_480_ranks() {
        let files = FileSet { block_size: Bytes::gib(8), ..FileSet::default() };
        assert_eq!(files.total_size(480), Bytes::gib(3840));
    }

    #[test]
    fn segments_of_480_ranks_make_30_tib() {
        let files = FileSet { block_size: Bytes::mib(4), segments: 16_384, ..FileSet::default() };
        assert_eq!((files.file_size(480), files.total_size(480)), (Bytes::gib(64), Bytes::tib(30)));
    }

    #[test]
    fn trees_are_numbered_like_mdtests() {
        let tree = Tree { branch: 3, depth: 2, items: 18, leaf_only: true, ..Tree::default() };
        assert_eq!(tree.directories(), 13);
        assert_eq!(tree.first_item_directory(), 4);
        assert_eq!((tree.directory_of(0), tree.directory_of(17)), (4, 12));
        let full = Tree { directory_items: Some(1), ..tree.clone() };
        assert_eq!((full.trees(), full.all_directories()), (2, 26), "nine leaves with an item each, twice");
        assert_eq!(
            (full.directory_of(8), full.directory_of(9), full.directory_of(17)),
            (12, 13 + 4, 13 + 12)
        );
        let chain = Tree { branch: 1, depth: 4, items: 10, ..Tree::default() };
        assert_eq!(chain.directories(), 5);
        assert_eq!(chain.directory_of(9), 4);
    }
}
