//! Targets that can't be used: said at once, and nothing is made.

use std::os::unix::fs::PermissionsExt as _;

use testkit::skip::{Need, can};

use crate::image::{Image, Kind};
use crate::place::{Place, assert_empty, call, for_everyone, names, snapshot};

const IOTEST: [&str; 7] = ["iotest", "--file-size", "1m", "--engine", "psync", "--pcores", "2"];

fn iotest_on<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&IOTEST[..], &["--target", target], more].concat()
}

#[test]
fn a_missing_target_is_told() {
    let place = Place::new();
    let call = place.call(&iotest_on("gone", &[]));
    call.assert_failed(&["`gone`", "no such file or directory", "mounted"]);
    place.assert_no_record();
    assert_eq!(names(&place.path("")), ["target"]);
}

#[test]
fn a_file_is_no_target() {
    let place = Place::new();
    std::fs::write(place.path("precious"), "mine").unwrap();
    let call = place.call(&iotest_on("precious", &[]));
    call.assert_failed(&["`precious`", "not a directory"]);
    place.assert_no_record();
    assert_eq!(std::fs::read_to_string(place.path("precious")).unwrap(), "mine");
}

#[test]
fn a_read_only_file_system_is_told() {
    if !Kind::Ext4.is_possible("a read-only mount") {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), Kind::Ext4);
    image.unmount();
    image.mount_again(&["-o", "ro"]);
    let call = place.call(&iotest_on("ext4", &[]));
    call.assert_failed(&["ext4`", "read-only", "remount"]);
    place.assert_no_record();
    assert_empty(image.path());
}

/// What root sees on an NFS export with root_squash: a directory of somebody else's.
#[test]
fn a_directory_of_somebody_else_is_told() {
    if !can("another user", &[Need::Root, Need::Program("setpriv")]) {
        return;
    }
    let place = Place::new();
    let program = for_everyone(&place);
    std::fs::set_permissions(place.target(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(place.path("target/precious"), "mine").unwrap();
    let before = snapshot(&place.target());
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    command.args(iotest_on("target", &["--runs-dir", "runs"])).current_dir(place.path(""));
    call(command).assert_failed(&["target`", "permission denied", "root_squash"]);
    place.assert_no_record();
    assert_eq!(snapshot(&place.target()), before);
}

#[test]
fn a_target_whose_file_system_is_not_mounted_is_noticed() {
    if !Kind::Ext4.is_possible("an unmounted target") || !Kind::Xfs.is_possible("an unmounted target") {
        return;
    }
    let place = Place::new();
    // Whatever is below the mount points, one of the two is not of its type.
    for kind in [Kind::Ext4, Kind::Xfs] {
        let image = Image::mount(&place.path(""), kind);
        let name = image.path().file_name().unwrap().to_str().unwrap();
        let arguments = iotest_on(name, &["--expect-file-system", name]);
        assert_eq!(place.call(&arguments).code, 0);
        let kept = place.records().len();
        image.unmount();
        let below =
            crate::image::tool("findmnt", &["-no", "FSTYPE", "--target", image.path().to_str().unwrap()]);
        let call = place.call(&arguments);
        if below.trim() != name {
            call.assert_failed(&["not on", name, "mounted?"]);
            assert_eq!(place.records().len(), kept);
        }
        assert_empty(image.path());
    }
}
