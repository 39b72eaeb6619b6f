//! Against what a real Lustre client printed; see `tests/fixtures/lustre/README.md`.

use std::path::Path;

use host::{CounterSource, Environment};
use units::Bytes;

use crate::tree::Tree;

const TARGET: &str = "/mnt/lt/grid";

/// Single values in one tree and statistics in the other, as the client's version has it.
fn client(values: &str, statistics: &str) -> Tree {
    let tree = Tree::new();
    tree.file("/proc/self/mountinfo", include_str!("../fixtures/lustre/mountinfo.txt"));
    tree.file(format!("{values}/version"), include_str!("../fixtures/lustre/fs_lustre_version.txt").trim());
    tree.lustre_parameters(values, include_str!("../fixtures/lustre/osc_params.txt"));
    tree.lustre_parameters(values, include_str!("../fixtures/lustre/mdc_params.txt"));
    tree.lustre_parameters(values, include_str!("../fixtures/lustre/llite_params.txt"));
    tree.lustre_parameters(statistics, include_str!("../fixtures/lustre/osc_stats.txt"));
    tree.lustre_parameters(statistics, include_str!("../fixtures/lustre/llite_stats.txt"));
    tree
}

fn modern() -> Tree {
    client("/sys/fs/lustre", "/sys/kernel/debug/lustre")
}

fn environment(tree: &Tree) -> Environment {
    tree.system().environment(Some(Path::new(TARGET))).unwrap()
}

fn parameter(environment: &Environment, name: &str) -> Option<String> {
    environment.client_parameters.iter().find(|p| p.name == name).map(|p| p.value.clone())
}

#[test]
fn the_client_is_found_and_has_no_devices() {
    let environment = environment(&modern());
    let target = environment.target.clone().unwrap();
    assert_eq!((target.mount_point.as_str(), target.source.as_str()), ("/mnt/lt", "10.5.0.1@tcp:/lt"));
    assert_eq!((target.file_system.as_str(), target.device_number.as_str()), ("lustre", "173:519214"));
    assert!(target.options.contains("flock") && target.is_remote());
    assert!(environment.devices.is_empty());
}

#[test]
fn a_made_up_device_number_is_not_taken_for_a_disk() {
    let tree = modern();
    tree.block_device("173:519214", "pci/block/sda", &[("stat", "1 0 8 0 1 0 16 0 0 0 0")]);
    assert!(environment(&tree).devices.is_empty());
    assert_eq!(tree.system().probe(Path::new(TARGET)).unwrap().source(), Some(CounterSource::Lustre));
}

#[test]
fn the_parameters_of_tuning_are_read() {
    let environment = environment(&modern());
    let expected = [
        ("lustre.version", "2.17.57.99"),
        ("osc.*.max_rpcs_in_flight", "8"),
        ("osc.*.max_pages_per_rpc", "1024"),
        ("osc.*.max_dirty_mb", "373"),
        ("osc.*.checksums", "1"),
        ("osc.*.checksum_type", "adler t10ip512 [t10ip4K]"),
        ("mdc.*.max_mod_rpcs_in_flight", "7"),
        ("llite.*.max_read_ahead_mb", "256"),
        ("llite.*.max_cached_mb", "1489"),
        ("llite.*.statahead_max", "128"),
    ];
    for (name, value) in expected {
        assert_eq!(parameter(&environment, name).as_deref(), Some(value), "{name}");
    }
}

#[test]
fn devices_that_differ_are_listed_each() {
    let tree = modern();
    tree.file("/sys/fs/lustre/osc/lt-OST0001-osc-ffff888014f6e000/max_rpcs_in_flight", "32");
    // that of the metadata server on the same host does not matter
    tree.file("/sys/fs/lustre/osc/lt-OST0001-osc-MDT0000/max_rpcs_in_flight", "64");
    let environment = environment(&tree);
    let value = |device: &str| parameter(&environment, &format!("osc.{device}.max_rpcs_in_flight"));
    assert_eq!(value("*"), None);
    assert_eq!(value("lt-OST0000-osc-ffff888014f6e000").as_deref(), Some("8"));
    assert_eq!(value("lt-OST0001-osc-ffff888014f6e000").as_deref(), Some("32"));
    assert_eq!(value("lt-OST0001-osc-MDT0000"), None);
}

#[test]
fn traffic_is_what_crossed_to_the_servers() {
    for tree in [modern(), client("/proc/fs/lustre", "/proc/fs/lustre")] {
        let traffic = tree.system().probe(Path::new(TARGET)).unwrap().counters().traffic;
        assert_eq!(traffic.len(), 1);
        assert_eq!((traffic[0].source, traffic[0].name.as_str()), (CounterSource::Lustre, "lt-OST*"));
        assert_eq!(traffic[0].read_bytes, Bytes::new(12_582_912));
        // both OSCs; applications wrote 60817410 bytes, which is not the same
        assert_eq!(traffic[0].written_bytes, Bytes::new(45_088_768 + 14_680_064));
    }
}

#[test]
fn another_file_system_of_the_host_does_not_count() {
    let tree = modern();
    tree.file(
        "/sys/kernel/debug/lustre/osc/lt2-OST0000-osc-ffff0/stats",
        "read_bytes 1 samples [bytes] 5 5 5 25",
    );
    let traffic = tree.system().probe(Path::new(TARGET)).unwrap().counters().traffic;
    assert_eq!(traffic[0].read_bytes, Bytes::new(12_582_912));
}

#[test]
fn without_debugfs_the_network_stands_in() {
    let tree = client("/sys/fs/lustre", "/elsewhere");
    tree.files(
        "/sys/class/net/eth0",
        &[("flags", "0x1003"), ("statistics/rx_bytes", "7"), ("statistics/tx_bytes", "8")],
    );
    let probe = tree.system().probe(Path::new(TARGET)).unwrap();
    assert_eq!(probe.source(), Some(CounterSource::Network));
}

#[test]
fn a_server_target_is_a_block_device() {
    let tree = modern();
    tree.block_device("254:48", "pci/block/vdd", &[("stat", "1 0 8 0 1 0 16 0 0 0 0")]);
    let probe = tree.system().probe(Path::new("/mnt/ost0")).unwrap();
    assert_eq!(probe.source(), Some(CounterSource::Device));
    assert_eq!(probe.counters().traffic[0].name, "vdd");
}
