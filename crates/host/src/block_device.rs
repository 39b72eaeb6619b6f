//! Block devices: the ones a file system lies on, and what these are made of.

use std::collections::BTreeSet;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use units::Bytes;

use crate::mount_table::{device_number, unescape};
use crate::{BlockDevice, Mount, System};

/// Overlays may lie on overlays; deeper than this is a loop.
const DEEPEST: usize = 8;

/// All devices below a mount: its own first, then partition tables, RAID members, LVM volumes and loop files' devices.
pub(crate) fn below(system: &System, mount: &Mount) -> Vec<BlockDevice> {
    let mut seen = BTreeSet::new();
    let mut pending: Vec<PathBuf> = own(system, mount).into_iter().rev().collect();
    let mut found = Vec::new();
    while let Some(directory) = pending.pop() {
        if seen.insert(directory.clone()) {
            found.push(describe(system, &directory));
            pending.extend(components(system, &directory).into_iter().rev());
        }
    }
    found
}

/// The devices a file system lies on directly, as their directories in sysfs. No byte passes through two of them.
pub(crate) fn own(system: &System, mount: &Mount) -> Vec<PathBuf> {
    own_at(system, mount, DEEPEST)
}

/// The kernel's name of a device's directory; it writes the slash of names such as `cciss/c0d0` as `!`.
pub(crate) fn name(directory: &Path) -> String {
    directory.file_name().unwrap_or_default().to_string_lossy().replace('!', "/")
}

fn own_at(system: &System, mount: &Mount, depth: usize) -> Vec<PathBuf> {
    if mount.is_remote() {
        // Lustre makes up a device number, which may be that of a disk
        return Vec::new();
    }
    if !mount.device_number.starts_with("0:") {
        return system.resolve(Path::new("/sys/dev/block").join(&mount.device_number)).into_iter().collect();
    }
    // an anonymous device number: the file system's type tells where to look
    match mount.file_system.as_str() {
        "btrfs" => btrfs_members(system, &mount.source),
        "overlay" => upper(mount).map(|upper| of_file(system, &upper, depth)).unwrap_or_default(),
        _ => sources(system, &mount.source),
    }
}

/// The devices below the file system that holds `file`.
fn of_file(system: &System, file: &Path, depth: usize) -> Vec<PathBuf> {
    let mount = if depth == 0 { None } else { system.mount_of(file).ok() };
    mount.map(|mount| own_at(system, &mount, depth - 1)).unwrap_or_default()
}

/// Where an overlay keeps what is written to it.
fn upper(mount: &Mount) -> Option<PathBuf> {
    mount
        .options
        .split(',')
        .find_map(|option| option.strip_prefix("upperdir="))
        .map(|path| unescape(path).into())
}

/// Devices named by a mount's source; bcachefs lists several, `/dev/sda:/dev/sdb`.
fn sources(system: &System, source: &str) -> Vec<PathBuf> {
    source
        .split(':')
        .filter(|node| node.starts_with("/dev/"))
        .filter_map(|node| of_node(system, node))
        .collect()
}

fn of_node(system: &System, node: &str) -> Option<PathBuf> {
    if system.is_live()
        && let Ok(metadata) = std::fs::metadata(node)
        && metadata.file_type().is_block_device()
    {
        return system.resolve(Path::new("/sys/dev/block").join(device_number(metadata.rdev())));
    }
    let name = Path::new(node).file_name()?.to_string_lossy().into_owned();
    let block = Path::new("/sys/class/block");
    system.resolve(block.join(&name)).or_else(|| {
        let mapped = |known: &String| system.text(block.join(known).join("dm/name")).as_ref() == Some(&name);
        system.resolve(block.join(system.names(block).into_iter().find(mapped)?))
    })
}

/// All devices of the btrfs that `source` is a member of.
fn btrfs_members(system: &System, source: &str) -> Vec<PathBuf> {
    let one = sources(system, source);
    for uuid in system.names("/sys/fs/btrfs") {
        let directory = Path::new("/sys/fs/btrfs").join(uuid).join("devices");
        let devices = system.names(&directory).into_iter().map(|name| directory.join(name));
        let members: Vec<PathBuf> = devices.filter_map(|device| system.resolve(device)).collect();
        if one.iter().any(|device| members.contains(device)) {
            return members;
        }
    }
    one
}

/// What a device is made of: members, the disk around a partition, the devices below a loop device's file.
fn components(system: &System, directory: &Path) -> Vec<PathBuf> {
    let members = directory.join("slaves");
    let members = system.names(&members).into_iter().map(|name| members.join(name));
    let mut components: Vec<PathBuf> = members.filter_map(|member| system.resolve(member)).collect();
    if system.has(directory.join("partition")) {
        components.extend(directory.parent().map(Path::to_path_buf));
    }
    if let Some(file) = system.text(directory.join("loop/backing_file")) {
        components.extend(of_file(system, Path::new(&file), DEEPEST));
    }
    components
}

fn describe(system: &System, directory: &Path) -> BlockDevice {
    // partitions share their disk's queue
    let disk = if system.has(directory.join("partition")) {
        directory.parent().unwrap_or(directory)
    } else {
        directory
    };
    let queue = disk.join("queue");
    let number = |name: &str| system.number::<u64>(queue.join(name)).unwrap_or(0);
    let kib = |name: &str| Bytes::new(number(name).saturating_mul(1024));
    let sectors: u64 = system.number(directory.join("size")).unwrap_or(0);
    BlockDevice {
        name: name(directory),
        model: model(system, disk),
        size_bytes: Bytes::new(sectors.saturating_mul(512)),
        rotational: number("rotational") == 1,
        scheduler: system.text(queue.join("scheduler")).map(|text| chosen(&text)).unwrap_or_default(),
        nr_requests: number("nr_requests"),
        read_ahead_bytes: kib("read_ahead_kb"),
        max_request_bytes: kib("max_sectors_kb"),
        logical_block_bytes: Bytes::new(number("logical_block_size")),
        write_cache: system.text(queue.join("write_cache")).unwrap_or_default(),
    }
}

/// The disk's model, the loop device's file, the mapped device's name or the RAID's level.
fn model(system: &System, disk: &Path) -> String {
    let files = ["device/model", "loop/backing_file", "dm/name", "md/level"];
    files
        .iter()
        .find_map(|file| system.text(disk.join(file)).filter(|text| !text.is_empty()))
        .unwrap_or_default()
}

/// The scheduler in brackets: `none [mq-deadline] kyber`.
fn chosen(schedulers: &str) -> String {
    let inside = schedulers.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(schedulers, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_use_stands_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber bfq"), "mq-deadline");
        assert_eq!(chosen("none"), "none");
        assert_eq!(chosen(""), "");
    }

    #[test]
    fn an_exclamation_mark_stands_for_a_slash() {
        assert_eq!(name(Path::new("/sys/devices/x/block/cciss!c0d0")), "cciss/c0d0");
    }
}
