//! One watch per directory (inotify(7)): for users without rights, and for file systems without handles.

use std::collections::{BTreeMap, HashMap};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use fault::Fault;
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch};
use store::{Errno, Kind, Lister, Root, below, meta_of, meta_of_entry};

use super::fanotify::is_ready;
use super::follower::{Follower, Told};

const WANTED: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::EXCL_UNLINK);
/// How often trees that can't be watched are looked at.
const BLIND: Duration = Duration::from_mins(1);
/// The watch of the source itself has no parent.
const NONE: i32 = -1;

/// Follows a source by inotify.
pub struct Inotify {
    fd: OwnedFd,
    root: Root,
    device: Option<u64>,
    nodes: HashMap<i32, Node>,
    /// Trees for which there were no watches left, and when they were looked at.
    blind: Vec<Vec<u8>>,
    looked: Instant,
    buffer: Vec<MaybeUninit<u8>>,
    lister: Lister,
}

/// A directory that is watched.
struct Node {
    parent: i32,
    name: Box<[u8]>,
    inside: BTreeMap<Box<[u8]>, i32>,
}

/// An event, out of the buffer.
struct Heard {
    watch: i32,
    flags: ReadFlags,
    name: Vec<u8>,
}

impl Inotify {
    /// Watches all directories of `source`; those on other file systems only where `cross_mounts`.
    pub fn start(source: &Path, cross_mounts: bool, told: &mut Told) -> fault::Result<Self> {
        let root = Root::open(source)?;
        let device = (!cross_mounts).then_some(root.meta()?.device);
        let fd = new_queue(source)?;
        let (buffer, lister) = (vec![MaybeUninit::uninit(); 256 << 10], Lister::default());
        let mut follower = Self {
            fd,
            root,
            device,
            nodes: HashMap::new(),
            blind: Vec::new(),
            looked: Instant::now(),
            buffer,
            lister,
        };
        follower.add_tree(NONE, b"", told)?;
        Ok(follower)
    }

    /// Watches the directory `name` of the watched directory `parent`, and all below it.
    fn add_tree(&mut self, parent: i32, name: &[u8], told: &mut Told) -> fault::Result<()> {
        let mut todo = vec![(parent, name.to_vec())];
        while let Some((parent, name)) = todo.pop() {
            let path = if parent == NONE {
                Vec::new()
            } else {
                let Some(above) = self.path(parent) else { continue };
                below(&above, &name)
            };
            let Ok(dir) = self.root.open_dir(&path) else { continue };
            if self.device.is_some_and(|device| meta_of(&dir).is_ok_and(|meta| meta.device != device)) {
                continue;
            }
            // By the descriptor: nobody can put another directory there meanwhile.
            match add_watch(&self.fd, format!("/proc/self/fd/{}", dir.as_raw_fd()), WANTED) {
                Ok(watch) => {
                    self.place(watch, parent, &name);
                    self.directories(&dir, |inside| todo.push((watch, inside)));
                }
                Err(Errno::NOSPC) => self.give_up_on(path, told),
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => return Err(Fault::os("watch", &self.root.show(&path), error)),
            }
        }
        Ok(())
    }

    fn directories(&mut self, dir: &OwnedFd, mut each: impl FnMut(Vec<u8>)) {
        // What can't be listed is told when it is synced.
        let _ = self.lister.list(dir, |entry| -> store::Os<()> {
            let name = entry.name.to_bytes();
            let is_dir = match entry.kind {
                Some(kind) => kind == Kind::Directory,
                None => meta_of_entry(dir, name).is_ok_and(|meta| meta.kind == Kind::Directory),
            };
            if is_dir {
                each(name.to_vec());
            }
            Ok(())
        });
    }

    fn give_up_on(&mut self, path: Vec<u8>, told: &mut Told) {
        if self.blind.is_empty() {
            told.notes.push(format!(
                "no inotify watches are left for `{}`: it is looked at once a minute (raise fs.inotify.max_user_watches, or run as root)",
                self.root.show(&path).display()
            ));
        }
        if !self.blind.contains(&path) {
            self.blind.push(path);
        }
    }

    /// A watch stands for the directory `name` in `parent`, wherever it was before.
    fn place(&mut self, watch: i32, parent: i32, name: &[u8]) {
        let inside = self.nodes.remove(&watch).map(|old| {
            self.forget_name(watch, &old);
            old.inside
        });
        if let Some(above) = self.nodes.get_mut(&parent) {
            above.inside.insert(name.into(), watch);
        }
        self.nodes.insert(watch, Node { parent, name: name.into(), inside: inside.unwrap_or_default() });
    }

    fn forget_name(&mut self, watch: i32, node: &Node) {
        if let Some(above) = self.nodes.get_mut(&node.parent)
            && above.inside.get(&node.name) == Some(&watch)
        {
            above.inside.remove(&node.name);
        }
    }

    /// The directory `name` of `parent` is elsewhere now: whoever gets it watches it anew.
    fn drop_tree(&mut self, parent: i32, name: &[u8]) {
        let first = self.nodes.get_mut(&parent).and_then(|node| node.inside.remove(name));
        let mut todo: Vec<i32> = first.into_iter().collect();
        while let Some(watch) = todo.pop() {
            if let Some(node) = self.nodes.remove(&watch) {
                todo.extend(node.inside.values());
                // It may be gone already.
                let _ = remove_watch(&self.fd, watch);
            }
        }
    }

    fn path(&self, watch: i32) -> Option<Vec<u8>> {
        let mut names = Vec::new();
        let mut at = self.nodes.get(&watch)?;
        while at.parent != NONE {
            names.push(&at.name[..]);
            at = self.nodes.get(&at.parent)?;
        }
        names.reverse();
        Some(names.join(&b'/'))
    }

    fn heard(&mut self, event: &Heard, told: &mut Told) -> fault::Result<()> {
        if event.flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            told.lost("the kernel's queue of events ran over");
            return self.start_again(told);
        }
        if event.flags.contains(ReadFlags::IGNORED) {
            if let Some(node) = self.nodes.remove(&event.watch) {
                self.forget_name(event.watch, &node);
            }
            return Ok(());
        }
        let Some(dir) = self.path(event.watch) else { return Ok(()) };
        if event.name.is_empty() {
            told.changes.directory(&dir);
            return Ok(());
        }
        let is_dir = event.flags.contains(ReadFlags::ISDIR);
        let came = event.flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
        if is_dir && event.flags.contains(ReadFlags::MOVED_FROM) {
            self.drop_tree(event.watch, &event.name);
        }
        if is_dir && came {
            // Watched first: what comes after is heard, what was before is found by the look at the tree.
            self.add_tree(event.watch, &event.name, told)?;
        }
        if is_dir && event.flags.contains(ReadFlags::ATTRIB) && !came {
            told.changes.directory(&below(&dir, &event.name));
        } else {
            told.changes.name(&dir, &event.name, is_dir && came);
        }
        Ok(())
    }

    /// Directories may have come that nobody told us of: all are watched anew.
    fn start_again(&mut self, told: &mut Told) -> fault::Result<()> {
        self.fd = new_queue(self.root.path())?;
        self.nodes.clear();
        self.blind.clear();
        self.add_tree(NONE, b"", told)
    }

    fn read(&mut self) -> fault::Result<Vec<Heard>> {
        let mut heard = Vec::new();
        let mut reader = Reader::new(&self.fd, &mut self.buffer);
        loop {
            match reader.next() {
                Ok(event) => heard.push(Heard {
                    watch: event.wd(),
                    flags: event.events(),
                    name: event.file_name().map_or_else(Vec::new, |name| name.to_bytes().to_vec()),
                }),
                Err(Errno::AGAIN | Errno::INTR) => return Ok(heard),
                Err(error) => {
                    return Err(Fault::os("read", Path::new("the kernel's queue of events"), error));
                }
            }
            if reader.is_buffer_empty() {
                return Ok(heard);
            }
        }
    }
}

fn new_queue(source: &Path) -> fault::Result<OwnedFd> {
    init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(|error| {
        let fault = Fault::os("watch", source, error);
        if error == Errno::MFILE {
            fault.hint("raise fs.inotify.max_user_instances, or run as root")
        } else {
            fault
        }
    })
}

impl Follower for Inotify {
    fn by(&self) -> &'static str {
        "inotify"
    }

    fn take(&mut self, told: &mut Told, wait: Duration) -> fault::Result<()> {
        if !self.blind.is_empty() && self.looked.elapsed() >= BLIND {
            self.blind.iter().for_each(|tree| told.changes.tree(tree));
            self.looked = Instant::now();
        }
        let failed = |error| Fault::os("read", Path::new("the kernel's queue of events"), error);
        if !is_ready(self.fd.as_fd(), wait).map_err(failed)? {
            return Ok(());
        }
        for event in self.read()? {
            self.heard(&event, told)?;
            if event.flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                // The rest is of watches that are no more.
                break;
            }
        }
        Ok(())
    }
}
