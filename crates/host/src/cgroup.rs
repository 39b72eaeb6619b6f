//! Limits of the control groups this process is in, version 1 and 2; on hybrid hosts both count.

use std::path::{Path, PathBuf};

use units::Bytes;

use crate::System;
use crate::mount_table::{self, MountEntry};

/// vCPUs' worth of time this process may use, the smallest over its groups; `None` without a quota.
pub(crate) fn cpu_quota(system: &System) -> Option<f64> {
    let quotas = groups(system, "cpu").into_iter().filter_map(|group| {
        let v2 = system.text(group.join("cpu.max")).and_then(|text| cpu_max(&text));
        v2.or_else(|| cfs_quota(system, &group))
    });
    quotas.min_by(f64::total_cmp)
}

/// Memory this process and its page cache may take, the smallest over its groups; `None` without a limit.
pub(crate) fn memory_limit(system: &System) -> Option<Bytes> {
    // memory.high counts too: above it the kernel reclaims cache as it does at memory.max
    const FILES: [&str; 3] = ["memory.max", "memory.high", "memory.limit_in_bytes"];
    let groups = groups(system, "memory");
    let limits = groups.iter().flat_map(|group| FILES.map(|file| system.number(group.join(file))));
    limits.flatten().min().map(Bytes::new)
}

/// `50000 100000` is half a vCPU, `max 100000` no quota.
fn cpu_max(text: &str) -> Option<f64> {
    let mut fields = text.split_whitespace();
    let quota: f64 = fields.next()?.parse().ok()?;
    let period: f64 = fields.next()?.parse().ok()?;
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

fn cfs_quota(system: &System, group: &Path) -> Option<f64> {
    let quota: i64 = system.number(group.join("cpu.cfs_quota_us"))?;
    let period: i64 = system.number(group.join("cpu.cfs_period_us"))?;
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}

/// Directories of the process's own groups for `controller` and all their ancestors that this mount namespace shows.
fn groups(system: &System, controller: &str) -> Vec<PathBuf> {
    let mounts = mount_table::read(system);
    let memberships = system.text("/proc/self/cgroup").unwrap_or_default();
    let mut groups = Vec::new();
    for line in memberships.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let unified = controllers.is_empty();
        if !unified && !controllers.split(',').any(|name| name == controller) {
            continue;
        }
        let serves = |mount: &&MountEntry| match mount.file_system.as_str() {
            "cgroup2" => unified,
            "cgroup" => !unified && mount.super_options.split(',').any(|name| name == controller),
            _ => false,
        };
        for mount in mounts.iter().filter(serves) {
            groups.extend(chain(mount, Path::new(path)));
        }
    }
    groups
}

/// The group's directory and its ancestors up to the mount point. A container's mount shows only the tree below its own
/// group (`root`); a path outside of that is not visible, so the mount point itself is the nearest.
fn chain(mount: &MountEntry, path: &Path) -> Vec<PathBuf> {
    let inside = path.strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let climbs = inside.components().any(|part| part == std::path::Component::ParentDir);
    let group = if climbs { mount.mount_point.clone() } else { mount.mount_point.join(inside) };
    group.ancestors().take_while(|at| at.starts_with(&mount.mount_point)).map(Path::to_path_buf).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(root: &str) -> MountEntry {
        let line = format!("31 23 0:28 {root} /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
        mount_table::parse(&line).remove(0)
    }

    #[test]
    fn a_quota_is_a_share_of_its_period() {
        assert_eq!(cpu_max("150000 100000"), Some(1.5));
        assert_eq!(cpu_max("max 100000"), None);
        assert_eq!(cpu_max("garbage"), None);
    }

    #[test]
    fn a_group_is_below_its_ancestors_up_to_the_mount() {
        let paths = chain(&mount("/"), Path::new("/user/session"));
        let expected = ["/sys/fs/cgroup/user/session", "/sys/fs/cgroup/user", "/sys/fs/cgroup"];
        assert_eq!(paths, expected.map(PathBuf::from));
    }

    #[test]
    fn a_container_sees_its_own_group_at_the_mount_point() {
        let at = |path| chain(&mount("/docker/abc"), Path::new(path));
        assert_eq!(at("/docker/abc"), [PathBuf::from("/sys/fs/cgroup")]);
        assert_eq!(at("/elsewhere/x"), [PathBuf::from("/sys/fs/cgroup")]);
        assert_eq!(at("/docker/abc/job").len(), 2);
        let outside = chain(&mount("/"), Path::new("/../../other"));
        assert_eq!(outside, [PathBuf::from("/sys/fs/cgroup")]);
    }
}
