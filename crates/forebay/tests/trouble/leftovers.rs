//! What a killed run leaves, and `forebay clean`.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::going::Going;
use crate::place::{PREFIX, Place, assert_empty, call, names, snapshot};
use crate::workload::{SLOWLY, create_items, endless, transfer, workload};

/// A run that goes on until it is killed, with files and a tree in its directory.
fn going(place: &Place) -> Going {
    let text = workload(2, 1, &[create_items(), endless("write", 0, SLOWLY)]);
    let mut going = Going::start(place.run_command(&text, &place.target()));
    // The first report comes a second after the start: all ranks have opened their files by then.
    going.wait_for(&["\"progress\"", "\"write\""]);
    going
}

fn run_directory(place: &Place) -> PathBuf {
    let found = names(&place.target()).into_iter().find(|name| name.starts_with(PREFIX)).unwrap();
    place.target().join(found)
}

#[test]
fn clean_removes_what_a_killed_run_left() {
    let place = Place::new();
    going(&place).kill();
    let before = snapshot(&place.target());
    assert!(before.len() > 200, "files of two ranks");
    let dry = place.clean(&place.target(), &["--dry-run"]);
    assert!(dry.code == 0 && dry.out.contains("would remove"), "{dry:?}");
    assert_eq!(snapshot(&place.target()), before, "a dry run removes nothing");
    let list = place.call(&["runs", "list"]);
    assert!(list.out.contains("killed"), "{list:?}");
    let clean = place.clean(&place.target(), &[]);
    assert!(clean.code == 0 && clean.out.contains("removed 1 run directories"), "{clean:?}");
    assert_empty(&place.target());
    let again = place.clean(&place.target(), &[]);
    assert!(again.code == 0 && again.out.contains("nothing to clean"), "{again:?}");
}

#[test]
fn clean_leaves_a_run_that_is_going_alone() {
    let place = Place::new();
    let mut going = going(&place);
    let clean = place.clean(&place.target(), &[]);
    assert!(clean.code == 0 && clean.out.contains("its run is still going"), "{clean:?}");
    assert!(going.is_going());
    assert!(run_directory(&place).join("data.00000001").exists());
    going.kill();
    assert_eq!(place.clean(&place.target(), &[]).code, 0);
    assert_empty(&place.target());
}

#[test]
fn clean_removes_nothing_that_no_run_made() {
    let place = Place::new();
    let elsewhere = place.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("data.00000000"), "mine").unwrap();
    std::fs::write(place.path("target/precious"), "mine").unwrap();
    std::fs::create_dir(place.path("target/forebay-results")).unwrap();
    std::fs::create_dir(place.path("target/forebay-run-mine")).unwrap();
    std::fs::write(place.path("target/forebay-run-mine/data.00000000"), "mine").unwrap();
    symlink(&elsewhere, place.path("target/forebay-run-link")).unwrap();
    going(&place).kill();
    let run = run_directory_of_killed(&place);
    std::fs::write(run.join("notes.txt"), "mine").unwrap();
    std::fs::write(run.join("tree.0/notes.txt"), "mine").unwrap();
    symlink(&elsewhere, run.join("dir.5")).unwrap();
    symlink(elsewhere.join("data.00000000"), run.join("data.00000009")).unwrap();

    let clean = place.clean(&place.target(), &[]);
    assert_eq!(clean.code, 0, "{clean:?}");
    for words in ["not ours: ", "notes.txt", "dir.5", "data.00000009", "forebay-run-mine: it has no journal"]
    {
        assert!(clean.out.contains(words), "{words}: {clean:?}");
    }
    assert_eq!(snapshot(&elsewhere).len(), 1);
    assert_eq!(names(&run), [".forebay-journal.json", "data.00000009", "dir.5", "notes.txt", "tree.0"]);
    assert_eq!(names(&run.join("tree.0")), ["notes.txt"]);
    assert!(place.path("target/forebay-run-mine/data.00000000").exists());
    assert!(place.path("target/precious").exists() && place.path("target/forebay-results").exists());

    for foreign in ["notes.txt", "tree.0/notes.txt", "dir.5", "data.00000009"] {
        std::fs::remove_file(run.join(foreign)).unwrap();
    }
    assert_eq!(place.clean(&place.target(), &[]).code, 0);
    assert!(!run.exists(), "the journal still said whose it is");
}

fn run_directory_of_killed(place: &Place) -> PathBuf {
    let theirs = ["forebay-run-mine", "forebay-run-link"];
    let mut found = names(&place.target());
    found.retain(|name| name.starts_with(PREFIX) && !theirs.contains(&name.as_str()));
    assert_eq!(found.len(), 1, "{found:?}");
    place.target().join(&found[0])
}

#[test]
fn a_run_leaves_everything_else_as_it_was() {
    let place = Place::new();
    std::fs::create_dir(place.path("target/theirs")).unwrap();
    std::fs::write(place.path("target/theirs/data.00000000"), "mine").unwrap();
    symlink("theirs", place.path("target/link")).unwrap();
    std::fs::write(place.path("home"), "mine").unwrap();
    let text = workload(2, 1, &[transfer("write", 0, ""), create_items(), transfer("read", 100, "")]);
    let command = place.run_command(&text, &place.target());
    let before = snapshot(&place.path(""));
    let call = call(command);
    assert_eq!(call.code, 0, "{call:?}");
    let mut after = snapshot(&place.path(""));
    let runs = place.path("runs");
    after.retain(|path, _| !path.starts_with(&runs));
    // The directory under test itself has held another one for a while.
    let same = |(path, words): (PathBuf, String)| {
        if path == place.target() { (path, String::new()) } else { (path, words) }
    };
    assert_eq!(
        after.into_iter().map(same).collect::<Vec<_>>(),
        before.into_iter().map(same).collect::<Vec<_>>()
    );
}

#[test]
fn what_somebody_puts_into_a_run_directory_stays_and_is_told() {
    let place = Place::new();
    let mut going = going(&place);
    let run = run_directory(&place);
    std::fs::write(run.join("notes.txt"), "mine").unwrap();
    going.send(crate::going::Signal::INT);
    assert!(going.is_going() || !run.join("data.00000000").exists());
    let call = going.end();
    call.assert_failed(&["notes.txt", "not forebay's", "forebay clean"]);
    assert_eq!(names(&run), [".forebay-journal.json", "notes.txt"]);
}

#[test]
fn kept_files_are_clean_s_to_remove() {
    let place = Place::new();
    let text = workload(2, 1, &[transfer("write", 0, "")]);
    let mut command = place.run_command(&text, &place.target());
    command.arg("--keep-files");
    assert_eq!(call(command).code, 0);
    assert_eq!(names(&run_directory(&place)), [".forebay-journal.json", "data.00000000", "data.00000001"]);
    assert_eq!(place.clean(&place.target(), &[]).code, 0);
    assert_empty(&place.target());
}
