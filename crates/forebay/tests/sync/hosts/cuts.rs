//! Connections that are cut, agents that are killed, disks that are full: nothing is torn, and the same command goes on.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use testkit::lab::wait_until;
use testkit::trees::{Picture, picture};

use super::{Hosts, children, forebay};
use crate::place::Call;

fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
}

fn files(tree: &Picture) -> usize {
    tree.values().filter(|entry| entry.mode & 0o170_000 == 0o100_000).count()
}

/// Every file of a tree is whole: as the other tree has it.
#[track_caller]
fn assert_nothing_is_torn(whole: &Picture, found: &Picture) {
    for (path, entry) in found.iter().filter(|(_, entry)| entry.mode & 0o170_000 == 0o100_000) {
        let name = String::from_utf8_lossy(path);
        if !name.contains(".forebay-") {
            assert_eq!(whole.get(path).map(|other| &other.content), Some(&entry.content), "`{name}` is torn");
        }
    }
}

/// Starts a slow sync, and does something to it when a part has arrived.
fn interrupted(hosts: &Hosts, from: &str, to: &str, tree: &str, act: impl Fn(u32)) -> Call {
    let mut command = hosts.command(from, to, &["--bwlimit", "300kB/s", "--workers", "2"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let root = hosts.path(tree);
    wait_until("the first files", || {
        std::fs::read_dir(&root).is_ok_and(|dirs| {
            dirs.flatten().filter_map(|dir| std::fs::read_dir(dir.path()).ok()).flatten().flatten().count()
                >= 5
        })
    });
    act(child.id());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Call { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// What arrived of a large file is not sent again, whatever ended the sync; what changed meanwhile is.
#[test]
fn a_large_file_that_was_interrupted_goes_on_where_it_was() {
    const SIZE: u64 = 48 << 20;
    let Some(hosts) = Hosts::new("large files over ssh that are interrupted", 1) else { return };
    std::fs::create_dir(hosts.path("source")).unwrap();
    let large = hosts.path("source/large");
    let (source, far) = (hosts.tree(0, "source"), hosts.tree(1, "far"));
    for (round, signal) in [Signal::KILL, Signal::INT].into_iter().enumerate() {
        let mut bytes = vec![0; SIZE as usize];
        fastrand::Rng::with_seed(round as u64).fill(&mut bytes);
        std::fs::write(&large, &bytes).unwrap();
        let mut command = hosts.command(&source, &far, &["--bwlimit", "16MB/s"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("a third of the file", || {
            let entries = std::fs::read_dir(hosts.path("far")).into_iter().flatten().flatten();
            let parts = entries.filter(|entry| entry.file_name().to_string_lossy().contains("part-"));
            parts.map(|entry| entry.metadata().map_or(0, |meta| meta.len())).sum::<u64>() > SIZE / 3
        });
        kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), signal).unwrap();
        child.wait().unwrap();
        assert!(!hosts.path("far/large").exists(), "it was not interrupted");
        bytes[1 << 20] ^= 1;
        std::fs::write(&large, &bytes).unwrap();
        let record = hosts.sync_well(&source, &far, &[]);
        hosts.assert_equal("source", "far");
        let sent = record["bytes"]["sent_bytes"].as_u64().unwrap();
        assert!(sent < SIZE * 3 / 4, "{record:#}");
        let names = std::fs::read_dir(hosts.path("far")).unwrap().count();
        assert_eq!(names, 1, "something of ours is left");
        std::fs::remove_file(&large).unwrap();
        std::fs::write(hosts.path("source/other"), "so that it is not empty").unwrap();
        hosts.sync_well(&source, &far, &["--delete"]);
        std::fs::remove_file(hosts.path("source/other")).unwrap();
        std::fs::remove_file(hosts.path("far/other")).unwrap();
    }
    // What nobody goes on with goes.
    std::fs::write(hosts.path("source/small"), "1").unwrap();
    std::fs::write(&large, vec![1; SIZE as usize]).unwrap();
    let mut command = hosts.command(&source, &far, &["--bwlimit", "16MB/s"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("a draft", || {
        let entries = std::fs::read_dir(hosts.path("far")).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_string_lossy().contains("part-"))
    });
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_file(&large).unwrap();
    hosts.sync_well(&source, &far, &["--delete"]);
    hosts.assert_equal("source", "far");
}

fn cut_and_resume(hosts: &Hosts, from: &str, to: &str, tree: &str, act: impl Fn(u32)) {
    let call = interrupted(hosts, from, to, tree, act);
    call.assert_failed(1, &["is lost", "the same command goes on from here"]);
    let (whole, found) = (picture(&hosts.path("source")), picture(&hosts.path(tree)));
    assert_nothing_is_torn(&whole, &found);
    assert!(files(&found) < files(&whole), "it was not cut in its middle");
    let record = hosts.sync_well(from, to, &[]);
    hosts.assert_equal("source", tree);
    assert_eq!(record["entries"]["failed"], 0, "{record:#}");
    let again = hosts.sync_well(from, to, &[]);
    assert_eq!(again["bytes"]["sent_bytes"], 0, "{again:#}");
}

#[test]
fn a_connection_that_is_cut_is_told_and_the_next_sync_goes_on() {
    let Some(hosts) = Hosts::new("a connection that is cut", 1) else { return };
    hosts.fill("source", 60, 60_000);
    let kill_ssh = |parent| {
        let pids = children(parent, "ssh");
        assert!(!pids.is_empty());
        pids.into_iter().for_each(kill);
    };
    cut_and_resume(&hosts, &hosts.tree(0, "source"), &hosts.tree(1, "far"), "far", kill_ssh);
    cut_and_resume(&hosts, &hosts.tree(1, "source"), &hosts.tree(0, "back"), "back", kill_ssh);
}

#[test]
fn an_agent_that_is_killed_is_told_and_the_next_sync_goes_on() {
    let Some(hosts) = Hosts::new("an agent that is killed", 2) else { return };
    hosts.fill("source", 60, 60_000);
    let kill_agents = |_| hosts.lab.processes(1, &forebay()).into_iter().for_each(kill);
    cut_and_resume(&hosts, &hosts.tree(0, "source"), &hosts.tree(1, "far"), "far", kill_agents);
    cut_and_resume(&hosts, &hosts.tree(2, "source"), &hosts.tree(1, "third"), "third", kill_agents);
}

#[test]
fn a_sync_that_is_killed_leaves_no_agent_and_goes_on() {
    let Some(hosts) = Hosts::new("a sync over ssh that is killed", 1) else { return };
    hosts.fill("source", 60, 60_000);
    let (from, to) = (hosts.tree(0, "source"), hosts.tree(1, "far"));
    let call = interrupted(&hosts, &from, &to, "far", kill);
    assert_eq!(call.code, None);
    assert_nothing_is_torn(&picture(&hosts.path("source")), &picture(&hosts.path("far")));
    hosts.sync_well(&from, &to, &[]);
    hosts.assert_equal("source", "far");
    wait_until("the end of all agents", || hosts.lab.processes(1, &forebay()).is_empty());
}

#[test]
fn a_full_disk_on_a_host_is_told_and_the_next_sync_goes_on() {
    let Some(hosts) = Hosts::new("a full disk on a host", 1) else { return };
    hosts.fill("source", 40, 100_000);
    let far = hosts.path("far");
    std::fs::create_dir(&far).unwrap();
    let far = far.to_str().unwrap();
    hosts.lab.run(1, &["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", far]);
    let (from, to) = (hosts.tree(0, "source"), hosts.tree(1, "far"));
    hosts.sync(&from, &to, &[]).assert_failed(1, &["no space left", "ssh://h1/"]);
    hosts.lab.run(1, &["mount", "-o", "remount,size=64m", far]);
    hosts.sync_well(&from, &to, &[]);
    let source = hosts.path("source");
    hosts.lab.run(1, &["diff", "-r", source.to_str().unwrap(), far]);
    let left = hosts.lab.run(1, &["find", far, "-name", ".forebay-*"]);
    assert_eq!(left.trim(), "", "a draft was left");
}

/// As after a crash of the host in the middle of a sync: no index, a job that did not end, and another run of the host.
#[test]
fn what_a_host_had_when_it_went_down_is_not_believed_by_its_looks() {
    let Some(hosts) = Hosts::new("a host that went down", 1) else { return };
    hosts.fill("source", 3, 1000);
    let (from, to) = (hosts.tree(0, "source"), hosts.tree(1, "far"));
    hosts.sync_well(&from, &to, &[]);
    let state = std::fs::read_dir(hosts.path("")).unwrap().flatten().map(|entry| entry.path());
    let state = state.filter(|path| path.join("job.json").exists()).max().unwrap();
    let whole = std::fs::read_to_string(state.join("job.json")).unwrap();
    let source = hosts.path("source/d00/0").metadata().unwrap();
    let changed = std::time::SystemTime::UNIX_EPOCH
        + std::time::Duration::from_secs(std::os::unix::fs::MetadataExt::ctime(&source).unsigned_abs() + 4);
    wait_until("a time that is told apart", || std::time::SystemTime::now() > changed);
    let torn = hosts.path("far/d00/0");
    for crashed in [false, true] {
        std::fs::write(&torn, vec![0; 1000]).unwrap();
        std::fs::File::options()
            .write(true)
            .open(&torn)
            .unwrap()
            .set_modified(source.modified().unwrap())
            .unwrap();
        std::fs::remove_file(state.join("index")).unwrap();
        if crashed {
            let text = whole.replace("\"running\": false", "\"running\": true");
            let boot = text.find("\"boot\": \"").unwrap() + 9;
            let text = format!("{}another{}", &text[..boot], &text[boot..]);
            std::fs::write(state.join("job.json"), text).unwrap();
        }
        hosts.sync_well(&from, &to, &[]);
        let is_torn = std::fs::read(&torn).unwrap() == vec![0; 1000];
        assert_eq!(is_torn, !crashed, "what looks right is believed unless the host went down");
    }
}
