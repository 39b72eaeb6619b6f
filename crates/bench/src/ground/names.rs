use std::fmt::Write as _;

/// Run directories start with this.
pub const PREFIX: &str = "forebay-run-";

/// The names that a run gives to what it creates. Nothing else in a run directory is ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    item: String,
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

impl Names {
    /// The names of a run whose items start with `item`.
    pub fn new(item: &str) -> Self {
        Self { item: item.to_owned() }
    }

    /// Data file number `file`.
    pub fn data(file: u32) -> String {
        format!("{DATA}.{file:08}")
    }

    /// Directory for the data files of rank `owner` alone.
    pub fn own(owner: u32) -> String {
        format!("{OWN}.{owner:08}")
    }

    /// Writes the path of directory number `directory` of tree `tree` (heap order: the parent of k is (k - 1) / branch)
    /// behind what `path` holds.
    pub fn push_directory(path: &mut String, tree: u32, directory: u64, branch: u32) {
        // Writing to a String cannot fail.
        let _ = write!(path, "{TREE}.{tree}");
        let mut chain = [0u64; 64];
        let mut length = 0;
        let mut node = directory;
        while node > 0 && length < chain.len() {
            chain[length] = node;
            length += 1;
            node = (node - 1) / u64::from(branch.max(1));
        }
        for node in chain[..length].iter().rev() {
            let _ = write!(path, "/{DIRECTORY}.{node}");
        }
    }

    /// Writes the name of item `item` of rank `rank` behind what `path` holds.
    pub fn push_item(&self, path: &mut String, rank: u32, item: u64, renamed: bool) {
        let _ = write!(path, "{}.{rank}.{item}", self.item);
        if renamed {
            path.push_str(RENAMED);
        }
    }

    /// Whether a run creates entries of this name.
    pub fn is_ours(&self, name: &str) -> bool {
        let name = name.strip_suffix(RENAMED).unwrap_or(name);
        let numbered = |prefix: &str, numbers: usize| {
            let rest = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
            let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            rest.is_some_and(|rest| rest.split('.').count() == numbers && rest.split('.').all(digits))
        };
        name == PROBE
            || name == MARKER
            || numbered(DATA, 1)
            || numbered(OWN, 1)
            || numbered(TREE, 1)
            || numbered(DIRECTORY, 1)
            || numbered(&self.item, 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_we_give_are_ours() {
        let names = Names::new("file");
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
            assert!(names.is_ours(ours), "{ours}");
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
        ] {
            assert!(!names.is_ours(foreign), "{foreign}");
        }
    }

    #[test]
    fn directories_are_in_heap_order() {
        let path = |directory, branch| {
            let mut path = String::new();
            Names::push_directory(&mut path, 2, directory, branch);
            path
        };
        assert_eq!(path(0, 3), "tree.2");
        assert_eq!(path(5, 3), "tree.2/dir.1/dir.5");
        assert_eq!(path(2, 1), "tree.2/dir.1/dir.2");
    }
}
