//! Files and directories that were renamed at the source: nothing of them is read or sent again, and whatever is in doubt is.

use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::trees::rest;

use crate::image::{Image, Kind};
use crate::place::Place;

const SIZE: u64 = 5000;
const KILLS: u64 = 24;

fn number(record: &Value, group: &str, name: &str) -> u64 {
    record[group][name].as_u64().unwrap()
}

/// What was read and what was sent.
fn travelled(record: &Value) -> [u64; 2] {
    [number(record, "bytes", "read_bytes"), number(record, "bytes", "sent_bytes")]
}

fn content(seed: u64, length: u64) -> Vec<u8> {
    let mut bytes = vec![0; length as usize];
    fastrand::Rng::with_seed(seed).fill(&mut bytes);
    bytes
}

fn write(path: &Path, seed: u64) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content(seed, SIZE)).unwrap();
}

fn rename(place: &Place, from: &str, to: &str) {
    let to = place.source().join(to);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::rename(place.source().join(from), to).unwrap();
}

fn inode(place: &Place, name: &str) -> u64 {
    place.destination().join(name).symlink_metadata().unwrap().ino()
}

/// A tree of `files` files in three directories, one in another, as the last sync left it.
fn synced(place: &Place, files: u64) {
    for number in 0..files {
        let dir = ["a", "a/b", "c"][number as usize % 3];
        write(&place.source().join(dir).join(format!("f{number}")), number);
    }
    rest();
    place.sync_well(&[]);
    rest();
}

#[test]
fn renamed_files_and_directories_are_not_sent_again() {
    let place = Place::new();
    synced(&place, 30);
    let before = (inode(&place, "a/b/f1"), inode(&place, "c/f2"));
    rename(&place, "a", "renamed/deep");
    rename(&place, "c/f2", "elsewhere/other name");
    let record = place.sync_well(&["--delete"]);
    place.assert_equal();
    // A directory's new name leaves no trace on what is in it; one of a file's own could hide a change.
    assert_eq!(travelled(&record), [SIZE, 0], "{record}");
    assert_eq!(number(&record, "entries", "moved"), 21, "{record}");
    // Directories only: what moved is no delete.
    assert_eq!(number(&record, "entries", "deleted"), 2, "{record}");
    assert_eq!(number(&record, "bytes", "saved_bytes"), 21 * SIZE, "{record}");
    let after = (inode(&place, "renamed/deep/b/f1"), inode(&place, "elsewhere/other name"));
    assert_eq!(before, after);
    // Attributes that changed with the name come along.
    rename(&place, "renamed/deep/f0", "f0");
    let file = std::fs::File::open(place.source().join("f0")).unwrap();
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    let record = place.sync_well(&["--delete"]);
    place.assert_equal();
    assert_eq!(travelled(&record), [SIZE, 0], "{record}");
    let record = place.sync_well(&["--delete", "--verify", "all"]);
    assert_eq!(number(&record, "entries", "copied"), 0, "{record}");
    place.assert_equal();
}

#[test]
fn without_deletes_what_was_renamed_is_copied_at_the_destination() {
    let place = Place::new();
    synced(&place, 30);
    rename(&place, "a", "z");
    let record = place.sync_well(&[]);
    assert_eq!(travelled(&record), [0, 0], "{record}");
    assert_eq!(number(&record, "entries", "moved"), 20, "{record}");
    assert!(place.has("a/f0") && place.has("a/b/f1"));
    assert_ne!(inode(&place, "a/f0"), inode(&place, "z/f0"));
    let record = place.sync_well(&["--delete"]);
    assert_eq!(number(&record, "entries", "deleted"), 22, "{record}");
    place.assert_equal();
}

/// Names that pass on from file to file, in a row and in a ring.
#[test]
fn names_that_other_files_take_over_lose_nothing() {
    let place = Place::new();
    for (seed, name) in ["log", "log.1", "log.2", "x", "y", "z"].into_iter().enumerate() {
        write(&place.source().join(name), seed as u64);
    }
    rest();
    place.sync_well(&[]);
    rest();
    for (from, to) in [("log.2", "log.3"), ("log.1", "log.2"), ("log", "log.1")] {
        rename(&place, from, to);
    }
    write(&place.source().join("log"), 100);
    for (from, to) in [("x", "tmp"), ("y", "x"), ("z", "y"), ("tmp", "z")] {
        rename(&place, from, to);
    }
    let record = place.sync_well(&["--delete"]);
    place.assert_equal();
    assert_eq!(travelled(&record), [7 * SIZE, SIZE], "{record}");
    assert_eq!(number(&record, "entries", "moved"), 6, "{record}");
    for (name, links) in [("log.1", 1), ("log.3", 1), ("x", 1), ("z", 1)] {
        assert_eq!(place.destination().join(name).metadata().unwrap().nlink(), links, "{name}");
    }
    let record = place.sync_well(&["--delete", "--check-destination"]);
    assert_eq!(travelled(&record), [0, 0], "{record}");
    // Nothing of ours is left.
    assert_eq!(std::fs::read_dir(place.destination()).unwrap().count(), 7);
}

#[test]
fn names_of_one_file_are_renamed_together() {
    let place = Place::new();
    write(&place.source().join("dir/one"), 1);
    std::fs::hard_link(place.source().join("dir/one"), place.source().join("dir/two")).unwrap();
    rest();
    place.sync_well(&[]);
    rest();
    rename(&place, "dir", "other");
    let record = place.sync_well(&["--delete"]);
    place.assert_equal();
    assert_eq!(travelled(&record), [0, 0], "{record}");
    assert_eq!(inode(&place, "other/one"), inode(&place, "other/two"));
}

/// Another file under a new name that has the size and time of one that is gone, and perhaps its inode; a file whose content
/// changed with its time put back before it was renamed, where the hash is asked for; a copy at the destination that somebody
/// changed.
#[test]
fn what_only_looks_renamed_is_copied() {
    let place = Place::new();
    let path = |name: &str| place.source().join(name);
    for (seed, name) in ["gone", "edited", "changed there"].into_iter().enumerate() {
        write(&path(name), seed as u64);
    }
    rest();
    place.sync_well(&[]);
    rest();
    let time = path("gone").metadata().unwrap().modified().unwrap();
    std::fs::remove_file(path("gone")).unwrap();
    write(&path("new"), 10);
    std::fs::File::options().write(true).open(path("new")).unwrap().set_modified(time).unwrap();
    let edited = std::fs::File::options().write(true).open(path("edited")).unwrap();
    let time = edited.metadata().unwrap().modified().unwrap();
    edited.write_all_at(b"edited", 100).unwrap();
    edited.set_modified(time).unwrap();
    rename(&place, "edited", "edited and renamed");
    let there = place.destination().join("changed there");
    let time = there.metadata().unwrap().modified().unwrap();
    let file = std::fs::File::options().write(true).open(&there).unwrap();
    file.write_all_at(b"changed", 100).unwrap();
    file.set_modified(time).unwrap();
    rename(&place, "changed there", "renamed");
    let plan = place.sync(&["--delete", "--verify", "transferred", "--dry-run"]);
    assert!(!plan.out.contains("rename "), "{plan:?}");
    let record = place.sync_well(&["--delete", "--verify", "transferred"]);
    place.assert_equal();
    assert_eq!(number(&record, "entries", "moved"), 0, "{record}");
    assert_eq!(number(&record, "entries", "copied"), 3, "{record}");
    // What looks different at the destination is no use either, whoever asks for what.
    rest();
    std::fs::write(place.destination().join("renamed"), "somebody's").unwrap();
    rename(&place, "renamed", "renamed again");
    let record = place.sync_well(&["--delete"]);
    place.assert_equal();
    assert_eq!(number(&record, "entries", "copied"), 1, "{record}");
}

#[test]
fn a_large_file_that_is_renamed_and_then_changed_sends_what_changed() {
    let place = Place::new();
    let (large, size) = (place.source().join("old/large"), 80 << 20);
    std::fs::create_dir_all(large.parent().unwrap()).unwrap();
    std::fs::write(&large, content(1, size)).unwrap();
    rest();
    place.sync_well(&[]);
    rest();
    rename(&place, "old", "dir");
    let record = place.sync_well(&["--delete"]);
    assert_eq!(travelled(&record), [0, 0], "{record}");
    let file = std::fs::File::options().write(true).open(place.source().join("dir/large")).unwrap();
    file.write_all_at(b"changed", 50_000_000).unwrap();
    let record = place.sync_well(&["--delete", "--in-place-from", "1m"]);
    place.assert_equal();
    assert!(travelled(&record)[1] <= 2 << 16, "{record}");
    // What was known of its leaves went with it: one list, of this name.
    assert_eq!(std::fs::read_dir(place.path("state/leaves")).unwrap().count(), 1);
    // And goes when the file does.
    std::fs::remove_file(place.source().join("dir/large")).unwrap();
    place.sync_well(&["--delete"]);
    assert_eq!(std::fs::read_dir(place.path("state/leaves")).unwrap().count(), 0);
}

#[test]
fn a_watch_renames_what_is_renamed() {
    let place = Place::new();
    synced(&place, 30);
    let mut command = place.command(&place.source(), &place.destination(), &["--watch", "--delete"]);
    command.args(["--format", "json"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let before = inode(&place, "a/b/f1");
    rename(&place, "a", "z");
    let started = Instant::now();
    while !place.has("z/b/f1") || place.has("a") {
        assert!(started.elapsed() < Duration::from_mins(1), "the watch does not follow");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(inode(&place, "z/b/f1"), before);
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap(),
        rustix::process::Signal::INT,
    )
    .unwrap();
    child.wait_with_output().unwrap();
    place.sync_well(&["--delete"]);
    place.assert_equal();
}

/// The content of every file below `dir`, by what it begins with.
fn contents(dir: &Path) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.symlink_metadata() {
            Ok(meta) if meta.is_dir() => found.extend(contents(&path)),
            _ => found.extend(std::fs::read(&path)),
        }
    }
    found
}

#[test]
fn kills_while_files_are_renamed_lose_nothing() {
    let place = Place::new();
    let files = 1500;
    synced(&place, files);
    let started = Instant::now();
    rename(&place, "a", "dir-0");
    place.sync_well(&["--delete"]);
    let whole = started.elapsed();
    for kill in 1..=KILLS {
        rename(&place, &format!("dir-{}", kill - 1), &format!("dir-{kill}"));
        let flags: &[&str] = if kill % 4 == 0 { &[] } else { &["--delete"] };
        let mut command = place.command(&place.source(), &place.destination(), flags);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(kill as f64 / KILLS as f64));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut wanted: Vec<_> = (0..files).map(|seed| content(seed, SIZE)).collect();
        let mut found = contents(&place.destination());
        found.sort();
        found.dedup();
        wanted.sort();
        assert!(wanted.iter().all(|file| found.binary_search(file).is_ok()), "kill {kill} lost content");
        place.sync_well(&["--delete", "--max-delete", "5000"]);
        place.assert_equal();
    }
}

fn free(path: &Path) -> u64 {
    rustix::fs::syncfs(std::fs::File::open(path).unwrap()).unwrap();
    let found = rustix::fs::statvfs(path).unwrap();
    found.f_bfree * found.f_frsize
}

#[test]
fn what_was_renamed_is_shared_with_its_old_copy_where_blocks_can_be() {
    for kind in [Kind::Xfs, Kind::Btrfs] {
        if !kind.is_possible("renamed files that are shared") {
            continue;
        }
        let place = Place::new();
        let image = Image::mount(&place.path(""), kind);
        let to = image.path().join("destination");
        std::fs::create_dir(place.source()).unwrap();
        std::fs::write(place.source().join("large"), content(1, 70 << 20)).unwrap();
        rest();
        let sync = |flags: &[&str]| {
            let command = place.command(&place.source(), &to, &[flags, &["--format", "json"]].concat());
            let call = crate::place::call(command);
            assert_eq!(call.code, Some(0), "{call:?}");
            call.record()
        };
        sync(&[]);
        rest();
        rename(&place, "large", "renamed");
        let before = free(&to);
        let record = sync(&[]);
        assert_eq!(travelled(&record), [70 << 20, 0], "{record}");
        assert!(free(&to) + (8 << 20) > before, "there are two copies");
        assert!(std::fs::read(to.join("renamed")).unwrap() == content(1, 70 << 20));
    }
}
