//! Everything that a side has, as records that sort in the order of the index: by directory, then by name.

mod chunks;
mod found;
mod location;
mod tree;

use std::collections::HashSet;

use fault::Fault;
use store::Kind;

use crate::spool::Sorted;

pub use chunks::chunks;
pub use found::{Found, place_of};
pub use location::objects;
pub use tree::{Rules, far, tree, walk};

/// Hears what a scan meets.
pub trait Ear: Sync {
    /// An entry takes part.
    fn scanned(&self);
    /// An entry does not take part.
    fn left_out(&self);
    /// An entry could not be looked at; nothing below it is known.
    fn failed(&self, path: &[u8], fault: &Fault);
    /// Worth knowing.
    fn note(&self, text: &str);
    /// Whether to stop.
    fn stopping(&self) -> bool;
}

/// All that a scan found, sorted, and what it could not see.
pub struct Scanned {
    pub records: Sorted,
    pub count: u64,
    /// Directories whose content is not known.
    pub unseen: HashSet<Vec<u8>>,
}

/// Reads records in order, one entry for each path.
pub struct Stream {
    records: Sorted,
    next: Option<(Vec<u8>, Found)>,
}

impl Stream {
    /// Of what a scan found.
    pub fn new(records: Sorted) -> fault::Result<Self> {
        let mut stream = Self { records, next: None };
        stream.advance()?;
        Ok(stream)
    }

    fn advance(&mut self) -> fault::Result<()> {
        self.next = match self.records.next().transpose()? {
            Some(record) => {
                let found = Found::of_record(&record)?;
                Some((place_of(&found.path), found))
            }
            None => None,
        };
        Ok(())
    }

    /// The place of the entry we are at.
    pub fn place(&self) -> Option<&[u8]> {
        self.next.as_ref().map(|(place, _)| &place[..])
    }

    /// Takes the entry we are at, if it is at `place`. Of several with one path the first counts; the others are returned
    /// beside it if they are something else.
    pub fn take(&mut self, place: &[u8]) -> fault::Result<Option<(Found, Vec<Found>)>> {
        let Some((_, mut first)) = self.next.take_if(|(at, _)| at == place) else { return Ok(None) };
        let mut others = Vec::new();
        loop {
            self.advance()?;
            match self.next.take_if(|(_, next)| next.path == first.path) {
                Some((_, twin)) if twin.implied && first.known.kind == Kind::Directory => {}
                // A directory's mark without a slash, as others write it: its labels say so.
                Some((_, twin)) if twin.implied && first.known.size == 0 && !first.key.is_empty() => {
                    first.known.kind = Kind::Directory;
                }
                Some((_, twin)) if twin.key == first.key => {}
                Some((_, twin)) => others.push(twin),
                None => return Ok(Some((first, others))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use store::objects::Object;

    use super::*;

    #[test]
    fn records_sort_as_the_index_does_and_are_read_again() {
        let mut paths = [&b"a!"[..], b"b", b"a/b", b"", b"a", b"a/b/c", b"a/a"];
        paths.sort_by_key(|path| place_of(path));
        assert_eq!(paths, [&b""[..], b"a", b"a!", b"b", b"a/a", b"a/b", b"a/b/c"]);
        let object = Object { key: "a/b".to_owned(), size: 7, tag: "\"x\"".to_owned(), ..Object::default() };
        for found in [Found::of_object(b"a/b".to_vec(), Kind::File, object), Found::implied(b"a".to_vec())] {
            assert_eq!(Found::of_record(&found.record()).unwrap(), found);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_record_panics(bytes: Vec<u8>) {
            let _ = Found::of_record(&bytes);
        }
    }
}
