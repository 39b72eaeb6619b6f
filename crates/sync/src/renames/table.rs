//! Files that left their names, sorted by inode, on disk.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use fault::Fault;

use crate::index::wire::{damaged, put_bytes, take_bytes, take_slice};
use crate::index::{Known, Section, SectionView};
use crate::spool::{Spool, unnamed_file};

/// Bytes that are read for one look.
const BLOCK: u64 = 32 << 10;
const DELETABLE: u8 = 1;
const KEPT: u8 = 2;
const DOUBTFUL: u8 = 4;

/// A file that the destination has under a name that it no longer has at the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Old {
    /// The directory it is in.
    pub dir: Vec<u8>,
    /// Its name there: the old one, or one of ours under which it is kept.
    pub name: Vec<u8>,
    /// What the last sync knew of it.
    pub known: Known,
    /// The old name goes at the end of this job, or is another file's.
    pub goes: bool,
    /// It is kept under a name of ours: the old one is another file's.
    pub kept: bool,
    /// A job that did not end worked there.
    pub doubtful: bool,
}

impl Old {
    /// As a record that sorts by inode.
    pub fn record(&self) -> Vec<u8> {
        let mut record = self.known.inode.to_be_bytes().to_vec();
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        record.push(flag(self.goes, DELETABLE) | flag(self.kept, KEPT) | flag(self.doubtful, DOUBTFUL));
        let mut section = Section::default();
        section.push(&self.name, &self.known);
        section.put(&mut record, &self.dir);
        record
    }

    fn read(mut record: &[u8]) -> fault::Result<Self> {
        let flags = take_slice(&mut record, 9)?[8];
        let view = SectionView::take(&mut record)?;
        let mut entries = view.entries();
        let (name, known) = entries.next()?.ok_or_else(damaged)?;
        let has = |flag: u8| flags & flag != 0;
        let (goes, kept, doubtful) = (has(DELETABLE), has(KEPT), has(DOUBTFUL));
        Ok(Self { dir: view.dir.to_vec(), name: name.to_vec(), known, goes, kept, doubtful })
    }
}

/// Looked up by inode. Holds a few bytes for each block in memory.
#[derive(Debug)]
pub struct Table {
    file: File,
    scratch: PathBuf,
    /// The first inode of each block, and where it begins.
    blocks: Vec<([u8; 8], u64)>,
    size: u64,
}

impl Table {
    /// Of records as [`Old::record`] makes them.
    pub fn of(spool: Spool, scratch: &Path) -> fault::Result<Self> {
        let failed = |error| Fault::os("write to", scratch, error);
        let mut out = BufWriter::with_capacity(256 << 10, unnamed_file(scratch)?);
        let (mut blocks, mut size): (Vec<([u8; 8], u64)>, u64) = (Vec::new(), 0);
        let mut last = [0; 8];
        for record in spool.sorted()? {
            let record = record?;
            let inode = *record.first_chunk::<8>().ok_or_else(damaged)?;
            // Records of one inode lie in one block.
            if blocks.last().is_none_or(|(_, start)| size - start >= BLOCK && inode != last) {
                blocks.push((inode, size));
            }
            let mut bytes = Vec::with_capacity(record.len() + 4);
            put_bytes(&mut bytes, &record);
            out.write_all(&bytes).map_err(failed)?;
            size += bytes.len() as u64;
            last = inode;
        }
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok(Self { file, scratch: scratch.to_owned(), blocks, size })
    }

    /// The files of this inode.
    pub fn find(&self, inode: u64) -> fault::Result<Vec<Old>> {
        let wanted = inode.to_be_bytes();
        let after = self.blocks.partition_point(|(first, _)| *first <= wanted);
        let Some((_, start)) = after.checked_sub(1).and_then(|block| self.blocks.get(block)) else {
            return Ok(Vec::new());
        };
        let end = self.blocks.get(after).map_or(self.size, |(_, start)| *start);
        let mut bytes = vec![0; (end - start) as usize];
        self.file
            .read_exact_at(&mut bytes, *start)
            .map_err(|error| Fault::os("read from", &self.scratch, error))?;
        let (mut rest, mut found) = (&bytes[..], Vec::new());
        while !rest.is_empty() {
            let record = take_bytes(&mut rest)?;
            if record.starts_with(&wanted) {
                found.push(Old::read(record)?);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::known_for_tests;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn what_left_is_found_by_its_inode(
            files in proptest::collection::vec((0u64..50, known_for_tests(), "[a-z]{1,3}(/[a-z]{1,3})?", any::<bool>()), 0..200),
            limit in 0usize..2000,
        ) {
            let scratch = tempfile::tempdir().unwrap();
            let mut spool = Spool::new(scratch.path()).holding(limit);
            let all: Vec<Old> = files.into_iter().map(|(inode, known, dir, flag)| Old {
                dir: dir.into_bytes(),
                name: b"name".repeat(40),
                known: Known { inode: inode << 40, ..known },
                goes: flag,
                kept: !flag,
                doubtful: flag,
            }).collect();
            all.iter().for_each(|old| spool.push(&old.record()).unwrap());
            let table = Table::of(spool, scratch.path()).unwrap();
            for inode in 0..51 {
                let mut wanted: Vec<&Old> = all.iter().filter(|old| old.known.inode == inode << 40).collect();
                let found = table.find(inode << 40).unwrap();
                wanted.sort_by_key(|old| old.record());
                prop_assert_eq!(found.iter().collect::<Vec<_>>(), wanted);
            }
        }
    }
}
