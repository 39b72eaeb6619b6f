use crate::tree::Tree;

/// Two sockets of two pCores with two siblings each, numbered as most x86 servers do: siblings are four apart.
fn two_sockets() -> Tree {
    let tree = Tree::new();
    tree.file("/sys/devices/system/cpu/online", "0-7").file("/sys/devices/system/node/online", "0-1");
    for vcpu in 0..8 {
        let topology = format!("/sys/devices/system/cpu/cpu{vcpu}/topology");
        let (socket, core) = ((vcpu / 2) % 2, vcpu % 2);
        tree.file(format!("{topology}/physical_package_id"), &socket.to_string());
        tree.file(format!("{topology}/core_id"), &core.to_string());
    }
    tree
}

#[test]
fn siblings_count_once_and_core_numbers_repeat_per_socket() {
    let tree = two_sockets();
    tree.file("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some Processor");
    let cpu = tree.system().cpu();
    assert_eq!((cpu.sockets, cpu.pcores, cpu.vcpus, cpu.numa_nodes), (2, 4, 8, 2));
    assert_eq!(cpu.model, "Some Processor");
    assert!((cpu.vcpus_allowed - 8.0).abs() < 1e-9);
    assert_eq!(tree.system().pcore_siblings(), [[0, 4], [1, 5], [2, 6], [3, 7]]);
}

#[test]
fn pinning_takes_every_pcore_before_any_sibling() {
    let tree = two_sockets();
    assert_eq!(tree.system().pin_order(), [0, 1, 2, 3, 4, 5, 6, 7]);
    tree.file("/proc/self/status", "Name:\tx\nCpus_allowed:\tf3\nCpus_allowed_list:\t0-1,4-7");
    assert_eq!(tree.system().pin_order(), [0, 1, 6, 7, 4, 5]);
    assert!((tree.system().cpu().vcpus_allowed - 6.0).abs() < 1e-9);
}

#[test]
fn offline_siblings_are_not_counted() {
    let tree = two_sockets();
    tree.file("/sys/devices/system/cpu/online", "0-4");
    let cpu = tree.system().cpu();
    assert_eq!((cpu.pcores, cpu.vcpus), (4, 5));
    tree.file("/sys/devices/system/cpu/online", "0,4");
    let cpu = tree.system().cpu();
    assert_eq!((cpu.sockets, cpu.pcores, cpu.vcpus), (1, 1, 2));
}

#[test]
fn without_core_numbers_the_list_of_siblings_tells() {
    let tree = Tree::new();
    tree.file("/sys/devices/system/cpu/online", "0-3");
    for (vcpu, siblings) in [(0, "0-1"), (1, "0-1"), (2, "2-3"), (3, "2-3")] {
        tree.file(format!("/sys/devices/system/cpu/cpu{vcpu}/topology/core_id"), "-1");
        tree.file(format!("/sys/devices/system/cpu/cpu{vcpu}/topology/thread_siblings_list"), siblings);
    }
    let cpu = tree.system().cpu();
    assert_eq!((cpu.sockets, cpu.pcores, cpu.vcpus, cpu.numa_nodes), (1, 2, 4, 1));
}

#[test]
fn without_sysfs_cpuinfo_tells() {
    let tree = Tree::new();
    let block =
        |vcpu, socket, core| format!("processor\t: {vcpu}\nphysical id\t: {socket}\ncore id\t: {core}\n\n");
    let blocks = [block(0, 0, 0), block(1, 0, 0), block(2, 1, 0), block(3, 1, 0)];
    tree.file("/proc/cpuinfo", &blocks.concat());
    let cpu = tree.system().cpu();
    assert_eq!((cpu.sockets, cpu.pcores, cpu.vcpus), (2, 2, 4));
}

#[test]
fn an_empty_tree_knows_nothing_and_does_not_fail() {
    let tree = Tree::new();
    let environment = tree.system().environment(None).unwrap();
    assert_eq!((environment.cpu.pcores, environment.cpu.vcpus), (0, 0));
    assert_eq!(environment.hostname, "");
    assert!(environment.devices.is_empty() && environment.interfaces.is_empty());
    assert!(tree.system().pin_order().is_empty());
}

#[test]
fn garbage_in_every_file_does_no_harm() {
    let tree = Tree::new();
    let files = [
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/stat",
        "/proc/self/cgroup",
        "/proc/self/mountinfo",
        "/proc/self/mountstats",
        "/proc/self/status",
        "/sys/devices/system/cpu/online",
        "/sys/devices/system/node/online",
        "/sys/class/net/eth0/flags",
        "/proc/1/stat",
    ];
    for file in files {
        tree.file(file, "cpu: - \\04 :: 0-99999999999 \u{fffd} ( 27 1");
    }
    let system = tree.system();
    assert_eq!(system.environment(None).unwrap().cpu.vcpus, 0);
    assert_eq!(system.process_start(1), None);
    assert!(system.mount_of("/anything".as_ref()).is_err());
}
