use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn with_files(target: &Path) -> RunDirectory {
    let run = RunDirectory::create(target, "20260101-000000-aaaaaa", "file").unwrap();
    fs::write(run.path().join(Names::data(0)), "x").unwrap();
    fs::create_dir_all(run.path().join("tree.0/dir.1")).unwrap();
    fs::write(run.path().join("tree.0/dir.1/file.0.7"), "x").unwrap();
    run
}

/// Makes the run look dead: its lock is gone and its process is another.
fn die(run: RunDirectory) -> PathBuf {
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
    with_files(target.path()).remove().unwrap();
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
    assert!(!path.join(Names::data(0)).exists(), "our own files are gone");
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
    let fault = RunDirectory::create(Path::new("/nowhere/at/all"), "x", "file").unwrap_err();
    assert_eq!(fault.kind(), Kind::NotFound);
    assert!(fault.hint_text().is_some());
}
