//! A tree and what is done with it. Every path is looked up from the root anew, and no symlink is followed.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fault::{Fault, Kind as FaultKind};
use store::objects::{Bytes, Labels, Object, changed};
use store::{Durability, Extended, Kind, Meta, Root, Stamp, extents, is_sparse, meta_of, read_full};

use super::super::content::{MOST, put_content};
use super::super::words::{Ask, Opened, Opening, foreign, put_object, put_outcome};
use super::desk::{Answer, Desk};
use super::listing;
use super::uploads::{Coming, Uploads};
use crate::index::wire::put;
use crate::job::Birth;
use crate::objects::labels::Posix;
use crate::objects::making::{
    Making, Names, dress_directory, link_names, make_directory, open_or_make, remove_drafts,
};
use crate::objects::remove::{open_trash, remove_one};
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
            ask => self.do_one(ask),
        };
        desk.end(number, answer);
    }

    fn do_one(&self, ask: Ask) -> fault::Result<Answer> {
        match ask {
            Ask::Look(path) => self.look(&path).map(Answer::from),
            Ask::Whole(paths, most) => Ok(self.whole(&paths, most)),
            Ask::Read { path, from, to, tag } => self.read(&path, (from, to), &tag),
            Ask::Hash(path) => self.hash(&path).map(Answer::from),
            Ask::Beat | Ask::Open(_) | Ask::List(_) => Err(foreign()),
            ask if self.writes => self.change(ask).map(Answer::from),
            _ => Err(foreign()),
        }
    }

    fn change(&self, ask: Ask) -> fault::Result<Vec<u8>> {
        let flag = |is: bool| vec![u8::from(is)];
        match ask {
            Ask::Write { path, labels, content } => self.write(&path, &labels, &content),
            Ask::Begin { upload, path } => self.begin(upload, path),
            Ask::Part { upload, at, sparse, content } => self.part(upload, at, sparse, &content),
            Ask::End { upload, path, size, labels } => self.end(upload, &path, size, &labels),
            Ask::Discard { upload } => {
                self.uploads.take(upload)?.discard();
                Ok(Vec::new())
            }
            Ask::Directory(path) => self.directory(&path).map(flag),
            Ask::Link(from, to) => link_names(&self.root, &self.drafts, check(&from)?, check(&to)?).map(flag),
            Ask::Finish(directories) => {
                Ok(each(directories, |(path, labels)| self.finish(&path, labels).map(flag)))
            }
            Ask::Delete { trash, paths } => self.delete(&trash, paths),
            Ask::Sync => Durability::all(self.root.fd())
                .map(|()| Vec::new())
                .map_err(|error| Fault::os("make durable what was written to", self.root.path(), error)),
            Ask::Clean(directories) => {
                let is_draft = |name: &[u8]| {
                    !self.drafts.prefix.is_empty() && name.starts_with(self.drafts.prefix.as_bytes())
                };
                for dir in &directories {
                    remove_drafts(&self.root, check(dir)?, &is_draft)?;
                }
                Ok(Vec::new())
            }
            _ => Err(foreign()),
        }
    }

    fn object(&self, entry: &Entry<'_>, path: &[u8]) -> fault::Result<Object> {
        let named = entry
            .named(self.extended, &self.root, path)
            .map_err(|trouble| as_fault(&self.root, path, trouble))?;
        let labels = Posix::of(&entry.meta, named).labels(&super::super::tree::ABILITIES).0;
        let meta = &entry.meta;
        let (size, tag, modified) = (meta.size, tag_of(meta), meta.ctime);
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

    fn whole(&self, paths: &[Vec<u8>], most: u64) -> Answer {
        let mut out = Vec::new();
        for path in paths {
            put_outcome(&mut out, self.whole_one(path, most.min(MOST)));
        }
        out.into()
    }

    fn whole_one(&self, path: &[u8], most: u64) -> fault::Result<Vec<u8>> {
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
            let tail = put_content(&mut out, &content);
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

    fn read(&self, path: &[u8], (from, to): (u64, u64), tag: &str) -> fault::Result<Answer> {
        if to < from || to - from > MOST {
            return Err(foreign());
        }
        self.with_entry(path, |entry| {
            if entry.meta.kind == Kind::Symlink && from == 0 {
                let target = store::read_link(entry.dir, entry.name)
                    .map_err(|error| Fault::os("read the link", &self.root.show(path), error))?;
                return Ok(plain(target));
            }
            let (Some(file), Kind::File) = (&entry.file, entry.meta.kind) else {
                return Err(self.changed(path));
            };
            if !tag.is_empty() && tag != tag_of(&entry.meta) {
                return Err(self.changed(path));
            }
            self.content(file.as_fd(), &entry.meta, (from, to), path).map(plain)
        })
    }

    fn hash(&self, path: &[u8]) -> fault::Result<Vec<u8>> {
        self.with_entry(path, |entry| {
            let mut hasher = blake3::Hasher::new();
            let mut size = 0;
            if entry.meta.kind == Kind::Symlink {
                let target = store::read_link(entry.dir, entry.name)
                    .map_err(|error| Fault::os("read the link", &self.root.show(path), error))?;
                size = target.len() as u64;
                hasher.update(&target);
            } else if let (Some(file), Kind::File) = (&entry.file, entry.meta.kind) {
                let mut buffer = vec![0; 1 << 20];
                loop {
                    let length = read_full(file, &mut buffer, size)
                        .map_err(|error| Fault::os("read", &self.root.show(path), error))?;
                    if length == 0 {
                        break;
                    }
                    hasher.update(&buffer[..length]);
                    size += length as u64;
                }
            }
            let mut out = Vec::new();
            put(&mut out, size);
            out.extend_from_slice(hasher.finalize().as_bytes());
            Ok(out)
        })
    }

    fn making<'a>(&'a self, path: &'a [u8], dir: BorrowedFd<'a>) -> Making<'a> {
        Making {
            root: &self.root,
            path,
            dir,
            name: store::split_last(path).1,
            names: &self.drafts,
            umask: self.birth.umask,
            with_owner: self.with_owner,
        }
    }

    /// The open directory that `path` is in, made if it is not there.
    fn place_of(&self, path: &[u8]) -> fault::Result<OwnedFd> {
        if check(path)?.is_empty() {
            return Err(foreign());
        }
        let dir = store::split_last(path).0;
        open_or_make(&self.root, dir).map_err(|error| Fault::os("open", &self.root.show(dir), error))
    }

    fn write(&self, path: &[u8], labels: &Labels, content: &[u8]) -> fault::Result<Vec<u8>> {
        let object = Object { labels: Some(labels.clone()), ..Object::default() };
        let posix = Posix::read(&object);
        let dir = self.place_of(path)?;
        let making = self.making(path, dir.as_fd());
        match posix.kind {
            Kind::File => {
                let draft = making.draft()?;
                let done = making
                    .write_piece(&draft, content, 0, posix.sparse)
                    .and_then(|_| making.cut(&draft, content.len() as u64))
                    .and_then(|()| making.publish(&draft, &posix, Stamp::now()));
                if done.is_err() {
                    let _ = draft.discard(dir.as_fd());
                }
                done?;
            }
            Kind::Symlink if content.is_empty() || content.contains(&0) => return Err(foreign()),
            Kind::Symlink => making.link(content, &posix, Stamp::now())?,
            Kind::Directory => drop(self.directory(path)?),
            Kind::Socket => return Err(foreign()),
            _ => making.node(&posix, Stamp::now())?,
        }
        self.tag_at(path)
    }

    fn tag_at(&self, path: &[u8]) -> fault::Result<Vec<u8>> {
        self.with_entry(path, |entry| Ok(tag_of(&entry.meta).into_bytes()))
    }

    fn begin(&self, upload: u64, path: Vec<u8>) -> fault::Result<Vec<u8>> {
        let dir = self.place_of(&path)?;
        let draft = self.making(&path, dir.as_fd()).draft()?;
        self.uploads.begin(upload, Coming { draft, path, dir }).map(|()| Vec::new())
    }

    fn part(&self, upload: u64, at: u64, sparse: bool, content: &[u8]) -> fault::Result<Vec<u8>> {
        let coming = self.uploads.find(upload)?;
        let making = self.making(&coming.path, coming.dir.as_fd());
        making.write_piece(&coming.draft, content, at, sparse).map(|_| Vec::new())
    }

    fn end(&self, upload: u64, path: &[u8], size: u64, labels: &Labels) -> fault::Result<Vec<u8>> {
        let coming = self.uploads.take(upload)?;
        if coming.path != path {
            return Err(foreign());
        }
        let object = Object { labels: Some(labels.clone()), ..Object::default() };
        let making = self.making(path, coming.dir.as_fd());
        let done = making
            .cut(&coming.draft, size)
            .and_then(|()| making.publish(&coming.draft, &Posix::read(&object), Stamp::now()));
        if done.is_err() {
            coming.discard();
        }
        done?;
        self.tag_at(path)
    }

    fn directory(&self, path: &[u8]) -> fault::Result<bool> {
        if check(path)?.is_empty() {
            return Ok(false);
        }
        self.place_of(path)?;
        make_directory(&self.root, path)
    }

    fn finish(&self, path: &[u8], labels: Labels) -> fault::Result<bool> {
        let object = Object { key: "/".to_owned(), labels: Some(labels), ..Object::default() };
        let wanted = Posix::read(&object).attributes(Stamp::now(), self.birth.umask, self.with_owner);
        dress_directory(&self.root, check(path)?, &wanted, self.extended)
    }

    fn delete(&self, trash: &[u8], paths: Vec<Vec<u8>>) -> fault::Result<Vec<u8>> {
        let name = std::str::from_utf8(trash).map_err(|_| foreign())?;
        let trash = match name {
            "" => None,
            name if is_path(name.as_bytes()) && !name.contains('/') => Some(open_trash(&self.root, name)?),
            _ => return Err(foreign()),
        };
        Ok(each(paths, |path| {
            if check(&path)?.is_empty() {
                return Err(foreign());
            }
            remove_one(&self.root, &path, trash.as_ref()).map(|removed| vec![u8::from(removed)])
        }))
    }
}

/// Content as an answer.
fn plain(content: Vec<u8>) -> Answer {
    let mut head = Vec::new();
    let tail = put_content(&mut head, &content.into());
    Answer { head, tail }
}

/// The outcome of each.
fn each<T>(all: Vec<T>, mut one: impl FnMut(T) -> fault::Result<Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    all.into_iter().for_each(|item| put_outcome(&mut out, one(item)));
    out
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
