//! Specs that can't even be read, and what belongs to a spec on disk.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

use std::path::Path;

use spec::load;

/// The only problem of the file at `path`, and its hint.
fn only_problem(path: &Path) -> (String, String) {
    let error = load(path).unwrap_err();
    assert_eq!(error.problems.len(), 1, "{:?}", error.problems);
    let problem = &error.problems[0];
    (problem.message.clone(), problem.hint.clone().unwrap_or_default())
}

#[test]
fn a_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let (message, hint) = only_problem(&folder.path().join("grid.toml"));
    assert!(message.ends_with("grid.toml`: no such file or directory"), "{message}");
    assert!(hint.contains("forebay init"), "{hint}");
}

#[test]
fn a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let (message, hint) = only_problem(folder.path());
    assert_eq!(message, "this is a directory");
    assert!(hint.contains("grid.toml"), "{hint}");
}

#[test]
fn an_empty_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (message, hint) = only_problem(file.path());
    assert_eq!(message, "the file is empty");
    assert!(hint.contains("forebay init"), "{hint}");
}

#[test]
fn not_utf8() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), b"version = 1\nname = \"\xff\"\n").unwrap();
    assert_eq!(only_problem(file.path()).0, "line 2 is not UTF-8 text");
}

#[test]
fn an_endless_file() {
    assert_eq!(only_problem(Path::new("/dev/zero")).0, "the file is larger than 1 MiB");
}

#[test]
fn a_workload_file_is_found_beside_the_spec() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid.toml");
    let text = "version = 1\n[grid]\nname = 'g'\npcores = 4\n[[storage]]\nname = 'd'\nrole = 'data'\n\
                [[test]]\nname = 't'\ntest = 'workload'\nworkload = 'sub/own.toml'\n";
    std::fs::write(&path, text).unwrap();
    let error = load(&path).unwrap_err();
    let problem = &error.problems[0];
    assert!(problem.message.contains("sub/own.toml"), "{problem}");
    assert_eq!(error.text[problem.span.clone().unwrap()], *"'sub/own.toml'");

    std::fs::create_dir(folder.path().join("sub")).unwrap();
    std::fs::write(folder.path().join("sub/own.toml"), "").unwrap();
    let document = load(&path).unwrap();
    let workload = document.spec.test[0].workload.as_ref().unwrap();
    assert_eq!(document.resolve(workload), folder.path().join("sub/own.toml"));
    assert_eq!(document.resolve(Path::new("/mnt/data")), Path::new("/mnt/data"));
}

#[test]
fn a_byte_order_mark_is_no_problem() {
    let text =
        "\u{feff}version = 1\n[grid]\nname = 'g'\npcores = 4\n[[storage]]\nname = 'd'\nrole = 'data'\n";
    assert!(spec::parse("grid.toml", text).is_ok());
}
