use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use fault::{Fault, Kind};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use store::{FileSystem, Root, Stamp};

/// The version of the state directory that we read and write.
const VERSION: u32 = 1;

/// Where a job keeps what it must remember: outside both trees, one directory per pair of source and destination.
#[derive(Debug)]
pub struct State {
    dir: PathBuf,
    key: String,
    /// The run of the host that the destination is on.
    boot: String,
    _lock: File,
}

/// What the last job of this pair left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    version: u32,
    source_path: String,
    destination_path: String,
    /// Which tree was read.
    pub source: Identity,
    /// Which tree was written.
    pub destination: Identity,
    /// A job began and has not ended.
    pub running: bool,
    /// The run of the host that it began in.
    pub boot: String,
}

/// Which tree it is: another one mounted at the same path has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    magic: u64,
    id: u64,
    inode: u64,
}

impl Identity {
    /// Of the tree below `root`.
    pub fn of(root: &Root) -> fault::Result<Self> {
        let system = FileSystem::of(root.fd());
        let system = system.map_err(|error| Fault::os("look at the file system of", root.path(), error))?;
        Ok(Self { magic: system.magic, id: system.id, inode: root.meta()?.inode })
    }

    /// Of a tree on another host, as its agent tells: type and id of the file system, and the root's inode.
    pub const fn of_numbers([magic, id, inode]: [u64; 3]) -> Self {
        Self { magic, id, inode }
    }

    /// As [`Identity::of_numbers`] takes it.
    pub const fn numbers(&self) -> [u64; 3] {
        [self.magic, self.id, self.inode]
    }

    /// Of a place that is what its name says.
    pub fn of_name(name: &str) -> Self {
        let word = |at: usize| {
            let id = chunk::Id::of(name.as_bytes());
            id.0[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        Self { magic: 0, id: word(0), inode: word(8) }
    }
}

impl State {
    /// Opens, or makes, the state of the pair of these paths, in `dir` or in the user's own place. No other job of the
    /// same pair can have it at the same time.
    pub fn open(dir: Option<&Path>, source: &Path, destination: &Path) -> fault::Result<Self> {
        let key = key_of(source, destination);
        let dir = match dir {
            Some(dir) => dir.to_owned(),
            None => default_place("sync")?.join(&key),
        };
        std::fs::create_dir_all(&dir).map_err(|error| Fault::os("create", &dir, error))?;
        let lock_path = dir.join("lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.map_err(|error| Fault::os("open", &lock_path, error))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            Fault::new(Kind::Refused, format!("another sync from `{}` is going", source.display()))
                .hint("wait until it ends")
        })?;
        let state = Self { dir, key, boot: store::boot_id(), _lock: lock };
        state.check_pair(source, destination)?;
        Ok(state)
    }

    /// A state directory that was named must not be that of another pair.
    fn check_pair(&self, source: &Path, destination: &Path) -> fault::Result<()> {
        let Some(memory) = self.memory()? else { return Ok(()) };
        let pair = (source.to_string_lossy(), destination.to_string_lossy());
        if (memory.source_path.as_str(), memory.destination_path.as_str()) == (&*pair.0, &*pair.1) {
            return Ok(());
        }
        let text = format!("`{}` is the state of a sync from `{}`", self.dir.display(), memory.source_path);
        Err(Fault::new(Kind::Refused, text)
            .hint("give every pair of source and destination a state of its own"))
    }

    /// The destination is on another host, in this run of it.
    pub fn written_on(&mut self, boot: &str) {
        boot.clone_into(&mut self.boot);
    }

    /// The run of the host that the destination is on.
    pub fn boot(&self) -> &str {
        &self.boot
    }

    /// A file of the state.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The directory, for sorting.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What drafts of this pair begin with at the destination.
    pub fn draft_prefix(&self) -> String {
        format!(".forebay-{}-", self.key)
    }

    /// What the last job left behind, if there was one.
    pub fn memory(&self) -> fault::Result<Option<Memory>> {
        let path = self.path("job.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Fault::os("read", &path, error)),
        };
        let memory: Memory = serde_json::from_str(&text).map_err(|error| {
            Fault::new(Kind::Corrupt, format!("`{}` is damaged: {error}", path.display()))
                .hint("remove the state directory; the next sync then compares both sides again")
        })?;
        if memory.version != VERSION {
            let text =
                format!("`{}` has version {}, this program reads {VERSION}", path.display(), memory.version);
            return Err(
                Fault::new(Kind::Corrupt, text).hint("use the program that wrote it, or another --state")
            );
        }
        Ok(Some(memory))
    }

    /// What was written may not have reached the storage, whatever it looks like: the next job compares it by its content.
    pub fn doubt(&self) -> fault::Result<()> {
        let Some(memory) = self.memory()? else { return Ok(()) };
        // As after a restart in the middle: no run of the host has this name.
        self.write_memory(&Memory { running: true, boot: String::new(), ..memory })
    }

    fn write_memory(&self, memory: &Memory) -> fault::Result<()> {
        let text = serde_json::to_string_pretty(memory)
            .map_err(|error| Fault::new(Kind::Bug, "cannot write the job's state").caused_by(error))?;
        self.write("job.json", text.as_bytes())
    }

    /// Remembers, durably, what is going on.
    pub fn remember(
        &self,
        paths: (&Path, &Path),
        identities: (Identity, Identity),
        running: bool,
    ) -> fault::Result<()> {
        let memory = Memory {
            version: VERSION,
            source_path: paths.0.to_string_lossy().into_owned(),
            destination_path: paths.1.to_string_lossy().into_owned(),
            source: identities.0,
            destination: identities.1,
            running,
            boot: self.boot.clone(),
        };
        self.write_memory(&memory)
    }

    /// Writes a file of the state whole and durably, or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> fault::Result<()> {
        let (path, new) = (self.path(name), self.path(&format!("{name}.new")));
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&new)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            std::fs::rename(&new, &path)?;
            File::open(&self.dir)?.sync_all()
        };
        write().map_err(|error| Fault::os("write", &path, error))
    }

    /// A file of the state; `None` if there is none.
    pub fn read(&self, name: &str) -> fault::Result<Option<Vec<u8>>> {
        let path = self.path(name);
        match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(|error| Fault::os("read", &path, error)),
        }
    }

    /// When the last sync of everything that did not end early began: all that was there then is known.
    pub fn seen(&self) -> Option<Stamp> {
        let text = std::fs::read_to_string(self.path("seen")).ok()?;
        let (seconds, nanos) = text.split_once('.')?;
        Some(Stamp { seconds: seconds.parse().ok()?, nanos: nanos.parse().ok()? })
    }

    /// It is over.
    pub fn see(&self, began: Stamp) -> fault::Result<()> {
        self.write("seen", format!("{}.{}", began.seconds, began.nanos).as_bytes())
    }

    /// Puts a finished file in another's place, durably.
    pub fn replace(&self, new: &str, name: &str) -> fault::Result<()> {
        let path = self.path(name);
        std::fs::rename(self.path(new), &path)
            .and_then(|()| File::open(&self.dir)?.sync_all())
            .map_err(|error| Fault::os("replace", &path, error))
    }

    /// Removes a file of the state; gone already is fine.
    pub fn remove(&self, name: &str) -> fault::Result<()> {
        let path = self.path(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Fault::os("remove", &path, error))
            }
            _ => Ok(()),
        }
    }
}

/// Sixteen hexadecimal digits that stand for a pair of paths.
pub fn key_of(source: &Path, destination: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let mut both = source.as_os_str().as_bytes().to_vec();
    both.push(0);
    both.extend_from_slice(destination.as_os_str().as_bytes());
    chunk::Id::of(&both).to_string()[..16].to_owned()
}

/// `$XDG_STATE_HOME/forebay/NAME`, or `~/.local/state/forebay/NAME`.
pub fn default_place(name: &str) -> fault::Result<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .map(|dir| dir.join("forebay").join(name))
        .ok_or_else(|| {
            Fault::new(Kind::Usage, "no place for the state of a sync: HOME is not set")
                .hint("use --state DIR")
        })
}
