use std::fs::File;
use std::io::{BufReader, Read, Write as _};
use std::path::{Path, PathBuf};

use fault::Fault;

use super::section::{Itself, Section, SectionView};
use super::wire::{damaged, put_bytes, take_bytes, take_slice};

/// Bytes before each frame: length packed, length unpacked, start of the BLAKE3 hash.
const HEAD: usize = 16;
/// More than any frame may have.
const MOST: usize = 1 << 30;

/// What has become durable at the destination since the last index, in the order in which it did.
#[derive(Debug, Default)]
pub struct Parts {
    bytes: Vec<u8>,
}

/// One step of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Entries of a directory that are now at the destination: a `Section` as it lies on disk.
    Done(&'a [u8]),
    /// A name of a directory that is gone: directory, name.
    Gone(&'a [u8], &'a [u8]),
    /// A directory that is gone with all in it.
    TreeGone(&'a [u8]),
    /// A directory whose attributes, and perhaps drafts of ours in it, must be looked at again.
    Open(&'a [u8]),
}

impl Parts {
    /// These entries of `dir` are done.
    pub fn done(&mut self, dir: &[u8], section: &Section) {
        let mut bytes = Vec::with_capacity(section.size() + dir.len());
        section.put(&mut bytes, dir);
        self.bytes.push(1);
        put_bytes(&mut self.bytes, &bytes);
    }

    /// Entries of a directory as an index has them, but for what it says of the directory itself.
    pub fn again(&mut self, view: &SectionView<'_>, itself: Option<Itself>) {
        let mut bytes = Vec::new();
        view.put_with(itself, &mut bytes);
        self.bytes.push(1);
        put_bytes(&mut self.bytes, &bytes);
    }

    /// The entry `name` of `dir` is gone.
    pub fn gone(&mut self, dir: &[u8], name: &[u8]) {
        self.bytes.push(2);
        put_bytes(&mut self.bytes, dir);
        put_bytes(&mut self.bytes, name);
    }

    /// The directory `dir` is gone with all in it.
    pub fn tree_gone(&mut self, dir: &[u8]) {
        self.bytes.push(3);
        put_bytes(&mut self.bytes, dir);
    }

    /// The directory `dir` must be looked at again.
    pub fn open(&mut self, dir: &[u8]) {
        self.bytes.push(4);
        put_bytes(&mut self.bytes, dir);
    }

    /// All of it, as it lies in the journal.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes held.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Takes one part from the front.
pub fn take_part<'a>(from: &mut &'a [u8]) -> fault::Result<Part<'a>> {
    Ok(match take_slice(from, 1)?[0] {
        1 => Part::Done(take_bytes(from)?),
        2 => Part::Gone(take_bytes(from)?, take_bytes(from)?),
        3 => Part::TreeGone(take_bytes(from)?),
        4 => Part::Open(take_bytes(from)?),
        _ => return Err(damaged()),
    })
}

/// Appends to the journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    written: u64,
}

impl Journal {
    /// Opens the journal at `path` for appending.
    pub fn open(path: &Path) -> fault::Result<Self> {
        let file = File::options().append(true).create(true).open(path);
        let file = file.map_err(|error| Fault::os("open", path, error))?;
        let written = file.metadata().map_err(|error| Fault::os("look at", path, error))?.len();
        Ok(Self { file, path: path.to_owned(), written })
    }

    /// The same for a journal that a crash may have cut: what is not whole goes first.
    pub fn append_after_crash(&mut self, parts: &Parts) -> fault::Result<()> {
        if parts.is_empty() {
            return Ok(());
        }
        let mut whole = 0;
        read_frames_at(&self.path, |_, end| {
            whole = end;
            Ok(())
        })?;
        self.file.set_len(whole).map_err(|error| Fault::os("write", &self.path, error))?;
        self.append(parts)
    }

    /// Whether nothing was ever written.
    pub fn is_empty(&self) -> bool {
        self.written == 0
    }

    /// Appends `parts` and makes them durable. What they say must be durable already.
    pub fn append(&mut self, parts: &Parts) -> fault::Result<()> {
        if parts.is_empty() {
            return Ok(());
        }
        let failed = |error| Fault::os("write", &self.path, error);
        let packed = zstd::bulk::compress(&parts.bytes, 1).map_err(failed)?;
        let mut frame = Vec::with_capacity(HEAD + packed.len());
        frame.extend_from_slice(&(packed.len() as u32).to_le_bytes());
        frame.extend_from_slice(&(parts.bytes.len() as u32).to_le_bytes());
        frame.extend_from_slice(&blake3::hash(&packed).as_bytes()[..8]);
        frame.extend_from_slice(&packed);
        self.file.write_all(&frame).and_then(|()| self.file.sync_data()).map_err(failed)?;
        self.written += frame.len() as u64;
        Ok(())
    }
}

/// Gives every whole frame of the journal at `path`, unpacked, to `each`. What a crash cut off at the end is left out.
pub fn read_frames(path: &Path, mut each: impl FnMut(&[u8]) -> fault::Result<()>) -> fault::Result<()> {
    read_frames_at(path, |frame, _| each(frame))
}

/// The same, with where each frame ends in the file.
fn read_frames_at(path: &Path, mut each: impl FnMut(&[u8], u64) -> fault::Result<()>) -> fault::Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Fault::os("open", path, error)),
    };
    let mut from = BufReader::with_capacity(1 << 20, file);
    let mut end = 0;
    while let Some((frame, length)) = read_frame(&mut from) {
        end += length;
        each(&frame, end)?;
    }
    Ok(())
}

/// The next frame and its length in the file, if it is whole and undamaged.
fn read_frame(from: &mut impl Read) -> Option<(Vec<u8>, u64)> {
    let mut head = [0; HEAD];
    from.read_exact(&mut head).ok()?;
    let word =
        |at: usize| head[at..at + 4].first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes) as usize);
    let (packed, raw) = (word(0)?, word(4)?);
    if packed > MOST || raw > MOST {
        return None;
    }
    let mut bytes = Vec::new();
    from.take(packed as u64).read_to_end(&mut bytes).ok()?;
    if bytes.len() != packed || blake3::hash(&bytes).as_bytes()[..8] != head[8..] {
        return None;
    }
    let length = (HEAD + packed) as u64;
    zstd::bulk::decompress(&bytes, raw).ok().map(|frame| (frame, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_end_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut journal = Journal::open(&path).unwrap();
        for name in [b"one", b"two"] {
            let mut parts = Parts::default();
            parts.gone(b"dir", name);
            journal.append(&parts).unwrap();
        }
        let whole = std::fs::read(&path).unwrap();
        let count = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let mut count = 0;
            read_frames(&path, |frame| {
                let mut rest = frame;
                assert!(matches!(take_part(&mut rest)?, Part::Gone(b"dir", _)));
                count += 1;
                Ok(())
            })
            .unwrap();
            count
        };
        assert_eq!(count(&whole), 2);
        (0..whole.len()).for_each(|length| assert!(count(&whole[..length]) < 2));
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert_eq!(count(&damaged), 1);
    }

    proptest::proptest! {
        #[test]
        fn garbage_never_panics(bytes: Vec<u8>) {
            let mut rest = &bytes[..];
            while !rest.is_empty() && take_part(&mut rest).is_ok() {}
            let _ = read_frame(&mut &bytes[..]);
        }
    }
}
