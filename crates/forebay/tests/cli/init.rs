//! `forebay init`, and that its specs are right.

use crate::transcript::Place;

#[test]
fn what_init_writes_is_a_spec() {
    let place = Place::new();
    insta::assert_snapshot!(place.transcript(&["init", "--pcores", "64", "--clients", "8"]), @r"
    $ forebay init --pcores 64 --clients 8
    exit: 0
    --- stdout
    --- stderr
    wrote grid.toml
    next: forebay spec check grid.toml, then forebay prove grid.toml --target DIR
    ");
    insta::assert_snapshot!(place.transcript(&["spec", "check", "grid.toml"]), @r"
    $ forebay spec check grid.toml
    exit: 0
    --- stdout
    grid.toml: grid `grid`, 1 storage requirement, 1 test
    --- stderr
    ");
}

#[test]
fn flags_are_answers() {
    let place = Place::new();
    let call = place.call(&[
        "init",
        "-",
        "--name",
        "sas prod",
        "--pcores",
        "64",
        "--clients",
        "8",
        "--memory-per-pcore",
        "16g",
        "--capacity",
        "100TiB",
        "--read",
        "200 MB/s",
        "--write",
        "120 MB/s",
        "--role",
        "work",
        "--mix",
        "60:40",
        "--target",
        "/mnt/work",
    ]);
    assert_eq!((call.code, call.err.as_str()), (0, ""));
    insta::assert_snapshot!(call.out);
    place.write("grid.toml", &call.out);
    assert_eq!(place.call(&["spec", "check", "grid.toml"]).code, 0);
}

#[test]
fn an_existing_file_is_kept_unless_forced() {
    let place = Place::new();
    place.write("grid.toml", "mine");
    insta::assert_snapshot!(place.transcript(&["init"]), @r"
    $ forebay init
    exit: 1
    --- stdout
    --- stderr
    error: `grid.toml` exists already
    hint: name another file, or replace it with --force
    ");
    assert_eq!(place.read("grid.toml"), "mine");
    assert_eq!(place.call(&["init", "--force"]).code, 0);
    assert_eq!(place.call(&["spec", "check", "grid.toml"]).code, 0);
}

#[test]
fn init_never_writes_through_a_dangling_link() {
    let place = Place::new();
    std::os::unix::fs::symlink("elsewhere", place.path().join("grid.toml")).unwrap();
    assert_eq!(place.call(&["init"]).code, 1);
    assert!(!place.path().join("elsewhere").exists());
}

#[test]
fn a_wrong_answer_writes_nothing() {
    let place = Place::new();
    let call = place.call(&["init", "--name", ""]);
    assert_eq!(call.code, 2, "{}", call.err);
    assert!(!place.path().join("grid.toml").exists());
}
