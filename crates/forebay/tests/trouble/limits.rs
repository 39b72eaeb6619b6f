//! Limits of the process and of the file system that a run meets on its way.

use std::process::Command;

use testkit::skip::{Need, can};

use crate::place::{Place, assert_empty, call, for_everyone};
use crate::workload::{DIRECTLY, transfer, workload};

const IOTEST: [&str; 7] = ["iotest", "--file-size", "1m", "--engine", "psync", "--target", "target"];

/// `ulimit -f` comes as a signal that ends programs which do not expect it.
#[test]
fn a_limit_on_file_size_ended_the_program_with_its_files_left_behind() {
    if !can("a limit on file size", &[Need::Program("prlimit")]) {
        return;
    }
    let place = Place::new();
    let call = call(place.command_after(&["prlimit", "--fsize=100000"], &IOTEST));
    // The record is a file as well, and a small one would do; it is the data that gets too large.
    call.assert_failed(&["cannot write", "data.0000000", "file too large", "ulimit -f"]);
    place.assert_partial("failed");
    assert_empty(&place.target());
}

#[test]
fn too_few_descriptors_are_told() {
    if !can("a limit on open files", &[Need::Program("prlimit")]) {
        return;
    }
    let place = Place::new();
    let many =
        workload(1, 1, &[transfer("write", 0, "")]).replace("[files]", "[files]\nfiles_per_rank = 100");
    std::fs::write(place.path("many.toml"), many).unwrap();
    let arguments = ["run", "many.toml", "--target", "target"];
    let call = call(place.command_after(&["prlimit", "--nofile=64"], &arguments));
    call.assert_failed(&["cannot open", "too many open files", "ulimit -n"]);
    place.assert_partial("failed");
    assert_empty(&place.target());
}

#[test]
fn too_few_threads_are_told() {
    let needs = [Need::Root, Need::Program("setpriv"), Need::Program("prlimit")];
    if !can("a limit on threads", &needs) {
        return;
    }
    let place = Place::new();
    let program = for_everyone(&place);
    // Root has no such limit, and it counts all threads of a user: this one has no others.
    let user = ["prlimit", "--nproc=8", "setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"];
    let mut command = Command::new(user[0]);
    command.args(&user[1..]).arg(program).args(IOTEST).args(["--pcores", "16", "--runs-dir", "runs"]);
    command.current_dir(place.path(""));
    let call = call(command);
    call.assert_failed(&["cannot start rank", "of 16", "ulimit -u"]);
    assert_empty(&place.target());
}

/// The reason was lost behind "phase `write` failed".
#[test]
fn transfers_that_direct_io_cannot_do_were_refused_without_the_reason() {
    let place = Place::new();
    let odd = workload(2, 1, &[transfer("write", 0, DIRECTLY)])
        .replace("64 KiB", "1000 B")
        .replace("1 MiB", "1000000 B");
    let call = call(place.run_command(&odd, &place.target()));
    call.assert_failed(&["direct", "--direct"]);
    place.assert_partial("failed");
    assert_empty(&place.target());
}
