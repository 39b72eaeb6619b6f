//! What is noted of an object that is being written in parts: a file of lines, of which the last may be torn.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use chunk::Id;
use fault::Fault;
use serde::{Deserialize, Serialize};
use store::objects::{Begun, Labels};

/// Labels that say when something was read, which changes nothing.
const TIMES_OF_READING: [&str; 2] = ["file-atime", "posix_atime"];

/// The first line: which object it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    key: String,
    size_bytes: u64,
    part_bytes: u64,
    /// The hash of the labels.
    labels: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct First {
    head: Head,
    id: String,
}

/// A further line: the store has a part.
#[derive(Debug, Serialize, Deserialize)]
struct Part {
    number: u32,
    tag: String,
    /// Of its content.
    hash: String,
}

/// The notes of one object.
pub struct Notes {
    path: PathBuf,
    head: Head,
    id: String,
    /// What an earlier job noted: tag and hash.
    earlier: BTreeMap<u32, (String, String)>,
    /// Hashes of the parts that were given, in their order.
    hashes: Vec<String>,
    /// Parts that stand in the file.
    written: BTreeMap<u32, String>,
    file: Option<File>,
}

impl Head {
    /// Of an object of this size, in parts of this size.
    pub fn new(key: &str, (size_bytes, part_bytes): (u64, u64), labels: &Labels) -> Self {
        let mut hasher = blake3::Hasher::new();
        for (name, value) in labels.iter().filter(|(name, _)| !TIMES_OF_READING.contains(&name.as_str())) {
            for text in [name, value] {
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes());
            }
        }
        let labels = hasher.finalize().to_string();
        Self { key: key.to_owned(), size_bytes, part_bytes, labels }
    }
}

impl Notes {
    /// Those of an object, and the key and id of the upload of another one under the same key, of which nothing is of use.
    pub fn open(dir: &Path, head: Head) -> fault::Result<(Self, Option<(String, String)>)> {
        std::fs::create_dir_all(dir).map_err(|error| Fault::os("create", dir, error))?;
        let path = dir.join(Id::of(head.key.as_bytes()).to_string());
        let mut notes = Self {
            path,
            head,
            id: String::new(),
            earlier: BTreeMap::new(),
            hashes: Vec::new(),
            written: BTreeMap::new(),
            file: None,
        };
        let Some((first, parts)) = read(&notes.path) else { return Ok((notes, None)) };
        if first.head != notes.head {
            return Ok((notes, Some((first.head.key, first.id))));
        }
        notes.id = first.id;
        notes.written = parts.iter().map(|part| (part.number, part.tag.clone())).collect();
        notes.earlier = parts.into_iter().map(|part| (part.number, (part.tag, part.hash))).collect();
        Ok((notes, None))
    }

    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the store calls the upload, if there is one to go on with.
    pub fn id(&self) -> Option<&str> {
        Some(&self.id[..]).filter(|id| !id.is_empty())
    }

    /// The next part has this content: its tag, if the store has it.
    pub fn next(&mut self, content: &[u8]) -> Option<String> {
        let (number, hash) = (self.hashes.len() as u32, Id::of(content).to_string());
        let tag = self.earlier.get(&number).filter(|(_, known)| *known == hash).map(|(tag, _)| tag.clone());
        self.hashes.push(hash);
        tag
    }

    /// Notes what the store has by now.
    pub fn note(&mut self, begun: &Begun) -> fault::Result<()> {
        let failed = |path: &Path, error| Fault::os("write", path, error);
        if begun.id.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        if self.file.is_none() {
            let goes_on = self.id == begun.id;
            let file = File::options().append(true).create(true).mode(0o600).open(&self.path);
            let file = file.map_err(|error| failed(&self.path, error))?;
            if goes_on {
                // The last line may be torn.
                lines.push(b'\n');
            } else {
                file.set_len(0).map_err(|error| failed(&self.path, error))?;
                line(&mut lines, &First { head: self.head.clone(), id: begun.id.clone() })?;
            }
            self.file = Some(file);
        }
        for (number, tag) in &begun.parts {
            let Some(hash) = self.hashes.get(*number as usize) else { continue };
            if self.written.get(number) != Some(tag) {
                line(&mut lines, &Part { number: *number, tag: tag.clone(), hash: hash.clone() })?;
                self.written.insert(*number, tag.clone());
            }
        }
        match &mut self.file {
            Some(file) => file.write_all(&lines).map_err(|error| failed(&self.path, error)),
            None => Ok(()),
        }
    }

    /// They are not needed any more.
    pub fn remove(self) -> fault::Result<()> {
        remove(&self.path)
    }
}

fn line(out: &mut Vec<u8>, value: &impl Serialize) -> fault::Result<()> {
    let text = serde_json::to_string(value)
        .map_err(|error| Fault::new(fault::Kind::Bug, "cannot note a part").caused_by(error))?;
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
    Ok(())
}

/// Of a part that was sent twice the last line counts. A torn one says nothing.
fn read(path: &Path) -> Option<(First, Vec<Part>)> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut lines = text.lines();
    let first = serde_json::from_str(lines.next()?).ok()?;
    Some((first, lines.filter_map(|line| serde_json::from_str(line).ok()).collect()))
}

/// The key and id of the upload that a file is about.
pub fn upload_of(path: &Path) -> Option<(String, String)> {
    read(path).map(|(first, _)| (first.head.key, first.id))
}

/// All files of notes.
pub fn all(dir: &Path) -> fault::Result<Vec<PathBuf>> {
    match std::fs::read_dir(dir) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Fault::os("list", dir, error)),
    }
}

/// Removes a file of notes.
pub fn remove(path: &Path) -> fault::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Fault::os("remove", path, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(size: u64, mode: &str, read: &str) -> Head {
        let labels = [("file-permissions", mode), ("file-atime", read)];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Head::new("a/key", (size, 4), &labels)
    }

    fn begun(parts: &[(u32, &str)]) -> Begun {
        let parts = parts.iter().map(|(number, tag)| (*number, (*tag).to_owned())).collect();
        Begun { id: "upload".to_owned(), parts }
    }

    #[test]
    fn what_was_noted_is_known_to_the_next_job() {
        let dir = tempfile::tempdir().unwrap();
        let open = |head: Head| Notes::open(dir.path(), head).unwrap();
        let (mut notes, other) = open(head(12, "1", "2"));
        assert_eq!((notes.id(), other), (None, None));
        for content in ["aaaa", "bbbb", "cccc"] {
            assert_eq!(notes.next(content.as_bytes()), None);
        }
        notes.note(&Begun::default()).unwrap();
        assert_eq!(all(dir.path()).unwrap().len(), 0, "an upload without an id");
        notes.note(&begun(&[(1, "B")])).unwrap();
        notes.note(&begun(&[(0, "A"), (1, "B")])).unwrap();
        // Torn in the last line, and read again.
        let text = std::fs::read_to_string(notes.path()).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        std::fs::write(notes.path(), text + "{\"number\":2,\"ta").unwrap();
        let (mut notes, _) = open(head(12, "1", "3"));
        assert_eq!(notes.id(), Some("upload"));
        let found = ["aaaa", "BBBB", "cccc"].map(|content| notes.next(content.as_bytes()));
        assert_eq!(found, [Some("A".to_owned()), None, None]);
        notes.note(&begun(&[(0, "A"), (1, "B2")])).unwrap();
        let (mut notes, _) = open(head(12, "1", "3"));
        assert_eq!(notes.next(b"aaaa"), Some("A".to_owned()));
        assert_eq!(notes.next(b"BBBB"), Some("B2".to_owned()));
        // Another object under the key.
        for other in [head(13, "1", "3"), head(12, "2", "3")] {
            let (notes, other) = open(other);
            assert_eq!(notes.id(), None);
            assert_eq!(other, Some(("a/key".to_owned(), "upload".to_owned())));
        }
        notes.remove().unwrap();
        assert_eq!(all(dir.path()).unwrap().len(), 0);
    }

    #[test]
    fn damaged_notes_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(Id::of(b"a/key").to_string());
        for damaged in ["", "{", "{}", "[1]\n{}", "\u{0}\n"] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(upload_of(&path), None);
            assert_eq!(Notes::open(dir.path(), head(1, "1", "1")).unwrap().0.id(), None);
        }
    }
}
