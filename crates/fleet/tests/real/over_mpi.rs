//! Real Open MPI and real MPICH, by one and the same program.

use std::process::Command;

use testkit::lab::wait_until;
use testkit::skip::{Need, can};

use crate::meeting::{Going, kill, meet, run};

/// Launchers with the words for a number of processes, and the other family's library.
const OPEN_MPI: (&str, &[&str], &str) =
    ("mpirun.openmpi", &["--allow-run-as-root", "--oversubscribe", "-np"], "libmpich.so.12");
const MPICH: (&str, &[&str], &str) = ("mpiexec.mpich", &["-n"], "libmpi.so.40");

fn both(what: &str) -> impl Iterator<Item = (&'static str, &'static [&'static str], &'static str)> {
    let possible = [OPEN_MPI, MPICH].map(|family| can(what, &[Need::Program(family.0)]).then_some(family));
    possible.into_iter().flatten()
}

fn launch(family: (&str, &[&str], &str), processes: usize, more: &[&str]) -> Command {
    let mut command = Command::new(testkit::skip::program(family.0).unwrap());
    command.args(family.1).arg(processes.to_string()).arg(meet()).args(more);
    command
}

#[test]
fn processes_of_both_launchers_meet() {
    for family in both("processes that MPI joins") {
        let came = run(&mut launch(family, 3, &["--rounds", "50"]));
        let found = came.assert_whole(3)["found"].as_str().unwrap();
        let name = if family.0 == OPEN_MPI.0 { "MPI: Open MPI" } else { "MPI: MPICH" };
        assert!(found.starts_with(name) && found.ends_with("3 processes on 1 host"), "{found}");
    }
}

#[test]
fn more_than_one_level_of_processes_meets_on_a_small_machine() {
    for family in both("many processes that MPI joins") {
        run(&mut launch(family, 70, &["--rounds", "5"])).assert_whole(70);
    }
}

#[test]
fn the_root_s_exit_code_is_everyone_s() {
    for family in both("exit codes over MPI") {
        assert_eq!(run(&mut launch(family, 3, &["--exit", "4"])).code, 4);
    }
}

/// The launcher of one MPI and the library of another made N runs that each believed to be alone.
#[test]
fn the_wrong_library_made_independent_runs() {
    for family in both("a launcher with another's library") {
        let came = run(launch(family, 2, &[]).env(fleet::mpi::OVERRIDE, family.2));
        came.assert_refused(&["started 2 processes", "independent runs", fleet::mpi::OVERRIDE]);
    }
}

#[test]
fn a_library_that_is_none_is_told() {
    for family in both("a library that is none") {
        for (library, words) in [("libc.so.6", "it is no MPI library"), ("/nowhere/libmpi.so", "cannot open")]
        {
            let came = run(launch(family, 2, &[]).env(fleet::mpi::OVERRIDE, library));
            came.assert_refused(&["cannot load the MPI library", library, words]);
        }
    }
}

#[test]
fn a_killed_rank_ends_all_others() {
    for family in both("a rank that is killed") {
        let mut going = Going::start(&mut launch(family, 4, &["--until-stopped"]));
        let waiting = going.wait_for(4);
        let processes: Vec<u32> = waiting.iter().map(|(_, process)| *process).collect();
        kill(waiting.iter().find(|(number, _)| *number == 2).unwrap().1);
        assert_ne!(going.end().code, 0);
        let is_gone = |process: &u32| !std::path::Path::new(&format!("/proc/{process}")).exists();
        wait_until("the end of all ranks", || processes.iter().all(is_gone));
    }
}

#[test]
fn a_stop_reaches_all_ranks() {
    for family in both("a stop over MPI") {
        let mut going = Going::start(&mut launch(family, 4, &["--until-stopped"]));
        going.wait_for(4);
        going.stop();
        let came = going.end();
        came.assert_whole(4);
        assert_eq!(came.report["stopped"], 7);
        assert!(came.report["posts"].as_u64().unwrap() > 0);
    }
}
