//! Files, trees and what is in them.

use fault::Result;
use units::Bytes;

use super::super::{Activity, Entries, EntryOperation, Item, Layout, Workload};
use super::{LARGEST_TRANSFER, wrong};
use crate::ground::PREFIX;

/// Names of run directories and entries stay short of the file systems' limit of 255 bytes.
const LONGEST_PREFIX: usize = 64;
/// With the numbers of rank and repetition behind them.
const LONGEST_NAME: usize = 200;
/// Items are numbered within their rank.
const MOST_ITEMS: u64 = 1 << 40;
/// Paths of trees deeper than this come near the system's limit of 4096 bytes.
const DEEPEST_TREE: u32 = 60;

impl Workload {
    /// The file set must be countable in 64 bits.
    pub(super) fn check_total(&self) -> Result<()> {
        let files = &self.files;
        let ranks = u64::from(self.ranks);
        let total = files
            .block_size
            .get()
            .checked_mul(files.segments)
            .and_then(|size| size.checked_mul(ranks))
            .and_then(|size| size.checked_mul(u64::from(files.files_per_rank)));
        let count = ranks * u64::from(files.files_per_rank);
        let trees = if files.tree.per_rank { ranks } else { 1 };
        let directories = files.tree.all_directories().saturating_mul(trees);
        let too_many = directories.max(count) > u64::from(u32::MAX);
        if too_many || total.is_none_or(|total| total > i64::MAX as u64) {
            return Err(wrong(
                "the files are larger, or the tree has more directories, than a file system can hold",
                "lower `block_size`, `segments`, `files_per_rank`, `branch` or `depth`",
            ));
        }
        Ok(())
    }

    /// Blocks that differ are those of files that ranks have of their own.
    pub(super) fn check_block_sizes(&self) -> Result<()> {
        let files = &self.files;
        if !files.block_sizes.is_empty() && files.layout == Layout::Shared {
            return Err(wrong(
                "`block_sizes` are for files that ranks have of their own",
                "use `layout = \"per_rank\"`, or leave out `block_sizes`",
            ));
        }
        let fits = |block: &Bytes| block.get() > 0 && *block <= files.block_size;
        if let Some(block) = files.block_sizes.iter().find(|block| !fits(block)) {
            return Err(wrong(
                format!("`block_sizes` has {block:#}, and `block_size` is {:#}", files.block_size),
                "let `block_size` be the largest of them, and none of them nothing",
            ));
        }
        Ok(())
    }

    /// Items must have numbers, and directories paths that the system takes.
    pub(super) fn check_tree(&self) -> Result<()> {
        let tree = &self.files.tree;
        if tree.branch == 0 {
            return Err(wrong(
                "a tree with `branch = 0` has no leaves",
                "set `branch` to 1 or more in `[files.tree]`",
            ));
        }
        if tree.depth > DEEPEST_TREE {
            return Err(wrong(
                format!("a tree of depth {} has longer paths than the system takes", tree.depth),
                "set `depth` to 60 or less",
            ));
        }
        if tree.directory_items == Some(0) {
            return Err(wrong(
                "directories with `directory_items = 0` hold nothing",
                "set `directory_items` to 1 or more in `[files.tree]`, or leave it out",
            ));
        }
        if tree.shared_items && (tree.per_rank || self.entries().any(|e| e.item == Item::Directory)) {
            return Err(wrong(
                "items that all ranks share are files in a tree that all share",
                "leave out `per_rank`, `item = \"directory\"` or `shared_items`",
            ));
        }
        self.check_item_sizes()?;
        let largest =
            self.entries().map(|e| e.write_bytes.max(e.read_bytes)).chain(tree.largest_size()).max();
        let largest = largest.map_or(1, |size| size.get().max(1));
        let total =
            tree.items.checked_mul(u64::from(self.ranks)).and_then(|items| items.checked_mul(largest));
        if tree.items > MOST_ITEMS || total.is_none_or(|total| total > i64::MAX as u64) {
            return Err(wrong(
                format!("{} items per rank are more than a file system can hold", tree.items),
                "lower `items` in `[files.tree]`",
            ));
        }
        self.check_contents()
    }

    /// Items and directories have names that every file system takes.
    pub(super) fn check_prefix(&self) -> Result<()> {
        let prefix = &self.files.tree.prefix;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if prefix.is_empty() || prefix.len() > LONGEST_PREFIX || !prefix.chars().all(plain) {
            return Err(wrong(
                format!("`prefix = \"{prefix}\"` is no name for entries"),
                "use letters, digits, `-` and `_`, at most 64",
            ));
        }
        Ok(())
    }

    /// Names that somebody chose are names of entries in the targets, one for each of them.
    pub(super) fn check_names(&self) -> Result<()> {
        let Some(named) = &self.files.named else { return Ok(()) };
        let plain = |name: &&String| {
            !name.is_empty()
                && name.len() <= LONGEST_NAME
                && !name.contains(['/', '\0'])
                && name.as_str() != "."
                && name.as_str() != ".."
                && !name.starts_with(PREFIX)
        };
        if let Some(bad) = named.data.iter().chain(&named.tree).find(|name| !plain(name)) {
            return Err(wrong(
                format!("`{bad}` is no name for an entry of a target"),
                "use a name without `/`, of at most 200 bytes, that does not begin like a run directory",
            ));
        }
        let targets = 1 + self.more_targets.len();
        let fits = named.data.len() == targets || (named.exact && named.data.len().is_multiple_of(targets));
        if !named.data.is_empty() && !fits {
            return Err(wrong(
                format!("{} names of data files for {targets} targets", named.data.len()),
                "write one name for each target in `data` of `[files.named]`",
            ));
        }
        let entries = self.entries().next().is_some();
        let moves = self.phases.iter().flat_map(|phase| &phase.jobs);
        let moves = moves.filter(|job| matches!(job.activity, Activity::Transfer(_))).count() > 0;
        if (moves && named.data.is_empty()) || (entries && named.tree.is_none()) {
            return Err(wrong(
                "`[files.named]` names only some of the workload's entries",
                "write `data` for files that transfers go to, and `tree` for operations on entries",
            ));
        }
        Ok(())
    }

    /// Sizes of items are those of files, and the only ones.
    fn check_item_sizes(&self) -> Result<()> {
        let sizes = &self.files.tree.sizes;
        if sizes.is_empty() {
            return Ok(());
        }
        let weights: u64 = sizes.iter().map(|size| u64::from(size.weight)).sum();
        let too_large = sizes.iter().any(|size| size.size.get() > LARGEST_TRANSFER);
        if weights == 0 || too_large {
            return Err(wrong(
                "`sizes` of items need some weight, and are at most 1 GiB",
                "for example `sizes = [{ size = \"4k\", weight = 50 }, { size = \"1m\", weight = 50 }]`",
            ));
        }
        let other = |e: &Entries| e.write_bytes.max(e.read_bytes).get() > 0 || e.item != Item::File;
        if self.files.tree.shared_items || self.entries().any(other) {
            return Err(wrong(
                "items with `sizes` are files of one rank, and are read and written in full",
                "leave out `write_bytes`, `read_bytes`, `item` and `shared_items`, or `sizes` in `[files.tree]`",
            ));
        }
        Ok(())
    }

    /// Files are not read beyond what was written into them.
    fn check_contents(&self) -> Result<()> {
        let of = |operation| self.entries().filter(move |e| e.operation == operation);
        let written =
            of(EntryOperation::Create).filter(|e| e.item == Item::File).map(|e| e.write_bytes).min();
        let read = of(EntryOperation::Read).map(|e| e.read_bytes).max();
        match (written, read) {
            (Some(written), Some(read)) if read > written => Err(wrong(
                format!("files of {written:#} are created and {read:#} are read from each"),
                "lower `read_bytes`, or raise `write_bytes`",
            )),
            _ => Ok(()),
        }
    }
}
