use std::fmt::Write as _;

use crate::workload::{FileSet, Item, Layout, Named, Tree};

/// Run directories start with this.
pub const PREFIX: &str = "forebay-run-";

/// The names that a run gives to what it creates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    data: DataStyle,
    tree: TreeStyle,
    /// First part of the names of our own items.
    item: String,
    branch: u64,
    /// Trees of an owner, and whether every rank has its own.
    trees: u64,
    per_rank: bool,
}

/// How data files are called.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DataStyle {
    /// `data.00000003`.
    Own,
    /// As IOR calls them: a name for each target, the rank where each has its own, the repetition where each has its own.
    /// Or, where they are exact, just the name of their number.
    Ior { names: Vec<String>, repetition: Option<u32>, exact: bool },
}

/// How trees and items are called.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TreeStyle {
    /// `tree.2/dir.1/file.0.7`.
    Own,
    /// `test-dir.0-0/mdtest_tree.0/mdtest_tree.1/file.mdtest.0.7`.
    Mdtest { top: String, repetition: u32, shared_items: bool, per_directory: u64, per_tree: u64, first: u64 },
}

/// File that the engine probe reads and writes.
pub const PROBE: &str = "probe";
/// File whose time other files are compared with.
pub const MARKER: &str = "marker";
const DATA: &str = "data";
const OWN: &str = "own";
const TREE: &str = "tree";
const DIRECTORY: &str = "dir";
const RENAMED: &str = ".renamed";
/// mdtest's words.
const MDTEST: &str = "mdtest";
const MDTEST_TREE: &str = "mdtest_tree";
const MDTEST_RENAMED: &str = "-XX";

impl Names {
    /// The names in a fresh run directory.
    pub fn fresh(tree: &Tree) -> Self {
        Self {
            data: DataStyle::Own,
            tree: TreeStyle::Own,
            item: tree.prefix.clone(),
            branch: u64::from(tree.branch.max(1)),
            trees: tree.trees(),
            per_rank: tree.per_rank,
        }
    }

    /// The names that somebody else chose, in repetition number `repetition`, counting from 0.
    pub fn named(files: &FileSet, named: &Named, repetition: u32) -> Self {
        let tree = &files.tree;
        let mut names = Self::fresh(tree);
        if !named.data.is_empty() {
            let repetition = named.data_per_repetition.then_some(repetition);
            names.data = DataStyle::Ior { names: named.data.clone(), repetition, exact: named.exact };
        }
        if let Some(top) = &named.tree {
            let per_directory = tree.items_per_directory();
            let first = tree.first_item_directory();
            names.tree = TreeStyle::Mdtest {
                top: top.clone(),
                repetition,
                shared_items: tree.shared_items,
                per_directory,
                per_tree: per_directory * tree.directories().saturating_sub(first).max(1),
                first: first * per_directory,
            };
        }
        names
    }

    /// The path of data file number `file` of the set, from the directory that it is named in.
    pub fn data(&self, files: &FileSet, file: u32) -> String {
        let owner = match files.layout {
            Layout::Shared => 0,
            Layout::PerRank => file / files.files_per_rank,
        };
        let mut path = if files.directory_per_rank { self.own(owner) + "/" } else { String::new() };
        // Writing to a String cannot fail.
        let _ = match &self.data {
            DataStyle::Own => write!(path, "{DATA}.{file:08}"),
            DataStyle::Ior { names, exact, .. } => {
                path.push_str(&names[owner as usize % names.len()]);
                if files.layout == Layout::PerRank && !exact { write!(path, ".{file:08}") } else { Ok(()) }
            }
        };
        if let DataStyle::Ior { repetition: Some(repetition), .. } = self.data {
            let _ = write!(path, ".{repetition}");
        }
        path
    }

    /// Directory for the data files of rank `owner` alone.
    pub fn own(&self, owner: u32) -> String {
        match self.data {
            DataStyle::Own => format!("{OWN}.{owner:08}"),
            DataStyle::Ior { .. } => owner.to_string(),
        }
    }

    /// Directories in which mdtest has its trees: one for each tree of an owner.
    pub fn tops(&self) -> Vec<String> {
        match &self.tree {
            TreeStyle::Own => Vec::new(),
            TreeStyle::Mdtest { top, repetition, .. } => {
                (0..self.trees).map(|turn| format!("{top}.{repetition}-{turn}")).collect()
            }
        }
    }

    /// Writes the path of a directory behind what `path` holds: number `directory` (heap order: the parent of k is
    /// (k - 1) / branch) of tree number `turn` of rank `owner`.
    pub fn push_directory(&self, path: &mut String, owner: u32, turn: u64, directory: u64) {
        let below = match &self.tree {
            TreeStyle::Own => {
                let first = if self.per_rank { u64::from(owner) * self.trees } else { 0 };
                let _ = write!(path, "{TREE}.{}", first + turn);
                None
            }
            TreeStyle::Mdtest { top, repetition, .. } => {
                let own = self.per_rank.then_some(owner);
                let _ = write!(path, "{top}.{repetition}-{turn}/{MDTEST_TREE}.");
                let _ = own.map_or(Ok(()), |owner| write!(path, "{owner}."));
                path.push('0');
                Some(own)
            }
        };
        let mut chain = [0u64; 64];
        let mut length = 0;
        let mut node = directory;
        while node > 0 && length < chain.len() {
            chain[length] = node;
            length += 1;
            node = (node - 1) / self.branch;
        }
        for node in chain[..length].iter().rev() {
            let _ = match below {
                None => write!(path, "/{DIRECTORY}.{node}"),
                Some(None) => write!(path, "/{MDTEST_TREE}.{node}"),
                Some(Some(owner)) => write!(path, "/{MDTEST_TREE}.{owner}.{node}"),
            };
        }
    }

    /// Writes the name of item `item` of rank `rank` behind what `path` holds.
    pub fn push_item(&self, path: &mut String, rank: u32, item: u64, what: Item, renamed: bool) {
        self.push_item_stem(path, rank, what);
        let _ = write!(path, "{}{}", self.item_number(item), self.item_suffix(renamed));
    }

    /// The part of the names of a rank's items in front of their number.
    pub fn push_item_stem(&self, path: &mut String, rank: u32, what: Item) {
        let _ = match &self.tree {
            TreeStyle::Own => write!(path, "{}.{rank}.", self.item),
            TreeStyle::Mdtest { shared_items, .. } => {
                let kind = if what == Item::Directory { "dir" } else { "file" };
                if *shared_items {
                    write!(path, "{kind}.{MDTEST}.shared.")
                } else {
                    write!(path, "{kind}.{MDTEST}.{rank}.")
                }
            }
        };
    }

    /// The number in the name of a rank's item `item`. Within one directory, numbers follow each other as items do.
    pub fn item_number(&self, item: u64) -> u64 {
        match &self.tree {
            TreeStyle::Own => item,
            TreeStyle::Mdtest { per_tree, first, .. } => first + item % per_tree,
        }
    }

    /// What follows the number.
    pub fn item_suffix(&self, renamed: bool) -> &'static str {
        match (&self.tree, renamed) {
            (_, false) => "",
            (TreeStyle::Own, true) => RENAMED,
            (TreeStyle::Mdtest { .. }, true) => MDTEST_RENAMED,
        }
    }
}

/// Whether a run whose items start with `item` creates entries of this name in its own directory.
pub fn is_own(item: &str, name: &str) -> bool {
    let name = name.strip_suffix(RENAMED).unwrap_or(name);
    name == PROBE
        || name == MARKER
        || numbered(name, DATA, 1)
        || numbered(name, OWN, 1)
        || numbered(name, TREE, 1)
        || numbered(name, DIRECTORY, 1)
        || numbered(name, item, 2)
}

/// Whether entries of this name are made below one of mdtest's directories.
pub fn is_mdtests(name: &str) -> bool {
    let name = name.strip_suffix(MDTEST_RENAMED).unwrap_or(name);
    let item = name.strip_prefix("file.").or_else(|| name.strip_prefix("dir."));
    item.is_some_and(|item| numbered(item, MDTEST, 2) || numbered(item, "mdtest.shared", 1))
        || numbered(name, MDTEST_TREE, 1)
        || numbered(name, MDTEST_TREE, 2)
}

/// Whether `name` is `prefix` and so many numbers, with dots between.
fn numbered(name: &str, prefix: &str, numbers: usize) -> bool {
    let rest = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    rest.is_some_and(|rest| rest.split('.').count() == numbers && rest.split('.').all(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_we_give_are_ours() {
        for ours in [
            "data.00000003",
            "tree.0",
            "dir.17",
            "file.3.99",
            "file.3.99.renamed",
            "probe",
            "marker",
            "own.00000012",
        ] {
            assert!(is_own("file", ours), "{ours}");
        }
        for foreign in [
            "data",
            "data.x",
            "file.1",
            "file.1.2.3",
            "results.csv",
            "..",
            "dir.",
            ".forebay.json",
            "other.1.2",
            "mdtest_tree.0",
        ] {
            assert!(!is_own("file", foreign), "{foreign}");
        }
    }

    #[test]
    fn only_names_that_mdtest_gives_are_mdtests() {
        for mdtests in [
            "mdtest_tree.0",
            "mdtest_tree.3.0",
            "file.mdtest.0.17",
            "file.mdtest.shared.1",
            "dir.mdtest.2.0-XX",
        ] {
            assert!(is_mdtests(mdtests), "{mdtests}");
        }
        for foreign in ["mdtest_tree", "file.0.1", "file.mdtest.0", "dir.1", "data.00000000", "test-dir.0-0"]
        {
            assert!(!is_mdtests(foreign), "{foreign}");
        }
    }

    fn directory(names: &Names, owner: u32, turn: u64, directory: u64) -> String {
        let mut path = String::new();
        names.push_directory(&mut path, owner, turn, directory);
        path
    }

    fn item(names: &Names, rank: u32, number: u64, what: Item) -> String {
        let mut path = String::new();
        names.push_item(&mut path, rank, number, what, false);
        path
    }

    #[test]
    fn directories_are_in_heap_order() {
        let names = |branch| Names::fresh(&Tree { branch, ..Tree::default() });
        assert_eq!(directory(&names(3), 0, 2, 0), "tree.2");
        assert_eq!(directory(&names(3), 0, 2, 5), "tree.2/dir.1/dir.5");
        assert_eq!(directory(&names(1), 0, 2, 2), "tree.2/dir.1/dir.2");
        let own =
            Names::fresh(&Tree { per_rank: true, items: 6, directory_items: Some(2), ..Tree::default() });
        assert_eq!(directory(&own, 2, 1, 0), "tree.7");
    }

    #[test]
    fn trees_are_called_as_mdtest_calls_them() {
        let named = Named { tree: Some("test-dir".into()), ..Named::default() };
        let of = |tree: Tree| Names::named(&FileSet { tree, ..FileSet::default() }, &named, 1);
        let own = of(Tree { per_rank: true, branch: 2, depth: 2, items: 70, ..Tree::default() });
        assert_eq!(directory(&own, 3, 0, 5), "test-dir.1-0/mdtest_tree.3.0/mdtest_tree.3.2/mdtest_tree.3.5");
        assert_eq!(item(&own, 3, 69, Item::File), "file.mdtest.3.69");
        let shared = of(Tree { items: 10, shared_items: true, ..Tree::default() });
        assert_eq!(directory(&shared, 3, 0, 0), "test-dir.1-0/mdtest_tree.0");
        assert_eq!(item(&shared, 0, 4, Item::File), "file.mdtest.shared.4");
        // Leaves only: mdtest numbers items as if the other directories held some, too.
        let leaves = of(Tree { branch: 2, depth: 1, leaf_only: true, items: 10, ..Tree::default() });
        assert_eq!(item(&leaves, 0, 0, Item::Directory), "dir.mdtest.0.5");
        // A tree for every two items: each counts from 0.
        let rounds = of(Tree { items: 6, directory_items: Some(2), ..Tree::default() });
        assert_eq!(rounds.tops(), ["test-dir.1-0", "test-dir.1-1", "test-dir.1-2"]);
        assert_eq!(item(&rounds, 0, 5, Item::File), "file.mdtest.0.1");
    }

    #[test]
    fn data_files_are_called_as_ior_calls_them() {
        let named = Named { data: vec!["a".into(), "b".into()], ..Named::default() };
        let own = FileSet::default();
        let names = Names::named(&own, &named, 2);
        assert_eq!((names.data(&own, 0), names.data(&own, 3)), ("a.00000000".into(), "b.00000003".into()));
        let apart = FileSet { directory_per_rank: true, ..FileSet::default() };
        assert_eq!(names.data(&apart, 3), "3/b.00000003");
        let shared = FileSet { layout: Layout::Shared, ..FileSet::default() };
        assert_eq!(names.data(&shared, 0), "a");
        let exact = Names::named(&own, &Named { exact: true, ..named.clone() }, 0);
        assert_eq!((exact.data(&own, 0), exact.data(&own, 1)), ("a".into(), "b".into()));
        let each = Names::named(&shared, &Named { data_per_repetition: true, ..named }, 2);
        assert_eq!((each.data(&shared, 0), each.data(&own, 1)), ("a.2".into(), "b.00000001.2".into()));
    }
}
