//! What is said when something is wrong, and by which exit code.

use crate::transcript::Place;

#[test]
fn an_unknown_flag() {
    insta::assert_snapshot!(Place::new().transcript(&["iotest", "-t", "/mnt", "--time-box", "60s"]), @r"
    $ forebay iotest -t /mnt --time-box 60s
    exit: 2
    --- stdout
    --- stderr
    error: unexpected argument '--time-box' found

      hint: a similar argument exists: '--time-boxed'

    Usage: forebay iotest --target <DIR> --time-boxed <TIME>

    For more information, try '--help'.
    ");
}

#[test]
fn an_unknown_command_names_the_nearest() {
    insta::assert_snapshot!(Place::new().transcript(&["prov"]), @r"
    $ forebay prov
    exit: 2
    --- stdout
    --- stderr
    error: unrecognized subcommand 'prov'

      hint: a similar subcommand exists: 'prove'

    Usage: forebay [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn a_quantity_without_its_unit() {
    insta::assert_snapshot!(Place::new().transcript(&["iotest", "-t", "/mnt", "--time-boxed", "60"]), @r"
    $ forebay iotest -t /mnt --time-boxed 60
    exit: 2
    --- stdout
    --- stderr
    error: invalid value '60' for '--time-boxed <TIME>': `60` has no unit: write for example `60s`

    For more information, try '--help'.
    ");
}

#[test]
fn a_usage_error_in_json() {
    insta::assert_snapshot!(Place::new().transcript(&["prov", "--format", "json"]), @r#"
    $ forebay prov --format json
    exit: 2
    --- stdout
    --- stderr
    {"forebay":"[version]","kind":"error","data":{"exit_code":2,"hint":"a similar subcommand exists: 'prove'","kind":"usage","message":"unrecognized subcommand 'prov'","problems":[]}}
    "#);
    insta::assert_snapshot!(Place::new().transcript(&["prov", "--format=jsonl"]), @r#"
    $ forebay prov --format=jsonl
    exit: 2
    --- stdout
    --- stderr
    {"forebay":"[version]","kind":"error","data":{"exit_code":2,"hint":"a similar subcommand exists: 'prove'","kind":"usage","message":"unrecognized subcommand 'prov'","problems":[]}}
    "#);
}

const WRONG: &str = "version = 1

[grid]
name = \"g\"
core = 4

[[storage]]
name = \"data\"
role = \"data\"
capacity = \"10 TX\"
";

#[test]
fn an_unknown_spec_key_is_shown_where_it_is() {
    let place = Place::new();
    place.write("grid.toml", WRONG);
    insta::assert_snapshot!(place.transcript(&["spec", "check", "grid.toml"]));
}

#[test]
fn spec_problems_in_json_have_line_and_column() {
    let place = Place::new();
    place.write("grid.toml", WRONG);
    let call = place.call(&["spec", "check", "grid.toml", "--format", "json"]);
    assert_eq!((call.code, call.out.as_str()), (2, ""));
    let error: serde_json::Value = serde_json::from_str(&call.err).unwrap();
    assert_eq!(error["kind"], "error");
    assert_eq!(error["data"]["kind"], "spec");
    let problems = error["data"]["problems"].as_array().unwrap();
    let unknown = problems.iter().find(|problem| problem["message"] == "unknown key `core`").unwrap();
    assert_eq!((unknown["line"].as_u64(), unknown["column"].as_u64()), (Some(5), Some(1)));
}

#[test]
fn a_missing_spec() {
    insta::assert_snapshot!(Place::new().transcript(&["spec", "check", "grid.toml"]), @r"
    $ forebay spec check grid.toml
    exit: 2
    --- stdout
    --- stderr
    error: cannot open `grid.toml`: no such file or directory
    hint: `forebay init` writes one with comments
    ");
}

/// No host is asked for anything before what the person wrote was read: this one does not exist.
#[test]
fn a_missing_input_is_found_before_any_host_is_asked() {
    let place = Place::new();
    for command in [&["run", "w.toml", "--target", "."][..], &["io500", "w.toml"], &["prove", "w.toml"]] {
        let words = [command, &["--hosts", "host.invalid"]].concat();
        let call = place.call(&words);
        assert_eq!((call.code, call.out.as_str()), (2, ""), "{words:?}: {call:?}");
        assert!(call.err.contains("`w.toml`: no such file or directory\nhint: "), "{call:?}");
    }
}

/// A variable that stands for an option is no command.
#[test]
fn without_a_command_there_is_help_whatever_the_environment_says() {
    let place = Place::new();
    let output = place.command(&[]).env("FOREBAY_RUNS_DIR", "runs").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("Usage: forebay") && said.contains("prove"), "{said}");
    assert!(!said.contains("error:"), "{said}");
}

#[test]
fn no_home_directory_matters_only_where_records_are_needed() {
    let place = Place::new();
    let without_home = |arguments: &[&str]| place.command(arguments).env_remove("HOME").output().unwrap();
    assert!(without_home(&["spec", "schema"]).status.success());
    let list = without_home(&["runs", "list"]);
    assert_eq!(list.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&list.stderr).contains("--runs-dir"));
}
