//! Where a directory with many names is cut into ranges.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fault::Fault;
use store::{Lister, Root};

use crate::names::{Names, Unlisted};
use crate::span::Span;

/// Names of a range, at least. Each range costs a listing of its directory, which is little beside so many entries.
const EACH: u64 = 8 << 10;
/// The same where they are of directories, which have more to them.
const EACH_DIR: u64 = 512;
/// Ranges of one directory, at most: all of them list it.
const MOST: u64 = 16;
/// A directory with more names is cut.
pub const FLAT: u64 = 2 * EACH;
/// A directory that is divided into those in it has all other names in ranges, where they are more than this.
pub const MOST_LOOSE: u64 = EACH / 8;

/// Cuts directories where they were cut before, as far as that still makes sense: what is known of a range is lost with it.
pub struct Cuts<'a> {
    /// Where ranges of directories began the last time, but for their first ones.
    before: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>,
    scratch: &'a Path,
}

impl<'a> Cuts<'a> {
    /// After parts with the keys in `before`; `scratch` is a directory for sorting.
    pub fn new(before: &BTreeSet<Vec<u8>>, scratch: &'a Path) -> Self {
        let mut dirs: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for span in before.iter().filter_map(|key| Span::of_key(key)) {
            let bound = span.bound().map(<[u8]>::to_vec);
            dirs.entry(span.dir).or_default().extend(bound);
        }
        Self { before: dirs, scratch }
    }

    /// Names beyond which `dir` is cut: half of `least` if it was, so that it does not come and go.
    pub fn least(&self, dir: &[u8], least: u64) -> u64 {
        if self.before.contains_key(dir) { least / 2 } else { least }
    }

    /// Keys of the ranges of `dir`, in which so many names are `parts` of their own; are there `many` directories?
    pub fn of(&self, root: &Root, dir: &[u8], parts: u64, many: bool) -> fault::Result<Vec<Vec<u8>>> {
        let unlisted = |error| Fault::os("list", &root.show(dir), error);
        let count = Cell::new(0_u64);
        let counts = |_: &[u8]| {
            count.set(count.get() + 1);
            true
        };
        let mut names = Names::default();
        let source = root.open_dir(dir).map_err(unlisted)?;
        let listed = names.list(source, &mut Lister::default(), self.scratch, counts);
        listed.map_err(|error| match error {
            Unlisted::Os(error) => unlisted(error),
            Unlisted::Scratch(fault) => fault,
        })?;
        let count = count.get().saturating_sub(parts);
        let ranges = (count / if many { EACH_DIR } else { EACH }).clamp(1, MOST);
        let old = self.before.get(dir).filter(|old| (old.len() as u64) < 2 * ranges);
        let bounds = bounds(&mut names, count.div_ceil(ranges).max(1), old)?;
        Ok(Span::between(dir, &bounds).iter().map(Span::key).collect())
    }
}

/// Where to cut: so that ranges have `each` names; where they were cut before, only what has grown to twice that is cut anew.
fn bounds(names: &mut Names, each: u64, old: Option<&BTreeSet<Vec<u8>>>) -> fault::Result<Vec<Vec<u8>>> {
    let each = if old.is_some() { 2 * each } else { each };
    let mut old = old.into_iter().flatten().peekable();
    let (mut found, mut count) = (Vec::new(), 0);
    while let Some(name) = names.peek() {
        while let Some(bound) = old.next_if(|bound| &bound[..] <= name) {
            found.push(bound.clone());
            count = 0;
        }
        if count == each {
            found.push(name.to_vec());
            count = 0;
        }
        count += 1;
        names.advance()?;
    }
    found.extend(old.cloned());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path, range: std::ops::Range<u32>) -> Names {
        std::fs::create_dir_all(dir).unwrap();
        range.for_each(|number| std::fs::write(dir.join(format!("{number:05}")), "").unwrap());
        let mut names = Names::default();
        let opened = std::fs::File::open(dir).unwrap();
        names.list(opened, &mut Lister::default(), dir, |_| true).unwrap();
        names
    }

    #[test]
    fn a_directory_is_cut_where_it_was_until_a_range_has_grown_to_twice_its_size() {
        let dir = tempfile::tempdir().unwrap();
        let first = bounds(&mut names(dir.path(), 0..100), 25, None).unwrap();
        assert_eq!(first, [b"00025".to_vec(), b"00050".to_vec(), b"00075".to_vec()]);
        let old: BTreeSet<Vec<u8>> = first.iter().cloned().collect();
        let second = bounds(&mut names(dir.path(), 100..120), 30, Some(&old)).unwrap();
        assert_eq!(second, first);
        let third = bounds(&mut names(dir.path(), 120..150), 30, Some(&old)).unwrap();
        assert_eq!(third, [&first[..], &[b"00135".to_vec()]].concat());
    }

    #[test]
    fn what_was_cut_stays_so_for_longer() {
        let before = BTreeSet::from([Span::between(b"d", &[b"k".to_vec()])[1].key(), b"e".to_vec()]);
        let cuts = Cuts::new(&before, Path::new("."));
        assert_eq!((cuts.least(b"d", FLAT), cuts.least(b"e", FLAT)), (FLAT / 2, FLAT));
    }
}
