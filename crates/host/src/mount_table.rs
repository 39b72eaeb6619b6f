//! The mount table, and which of its entries a path is on.

use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use rustix::fs::{AtFlags, CWD, StatxFlags};
use units::Bytes;

use crate::{Mount, System};

/// One line of `/proc/self/mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MountEntry {
    pub(crate) id: u64,
    pub(crate) device_number: String,
    /// The directory of the file system that appears at the mount point (not `/` for bind mounts).
    pub(crate) root: PathBuf,
    pub(crate) mount_point: PathBuf,
    pub(crate) options: String,
    pub(crate) file_system: String,
    pub(crate) source: String,
    pub(crate) super_options: String,
}

/// What the running kernel says about the mount a path is on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Whereabouts {
    /// Mount id, from Linux 5.8 on.
    mount_id: Option<u64>,
    device_number: String,
}

impl System {
    /// The mounted file system that `path` is on, with its sizes.
    pub fn mount_of(&self, path: &Path) -> Result<Mount> {
        if self.is_live() { live(self, path) } else { saved(self, path) }
    }
}

/// All entries, in the kernel's order: a later mount hides an earlier one at the same place.
pub(crate) fn read(system: &System) -> Vec<MountEntry> {
    // A thread may have mounts of its own.
    let table = if system.is_live() { "/proc/thread-self/mountinfo" } else { "/proc/self/mountinfo" };
    parse(&system.text(table).unwrap_or_default())
}

pub(crate) fn parse(mountinfo: &str) -> Vec<MountEntry> {
    mountinfo.lines().filter_map(entry).collect()
}

fn entry(line: &str) -> Option<MountEntry> {
    let fields: Vec<&str> = line.split(' ').collect();
    // any number of optional fields, then a dash
    let dash = fields.iter().skip(6).position(|&field| field == "-")? + 6;
    Some(MountEntry {
        id: fields[0].parse().ok()?,
        device_number: fields[2].to_owned(),
        root: unescape(fields[3]).into(),
        mount_point: unescape(fields[4]).into(),
        options: fields[5].to_owned(),
        file_system: (*fields.get(dash + 1)?).to_owned(),
        source: unescape(fields.get(dash + 2)?),
        super_options: fields.get(dash + 3).map(|options| unescape(options)).unwrap_or_default(),
    })
}

/// The kernel writes white space and backslashes in names as `\` and three octal digits.
pub(crate) fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'\\').then(|| after.get(..3).and_then(octal)).flatten();
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn octal(digits: &[u8]) -> Option<u8> {
    let text =
        std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|digit| digit.is_ascii_digit()))?;
    u8::from_str_radix(text, 8).ok()
}

/// The entry that holds `path`: by mount id if the kernel told it, else the deepest mount point above the path on the same
/// device, else the deepest at all (btrfs subvolumes report a device of their own). Of equals the last one is visible.
fn find<'a>(
    entries: &'a [MountEntry],
    path: &Path,
    whereabouts: Option<&Whereabouts>,
) -> Option<&'a MountEntry> {
    let mount_id = whereabouts.and_then(|whereabouts| whereabouts.mount_id);
    if let Some(entry) = entries.iter().find(|entry| Some(entry.id) == mount_id) {
        return Some(entry);
    }
    let above = || entries.iter().filter(|entry| path.starts_with(&entry.mount_point));
    let same_device = above().filter(|entry| {
        whereabouts.is_some_and(|whereabouts| whereabouts.device_number == entry.device_number)
    });
    deepest(same_device).or_else(|| deepest(above()))
}

fn deepest<'a>(entries: impl Iterator<Item = &'a MountEntry>) -> Option<&'a MountEntry> {
    entries.max_by_key(|entry| entry.mount_point.components().count())
}

fn live(system: &System, path: &Path) -> Result<Mount> {
    let path = std::fs::canonicalize(path).map_err(|error| Fault::os("find", path, error))?;
    // first of all the sizes: unlike stat, this makes an automounter mount what belongs here
    let sizes = rustix::fs::statvfs(&path)
        .map_err(|error| Fault::os("read the file system's size of", &path, error))?;
    let whereabouts = locate(&path)?;
    let entries = read(system);
    // a chroot hides the mount it lies in
    let hidden = || Mount {
        mount_point: "/".to_owned(),
        device_number: whereabouts.device_number.clone(),
        ..Mount::default()
    };
    let mount = find(&entries, &path, Some(&whereabouts)).map_or_else(hidden, Mount::from);
    Ok(Mount {
        size_bytes: Bytes::new(sizes.f_blocks.saturating_mul(sizes.f_frsize)),
        available_bytes: Bytes::new(sizes.f_bavail.saturating_mul(sizes.f_frsize)),
        free_bytes: Bytes::new(sizes.f_bfree.saturating_mul(sizes.f_frsize)),
        inodes: sizes.f_files,
        inodes_free: sizes.f_ffree,
        ..mount
    })
}

fn saved(system: &System, path: &Path) -> Result<Mount> {
    find(&read(system), path, None).map(Mount::from).ok_or_else(|| {
        Fault::new(
            Kind::NotFound,
            format!("cannot find the mount of `{}` in the saved system", path.display()),
        )
        .hint("save `/proc/self/mountinfo` with it")
    })
}

fn locate(path: &Path) -> Result<Whereabouts> {
    let stat = rustix::fs::stat(path).map_err(|error| Fault::os("look at", path, error))?;
    let device_number = device_number(stat.st_dev);
    let extended = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok();
    let told = extended.filter(|statx| statx.stx_mask & StatxFlags::MNT_ID.bits() != 0);
    Ok(Whereabouts { mount_id: told.map(|statx| statx.stx_mnt_id), device_number })
}

/// `major:minor`, as mountinfo and sysfs write it.
pub(crate) fn device_number(device: u64) -> String {
    format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device))
}

impl From<&MountEntry> for Mount {
    fn from(entry: &MountEntry) -> Self {
        Self {
            mount_point: entry.mount_point.to_string_lossy().into_owned(),
            source: entry.source.clone(),
            file_system: entry.file_system.clone(),
            options: join(&entry.options, &entry.super_options),
            device_number: entry.device_number.clone(),
            ..Self::default()
        }
    }
}

/// Both lists of options, each option once. A mount that is read-only over a writable file system is read-only.
fn join(mount: &str, super_block: &str) -> String {
    let mut options: Vec<&str> = mount.split(',').filter(|option| !option.is_empty()).collect();
    for option in super_block.split(',').filter(|option| !option.is_empty()) {
        let overruled = option == "rw" && options.contains(&"ro");
        if !overruled && !options.contains(&option) {
            options.push(option);
        }
    }
    if super_block.split(',').any(|option| option == "ro") {
        options.retain(|&option| option != "rw");
    }
    options.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
40 27 8:1 / /mnt/a rw shared:2 master:3 propagate_from:1 - xfs /dev/sda1 rw,attr2
41 40 8:2 / /mnt/a/b rw - ext4 /dev/sda2 rw
42 27 254:0 /srv/data /mnt/bind rw,relatime - ext4 /dev/vda rw
43 27 0:50 / /auto rw - autofs systemd-1 rw,fd=29
44 43 0:60 / /auto rw - nfs4 server:/export rw,vers=4.2
45 27 8:3 / /mnt/with\\040space rw - ext4 /dev/sda3 rw
garbage
46 27 0:70";

    fn at(path: &str, whereabouts: Option<(Option<u64>, &str)>) -> u64 {
        let whereabouts =
            whereabouts.map(|(mount_id, number)| Whereabouts { mount_id, device_number: number.to_owned() });
        find(&parse(TABLE), Path::new(path), whereabouts.as_ref()).unwrap().id
    }

    #[test]
    fn garbled_lines_are_left_out() {
        assert_eq!(parse(TABLE).len(), 7);
        assert_eq!(parse("").len(), 0);
    }

    #[test]
    fn the_deepest_mount_point_wins() {
        assert_eq!(at("/mnt/a/b/c", None), 41);
        assert_eq!(at("/mnt/ab", None), 27);
        assert_eq!(at("/mnt/with space/x", None), 45);
    }

    #[test]
    fn a_mount_over_an_automount_point_wins() {
        assert_eq!(at("/auto/x", None), 44);
    }

    #[test]
    fn the_device_tells_hidden_mounts_apart() {
        // /mnt/a mounted over its own sub-mount: the path is on 8:1 though /mnt/a/b is a longer mount point
        assert_eq!(at("/mnt/a/b/c", Some((None, "8:1"))), 40);
        assert_eq!(at("/mnt/bind/x", Some((None, "254:0"))), 42);
    }

    #[test]
    fn a_subvolume_with_its_own_device_number_is_found_by_its_path() {
        assert_eq!(at("/mnt/a/sub", Some((None, "0:99"))), 40);
    }

    #[test]
    fn the_mount_id_is_the_last_word() {
        assert_eq!(at("/mnt/a/b/c", Some((Some(45), "8:2"))), 45);
        assert_eq!(at("/mnt/a/b/c", Some((Some(999), "8:2"))), 41);
    }

    #[test]
    fn octal_escapes() {
        assert_eq!(unescape(r"a\040b\134c\011"), "a b\\c\t");
        assert_eq!(unescape(r"end\04"), r"end\04");
        assert_eq!(unescape(r"\999"), r"\999");
    }

    #[test]
    fn options_are_joined_once_and_read_only_wins() {
        assert_eq!(join("rw,relatime", "rw,discard"), "rw,relatime,discard");
        assert_eq!(join("ro,relatime", "rw,discard"), "ro,relatime,discard");
        assert_eq!(join("rw,relatime", "ro,discard"), "relatime,ro,discard");
    }
}
