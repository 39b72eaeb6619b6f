//! Everything that measures, over three hosts with an sshd each and one GlusterFS volume.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::lab::wait_until;

use crate::call::{
    SPEC, assert_nothing_is_left, call, forebay, io500, lab, on, over, phase, records, workload,
};

/// Hosts that measured in a phase.
fn hosts(phase: &Value) -> Vec<&str> {
    phase["hosts"].as_array().unwrap().iter().map(|host| host["host"].as_str().unwrap()).collect()
}

#[test]
fn a_spec_is_proven_and_swept_over_hosts() {
    let Some((lab, shared)) = lab("prove, iotest and sweep over hosts") else { return };
    let spec = lab.dir().join("grid.toml");
    std::fs::write(&spec, SPEC).unwrap();
    let (spec, target) = (spec.to_str().unwrap(), shared.to_str().unwrap());

    let words = ["prove", spec, "--target", target, "--fill-beyond", "--format", "json"];
    let proven = call(&mut over(&lab, &words));
    // Short runs on a busy machine need not be believed: 4 says so, and nothing else may have gone wrong.
    assert!([0, 4].contains(&proven.code), "{proven:?}");
    let record: Value = serde_json::from_str(&proven.out).unwrap();
    let record = &record["data"];
    assert_eq!((&record["state"], record["requirements"].as_array().unwrap().len()), (&"complete".into(), 2));
    for name in ["write", "read"] {
        assert_eq!(hosts(phase(record, 0, name)), ["h1", "h2", "h3"]);
    }
    let measured = |one: &Value| one["measured_per_pcore"].is_object() && one["met"] == true;
    assert!(record["requirements"].as_array().unwrap().iter().all(measured), "{}", record["requirements"]);

    let words = ["iotest", "--target", target, "--file-size", "2MiB", "--fill-beyond", "--format", "json"];
    let data = call(&mut over(&lab, &words)).data();
    assert_eq!(hosts(phase(&data, 0, "read")), ["h1", "h2", "h3"]);

    let csv = lab.dir().join("sweep.csv");
    let words = ["sweep", spec, "--target", target, "--fill-beyond", "--csv", csv.to_str().unwrap()];
    let swept = call(&mut over(&lab, &words));
    assert!([0, 4].contains(&swept.code), "{swept:?}");
    let table = std::fs::read_to_string(&csv).unwrap();
    for point in ["hosts=1 ranks=1", "hosts=1 ranks=2", "hosts=3 ranks=1", "hosts=3 ranks=2"] {
        assert!(swept.out.contains(point), "{point} is missing in {swept:?}");
    }
    assert!(table.lines().count() > 4, "{table}");
    // What is done is not done again.
    let again = call(&mut over(&lab, &words));
    assert!(again.err.contains("4 points, 0 to run"), "{again:?}");
    assert_nothing_is_left(&lab, &shared);
}

#[test]
fn a_search_and_io500_go_over_hosts() {
    let Some((lab, shared)) = lab("searches and io500 over hosts") else { return };
    let target = shared.to_str().unwrap();
    let file = workload(lab.dir(), "");
    let words = ["run", file.to_str().unwrap(), "--target", target, "--fill-beyond", "--format", "json"];
    let data = call(over(&lab, &words).args(["--saturate", "ranks", "--at-most", "4"])).data();
    let points = data["search"]["points"].as_array().unwrap();
    assert!(!points.is_empty() && data["search"]["sentence"].is_string(), "{}", data["search"]);
    assert_eq!(data["tests"].as_array().unwrap().len(), points.len());

    let data = call(over(&lab, &words).args(["--slo", "p99=1min"])).data();
    assert_eq!(data["search"]["kind"], "latency_target");
    assert_nothing_is_left(&lab, &shared);

    let (ini, results) = io500(lab.dir(), &shared);
    let words = ["io500", ini.to_str().unwrap(), "--stonewall", "1", "--fill-beyond", "--timestamp", "now"];
    let done = call(&mut over(&lab, &words));
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("[SCORE ]") && done.out.contains("[INVALID]"), "{done:?}");
    let summary = std::fs::read_to_string(results.join("now/result_summary.txt")).unwrap();
    assert!(summary.contains("ior-easy-write") && summary.contains("mdtest-hard-delete"), "{summary}");
    wait_until("the end of all agents", || (1..=3).all(|host| lab.processes(host, &forebay()).is_empty()));
}

/// What was measured before is kept, and nothing of it is believed.
#[test]
fn a_host_lost_while_proving_leaves_what_was_measured_and_no_verdict_to_rely_on() {
    let Some((lab, shared)) = lab("a host that is lost while proving") else { return };
    let file = workload(lab.dir(), crate::call::ENDLESS);
    let spec = lab.dir().join("grid.toml");
    let text = format!(
        "version = 1\n[grid]\nname = \"lab\"\npcores = 6\n[[storage]]\nname = \"scratch\"\nrole = \"work\"\n\
         write_per_pcore = \"1 kB/s\"\nread_per_pcore = \"1 kB/s\"\n[[test]]\nname = \"own\"\ntest = \"workload\"\nworkload = \"{}\"\n",
        file.display()
    );
    std::fs::write(&spec, text).unwrap();
    let words = ["prove", spec.to_str().unwrap(), "--target", shared.to_str().unwrap(), "--fill-beyond"];
    let mut command = over(&lab, &words);
    command.args(["--format", "jsonl"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("phase_started") && line.contains("\"read\"")));
    assert!(lines.any(|line| line.contains("\"progress\"")), "it has measured for a second");
    let rest = std::thread::spawn(move || lines.collect::<Vec<_>>());
    let agent = Pid::from_raw(lab.processes(2, &forebay())[0].cast_signed()).unwrap();
    kill_process(agent, Signal::KILL).unwrap();
    wait_until("the end of a run", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    drop(rest.join());

    let record = records(&lab.dir().join("runs")).remove(0);
    assert_eq!(record["state"], "failed");
    let read = phase(&record, 0, "read");
    assert_eq!(read["lost"][0]["host"], "h2", "{read}");
    let ranks: Vec<&str> =
        read["ranks"].as_array().unwrap().iter().map(|rank| rank["host"].as_str().unwrap()).collect();
    assert_eq!(ranks, ["h1", "h1", "h3", "h3"], "those that were called off keep what they did");
    let operations = |rank: &Value| rank["operations"].as_u64().unwrap();
    assert!(read["ranks"].as_array().unwrap().iter().all(|rank| operations(rank) > 0), "{read}");
    for verdict in record["requirements"].as_array().unwrap() {
        assert_eq!(verdict["validity"], "not_valid", "{verdict}");
    }
    let shown = call(&mut on(&lab, 0, &["runs", "show", record["id"].as_str().unwrap()]));
    assert!(shown.out.contains("not valid") && shown.out.contains("h2"), "{shown:?}");
    assert_nothing_is_left(&lab, &shared);
}
