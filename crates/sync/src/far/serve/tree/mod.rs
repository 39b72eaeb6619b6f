//! A tree and what is asked of it. Every path is looked up from the root anew, and no symlink is followed.

mod change;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fault::{Fault, Kind as FaultKind};
use store::objects::{Bytes, Object, changed};
use store::{Extended, Kind, Meta, Root, extents, is_sparse, meta_of, read_full};

use super::super::content::{MOST, Press, put_content};
use super::super::words::{Ask, Listed, Opened, Opening, foreign, put_object, put_outcome};
use super::desk::{Answer, Desk};
use super::uploads::Uploads;
use super::{listing, sums};
use crate::index::wire::put;
use crate::job::Birth;
use crate::objects::labels::Posix;
use crate::objects::making::Names;
use crate::objects::side::is_path;
use crate::objects::upload::Entry;
use crate::objects::work::{Hand, Trouble};
use crate::roots::lock_destination;
use crate::state::Identity;

/// For another agent that still holds the tree to notice that its sync is gone.
const LOCKING: Duration = Duration::from_secs(20);

/// The tree that is served.
pub struct Tree {
    root: Root,
    writes: bool,
    drafts: DraftNames,
    birth: Birth,
    extended: Extended,
    with_owner: bool,
    uploads: Uploads,
    _lock: Option<OwnedFd>,
}

/// Names for drafts that begin as the sync says.
struct DraftNames {
    prefix: String,
    agent: u32,
    number: AtomicU64,
}

impl Names for DraftNames {
    fn name_in(&self, _: &[u8]) -> fault::Result<Vec<u8>> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        Ok(format!("{}{:08x}-{number:x}", self.prefix, self.agent).into_bytes())
    }
}

/// What tells a tree of this host from all others.
pub fn opened(root: &Root) -> fault::Result<Opened> {
    let failed = |error| Fault::os("look at", root.path(), error);
    let mut above = Vec::new();
    let mut at = root.open_dir(b"").map_err(failed)?;
    loop {
        let meta = meta_of(&at).map_err(failed)?;
        if above.last() == Some(&(meta.device, meta.inode)) {
            break;
        }
        above.push((meta.device, meta.inode));
        // What lies above may be closed to us: then nothing more is known.
        match store::open_dir_in(&at, b"..") {
            Ok(parent) => at = parent,
            Err(_) => break,
        }
    }
    Ok(Opened { identity: Identity::of(root)?.numbers(), above, boot: store::boot_id() })
}

fn tag_of(meta: &Meta) -> String {
    format!("{:x}.{:x}.{:x}.{:x}", meta.size, meta.mtime.as_nanos(), meta.ctime.as_nanos(), meta.inode)
}

/// The inode that the tag of a file says.
pub fn inode_of(tag: &str) -> Option<u64> {
    u64::from_str_radix(tag.rsplit('.').next()?, 16).ok()
}

fn as_fault(root: &Root, path: &[u8], trouble: Trouble) -> Fault {
    match trouble {
        Trouble::Item(fault) => fault,
        _ => Fault::new(FaultKind::NotFound, format!("there is no `{}`", root.show(path).display())),
    }
}

fn check(path: &[u8]) -> fault::Result<&[u8]> {
    if path.is_empty() || is_path(path) { Ok(path) } else { Err(foreign()) }
}

impl Tree {
    /// Opens what is asked for.
    pub fn open(opening: &Opening) -> fault::Result<Self> {
        let path: &Path = std::ffi::OsStr::from_bytes(&opening.path).as_ref();
        let path = if opening.path.is_empty() { Path::new(".") } else { path };
        let shown = PathBuf::from(&opening.shown);
        if opening.locks && !path.exists() {
            std::fs::create_dir(path).map_err(|error| Fault::os("create", &shown, error))?;
        }
        if path.is_file() {
            let text = format!("`{}` is no directory", opening.shown);
            return Err(Fault::new(FaultKind::Usage, text)
                .hint("give the directory it is in, and the file with --include"));
        }
        let root = Root::open(path).map_err(|fault| renamed(fault, &shown))?.shown_as(shown);
        let held = if opening.locks { Some(lock_patiently(&root)?) } else { None };
        Ok(Self {
            root,
            writes: opening.writes,
            drafts: DraftNames {
                prefix: opening.drafts.clone(),
                agent: std::process::id(),
                number: AtomicU64::new(0),
            },
            birth: Birth::learn(),
            extended: opening.extended,
            with_owner: rustix::process::geteuid().is_root(),
            uploads: Uploads::default(),
            _lock: held,
        })
    }

    /// What the sync is told of it.
    pub fn facts(&self) -> fault::Result<Opened> {
        opened(&self.root)
    }

    /// Does what is asked, and answers.
    pub fn answer(&self, desk: &Desk, number: u32, ask: Ask) {
        let answer = match ask {
            Ask::List(wanted) => listing::list(&self.root, &wanted, (desk, number)),
            Ask::Chunks { path, average, tag } => self
                .tied(&path, &tag, |file, size| {
                    sums::chunks(file, size, average, &|chunks| {
                        desk.item(number, &Listed::Chunks(chunks)).map_err(|_| foreign())
                    })
                })
                .map(Answer::from),
            ask => self.do_one(ask, desk.press()),
        };
        desk.end(number, answer);
    }

    fn do_one(&self, ask: Ask, press: &Press) -> fault::Result<Answer> {
        match ask {
            Ask::Look(path) => self.look(&path).map(Answer::from),
            Ask::Whole(paths, most) => Ok(self.whole(&paths, most, press)),
            Ask::Read { path, from, to, tag } => self.read(&path, (from, to), &tag, press),
            Ask::Hash(path) => self.hash(&path).map(Answer::from),
            Ask::Sums { path, from, to, tag } => {
                self.tied(&path, &tag, |file, _| sums::leaves(file, from, to)).map(Answer::from)
            }
            Ask::Beat | Ask::Open(_) | Ask::List(_) => Err(foreign()),
            ask if self.writes => self.change(ask).map(Answer::from),
            _ => Err(foreign()),
        }
    }

    fn object(&self, entry: &Entry<'_>, path: &[u8]) -> fault::Result<Object> {
        let named = entry
            .named(self.extended, &self.root, path)
            .map_err(|trouble| as_fault(&self.root, path, trouble))?;
        let labels = Posix::of(&entry.meta, named).labels(&super::super::tree::ABILITIES).0;
        let meta = &entry.meta;
        // What a directory takes is nothing that could be read.
        let size = if matches!(meta.kind, Kind::File | Kind::Symlink) { meta.size } else { 0 };
        let (tag, modified) = (tag_of(meta), meta.ctime);
        Ok(Object { key: String::new(), size, tag, modified, labels: Some(labels) })
    }

    fn with_entry<T>(
        &self,
        path: &[u8],
        work: impl FnOnce(&Entry<'_>) -> fault::Result<T>,
    ) -> fault::Result<T> {
        let mut hand = Hand::default();
        let entry = Entry::open(&self.root, &mut hand, check(path)?)
            .map_err(|trouble| as_fault(&self.root, path, trouble))?;
        work(&entry)
    }

    fn changed(&self, path: &[u8]) -> Fault {
        changed(&self.root.show(path).display().to_string(), "")
    }

    fn look(&self, path: &[u8]) -> fault::Result<Vec<u8>> {
        let object = self.with_entry(path, |entry| self.object(entry, path))?;
        let mut out = Vec::new();
        put_object(&mut out, &object);
        Ok(out)
    }

    fn whole(&self, paths: &[(Vec<u8>, Vec<u8>)], most: u64, press: &Press) -> Answer {
        let mut out = Vec::new();
        for (path, known) in paths {
            put_outcome(&mut out, self.whole_one((path, known), most.min(MOST), press));
        }
        out.into()
    }

    fn whole_one(&self, (path, known): (&[u8], &[u8]), most: u64, press: &Press) -> fault::Result<Vec<u8>> {
        self.with_entry(path, |entry| {
            let mut object = self.object(entry, path)?;
            let content = match (&entry.file, entry.meta.kind) {
                (Some(file), Kind::File) if object.size <= most => {
                    Bytes::from(self.content(file.as_fd(), &entry.meta, (0, object.size), path)?)
                }
                // It grew since it was listed: the sync looks again.
                (_, Kind::File) => return Err(self.changed(path)),
                (_, Kind::Symlink) => {
                    let target = store::read_link(entry.dir, entry.name)
                        .map_err(|error| Fault::os("read the link", &self.root.show(path), error))?;
                    object.size = target.len() as u64;
                    target.into()
                }
                _ => Bytes::new(),
            };
            let mut out = Vec::new();
            put_object(&mut out, &object);
            if !known.is_empty() && chunk::Id::of(&content).short()[..] == *known {
                return Ok(out);
            }
            let tail = put_content(&mut out, &content, press);
            out.extend_from_slice(&tail);
            Ok(out)
        })
    }

    /// Reads a piece of a file that stays as it is meanwhile.
    fn content(
        &self,
        file: BorrowedFd<'_>,
        meta: &Meta,
        (from, to): (u64, u64),
        path: &[u8],
    ) -> fault::Result<Vec<u8>> {
        let failed = |error| Fault::os("read", &self.root.show(path), error);
        let mut bytes = vec![0; to.saturating_sub(from) as usize];
        // Holes are not read.
        if !is_sparse(meta) || !extents(file, from, to).map_err(failed)?.is_empty() {
            let length = read_full(file, &mut bytes, from).map_err(failed)?;
            if length < bytes.len() {
                return Err(self.changed(path));
            }
        }
        if meta.same_content(&meta_of(file).map_err(failed)?) { Ok(bytes) } else { Err(self.changed(path)) }
    }

    fn read(&self, path: &[u8], (from, to): (u64, u64), tag: &str, press: &Press) -> fault::Result<Answer> {
        if to < from || to - from > MOST {
            return Err(foreign());
        }
        self.with_entry(path, |entry| {
            if entry.meta.kind == Kind::Symlink && from == 0 {
                let target = store::read_link(entry.dir, entry.name)
                    .map_err(|error| Fault::os("read the link", &self.root.show(path), error))?;
                return Ok(pressed(target, press));
            }
            let (Some(file), Kind::File) = (&entry.file, entry.meta.kind) else {
                return Err(self.changed(path));
            };
            if !tag.is_empty() && tag != tag_of(&entry.meta) {
                return Err(self.changed(path));
            }
            self.content(file.as_fd(), &entry.meta, (from, to), path).map(|bytes| pressed(bytes, press))
        })
    }

    fn hash(&self, path: &[u8]) -> fault::Result<Vec<u8>> {
        self.with_entry(path, |entry| {
            let (size, id) = if entry.meta.kind == Kind::Symlink {
                let target = store::read_link(entry.dir, entry.name)
                    .map_err(|error| Fault::os("read the link", &self.root.show(path), error))?;
                (target.len() as u64, chunk::Id::of(&target))
            } else if let (Some(file), Kind::File) = (&entry.file, entry.meta.kind) {
                sums::hash(file).map_err(|error| Fault::os("read", &self.root.show(path), error))?
            } else {
                (0, chunk::Id::of(b""))
            };
            let mut out = Vec::new();
            put(&mut out, size);
            out.extend_from_slice(&id.0);
            Ok(out)
        })
    }

    /// Looks at the content of a file that has this tag, and has it still afterwards.
    fn tied<T>(
        &self,
        path: &[u8],
        tag: &str,
        look: impl FnOnce(BorrowedFd<'_>, u64) -> fault::Result<T>,
    ) -> fault::Result<T> {
        self.with_entry(path, |entry| {
            let (Some(file), Kind::File) = (&entry.file, entry.meta.kind) else {
                return Err(self.changed(path));
            };
            if tag != tag_of(&entry.meta) {
                return Err(self.changed(path));
            }
            let found = look(file.as_fd(), entry.meta.size)?;
            let after = meta_of(file).map_err(|error| Fault::os("look at", &self.root.show(path), error))?;
            if entry.meta.same_content(&after) { Ok(found) } else { Err(self.changed(path)) }
        })
    }
}

/// Content as an answer.
fn pressed(content: Vec<u8>, press: &Press) -> Answer {
    let mut head = Vec::new();
    let tail = put_content(&mut head, &content.into(), press);
    Answer { head, tail }
}

/// A failure to open the tree, under the name that the sync knows it by.
fn renamed(fault: Fault, shown: &Path) -> Fault {
    match fault.errno().map(std::io::Error::from_raw_os_error) {
        Some(error) => Fault::os("open", shown, error),
        None => fault,
    }
}

/// An agent whose sync is gone notices that by the end of its connection, which may take a moment.
fn lock_patiently(root: &Root) -> fault::Result<OwnedFd> {
    let started = Instant::now();
    loop {
        match lock_destination(root) {
            Err(fault) if fault.kind() == FaultKind::Refused && started.elapsed() < LOCKING => {
                std::thread::sleep(Duration::from_millis(100));
            }
            locked => return locked,
        }
    }
}
