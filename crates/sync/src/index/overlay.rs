//! What changed since the index was written, in memory: a watch notes a few entries every second, and would otherwise
//! have to write the whole index anew each time.

use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;

use super::file::{Cache, Cursor, Index};
use super::journal::{Part, Parts, take_part};
use super::known::Known;
use super::order::{is_within, tree_key};
use super::section::{Itself, SectionView};

/// What an entry costs beside its name, bytes.
const OVERHEAD: usize = 160;

/// What is known of one directory beyond the index.
#[derive(Debug, Clone, Default)]
pub struct Delta {
    /// What was said of the directory itself, if anything was.
    #[allow(clippy::option_option, reason = "nothing was said, it was said to be unknown, it was said")]
    itself: Option<Option<Itself>>,
    /// Entries that are new or changed; `None` where one is gone.
    names: BTreeMap<Box<[u8]>, Option<Known>>,
}

/// A directory's path, and what is known of it.
type Beyond = (Box<[u8]>, Arc<Delta>);

/// Everything that is known beyond the index.
#[derive(Debug, Default)]
pub struct Overlay {
    /// By [`tree_key`], with the path.
    dirs: BTreeMap<Vec<u8>, Beyond>,
    /// Directories of which the index no longer says anything true, with all in them.
    gone: HashSet<Box<[u8]>>,
    size: usize,
}

impl Overlay {
    /// Takes in what became durable, in the order in which it did.
    pub fn apply(&mut self, parts: &Parts) -> fault::Result<()> {
        let mut rest = parts.bytes();
        while !rest.is_empty() {
            match take_part(&mut rest)? {
                Part::Done(bytes) => self.done(&SectionView::take(&mut &bytes[..])?)?,
                Part::Gone(dir, name) => self.set(dir, name, None),
                Part::TreeGone(dir) => self.tree_gone(dir),
                Part::Open(dir) => self.delta(dir).itself = Some(None),
            }
        }
        Ok(())
    }

    fn delta(&mut self, dir: &[u8]) -> &mut Delta {
        self.size += OVERHEAD;
        let (_, delta) = self.dirs.entry(tree_key(dir)).or_insert_with(|| (dir.into(), Arc::default()));
        Arc::make_mut(delta)
    }

    fn set(&mut self, dir: &[u8], name: &[u8], known: Option<Known>) {
        self.size += name.len();
        self.delta(dir).names.insert(name.into(), known);
    }

    fn done(&mut self, view: &SectionView<'_>) -> fault::Result<()> {
        if view.itself.is_some() {
            self.delta(view.dir).itself = Some(view.itself);
        }
        let mut entries = view.entries();
        while let Some((name, known)) = entries.next()? {
            self.set(view.dir, name, Some(known));
        }
        Ok(())
    }

    fn tree_gone(&mut self, tree: &[u8]) {
        let start = tree_key(tree);
        // A tree is one piece: all keys that begin with its own, but for the mark of the end.
        let piece = if tree.is_empty() { &[][..] } else { &start[..start.len() - 1] };
        let within = self.dirs.range(piece.to_vec()..).take_while(|(key, _)| key.starts_with(piece));
        let keys: Vec<_> = within.map(|(key, _)| key.clone()).collect();
        keys.iter().for_each(|key| drop(self.dirs.remove(key)));
        self.gone.insert(tree.into());
        self.size += tree.len() + OVERHEAD;
    }

    fn get(&self, dir: &[u8]) -> Option<&Arc<Delta>> {
        self.dirs.get(&tree_key(dir)).map(|(_, delta)| delta)
    }

    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether what the index says of `dir` still counts.
    fn believes_index(&self, dir: &[u8]) -> bool {
        let mut at = dir;
        while !self.gone.is_empty() {
            if self.gone.contains(at) {
                return false;
            }
            if at.is_empty() {
                break;
            }
            at = store::split_last(at).0;
        }
        true
    }
}

/// All that is known: the index, and what changed since.
#[derive(Debug, Default)]
pub struct Knowledge {
    base: Option<Arc<Index>>,
    overlay: Overlay,
}

impl Knowledge {
    /// Of an index, if there is one.
    pub fn new(base: Option<Arc<Index>>) -> Self {
        Self { base, overlay: Overlay::default() }
    }

    /// About how many entries are known.
    pub fn entries(&self) -> u64 {
        self.base.as_ref().map_or(0, |index| index.entries())
    }

    /// What changed since the index was written.
    pub fn overlay(&mut self) -> &mut Overlay {
        &mut self.overlay
    }

    /// What is known of the directory `dir`.
    pub fn find(&self, dir: &[u8], cache: &mut Cache) -> fault::Result<Option<Recall>> {
        let base = match &self.base {
            Some(index) if self.overlay.believes_index(dir) => index.find(dir, cache)?,
            _ => None,
        };
        let delta = self.overlay.get(dir).cloned();
        if base.is_none() && delta.is_none() {
            return Ok(None);
        }
        Ok(Some(Recall::new(base, delta)))
    }

    /// The inode numbers of all files with several names below the directory `tree`.
    pub fn linked_below(&self, tree: &[u8]) -> fault::Result<Vec<u64>> {
        let mut found = Vec::new();
        let start = tree_key(tree);
        let piece = if tree.is_empty() { &[][..] } else { &start[..start.len() - 1] };
        let within = self.overlay.dirs.range(piece.to_vec()..).take_while(|(key, _)| key.starts_with(piece));
        let newer = within.flat_map(|(_, (_, delta))| delta.names.values().flatten());
        found.extend(newer.filter(|known| known.linked).map(|known| known.inode));
        let Some(index) = &self.base else { return Ok(found) };
        for block in index.first_block(&start)..index.blocks() {
            if index.key(block).is_some_and(|key| key > &start[..] && !key.starts_with(piece)) {
                break;
            }
            let bytes = index.unpack(block)?;
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let view = SectionView::take(&mut rest)?;
                if !is_within(view.dir, tree) {
                    continue;
                }
                let mut entries = view.entries();
                while let Some((_, known)) = entries.next()? {
                    found.extend(known.linked.then_some(known.inode));
                }
            }
        }
        Ok(found)
    }

    /// Gives the paths of all files that had one of these inode numbers.
    pub fn with_inodes(
        &self,
        inodes: &HashSet<u64>,
        mut each: impl FnMut(Vec<u8>, &Known) -> fault::Result<()>,
    ) -> fault::Result<()> {
        for (dir, delta) in self.overlay.dirs.values() {
            for (name, known) in &delta.names {
                if let Some(known) = known.filter(|known| inodes.contains(&known.inode)) {
                    each(store::below(dir, name), &known)?;
                }
            }
        }
        let Some(index) = &self.base else { return Ok(()) };
        for block in 0..index.blocks() {
            let bytes = index.unpack(block)?;
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let view = SectionView::take(&mut rest)?;
                if !self.overlay.believes_index(view.dir) {
                    continue;
                }
                let delta = self.overlay.get(view.dir);
                let mut entries = view.entries();
                while let Some((name, known)) = entries.next()? {
                    let newer = delta.is_some_and(|delta| delta.names.contains_key(name));
                    if !newer && inodes.contains(&known.inode) {
                        each(store::below(view.dir, name), &known)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Reads what is known of one directory, in the order of names.
#[derive(Debug)]
pub struct Recall {
    base: Option<Cursor>,
    /// The index's next entry, where it was looked at but not given yet.
    head: Option<(Box<[u8]>, Known)>,
    delta: Option<Arc<Delta>>,
    itself: Option<Itself>,
    name: Vec<u8>,
    started: bool,
}

impl Recall {
    fn new(base: Option<Cursor>, delta: Option<Arc<Delta>>) -> Self {
        let itself = base.as_ref().and_then(Cursor::itself);
        let itself = delta.as_ref().and_then(|delta| delta.itself).unwrap_or(itself);
        Self { base, head: None, delta, itself, name: Vec::new(), started: false }
    }

    /// The directory itself, if its last sync was complete.
    pub fn itself(&self) -> Option<Itself> {
        self.itself
    }

    /// The name of the entry that was given last.
    pub fn name(&self) -> &[u8] {
        match (&self.delta, &self.base) {
            (None, Some(base)) => base.name(),
            _ => &self.name,
        }
    }

    /// The next entry, or `None` at the end.
    pub fn next(&mut self) -> fault::Result<Option<(&[u8], Known)>> {
        let Some(delta) = &self.delta else {
            return self.base.as_mut().map_or(Ok(None), Cursor::next);
        };
        loop {
            if self.head.is_none()
                && let Some(base) = &mut self.base
            {
                match base.next()? {
                    Some((name, known)) => self.head = Some((name.into(), known)),
                    None => self.base = None,
                }
            }
            let after = if self.started { Bound::Excluded(&self.name[..]) } else { Bound::Unbounded };
            let newer = delta.names.range::<[u8], _>((after, Bound::Unbounded)).next();
            let old = self.head.as_ref().map(|(name, _)| name);
            let (name, known, takes_old) = match (newer, old) {
                (Some((name, known)), old) if old.is_none_or(|old| name <= old) => {
                    (name, *known, old == Some(name))
                }
                (_, Some(old)) => (old, self.head.as_ref().map(|(_, known)| *known), true),
                (_, None) => return Ok(None),
            };
            self.name.clear();
            self.name.extend_from_slice(name);
            self.started = true;
            if takes_old {
                self.head = None;
            }
            if let Some(known) = known {
                return Ok(Some((&self.name, known)));
            }
        }
    }
}
