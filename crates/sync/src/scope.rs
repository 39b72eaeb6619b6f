//! What a sync looks at: everything, or what changed.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use store::{below, split_last};

/// Names of one directory that are told apart; with more, all of the directory is looked at.
const MOST_NAMES: usize = 10_000;
/// Directories that are told apart; with more, everything is looked at.
const MOST_DIRS: usize = 200_000;
/// Names in all directories; with more, everything is looked at.
const MOST: usize = 1_000_000;

/// What a sync looks at.
#[derive(Debug)]
pub enum Scope {
    /// The whole tree.
    All,
    /// What changed, and nothing else.
    Some(Changes),
}

/// Which entries may have changed. It never holds more than a fixed number of names: beyond that it says "all of this
/// directory", and in the end "everything", which is always true.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Changes {
    dirs: BTreeMap<Vec<u8>, Inside>,
    /// Files of which a name is gone: they may have changed by it.
    inodes: BTreeSet<u64>,
    names: usize,
    everything: bool,
}

/// What changed in one directory.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Inside {
    /// All entries must be looked at, but not what is in its directories.
    pub whole: bool,
    /// These must be; `true` where a directory must be looked at with all below it.
    pub names: BTreeMap<Box<[u8]>, bool>,
}

impl Changes {
    /// Nothing is known any more: all must be looked at.
    pub fn everything(&mut self) {
        *self = Self::all();
    }

    /// Everything.
    pub fn all() -> Self {
        Self { everything: true, ..Self::default() }
    }

    /// Whether all must be looked at.
    pub fn is_everything(&self) -> bool {
        self.everything
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        !self.everything && self.dirs.is_empty() && self.inodes.is_empty()
    }

    /// How many names and directories it tells apart.
    pub fn len(&self) -> usize {
        self.names + self.dirs.len() + self.inodes.len()
    }

    fn inside(&mut self, dir: &[u8]) -> Option<&mut Inside> {
        if !self.everything && (self.dirs.len() >= MOST_DIRS || self.names >= MOST) {
            self.everything();
        }
        if self.everything {
            return None;
        }
        Some(self.dirs.entry(dir.to_vec()).or_default())
    }

    /// The directory itself may have changed: its mode, its times.
    pub fn directory(&mut self, dir: &[u8]) {
        self.inside(dir);
    }

    /// Anything in this directory may have changed, but not in the directories in it.
    pub fn whole(&mut self, dir: &[u8]) {
        let Some(inside) = self.inside(dir) else { return };
        inside.whole = true;
        let before = inside.names.len();
        inside.names.retain(|_, deep| *deep);
        let left = before - inside.names.len();
        self.names -= left;
    }

    /// The entry `name` of `dir` may have changed, come or gone. `deep` where it may be a directory of which nothing is
    /// known.
    pub fn name(&mut self, dir: &[u8], name: &[u8], deep: bool) {
        let Some(inside) = self.inside(dir) else { return };
        if inside.whole && !deep {
            return;
        }
        match inside.names.entry(name.into()) {
            Entry::Occupied(mut there) => *there.get_mut() |= deep,
            Entry::Vacant(place) => {
                place.insert(deep);
                self.names += 1;
            }
        }
        if self.dirs.get(dir).is_some_and(|inside| inside.names.len() > MOST_NAMES && !inside.whole) {
            self.whole(dir);
        }
    }

    /// Everything below `tree` may have changed.
    pub fn tree(&mut self, tree: &[u8]) {
        if tree.is_empty() {
            return self.everything();
        }
        let (dir, name) = split_last(tree);
        self.name(dir, name, true);
    }

    /// All names of the file with this inode number may have changed.
    pub fn inode(&mut self, inode: u64) {
        if self.inodes.len() >= MOST {
            self.everything();
        }
        if !self.everything {
            self.inodes.insert(inode);
        }
    }

    /// Files of which all names may have changed.
    pub fn inodes(&self) -> impl Iterator<Item = u64> {
        self.inodes.iter().copied()
    }

    /// Its names, one after the other; a directory of which anything may have changed ends with a slash, and a slash alone
    /// is everything.
    pub fn paths(&self) -> Vec<Vec<u8>> {
        if self.everything {
            return vec![b"/".to_vec()];
        }
        let of = |(dir, inside): (&Vec<u8>, &Inside)| {
            let whole = inside.whole.then(|| [dir, &b"/"[..]].concat());
            let names = inside.names.keys().map(|name| below(dir, name));
            whole.into_iter().chain(names).collect::<Vec<_>>()
        };
        self.dirs.iter().flat_map(of).collect()
    }

    /// Takes in one of such names.
    pub fn path(&mut self, path: &[u8]) {
        match path.strip_suffix(b"/") {
            Some(b"") => self.everything(),
            Some(dir) => self.whole(dir),
            None => {
                let (dir, name) = split_last(path);
                self.name(dir, name, false);
            }
        }
    }

    /// Takes in what `other` has.
    pub fn merge(&mut self, other: Self) {
        if other.everything {
            return self.everything();
        }
        if self.is_empty() {
            *self = other;
            return;
        }
        other.inodes.iter().for_each(|inode| self.inode(*inode));
        for (dir, inside) in other.dirs {
            if inside.whole {
                self.whole(&dir);
            } else {
                self.directory(&dir);
            }
            inside.names.iter().for_each(|(name, deep)| self.name(&dir, name, *deep));
        }
    }

    /// Whether the entry at `path` is looked at.
    pub fn covers(&self, path: &[u8]) -> bool {
        let (mut dir, mut name) = split_last(path);
        let itself = |inside: &Inside| inside.whole || inside.names.contains_key(name);
        if self.everything || self.dirs.contains_key(path) || self.dirs.get(dir).is_some_and(itself) {
            return true;
        }
        while !dir.is_empty() {
            (dir, name) = split_last(dir);
            if self.dirs.get(dir).is_some_and(|inside| inside.names.get(name).copied().unwrap_or(false)) {
                return true;
            }
        }
        false
    }

    /// Looks at everything below a directory where one of these names changed in it.
    pub fn widen(&mut self, is_rule: impl Fn(&[u8]) -> bool) {
        let ruled = |(_, inside): &(&Vec<u8>, &Inside)| inside.names.keys().any(|name| is_rule(name));
        let trees: Vec<_> = self.dirs.iter().filter(ruled).map(|(dir, _)| dir.clone()).collect();
        trees.iter().for_each(|tree| self.tree(tree));
    }

    /// The directories, without those that are below a tree that is looked at anyway.
    pub fn into_dirs(mut self) -> BTreeMap<Vec<u8>, Inside> {
        let trees: Vec<Vec<u8>> = self
            .dirs
            .iter()
            .flat_map(|(dir, inside)| {
                inside.names.iter().filter(|(_, deep)| **deep).map(|(name, _)| below(dir, name))
            })
            .collect();
        for tree in trees {
            self.dirs.remove(&tree);
            let mut start = tree;
            start.push(b'/');
            // The byte after the slash ends all that is below.
            let mut end = start.clone();
            end.pop();
            end.push(b'/' + 1);
            let range = (Bound::Included(start), Bound::Excluded(end));
            let below: Vec<_> = self.dirs.range(range).map(|(dir, _)| dir.clone()).collect();
            below.iter().for_each(|dir| drop(self.dirs.remove(dir)));
        }
        self.dirs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_takes_all_below_it() {
        let mut changes = Changes::default();
        changes.name(b"a/b", b"f", false);
        changes.name(b"a/b/c", b"g", false);
        changes.name(b"a/b!", b"h", false);
        changes.tree(b"a/b");
        assert!(changes.covers(b"a/b/c/anything") && changes.covers(b"a/b!/h"));
        assert!(!changes.covers(b"a/b!/i") && !changes.covers(b"x"));
        let dirs = changes.into_dirs();
        let names: Vec<_> = dirs.keys().map(Vec::as_slice).collect();
        assert_eq!(names, [&b"a"[..], b"a/b!"]);
    }

    #[test]
    fn too_many_names_are_a_directory_and_too_many_directories_are_everything() {
        let mut changes = Changes::default();
        (0..=MOST_NAMES).for_each(|number| changes.name(b"d", number.to_string().as_bytes(), false));
        assert!(changes.len() < 3 && changes.covers(b"d/none") && !changes.covers(b"d/none/below"));
        (0..=MOST_DIRS).for_each(|number| changes.directory(number.to_string().as_bytes()));
        assert!(changes.is_everything() && changes.covers(b"anything"));
    }

    #[test]
    fn merging_forgets_nothing() {
        let (mut a, mut b) = (Changes::default(), Changes::default());
        a.name(b"d", b"f", false);
        a.name(b"e", b"x", false);
        b.whole(b"d");
        b.name(b"e", b"x", true);
        b.directory(b"g");
        a.merge(b);
        assert!(a.covers(b"d/any") && a.covers(b"e/x/deep") && a.covers(b"g"));
        let mut all = Changes::default();
        all.everything();
        a.merge(all);
        assert!(a.is_everything());
    }

    proptest::proptest! {
        #[test]
        fn whatever_was_said_is_covered(said: Vec<(u8, u8, bool)>) {
            let dirs = [&b""[..], b"a", b"a/b", b"a/b/c", b"a!", b"d"];
            let mut changes = Changes::default();
            let mut paths = Vec::new();
            for (dir, name, deep) in said {
                let (dir, name) = (dirs[usize::from(dir) % dirs.len()], [b'a' + name % 4]);
                changes.name(dir, &name, deep);
                paths.push(below(dir, &name));
            }
            paths.iter().for_each(|path| assert!(changes.covers(path)));
            let rest = Changes { dirs: changes.into_dirs(), ..Changes::default() };
            paths.iter().for_each(|path| assert!(rest.covers(path)));
        }
    }
}
