//! Changelogs of Lustre: every MDT keeps a log of what happened, on any client. All logs are read from where the last
//! round ended; a record is cleared when what it told is at the destination, durably, and never before.

mod gather;
mod library;
mod record;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fault::{Fault, Kind};

use self::gather::{Gathered, Places};
use self::library::{Lustre, c_string};
use self::record::{Fid, What, parse};
use super::follower::{Follower, Told};
use super::mounts::mount_of;

/// Which log is read, and as whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    /// The MDT, such as `scratch-MDT0000`.
    pub mdt: String,
    /// The user that was registered with it, such as `cl1`.
    pub user: String,
}

impl std::str::FromStr for Reader {
    type Err = Fault;

    /// From `scratch-MDT0000=cl1`.
    fn from_str(text: &str) -> fault::Result<Self> {
        let wrong = || {
            Fault::new(Kind::Usage, format!("`{text}` names no changelog"))
                .hint("write the MDT and the registered user: scratch-MDT0000=cl1")
        };
        let (mdt, user) = text.split_once('=').ok_or_else(wrong)?;
        let number = mdt.rsplit_once("-MDT").map(|(_, number)| number).ok_or_else(wrong)?;
        let is_hex = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex || user.is_empty() {
            Err(wrong())
        } else {
            Ok(Self { mdt: mdt.to_owned(), user: user.to_owned() })
        }
    }
}

/// Follows a source by the changelogs of all its MDTs.
pub struct Changelog {
    lustre: Lustre,
    logs: Vec<Log>,
    here: Here,
    takes: u64,
    /// Up to which record each log was read in which take.
    read: VecDeque<(u64, Vec<u64>)>,
}

struct Log {
    mdt: CString,
    user: CString,
    /// The number of the last record that was read.
    last: u64,
}

/// The source, as Lustre sees it.
struct Here {
    mount: CString,
    /// The source below the root of what is mounted.
    below: PathBuf,
}

impl Changelog {
    /// Reads the logs of `readers`, which must be those of all MDTs of the file system.
    pub fn start(source: &Path, readers: &[Reader]) -> fault::Result<Self> {
        let lustre = Lustre::load()?;
        let mount = mount_of(source).ok_or_else(|| {
            Fault::new(Kind::Usage, format!("nothing is mounted at or above `{}`", source.display()))
        })?;
        check_all_are_read(readers, &present(Path::new("/sys/fs/lustre/mdc")))?;
        let below = source.strip_prefix(&mount).map(Path::to_owned).unwrap_or_default();
        let here = Here { mount: c_string(mount.as_os_str().as_bytes())?, below };
        let log = |reader: &Reader| -> fault::Result<Log> {
            Ok(Log {
                mdt: c_string(reader.mdt.as_bytes())?,
                user: c_string(reader.user.as_bytes())?,
                last: 0,
            })
        };
        let logs = readers.iter().map(log).collect::<fault::Result<_>>()?;
        Ok(Self { lustre, logs, here, takes: 0, read: VecDeque::new() })
    }
}

/// The MDTs that this client knows, by the names of their devices.
fn present(devices: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(devices).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter_map(|name| name.split_once("-mdc-").map(|(mdt, _)| mdt.to_owned())).collect()
}

/// With the log of one MDT missing, what happens there would never be heard of.
fn check_all_are_read(readers: &[Reader], present: &BTreeSet<String>) -> fault::Result<()> {
    let Some(first) = readers.first() else {
        return Err(Fault::new(Kind::Usage, "no changelog was named")
            .hint("give one for each MDT: --changelog scratch-MDT0000=cl1"));
    };
    let system = first.mdt.rsplit_once("-MDT").map_or("", |(system, _)| system);
    let of_system = |mdt: &&String| mdt.rsplit_once("-MDT").is_some_and(|(other, _)| other == system);
    let missing: Vec<&str> = present
        .iter()
        .filter(of_system)
        .filter(|mdt| !readers.iter().any(|reader| reader.mdt == **mdt))
        .map(String::as_str)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Fault::new(Kind::Usage, format!("no changelog was named for {}", missing.join(", ")))
        .hint("every MDT has a log of its own: register a user with each, and name all of them"))
}

/// Takes in the records of one log; tells where it can't be relied on.
fn read_one(bytes: &[u8], mdt: &str, last: &mut u64, gathered: &mut Gathered, told: &mut Told) {
    let Some(record) = parse(bytes) else {
        return told.lost(&format!("the changelog of {mdt} has a record that can't be read"));
    };
    if record.index <= *last {
        return told.lost(&format!("the changelog of {mdt} began anew"));
    }
    *last = record.index;
    if record.what == What::Mark {
        return told.lost(&format!("the changelog of {mdt} was switched"));
    }
    gathered.add(&record);
}

impl Places for (&Lustre, &Here) {
    fn of(&self, fid: Fid) -> fault::Result<Vec<Vec<u8>>> {
        let (lustre, here) = self;
        let found = lustre.paths(&here.mount, fid)?;
        let inside = |path: Vec<u8>| {
            let path = PathBuf::from(std::ffi::OsStr::from_bytes(&path));
            path.strip_prefix(&here.below).ok().map(|path| path.as_os_str().as_bytes().to_vec())
        };
        Ok(found.into_iter().filter_map(inside).collect())
    }
}

impl Follower for Changelog {
    fn by(&self) -> &'static str {
        "changelog"
    }

    fn take(&mut self, told: &mut Told, wait: Duration) -> fault::Result<()> {
        self.takes += 1;
        let mut gathered = Gathered::default();
        for log in &mut self.logs {
            let (mdt, mut last) = (log.mdt.to_string_lossy().into_owned(), log.last);
            self.lustre.records(&log.mdt, log.last + 1, |bytes| {
                read_one(bytes, &mdt, &mut last, &mut gathered, told);
            })?;
            log.last = last;
        }
        if gathered.is_empty() {
            std::thread::sleep(wait);
            return Ok(());
        }
        gathered.resolve(&(&self.lustre, &self.here), &mut told.changes)?;
        self.read.push_back((self.takes, self.logs.iter().map(|log| log.last).collect()));
        Ok(())
    }

    fn committed(&mut self, takes: u64) -> fault::Result<()> {
        let mut upto = None;
        while self.read.front().is_some_and(|(take, _)| *take <= takes) {
            upto = self.read.pop_front();
        }
        let Some((_, upto)) = upto else { return Ok(()) };
        for (log, upto) in self.logs.iter().zip(upto) {
            self.lustre.clear(&log.mdt, &log.user, upto)?;
        }
        Ok(())
    }
}
