//! Space, inodes and quota: refused before anything is made where that can be known, else failing in the middle.

use std::io::Write as _;
use std::path::Path;

use crate::going::{Going, wait_until};
use crate::image::{Image, Kind, tool};
use crate::place::{Call, PREFIX, Place, assert_empty, names};
use crate::workload::{SLOWLY, create_items, endless, transfer, workload};

/// iotest with one file of `mebibytes`.
fn iotest(place: &Place, target: &Path, mebibytes: u64, more: &[&str]) -> Call {
    let size = format!("{mebibytes}m");
    let fixed = ["iotest", "--pcores", "1", "--engine", "psync", "--file-size", &size, "--target"];
    place.call(&[&fixed[..], &[target.to_str().unwrap()], more].concat())
}

/// Somebody else takes all space that is left.
fn fill(dir: &Path) {
    let mut file = std::fs::File::create(dir.join("somebody-elses")).unwrap();
    // Smaller and smaller pieces, so that the last block goes too.
    for size in [1 << 20, 4096, 1] {
        while file.write_all(&vec![7; size]).is_ok() {}
    }
    let _ = file.sync_all();
}

#[test]
fn too_little_space_is_refused_with_numbers() {
    if !Kind::Ext4.is_possible("a small file system") {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), Kind::Ext4);
    let call = iotest(&place, image.path(), 100, &[]);
    call.assert_failed(&["needs 100 MiB", "MiB are available", "smaller"]);
    place.assert_no_record();
    assert_empty(image.path());
}

#[test]
fn filling_beyond_ninety_percent_needs_insisting() {
    if !Kind::Ext4.is_possible("a file system filled beyond 90 %") {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), Kind::Ext4);
    let available = rustix::fs::statvfs(image.path()).map(|s| s.f_bavail * s.f_frsize).unwrap();
    let mebibytes = (available >> 20) - 2;
    let call = iotest(&place, image.path(), mebibytes, &[]);
    call.assert_failed(&["would fill", "%", "--fill-beyond"]);
    place.assert_no_record();
    assert_empty(image.path());
    let call = iotest(&place, image.path(), mebibytes, &["--fill-beyond"]);
    assert_eq!(call.code, 0, "{call:?}");
    assert_eq!(place.record()["state"], "complete");
    assert_empty(image.path());
}

#[test]
fn too_few_inodes_are_refused_with_numbers() {
    if !Kind::Ext4.is_possible("a file system with few inodes") {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), Kind::Ext4OfInodes(64));
    let call = Going::start(place.run_command(&workload(1, 1, &[create_items()]), image.path())).end();
    call.assert_failed(&["inodes are free", "df -i"]);
    place.assert_no_record();
    assert_empty(image.path());
}

#[test]
fn inodes_taken_by_others_meanwhile_end_the_run() {
    if !Kind::Ext4.is_possible("a file system that runs out of inodes") {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), Kind::Ext4OfInodes(256));
    let text = workload(1, 4, &[transfer("write", 0, SLOWLY), create_items()]);
    let mut going = Going::start(place.run_command(&text, image.path()));
    going.wait_for(&["phase_started", "write"]);
    wait_until("the data file", || !run_files(image.path()).is_empty());
    let others = image.path().join("others");
    std::fs::create_dir(&others).unwrap();
    for number in 0.. {
        if std::fs::File::create(others.join(number.to_string())).is_err() {
            break;
        }
    }
    going.end().assert_failed(&["cannot create", "no space left", "df -i"]);
    let record = place.assert_partial("failed");
    assert_eq!(
        record["tests"][0]["repetitions"][0]["phases"].as_array().unwrap().len(),
        2 + 1,
        "tree, write, create"
    );
    assert_eq!(names(image.path()), ["others"]);
}

/// The data files of the run that is going.
fn run_files(target: &Path) -> Vec<String> {
    let run = names(target).into_iter().find(|name| name.starts_with(PREFIX));
    let files = run.map_or_else(Vec::new, |run| names(&target.join(run)));
    files.into_iter().filter(|name| name.starts_with("data.")).collect()
}

#[test]
fn a_file_system_filled_by_others_meanwhile_ends_the_run() {
    for kind in [Kind::Ext4, Kind::Xfs] {
        if !kind.is_possible("a file system that runs full") {
            continue;
        }
        let place = Place::new();
        let image = Image::mount(&place.path(""), kind);
        let mut going =
            Going::start(place.run_command(&workload(2, 16, &[transfer("write", 0, SLOWLY)]), image.path()));
        going.wait_for(&["phase_started", "write"]);
        wait_until("the data files", || run_files(image.path()).len() == 2);
        fill(image.path());
        going.end().assert_failed(&["cannot write", "data.0000000", "no space left", "df -h"]);
        let record = place.assert_partial("failed");
        assert_eq!(record["tests"][0]["repetitions"][0]["phases"][0]["stopped_by"], "error");
        assert_eq!(names(image.path()), ["somebody-elses"]);
    }
}

/// Others take all but a little: the run ends before they can't write any more.
#[test]
fn a_phase_ends_before_a_file_system_is_full_that_others_use_too() {
    if !Kind::Ext4.is_possible("a file system that others fill") {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), Kind::Ext4);
    let mut going =
        Going::start(place.run_command(&workload(1, 1, &[endless("write", 0, SLOWLY)]), image.path()));
    going.wait_for(&["phase_started", "write"]);
    wait_until("the data file", || !run_files(image.path()).is_empty());
    let left = || rustix::fs::statvfs(image.path()).map(|stat| stat.f_bavail * stat.f_frsize).unwrap();
    let mut others = std::fs::File::create(image.path().join("somebody-elses")).unwrap();
    let piece = vec![7; 64 << 10];
    while left() > 2 << 20 {
        others.write_all(&piece).unwrap();
    }
    going.end().assert_failed(&["is filling up", "are left", "stay free", "make room"]);
    let record = place.assert_partial("failed");
    let phase = &record["tests"][0]["repetitions"][0]["phases"][0];
    assert_eq!(phase["stopped_by"], "space", "{phase}");
    assert!(phase["ranks"][0]["operations"].as_u64().unwrap() > 0, "what was measured is kept: {phase}");
    assert_eq!(names(image.path()), ["somebody-elses"]);
}

/// Of Btrfs, whose quota this kernel has in every configuration.
#[test]
fn a_quota_that_is_used_up_ends_the_run() {
    if !Kind::Btrfs.is_possible("a quota") {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), Kind::Btrfs);
    let limited = image.path().join("limited");
    let path = limited.to_str().unwrap();
    tool("btrfs", &["quota", "enable", image.path().to_str().unwrap()]);
    tool("btrfs", &["subvolume", "create", path]);
    tool("btrfs", &["qgroup", "limit", "16M", path]);
    let text = workload(1, 32, &[transfer("write", 0, "")]);
    let call = Going::start(place.run_command(&text, &limited)).end();
    call.assert_failed(&["data.00000000", "quota exceeded", "raise it"]);
    place.assert_partial("failed");
    assert_empty(&limited);
}

#[test]
fn a_full_place_for_records_is_told_before_anything_is_measured() {
    if !Kind::Ext4.is_possible("a full place for records") {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), Kind::Ext4);
    std::os::unix::fs::symlink(image.path(), place.path("runs")).unwrap();
    fill(image.path());
    let text = workload(1, 1, &[endless("write", 0, "")]);
    let call = Going::start(place.run_command(&text, &place.target())).end();
    call.assert_failed(&["runs/", "no space left"]);
    assert!(!call.out.contains("phase_started"), "{call:?}");
    assert_empty(&place.target());
}
