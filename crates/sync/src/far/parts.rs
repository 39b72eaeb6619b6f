//! Files that go to another host in parts, several on their way at the same time.

use std::collections::VecDeque;

use store::objects::{Bytes, Labels, Upload};

use super::line::{Line, Pending};
use super::tree::Summing;
use super::words::Ask;

/// A file that is being written. Nothing of it can be seen before it is finished.
pub struct Parts<'a> {
    line: &'a Line,
    upload: u64,
    path: Vec<u8>,
    labels: Labels,
    sparse: bool,
    size: u64,
    under_way: VecDeque<Pending<'a>>,
    at_once: usize,
}

impl<'a> Parts<'a> {
    /// One that has begun on this line.
    pub fn new(line: &'a Line, upload: u64, path: Vec<u8>, labels: Labels, at_once: usize) -> Self {
        let sparse = crate::objects::labels::is_sparse(&labels);
        Self { line, upload, path, labels, sparse, size: 0, under_way: VecDeque::new(), at_once }
    }

    fn go(&mut self, ask: &Ask) -> fault::Result<()> {
        while self.under_way.len() >= self.at_once.max(1) {
            self.under_way.pop_front().map_or(Ok(()), |part| part.answer().map(drop))?;
        }
        self.under_way.push_back(self.line.ask(ask)?);
        Ok(())
    }

    /// Puts content at `at`.
    pub fn part_at(&mut self, at: u64, content: Bytes) -> fault::Result<()> {
        self.go(&Ask::Part { upload: self.upload, at, sparse: self.sparse, content })
    }

    /// Begins to ask for the hashes of leaves of what an earlier try left.
    pub fn kept_later(&self, from: u64, to: u64) -> fault::Result<Summing<'a>> {
        self.line.ask(&Ask::Kept { upload: self.upload, from, to }).map(Summing)
    }

    /// It is left as it is, for a later try.
    pub fn leave(self) {
        self.under_way.into_iter().for_each(|part| drop(part.answer()));
    }

    /// Has a piece of the copy that was there put at `at`.
    pub fn copy(&mut self, from: u64, at: u64, length: u64) -> fault::Result<()> {
        self.go(&Ask::Copy { upload: self.upload, from, at, length })
    }

    /// Has it appear, if it has this hash. Returns its tag.
    pub fn finish_as(mut self, size: u64, id: Option<&chunk::Id>) -> fault::Result<String> {
        std::mem::take(&mut self.under_way).into_iter().try_for_each(|part| part.answer().map(drop))?;
        let Self { upload, path, labels, line, .. } = self;
        let id = id.map_or_else(Vec::new, |id| id.0.to_vec());
        let tag = line.ask(&Ask::End { upload, path, size, id, labels })?.answer()?;
        Ok(String::from_utf8_lossy(&tag).into_owned())
    }

    /// It is not wanted any more.
    pub fn give_up(self) {
        // What is under way must not come after it.
        self.under_way.into_iter().for_each(|part| drop(part.answer()));
        let _ = self.line.ask(&Ask::Discard { upload: self.upload }).map(Pending::answer);
    }
}

impl Upload for Parts<'_> {
    fn part(&mut self, content: Bytes) -> fault::Result<()> {
        let (at, length) = (self.size, content.len() as u64);
        self.part_at(at, content)?;
        self.size += length;
        Ok(())
    }

    fn finish(self: Box<Self>) -> fault::Result<String> {
        let size = self.size;
        self.finish_as(size, None)
    }

    fn discard(self: Box<Self>) {
        self.give_up();
    }
}
