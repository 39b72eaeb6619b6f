//! A range of the names in a directory, and how the parts of a job lie to each other.

use std::collections::{BTreeSet, HashSet};

use store::split_last;

use crate::index::is_within;

/// Some names of a directory, side by side in their order, with all below them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The directory.
    pub dir: Vec<u8>,
    /// The first name that may be in it; empty where it begins with the first of all.
    from: Vec<u8>,
    /// The first name that is not; empty where it ends with the last of all.
    to: Vec<u8>,
}

impl Span {
    /// The ranges between these names of `dir`, which come in their order; together they have every name.
    pub fn between(dir: &[u8], bounds: &[Vec<u8>]) -> Vec<Self> {
        let ends = |index: usize| bounds.get(index).cloned().unwrap_or_default();
        let from = |index: usize| index.checked_sub(1).map_or_else(Vec::new, ends);
        (0..=bounds.len())
            .map(|index| Self { dir: dir.to_vec(), from: from(index), to: ends(index) })
            .collect()
    }

    /// What stands for it in the queue, where a directory has its path: neither paths nor names have zeros.
    pub fn key(&self) -> Vec<u8> {
        [&self.dir[..], &self.from, &self.to].join(&0)
    }

    /// What the key stands for, if that is a range.
    pub fn of_key(key: &[u8]) -> Option<Self> {
        let mut fields = key.split(|byte| *byte == 0).map(<[u8]>::to_vec);
        Some(Self { dir: fields.next()?, from: fields.next()?, to: fields.next()? })
    }

    /// Where it begins, if not with the first name of all.
    pub fn bound(&self) -> Option<&[u8]> {
        (!self.from.is_empty()).then_some(&self.from)
    }

    /// Whether an entry of this name is in it.
    pub fn has(&self, name: &[u8]) -> bool {
        name >= &self.from[..] && (self.to.is_empty() || name < &self.to[..])
    }

    /// Whether the entry at `path` is in it, or below what is.
    pub fn covers(&self, path: &[u8]) -> bool {
        let below = match path.strip_prefix(&self.dir[..]) {
            Some(path) if self.dir.is_empty() => path,
            Some([b'/', path @ ..]) => path,
            _ => return false,
        };
        let name = below.split(|byte| *byte == b'/').next().unwrap_or_default();
        !name.is_empty() && self.has(name)
    }
}

/// What a key of the queue stands for, for a person.
pub fn shown(key: &[u8]) -> String {
    let Some(Span { dir, from, to }) = Span::of_key(key) else { return store::printable(key) };
    let dir = if dir.is_empty() { ".".to_owned() } else { store::printable(&dir) };
    let word = |word: &str, name: &[u8]| match name {
        [] => String::new(),
        name => format!(" {word} {}", store::printable(name)),
    };
    format!("{dir}, names{}{}", word("from", &from), word("before", &to))
        .replace(", names, ", ", ")
        .trim_end_matches(", names")
        .to_owned()
}

/// How the parts of a job lie to each other.
#[derive(Debug, Default)]
pub struct Layout {
    /// Directories that are parts, with all below them but other parts.
    trees: HashSet<Vec<u8>>,
    /// Directories of which ranges are parts.
    divided: BTreeSet<Vec<u8>>,
    /// Directories above both.
    above: BTreeSet<Vec<u8>>,
}

impl Layout {
    /// Of the parts with these keys.
    pub fn of<'k>(keys: impl Iterator<Item = &'k [u8]>) -> Self {
        let mut layout = Self::default();
        for key in keys {
            let path = if let Some(span) = Span::of_key(key) {
                layout.divided.insert(span.dir.clone());
                span.dir
            } else {
                layout.trees.insert(key.to_vec());
                key.to_vec()
            };
            let mut above = &path[..];
            while !above.is_empty() {
                above = split_last(above).0;
                layout.above.insert(above.to_vec());
            }
        }
        layout
    }

    /// Whether the directory is a part.
    pub fn is_tree(&self, path: &[u8]) -> bool {
        self.trees.contains(path)
    }

    /// Whether ranges of the directory are parts.
    pub fn is_divided(&self, path: &[u8]) -> bool {
        self.divided.contains(path)
    }

    /// Whether the directory is a part, has one in it, or consists of them.
    pub fn is_named(&self, path: &[u8]) -> bool {
        self.is_tree(path) || self.is_divided(path) || self.above.contains(path)
    }

    /// Directories in `dir` that belong to no range of it, and are no parts themselves.
    pub fn others_in<'a>(&'a self, dir: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let all: BTreeSet<&[u8]> = self.above.union(&self.divided).map(Vec::as_slice).collect();
        all.into_iter().filter(move |path| !path.is_empty() && split_last(path).0 == dir)
    }
}

/// Keys of ranges that may know what was, or is now, another part, when parts with the keys in `changed` came or went.
pub fn outdated(kept: &BTreeSet<Vec<u8>>, changed: &[&Vec<u8>]) -> Vec<Vec<u8>> {
    let place = |key: &[u8]| Span::of_key(key).map_or_else(|| key.to_vec(), |span| span.dir);
    let places: BTreeSet<Vec<u8>> = changed.iter().map(|key| place(key)).collect();
    let has_one = |span: Span| places.iter().any(|path| *path != span.dir && is_within(path, &span.dir));
    kept.iter().filter(|key| Span::of_key(key).is_some_and(has_one)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_in_one_range() {
        let bounds = [b"b".to_vec(), b"m".to_vec()];
        for dir in [&b""[..], b"a/d"] {
            let spans = Span::between(dir, &bounds);
            for name in [&b"!"[..], b"a", b"b", b"b0", b"l\xff", b"m", b"z", b"\xff"] {
                assert_eq!(spans.iter().filter(|span| span.has(name)).count(), 1);
                let path = [&store::below(dir, name)[..], b"/x"].concat();
                assert_eq!(spans.iter().filter(|span| span.covers(&path)).count(), 1);
            }
            assert!(spans.iter().all(|span| Span::of_key(&span.key()).as_ref() == Some(span)));
            assert!(!spans.iter().any(|span| span.covers(dir) || span.covers(b"a/dx") && !dir.is_empty()));
        }
        assert_eq!(Span::of_key(b"a/plain/path"), None);
        assert_eq!(Span::between(b"d", &[]).len(), 1);
    }

    #[test]
    fn a_range_is_told_in_words() {
        let spans = Span::between(b"d", &[b"k".to_vec()]);
        assert_eq!(shown(&spans[0].key()), "d, names before k");
        assert_eq!(shown(&spans[1].key()), "d, names from k");
        assert_eq!(shown(&Span::between(b"", &[])[0].key()), ".");
        assert_eq!(shown(b"a/b"), "a/b");
    }

    #[test]
    fn what_lies_above_and_between_is_known() {
        let keys =
            [b"a/t".to_vec(), Span::between(b"a", &[])[0].key(), Span::between(b"a/b/c", &[])[0].key()];
        let layout = Layout::of(keys.iter().map(Vec::as_slice));
        assert!(layout.is_tree(b"a/t") && layout.is_divided(b"a") && !layout.is_divided(b"a/b"));
        assert!([&b""[..], b"a", b"a/b", b"a/b/c", b"a/t"].iter().all(|path| layout.is_named(path)));
        assert!(!layout.is_named(b"a/x"));
        assert_eq!(layout.others_in(b"a").collect::<Vec<_>>(), [b"a/b"]);
        assert_eq!(layout.others_in(b"").collect::<Vec<_>>(), [b"a"]);
    }

    #[test]
    fn ranges_above_a_part_that_came_or_went_are_outdated() {
        let key = |dir: &[u8], bound: &[u8]| Span::between(dir, &[bound.to_vec()])[0].key();
        let kept = BTreeSet::from([key(b"a", b"k"), key(b"b", b"k"), b"t".to_vec()]);
        assert_eq!(outdated(&kept, &[&b"a/x/y".to_vec()]), [key(b"a", b"k")]);
        // Another range of the same directory has other names.
        assert!(outdated(&kept, &[&key(b"a", b"m"), &b"c".to_vec()]).is_empty());
    }
}
