use std::path::Path;

use host::CounterSource;
use units::{Bandwidth, Bytes};

use crate::tree::Tree;

fn interface(tree: &Tree, name: &str, flags: &str, driver: Option<&str>, bytes: (u64, u64)) {
    let directory = format!("/sys/class/net/{name}");
    let (received, sent) = (bytes.0.to_string(), bytes.1.to_string());
    tree.files(&directory, &[("flags", flags), ("operstate", "up"), ("mtu", "9000")]);
    tree.files(&directory, &[("statistics/rx_bytes", &received), ("statistics/tx_bytes", &sent)]);
    if let Some(driver) = driver {
        let (device, module) = (format!("/sys/devices/pci/{name}"), format!("/sys/bus/drivers/{driver}"));
        tree.directory(&device).directory(&module).link(&format!("{device}/driver"), &module);
        tree.link(&format!("{directory}/device"), &device);
    }
}

/// A cloud host: a synthetic interface whose traffic a virtual function carries, a bond, a VLAN, one that is down.
fn host() -> Tree {
    let tree = Tree::new();
    interface(&tree, "lo", "0x9", None, (1_000_000, 1_000_000));
    interface(&tree, "eth0", "0x1003", Some("hv_netvsc"), (4096, 8192));
    interface(&tree, "eth1", "0x1803", Some("mlx5_core"), (4000, 8000));
    interface(&tree, "ib0", "0x1003", Some("mlx4_core"), (1, 2));
    interface(&tree, "eth0.100", "0x1003", None, (400, 800));
    interface(&tree, "eth9", "0x1002", Some("e1000e"), (9, 9));
    tree.link("/sys/class/net/eth1/master", "/sys/class/net/eth0");
    tree.file("/sys/class/net/eth0/speed", "50000").file("/sys/class/net/eth1/speed", "-1");
    tree.file("/proc/self/mountinfo", "40 27 0:45 / /vol rw - fuse.glusterfs host:/volume rw");
    tree
}

#[test]
fn interfaces_that_are_up_are_described() {
    let interfaces = host().system().environment(None).unwrap().interfaces;
    let names: Vec<&str> = interfaces.iter().map(|interface| interface.name.as_str()).collect();
    assert_eq!(names, ["eth0", "eth0.100", "eth1", "ib0"]);
    assert_eq!(interfaces[0].speed_bytes_per_second, Some(Bandwidth::bytes_per_second(6.25e9)));
    assert_eq!((interfaces[0].driver.as_str(), interfaces[0].mtu), ("hv_netvsc", 9000));
    assert_eq!(interfaces[2].speed_bytes_per_second, None);
    assert_eq!(interfaces[3].speed_bytes_per_second, None);
}

#[test]
fn network_traffic_counts_each_byte_once() {
    let tree = host();
    let probe = tree.system().probe(Path::new("/vol/x")).unwrap();
    assert_eq!(probe.source(), Some(CounterSource::Network));
    let traffic = probe.counters().traffic;
    assert_eq!(traffic.len(), 1);
    assert_eq!(traffic[0].name, "eth0+ib0");
    assert_eq!((traffic[0].read_bytes, traffic[0].written_bytes), (Bytes::new(4097), Bytes::new(8194)));
}

#[test]
fn a_container_has_only_virtual_interfaces() {
    let tree = Tree::new();
    interface(&tree, "lo", "0x9", None, (5, 5));
    interface(&tree, "eth0", "0x1003", None, (11, 12));
    tree.file("/proc/self/mountinfo", "40 27 0:45 / /vol rw - ceph host:/ rw");
    let traffic = tree.system().probe(Path::new("/vol")).unwrap().counters().traffic;
    assert_eq!((traffic[0].name.as_str(), traffic[0].read_bytes), ("eth0", Bytes::new(11)));
}
