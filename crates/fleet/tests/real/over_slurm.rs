//! A real Slurm on the hosts of a lab.

use std::process::Command;

use testkit::lab::{Lab, Slurm, wait_until};

use crate::meeting::{Going, kill, meet, run};

fn lab(what: &str, nodes: usize, cpus: usize) -> Option<(Lab, Slurm)> {
    let mut lab = Lab::new(what, nodes, &Slurm::NEEDS)?;
    let slurm = Slurm::start(&mut lab, nodes, cpus);
    Some((lab, slurm))
}

fn srun(lab: &Lab, slurm: &Slurm, words: &[&str], more: &[&str]) -> Command {
    let mut command = slurm.command(lab, "srun");
    // Other labs have jobs of the same numbers: each meets in a place of its own.
    command.current_dir(lab.dir()).env("FOREBAY_RENDEZVOUS", lab.dir()).args(words).arg(meet()).args(more);
    command
}

/// What tasks meet by is gone as soon as they have met.
fn assert_no_rendezvous(lab: &Lab) {
    let names = std::fs::read_dir(lab.dir()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with(".forebay-0-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn tasks_of_one_node_meet_by_a_socket() {
    let Some((lab, slurm)) = lab("tasks of one node", 1, 70) else { return };
    run(&mut srun(&lab, &slurm, &["-n", "3"], &["--rounds", "50"])).assert_whole(3);
    run(&mut srun(&lab, &slurm, &["-n", "70"], &["--rounds", "5"])).assert_whole(70);
    assert_eq!(run(&mut srun(&lab, &slurm, &["-n", "2"], &["--exit", "4"])).code, 4);
    assert_no_rendezvous(&lab);
}

#[test]
fn tasks_of_several_nodes_meet_by_tcp() {
    let Some((lab, slurm)) = lab("tasks of several nodes", 3, 2) else { return };
    let mut going = Going::start(&mut srun(&lab, &slurm, &["-N", "3", "-n", "6"], &["--until-stopped"]));
    going.wait_for(6);
    assert_no_rendezvous(&lab);
    // Once all are there, nobody can come any more.
    let listening = lab.run(0, &["ss", "-Hltnp"]);
    assert!(!listening.contains("meet"), "{listening}");
    going.stop();
    going.end().assert_whole(6);
}

#[test]
fn srun_with_pmix_uses_open_mpi() {
    let Some((lab, slurm)) = lab("srun with PMIx", 1, 4) else { return };
    let types = run(slurm.command(&lab, "srun").arg("--mpi=list")).err;
    if !types.contains("pmix") {
        return;
    }
    let came = run(&mut srun(&lab, &slurm, &["-n", "4", "--mpi=pmix"], &[]));
    assert!(came.assert_whole(4)["found"].as_str().unwrap().starts_with("MPI: Open MPI"));
}

#[test]
fn a_killed_task_is_named() {
    let Some((lab, slurm)) = lab("a task that is killed", 1, 4) else { return };
    let mut going = Going::start(&mut srun(&lab, &slurm, &["-n", "4", "--no-kill"], &["--until-stopped"]));
    going.wait_for(4);
    let tasks = lab.processes(0, &meet());
    assert_eq!(tasks.len(), 4);
    // Not the one that leads.
    let leads = |task: &&u32| {
        let environment = std::fs::read(format!("/proc/{task}/environ")).unwrap();
        environment.split(|byte| *byte == 0).any(|variable| variable == b"SLURM_PROCID=0")
    };
    kill(*tasks.iter().find(|task| !leads(task)).unwrap());
    let came = going.end();
    assert_ne!(came.code, 0);
    assert!(came.err.contains("Killed") || came.report["lost"][0]["host"] == "h0", "{came:?}");
    wait_until("the end of all tasks", || lab.processes(0, &meet()).is_empty());
}
