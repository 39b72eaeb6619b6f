//! What changes the tree.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use fault::Fault;
use store::objects::{Labels, Object};
use store::{Draft, Durability, Kind, Stamp, meta_of};

use super::super::super::words::{Ask, foreign, put_outcome};
use super::super::sums;
use super::super::uploads::Coming;
use super::{Tree, check, tag_of};
use crate::index::wire::put;
use crate::objects::labels::Posix;
use crate::objects::making::{
    Making, dress_directory, link_names, make_directory, open_or_make, remove_drafts,
};
use crate::objects::remove::{open_trash, remove_one};
use crate::objects::side::is_path;
use crate::objects::{Joining, Moving, join, take};

impl Tree {
    /// Does it.
    pub(super) fn change(&self, ask: Ask) -> fault::Result<Vec<u8>> {
        let flag = |is: bool| vec![u8::from(is)];
        match ask {
            Ask::Write { path, labels, content } => self.write(&path, &labels, &content),
            Ask::Begin { upload, path, from_old } => self.begin(upload, path, from_old),
            Ask::GoOn { upload, path } => self.go_on(upload, path),
            Ask::Kept { upload, from, to } => sums::leaves(self.uploads.find(upload)?.draft.fd(), from, to),
            Ask::Copy { upload, from, at, length } => self.copy(upload, (from, at, length)),
            Ask::Part { upload, at, sparse, content } => self.part(upload, at, sparse, &content),
            Ask::End { upload, path, size, id, labels } => self.end((upload, size, &id), &path, &labels),
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
            Ask::Join(all) => Ok(each(all, |joining| self.join(&joining))),
            Ask::Rename(all) => Ok(each(all, |moving| self.rename(&moving))),
            Ask::Sync => Durability::all(self.root.fd())
                .map(|()| Vec::new())
                .map_err(|error| Fault::os("make durable what was written to", self.root.path(), error)),
            Ask::Clean(directories) => {
                self.clean(&directories, &|name| !name.starts_with(self.part_prefix().as_bytes()))
            }
            Ask::Sweep(directories) => self.clean(&directories, &|_| true),
            _ => Err(foreign()),
        }
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

    fn begin(&self, upload: u64, path: Vec<u8>, from_old: bool) -> fault::Result<Vec<u8>> {
        let dir = self.place_of(&path)?;
        let open = || store::open_reading(&dir, store::split_last(&path).1);
        let is_file = |file: &OwnedFd| meta_of(file).is_ok_and(|meta| meta.kind == Kind::File);
        let old = from_old.then(|| open().ok().filter(is_file)).flatten();
        let draft = self.making(&path, dir.as_fd()).draft()?;
        self.uploads.begin(upload, Coming { draft, path, dir, old }).map(|()| Vec::new())
    }

    /// What drafts begin with that a later try may go on with.
    fn part_prefix(&self) -> String {
        format!("{}part-", self.drafts.prefix)
    }

    fn clean(&self, directories: &[Vec<u8>], goes: &dyn Fn(&[u8]) -> bool) -> fault::Result<Vec<u8>> {
        let prefix = self.drafts.prefix.as_bytes();
        let is_draft = |name: &[u8]| !prefix.is_empty() && name.starts_with(prefix) && goes(name);
        for dir in directories {
            remove_drafts(&self.root, check(dir)?, &is_draft)?;
        }
        Ok(Vec::new())
    }

    fn go_on(&self, upload: u64, path: Vec<u8>) -> fault::Result<Vec<u8>> {
        let dir = self.place_of(&path)?;
        let name = format!("{}{}", self.part_prefix(), &chunk::Id::of(&path).to_string()[..16]).into_bytes();
        let failed = |error| Fault::os("create", &self.root.show(&path), error);
        let left = Draft::reopen(&dir, &name)
            .ok()
            .filter(|draft| meta_of(draft.fd()).is_ok_and(|meta| meta.kind == Kind::File && meta.links == 1));
        let draft = match left {
            Some(draft) => draft,
            None => store::remove_file(&dir, &name)
                .and_then(|()| Draft::named(&dir, &name, 0o600))
                .map_err(failed)?,
        };
        let mut out = Vec::new();
        put(&mut out, meta_of(draft.fd()).map_err(failed)?.size);
        self.uploads.begin(upload, Coming { draft, path, dir, old: None }).map(|()| out)
    }

    fn copy(&self, upload: u64, (from, at, length): (u64, u64, u64)) -> fault::Result<Vec<u8>> {
        let coming = self.uploads.find(upload)?;
        let old = coming.old.as_ref().ok_or_else(foreign)?;
        if from.checked_add(length).is_none()
            || at.checked_add(length).is_none_or(|end| end > i64::MAX as u64)
        {
            return Err(foreign());
        }
        match sums::copy(old, from, coming.draft.fd(), at, length) {
            // It is shorter than it was.
            Err(store::Errno::IO) => Err(self.changed(&coming.path)),
            done => done
                .map(|()| Vec::new())
                .map_err(|error| self.making(&coming.path, coming.dir.as_fd()).failed("write", error)),
        }
    }

    fn part(&self, upload: u64, at: u64, sparse: bool, content: &[u8]) -> fault::Result<Vec<u8>> {
        let coming = self.uploads.find(upload)?;
        let making = self.making(&coming.path, coming.dir.as_fd());
        making.write_piece(&coming.draft, content, at, sparse).map(|_| Vec::new())
    }

    fn end(
        &self,
        (upload, size, id): (u64, u64, &[u8]),
        path: &[u8],
        labels: &Labels,
    ) -> fault::Result<Vec<u8>> {
        let coming = self.uploads.take(upload)?;
        if coming.path != path {
            return Err(foreign());
        }
        let object = Object { labels: Some(labels.clone()), ..Object::default() };
        let making = self.making(path, coming.dir.as_fd());
        let done = making
            .cut(&coming.draft, size)
            .and_then(|()| match id {
                [] => Ok(()),
                id if sums::hash(coming.draft.fd()).is_ok_and(|(_, found)| found.0 == id) => Ok(()),
                _ => Err(self.changed(path)),
            })
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

    fn rename(&self, moving: &Moving) -> fault::Result<Vec<u8>> {
        check(&moving.from)?;
        let dir = self.place_of(&moving.to)?;
        let object = Object { labels: Some(moving.labels.clone()), ..Object::default() };
        let making = self.making(&moving.to, dir.as_fd());
        take(&making, moving, (&Posix::read(&object), Stamp::now()), self.extended)
            .map(|moved| vec![moved as u8])
    }

    fn join(&self, joining: &Joining) -> fault::Result<Vec<u8>> {
        if check(&joining.from)?.is_empty() || check(&joining.to)?.is_empty() {
            return Err(foreign());
        }
        join(&self.root, &self.drafts, joining).map(|joined| vec![joined as u8])
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

/// The outcome of each.
fn each<T>(all: Vec<T>, mut one: impl FnMut(T) -> fault::Result<Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    all.into_iter().for_each(|item| put_outcome(&mut out, one(item)));
    out
}
