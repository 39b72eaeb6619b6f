use std::path::Path;

use host::CounterSource;
use units::Bytes;

use crate::tree::Tree;

fn client() -> Tree {
    let tree = Tree::new();
    tree.file(
        "/proc/self/mountinfo",
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
         43 27 0:50 / /data rw - autofs systemd-1 rw,fd=29\n\
         44 43 0:60 / /data rw,noatime - nfs4 10.0.0.9:/export/grid rw,vers=4.1",
    );
    tree.file("/proc/self/mountstats", include_str!("../fixtures/nfs/mountstats.txt"));
    tree.file("/sys/class/bdi/0:60/read_ahead_kb", "15360");
    tree
}

#[test]
fn traffic_is_the_server_s_part_of_the_mount_s_bytes() {
    let tree = client();
    let probe = tree.system().probe(Path::new("/data/x")).unwrap();
    assert_eq!((probe.source(), probe.mount().file_system.as_str()), (Some(CounterSource::Nfs), "nfs4"));
    let traffic = probe.counters().traffic;
    assert_eq!(traffic.len(), 1);
    assert_eq!(traffic[0].name, "10.0.0.9:/export/grid");
    assert_eq!((traffic[0].read_bytes, traffic[0].written_bytes), (Bytes::mib(1), Bytes::mib(2)));
}

#[test]
fn negotiated_options_and_read_ahead_are_parameters() {
    let tree = client();
    let environment = tree.system().environment(Some(Path::new("/data"))).unwrap();
    let value =
        |name: &str| environment.client_parameters.iter().find(|p| p.name == name).map(|p| p.value.as_str());
    assert_eq!(value("nfs.rsize"), Some("1048576"));
    assert_eq!(value("nfs.nconnect"), Some("8"));
    assert_eq!(value("nfs.flags"), Some("rw,hard"));
    assert_eq!(value("bdi.read_ahead_kb"), Some("15360"));
    assert!(environment.devices.is_empty());
}
