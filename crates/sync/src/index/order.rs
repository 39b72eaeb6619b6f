//! The order of directories: a directory before what is in it, and all that is in it before its next sibling.

use std::cmp::Ordering;

/// Compares two relative paths so that every tree is one piece: `a`, `a/b`, `a!`.
pub fn tree_order(a: &[u8], b: &[u8]) -> Ordering {
    let lowest = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    a.iter().map(lowest).cmp(b.iter().map(lowest))
}

/// A key whose bytes sort as [`tree_order`] does, and that ends where no other goes on.
pub fn tree_key(dir: &[u8]) -> Vec<u8> {
    let mut key: Vec<u8> = dir.iter().map(|byte| if *byte == b'/' { 0 } else { *byte }).collect();
    // Two zeros: no name is empty.
    key.extend_from_slice(&[0, 0]);
    key
}

/// Whether `path` is `tree` or below it.
pub fn is_within(path: &[u8], tree: &[u8]) -> bool {
    tree.is_empty() || path.strip_prefix(tree).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_one_piece() {
        let mut paths = [&b"a!"[..], b"b", b"a/b", b"", b"a", b"a/b/c", b"a/a"];
        paths.sort_by(|a, b| tree_order(a, b));
        assert_eq!(paths, [&b""[..], b"a", b"a/a", b"a/b", b"a/b/c", b"a!", b"b"]);
        let mut by_key = paths;
        by_key.sort_by_key(|path| tree_key(path));
        assert_eq!(paths, by_key);
        assert!(is_within(b"a/b", b"a") && is_within(b"a", b"") && !is_within(b"a!", b"a"));
    }
}
