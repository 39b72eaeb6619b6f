//! The processes of `mpirun`, `mpiexec` and `srun` that share one job.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use testkit::lab::{Lab, Slurm};
use testkit::skip::{Need, can, program};
use testkit::trees::{Random, trap_tree};

use crate::large::{has_draft, large_file};
use crate::place::{Mover, Place, wait_until};

const FLAGS: [&str; 4] = ["--delete", "--special-files", "--max-delete", "100000"];

/// Launchers of both families, with the words for a number of processes.
fn launchers(what: &str) -> Vec<Vec<&'static str>> {
    let open_mpi = vec!["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np"];
    let all = [open_mpi, vec!["mpiexec.mpich", "-n"]];
    all.into_iter().filter(|words| can(what, &[Need::Program(words[0])])).collect()
}

/// So many ranks of a sync.
fn launched(place: &Place, words: &[&str], ranks: &str, flags: &[&str]) -> Command {
    let mut command = Command::new(program(words[0]).unwrap());
    command.args(&words[1..]).arg(ranks).arg(env!("CARGO_BIN_EXE_forebay"));
    sync(place, &mut command, flags);
    command
}

fn sync(place: &Place, command: &mut Command, flags: &[&str]) {
    command.arg("sync").arg(place.source()).arg(place.destination()).args(["--format", "json"]).args(flags);
    command.env("XDG_STATE_HOME", place.path("states")).env("HOME", place.path("home")).stdin(Stdio::null());
}

/// It ended with this code; the only record that was printed.
#[track_caller]
fn record(output: &Output, code: i32) -> Value {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let start = text.find('{').unwrap_or_else(|| panic!("{output:?}"));
    let documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let mut documents: Vec<Value> = documents.map_while(Result::ok).collect();
    assert_eq!(documents.len(), 1, "one rank speaks: {output:?}");
    documents[0]["data"].take()
}

/// A tree, copied, changed and copied again, always whole; what did not change is not read again.
fn one_tree(place: &Place, mut launch: impl FnMut(&[&str]) -> Output) {
    let mut random = Random::new(71);
    random.grow(&place.source(), 150);
    for part in 0..6 {
        place.write(&format!("source/more/{part}/own"), vec![part; 3000]);
    }
    let link = |from: &str, to: &str| {
        std::fs::hard_link(place.source().join(from), place.source().join(to)).unwrap();
    };
    link("more/0/own", "more/3/other");
    link("more/0/own", "loose");
    let first = record(&launch(&FLAGS), 0);
    place.assert_equal();
    assert!(first["entries"]["copied"].as_u64() > Some(10), "{first}");
    for _ in 0..2 {
        random.change(&place.source(), 40);
        record(&launch(&FLAGS), 0);
        place.assert_equal();
    }
    // Where the tree is divided otherwise than before, names in several parts are copied anew, once.
    record(&launch(&FLAGS), 0);
    let last = record(&launch(&FLAGS), 0);
    assert_eq!((&last["state"], &last["bytes"]["read_bytes"]), (&"complete".into(), &0.into()), "{last}");
    let left = place.destination().read_dir().unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with(".forebay")));
}

#[test]
fn ranks_of_mpirun_make_one_tree() {
    for words in launchers("ranks that sync") {
        let place = Place::on_one_host();
        one_tree(&place, |flags| launched(&place, &words, "3", flags).output().unwrap());
    }
}

#[test]
fn tasks_of_srun_make_one_tree() {
    let Some(mut lab) = Lab::new("tasks that sync", 2, &Slurm::NEEDS) else { return };
    let slurm = Slurm::start(&mut lab, 2, 4);
    let place = Place::on_one_host();
    one_tree(&place, |flags| {
        let mut command = slurm.command(&lab, "srun");
        command.args(["-N", "2", "-n", "3"]).arg(env!("CARGO_BIN_EXE_forebay"));
        sync(&place, &mut command, flags);
        command.current_dir(lab.dir()).output().unwrap()
    });
}

#[test]
fn tasks_of_srun_with_pmi2_make_one_tree() {
    let needs = [Slurm::NEEDS.as_slice(), &[Need::Program("mpiexec.mpich")]].concat();
    let Some(mut lab) = Lab::new("tasks of MPI that sync", 1, &needs) else { return };
    let slurm = Slurm::start(&mut lab, 1, 4);
    let place = Place::on_one_host();
    trap_tree(&place.source());
    let mut command = slurm.command(&lab, "srun");
    command.args(["--mpi=pmi2", "-n", "3"]).arg(env!("CARGO_BIN_EXE_forebay"));
    sync(&place, &mut command, &FLAGS);
    // A host of the lab has process numbers of its own, and this machine's /proc.
    let output = command.env("UCX_TLS", "self,tcp").current_dir(lab.dir()).output().unwrap();
    record(&output, 0);
    assert!(String::from_utf8_lossy(&output.stderr).contains("MPICH"), "{output:?}");
    place.assert_equal();
}

/// A tree that takes a while at a limited rate.
fn slow_tree(place: &Place) {
    for part in 0..12 {
        for number in 0..4 {
            place.write(&format!("source/{part}/d/{number}"), vec![part * 16 + number; 100_000]);
        }
        place.write(&format!("source/{part}/large"), vec![part; 900_000]);
    }
}

fn there(place: &Place) -> usize {
    (0..12).filter(|part| place.destination().join(format!("{part}/large")).exists()).count()
}

/// Starts it, and waits until some of its work is done.
fn working(place: &Place, words: &[&str]) -> Mover {
    let before = there(place);
    let mut mover = place.spawn(&mut launched(place, words, "3", &["--delete", "--bwlimit", "400kB/s"]));
    wait_until("some work is done", || {
        assert!(mover.child.try_wait().unwrap().is_none(), "it ended before anybody could stop it");
        there(place) > before
    });
    mover
}

/// The processes of a run on this tree, by their rank.
fn processes(place: &Place) -> Vec<(String, u32)> {
    let program = Path::new(env!("CARGO_BIN_EXE_forebay"));
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let of_rank = |number: u32| {
        let read = |name: &str| std::fs::read(format!("/proc/{number}/{name}")).ok();
        let is_ours = std::fs::read_link(format!("/proc/{number}/exe")).ok()? == program
            && String::from_utf8_lossy(&read("cmdline")?).contains(place.source().to_str()?);
        let environment = String::from_utf8_lossy(&read("environ")?).into_owned();
        let rank = ["OMPI_COMM_WORLD_RANK=", "PMI_RANK="]
            .iter()
            .find_map(|name| environment.split('\0').find_map(|line| line.strip_prefix(name)))?;
        is_ours.then(|| (rank.to_owned(), number))
    };
    let mut found: Vec<_> = numbers.filter_map(of_rank).collect();
    found.sort();
    found
}

fn signal(process: u32, name: &str) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

#[test]
fn after_a_rank_that_died_the_same_command_goes_on() {
    for words in launchers("a rank that dies") {
        let place = Place::on_one_host();
        slow_tree(&place);
        for victim in [2, 0] {
            let mut run = working(&place, &words);
            let ranks = processes(&place);
            assert_eq!(ranks.len(), 3, "{ranks:?}");
            signal(ranks[victim].1, "-KILL");
            wait_until("the end of the run", || run.child.try_wait().unwrap().is_some());
            assert_ne!(run.child.wait().unwrap().code(), Some(0));
            wait_until("the end of all ranks", || processes(&place).is_empty());
            // What was done stays done, and nothing has a half file's name.
            assert!((1..12).contains(&there(&place)));
            for part in 0..12 {
                let copied =
                    std::fs::read(place.destination().join(format!("{part}/large"))).unwrap_or_default();
                assert!(copied.is_empty() || copied == vec![part; 900_000]);
            }
        }
        record(&launched(&place, &words, "2", &["--delete"]).output().unwrap(), 0);
        place.assert_equal();
    }
}

#[test]
fn a_task_of_srun_that_dies_is_named() {
    let Some(mut lab) = Lab::new("a task that dies", 1, &Slurm::NEEDS) else { return };
    let slurm = Slurm::start(&mut lab, 1, 4);
    let place = Place::on_one_host();
    slow_tree(&place);
    let mut command = slurm.command(&lab, "srun");
    // One of them is killed as soon as something is copied.
    let done = format!("ls {}/*/large > /dev/null 2>&1", place.destination().display());
    let script = format!(
        "[ $SLURM_PROCID = 2 ] && (until {done}; do sleep 0.1; done; kill -9 $$) & exec \"$0\" \"$@\""
    );
    command.args(["-n", "3", "sh", "-c", &script]).arg(env!("CARGO_BIN_EXE_forebay"));
    sync(&place, &mut command, &["--bwlimit", "300kB/s"]);
    let output = command.current_dir(lab.dir()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("rank 2 on h0 is gone") && said.contains("goes on from there"), "{said}");
    assert_ne!(output.status.code(), Some(0));
    let mut command = slurm.command(&lab, "srun");
    command.args(["-n", "3"]).arg(env!("CARGO_BIN_EXE_forebay"));
    sync(&place, &mut command, &[]);
    record(&command.current_dir(lab.dir()).output().unwrap(), 0);
    place.assert_equal();
}

#[test]
fn ranks_that_are_stopped_end_alike_and_go_on_later() {
    for words in launchers("ranks that are stopped") {
        let place = Place::on_one_host();
        slow_tree(&place);
        let mut run = working(&place, &words);
        // Whoever hears of it tells the others.
        signal(processes(&place)[1].1, "-TERM");
        let stopped = run.record(143);
        assert_eq!(stopped["state"], "stopped", "{stopped}");
        assert!(stopped["entries"]["copied"].as_u64() >= Some(1), "{stopped}");
        record(&launched(&place, &words, "2", &["--delete"]).output().unwrap(), 0);
        place.assert_equal();
    }
}

#[test]
fn deletes_of_ranks_are_counted_over_all() {
    for words in launchers("deletes by ranks") {
        let place = Place::on_one_host();
        for part in 0..8 {
            (0..10).for_each(|number| place.write(&format!("source/{part}/{number}"), "x"));
        }
        record(&launched(&place, &words, "3", &["--delete"]).output().unwrap(), 0);
        for part in 0..8 {
            (0..3).for_each(|number| {
                std::fs::remove_file(place.source().join(format!("{part}/{number}"))).unwrap();
            });
        }
        let refused = launched(&place, &words, "3", &["--delete", "--max-delete", "23"]).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!((refused.status.code(), said.matches("24 entries").count()), (Some(1), 1), "{said}");
        assert!(place.destination().join("0/0").exists());
        let done =
            record(&launched(&place, &words, "3", &["--delete", "--max-delete", "24"]).output().unwrap(), 0);
        assert_eq!(done["entries"]["deleted"], 24, "{done}");
        place.assert_equal();
    }
}

#[test]
fn what_ranks_can_not_do_is_refused_once_and_before_anything_is_written() {
    for words in launchers("a refusal to ranks that sync") {
        let place = Place::on_one_host();
        place.write("source/a", "one");
        for (flags, word) in [
            (&["--watch"][..], "ranks of a launcher can't do a watch"),
            (&["--files-from", "-"], "a list from standard input"),
            (&["--max-size", "5 oranges"], "is not a unit of size"),
        ] {
            let refused = launched(&place, &words, "3", flags).output().unwrap();
            let said = String::from_utf8_lossy(&refused.stderr);
            assert_eq!(
                (refused.status.code(), said.matches(word).count()),
                (Some(2), 1),
                "{flags:?}: {said}"
            );
        }
        let mut elsewhere = Command::new(program(words[0]).unwrap());
        elsewhere.args(&words[1..]).args(["2", env!("CARGO_BIN_EXE_forebay"), "sync"]).arg(place.source());
        let refused = elsewhere.arg("s3://bucket/data").stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(
            (refused.status.code(), said.matches("can't do object stores").count()),
            (Some(2), 1),
            "{said}"
        );
        assert!(!place.destination().exists());
        // A dry run is one rank's work.
        let plan = record(&launched(&place, &words, "3", &["--dry-run"]).output().unwrap(), 0);
        assert_eq!((&plan["dry_run"], &plan["entries"]["scanned"]), (&true.into(), &1.into()), "{plan}");
        assert!(!place.destination().exists());
    }
}

#[test]
fn ranks_with_other_storage_at_the_same_path_are_refused() {
    if !can(
        "ranks with mounts of their own",
        &[Need::Root, Need::Program("mpiexec.mpich"), Need::Program("unshare")],
    ) {
        return;
    }
    for which in ["source", "destination"] {
        let place = Place::on_one_host();
        place.write("source/a", "one");
        place.write("other/b", "another");
        std::fs::create_dir_all(place.destination()).unwrap();
        let mut command = Command::new(program("mpiexec.mpich").unwrap());
        command.args(["-n", "1", env!("CARGO_BIN_EXE_forebay")]);
        sync(&place, &mut command, &[]);
        let script = "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"";
        command.args([":", "-n", "1", "unshare", "-m", "sh", "-c", script, "sh"]);
        command.arg(place.path("other")).arg(place.path(which)).arg(env!("CARGO_BIN_EXE_forebay"));
        sync(&place, &mut command, &[]);
        let refused = command.output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains("rank 1 on") && said.contains("is other storage here"), "{said}");
        assert!(said.contains(&format!("/{which}`")), "{said}");
        assert_eq!(std::fs::read_dir(place.destination()).unwrap().count(), 0);
    }
}

#[test]
fn ranks_share_a_large_file_and_go_on_inside_of_it() {
    for words in launchers("ranks that share a large file") {
        let place = Place::on_one_host();
        large_file(&place, "source/large", 9);
        let flags = ["--workers", "1", "--bwlimit", "30MB/s"];
        let mut run = place.spawn(&mut launched(&place, &words, "2", &flags));
        let all_have_it = || {
            let ranks = processes(&place);
            ranks.len() == 2 && ranks.iter().all(|(_, process)| has_draft(*process))
        };
        wait_until("both work on the file", all_have_it);
        signal(processes(&place)[1].1, "-KILL");
        wait_until("the end of the run", || run.child.try_wait().unwrap().is_some());
        wait_until("the end of all ranks", || processes(&place).is_empty());
        assert!(!place.destination().join("large").exists(), "half a file has its name");
        let record = record(&launched(&place, &words, "2", &[]).output().unwrap(), 0);
        assert_eq!(record["entries"]["copied"], 1, "{record}");
        place.assert_equal();
        assert_eq!(place.destination().read_dir().unwrap().count(), 1);
    }
}
