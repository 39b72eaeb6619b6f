use std::fs;
use std::os::unix::fs::symlink;

use fault::Kind;

use super::*;
use crate::workload::{Existing, FileSet, Named, Workload};

fn with_files(target: &Path) -> Ground {
    let run = Ground::fresh(target, "20260101-000000-aaaaaa", "file").unwrap();
    fs::write(run.path().join("data.00000000"), "x").unwrap();
    fs::create_dir_all(run.path().join("tree.0/dir.1")).unwrap();
    fs::write(run.path().join("tree.0/dir.1/file.0.7"), "x").unwrap();
    run
}

/// Makes the run look dead: its lock is gone and its process is another.
fn die(run: Ground) -> PathBuf {
    let path = run.path().to_owned();
    drop(run);
    let journal = path.join(JOURNAL);
    let text = fs::read_to_string(&journal).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["process_start"] = 1.into();
    fs::write(journal, value.to_string()).unwrap();
    path
}

#[test]
fn a_run_removes_all_it_made() {
    let target = tempfile::tempdir().unwrap();
    with_files(target.path()).remove(false).unwrap();
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 0);
}

#[test]
fn a_live_run_is_left_alone_and_a_dead_one_removed() {
    let target = tempfile::tempdir().unwrap();
    fs::write(target.path().join("precious"), "mine").unwrap();
    fs::create_dir(target.path().join("forebay-results")).unwrap();
    let run = with_files(target.path());
    let report = clean(target.path(), CleanOptions::default()).unwrap();
    assert!(report.removed.is_empty() && report.kept.len() == 1, "{report:?}");
    assert_eq!(leftovers(target.path()).unwrap()[0].owner, Owner::Alive);

    let path = die(run);
    let report = clean(target.path(), CleanOptions { dry_run: true, ..CleanOptions::default() }).unwrap();
    assert_eq!(report.removed, std::slice::from_ref(&path));
    assert!(path.exists(), "a dry run removes nothing");
    let report = clean(target.path(), CleanOptions::default()).unwrap();
    assert_eq!(report.removed, [path]);
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 2, "precious things stay");
}

#[test]
fn what_is_not_ours_stays() {
    let target = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("data.00000001"), "mine").unwrap();
    let path = die(with_files(target.path()));
    fs::write(path.join("notes.txt"), "mine").unwrap();
    symlink(outside.path(), path.join("dir.5")).unwrap();
    let report = clean(target.path(), CleanOptions::default()).unwrap();
    assert!(report.removed.is_empty());
    assert_eq!(report.foreign.len(), 2, "{report:?}");
    assert!(path.join("notes.txt").exists() && outside.path().join("data.00000001").exists());
    assert!(!path.join("data.00000000").exists(), "our own files are gone");
}

#[test]
fn a_directory_without_a_journal_is_removed_only_when_empty() {
    let target = tempfile::tempdir().unwrap();
    let (bare, full) = (target.path().join("forebay-run-a"), target.path().join("forebay-run-b"));
    fs::create_dir(&bare).unwrap();
    fs::create_dir(&full).unwrap();
    fs::write(full.join("data.00000000"), "whose?").unwrap();
    let report = clean(target.path(), CleanOptions::default()).unwrap();
    assert_eq!(report.removed, [bare]);
    assert!(full.join("data.00000000").exists());
}

#[test]
fn another_hosts_run_needs_insisting() {
    let target = tempfile::tempdir().unwrap();
    let path = die(with_files(target.path()));
    let text = fs::read_to_string(path.join(JOURNAL)).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["host"] = "elsewhere".into();
    value["boot_id"] = "other".into();
    fs::write(path.join(JOURNAL), value.to_string()).unwrap();
    assert_eq!(clean(target.path(), CleanOptions::default()).unwrap().kept.len(), 1);
    let insist = CleanOptions { other_hosts: true, ..CleanOptions::default() };
    assert_eq!(clean(target.path(), insist).unwrap().removed, [path]);
}

#[test]
fn a_symlink_below_the_run_directory_is_not_followed() {
    let target = tempfile::tempdir().unwrap();
    let run = with_files(target.path());
    symlink("/etc/hostname", run.path().join("data.00000009")).unwrap();
    assert!(run.open("data.00000009", OFlags::RDWR).is_err());
    assert!(run.open("../escape", OFlags::CREATE | OFlags::RDWR).is_err());
}

#[test]
fn a_missing_target_says_what_to_do() {
    let fault = Ground::fresh(Path::new("/nowhere/at/all"), "x", "file").unwrap_err();
    assert_eq!(fault.kind(), Kind::NotFound);
    assert!(fault.hint_text().is_some());
}

/// A run of two ranks with named files, of which the second is there before and is replaced.
fn named(target: &Path) -> Ground {
    fs::write(target.join("test.file.00000001"), "old").unwrap();
    let data = vec!["test.file".to_owned()];
    let named = Named { data, existing: Existing::Replace, ..Named::default() };
    let files = FileSet { named: Some(named.clone()), ..FileSet::default() };
    let workload = Workload {
        ranks: 2,
        files: files.clone(),
        ..Workload::from_toml(
            "version = 1\nphases = [{name = \"x\", jobs = [{activity = {transfer = {read = \"0%\"}}}]}]",
        )
        .unwrap()
    };
    let mut grounds = Grounds::create(&[target], "20260101-000000-aaaaaa", &workload, 0).unwrap().into_all();
    let ground = grounds.remove(0);
    assert!(!target.join("test.file.00000001").exists());
    for number in [0, 1] {
        fs::write(target.join(Names::named(&files, &named, 0).data(&files, number)), "new").unwrap();
    }
    ground
}

fn die_named(ground: Ground, target: &Path) -> PathBuf {
    drop(ground);
    let run = leftovers(target).unwrap().remove(0).path;
    let text = fs::read_to_string(run.join(JOURNAL)).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["process_start"] = 1.into();
    fs::write(run.join(JOURNAL), value.to_string()).unwrap();
    run
}

#[test]
fn named_files_of_a_dead_run_are_removed() {
    let target = tempfile::tempdir().unwrap();
    fs::write(target.path().join("test.file.00000002"), "mine").unwrap();
    let ground = named(target.path());
    assert_eq!(clean(target.path(), CleanOptions::default()).unwrap().kept.len(), 1, "alive");
    let run = die_named(ground, target.path());
    let report = clean(target.path(), CleanOptions::default()).unwrap();
    assert_eq!((report.removed, report.entries), (vec![run], 2));
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 1, "what no run made stays");
}

#[test]
fn named_files_that_somebody_changed_later_stay() {
    let target = tempfile::tempdir().unwrap();
    let run = die_named(named(target.path()), target.path());
    // The run was last alive an hour ago.
    let journal = fs::File::options().write(true).open(run.join(JOURNAL)).unwrap();
    journal.set_modified(std::time::SystemTime::now() - std::time::Duration::from_hours(1)).unwrap();
    let report = clean(target.path(), CleanOptions::default()).unwrap();
    assert_eq!((report.removed.len(), report.foreign.len(), report.kept.len()), (0, 2, 1), "{report:?}");
    assert_eq!(fs::read(target.path().join("test.file.00000000")).unwrap(), b"new");
}

#[test]
fn a_later_run_takes_over_the_names_of_a_dead_one() {
    let target = tempfile::tempdir().unwrap();
    die_named(named(target.path()), target.path());
    fs::remove_file(target.path().join("test.file.00000000")).unwrap();
    // The second run keeps what it makes, and is gone by the time somebody cleans.
    drop(named(target.path()));
    assert_eq!(leftovers(target.path()).unwrap().len(), 1, "one journal speaks for these names");
}
