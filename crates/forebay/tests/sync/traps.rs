//! Nothing of what others lose is lost.

use std::os::unix::fs::MetadataExt as _;

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
