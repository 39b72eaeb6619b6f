use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::file::{Index, IndexWriter, SECTION};
use super::journal::{Part, read_frames, take_part};
use super::known::Known;
use super::order::{is_within, tree_key};
use super::section::{Itself, Section, SectionView};
use super::wire::damaged;
use crate::spool::Spool;

/// Writes to `out` the index `base` with all that `journal` says, in one pass over both, sorted. What no journal part
/// touches is copied as it lies on disk. `scratch` is a directory for sorting.
pub fn fold(base: Option<&Arc<Index>>, journal: &Path, out: &Path, scratch: &Path) -> fault::Result<()> {
    let mut groups = Groups { records: sorted_parts(journal, scratch)?.peekable(), gone: Vec::new() };
    let mut walk = Walk { index: base, block: 0, bytes: Vec::new(), at: 0, open: false };
    let mut writer = IndexWriter::create(out)?;
    while let Some(group) = groups.next()? {
        walk.copy_before(Some(&group.key), &groups.gone, &mut writer)?;
        groups.enter(&group)?;
        let old = walk.sections_of(&group.key)?;
        let keep_old = groups.gone_since(&group.dir).is_none();
        write_directory(
            &group,
            if keep_old { &old } else { &[] },
            groups.gone_since(&group.dir),
            &mut writer,
        )?;
    }
    walk.copy_before(None, &groups.gone, &mut writer)?;
    writer.finish()
}

/// Parts as records that sort by directory, then by time.
fn sorted_parts(journal: &Path, scratch: &Path) -> fault::Result<crate::spool::Sorted> {
    let mut spool = Spool::new(scratch);
    let mut number = 0u64;
    read_frames(journal, |frame| {
        let mut rest = frame;
        while !rest.is_empty() {
            let before = rest;
            let part = take_part(&mut rest)?;
            let mut record = tree_key(dir_of(&part)?);
            record.extend_from_slice(&number.to_be_bytes());
            record.extend_from_slice(&before[..before.len() - rest.len()]);
            spool.push(&record)?;
            number += 1;
        }
        Ok(())
    })?;
    spool.sorted()
}

fn dir_of<'a>(part: &Part<'a>) -> fault::Result<&'a [u8]> {
    Ok(match part {
        Part::Done(section) => SectionView::take(&mut &section[..])?.dir,
        Part::Gone(dir, _) | Part::TreeGone(dir) | Part::Open(dir) => dir,
    })
}

/// All that the journal says of one directory.
struct Group {
    dir: Vec<u8>,
    key: Vec<u8>,
    /// (when, part as bytes)
    parts: Vec<(u64, Box<[u8]>)>,
}

struct Groups {
    records: std::iter::Peekable<crate::spool::Sorted>,
    /// Trees that are gone and that we are in: (directory, when).
    gone: Vec<(Vec<u8>, u64)>,
}

impl Groups {
    fn next(&mut self) -> fault::Result<Option<Group>> {
        let Some(first) = self.records.next().transpose()? else { return Ok(None) };
        let (key, when, part) = split_record(&first)?;
        let dir = dir_of(&take_part(&mut &part[..])?)?.to_vec();
        let mut group = Group { dir, key: key.to_vec(), parts: vec![(when, part.into())] };
        while let Some(Ok(record)) = self.records.peek() {
            let (key, when, part) = split_record(record)?;
            if key != group.key {
                break;
            }
            group.parts.push((when, part.into()));
            self.records.next();
        }
        Ok(Some(group))
    }

    /// Leaves the trees that `group` is not in, and enters the one that it says is gone.
    fn enter(&mut self, group: &Group) -> fault::Result<()> {
        self.gone.retain(|(tree, _)| is_within(&group.dir, tree));
        for (when, part) in &group.parts {
            if matches!(take_part(&mut &part[..])?, Part::TreeGone(_)) {
                self.gone.push((group.dir.clone(), *when));
            }
        }
        Ok(())
    }

    fn gone_since(&self, dir: &[u8]) -> Option<u64> {
        self.gone.iter().filter(|(tree, _)| is_within(dir, tree)).map(|(_, when)| *when).max()
    }
}

fn split_record(record: &[u8]) -> fault::Result<(&[u8], u64, &[u8])> {
    let end = record.windows(2).position(|pair| pair == [0, 0]).ok_or_else(damaged)? + 2;
    let (when, part) = record[end..].split_first_chunk::<8>().ok_or_else(damaged)?;
    Ok((&record[..end], u64::from_be_bytes(*when), part))
}

/// Goes through the old index.
struct Walk<'a> {
    index: Option<&'a Arc<Index>>,
    block: usize,
    bytes: Vec<u8>,
    at: usize,
    open: bool,
}

impl Walk<'_> {
    /// Copies all directories before `key`, but those that are gone.
    fn copy_before(
        &mut self,
        key: Option<&[u8]>,
        gone: &[(Vec<u8>, u64)],
        writer: &mut IndexWriter,
    ) -> fault::Result<()> {
        let Some(index) = self.index else { return Ok(()) };
        while self.block < index.blocks() {
            if !self.open && gone.is_empty() && self.is_all_before(index, key) {
                let (packed, raw, count) = index.packed(self.block)?;
                writer.packed_block(index.key(self.block).unwrap_or_default(), &packed, raw, count)?;
                self.block += 1;
                continue;
            }
            self.open_block(index)?;
            while self.at < self.bytes.len() {
                let mut rest = &self.bytes[self.at..];
                let view = SectionView::take(&mut rest)?;
                if key.is_some_and(|key| tree_key(view.dir).as_slice() >= key) {
                    return Ok(());
                }
                let end = self.bytes.len() - rest.len();
                if !gone.iter().any(|(tree, _)| is_within(view.dir, tree)) {
                    writer.packed_section(view.dir, &self.bytes[self.at..end], view.count)?;
                }
                self.at = end;
            }
            self.close_block();
        }
        Ok(())
    }

    fn is_all_before(&self, index: &Index, key: Option<&[u8]>) -> bool {
        match (key, index.key(self.block + 1)) {
            (None, _) => true,
            (Some(key), Some(next)) => next < key,
            (Some(_), None) => false,
        }
    }

    fn open_block(&mut self, index: &Index) -> fault::Result<()> {
        if !self.open {
            self.bytes = index.unpack(self.block)?;
            self.at = 0;
            self.open = true;
        }
        Ok(())
    }

    fn close_block(&mut self) {
        self.block += 1;
        self.open = false;
    }

    /// The sections of the directory with this key, as bytes; they are passed.
    fn sections_of(&mut self, key: &[u8]) -> fault::Result<Vec<Vec<u8>>> {
        let mut found = Vec::new();
        let Some(index) = self.index else { return Ok(found) };
        while self.block < index.blocks() {
            self.open_block(index)?;
            while self.at < self.bytes.len() {
                let mut rest = &self.bytes[self.at..];
                let view = SectionView::take(&mut rest)?;
                if tree_key(view.dir) != key {
                    return Ok(found);
                }
                let end = self.bytes.len() - rest.len();
                found.push(self.bytes[self.at..end].to_vec());
                self.at = end;
            }
            self.close_block();
        }
        Ok(found)
    }
}

/// Writes one directory: what was known of it, and then what the journal says, in the order of time.
fn write_directory(
    group: &Group,
    old: &[Vec<u8>],
    gone_since: Option<u64>,
    writer: &mut IndexWriter,
) -> fault::Result<()> {
    let mut itself = None;
    let mut sections = Vec::new();
    for bytes in old {
        let view = SectionView::take(&mut &bytes[..])?;
        itself = view.itself.or(itself);
        sections.push(view);
    }
    let mut removed = false;
    let mut later = Vec::new();
    for (when, part) in &group.parts {
        if gone_since.is_some_and(|gone| *when <= gone) {
            continue;
        }
        match take_part(&mut &part[..])? {
            Part::Done(bytes) => {
                let view = SectionView::take(&mut &bytes[..])?;
                itself = view.itself.or(itself);
                if view.count > 0 {
                    later.push(Step::Set(view));
                }
            }
            Part::Gone(_, name) => {
                removed = true;
                later.push(Step::Remove(name));
            }
            Part::Open(_) => itself = None,
            Part::TreeGone(_) => {}
        }
    }
    if !removed && (sections.is_empty() && later.len() <= 1 || later.is_empty()) {
        sections.extend(later.iter().filter_map(Step::section));
        return write_as_they_are(&group.dir, itself, &sections, writer);
    }
    write_merged(&group.dir, itself, &sections, &later, writer)
}

enum Step<'a> {
    Set(SectionView<'a>),
    Remove(&'a [u8]),
}

impl<'a> Step<'a> {
    fn section(&self) -> Option<SectionView<'a>> {
        match self {
            Self::Set(view) => Some(*view),
            Self::Remove(_) => None,
        }
    }
}

fn write_as_they_are(
    dir: &[u8],
    itself: Option<Itself>,
    sections: &[SectionView<'_>],
    writer: &mut IndexWriter,
) -> fault::Result<()> {
    if sections.is_empty() && itself.is_some() {
        return writer.section(dir, &Section::new(itself));
    }
    for view in sections {
        let mut bytes = Vec::new();
        view.put_with(itself, &mut bytes);
        writer.packed_section(dir, &bytes, view.count)?;
    }
    Ok(())
}

fn write_merged(
    dir: &[u8],
    itself: Option<Itself>,
    sections: &[SectionView<'_>],
    later: &[Step<'_>],
    writer: &mut IndexWriter,
) -> fault::Result<()> {
    let mut all: BTreeMap<Vec<u8>, Known> = BTreeMap::new();
    for view in sections {
        set_all(&mut all, view)?;
    }
    for step in later {
        match step {
            Step::Set(view) => set_all(&mut all, view)?,
            Step::Remove(name) => drop(all.remove(*name)),
        }
    }
    let mut section = Section::new(itself);
    for (name, known) in &all {
        section.push(name, known);
        if section.count() == SECTION {
            writer.section(dir, &std::mem::replace(&mut section, Section::new(itself)))?;
        }
    }
    if section.is_empty() { Ok(()) } else { writer.section(dir, &section) }
}

fn set_all(all: &mut BTreeMap<Vec<u8>, Known>, view: &SectionView<'_>) -> fault::Result<()> {
    let mut entries = view.entries();
    while let Some((name, known)) = entries.next()? {
        all.insert(name.to_vec(), known);
    }
    Ok(())
}
