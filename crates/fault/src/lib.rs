//! One error for the whole house. It answers three readers: code asks its [`Kind`], the retry layer asks
//! [`Fault::may_retry`], and the person reads what happened to which thing, and what to do about it.

use std::fmt;
use std::path::Path;

/// What sort of failure this is; the binary's exit code follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The command line is wrong.
    Usage,
    /// A spec or workload file is wrong.
    Spec,
    /// A named thing does not exist.
    NotFound,
    /// The operating system does not allow it (permissions, root squash, read-only).
    Denied,
    /// No space, inodes or quota left, or a file may not get larger.
    NoSpace,
    /// We refuse, to protect data; the hint says how to insist.
    Refused,
    /// A device, file system or network failed.
    Io,
    /// A document or stored data is damaged, or a document is of a version we don't read.
    Corrupt,
    /// A signal or another participant stopped the work.
    Interrupted,
    /// This machine or file system can't do it.
    Unsupported,
    /// Our own mistake.
    Bug,
}

/// A failure: kind, message, hint, and what caused it.
#[derive(Debug)]
pub struct Fault {
    kind: Kind,
    message: String,
    hint: Option<String>,
    retry: bool,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What every fallible function of the house returns.
pub type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// A failure with its message: lower case, naming the thing and the value.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, retry: false, source: None }
    }

    /// Adds what the person can do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the underlying error.
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Marks a failure that may pass if tried again.
    pub fn temporary(mut self) -> Self {
        self.retry = true;
        self
    }

    /// Wraps an operating system error on `path`, with the kind and hint that follow from its number.
    pub fn os(action: &str, path: &Path, error: impl Into<std::io::Error>) -> Self {
        let error: std::io::Error = error.into();
        let (kind, hint) = explain(&error);
        let mut fault = Self::new(kind, format!("cannot {action} `{}`: {}", path.display(), plain(&error)));
        fault.hint = hint.map(str::to_owned);
        fault.retry = kind == Kind::Interrupted;
        fault.caused_by(error)
    }

    /// The sort of failure.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether trying again may help.
    pub fn may_retry(&self) -> bool {
        self.retry
    }

    /// What happened, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the person can do.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The operating system's error number below this failure, if there is one.
    pub fn errno(&self) -> Option<i32> {
        self.source.as_ref()?.downcast_ref::<std::io::Error>()?.raw_os_error()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn std::error::Error + 'static))
    }
}

/// The system's own words for an error, without the number.
pub fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn explain(error: &std::io::Error) -> (Kind, Option<&'static str>) {
    use rustix::io::Errno;
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) => (Kind::NotFound, Some("check the path, and that the file system is mounted")),
        Some(Errno::NOTDIR) => (Kind::NotFound, Some("a directory is needed here")),
        Some(Errno::ROFS) => (
            Kind::Denied,
            Some("the file system is mounted read-only; remount it with `mount -o remount,rw`"),
        ),
        Some(Errno::ACCESS | Errno::PERM) => (
            Kind::Denied,
            Some(
                "check owner and mode of the directory; on NFS the server may map root to nobody (root_squash): run as a user who may write there",
            ),
        ),
        Some(Errno::NOSPC) => {
            (Kind::NoSpace, Some("free some space or inodes (`df -h`, `df -i`), or use a smaller size"))
        }
        Some(Errno::DQUOT) => (
            Kind::NoSpace,
            Some("the disk quota is used up (`quota`, `lfs quota`): raise it or use a smaller size"),
        ),
        Some(Errno::FBIG) => (
            Kind::NoSpace,
            Some(
                "files may not get this large here (`ulimit -f`, the file system's limit): use a smaller size",
            ),
        ),
        Some(Errno::IO) => {
            (Kind::Io, Some("the storage reported an I/O error: look at `dmesg` and the server's log"))
        }
        Some(Errno::STALE) => {
            (Kind::Io, Some("the server no longer knows this file handle: remount the file system"))
        }
        Some(Errno::INTR) => (Kind::Interrupted, None),
        Some(Errno::MFILE | Errno::NFILE) => {
            (Kind::Io, Some("raise the limit of open files (`ulimit -n`) or use fewer ranks"))
        }
        Some(Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL) => (Kind::Unsupported, None),
        _ => (Kind::Io, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_os_error_names_the_path_and_what_to_do() {
        let fault = Fault::os("open", Path::new("/gone"), rustix::io::Errno::NOENT);
        assert_eq!(fault.to_string(), "cannot open `/gone`: no such file or directory");
        assert_eq!(fault.kind(), Kind::NotFound);
        assert!(fault.hint_text().unwrap().contains("mounted"));
        assert_eq!(fault.errno(), Some(2));
    }
}
