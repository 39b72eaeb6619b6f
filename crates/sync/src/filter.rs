//! Which entries a sync looks at. What is filtered out is neither copied nor deleted.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fault::{Fault, Kind};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use store::{Meta, Stamp};

use crate::index::wire::{put, put_bytes, put_signed, take, take_list, take_signed, take_u32};

/// More than any list of patterns in a directory should have, bytes.
const MOST: usize = 1 << 20;

/// Rules that an entry must pass.
#[derive(Debug, Default)]
pub struct Filter {
    patterns: Option<Gitignore>,
    /// The lines that the patterns are made of: what is excluded, and what is not.
    lines: (Vec<String>, Vec<String>),
    /// Names of files in the source's directories that have patterns.
    pattern_files: Vec<Vec<u8>>,
    only: Option<Only>,
    /// Sizes of files, bytes: at least, at most.
    pub size: (Option<u64>, Option<u64>),
    /// Times of last change of files: not before, not after.
    pub mtime: (Option<Stamp>, Option<Stamp>),
    /// Owners of files; none means all.
    pub owners: Vec<u32>,
}

/// Paths that were named one by one.
#[derive(Debug, Default)]
struct Only {
    named: HashSet<Vec<u8>>,
    above: HashSet<Vec<u8>>,
}

impl Filter {
    /// Patterns as in `.gitignore`; what `include` matches is not excluded.
    pub fn set_patterns(&mut self, exclude: &[String], include: &[String]) -> fault::Result<()> {
        if exclude.is_empty() && include.is_empty() {
            return Ok(());
        }
        let mut builder = GitignoreBuilder::new("");
        for line in exclude.iter().cloned().chain(include.iter().map(|line| format!("!{line}"))) {
            builder.add_line(None, &line).map_err(|error| {
                Fault::new(Kind::Usage, format!("`{line}` is no pattern: {error}"))
                    .hint("patterns are those of .gitignore: `*.tmp`, `/top/only`, `dir/`, `**/cache`")
            })?;
        }
        let built = builder.build();
        self.lines = (exclude.to_vec(), include.to_vec());
        self.patterns =
            Some(built.map_err(|error| Fault::new(Kind::Usage, format!("wrong pattern: {error}")))?);
        Ok(())
    }

    /// Appends all rules as bytes, for a process on another host.
    pub fn put(&self, out: &mut Vec<u8>) {
        let mut list = |items: Vec<&[u8]>| {
            put(out, items.len() as u64);
            items.into_iter().for_each(|item| put_bytes(out, item));
        };
        list(self.lines.0.iter().map(String::as_bytes).collect());
        list(self.lines.1.iter().map(String::as_bytes).collect());
        list(self.pattern_files.iter().map(Vec::as_slice).collect());
        list(self.only.iter().flat_map(|only| only.named.iter().map(Vec::as_slice)).collect());
        put(out, u64::from(self.only.is_some()));
        for bound in [self.size.0, self.size.1] {
            put(out, u64::from(bound.is_some()));
            put(out, bound.unwrap_or(0));
        }
        for bound in [self.mtime.0, self.mtime.1] {
            put(out, u64::from(bound.is_some()));
            put_signed(out, bound.unwrap_or_default().seconds);
            put(out, bound.unwrap_or_default().nanos.into());
        }
        self.owners.iter().for_each(|owner| put(out, (*owner).into()));
    }

    /// Rules from all of these bytes.
    pub fn take(mut from: &[u8]) -> fault::Result<Self> {
        let from = &mut from;
        let mut filter = Self::default();
        let text = |bytes: Vec<Vec<u8>>| -> Vec<String> {
            bytes.into_iter().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
        };
        let (exclude, include) = (text(take_list(from)?), text(take_list(from)?));
        filter.set_patterns(&exclude, &include)?;
        filter.pattern_files = take_list(from)?;
        let only = take_list(from)?;
        if take(from)? == 1 {
            filter.set_only(only.iter().map(Vec::as_slice))?;
        }
        let mut size = || -> fault::Result<Option<u64>> {
            Ok(Some((take(from)?, take(from)?)).and_then(|(is, size)| (is == 1).then_some(size)))
        };
        filter.size = (size()?, size()?);
        let mut stamp = || -> fault::Result<Option<Stamp>> {
            let (is, seconds, nanos) = (take(from)? == 1, take_signed(from)?, take_u32(from)?);
            Ok(is.then_some(Stamp { seconds, nanos }))
        };
        filter.mtime = (stamp()?, stamp()?);
        while !from.is_empty() {
            filter.owners.push(take_u32(from)?);
        }
        Ok(filter)
    }

    /// Files of this name in any directory of the source have patterns for what is below.
    pub fn add_pattern_file(&mut self, name: &[u8]) {
        self.pattern_files.push(name.to_vec());
    }

    /// Whether a file of this name has patterns.
    pub fn has_rules_in(&self, name: &[u8]) -> bool {
        self.pattern_files.iter().any(|file| file == name)
    }

    /// Only these paths, relative to the source, with all that is below them.
    pub fn set_only<'a>(&mut self, paths: impl Iterator<Item = &'a [u8]>) -> fault::Result<()> {
        let mut only = Only::default();
        for path in paths {
            let names: Vec<&[u8]> =
                path.split(|byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b".")).collect();
            if path.starts_with(b"/") || names.contains(&&b".."[..]) {
                let text = format!("`{}` does not lie below the source", store::printable(path));
                return Err(
                    Fault::new(Kind::Usage, text).hint("paths in the list are relative to the source")
                );
            }
            for end in 0..names.len() {
                only.above.insert(names[..end].join(&b'/'));
            }
            only.named.insert(names.join(&b'/'));
        }
        self.only = Some(only);
        Ok(())
    }

    /// Only the paths in this list, one a line or NUL-separated; `shown` is where it came from.
    pub fn set_list(&mut self, list: &[u8], shown: &Path) -> fault::Result<()> {
        if list.is_empty() {
            let text = format!("`{}` names no path", shown.display());
            return Err(Fault::new(Kind::Usage, text).hint("write one path a line, relative to the source"));
        }
        let separator = if list.contains(&0) { 0 } else { b'\n' };
        self.set_only(list.split(|byte| *byte == separator).filter(|path| !path.is_empty()))
    }

    /// Only files that changed within the first time, and not within the second, before now.
    pub fn set_ages(&mut self, newer_than: Option<Duration>, older_than: Option<Duration>) {
        self.mtime = (newer_than.map(ago), older_than.map(ago));
    }

    /// Whether only named paths are looked at.
    pub fn names_paths(&self) -> bool {
        self.only.is_some()
    }

    /// Whether every entry takes part, so that nothing need be asked.
    pub fn is_open(&self, chain: &Chain) -> bool {
        self.patterns.is_none()
            && chain.inner.is_none()
            && self.only.is_none()
            && self.size == (None, None)
            && self.mtime == (None, None)
            && self.owners.is_empty()
    }

    /// Whether the entry at `path` takes part.
    pub fn allows(&self, chain: &Chain, path: &[u8], meta: &Meta) -> bool {
        let is_dir = meta.kind == store::Kind::Directory;
        self.allows_name(chain, path, is_dir) && (meta.kind != store::Kind::File || self.allows_file(meta))
    }

    /// Whether the name takes part, whatever is behind it: what decides about deletes.
    pub fn allows_name(&self, chain: &Chain, path: &[u8], is_dir: bool) -> bool {
        if self.only.as_ref().is_some_and(|only| !only.allows(path)) {
            return false;
        }
        if self.patterns.is_none() && chain.inner.is_none() {
            return true;
        }
        let as_path = Path::new(OsStr::from_bytes(path));
        let by_command = self.patterns.as_ref().map_or(Match::None, |rules| rules.matched(as_path, is_dir));
        match by_command.map(|_| ()) {
            Match::Ignore(()) => false,
            Match::Whitelist(()) => true,
            Match::None => !chain.excludes(as_path, is_dir),
        }
    }

    fn allows_file(&self, meta: &Meta) -> bool {
        self.size.0.is_none_or(|least| meta.size >= least)
            && self.size.1.is_none_or(|most| meta.size <= most)
            && self.mtime.0.is_none_or(|from| meta.mtime >= from)
            && self.mtime.1.is_none_or(|to| meta.mtime <= to)
            && (self.owners.is_empty() || self.owners.contains(&meta.uid))
    }

    /// The rules that hold in the directory `dir`: those of `chain`, and those in its own pattern files.
    pub fn enter(&self, chain: &Chain, dir: std::os::fd::BorrowedFd<'_>, path: &[u8]) -> Chain {
        self.pattern_files.iter().fold(chain.clone(), |chain, name| match read_rules(dir, name, path) {
            Some(rules) => Chain { inner: Some(Arc::new(Link { rules, outer: chain })) },
            None => chain,
        })
    }
}

fn ago(age: Duration) -> Stamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let then = now.saturating_sub(age);
    Stamp { seconds: i64::try_from(then.as_secs()).unwrap_or(i64::MAX), nanos: then.subsec_nanos() }
}

impl Only {
    fn allows(&self, path: &[u8]) -> bool {
        if self.above.contains(path) || self.named.contains(path) {
            return true;
        }
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        ends.map(|end| &path[..end]).chain([&b""[..]]).any(|above| self.named.contains(above))
    }
}

fn read_rules(dir: std::os::fd::BorrowedFd<'_>, name: &[u8], path: &[u8]) -> Option<Gitignore> {
    let file = store::open_reading(dir, name).ok()?;
    let mut bytes = vec![0; MOST];
    let length = store::read_full(&file, &mut bytes, 0).ok()?;
    let mut builder = GitignoreBuilder::new(OsStr::from_bytes(path));
    for line in bytes[..length].split(|byte| *byte == b'\n') {
        // As git: a line that is no pattern excludes nothing.
        let _ = builder.add_line(None, &String::from_utf8_lossy(line));
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

/// The pattern files from the root down to a directory.
#[derive(Debug, Clone, Default)]
pub struct Chain {
    inner: Option<Arc<Link>>,
}

#[derive(Debug)]
struct Link {
    rules: Gitignore,
    outer: Chain,
}

impl Chain {
    /// The innermost file that says something decides.
    fn excludes(&self, path: &Path, is_dir: bool) -> bool {
        let Some(link) = &self.inner else { return false };
        match link.rules.matched(path, is_dir).map(|_| ()) {
            Match::Ignore(()) => true,
            Match::Whitelist(()) => false,
            Match::None => link.outer.excludes(path, is_dir),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(exclude: &[&str], include: &[&str]) -> Filter {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let mut filter = Filter::default();
        filter.set_patterns(&owned(exclude), &owned(include)).unwrap();
        filter
    }

    fn passes(filter: &Filter, path: &str) -> bool {
        filter.allows_name(&Chain::default(), path.trim_end_matches('/').as_bytes(), path.ends_with('/'))
    }

    #[test]
    fn patterns_are_those_of_gitignore() {
        let filter = filter(&["*.tmp", "/top", "cache/", "**/deep/*.log"], &["keep.tmp"]);
        for path in ["a.tmp", "x/y.tmp", "top", "cache/", "a/cache/", "a/deep/b.log"] {
            assert!(!passes(&filter, path), "{path}");
        }
        for path in ["a.txt", "x/top", "cache", "keep.tmp", "a/keep.tmp", "deeper/b.log"] {
            assert!(passes(&filter, path), "{path}");
        }
    }

    #[test]
    fn named_paths_bring_what_is_above_and_below() {
        let mut filter = Filter::default();
        filter.set_only([&b"a/b"[..], b"./c//d/", b"e"].into_iter()).unwrap();
        for path in ["a", "a/b", "a/b/x/y", "c/d", "e/f"] {
            assert!(passes(&filter, path), "{path}");
        }
        for path in ["b", "a/c", "c/e", "a/bb"] {
            assert!(!passes(&filter, path), "{path}");
        }
        assert!(Filter::default().set_only([&b"../x"[..]].into_iter()).is_err());
        assert!(Filter::default().set_only([&b"/x"[..]].into_iter()).is_err());
    }

    #[test]
    fn the_innermost_file_decides() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("d")).unwrap();
        std::fs::write(place.path().join(".syncignore"), "*.o\n").unwrap();
        std::fs::write(place.path().join("d/.syncignore"), "!keep.o\n/here\n").unwrap();
        let mut filter = Filter::default();
        filter.add_pattern_file(b".syncignore");
        let root = store::Root::open(place.path()).unwrap();
        let top = filter.enter(&Chain::default(), root.fd(), b"");
        let dir = root.open_dir(b"d").unwrap();
        let inner = filter.enter(&top, std::os::fd::AsFd::as_fd(&dir), b"d");
        let passes = |chain: &Chain, path: &str| filter.allows_name(chain, path.as_bytes(), false);
        assert!(!passes(&top, "a.o") && !passes(&inner, "d/a.o") && passes(&inner, "d/keep.o"));
        assert!(!passes(&inner, "d/here") && passes(&inner, "d/x/here") && passes(&top, "here"));
    }

    #[test]
    fn rules_travel_and_stay_the_same() {
        let mut all = filter(&["*.tmp", "/top"], &["keep.tmp"]);
        all.add_pattern_file(b".syncignore");
        all.set_only([&b"a/b"[..], b"c"].into_iter()).unwrap();
        all.size = (Some(7), None);
        all.mtime = (None, Some(Stamp { seconds: -5, nanos: 9 }));
        all.owners = vec![0, 1000];
        for filter in [all, Filter::default()] {
            let mut bytes = Vec::new();
            filter.put(&mut bytes);
            let found = Filter::take(&bytes).unwrap();
            let mut again = Vec::new();
            found.put(&mut again);
            assert_eq!(bytes.len(), again.len());
            for path in ["a/b/x.tmp", "a/b/keep.tmp", "top", "c/d", "e"] {
                assert_eq!(passes(&filter, path), passes(&found, path), "{path}");
            }
            assert_eq!((filter.size, filter.mtime, filter.owners), (found.size, found.mtime, found.owners));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic_as_rules(bytes: Vec<u8>) {
            let _ = Filter::take(&bytes);
        }

        #[test]
        fn no_pattern_panics(pattern in ".{0,20}", path in "[a-z/]{1,20}") {
            let mut filter = Filter::default();
            if filter.set_patterns(&[pattern], &[]).is_ok() {
                let _ = filter.allows_name(&Chain::default(), path.as_bytes(), false);
            }
        }
    }
}
