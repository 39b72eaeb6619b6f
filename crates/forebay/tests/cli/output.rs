//! Standard output: who reads it, and what happens when nobody does.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use crate::transcript::Place;

fn plain(place: &Place, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.env_clear().env("HOME", place.path()).current_dir(place.path()).args(arguments);
    command
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let place = Place::new();
    for arguments in [&["help"][..], &["spec", "schema"], &["man"], &["completions", "bash"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = plain(&place, arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[test]
fn a_full_disk_is_a_failure() {
    let place = Place::new();
    for arguments in [&["help"][..], &["spec", "schema"]] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = plain(&place, arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(words.contains("cannot write to `standard output`: no space left on device"), "{words}");
    }
}

#[test]
fn colours_are_for_terminals_and_for_those_who_insist() {
    let place = Place::new();
    let escapes = |variables: &[(&str, &str)]| {
        let output =
            plain(&place, &["spec", "check", "gone.toml"]).envs(variables.iter().copied()).output().unwrap();
        output.stderr.contains(&0x1b)
    };
    assert!(!escapes(&[]));
    assert!(escapes(&[("CLICOLOR_FORCE", "1")]));
    assert!(!escapes(&[("NO_COLOR", "1"), ("TERM", "xterm-256color")]));
}

#[test]
fn a_log_goes_to_standard_error_only() {
    let place = Place::new();
    let calm = place.call(&["spec", "schema"]);
    let chatty = place.call(&["spec", "schema", "-vvv"]);
    assert_eq!(calm.out, chatty.out);
    assert_eq!(calm.err, "");
}

#[test]
fn the_schema_is_json() {
    let schema: serde_json::Value =
        serde_json::from_str(&Place::new().call(&["spec", "schema"]).out).unwrap();
    assert_eq!(schema["type"], "object");
}
