//! What can't be: told by name, before anything is done, with what to do about it. And guards, and secrets.

use super::{Hosts, forebay};
use crate::place::call;

#[test]
fn hosts_that_cannot_be_used_are_told_with_what_to_do() {
    let Some(hosts) = Hosts::new("hosts that can't be used over ssh", 2) else { return };
    hosts.fill("source", 3, 10);
    let from = hosts.tree(0, "source");
    let refused = |to: &str, words: &[&str]| hosts.sync(&from, to, &[]).assert_failed(1, words);
    refused("ssh://h1:2222/x", &["h1:2222", "nothing listens at port 2222"]);
    hosts.lab.know(&[1]);
    refused("h2:/x", &["`h2`", "host key is not known", "ssh-keyscan h2"]);
    refused("nowhere.invalid:/x", &["nowhere.invalid", "name is not known"]);
    std::fs::write(hosts.lab.dir().join("authorized"), "").unwrap();
    refused("h1:/x", &["refuses the login", "ssh-copy-id"]);
    for (to, words) in [
        ("ssh://me:hunter2@h1/x", "it may not have a password"),
        ("ssh://h1", "it has no path"),
        ("s3:/bucket/x", "s3://"),
    ] {
        let call = hosts.sync(&from, to, &[]);
        assert_eq!(call.code, Some(2), "{call:?}");
        assert!(call.err.contains(words) && !call.err.contains("hunter2"), "{call:?}");
    }
}

#[test]
fn a_program_that_is_missing_or_another_is_told_and_pushed() {
    let Some(hosts) = Hosts::new("a program that is missing over ssh", 1) else { return };
    hosts.fill("source", 3, 10);
    hosts.lab.run(0, &["mkdir", "/run/only-here"]);
    hosts.lab.run(0, &["cp", forebay().to_str().unwrap(), "/run/only-here/forebay"]);
    let (from, to) = (hosts.tree(0, "source"), hosts.tree(1, "far"));
    let here = std::path::Path::new("/run/only-here/forebay");
    let missing = call(hosts.command_of(here, &from, &to, &[]));
    missing.assert_failed(1, &["`h1`", "there is no `forebay`", "--push"]);
    let hello = r#"{"version":"9.9.9","protocol":1,"hostname":"h1","facts":null}"#;
    let script = format!(
        "#!/bin/sh\nprintf '\\000forebay agent\\000'\nprintf '\\{:03o}\\000\\000\\000g'\nprintf '%s' '{hello}'\ncat >/dev/null\n",
        hello.len() + 1
    );
    std::fs::write(hosts.lab.dir().join("old"), script).unwrap();
    hosts.lab.run(1, &["mkdir", "/run/only-here"]);
    hosts.lab.run(1, &["cp", hosts.lab.dir().join("old").to_str().unwrap(), "/run/only-here/forebay"]);
    hosts.lab.run(1, &["chmod", "755", "/run/only-here/forebay"]);
    call(hosts.command_of(here, &from, &to, &[])).assert_failed(1, &["9.9.9", "--push"]);
    let pushed = call(hosts.command_of(here, &from, &to, &["--push"]));
    assert_eq!(pushed.code, Some(0), "{pushed:?}");
    hosts.assert_equal("source", "far");
}

#[test]
fn trees_that_are_not_there_or_no_trees_are_told() {
    let Some(hosts) = Hosts::new("trees that are not there", 1) else { return };
    hosts.fill("source", 3, 10);
    std::fs::write(hosts.path("file"), "x").unwrap();
    let (source, back) = (hosts.tree(0, "source"), hosts.tree(0, "back"));
    std::fs::create_dir(hosts.path("back")).unwrap();
    let shown = |name: &str| format!("ssh://h1{}", hosts.path(name).display());
    hosts.sync(&hosts.tree(1, "missing"), &back, &[]).assert_failed(1, &["cannot open", &shown("missing")]);
    hosts.sync(&hosts.tree(1, "file"), &back, &[]).assert_failed(2, &[&shown("file"), "is no directory"]);
    hosts.sync(&source, &hosts.tree(1, "file"), &[]).assert_failed(2, &[&shown("file"), "is no directory"]);
    let deep = hosts.sync(&source, &hosts.tree(1, "missing/deep"), &[]);
    deep.assert_failed(1, &["cannot create", &shown("missing/deep")]);
    let dry = hosts.sync(&source, &hosts.tree(1, "missing"), &["--dry-run"]);
    dry.assert_failed(1, &["cannot open", &shown("missing")]);
    assert!(!hosts.path("missing").exists());
    let inside = hosts.sync(&source, &hosts.tree(1, "source/inside"), &[]);
    inside.assert_failed(2, &["lie in each other"]);
    let same = hosts.sync(&hosts.tree(1, "source"), &hosts.tree(1, "source"), &[]);
    same.assert_failed(2, &["lie in each other"]);
    // As somebody else mounts it: nothing can be written, and each entry says so.
    let far = hosts.path("far");
    std::fs::create_dir(&far).unwrap();
    hosts.lab.run(1, &["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", far.to_str().unwrap()]);
    let call = hosts.sync(&source, &hosts.tree(1, "far"), &[]);
    assert_eq!(call.code, Some(3), "{call:?}");
    assert!(call.err.contains("read-only") && call.err.contains(&shown("far")), "{call:?}");
}

#[test]
fn deletes_are_guarded_and_trash_is_kept_on_a_host() {
    let Some(hosts) = Hosts::new("deletes over ssh", 1) else { return };
    hosts.fill("source", 30, 10);
    let (from, to) = (hosts.tree(0, "source"), hosts.tree(1, "far"));
    hosts.sync_well(&from, &to, &["--delete"]);
    std::fs::remove_dir_all(hosts.path("source/d01")).unwrap();
    hosts.sync(&from, &to, &["--delete", "--max-delete", "2"]).assert_failed(1, &["no longer at the source"]);
    assert!(hosts.path("far/d01").exists());
    let dry = hosts.sync(&from, &to, &["--delete", "--dry-run"]);
    assert!(dry.out.contains("delete") && hosts.path("far/d01").exists(), "{dry:?}");
    hosts.sync_well(&from, &to, &["--delete", "--trash"]);
    assert!(!hosts.path("far/d01").exists());
    let kept = hosts.lab.run(1, &["find", hosts.path("far/.forebay-trash").to_str().unwrap(), "-type", "f"]);
    assert_eq!(kept.lines().count(), 3, "{kept}");
    std::fs::rename(hosts.path("source"), hosts.path("aside")).unwrap();
    std::fs::create_dir(hosts.path("source")).unwrap();
    hosts.sync(&from, &to, &["--delete"]).assert_failed(1, &["is empty"]);
    assert!(hosts.path("far/d02").exists());
    // The same where the host is the source.
    let (from, to) = (hosts.tree(1, "aside"), hosts.tree(0, "back"));
    hosts.sync_well(&from, &to, &["--delete"]);
    std::fs::rename(hosts.path("aside"), hosts.path("elsewhere")).unwrap();
    std::fs::create_dir(hosts.path("aside")).unwrap();
    hosts.sync(&from, &to, &["--delete"]).assert_failed(1, &["is empty"]);
    assert!(hosts.path("back/d02").exists());
}

#[test]
fn two_syncs_to_one_tree_on_a_host_are_refused() {
    let Some(hosts) = Hosts::new("two syncs to a host", 1) else { return };
    hosts.fill("source", 60, 60_000);
    hosts.fill("other", 3, 10);
    let mut slow = hosts.command(&hosts.tree(0, "source"), &hosts.tree(1, "far"), &["--bwlimit", "30kB/s"]);
    let mut child =
        slow.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    testkit::lab::wait_until("the first directory", || hosts.path("far/d01").exists());
    let call = hosts.sync(&hosts.tree(0, "other"), &hosts.tree(1, "far"), &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    call.assert_failed(1, &["another sync is writing to"]);
}

#[test]
fn no_key_is_printed_or_written_over_ssh() {
    let Some(hosts) = Hosts::new("secrets of ssh", 1) else { return };
    hosts.fill("source", 5, 10);
    let key = std::fs::read_to_string(hosts.lab.dir().join("key")).unwrap();
    let secrets: Vec<&str> = key.lines().filter(|line| !line.starts_with('-')).collect();
    let mut said = String::new();
    for (from, to) in [("source", "far"), ("far", "missing/deep")] {
        let mut command =
            hosts.command(&hosts.tree(0, from), &hosts.tree(1, to), &["--format", "json", "-vv"]);
        let output = command.env("RUST_LOG", "trace").env("FOREBAY_LOG", "trace").output().unwrap();
        said += &String::from_utf8_lossy(&output.stdout);
        said += &String::from_utf8_lossy(&output.stderr);
    }
    assert!(!said.is_empty() && !secrets.iter().any(|secret| said.contains(secret)), "{said}");
    let mut written = std::process::Command::new("grep");
    for secret in &secrets {
        written.args(["-e", secret]);
    }
    let written = written.args(["-r", "-a", "-l", "-F"]).arg(hosts.path("")).output().unwrap();
    assert_eq!(String::from_utf8(written.stdout).unwrap(), "", "a key is on disk");
}
