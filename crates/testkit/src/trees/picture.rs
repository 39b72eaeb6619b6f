use std::collections::{BTreeMap, HashMap};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fgetxattr, flistxattr, openat, readlinkat, statat};

/// Everything that can be seen of one entry, but for what differs from place to place (inode, device, ctime, atime).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Type and permission bits.
    pub mode: u32,
    /// Owner and group.
    pub owner: (u32, u32),
    /// Last change of the content: seconds, nanoseconds.
    pub mtime: (i64, u64),
    /// Content of a file, target of a symlink.
    pub content: Vec<u8>,
    /// Size, bytes; 0 for directories, whose size is the file system's business.
    pub size: u64,
    /// Extended attributes with their values.
    pub attributes: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The first name of the same file, where it has several.
    pub first_name: Option<Vec<u8>>,
    /// Device that a device file stands for.
    pub node: u64,
}

/// A tree: path relative to its root (which is the empty path), and what is there.
pub type Picture = BTreeMap<Vec<u8>, Entry>;

/// Content up to this size is compared as it is, larger by its parts that are no holes.
const MOST: u64 = 64 << 20;

/// Takes a picture of everything below `root`, at any depth.
///
/// # Panics
///
/// If anything can't be looked at.
pub fn picture(root: &Path) -> Picture {
    let dir =
        rustix::fs::open(root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap_or_else(|error| {
            panic!("{}: {error}", root.display());
        });
    let mut found = Picture::new();
    let mut names = HashMap::new();
    take(&dir, b"", &mut found, &mut names);
    found
}

fn take(dir: &OwnedFd, path: &[u8], found: &mut Picture, names: &mut HashMap<u64, Vec<u8>>) {
    let stat = rustix::fs::fstat(dir).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut entry = entry_of(&stat);
    entry.attributes = attributes(dir);
    entry.size = 0;
    found.insert(path.to_vec(), entry);
    let mut inside: Vec<Vec<u8>> = Dir::read_from(dir)
        .unwrap_or_else(|error| panic!("{path:?}: {error}"))
        .map(|entry| {
            entry.unwrap_or_else(|error| panic!("{path:?}: {error}")).file_name().to_bytes().to_vec()
        })
        .filter(|name| name != b"." && name != b"..")
        .collect();
    inside.sort();
    for name in inside {
        let below = if path.is_empty() { name.clone() } else { [path, &name].join(&b'/') };
        let stat = statat(dir, &name[..], AtFlags::SYMLINK_NOFOLLOW)
            .unwrap_or_else(|error| panic!("{below:?}: {error}"));
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let inner = openat(dir, &name[..], flags, Mode::empty())
                .unwrap_or_else(|error| panic!("{below:?}: {error}"));
            take(&inner, &below, found, names);
            continue;
        }
        let mut entry = entry_of(&stat);
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => look_inside(dir, &name, &mut entry),
            FileType::Symlink => {
                let target = readlinkat(dir, &name[..], Vec::new())
                    .unwrap_or_else(|error| panic!("{below:?}: {error}"));
                entry.content = target.into_bytes();
            }
            _ => entry.size = 0,
        }
        if stat.st_nlink > 1 {
            entry.first_name = Some(names.entry(stat.st_ino).or_insert_with(|| below.clone()).clone());
        }
        found.insert(below, entry);
    }
}

fn look_inside(dir: &OwnedFd, name: &[u8], entry: &mut Entry) {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(dir, name, flags, Mode::empty()).unwrap_or_else(|error| panic!("{name:?}: {error}"));
    entry.attributes = attributes(&file);
    if entry.size <= MOST {
        let mut file = std::fs::File::from(file);
        std::io::Read::read_to_end(&mut file, &mut entry.content)
            .unwrap_or_else(|error| panic!("{name:?}: {error}"));
    }
}

fn entry_of(stat: &rustix::fs::Stat) -> Entry {
    Entry {
        mode: stat.st_mode,
        owner: (stat.st_uid, stat.st_gid),
        mtime: (stat.st_mtime, stat.st_mtime_nsec),
        content: Vec::new(),
        size: stat.st_size.unsigned_abs(),
        attributes: BTreeMap::new(),
        first_name: None,
        node: stat.st_rdev,
    }
}

fn attributes(file: impl AsFd) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut list = vec![0; 65_536];
    let length = flistxattr(&file, &mut list[..]).unwrap_or(0);
    let names = list[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    // How XFS stores ACLs, shown beside them.
    let names = names.filter(|name| !name.starts_with(b"trusted.SGI_ACL_"));
    names
        .map(|name| {
            let mut value = vec![0; 65_536];
            let length = fgetxattr(&file, name, &mut value[..]).unwrap_or(0);
            (name.to_vec(), value[..length].to_vec())
        })
        .collect()
}

/// What differs between two pictures, a line each; empty where they are equal.
pub fn differences(expected: &Picture, found: &Picture) -> Vec<String> {
    let show = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    let mut lines: Vec<String> = Vec::new();
    for (path, entry) in expected {
        match found.get(path) {
            None => lines.push(format!("`{}` is missing", show(path))),
            Some(other) if entry == other => {}
            Some(other) => lines.push(format!("`{}`: {}", show(path), difference(entry, other))),
        }
    }
    lines.extend(
        found
            .keys()
            .filter(|path| !expected.contains_key(*path))
            .map(|path| format!("`{}` is extra", show(path))),
    );
    lines
}

fn difference(expected: &Entry, found: &Entry) -> String {
    let bare = |entry: &Entry| {
        let (content, id) = (
            entry.content.len(),
            entry.content.iter().fold(7u64, |sum, byte| sum.wrapping_mul(31) + u64::from(*byte)),
        );
        format!(
            "mode {:o} owner {:?} mtime {:?} size {} content {content}/{id:x} attributes {:?} first name {:?}",
            entry.mode,
            entry.owner,
            entry.mtime,
            entry.size,
            entry.attributes.keys().map(|key| String::from_utf8_lossy(key)).collect::<Vec<_>>(),
            entry.first_name.as_ref().map(|name| String::from_utf8_lossy(name))
        )
    };
    format!("expected {}, found {}", bare(expected), bare(found))
}
