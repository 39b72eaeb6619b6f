//! Agents on three hosts, each with an sshd and the same GlusterFS volume.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use testkit::lab::{Lab, wait_until};

use crate::call::{ENDLESS, assert_nothing_is_left, call, forebay, lab, names, on, records, workload};

/// A run that goes on until it is stopped; it has come to its last phase.
fn endless(lab: &Lab, shared: &std::path::Path) -> Child {
    let file = workload(lab.dir(), ENDLESS);
    let words = [
        "run",
        file.to_str().unwrap(),
        "--fill-beyond",
        "--target",
        shared.to_str().unwrap(),
        "--hosts",
        "h[1-3]",
    ];
    let mut command = on(lab, 0, &words);
    command.args(["--ssh", &lab.ssh(), "--host-timeout", "4s", "--format", "jsonl"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("phase_started") && line.contains("\"read\"")));
    std::thread::spawn(move || lines.for_each(drop));
    child
}

fn end(mut child: Child) -> i32 {
    wait_until("the end of a run", || child.try_wait().unwrap().is_some());
    child.wait().unwrap().code().unwrap_or(-1)
}

#[test]
fn a_run_over_hosts_leaves_a_record_and_nothing_else() {
    let Some((lab, shared)) = lab("a run over hosts") else { return };
    let file = workload(lab.dir(), "");
    let words = [
        "run",
        file.to_str().unwrap(),
        "--fill-beyond",
        "--target",
        shared.to_str().unwrap(),
        "--hosts",
        "h[1-3]",
    ];
    let data = call(on(&lab, 0, &words).args(["--ssh", &lab.ssh(), "--format", "json"])).data();
    assert_eq!(data["state"], "complete");
    let phase = &data["tests"][0]["repetitions"][0]["phases"][0];
    // Two ranks on each of three hosts, a MiB each.
    assert_eq!(phase["ranks"].as_array().map_or(0, Vec::len), 6, "{phase}");
    assert_nothing_is_left(&lab, &shared);

    let check =
        ["hosts", "check", "--hosts", "h[1-3]", "--target", shared.to_str().unwrap(), "--rounds", "5"];
    let data = call(on(&lab, 0, &check).args(["--ssh", &lab.ssh(), "--format", "json"])).data();
    let processes = data["processes"].as_array().unwrap();
    let hosts: Vec<_> = processes.iter().map(|one| one["answer"]["host"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["h1", "h2", "h3"]);
    assert!(processes.iter().all(|one| one["answer"]["target"]["sees_probe"] == true));
    assert_nothing_is_left(&lab, &shared);
}

#[test]
fn a_host_without_the_shared_file_system_is_refused_before_anything_is_made() {
    let Some((lab, shared)) = lab("a host without the mount") else { return };
    lab.run(2, &["umount", shared.to_str().unwrap()]);
    let file = workload(lab.dir(), "");
    let words = [
        "run",
        file.to_str().unwrap(),
        "--fill-beyond",
        "--target",
        shared.to_str().unwrap(),
        "--hosts",
        "h[1-3]",
    ];
    call(on(&lab, 0, &words).args(["--ssh", &lab.ssh()])).assert_refused(&["h2"]);
    let check = ["hosts", "check", "--hosts", "h[1-3]", "--target", shared.to_str().unwrap()];
    call(on(&lab, 0, &check).args(["--ssh", &lab.ssh()])).assert_refused(&["h2", "not the same storage"]);
    assert_nothing_is_left(&lab, &shared);
    assert_eq!(names(&shared), Vec::<String>::new(), "below the missing mount");
}

#[test]
fn a_killed_agent_ends_the_run_with_what_was_measured() {
    let Some((lab, shared)) = lab("an agent that is killed in a run") else { return };
    let going = endless(&lab, &shared);
    let agent = Pid::from_raw(lab.processes(2, &forebay())[0].cast_signed()).unwrap();
    kill_process(agent, Signal::KILL).unwrap();
    assert_eq!(end(going), 1);
    let record = records(&lab.dir().join("runs")).remove(0);
    assert_eq!(record["state"], "failed");
    assert!(record["error"]["message"].as_str().unwrap().contains("h2"), "{}", record["error"]);
    assert!(!record["tests"][0]["repetitions"][0]["phases"].as_array().unwrap().is_empty());
    assert_nothing_is_left(&lab, &shared);
}

#[test]
fn a_host_that_is_cut_off_ends_the_run_and_its_agent() {
    let Some((lab, shared)) = lab("a host that is cut off in a run") else { return };
    let going = endless(&lab, &shared);
    lab.cut(3);
    assert_eq!(end(going), 1);
    let record = records(&lab.dir().join("runs")).remove(0);
    assert!(record["error"]["message"].as_str().unwrap().contains("h3"), "{}", record["error"]);
    for host in 1..=2 {
        wait_until("the end of all agents", || lab.processes(host, &forebay()).is_empty());
    }
}

#[test]
fn control_c_stops_all_hosts() {
    let Some((lab, shared)) = lab("a run over hosts that is stopped") else { return };
    let going = endless(&lab, &shared);
    kill_process(Pid::from_raw(going.id().cast_signed()).unwrap(), Signal::INT).unwrap();
    assert_eq!(end(going), 130);
    assert_eq!(records(&lab.dir().join("runs")).remove(0)["state"], "interrupted");
    assert_nothing_is_left(&lab, &shared);
}
