//! Job files: what is wrong in them is told with its place, before anything runs.

use std::process::Command;

use crate::server::Place;

#[track_caller]
fn wrong(text: &str, words: &[&str]) {
    let place = Place::new();
    place.jobs(text);
    for flags in [&["serve", "--check"][..], &["serve", "--once"]] {
        let output = place.call(flags);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("sync.toml:"), "{said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{word:?} is missing in {said}"));
    }
    assert!(!place.has("state"), "something was made");
}

const JOB: &str = "[[job]]\nname = 'a'\nsource = '/a'\ndestination = '/b'\n";

#[test]
fn everything_that_is_wrong_in_a_job_file_is_told_with_its_place() {
    wrong("[[jobs]]\n", &["unknown key `jobs`", "did you mean `job`?"]);
    wrong("[[job]]\nname = 'a'\n", &["`destination` is missing", "there is no `[[job.source]]`"]);
    let more = |line: &str| format!("{JOB}{line}\n");
    wrong(&more("deletes = true"), &["unknown key `deletes`", "did you mean `delete`?", "sync.toml:6:1"]);
    wrong(&more("every = '15'"), &["which has no unit"]);
    wrong(&more("at = '25:00'"), &["`25:00` is no time of day", "write for example `02:30`"]);
    wrong(&more("cron = '* * *'"), &["is no line of a crontab", "`30 2 * * 1-5`"]);
    wrong(&more("cron = '* * * * *'\nevery = '1h'"), &["both `every` and `cron`"]);
    wrong(&more("watch = true\nevery = '1h'"), &["a watch goes on all the time"]);
    wrong(&more("rescan = '1h'"), &["says nothing without `watch`"]);
    wrong(&more("trash = true"), &["says nothing without `delete`"]);
    wrong(&more("bwlimit = 'fast'"), &["is no bandwidth limit"]);
    wrong(&more("verify = 'some'"), &["must be one of `none`, `transferred`, `sampled`, `all`"]);
    wrong(&more("conflict = 'keep_both'"), &["did you mean `keep-both`?"]);
    wrong(&more("workers = 0"), &["must be at least 1"]);
    wrong(&format!("{JOB}{JOB}"), &["two jobs are named `a`"]);
    let other = JOB.replace("'a'", "'c'").replace("'/b'", "'/b/deeper'");
    wrong(&format!("{JOB}{other}"), &["jobs `a` and `c` write to the same place"]);
    wrong("[[job]]\nname = 'a'\nsource = '/a'\ndestination = '/a/b'\n", &["lie in each other"]);
    wrong(
        "[[job]]\nname = 'a'\nsource = 's3://b/a'\ndestination = '/b'\nwatch = true\n",
        &["only trees of this host can be watched"],
    );
}

#[test]
fn sources_that_overlap_are_refused() {
    let job =
        "[[job]]\nname = 'a'\ndestination = '/to'\n[[job.source]]\npath = '/projects'\n[[job.source]]\n";
    wrong(&format!("{job}path = '/projects/a'\n"), &["would lie in each other", "`at`"]);
    wrong(&format!("{job}path = '/other'\nat = 'projects'\n"), &["would lie in each other"]);
    wrong(&format!("{job}path = '/other'\nat = '.'\n"), &["would lie in each other"]);
    wrong(&format!("{job}path = '/other'\nat = '../x'\n"), &["leads out of the destination"]);
    wrong(&format!("{job}path = 's3://bucket/x'\n"), &["no path of its own"]);
}

#[test]
fn a_right_file_says_what_it_does() {
    let place = Place::new();
    place.jobs(
        "[[job]]\nname = 'night'\nsource = '/a'\ndestination = '/b'\nat = '02:30'\n\
         [[job]]\nname = 'all'\ndestination = '/to'\n[[job.source]]\npath = '/projects/a'\n\
         [[job.source]]\npath = 's3://bucket/x'\nat = 'x'\n",
    );
    let output = place.call(&["serve", "--check"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    for words in
        ["2 jobs", "night: next at ", "02:30", "all: once", "/projects/a -> /to/projects/a", "-> /to/x"]
    {
        assert!(said.contains(words), "{words:?} is missing in {said}");
    }
    assert!(!place.has("state"));
}

#[test]
fn a_directory_that_is_called_as_a_command_can_still_be_synced() {
    let place = Place::new();
    place.write("jobs/file", "one");
    let command = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.arg("sync").args(words).env("XDG_STATE_HOME", place.path("state"));
        command.current_dir(place.path(".")).output().unwrap()
    };
    let sync = |words: &[&str]| {
        let output = command(words);
        assert!(output.status.success(), "{output:?}");
    };
    sync(&["./jobs", "copy"]);
    sync(&["copy", "serve"]);
    assert_eq!((place.read("copy/file"), place.read("serve/file")), ("one".into(), "one".into()));
    let output = command(&[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("<SOURCE>"), "{output:?}");
}
