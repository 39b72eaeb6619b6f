//! Agents on hosts with a real sshd each.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;
use testkit::lab::{Lab, wait_until};
use testkit::skip::Need;

use crate::meeting::{Going, kill, meet, run};

const SSH: [Need; 3] = [Need::Program("sshd"), Need::Program("ssh"), Need::Program("ssh-keygen")];

/// A lab whose hosts but the first have an sshd.
fn lab(what: &str, clocks: &[i64]) -> Option<Lab> {
    let mut lab = Lab::with_clocks(what, clocks, &SSH)?;
    lab.start_sshd(&(1..clocks.len()).collect::<Vec<_>>());
    Some(lab)
}

/// `meet` on the first host, leading agents on `hosts`.
fn leading(lab: &Lab, hosts: &str, more: &[&str]) -> Command {
    let mut command = lab.command(0, meet().to_str().unwrap());
    command.args(["--hosts", hosts, "--ssh", &lab.ssh()]).args(more);
    command
}

fn assert_nobody_is_left(lab: &Lab, hosts: std::ops::RangeInclusive<usize>) {
    for host in hosts {
        wait_until("the end of all agents", || lab.processes(host, &meet()).is_empty());
    }
}

#[test]
fn agents_meet_over_ssh_and_nothing_is_left() {
    let Some(lab) = lab("agents over ssh", &[0; 4]) else { return };
    run(&mut leading(&lab, "h[1-3]", &["--rounds", "50"])).assert_whole(4);
    // Two below each: h1 leads h2, h3 and h4 are led by others.
    run(&mut leading(&lab, "h1,h2,h3", &["--fan-out", "1"])).assert_whole(4);
    assert_eq!(run(&mut leading(&lab, "h1", &["--exit", "4"])).code, 4);
    assert_nobody_is_left(&lab, 1..=3);
}

#[test]
fn all_failures_of_all_hosts_are_told_together() {
    let Some(lab) = lab("hosts that can't be used", &[0; 5]) else { return };
    lab.know(&[1, 3, 4]);
    lab.cut(4);
    let hosts = "h1,h2,nobody@h3:2222,h4,nowhere.invalid";
    let ssh = format!("{} -o ConnectTimeout=3", lab.ssh());
    let mut command = lab.command(0, meet().to_str().unwrap());
    let came = run(command.args(["--hosts", hosts, "--ssh", &ssh]));
    came.assert_refused(&[
        "cannot use 4 of 5 hosts",
        "h2: its host key is not known",
        "nobody@h3:2222: nothing listens at port 2222",
        "h4: it can't be reached",
        "nowhere.invalid: its name is not known",
        "ssh-keyscan h2",
    ]);
    assert!(!came.err.contains("h1:"), "{}", came.err);
    assert_nobody_is_left(&lab, 1..=4);
}

#[test]
fn a_refused_login_is_told() {
    let Some(lab) = lab("a login that is refused", &[0; 2]) else { return };
    std::fs::write(lab.dir().join("authorized"), "").unwrap();
    run(&mut leading(&lab, "h1", &[])).assert_refused(&["h1: it refuses the login", "ssh-copy-id"]);
}

/// What a login shell prints came before the agent's words, and broke them.
#[test]
fn a_talking_shell_broke_the_connection() {
    let Some(lab) = lab("a shell that talks", &[0; 2]) else { return };
    // In place of ssh, a script that talks first.
    let script = lab.dir().join("talking-ssh");
    std::fs::write(&script, format!("#!/bin/sh\necho \"Welcome to $0!\"\nexec {} \"$@\"\n", lab.ssh()))
        .unwrap();
    lab.run(0, &["chmod", "755", script.to_str().unwrap()]);
    let mut command = lab.command(0, meet().to_str().unwrap());
    run(command.args(["--hosts", "h1", "--ssh", script.to_str().unwrap()])).assert_whole(2);
}

#[test]
fn a_missing_program_is_told_and_pushed() {
    let Some(lab) = lab("copies of the program", &[0; 3]) else { return };
    // Run from a place that the other hosts do not have.
    lab.run(0, &["mkdir", "/run/only-here"]);
    lab.run(0, &["cp", meet().to_str().unwrap(), "/run/only-here/forebay"]);
    let call = |more: &[&str]| {
        let mut command = lab.command(0, "/run/only-here/forebay");
        run(command.args(["--hosts", "h1,h2", "--ssh", &lab.ssh()]).args(more))
    };
    call(&[]).assert_refused(&["h1: there is no `forebay`", "h2: there is no `forebay`", "--push"]);
    let before: BTreeSet<_> = copies();
    call(&["--push"]).assert_whole(3);
    call(&["--push", "--fan-out", "1"]).assert_whole(3);
    assert_eq!(copies(), before, "a copy was left");
}

/// Copies of programs in the directory that hosts share.
fn copies() -> BTreeSet<std::ffi::OsString> {
    let names = std::fs::read_dir(std::env::temp_dir()).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with("forebay-agent.")).collect()
}

#[test]
fn another_version_is_refused_by_name() {
    let Some(lab) = lab("an agent of another version", &[0; 2]) else { return };
    let hello = r#"{"version":"9.9.9","protocol":1,"hostname":"h1","facts":null}"#;
    let script = format!(
        "#!/bin/sh\nprintf '\\000forebay agent\\000'\nprintf '\\{:03o}\\000\\000\\000g'\nprintf '%s' '{hello}'\ncat >/dev/null\n",
        hello.len() + 1
    );
    lab.run(1, &["mkdir", "/run/bin"]);
    std::fs::write(lab.dir().join("old"), script).unwrap();
    lab.run(1, &["cp", lab.dir().join("old").to_str().unwrap(), "/run/bin/forebay"]);
    lab.run(1, &["chmod", "755", "/run/bin/forebay"]);
    lab.run(1, &["mount", "--bind", "/run/bin", meet().parent().unwrap().to_str().unwrap()]);
    lab.run(1, &["cp", "/run/bin/forebay", "/run/bin/meet"]);
    let version = env!("CARGO_PKG_VERSION");
    run(&mut leading(&lab, "h1", &[]))
        .assert_refused(&["h1: it has forebay 9.9.9", &format!("this is forebay {version}")]);
}

#[test]
fn a_stop_overtakes_a_wait_and_posts_come() {
    let Some(lab) = lab("a stop", &[0; 4]) else { return };
    let mut going = Going::start(&mut leading(&lab, "h[1-3]", &["--until-stopped", "--fan-out", "2"]));
    going.wait_for(4);
    going.stop();
    let came = going.end();
    came.assert_whole(4);
    assert_eq!(came.report["stopped"], 7);
    assert!(came.report["posts"].as_u64().unwrap() > 0);
    assert_nobody_is_left(&lab, 1..=3);
}

#[test]
fn a_killed_agent_is_named_and_the_others_end() {
    let Some(lab) = lab("an agent that is killed", &[0; 4]) else { return };
    let mut going = Going::start(&mut leading(&lab, "h[1-3]", &["--until-stopped"]));
    going.wait_for(4);
    kill(lab.processes(2, &meet())[0]);
    let came = going.end();
    assert_eq!(came.code, 3, "{came:?}");
    let lost = came.report["lost"].as_array().unwrap();
    assert_eq!((lost.len(), &lost[0]["host"], &lost[0]["process"]), (1, &"h2".into(), &2.into()), "{came:?}");
    assert_eq!(came.report["stopped"], 255);
    assert_nobody_is_left(&lab, 1..=3);
}

#[test]
fn a_host_whose_cable_is_pulled_is_named_and_its_agent_ends() {
    let Some(lab) = lab("a host that is cut off", &[0; 4]) else { return };
    let mut going = Going::start(&mut leading(&lab, "h[1-3]", &["--until-stopped", "--patience", "3"]));
    going.wait_for(4);
    lab.cut(3);
    let came = going.end();
    assert_eq!(came.code, 3, "{came:?}");
    let lost = came.report["lost"].as_array().unwrap();
    assert_eq!((lost.len(), &lost[0]["host"]), (1, &"h3".into()), "{came:?}");
    assert_nobody_is_left(&lab, 1..=3);
}

#[test]
fn a_leader_that_is_killed_leaves_no_agents() {
    let Some(lab) = lab("a leader that is killed", &[0; 4]) else { return };
    let mut going = Going::start(&mut leading(&lab, "h[1-3]", &["--until-stopped", "--fan-out", "1"]));
    going.wait_for(4);
    kill(going.id());
    assert_nobody_is_left(&lab, 1..=3);
}

#[test]
fn an_agent_that_may_be_lost_ends_nothing() {
    let Some(lab) = lab("an agent that may be lost", &[0; 4]) else { return };
    let more = ["--until-stopped", "--allow-lost", "1"];
    let mut going = Going::start(&mut leading(&lab, "h[1-3]", &more));
    going.wait_for(4);
    kill(lab.processes(2, &meet())[0]);
    wait_until("the agent's end", || lab.processes(2, &meet()).is_empty());
    going.stop();
    let came = going.end();
    assert_eq!((came.code, &came.report["stopped"]), (0, &7.into()), "{came:?}");
    let there: Vec<bool> = came.report["all"].as_array().unwrap().iter().map(Value::is_object).collect();
    assert_eq!(there, [true, true, false, true]);
    let mut aborted =
        came.report["all"].as_array().unwrap().iter().filter_map(|one| one["aborted"].as_bool());
    assert!(aborted.all(|aborted| !aborted), "{came:?}");
}

/// An hour ahead, and measured as that, to the uncertainty that is told.
#[test]
fn a_shifted_clock_is_measured() {
    let Some(lab) = lab("a shifted clock", &[0, 3600, 0, -500]) else { return };
    for more in [&["--fan-out", "64"], &["--fan-out", "1"]] {
        let came = run(&mut leading(&lab, "h[1-3]", more));
        let all = came.assert_whole(4)["all"].as_array().unwrap();
        for (process, shift_s) in [(0, 0), (1, 3600), (2, 0), (3, -500)] {
            let offset = all[process]["clock"].as_i64().unwrap();
            let uncertainty = all[process]["uncertainty"].as_i64().unwrap();
            let error = (offset + shift_s * 1_000_000_000).abs();
            assert!(error <= uncertainty, "process {process}: {error} ns off, {uncertainty} ns were told");
            assert!(uncertainty < 1_000_000_000);
        }
    }
}
