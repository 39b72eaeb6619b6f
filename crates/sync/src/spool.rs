//! Sorting more than memory holds: records go to disk in sorted runs and come back as one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use fault::Fault;

/// Bytes of records that are held in memory before they go to disk.
const IN_MEMORY: usize = 8 << 20;
/// What a record costs beside its bytes.
const OVERHEAD: usize = 32;
/// Runs that are merged at once; more are merged in two steps, so that open files and buffers stay few.
const MOST_RUNS: usize = 64;

/// Takes records in any order, and gives them back sorted by their bytes.
#[derive(Debug)]
pub struct Spool {
    dir: PathBuf,
    held: Vec<Box<[u8]>>,
    held_bytes: usize,
    limit: usize,
    runs: Vec<File>,
    count: u64,
}

impl Spool {
    /// A spool that may use `dir` for files without names.
    pub fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            held: Vec::new(),
            held_bytes: 0,
            limit: IN_MEMORY,
            runs: Vec::new(),
            count: 0,
        }
    }

    #[cfg(test)]
    /// The same, holding at most `limit` bytes in memory.
    pub fn holding(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// How many records it has.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds a record.
    pub fn push(&mut self, record: &[u8]) -> fault::Result<()> {
        self.count += 1;
        self.held_bytes += record.len() + OVERHEAD;
        self.held.push(record.into());
        if self.held_bytes > self.limit { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> fault::Result<()> {
        self.held.sort_unstable();
        let records = std::mem::take(&mut self.held);
        self.held_bytes = 0;
        let run = self.write_run(records.into_iter().map(Ok))?;
        self.runs.push(run);
        if self.runs.len() < MOST_RUNS {
            return Ok(());
        }
        let all = Sorted::new(std::mem::take(&mut self.runs), Vec::new(), &self.dir)?;
        let merged = self.write_run(all)?;
        self.runs.push(merged);
        Ok(())
    }

    fn write_run(&self, records: impl Iterator<Item = fault::Result<Box<[u8]>>>) -> fault::Result<File> {
        let failed = |error| Fault::os("write to", &self.dir, error);
        let file = unnamed_file(&self.dir)?;
        let mut out = BufWriter::with_capacity(256 << 10, file);
        for record in records {
            let record = record?;
            let length = u32::try_from(record.len()).unwrap_or(u32::MAX);
            out.write_all(&length.to_le_bytes()).and_then(|()| out.write_all(&record)).map_err(failed)?;
        }
        let mut file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        Ok(file)
    }

    /// All records, sorted.
    pub fn sorted(mut self) -> fault::Result<Sorted> {
        self.held.sort_unstable();
        Sorted::new(self.runs, self.held, &self.dir)
    }
}

/// A file in `dir` that has no name and vanishes with us.
pub fn unnamed_file(dir: &Path) -> fault::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = dir.join(format!("spool-{}-{number}", std::process::id()));
    let file = File::options().read(true).write(true).create(true).truncate(true).mode(0o600).open(&path);
    let file = file.map_err(|error| Fault::os("create", &path, error))?;
    std::fs::remove_file(&path).map_err(|error| Fault::os("remove", &path, error))?;
    Ok(file)
}

/// Gives records in order.
#[derive(Debug)]
pub struct Sorted {
    runs: Vec<BufReader<File>>,
    held: std::vec::IntoIter<Box<[u8]>>,
    heads: BinaryHeap<Reverse<(Box<[u8]>, usize)>>,
    dir: PathBuf,
}

impl Sorted {
    fn new(runs: Vec<File>, held: Vec<Box<[u8]>>, dir: &Path) -> fault::Result<Self> {
        let runs: Vec<_> = runs.into_iter().map(|run| BufReader::with_capacity(64 << 10, run)).collect();
        let sources = runs.len() + 1;
        let mut sorted = Self { runs, held: held.into_iter(), heads: BinaryHeap::new(), dir: dir.to_owned() };
        (0..sources).try_for_each(|source| sorted.refill(source))?;
        Ok(sorted)
    }

    fn refill(&mut self, source: usize) -> fault::Result<()> {
        let record = match self.runs.get_mut(source) {
            None => self.held.next(),
            Some(run) => read_record(run).map_err(|error| Fault::os("read from", &self.dir, error))?,
        };
        if let Some(record) = record {
            self.heads.push(Reverse((record, source)));
        }
        Ok(())
    }
}

fn read_record(run: &mut BufReader<File>) -> std::io::Result<Option<Box<[u8]>>> {
    let mut length = [0; 4];
    match run.read_exact(&mut length) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    let mut record = vec![0; u32::from_le_bytes(length) as usize];
    run.read_exact(&mut record)?;
    Ok(Some(record.into()))
}

impl Iterator for Sorted {
    type Item = fault::Result<Box<[u8]>>;

    fn next(&mut self) -> Option<Self::Item> {
        // Most often everything fitted in memory.
        if self.runs.is_empty() && self.heads.len() <= 1 {
            if let Some(Reverse((record, _))) = self.heads.pop() {
                return Some(Ok(record));
            }
            return self.held.next().map(Ok);
        }
        let Reverse((record, source)) = self.heads.pop()?;
        Some(self.refill(source).map(|()| record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]
        #[test]
        fn records_come_back_sorted(mut records: Vec<Vec<u8>>, limit in 0usize..2000) {
            let dir = tempfile::tempdir().unwrap();
            let mut spool = Spool::new(dir.path()).holding(limit);
            records.iter().for_each(|record| spool.push(record).unwrap());
            let sorted: Vec<Vec<u8>> = spool.sorted().unwrap().map(|record| record.unwrap().into()).collect();
            records.sort();
            proptest::prop_assert_eq!(sorted, records);
            proptest::prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn many_runs_are_merged() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(dir.path()).holding(0);
        (0..1000u32).rev().for_each(|number| spool.push(&number.to_be_bytes()).unwrap());
        let numbers: Vec<_> = spool.sorted().unwrap().map(|record| record.unwrap()[3]).collect();
        assert_eq!(numbers.len(), 1000);
        assert_eq!(numbers, (0..1000u32).map(|number| number as u8).collect::<Vec<_>>());
    }
}
