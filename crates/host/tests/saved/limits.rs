use units::Bytes;

use crate::tree::Tree;

fn host_of_8_gib() -> Tree {
    let tree = Tree::new();
    tree.file("/sys/devices/system/cpu/online", "0-7");
    tree.file("/proc/meminfo", "MemTotal:        8388608 kB\nMemFree: 1 kB\nMemAvailable:    4194304 kB");
    tree.files("/proc/sys/vm", &[("dirty_ratio", "20"), ("dirty_background_ratio", "10")]);
    tree
}

fn v2(membership: &str) -> Tree {
    let tree = host_of_8_gib();
    tree.file("/proc/self/mountinfo", "32 25 0:27 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw");
    tree.file("/proc/self/cgroup", &format!("0::{membership}"));
    tree
}

fn vcpus_allowed(tree: &Tree) -> f64 {
    tree.system().cpu().vcpus_allowed
}

#[test]
fn a_host_without_groups_has_all_its_memory() {
    let memory = host_of_8_gib().system().memory();
    assert_eq!((memory.total_bytes, memory.cgroup_limit_bytes), (Bytes::gib(8), None));
    assert_eq!((memory.dirty_ratio_percent, memory.dirty_background_ratio_percent), (20, 10));
    assert_eq!(host_of_8_gib().system().available_memory(), Bytes::gib(4));
}

#[test]
fn in_version_2_the_tightest_ancestor_counts() {
    let tree = v2("/batch/job1");
    tree.file("/sys/fs/cgroup/batch/memory.max", "2147483648");
    tree.file("/sys/fs/cgroup/batch/job1/memory.max", "max");
    tree.file("/sys/fs/cgroup/batch/cpu.max", "400000 100000");
    tree.file("/sys/fs/cgroup/batch/job1/cpu.max", "150000 100000");
    assert_eq!(tree.system().memory().cgroup_limit_bytes, Some(Bytes::gib(2)));
    assert_eq!(tree.system().memory().cacheable(), Bytes::gib(2));
    assert!((vcpus_allowed(&tree) - 1.5).abs() < 1e-9);
}

#[test]
fn version_2_reclaims_above_memory_high() {
    let tree = v2("/job");
    tree.file("/sys/fs/cgroup/job/memory.max", "4294967296")
        .file("/sys/fs/cgroup/job/memory.high", "1073741824");
    assert_eq!(tree.system().memory().cgroup_limit_bytes, Some(Bytes::gib(1)));
}

#[test]
fn a_quota_above_the_vcpus_limits_nothing() {
    let tree = v2("/job");
    tree.file("/sys/fs/cgroup/job/cpu.max", "9900000 100000");
    assert!((vcpus_allowed(&tree) - 8.0).abs() < 1e-9);
}

#[test]
fn in_version_1_each_controller_has_its_own_mount() {
    let tree = host_of_8_gib();
    tree.file(
        "/proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
         35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
    );
    tree.file("/proc/self/cgroup", "4:memory:/slurm/job7\n2:cpu,cpuacct:/slurm/job7\n1:name=systemd:/x");
    tree.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    tree.file("/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "3221225472");
    tree.file("/sys/fs/cgroup/memory/slurm/job7/memory.limit_in_bytes", "9223372036854771712");
    let quota = [("cpu.cfs_quota_us", "250000"), ("cpu.cfs_period_us", "100000")];
    tree.files("/sys/fs/cgroup/cpu,cpuacct/slurm/job7", &quota);
    tree.files(
        "/sys/fs/cgroup/cpu,cpuacct/slurm",
        &[("cpu.cfs_quota_us", "-1"), ("cpu.cfs_period_us", "100000")],
    );
    assert_eq!(tree.system().memory().cgroup_limit_bytes, Some(Bytes::gib(3)));
    assert!((vcpus_allowed(&tree) - 2.5).abs() < 1e-9);
}

#[test]
fn no_limit_in_version_1_is_a_huge_number() {
    let tree = host_of_8_gib();
    tree.file("/proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory");
    tree.file("/proc/self/cgroup", "4:memory:/");
    tree.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    assert_eq!(tree.system().memory().cgroup_limit_bytes, None);
}

#[test]
fn a_container_finds_its_limits_at_the_mount_point() {
    let tree = host_of_8_gib();
    tree.file("/proc/self/mountinfo", "32 25 0:27 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw");
    tree.file("/proc/self/cgroup", "0::/docker/abc");
    tree.file("/sys/fs/cgroup/memory.max", "536870912").file("/sys/fs/cgroup/cpu.max", "50000 100000");
    assert_eq!(tree.system().memory().cgroup_limit_bytes, Some(Bytes::mib(512)));
    assert!((vcpus_allowed(&tree) - 0.5).abs() < 1e-9);
}
