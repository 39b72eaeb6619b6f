//! The help of every command.

use crate::transcript::Place;

/// The commands, as the manual pages name them: the pages are made from the same tree, so none is missing.
fn commands(place: &Place) -> Vec<Vec<String>> {
    assert_eq!(place.call(&["man", "--dir", "man"]).code, 0);
    let names = std::fs::read_dir(place.path().join("man")).unwrap().map(|entry| entry.unwrap().file_name());
    let words = |name: std::ffi::OsString| {
        let name = name.into_string().unwrap();
        name.strip_suffix(".1").unwrap().split('-').skip(1).map(str::to_owned).collect()
    };
    names.map(words).collect()
}

#[test]
fn every_command_has_the_help_it_had() {
    let place = Place::new();
    let commands = commands(&place);
    assert!(commands.len() >= 18, "{commands:?}");
    for command in commands {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.push("--help");
        let name =
            ["forebay"].into_iter().chain(command.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
        insta::assert_snapshot!(format!("help-{name}"), place.transcript(&arguments));
    }
}

#[test]
fn the_short_help_fits_a_screen() {
    let call = Place::new().call(&["-h"]);
    assert_eq!(call.code, 0);
    assert!(call.out.lines().count() <= 60, "{}", call.out);
}

#[test]
fn no_command_is_a_usage_error_that_shows_the_commands() {
    let call = Place::new().call(&[]);
    assert_eq!((call.code, call.out.as_str()), (2, ""));
    assert!(call.err.contains("Commands:"), "{}", call.err);
}

#[test]
fn the_version_is_data() {
    insta::assert_snapshot!(Place::new().transcript(&["--version"]), @r"
    $ forebay --version
    exit: 0
    --- stdout
    forebay [version]
    --- stderr
    ");
}
