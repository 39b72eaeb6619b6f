//! `mpirun`, `mpiexec` and `srun`, with the program as people type it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::lab::{Lab, Slurm, wait_until};
use testkit::skip::{Need, can, program};

use crate::call::{SPEC, call, forebay, io500, names, phase, workload};

/// Launchers of both families, with the words for a number of processes.
fn launchers(what: &str) -> Vec<Vec<&'static str>> {
    let open_mpi = vec!["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np"];
    let all = [open_mpi, vec!["mpiexec.mpich", "-n"]];
    all.into_iter().filter(|words| can(what, &[Need::Program(words[0])])).collect()
}

fn launched(words: &[&str], processes: &str, runs: &Path) -> Command {
    let mut command = Command::new(program(words[0]).unwrap());
    command.args(&words[1..]).arg(processes).arg(forebay());
    command.env("FOREBAY_RUNS_DIR", runs);
    command
}

#[test]
fn processes_of_mpirun_are_the_ranks_of_one_run() {
    for words in launchers("a run under MPI") {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        std::fs::create_dir(&target).unwrap();
        let file = workload(dir.path(), "");
        let mut command = launched(&words, "4", &dir.path().join("runs"));
        let data = call(command.arg("run").arg(file).arg("--target").arg(&target).args([
            "--fill-beyond",
            "--format",
            "json",
        ]))
        .data();
        assert_eq!(data["state"], "complete");
        let phase = &data["tests"][0]["repetitions"][0]["phases"][0];
        assert_eq!(phase["ranks"].as_array().map_or(0, Vec::len), 4, "{phase}");
        assert_eq!(names(&target), Vec::<String>::new());
        assert_eq!(
            names(&dir.path().join("runs"))
                .iter()
                .filter(|name| std::path::Path::new(name).extension().is_some_and(|end| end == "json"))
                .count(),
            1
        );
    }
}

/// What each benchmark does with four processes, however they were started: `launch` gives the command up to the program.
fn every_benchmark(dir: &Path, mut launch: impl FnMut() -> Command) {
    let target = dir.join("target");
    std::fs::create_dir(&target).unwrap();
    let ranks = |phase: &Value| phase["ranks"].as_array().map_or(0, Vec::len);
    let mut json = |words: &[&str], codes: &[i32]| -> Value {
        let done = call(launch().arg(forebay()).args(words).args(["--fill-beyond", "--format", "json"]));
        assert!(codes.contains(&done.code), "{words:?}: {done:?}");
        let start = done.out.find('{').unwrap_or_else(|| panic!("{done:?}"));
        let mut documents = serde_json::Deserializer::from_str(&done.out[start..]).into_iter::<Value>();
        documents.next().unwrap().unwrap()["data"].take()
    };

    let spec = dir.join("grid.toml");
    std::fs::write(&spec, SPEC).unwrap();
    // Short runs on a busy machine need not be believed: 4 says so.
    let proven = json(&["prove", spec.to_str().unwrap(), "--target", target.to_str().unwrap()], &[0, 4]);
    assert_eq!(proven["requirements"].as_array().unwrap().len(), 2);
    assert_eq!(ranks(phase(&proven, 0, "read")), 4);

    let parameters = dir.join("m.vdb");
    let text = format!(
        "sd=sd1,lun={}/f1,size=1m,threads=2\nwd=wd1,sd=sd1,rdpct=50\nrd=all,wd=wd1,iorate=max,el=2,in=1\n",
        target.display()
    );
    std::fs::write(&parameters, text).unwrap();
    let measured = json(&["vdbench", "-f", parameters.to_str().unwrap()], &[0]);
    assert_eq!(measured["state"], "complete");
    assert!(phase(&measured, 0, "all")["operations"][0]["operations"].as_u64().unwrap() > 0);

    let (ini, results) = io500(dir, &target);
    let words = ["io500", ini.to_str().unwrap(), "--stonewall", "1", "--fill-beyond", "--timestamp", "now"];
    let done = call(launch().arg(forebay()).args(words));
    assert_eq!((done.code, done.out.matches("[SCORE ]").count()), (0, 1), "{done:?}");
    let summary = std::fs::read_to_string(results.join("now/result_summary.txt")).unwrap();
    assert!(summary.contains("ior-easy-write") && summary.contains("mdtest-hard-delete"), "{summary}");

    let file = target.join("shared");
    let words = ["ior", "-w", "-r", "-t", "64k", "-b", "1m", "-o", file.to_str().unwrap()];
    let done = call(launch().arg(forebay()).args(words));
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("tasks               : 4"), "{done:?}");
    let words = ["mdtest", "-n", "10", "-d", target.to_str().unwrap()];
    let done = call(launch().arg(forebay()).args(words));
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("4 tasks, 40 files"), "{done:?}");
    assert_eq!(names(&target), Vec::<String>::new());
}

#[test]
fn every_benchmark_runs_under_mpirun() {
    for words in launchers("benchmarks under MPI") {
        let dir = tempfile::tempdir().unwrap();
        every_benchmark(dir.path(), || {
            let mut command = Command::new(program(words[0]).unwrap());
            command.args(&words[1..]).arg("4").env("FOREBAY_RUNS_DIR", dir.path().join("runs"));
            command
        });
    }
}

#[test]
fn every_benchmark_runs_under_srun() {
    let Some(mut lab) = Lab::new("benchmarks under Slurm", 2, &Slurm::NEEDS) else { return };
    let slurm = Slurm::start(&mut lab, 2, 4);
    every_benchmark(lab.dir(), || {
        let mut command = slurm.command(&lab, "srun");
        command.args(["-N", "2", "-n", "4"]);
        command.current_dir(lab.dir()).env("FOREBAY_RUNS_DIR", lab.dir().join("runs"));
        command
    });
}

/// Every process told the same error, and mpirun ended the one that was to tell it.
#[test]
fn a_refusal_under_mpirun_is_told_once() {
    for words in launchers("a refusal under MPI") {
        let dir = tempfile::tempdir().unwrap();
        let file = workload(dir.path(), "");
        let mut command = launched(&words, "4", &dir.path().join("runs"));
        let refused = call(command.arg("run").arg(&file).args(["--target", "/nowhere"]));
        assert_eq!((refused.code, refused.err.matches("error: ").count()), (1, 1), "{refused:?}");
        assert!(refused.err.contains("/nowhere"));
        let wrong = call(launched(&words, "4", &dir.path().join("runs")).args(["run", "--bogus"]));
        assert_eq!((wrong.code, wrong.err.matches("'--bogus' found").count()), (2, 1), "{wrong:?}");
    }
}

#[test]
fn tasks_of_srun_are_the_ranks_of_one_run() {
    let Some(mut lab) = Lab::new("a run under Slurm", 2, &Slurm::NEEDS) else { return };
    let slurm = Slurm::start(&mut lab, 2, 4);
    let target = lab.dir().join("target");
    std::fs::create_dir(&target).unwrap();
    let file = workload(lab.dir(), "");
    let run = |command: &mut Command| {
        let command = command.current_dir(lab.dir()).env("FOREBAY_RUNS_DIR", lab.dir().join("runs"));
        call(command)
    };
    let mut command = slurm.command(&lab, "srun");
    command.args(["-N", "2", "-n", "4"]).arg(forebay()).arg("run").arg(&file).arg("--target").arg(&target);
    let data = run(command.args(["--fill-beyond", "--format", "json"])).data();
    let phase = &data["tests"][0]["repetitions"][0]["phases"][0];
    assert_eq!(phase["ranks"].as_array().map_or(0, Vec::len), 4, "{phase}");
    assert_eq!(names(&target), Vec::<String>::new());

    // The same, submitted by the program itself; its exit code comes back.
    let mut command = slurm.command(&lab, forebay().to_str().unwrap());
    command.args(["run", "--slurm", "-N 2 -n 4"]).arg(&file).arg("--target").arg(&target);
    assert_eq!(run(command.args(["--fill-beyond", "--format", "json"])).data()["state"], "complete");
    let mut command = slurm.command(&lab, forebay().to_str().unwrap());
    command.args(["run", "--slurm=-N1 -n2"]).arg(&file).args(["--target", "/nowhere"]);
    assert_eq!(run(&mut command).code, 1);
}

/// MPICH's library speaks what `srun --mpi=pmi2` offers.
#[test]
fn tasks_of_srun_with_pmi2_are_the_ranks_of_one_run() {
    let needs = [Slurm::NEEDS.as_slice(), &[Need::Program("mpiexec.mpich")]].concat();
    let Some(mut lab) = Lab::new("a run under srun --mpi=pmi2", 1, &needs) else { return };
    let slurm = Slurm::start(&mut lab, 1, 4);
    let target = lab.dir().join("target");
    std::fs::create_dir(&target).unwrap();
    let file = workload(lab.dir(), "");
    let mut command = slurm.command(&lab, "srun");
    command.args(["--mpi=pmi2", "-n", "4"]).arg(forebay()).arg("run").arg(&file).arg("--target").arg(&target);
    command.current_dir(lab.dir()).env("FOREBAY_RUNS_DIR", lab.dir().join("runs"));
    // A host of the lab has process numbers of its own, and this machine's /proc.
    command.env("UCX_TLS", "self,tcp");
    let done = call(command.args(["--fill-beyond", "--format", "json"]));
    assert!(done.err.contains("MPICH"), "{done:?}");
    let data = done.data();
    let phase = &data["tests"][0]["repetitions"][0]["phases"][0];
    assert_eq!(phase["ranks"].as_array().map_or(0, Vec::len), 4, "{phase}");
}

#[test]
fn control_c_cancels_a_job_of_slurm_that_waits() {
    let Some(mut lab) = Lab::new("a job of Slurm that is stopped while it waits", 1, &Slurm::NEEDS) else {
        return;
    };
    let slurm = Slurm::start(&mut lab, 1, 2);
    let queue = || {
        let output = slurm.command(&lab, "squeue").args(["-h", "-o", "%T"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    // Somebody else has the whole node.
    let mut busy = slurm.command(&lab, "srun").args(["-N1", "-n2", "sleep", "600"]).spawn().unwrap();
    wait_until("a busy node", || queue() == ["RUNNING"]);

    let file = workload(lab.dir(), "");
    let mut command = slurm.command(&lab, forebay().to_str().unwrap());
    command.args(["run", "--slurm", "-N1 -n2"]).arg(&file).args(["--target", "/tmp"]).current_dir(lab.dir());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut waiting = command.spawn().unwrap();
    let mut told = BufReader::new(waiting.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("is pending") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "it ended before it waited");
    }
    assert_eq!(queue().len(), 2);
    kill_process(Pid::from_raw(waiting.id().cast_signed()).unwrap(), Signal::INT).unwrap();
    wait_until("the end of what waited", || waiting.try_wait().unwrap().is_some());
    assert_eq!(waiting.wait().unwrap().code(), Some(130));
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("is cancelled; it had not begun"), "{rest}");
    wait_until("an empty queue", || queue() == ["RUNNING"]);
    let _ = busy.kill();
    let _ = busy.wait();
}
