//! Files that change while they are read, and storage that fails.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::image::{Image, Kind};
use crate::place::{Place, call};

#[test]
fn a_file_that_never_rests_is_told_and_never_torn() {
    let place = Place::new();
    place.write(&[("calm", "calm")]);
    let path = place.source().join("busy");
    std::fs::write(&path, vec![0u8; 24 << 20]).unwrap();
    let stop = AtomicBool::new(false);
    let calls = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut byte = 0u8;
            while !stop.load(Ordering::Relaxed) {
                byte = byte.wrapping_add(1);
                let mut file = std::fs::File::options().write(true).open(&path).unwrap();
                std::io::Write::write_all(&mut file, &vec![byte; 4 << 20]).unwrap();
            }
        });
        let calls = [place.sync(&[]), place.sync(&[])];
        stop.store(true, Ordering::Relaxed);
        calls
    });
    for call in calls {
        call.assert_failed(3, &["busy", "changed whenever it was read"]);
    }
    assert!(place.has("calm") && !place.has("busy"));
    // When it rests, it arrives.
    std::thread::sleep(std::time::Duration::from_millis(30));
    place.sync_well(&[]);
    place.assert_equal();
}

#[test]
fn a_change_that_no_time_shows_arrives() {
    let place = Place::new();
    place.write(&[("a", "one"), ("b", "same")]);
    place.sync_well(&[]);
    let path = place.source().join("a");
    let before = path.metadata().unwrap().modified().unwrap();
    std::fs::write(&path, "two").unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    place.sync_well(&[]);
    assert_eq!(place.read("a"), "two");
}

#[test]
fn control_c_stops_a_sync_cleanly_and_the_same_command_goes_on() {
    let place = Place::new();
    for number in 0..40 {
        place.write(&[(&format!("dir{}/f{number}", number % 4), &"x".repeat(200_000))]);
    }
    let mut command = place.command(&place.source(), &place.destination(), &["--bwlimit", "1MB/s"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !place.destination().exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let left = std::fs::read_dir(place.destination()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with(".forebay")), "{left:?}");
    place.sync_well(&[]);
    place.assert_equal();
}

#[test]
fn a_full_destination_ends_the_job_and_keeps_what_is_whole() {
    if !Kind::Ext4.is_possible("a destination that runs full") {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), Kind::Ext4);
    for number in 0..200u8 {
        place.write(&[("x", "")]);
        std::fs::write(place.source().join(format!("f{number:03}")), vec![number; 1 << 20]).unwrap();
    }
    let to = image.path().join("copy");
    let ended = call(place.command(&place.source(), &to, &[]));
    ended.assert_failed(1, &["no space left", "df -h"]);
    for entry in std::fs::read_dir(&to).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(!name.starts_with(".forebay"), "{name} was left behind");
        assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(place.source().join(&name)).unwrap());
    }
    // Deletes come after copies: with less to copy and room made by hand, the same command goes on.
    for number in 10..200u8 {
        let name = format!("f{number:03}");
        std::fs::remove_file(place.source().join(&name)).unwrap();
        let _ = std::fs::remove_file(to.join(name));
    }
    let ended = call(place.command(&place.source(), &to, &["--delete"]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn every_file_system_holds_a_tree_of_traps() {
    for kind in [Kind::Ext4, Kind::Xfs, Kind::Btrfs] {
        if !kind.is_possible("a tree of traps on a file system of its own") {
            continue;
        }
        let place = Place::new();
        let image = Image::mount(&place.path(""), kind);
        testkit::trees::trap_tree(&place.source());
        let to = image.path().join("copy");
        let ended = call(place.command(&place.source(), &to, &["--special-files"]));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let lines = testkit::trees::differences(
            &testkit::trees::picture(&place.source()),
            &testkit::trees::picture(&to),
        );
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }
}
