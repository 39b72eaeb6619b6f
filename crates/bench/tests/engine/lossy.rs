//! A file system in memory that says at close that the data could not be kept, as NFS and FUSE may.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, OpenFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use tempfile::TempDir;

use super::mount::call;
use super::run::disk;

/// Nothing is kept by the kernel: every look is a question.
const TTL: Duration = Duration::ZERO;

struct Node {
    parent: u64,
    name: String,
    kind: FileType,
    bytes: Vec<u8>,
}

struct Lossy {
    /// Closing files whose names start with this fails.
    fails_for: &'static str,
    nodes: Mutex<BTreeMap<u64, Node>>,
}

/// A mounted lossy file system.
pub struct LossyMount {
    session: Option<BackgroundSession>,
    directory: TempDir,
}

impl LossyMount {
    pub fn new(fails_for: &'static str) -> Self {
        let root = Node { parent: 1, name: String::new(), kind: FileType::Directory, bytes: Vec::new() };
        let lossy = Lossy { fails_for, nodes: Mutex::new(BTreeMap::from([(1, root)])) };
        let directory = disk();
        let session = fuser::spawn_mount(lossy, directory.path(), &Config::default()).unwrap();
        Self { session: Some(session), directory }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for LossyMount {
    fn drop(&mut self) {
        // Rings are torn down after the run: the file system goes when that is done.
        call("umount", &["--lazy", self.directory.path().to_str().unwrap()]);
        drop(self.session.take());
    }
}

impl Lossy {
    fn nodes(&self) -> MutexGuard<'_, BTreeMap<u64, Node>> {
        self.nodes.lock().unwrap()
    }

    fn make(&self, parent: INodeNo, name: &OsStr, kind: FileType) -> FileAttr {
        let mut nodes = self.nodes();
        let number = nodes.last_key_value().unwrap().0 + 1;
        let name = name.to_str().unwrap().to_owned();
        nodes.insert(number, Node { parent: parent.0, name, kind, bytes: Vec::new() });
        attributes(number, &nodes[&number])
    }

    fn remove(&self, parent: INodeNo, name: &OsStr) -> Result<(), Errno> {
        let mut nodes = self.nodes();
        let number = child(&nodes, parent, name).ok_or(Errno::ENOENT)?;
        if nodes.values().any(|node| node.parent == number) {
            return Err(Errno::ENOTEMPTY);
        }
        nodes.remove(&number);
        Ok(())
    }
}

fn child(nodes: &BTreeMap<u64, Node>, parent: INodeNo, name: &OsStr) -> Option<u64> {
    let is_it = |node: &Node| node.parent == parent.0 && !node.name.is_empty() && name == node.name.as_str();
    nodes.iter().find(|(_, node)| is_it(node)).map(|(number, _)| *number)
}

fn attributes(number: u64, node: &Node) -> FileAttr {
    let size = node.bytes.len() as u64;
    FileAttr {
        ino: INodeNo(number),
        size,
        blocks: size.div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind: node.kind,
        perm: 0o700,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        flags: 0,
        blksize: 4096,
    }
}

fn answer(reply: ReplyEmpty, outcome: Result<(), Errno>) {
    match outcome {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

impl Filesystem for Lossy {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let nodes = self.nodes();
        match child(&nodes, parent, name) {
            Some(number) => reply.entry(&TTL, &attributes(number, &nodes[&number]), Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.nodes().get(&ino.0) {
            Some(node) => reply.attr(&TTL, &attributes(ino.0, node)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match self.nodes().get_mut(&ino.0) {
            Some(node) => {
                if let Some(size) = size {
                    node.bytes.resize(size as usize, 0);
                }
                reply.attr(&TTL, &attributes(ino.0, node));
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        reply.entry(&TTL, &self.make(parent, name, FileType::Directory), Generation(0));
    }

    fn create(&self, _: &Request, parent: INodeNo, name: &OsStr, _: u32, _: u32, _: i32, reply: ReplyCreate) {
        let made = self.make(parent, name, FileType::RegularFile);
        reply.created(&TTL, &made, Generation(0), FileHandle(0), FopenFlags::empty());
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer(reply, self.remove(parent, name));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer(reply, self.remove(parent, name));
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let nodes = self.nodes();
        let bytes = nodes.get(&ino.0).map_or(&[][..], |node| &node.bytes);
        let start = bytes.len().min(offset as usize);
        reply.data(&bytes[start..bytes.len().min(start + size as usize)]);
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut nodes = self.nodes();
        let Some(node) = nodes.get_mut(&ino.0) else { return reply.error(Errno::ENOENT) };
        let end = offset as usize + data.len();
        if node.bytes.len() < end {
            node.bytes.resize(end, 0);
        }
        node.bytes[offset as usize..end].copy_from_slice(data);
        reply.written(data.len() as u32);
    }

    /// What close(2) waits for.
    fn flush(&self, _: &Request, ino: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        let fails = self.nodes().get(&ino.0).is_some_and(|node| node.name.starts_with(self.fails_for));
        answer(reply, if fails { Err(Errno::EIO) } else { Ok(()) });
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn readdir(&self, _: &Request, ino: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let nodes = self.nodes();
        let entries = nodes.iter().filter(|(_, node)| node.parent == ino.0 && !node.name.is_empty());
        for (place, (number, node)) in entries.enumerate().skip(offset as usize) {
            if reply.add(INodeNo(*number), place as u64 + 1, node.kind, &node.name) {
                break;
            }
        }
        reply.ok();
    }
}
