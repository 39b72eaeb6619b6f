use std::path::Path;

use host::{CounterSource, System};
use units::Bytes;

use crate::tree::Tree;

const QUEUE: [(&str, &str); 8] = [
    ("queue/rotational", "0"),
    ("queue/scheduler", "[none] mq-deadline"),
    ("queue/nr_requests", "1023"),
    ("queue/read_ahead_kb", "128"),
    ("queue/max_sectors_kb", "1280"),
    ("queue/logical_block_size", "4096"),
    ("queue/write_cache", "write through"),
    ("size", "2048"),
];

/// XFS on a RAID of one partition of each of two NVMe disks.
fn raid() -> Tree {
    let tree = Tree::new();
    for disk in ["nvme0", "nvme1"] {
        let (major, place) = (if disk == "nvme0" { 259 } else { 260 }, format!("pci/{disk}/block/{disk}n1"));
        tree.block_device(&format!("{major}:0"), &place, &QUEUE);
        tree.file(format!("/sys/devices/pci/{disk}/model"), "Fast Disk 3T       ");
        tree.link(&format!("/sys/devices/{place}/device"), &format!("/sys/devices/pci/{disk}"));
        let partition = [("partition", "1"), ("size", "1024"), ("stat", "9 9 9 9 9 9 9 9 9 9 9")];
        tree.block_device(&format!("{major}:1"), &format!("{place}/{disk}n1p1"), &partition);
        tree.link(
            &format!("/sys/devices/virtual/block/md0/slaves/{disk}n1p1"),
            &format!("/sys/devices/{place}/{disk}n1p1"),
        );
    }
    let stat = "  100 0 2000 30 200 0 4000 60 0 90 90 0 0 0 0";
    tree.block_device("9:0", "virtual/block/md0", &[("size", "2048"), ("stat", stat), ("md/level", "raid0")]);
    tree.file(
        "/proc/self/mountinfo",
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n40 27 9:0 / /srv rw - xfs /dev/md0 rw",
    );
    tree
}

fn names(system: &System, target: &str) -> Vec<String> {
    let environment = system.environment(Some(Path::new(target))).unwrap();
    environment.devices.into_iter().map(|device| device.name).collect()
}

#[test]
fn a_raid_is_described_down_to_its_disks() {
    let tree = raid();
    assert_eq!(names(&tree.system(), "/srv/data"), ["md0", "nvme0n1p1", "nvme0n1", "nvme1n1p1", "nvme1n1"]);
    let devices = tree.system().environment(Some(Path::new("/srv"))).unwrap().devices;
    assert_eq!((devices[0].model.as_str(), devices[0].size_bytes), ("raid0", Bytes::mib(1)));
    let (partition, disk) = (&devices[1], &devices[2]);
    assert_eq!((partition.size_bytes, disk.size_bytes), (Bytes::kib(512), Bytes::mib(1)));
    assert_eq!((partition.nr_requests, partition.model.as_str()), (1023, "Fast Disk 3T"));
    assert_eq!((disk.scheduler.as_str(), disk.write_cache.as_str()), ("none", "write through"));
    assert_eq!((disk.read_ahead_bytes, disk.max_request_bytes), (Bytes::kib(128), Bytes::kib(1280)));
    assert_eq!((disk.logical_block_bytes, disk.rotational), (Bytes::kib(4), false));
}

#[test]
fn a_raid_counts_each_byte_once() {
    let tree = raid();
    let probe = tree.system().probe(Path::new("/srv/data")).unwrap();
    assert_eq!(probe.source(), Some(CounterSource::Device));
    let traffic = probe.counters().traffic;
    assert_eq!(traffic.len(), 1);
    assert_eq!(traffic[0].name, "md0");
    assert_eq!(
        (traffic[0].read_bytes, traffic[0].written_bytes),
        (Bytes::new(1_024_000), Bytes::new(2_048_000))
    );
    assert_eq!(traffic[0].busy_ns, 90_000_000);
}

#[test]
fn counters_move_and_a_device_that_went_away_is_left_out() {
    let tree = raid();
    let probe = tree.system().probe(Path::new("/srv")).unwrap();
    let before = probe.counters();
    tree.file("/sys/devices/virtual/block/md0/stat", "100 0 2008 30 200 0 4000 60 0 95 90");
    let moved = probe.counters().since(&before);
    assert_eq!((moved.traffic[0].read_bytes, moved.traffic[0].busy_ns), (Bytes::kib(4), 5_000_000));
    tree.file("/sys/devices/virtual/block/md0/stat", "gone");
    assert!(probe.counters().traffic.is_empty());
}

#[test]
fn a_loop_device_leads_to_the_disk_below_its_file() {
    let tree = Tree::new();
    tree.block_device("254:0", "pci/virtio0/block/vda", &QUEUE);
    tree.block_device(
        "7:0",
        "virtual/block/loop0",
        &[("loop/backing_file", "/images/disk.img"), ("size", "8")],
    );
    tree.file(
        "/proc/self/mountinfo",
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n40 27 7:0 / /mnt rw - ext4 /dev/loop0 rw",
    );
    assert_eq!(names(&tree.system(), "/mnt/x"), ["loop0", "vda"]);
    let devices = tree.system().environment(Some(Path::new("/mnt"))).unwrap().devices;
    assert_eq!(devices[0].model, "/images/disk.img");
}

#[test]
fn a_loop_device_on_itself_ends() {
    let tree = Tree::new();
    tree.block_device("7:0", "virtual/block/loop0", &[("loop/backing_file", "/mnt/inside.img")]);
    tree.link("/sys/devices/virtual/block/loop0/slaves/loop0", "/sys/devices/virtual/block/loop0");
    tree.file("/proc/self/mountinfo", "40 27 7:0 / /mnt rw - ext4 /dev/loop0 rw");
    assert_eq!(names(&tree.system(), "/mnt/x"), ["loop0"]);
}

#[test]
fn btrfs_lies_on_all_its_members() {
    let tree = Tree::new();
    for (number, disk) in [("8:0", "sda"), ("8:16", "sdb"), ("8:32", "sdc")] {
        tree.block_device(number, &format!("pci/block/{disk}"), &[("stat", "1 0 8 0 1 0 16 0 0 0 0")]);
        let uuid = if disk == "sdc" { "bbbb" } else { "aaaa" };
        tree.link(&format!("/sys/fs/btrfs/{uuid}/devices/{disk}"), &format!("/sys/devices/pci/block/{disk}"));
    }
    tree.directory("/sys/fs/btrfs/features");
    tree.file(
        "/proc/self/mountinfo",
        "40 27 0:45 /@data /data rw - btrfs /dev/sdb rw,subvolid=256,subvol=/@data",
    );
    assert_eq!(names(&tree.system(), "/data/x"), ["sda", "sdb"]);
    let traffic = tree.system().probe(Path::new("/data")).unwrap().counters().traffic;
    assert_eq!(traffic.iter().map(|t| t.written_bytes).sum::<Bytes>(), Bytes::kib(16));
}

#[test]
fn a_mapped_device_is_found_by_its_name() {
    let tree = Tree::new();
    tree.block_device("253:0", "virtual/block/dm-0", &[("dm/name", "vg-data"), ("size", "8")]);
    tree.link("/sys/fs/btrfs/aaaa/devices/dm-0", "/sys/devices/virtual/block/dm-0");
    tree.file("/proc/self/mountinfo", "40 27 0:45 / /data rw - btrfs /dev/mapper/vg-data rw");
    assert_eq!(names(&tree.system(), "/data"), ["dm-0"]);
}

#[test]
fn an_overlay_lies_where_its_upper_directory_is() {
    let tree = Tree::new();
    tree.block_device("254:0", "pci/virtio0/block/vda", &[("stat", "1 0 8 0 1 0 16 0 0 0 0")]);
    tree.file(
        "/proc/self/mountinfo",
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
         40 27 0:45 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/up\\040per/dir,workdir=/w",
    );
    assert_eq!(names(&tree.system(), "/merged/x"), ["vda"]);
}

#[test]
fn memory_has_no_devices_and_no_counters() {
    let tree = raid();
    tree.file("/proc/self/mountinfo", "29 27 0:25 / /tmp rw - tmpfs tmpfs rw");
    let probe = tree.system().probe(Path::new("/tmp/x")).unwrap();
    assert_eq!((probe.source(), probe.mount().file_system.as_str()), (None, "tmpfs"));
    assert!(probe.counters().traffic.is_empty());
}

#[test]
fn processor_and_page_cache_counters_come_along() {
    let tree = raid();
    tree.file("/proc/stat", "cpu  4 0 2 10 0 0 0 0 0 0\ncpu0 4 0 2 10 0 0 0 0 0 0\nintr 5");
    tree.file("/proc/meminfo", "MemTotal: 100 kB\nDirty: 12 kB\nWriteback: 4 kB\nWritebackTmp: 9 kB");
    let counters = tree.system().probe(Path::new("/srv")).unwrap().counters();
    assert_eq!(counters.cpu.user_ns, 2 * counters.cpu.system_ns);
    assert_eq!(counters.cpu.busy_per_vcpu_ns.len(), 1);
    assert_eq!((counters.dirty_bytes, counters.writeback_bytes), (Bytes::kib(12), Bytes::kib(4)));
}
