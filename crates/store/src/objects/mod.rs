//! Object stores: a flat set of keys, each with content that is written whole, and labels.
//!
//! [`ObjectStore`] has the verbs and says with [`Abilities`] what it can't do. What a store does not do itself wraps it:
//! [`Retrying`], [`Counted`], [`Faulty`]. One suite (`tests/conformance.rs`) runs over all of them.

mod connect;
mod counted;
mod faulty;
mod key;
mod location;
mod memory;
mod redact;
mod remote;
mod retrying;
mod watched;

use std::fmt::Debug;
use std::ops::Range;

pub use bytes::Bytes;

pub use connect::{Settings, connect, connect_as};
pub use counted::{Counted, Tally};
pub use faulty::{Faulty, Plan};
pub use key::{key_of, path_of};
pub use location::{Location, Service};
pub use memory::Memory;
pub use retrying::Retrying;
pub use watched::Begun;

use crate::Stamp;

/// Names and values that an object carries beside its content, in the order of names.
pub type Labels = std::collections::BTreeMap<String, String>;

/// What a store can do. Asking for more is refused before the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Objects carry labels.
    pub labels: bool,
    /// Bytes that all labels of an object may have together, names included.
    pub most_label_bytes: usize,
    /// Reading a whole object brings its labels too.
    pub labels_with_content: bool,
    /// Names of labels have letters, digits and underscores only.
    pub plain_label_names: bool,
    /// A key may end with a slash, as the mark of a directory.
    pub directory_marks: bool,
    /// A read may be tied to the tag that an earlier look found.
    pub tied_reads: bool,
    /// An object that is being written in parts can be gone on with by a later process.
    pub resumes: bool,
    /// Objects carry a tag that changes with their content.
    pub tags: bool,
    /// Writing the same content again with other labels changes the tag too: it is not just a hash of the content.
    pub tags_follow_labels: bool,
    /// The store copies an object without its content passing through us.
    pub copies: bool,
    /// A large object may be made of parts of objects that are there, each larger than the smallest part.
    pub takes_parts: bool,
    /// An object may be written only if there is none under its key: of several writers one wins.
    pub writes_new: bool,
    /// Bytes of the longest key, the prefix of the location included.
    pub longest_key: usize,
    /// Bytes of the smallest part of a large object but for the last.
    pub least_part: u64,
    /// The most parts of one object.
    pub most_parts: u64,
}

/// What a store says of an object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Object {
    /// Its key below the location's prefix.
    pub key: String,
    /// Size, bytes.
    pub size: u64,
    /// What changes whenever the content does: an ETag. Empty where the store has none.
    pub tag: String,
    /// When it was written, as the store says; often whole seconds.
    pub modified: Stamp,
    /// Its labels; a listing does not have them.
    pub labels: Option<Labels>,
}

/// How far a listing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// All keys that begin with the prefix.
    All,
    /// Those without a further slash; what has one is given once, up to that slash, with `size` 0 and no tag.
    One,
}

/// The verbs of an object store. Keys are relative to the location that it was opened for; a key that ends with a slash is
/// the mark of a directory.
pub trait ObjectStore: Send + Sync + Debug {
    /// The location, as people write it.
    fn shown(&self) -> String;

    /// What it can do.
    fn abilities(&self) -> Abilities;

    /// Gives every object whose key begins with `prefix` (empty, or ending with a slash) to `each`, in no particular order,
    /// never all held in memory. `Ok` means that the listing is complete. A location with nothing in it is empty, not an
    /// error.
    fn list(
        &self,
        prefix: &str,
        depth: Depth,
        each: &mut dyn FnMut(Object) -> fault::Result<()>,
    ) -> fault::Result<()>;

    /// Looks at one object, its labels included. `Kind::NotFound` where there is none.
    fn stat(&self, key: &str) -> fault::Result<Object>;

    /// Reads `range`, all of it or nothing; an empty range past the start is not asked for. With `tag`, only while the
    /// object still has it: [`is_changed`] tells that failure.
    fn read(&self, key: &str, range: Range<u64>, tag: Option<&str>) -> fault::Result<Bytes>;

    /// Reads an object of at most `most` bytes with what a look at it would say; its labels only where `labels_with_content`.
    fn read_whole(&self, key: &str, most: u64) -> fault::Result<(Object, Bytes)>;

    /// Writes a whole object: it appears with this content and these labels, or is left as it was. Returns its tag.
    fn write(&self, key: &str, content: Bytes, labels: &Labels) -> fault::Result<String>;

    /// Writes a whole object, if there is none under its key: [`is_taken`] tells that failure. A try whose answer was lost
    /// may have been the one that wrote it.
    fn write_new(&self, key: &str, content: Bytes) -> fault::Result<String> {
        let _ = (key, content);
        Err(cannot(&self.shown(), "write an object only where there is none"))
    }

    /// Begins an object that is written in parts, of which `at_once` travel at the same time.
    fn begin(&self, key: &str, labels: &Labels, at_once: usize) -> fault::Result<Box<dyn Upload + '_>>;

    /// Goes on with an object of which the store has parts; the parts are given anew, in their order. The labels are those that
    /// it was begun with.
    fn go_on(&self, key: &str, id: &str, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        let _ = (key, id, at_once);
        Err(cannot(&self.shown(), "go on with an object that was not finished"))
    }

    /// Removes objects; those that are not there are fine.
    fn delete(&self, keys: &[String]) -> fault::Result<()>;

    /// Copies an object with its labels, in place of what has the key `to`.
    fn copy(&self, from: &str, to: &str) -> fault::Result<()>;
}

/// An object that is being written in parts. Nothing of it can be seen before [`Upload::finish`].
pub trait Upload {
    /// Adds the next part.
    fn part(&mut self, content: Bytes) -> fault::Result<()>;

    /// Adds a range of an object that the store has, at most 5 GiB, as the next part, while that object has this tag.
    fn part_of(&mut self, from: &str, range: Range<u64>, tag: &str) -> fault::Result<()> {
        let _ = (range, tag);
        Err(cannot(from, "become a part of another object"))
    }

    /// Adds the next part, which an earlier process has sent: the store has it under this tag, and it does not travel again.
    fn part_again(&mut self, content: Bytes, tag: &str) -> fault::Result<()> {
        let _ = tag;
        self.part(content)
    }

    /// What the store has, where a later process may go on with that.
    fn begun(&self) -> Begun {
        Begun::default()
    }

    /// It is left as it is, for a later process.
    fn leave(self: Box<Self>) {
        self.discard();
    }

    /// Makes the object appear, in place of what had its key. Returns its tag.
    fn finish(self: Box<Self>) -> fault::Result<String>;

    /// Gives up: the store forgets the parts.
    fn discard(self: Box<Self>);
}

/// A failure because the object is no longer the one that was looked at.
pub fn changed(shown: &str, key: &str) -> fault::Fault {
    fault::Fault::new(fault::Kind::Io, format!("`{shown}{key}` changed while it was read"))
        .hint("sync again when it rests")
        .caused_by(Changed)
}

/// Whether a failure says that the object is no longer the one that was looked at.
pub fn is_changed(fault: &fault::Fault) -> bool {
    std::error::Error::source(fault).is_some_and(<dyn std::error::Error>::is::<Changed>)
}

#[derive(Debug, thiserror::Error)]
#[error("its tag is another")]
struct Changed;

/// A failure because there is an object under the key already.
pub fn taken(shown: &str, key: &str) -> fault::Fault {
    fault::Fault::new(fault::Kind::Refused, format!("there is a `{shown}{key}` already"))
        .hint("somebody else wrote it")
        .caused_by(Taken)
}

/// Whether a failure says that there is an object under the key already.
pub fn is_taken(fault: &fault::Fault) -> bool {
    std::error::Error::source(fault).is_some_and(<dyn std::error::Error>::is::<Taken>)
}

#[derive(Debug, thiserror::Error)]
#[error("its key is taken")]
struct Taken;

/// The failure of asking for what a store can't do.
fn cannot(shown: &str, what: &str) -> fault::Fault {
    fault::Fault::new(fault::Kind::Unsupported, format!("`{shown}` can't {what}"))
}

/// The failure of looking for what is not there.
fn missing(shown: &str, key: &str) -> fault::Fault {
    fault::Fault::new(fault::Kind::NotFound, format!("there is no `{shown}{key}`"))
        .hint("check the bucket or container and the prefix")
}

/// What holds a store is one: a box, or what several share.
impl<P> ObjectStore for P
where
    P: std::ops::Deref<Target: ObjectStore> + Send + Sync + Debug,
{
    fn shown(&self) -> String {
        (**self).shown()
    }

    fn abilities(&self) -> Abilities {
        (**self).abilities()
    }

    fn list(
        &self,
        prefix: &str,
        depth: Depth,
        each: &mut dyn FnMut(Object) -> fault::Result<()>,
    ) -> fault::Result<()> {
        (**self).list(prefix, depth, each)
    }

    fn stat(&self, key: &str) -> fault::Result<Object> {
        (**self).stat(key)
    }

    fn read(&self, key: &str, range: Range<u64>, tag: Option<&str>) -> fault::Result<Bytes> {
        (**self).read(key, range, tag)
    }

    fn read_whole(&self, key: &str, most: u64) -> fault::Result<(Object, Bytes)> {
        (**self).read_whole(key, most)
    }

    fn write(&self, key: &str, content: Bytes, labels: &Labels) -> fault::Result<String> {
        (**self).write(key, content, labels)
    }

    fn write_new(&self, key: &str, content: Bytes) -> fault::Result<String> {
        (**self).write_new(key, content)
    }

    fn begin(&self, key: &str, labels: &Labels, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        (**self).begin(key, labels, at_once)
    }

    fn go_on(&self, key: &str, id: &str, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        (**self).go_on(key, id, at_once)
    }

    fn delete(&self, keys: &[String]) -> fault::Result<()> {
        (**self).delete(keys)
    }

    fn copy(&self, from: &str, to: &str) -> fault::Result<()> {
        (**self).copy(from, to)
    }
}
