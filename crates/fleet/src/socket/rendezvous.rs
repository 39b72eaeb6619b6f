use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::token::Token;

/// Names the directory in which tasks find each other.
pub const OVERRIDE: &str = "FOREBAY_RENDEZVOUS";

const INVITATION: &str = "invitation";
const SOCKET: &str = "socket";
/// More is not ours.
const LONGEST: u64 = 64 << 10;

/// Where the tasks of a step meet. All of them find the same name; only their user can make it mean something.
#[derive(Debug)]
pub(super) struct Rendezvous {
    path: PathBuf,
    one_host: bool,
}

/// The directory made for it, removed when dropped.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    pub one_host: bool,
}

/// What stands in it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Invitation {
    pub addresses: Vec<Address>,
    pub token: Token,
}

/// Where task 0 listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Address {
    Unix(PathBuf),
    Tcp(std::net::SocketAddr),
}

impl Rendezvous {
    /// That of this step.
    pub fn here() -> Result<Self> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let job = variable("SLURM_JOB_ID").zip(variable("SLURM_STEP_ID"));
        let (job, step) = job.ok_or_else(|| Fault::new(Kind::Bug, "this is no task of a Slurm step"))?;
        let one_host =
            variable("SLURM_STEP_NUM_NODES").or_else(|| variable("SLURM_NNODES")).as_deref() == Some("1");
        let folder = match variable(OVERRIDE).or_else(|| variable("SLURM_SUBMIT_DIR").filter(|_| !one_host)) {
            Some(folder) => PathBuf::from(folder),
            // A socket needs a local file system and a short path.
            None if one_host => PathBuf::from("/tmp"),
            None => std::env::current_dir().map_err(|error| Fault::os("find", Path::new("."), error))?,
        };
        let digits = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
        let user = rustix::process::geteuid().as_raw();
        let name = format!(".forebay-{user}-{}.{}", digits(&job), digits(&step));
        Ok(Self { path: folder.join(name), one_host })
    }

    #[cfg(test)]
    pub fn at(path: PathBuf, one_host: bool) -> Self {
        Self { path, one_host }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the directory. One that is left of an earlier try of the same job is taken over if it is ours alone.
    pub fn make(&self) -> Result<Directory> {
        let directory = || Directory { path: self.path.clone(), one_host: self.one_host };
        match DirBuilder::new().mode(0o700).create(&self.path) {
            Ok(()) => Ok(directory()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                open_own(&self.path)?;
                let directory = directory();
                directory.clear();
                Ok(directory)
            }
            Err(error) => Err(Fault::os("create", &self.path, error)),
        }
    }

    /// What task 0 has written, if it has.
    pub fn look(&self) -> Result<Option<Invitation>> {
        if !self.path.exists() {
            return Ok(None);
        }
        let Some(directory) = open_own(&self.path)? else { return Ok(None) };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::openat(&directory, INVITATION, flags, Mode::empty()) else {
            return Ok(None);
        };
        let file = File::from(file);
        own(&file, &self.path)?;
        let mut text = Vec::new();
        let _ = file.take(LONGEST).read_to_end(&mut text);
        // Half a file is one that is being written.
        Ok(serde_json::from_slice(&text).ok())
    }
}

/// The directory, if it is there; an error if it is not our user's alone.
fn open_own(path: &Path) -> Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(directory) => {
            let directory = File::from(directory);
            own(&directory, path)?;
            Ok(Some(directory))
        }
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(error) => Err(Fault::os("open", path, error)),
    }
}

fn own(file: &File, path: &Path) -> Result<()> {
    let meta = file.metadata().map_err(|error| Fault::os("look at", path, error))?;
    if meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o7777 & !0o700 == 0 {
        return Ok(());
    }
    Err(Fault::new(
        Kind::Refused,
        format!(
            "`{}` is not only yours (owner {}, mode {:o})",
            path.display(),
            meta.uid(),
            meta.mode() & 0o7777
        ),
    )
    .hint(format!("somebody else may have made it: remove it, or name another directory by {OVERRIDE}")))
}

impl Directory {
    /// Where a socket may be.
    pub fn socket(&self) -> PathBuf {
        self.path.join(SOCKET)
    }

    /// Writes the invitation: under another name first, so that nobody reads half of it.
    pub fn invite(&self, invitation: &Invitation) -> Result<()> {
        let text = serde_json::to_vec(invitation)
            .map_err(|error| Fault::new(Kind::Bug, format!("cannot write an invitation: {error}")))?;
        let (half, whole) = (self.path.join("half"), self.path.join(INVITATION));
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&half)
            .and_then(|mut file| file.write_all(&text))
            .and_then(|()| std::fs::rename(&half, &whole))
            .map_err(|error| Fault::os("write", &whole, error))
    }

    fn clear(&self) {
        for name in [INVITATION, SOCKET, "half"] {
            let _ = std::fs::remove_file(self.path.join(name));
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        self.clear();
        let _ = std::fs::remove_dir(&self.path);
    }
}
