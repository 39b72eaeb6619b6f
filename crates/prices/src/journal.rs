//! What was read so far, kept beside the price file: a line for every finished page.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use serde::{Deserialize, Serialize};

use crate::meter::Meter;

/// Prices of different days don't mix: older pages are read again.
const MAX_AGE_HOURS: i64 = 24;

/// What a refresh asks; pages of another question are of no use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    pub version: u32,
    pub cloud: String,
    pub base: String,
    /// Everything that is asked for, in order.
    pub requests: Vec<String>,
    /// What is asked about: another catalog knows other items.
    pub items: String,
}

/// Where to go on in the answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// The address of the next page.
    Link(String),
    /// The token of the next page.
    Token(String),
    /// A byte of a version of a file, and the part of the file it is in.
    Byte { at: u64, part: String, version: Option<String>, published: String },
}

/// What is sold under a SKU of a price list whose prices stand further on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Product {
    pub sku: String,
    /// The meters it becomes once its price is known; their `usd` is what one of its units is to be multiplied with.
    pub meters: Vec<Meter>,
}

/// A finished page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// The request it answers, by its place in the heading.
    pub request: usize,
    /// Where to go on; `None`: the request is answered.
    pub next: Option<Place>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meters: Vec<Meter>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<Product>,
    /// Meters on the page.
    pub seen: u64,
    /// Of these, for how many the catalog has an item.
    pub matched: u64,
    pub bytes: u64,
    /// Everything of this request before was of another version and does not count.
    #[serde(default)]
    pub anew: bool,
}

#[derive(Serialize, Deserialize)]
struct Start {
    heading: Heading,
    started: jiff::Timestamp,
}

/// The pages of a refresh.
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Finished pages, those of an earlier run first.
    pub pages: Vec<Page>,
    /// Pages of an earlier run.
    pub kept: usize,
}

impl Journal {
    /// Opens the journal beside `target`, with the pages of an earlier run that asked the same today.
    pub fn open(target: &Path, heading: &Heading, anew: bool) -> Result<Self> {
        let path = partial(target);
        let (pages, length) = if anew { None } else { earlier(&path, heading) }.unwrap_or_default();
        let failed = |error: std::io::Error| Fault::os("write", &path, error);
        // What follows the last whole line is cut off, and a journal that does not fit is begun again.
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            Fault::new(Kind::Refused, format!("another refresh writes to `{}`", target.display()))
                .hint("wait until it is done, or write elsewhere with --to DIR")
        })?;
        file.set_len(length).map_err(failed)?;
        let kept = pages.len();
        let mut journal = Self { path, file, pages, kept };
        if length == 0 {
            journal.line(&Start { heading: heading.clone(), started: jiff::Timestamp::now() })?;
        }
        Ok(journal)
    }

    /// Keeps a page: once this returns, it survives a kill and a power cut.
    pub fn keep(&mut self, page: Page) -> Result<()> {
        self.line(&page)?;
        self.pages.push(page);
        Ok(())
    }

    /// The pages of a request that count.
    pub fn of(&self, request: usize) -> impl Iterator<Item = &Page> {
        let start = self.pages.iter().rposition(|page| page.request == request && page.anew).unwrap_or(0);
        self.pages[start..].iter().filter(move |page| page.request == request)
    }

    /// Removes it: everything is in the price file.
    pub fn done(self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(|error| Fault::os("remove", &self.path, error))
    }

    fn line<T: Serialize>(&mut self, value: &T) -> Result<()> {
        let mut line = serde_json::to_vec(value)
            .map_err(|error| Fault::new(Kind::Bug, "cannot write a page as JSON").caused_by(error))?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(|error| Fault::os("write", &self.path, error))
    }
}

fn partial(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!("{name}.partial"))
}

/// The whole lines of a journal of the same question, and their length.
fn earlier(path: &Path, heading: &Heading) -> Option<(Vec<Page>, u64)> {
    let mut lines = BufReader::new(File::open(path).ok()?);
    let mut text = String::new();
    lines.read_line(&mut text).ok()?;
    let start: Start = serde_json::from_str(&text).ok().filter(|_| text.ends_with('\n'))?;
    let age = jiff::Timestamp::now().duration_since(start.started).as_hours();
    if start.heading != *heading || !(0..MAX_AGE_HOURS).contains(&age) {
        return None;
    }
    let (mut pages, mut length) = (Vec::new(), text.len() as u64);
    loop {
        text.clear();
        let whole = lines.read_line(&mut text).is_ok() && text.ends_with('\n');
        let Some(page) = Some(&text).filter(|_| whole).and_then(|text| serde_json::from_str(text).ok())
        else {
            return Some((pages, length));
        };
        pages.push(page);
        length += text.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(items: &str) -> Heading {
        let requests = vec!["a".to_owned(), "b".to_owned()];
        Heading {
            version: 1,
            cloud: "azure".to_owned(),
            base: "x".to_owned(),
            requests,
            items: items.to_owned(),
        }
    }

    fn page(request: usize, seen: u64) -> Page {
        Page { request, seen, ..Page::default() }
    }

    #[test]
    fn pages_survive_and_a_torn_line_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("prices.csv");
        let mut journal = Journal::open(&target, &heading("1"), false).unwrap();
        journal.keep(page(0, 1)).unwrap();
        journal.keep(page(1, 2)).unwrap();
        drop(journal);
        let path = dir.path().join("prices.csv.partial");
        let whole = std::fs::read(&path).unwrap();
        for cut in (0..whole.len()).step_by(13).chain([whole.len() - 1]) {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut journal = Journal::open(&target, &heading("1"), false).unwrap();
            let lines = whole[..cut]
                .split_inclusive(|byte| *byte == b'\n')
                .filter(|line| line.ends_with(b"\n"))
                .count();
            assert_eq!(journal.kept, lines.saturating_sub(1), "{cut}");
            journal.keep(page(1, 3)).unwrap();
            drop(journal);
            assert_eq!(
                Journal::open(&target, &heading("1"), false).unwrap().kept,
                lines.saturating_sub(1) + 1
            );
        }
    }

    #[test]
    fn pages_of_another_question_are_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("prices.csv");
        let mut journal = Journal::open(&target, &heading("1"), false).unwrap();
        journal.keep(page(0, 1)).unwrap();
        assert_eq!(Journal::open(&target, &heading("1"), false).err().unwrap().kind(), Kind::Refused);
        drop(journal);
        assert_eq!(Journal::open(&target, &heading("2"), false).unwrap().kept, 0);
    }

    #[test]
    fn a_request_that_began_anew_forgets_what_was_before() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(&dir.path().join("p"), &heading("1"), false).unwrap();
        journal.keep(page(0, 1)).unwrap();
        journal.keep(page(1, 2)).unwrap();
        journal.keep(Page { anew: true, ..page(0, 3) }).unwrap();
        journal.keep(page(0, 4)).unwrap();
        assert_eq!(journal.of(0).map(|page| page.seen).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(journal.of(1).map(|page| page.seen).collect::<Vec<_>>(), [2]);
    }
}
