use crate::tree::Tree;

#[test]
fn a_host_says_who_it_is() {
    let tree = Tree::new();
    tree.files("/proc/sys/kernel", &[("hostname", "grid01"), ("osrelease", "5.14.0-427.el9.x86_64")]);
    tree.file("/proc/sys/kernel/random/boot_id", "5c0c2b5e-3f0a-4e0f-9d55-111111111111");
    tree.file("/usr/lib/os-release", "NAME=x\nPRETTY_NAME=\"Rocky Linux 9.4 (Blue Onyx)\"");
    tree.file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc");
    tree.files("/sys/class/dmi/id", &[("sys_vendor", "Amazon EC2"), ("product_name", "m5.4xlarge")]);
    let system = tree.system();
    let environment = system.environment(None).unwrap();
    assert_eq!(
        (environment.hostname.as_str(), environment.kernel.as_str()),
        ("grid01", "5.14.0-427.el9.x86_64")
    );
    assert_eq!(environment.operating_system, "Rocky Linux 9.4 (Blue Onyx)");
    assert_eq!(environment.machine, "Amazon EC2 m5.4xlarge");
    assert_eq!(environment.clock_source, "tsc");
    assert_eq!(system.boot_id(), "5c0c2b5e-3f0a-4e0f-9d55-111111111111");
}

#[test]
fn arm_machines_are_named_by_the_device_tree() {
    let tree = Tree::new();
    tree.file("/proc/device-tree/model", "Example Board 4\0");
    assert_eq!(tree.system().machine(), "Example Board 4");
}

#[test]
fn a_dead_process_that_waits_for_its_parent_is_not_alive() {
    let tree = Tree::new();
    let stat = |state| format!("7 (we (ird) R) {state} 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0");
    tree.file("/proc/7/stat", &stat("S"));
    let system = tree.system();
    assert_eq!(system.process_start(7), Some(4711));
    assert!(system.process_alive(7, 4711));
    assert!(!system.process_alive(7, 4712), "the id was given to another process");
    tree.file("/proc/7/stat", &stat("Z"));
    assert!(!system.process_alive(7, 4711));
    assert!(!system.process_alive(8, 4711));
}
