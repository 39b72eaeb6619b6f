//! Deletes, and what keeps them from being a disaster.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use testkit::skip::{Need, can};

use crate::place::{Place, call};

/// A user without rights.
const NOBODY: u32 = 65_534;

const FILES: [(&str, &str); 4] = [("a", "one"), ("dir/b", "two"), ("dir/deep/c", "three"), ("d", "four")];

fn synced() -> Place {
    let place = Place::new();
    place.write(&FILES);
    place.sync_well(&[]);
    place
}

#[test]
fn nothing_is_deleted_without_the_flag() {
    let place = synced();
    std::fs::remove_dir_all(place.source().join("dir")).unwrap();
    place.sync_well(&[]);
    assert!(place.has("dir/deep/c"));
    let record = place.sync_well(&["--delete"]);
    assert_eq!(record["entries"]["deleted"], 4, "{record}");
    assert!(!place.has("dir"));
    place.assert_equal();
}

#[test]
fn an_empty_source_stops_the_job() {
    let place = synced();
    for name in ["a", "d"] {
        std::fs::remove_file(place.source().join(name)).unwrap();
    }
    std::fs::remove_dir_all(place.source().join("dir")).unwrap();
    for flags in [&["--delete"][..], &[]] {
        place.sync(flags).assert_failed(1, &["is empty", "mounted", "--allow-empty-source"]);
        assert!(place.has("dir/deep/c"));
    }
    place.sync_well(&["--delete", "--allow-empty-source"]);
    assert_eq!(std::fs::read_dir(place.destination()).unwrap().count(), 0);
}

#[test]
fn a_missing_source_stops_the_job() {
    let place = synced();
    std::fs::rename(place.source(), place.path("elsewhere")).unwrap();
    place.sync(&["--delete"]).assert_failed(1, &["source", "no such file"]);
    assert!(place.has("dir/deep/c"));
}

#[test]
fn another_tree_at_the_source_s_path_deletes_nothing() {
    let place = synced();
    std::fs::rename(place.source(), place.path("elsewhere")).unwrap();
    place.write(&[("only", "this")]);
    place.sync(&["--delete"]).assert_failed(1, &["another file system", "--allow-new-source"]);
    assert!(place.has("dir/deep/c") && !place.has("only"));
    place.sync_well(&["--delete", "--allow-new-source"]);
    place.assert_equal();
}

#[test]
fn too_many_deletes_are_refused_and_copies_are_done() {
    let place = synced();
    std::fs::remove_dir_all(place.source().join("dir")).unwrap();
    place.write(&[("new", "five")]);
    place.sync(&["--delete", "--max-delete", "3"]).assert_failed(1, &["4 entries", "--max-delete"]);
    assert!(place.has("dir/deep/c") && place.has("new"));
    place.sync_well(&["--delete", "--max-delete", "4"]);
    place.assert_equal();
}

/// Nobody but the destination knows of them, and it is only listed when it must be.
#[test]
fn what_was_refused_is_deleted_when_it_is_allowed() {
    let place = Place::new();
    place.write(&[("a", "1"), ("dir/b", "2")]);
    for name in ["old", "dir/older", "gone/oldest"] {
        let path = place.destination().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "there before").unwrap();
    }
    place.sync(&["--delete", "--max-delete", "3"]).assert_failed(1, &["4 entries", "--max-delete"]);
    assert!(place.has("a") && place.has("gone/oldest"));
    place.sync_well(&["--delete", "--max-delete", "4"]);
    place.assert_equal();
}

#[test]
fn a_tenth_or_a_thousand_may_go_by_default() {
    let place = Place::new();
    std::fs::create_dir(place.source()).unwrap();
    for number in 0..1200 {
        std::fs::write(place.source().join(number.to_string()), "x").unwrap();
    }
    place.sync_well(&[]);
    for number in 0..1001 {
        std::fs::remove_file(place.source().join(number.to_string())).unwrap();
    }
    place.sync(&["--delete"]).assert_failed(1, &["1001 entries", "1000"]);
    std::fs::write(place.source().join("0"), "x").unwrap();
    place.sync_well(&["--delete"]);
    place.assert_equal();
}

/// Gives a tree to a user without rights.
fn give_away(path: &Path) {
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        std::fs::read_dir(path).unwrap().for_each(|entry| give_away(&entry.unwrap().path()));
    }
}

#[test]
fn a_directory_that_cannot_be_listed_loses_nothing() {
    if !can("a user who may not list a directory", &[Need::Root]) {
        return;
    }
    let place = synced();
    let program = place.path("forebay");
    std::fs::copy(env!("CARGO_BIN_EXE_forebay"), &program).unwrap();
    std::fs::remove_file(place.source().join("a")).unwrap();
    give_away(&place.path(""));
    std::fs::set_permissions(place.source().join("dir"), Permissions::from_mode(0o000)).unwrap();
    let mut command = Command::new(program);
    command.arg("sync").arg(place.source()).arg(place.destination()).arg("--delete");
    command.arg("--state").arg(place.path("state")).uid(NOBODY).gid(NOBODY);
    let ended = call(command);
    ended.assert_failed(3, &["dir", "permission denied"]);
    assert!(place.has("dir/deep/c") && !place.has("a"));
}

#[test]
fn what_is_filtered_out_is_neither_copied_nor_deleted() {
    let place = synced();
    for name in ["keep.log", "dir/keep.log"] {
        std::fs::write(place.destination().join(name), "precious").unwrap();
    }
    place.write(&[("new.log", "not this"), ("new.txt", "this")]);
    std::fs::remove_dir_all(place.source().join("dir")).unwrap();
    place.sync(&["--delete", "--check-destination", "--exclude", "*.log"]);
    assert!(place.has("keep.log") && place.has("dir/keep.log") && place.has("new.txt"));
    assert!(!place.has("new.log") && !place.has("dir/b") && !place.has("dir/deep"));
}

#[test]
fn the_trash_has_what_was_removed() {
    let place = synced();
    std::fs::remove_dir_all(place.source().join("dir")).unwrap();
    place.sync_well(&["--delete", "--trash"]);
    assert!(!place.has("dir"));
    let dated =
        std::fs::read_dir(place.destination().join(".forebay-trash")).unwrap().next().unwrap().unwrap();
    assert_eq!(std::fs::read_to_string(dated.path().join("dir/deep/c")).unwrap(), "three");
    // The trash is not taken for something that must go.
    place.sync_well(&["--delete", "--check-destination"]);
    assert!(place.has(".forebay-trash"));
}

#[test]
fn a_dry_run_tells_and_does_nothing() {
    let place = synced();
    std::fs::remove_file(place.source().join("a")).unwrap();
    place.write(&[("new", "five"), ("d", "changed")]);
    let call = place.sync(&["--delete", "--dry-run"]);
    assert_eq!(call.code, Some(0), "{call:?}");
    for line in ["delete     a", "create     new (4 B)", "change     d (7 B)"] {
        assert!(call.out.contains(line), "{line:?} is missing in {call:?}");
    }
    assert!(place.has("a") && !place.has("new") && place.read("d") == "four");
}

#[test]
fn both_sides_changed() {
    for (rule, expected) in [
        ("source", "source's"),
        ("newer", "destination's"),
        ("keep-both", "source's"),
        ("fail", "destination's"),
    ] {
        let place = synced();
        place.write(&[("d", "source's")]);
        std::fs::write(place.destination().join("d"), "destination's").unwrap();
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(100);
        std::fs::File::options()
            .write(true)
            .open(place.destination().join("d"))
            .unwrap()
            .set_modified(later)
            .unwrap();
        let call = place.sync(&["--conflict", rule]);
        assert_eq!(call.code, Some(if rule == "fail" { 3 } else { 0 }), "{call:?}");
        assert_eq!(place.read("d"), expected, "{rule}");
        let kept = std::fs::read_dir(place.destination()).unwrap();
        let kept =
            kept.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains(".conflict-"));
        assert_eq!(kept.count(), usize::from(rule == "keep-both"), "{rule}");
    }
}

#[test]
fn two_syncs_never_write_to_one_destination() {
    let place = synced();
    let busy = std::fs::File::open(place.destination()).unwrap();
    rustix::fs::flock(&busy, rustix::fs::FlockOperation::LockExclusive).unwrap();
    place.sync(&[]).assert_failed(1, &["another sync"]);
}

#[test]
fn trees_in_each_other_are_refused() {
    let place = synced();
    let inside = place.source().join("dir");
    call(place.command(&place.source(), &inside, &[])).assert_failed(2, &["lie in each other"]);
    call(place.command(&inside, &place.source(), &[])).assert_failed(2, &["lie in each other"]);
}

#[test]
fn only_named_paths_are_copied() {
    let place = Place::new();
    place.write(&FILES);
    std::fs::write(place.path("list"), "dir/deep\n./d\n").unwrap();
    let list = place.path("list");
    place.sync_well(&["--files-from", list.to_str().unwrap()]);
    assert!(place.has("dir/deep/c") && place.has("d") && !place.has("a") && !place.has("dir/b"));
}
