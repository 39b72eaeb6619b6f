//! Storage below a sync that loses power, fails, or is shared: what was said to be done is there, and the rest comes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use testkit::lab::{Gluster, Lab};
use testkit::skip::{Need, can, program};
use testkit::trees::{Random, differences, picture, trap_tree};

use crate::image::{Image, Kind, tool};
use crate::place::{Place, call};

/// A namespace that is made meanwhile keeps every mount alive, and what is cached of it: a file system that was unmounted would
/// not start anew.
static NAMESPACES: RwLock<()> = RwLock::new(());

fn alone() -> RwLockWriteGuard<'static, ()> {
    NAMESPACES.write().unwrap_or_else(PoisonError::into_inner)
}

/// Held by tests that make namespaces of mounts for their hosts.
pub fn with_namespaces() -> RwLockReadGuard<'static, ()> {
    NAMESPACES.read().unwrap_or_else(PoisonError::into_inner)
}

/// Kinds whose power can be cut.
const KINDS: [Kind; 2] = [Kind::Ext4, Kind::Xfs];
/// What is left of a failing device: the metadata of a small ext4, and some data.
const LEFT: u64 = 16;

fn can_lose_power(kind: Kind, what: &str) -> bool {
    kind.is_possible(what) && can(what, &[Need::Program("xfs_io"), Need::Program("unshare")])
}

/// From now on nothing reaches the device: what is not on it is lost, the log that is still in memory included.
fn cut_power(image: &Image) {
    // -F: ext4 knows the same call.
    tool("xfs_io", &["-F", "-x", "-c", "shutdown", image.path().to_str().unwrap()]);
}

fn restart(image: &Image) {
    image.unmount();
    image.mount_again(&[]);
}

/// The command as it runs after the machine was started again.
fn after_a_restart(place: &Place, mut command: Command) -> Command {
    let other = place.path("boot_id");
    std::fs::write(&other, "4c7f8a52-9d51-4b9e-8a6c-0a4f6a3e9d10\n").unwrap();
    let mut words = vec![command.get_program().to_owned()];
    words.extend(command.get_args().map(ToOwned::to_owned));
    command = Command::new(program("unshare").unwrap());
    let script = "mount --bind \"$0\" /proc/sys/kernel/random/boot_id && exec \"$@\"";
    command.args(["--mount", "sh", "-c", script]).arg(other).args(words).stdin(Stdio::null());
    command
}

#[track_caller]
fn assert_equal(expected: &Path, found: &Path, when: &str) {
    let lines = differences(&picture(expected), &picture(found));
    assert!(lines.is_empty(), "{when}: {}", lines.join("\n"));
}

/// Small files, some of several MiB, and one that is copied in ranges.
fn fill(place: &Place, seed: u64) {
    let mut random = Random::new(seed);
    random.grow(&place.source(), 120);
    for number in 0..4u8 {
        let name = format!("some{number}");
        std::fs::write(place.source().join(name), vec![number + 1; 3 << 20]).unwrap();
    }
    std::fs::write(place.source().join("large"), (0..9 << 20).map(|at| (at >> 7) as u8).collect::<Vec<_>>())
        .unwrap();
}

#[test]
fn what_was_done_is_there_after_the_power_was_lost() {
    let _alone = alone();
    for kind in KINDS {
        if !can_lose_power(kind, "a sync to a disk that loses power") {
            continue;
        }
        let place = Place::new();
        let image = Image::mount(&place.path(""), kind);
        fill(&place, 1);
        let to = image.path().join("copy");
        for round in 0..2 {
            let ended = call(place.command(&place.source(), &to, &["--delete"]));
            assert_eq!(ended.code, Some(0), "{ended:?}");
            cut_power(&image);
            restart(&image);
            assert_equal(&place.source(), &to, "after the power came back");
            Random::new(7 + round).change(&place.source(), 40);
        }
    }
}

#[test]
fn power_lost_in_the_middle_costs_nothing_but_time() {
    let _alone = alone();
    for kind in KINDS {
        if !can_lose_power(kind, "a sync that loses power in the middle") {
            continue;
        }
        let place = Place::new();
        let image = Image::mount(&place.path(""), kind);
        fill(&place, 2);
        let to = image.path().join("copy");
        let mut moments = fastrand::Rng::with_seed(3);
        for round in 0..8 {
            let mut running = place.command(&place.source(), &to, &["--delete"]);
            let mut running = running.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(moments.u64(1..120)));
            cut_power(&image);
            running.kill().unwrap();
            running.wait().unwrap();
            restart(&image);
            let again = after_a_restart(&place, place.command(&place.source(), &to, &["--delete"]));
            let again = call(again);
            assert_eq!(again.code, Some(0), "{again:?}");
            assert_equal(&place.source(), &to, &format!("round {round}"));
            Random::new(100 + round).change(&place.source(), 60);
        }
    }
}

#[test]
fn files_that_can_not_be_read_are_told_and_the_others_arrive() {
    let _alone = alone();
    let kind = Kind::Ext4WithoutJournal;
    if !kind.is_possible("a source with bad sectors") {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), kind);
    let from = image.path().join("data");
    std::fs::create_dir(&from).unwrap();
    for number in 0..40u8 {
        std::fs::write(from.join(format!("f{number:02}")), vec![number + 1; 1 << 20]).unwrap();
    }
    restart(&image);
    // Names and attributes are known, the data is not.
    let whole = picture_of_names(&from);
    image.lose_beyond(LEFT);
    let ended = call(place.command(&from, &place.destination(), &["--format", "json"]));
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let record = ended.record();
    let failures = record["failures"].as_array().unwrap();
    assert!(!failures.is_empty());
    for failure in failures {
        assert!(failure["reason"].as_str().unwrap().contains("input/output error"), "{failure}");
    }
    let failed: Vec<&str> = failures.iter().map(|failure| failure["path"].as_str().unwrap()).collect();
    for (name, number) in whole {
        let arrived = std::fs::read(place.destination().join(&name));
        if failed.iter().any(|path| path.ends_with(&name)) {
            assert!(arrived.is_err(), "`{name}` could not be read and is there");
        } else {
            assert!(arrived.unwrap() == vec![number + 1; 1 << 20], "`{name}` is not what it was");
        }
    }
}

fn picture_of_names(dir: &Path) -> Vec<(String, u8)> {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| {
        entry.as_ref().unwrap().metadata().unwrap();
        entry.unwrap().file_name().into_string().unwrap()
    });
    names.map(|name| (name.clone(), name[1..].parse().unwrap())).collect()
}

/// Writes succeed, and the data is lost on its way to the device: what looks like a copy must not pass for one later.
#[test]
fn a_copy_whose_write_back_failed_is_made_again() {
    let _alone = alone();
    let kind = Kind::Ext4WithoutJournal;
    let what = "a destination with bad sectors";
    if !kind.is_possible(what) || !can(what, &[Need::Program("fsck.ext4")]) {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), kind);
    std::fs::create_dir(place.source()).unwrap();
    for number in 0..30u8 {
        std::fs::write(place.source().join(format!("f{number:02}")), vec![number + 1; 1 << 20]).unwrap();
    }
    let to = image.path().join("copy");
    image.lose_beyond(LEFT);
    let ended = call(place.command(&place.source(), &to, &[]));
    assert!(matches!(ended.code, Some(1 | 3)), "{ended:?}");
    assert!(ended.err.contains("input/output error") && ended.err.contains("hint: "), "{ended:?}");
    image.repair(kind);
    let ended = call(place.command(&place.source(), &to, &["--delete"]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_equal(&place.source(), &to, "after the repair");
}

/// A shared file system over FUSE: what it can't hold is told by name, and all else is there for other hosts.
#[test]
fn a_shared_file_system_holds_a_tree_of_traps() {
    let _alone = alone();
    let Some(mut lab) = Lab::new("a tree of traps on a shared file system", 2, &Gluster::NEEDS) else {
        return;
    };
    let gluster = Gluster::serve(&mut lab, 0);
    let shared = gluster.mount(&mut lab, &[0, 1]);
    let place = Place::new();
    trap_tree(&place.source());
    let there = shared.join("copy");
    let sync = |host: usize, place: &Place, (from, to): (&Path, &Path), flags: &[&str]| {
        let flags = [&["--special-files", "--format", "json"], flags].concat();
        let command = place.command(from, to, &flags);
        let words: Vec<&str> = command.get_args().map(|word| word.to_str().unwrap()).collect();
        let output = lab.try_run(host, &[&[command.get_program().to_str().unwrap()], &words[..]].concat());
        let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let failures = record["data"]["failures"].as_array().unwrap().iter();
        (
            output.status.code(),
            failures.map(|one| one["reason"].as_str().unwrap().to_owned()).collect::<Vec<_>>(),
        )
    };
    let (code, failures) = sync(0, &place, (&place.source(), &there), &[]);
    // It has no ACLs unless mounted with them, and paths end somewhere beyond 1,024 bytes.
    let (acls, deep): (Vec<_>, Vec<_>) = failures.iter().partition(|reason| reason.contains("posix_acl"));
    assert_eq!((code, acls.is_empty(), deep.len()), (Some(3), false, 1), "{failures:?}");
    assert!(deep[0].contains("cannot create") && deep[0].len() > 1024, "{deep:?}");
    assert!(!there.join("acl").exists());
    let path_of = |reason: &str| reason.split('`').nth(1).map(str::to_owned);
    let again = sync(0, &place, (&place.source(), &there), &["--no-acls"]);
    // Of the same path, it may refuse to say what is there before anything is made.
    let is_told =
        |reason: &str| reason.starts_with("cannot create `") || reason.starts_with("cannot look at `");
    assert!(again.0 == Some(3) && again.1.len() == 1 && is_told(&again.1[0]), "{again:?}");
    assert_eq!(path_of(&again.1[0]), path_of(deep[0]));
    let other = Place::new();
    assert_eq!(sync(1, &other, (&there, &other.destination()), &[]), (Some(0), Vec::new()));
    let (mut expected, found) = (picture(&place.source()), picture(&other.destination()));
    // Nor does it know times before 1970.
    expected.retain(|path, _| path.len() < 1024 || found.contains_key(path));
    assert!([0, -86_400].contains(&found[&b"old"[..]].mtime.0));
    expected.get_mut(&b"old"[..]).unwrap().mtime = found[&b"old"[..]].mtime;
    for entry in expected.values_mut() {
        entry.attributes.retain(|name, _| !name.starts_with(b"system.posix_acl"));
    }
    let lines = differences(&expected, &found);
    let short = |line: &String| line.chars().take(300).collect::<String>();
    assert!(lines.is_empty(), "{}", lines.iter().map(short).collect::<Vec<_>>().join("\n"));
}
