//! Every host must see the same storage.

use std::path::Path;

use bench::workload::{Phase, Transfer};
use fault::Kind;
use testkit::skip::{Need, can};
use units::Bytes;

use super::group::{Over, disk, workload};

/// The calling thread sees a file system of its own at `target`, as a host would that has not mounted the storage.
fn mount_something_else(target: &Path) {
    use rustix::thread::{UnshareFlags, unshare_unsafe};
    // SAFETY: the thread shares nothing with others but memory from here on, and opens what it needs itself.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS | UnshareFlags::FS) }.unwrap();
    let target = std::ffi::CString::new(target.as_os_str().as_encoded_bytes()).unwrap();
    let mount = |source: &std::ffi::CStr, at: &std::ffi::CStr, kind: &std::ffi::CStr, flags| {
        // SAFETY: all strings end with a zero and outlive the call; there is no data.
        let result =
            unsafe { libc::mount(source.as_ptr(), at.as_ptr(), kind.as_ptr(), flags, std::ptr::null()) };
        assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    };
    mount(c"none", c"/", c"", libc::MS_PRIVATE | libc::MS_REC);
    mount(c"somewhere-else", &target, c"tmpfs", 0);
}

#[test]
fn a_host_without_the_storage_is_refused_before_anything_is_measured() {
    if !can("a thread with mounts of its own", &[Need::Root]) {
        return;
    }
    let target = disk();
    let workload = workload(3, vec![Phase::transfer("write", Transfer::write(Bytes::kib(8)))]);
    let over = Over::new(&[1, 1, 1]).before(|process, target| {
        if process == 1 {
            mount_something_else(target);
        }
    });
    let done = over.run(target.path(), &workload);
    let failure = done.failure.unwrap();
    assert_eq!(failure.kind(), Kind::Refused);
    let message = failure.message();
    assert!(message.contains("not the same storage on every host"), "{message}");
    assert!(
        message.contains("node0 has ") && message.contains("node1 has tmpfs (`somewhere-else`"),
        "{message}"
    );
    assert!(!message.contains("node2 has"), "{message}");
    assert!(done.record.tests.is_empty(), "nothing was measured");
}
