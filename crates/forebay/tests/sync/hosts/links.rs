//! Files with several names: their content travels once, and the destination makes the other names itself.

use std::fs::{create_dir_all, hard_link, remove_file, write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::Value;
use testkit::trees::rest;

use super::Hosts;

const MIDDLE: u64 = 1 << 20;
const LARGE: u64 = 9 << 20;

fn sent(record: &Value) -> u64 {
    record["bytes"]["sent_bytes"].as_u64().unwrap()
}

fn linked(record: &Value) -> u64 {
    record["entries"]["linked"].as_u64().unwrap()
}

/// Content that nothing makes shorter.
fn noise(bytes: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(bytes);
    std::iter::repeat_with(|| random.u8(..)).take(bytes as usize).collect()
}

/// A small, a middle and a large file with three names each, in three directories.
fn three_names(hosts: &Hosts) -> u64 {
    let source = hosts.path("source");
    ["a", "b", "c"].iter().for_each(|dir| create_dir_all(source.join(dir)).unwrap());
    for (name, bytes) in [("small", 3000), ("middle", MIDDLE), ("large", LARGE)] {
        let first = source.join("b").join(name);
        write(&first, noise(bytes)).unwrap();
        ["a", "c"].iter().for_each(|dir| hard_link(&first, source.join(dir).join(name)).unwrap());
    }
    rest();
    3000 + MIDDLE + LARGE
}

#[test]
fn content_of_a_file_with_several_names_travels_once() {
    let Some(hosts) = Hosts::new("several names over ssh", 2) else { return };
    let once = three_names(&hosts);
    let ways = [
        (hosts.tree(0, "source"), hosts.tree(1, "far"), "far"),
        (hosts.tree(1, "far"), hosts.tree(0, "back"), "back"),
        (hosts.tree(1, "far"), hosts.tree(2, "third"), "third"),
    ];
    for (from, to, name) in &ways {
        std::fs::create_dir(hosts.path(name)).unwrap();
        let plan = hosts.sync(from, to, &["--dry-run", "--format", "jsonl"]);
        assert_eq!((plan.code, plan.out.matches(r#""act":"link""#).count()), (Some(0), 6), "{plan:?}");
        let record = hosts.sync_well(from, to, &["--verify", "transferred"]);
        assert_eq!((sent(&record), linked(&record)), (once, 6), "{record:#}");
        assert_eq!(record["entries"]["copied"], 3, "{record:#}");
        hosts.assert_equal("source", name);
        let again = hosts.sync_well(from, to, &["--verify", "all"]);
        assert_eq!((sent(&again), linked(&again)), (0, 0), "{again:#}");
    }
    // A further name, a name less, other attributes, and a name that becomes a file of its own.
    let source = hosts.path("source");
    rest();
    create_dir_all(source.join("A")).unwrap();
    hard_link(source.join("b/large"), source.join("A/further")).unwrap();
    remove_file(source.join("a/middle")).unwrap();
    std::fs::set_permissions(source.join("c/small"), std::fs::Permissions::from_mode(0o604)).unwrap();
    remove_file(source.join("a/small")).unwrap();
    write(source.join("a/small"), "of its own").unwrap();
    rest();
    let before = hosts.path("far/b/large").metadata().unwrap().ino();
    let record = hosts.sync_well(&ways[0].0, &ways[0].1, &["--delete"]);
    assert_eq!((sent(&record), linked(&record)), (10, 1), "{record:#}");
    assert_eq!(hosts.path("far/A/further").metadata().unwrap().ino(), before, "the file was made anew");
    for (from, to, name) in &ways[1..] {
        let record = hosts.sync_well(from, to, &["--delete"]);
        assert!(sent(&record) <= once + 10, "{record:#}");
        hosts.assert_equal("source", name);
    }
    // New content under all names.
    write(source.join("b/middle"), noise(MIDDLE + 1)).unwrap();
    rest();
    for (from, to, name) in &ways {
        let record = hosts.sync_well(from, to, &[]);
        assert_eq!((sent(&record), linked(&record)), (MIDDLE + 1, 1), "{record:#}");
        hosts.assert_equal("source", name);
    }
}

#[test]
fn a_name_that_fails_or_is_left_out_keeps_no_other_from_coming() {
    let Some(hosts) = Hosts::new("names that fail over ssh", 1) else { return };
    three_names(&hosts);
    let (source, far, back) = (hosts.tree(0, "source"), hosts.tree(1, "far"), hosts.tree(0, "back"));
    // What would lead is left out.
    let record = hosts.sync_well(&source, &far, &["--exclude", "/a"]);
    assert_eq!(linked(&record), 3, "{record:#}");
    // What leads is gone, or another by now, and the name that comes in needs it.
    remove_file(hosts.path("far/b/large")).unwrap();
    write(hosts.path("far/b/middle"), "somebody's").unwrap();
    let record = hosts.sync_well(&source, &far, &[]);
    assert_eq!(sent(&record), MIDDLE + LARGE, "{record:#}");
    let read = |tree: &str, path: &str| std::fs::read(hosts.path(tree).join(path)).unwrap();
    for path in ["a/small", "a/middle", "a/large"] {
        assert!(read("source", path) == read("far", path), "{path} is another");
    }
    hosts.sync_well(&source, &far, &["--check-destination", "--verify", "all"]);
    hosts.assert_equal("source", "far");
    // A directory is in the way of what leads.
    for (from, to, name) in [(&far, &back, "back"), (&source, &hosts.tree(1, "other"), "other")] {
        create_dir_all(hosts.path(name).join("a/large/full")).unwrap();
        let call = hosts.sync(from, to, &["--format", "json"]);
        assert_eq!(call.code, Some(3), "{call:?}");
        let names = |path: &str| hosts.path(name).join(path).metadata().unwrap().nlink();
        assert_eq!((names("b/large"), names("c/large"), names("a/middle")), (2, 2, 3), "{call:?}");
        std::fs::remove_dir_all(hosts.path(name).join("a/large")).unwrap();
        let time = hosts.path("source/a").metadata().unwrap().modified().unwrap();
        std::fs::File::open(hosts.path(name).join("a")).unwrap().set_modified(time).unwrap();
        let record = hosts.sync_well(from, to, &["--check-destination"]);
        assert_eq!((sent(&record), linked(&record)), (0, 1), "{record:#}");
        hosts.assert_equal("source", name);
    }
}
