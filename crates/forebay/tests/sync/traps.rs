//! Nothing of what others lose is lost.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use testkit::skip::{Need, can};
use testkit::trees::trap_tree;

use crate::place::Place;

#[test]
fn a_tree_of_traps_is_copied_whole() {
    if !can("a tree of traps", &[Need::Root]) {
        return;
    }
    let place = Place::new();
    trap_tree(&place.source());
    place.sync_well(&["--special-files"]);
    place.assert_equal();
    let sparse = place.destination().join("sparse").metadata().unwrap();
    assert!(sparse.blocks() * 512 < 16 << 20, "holes became data");
    let record = place.sync_well(&["--special-files"]);
    assert_eq!(record["bytes"]["sent_bytes"], 0, "{record}");
    place.assert_equal();
}

#[test]
fn special_files_are_left_out_and_counted() {
    let place = Place::new();
    place.write(&[("a", "a")]);
    let name = place.source().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &name, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let record = place.sync_well(&[]);
    assert_eq!(record["entries"]["left_out"], 1);
    assert!(!place.has("fifo") && place.has("a"));
}

/// What both sides have of them is left alone.
#[test]
fn attributes_that_are_left_out_are_left_alone() {
    let place = Place::new();
    place.write(&[("f", "one"), ("dir/g", "two")]);
    let set = |path: PathBuf, name: &str, value: &[u8]| {
        rustix::fs::setxattr(path, name, value, rustix::fs::XattrFlags::empty()).unwrap();
    };
    let get = |path: PathBuf, name: &str| {
        let mut value = [0; 64];
        rustix::fs::getxattr(path, name, &mut value[..]).map(|length| value[..length].to_vec())
    };
    for path in ["f", "dir"] {
        set(place.source().join(path), "user.of-source", b"s");
    }
    place.sync_well(&["--no-xattrs", "--no-acls"]);
    for path in ["f", "dir"] {
        let there = place.destination().join(path);
        assert!(get(there.clone(), "user.of-source").is_err());
        set(there, "user.of-destination", b"d");
    }
    place.write(&[("f", "one, changed"), ("dir/h", "three")]);
    place.sync_well(&["--no-xattrs"]);
    // A file that changed is a new one.
    assert!(get(place.destination().join("f"), "user.of-source").is_err());
    assert_eq!(get(place.destination().join("dir"), "user.of-destination"), Ok(b"d".to_vec()));
    place.write(&[("f", "changed again"), ("dir/i", "four")]);
    place.sync_well(&[]);
    for path in ["f", "dir"] {
        assert_eq!(get(place.destination().join(path), "user.of-source"), Ok(b"s".to_vec()));
    }
    assert!(get(place.destination().join("dir"), "user.of-destination").is_err());
}

#[test]
fn what_a_directory_gives_its_entries_is_not_what_they_get() {
    if !can("ACLs that are inherited", &[Need::Root]) {
        return;
    }
    let place = Place::new();
    trap_tree(&place.source());
    // Only the directory's own ACL, which the destination then has too, before files are added below it.
    place.sync_well(&["--special-files"]);
    place.write(&[("defaults/later", "added")]);
    rustix::fs::removexattr(place.source().join("defaults/later"), "system.posix_acl_access").unwrap();
    place.sync_well(&["--special-files"]);
    place.assert_equal();
}
