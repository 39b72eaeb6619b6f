//! SIGINT and SIGTERM at any moment: a clean stop, an empty target, a record that says so.

use testkit::skip::{Need, can};

use crate::going::{Going, Signal, wait_until};
use crate::image::{Image, Kind, tool};
use crate::place::{PREFIX, Place, assert_empty, names, snapshot};
use crate::workload::{SLOWLY, create_items, endless, transfer, workload};

/// A moment: its name, the phases of the workload, its repetitions, and the event after which the signal is sent.
struct Moment {
    name: &'static str,
    phases: Vec<String>,
    repetitions: u32,
    after: &'static [&'static str],
}

fn moments() -> Vec<Moment> {
    let moment =
        |name, phases: &[String], after| Moment { name, phases: phases.to_vec(), repetitions: 1, after };
    let (write, read) = (transfer("write", 0, ""), endless("read", 100, ""));
    let pause =
        endless("read", 100, "").replace("name = \"read\"", "name = \"read\"\npause_before = \"1 h\"");
    let endless_create = create_items() + "[phases.stop]\ntime = \"1 h\"\n";
    vec![
        moment("before the first phase", &[endless("write", 0, "")], &["run_started"]),
        moment("writing", &[endless("write", 0, "")], &["phase_started"]),
        moment("fsync", &[endless("write", 0, "fsync = { every = 1 }")], &["phase_started"]),
        moment("reading", &[write.clone(), read], &["phase_started", "\"read\""]),
        moment("waiting for the rate", &[endless("write", 0, SLOWLY)], &["phase_started"]),
        moment("a deep queue", &[endless("write", 0, "queue_depth = 16")], &["phase_started"]),
        moment("resting", &[endless("write", 0, "think_time = \"1 h\"")], &["phase_started"]),
        moment("a pause", &[write.clone(), pause], &["phase_finished", "\"write\""]),
        moment(
            "entries, then writing",
            &[endless_create, endless("write", 0, "")],
            &["phase_started", "\"create\""],
        ),
        Moment {
            name: "between repetitions",
            phases: vec![write],
            repetitions: 1_000_000,
            after: &["phase_started", "\"repetition\":4"],
        },
    ]
}

fn stop(moment: &Moment, signal: Signal, code: i32) {
    let place = Place::new();
    std::fs::write(place.path("target/precious"), "mine").unwrap();
    let before = snapshot(&place.target());
    let text = workload(2, 1, &moment.phases)
        // A deep queue needs the other engine.
        .replace("engine = \"psync\"", "engine = \"auto\"")
        .replace("version = 1", &format!("version = 1\nrepetitions = {}", moment.repetitions));
    let mut going = Going::start(place.run_command(&text, &place.target()));
    going.wait_for(moment.after);
    going.send(signal);
    let call = going.end();
    assert_eq!(call.code, code, "{}: {call:?}", moment.name);
    assert_eq!(snapshot(&place.target()), before, "{}", moment.name);
    // Stopped before anything was made, there is nothing to keep.
    if !place.records().is_empty() || moment.after != ["run_started"] {
        let record = place.assert_partial("interrupted");
        assert!(call.out.contains(record["id"].as_str().unwrap()));
    }
}

#[test]
fn control_c_stops_cleanly_at_any_moment() {
    moments().iter().for_each(|moment| stop(moment, Signal::INT, 130));
}

#[test]
fn sigterm_stops_cleanly_at_any_moment() {
    moments().iter().for_each(|moment| stop(moment, Signal::TERM, 143));
}

/// The connection to a host breaks, and with it the terminal.
#[test]
fn a_lost_terminal_left_all_files_behind() {
    let place = Place::new();
    let text = workload(2, 1, &[endless("write", 0, "")]);
    let mut going = Going::start(place.run_command(&text, &place.target()));
    going.wait_for(&["phase_started"]);
    going.send(Signal::HUP);
    assert_eq!(going.end().code, 143);
    place.assert_partial("interrupted");
    assert_empty(&place.target());
}

#[test]
fn nohup_keeps_a_run_going_without_its_terminal() {
    let place = Place::new();
    let text = workload(2, 1, &[endless("write", 0, "").replace("1 h", "1 s")]);
    std::fs::write(place.path("workload.toml"), text).unwrap();
    let arguments = ["run", "workload.toml", "--format", "jsonl", "--target", "target"];
    let mut going = Going::start(place.command_after(&["nohup"], &arguments));
    going.wait_for(&["phase_started"]);
    going.send(Signal::HUP);
    let call = going.end();
    assert_eq!(call.code, 0, "{call:?}");
    assert_eq!(place.record()["state"], "complete");
}

/// A file system that does not answer holds the clean stop up; the second signal does not wait for it.
#[test]
fn a_second_signal_stops_at_once_and_clean_removes_the_rest() {
    let what = "a file system that does not answer";
    if !Kind::Ext4.is_possible(what) || !can(what, &[Need::Program("fsfreeze")]) {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), Kind::Ext4);
    let path = image.path().to_str().unwrap();
    let mut going =
        Going::start(place.run_command(&workload(1, 1, &[endless("write", 0, "")]), image.path()));
    going.wait_for(&["phase_started"]);
    let frozen = Frozen::new(path);
    going.send(Signal::INT);
    going.wait_to_hear("a second signal stops at once");
    going.send(Signal::INT);
    // A thread inside the frozen file system keeps the process; the program itself has ended.
    wait_until("the program's end", || ended(going.pid()));
    drop(frozen);
    assert_eq!(going.end().code, 130);
    let left = names(image.path());
    assert!(left.len() == 1 && left[0].starts_with(PREFIX), "{left:?}");
    let list = place.call(&["runs", "list"]);
    assert!(list.out.contains("killed"), "{list:?}");
    assert_eq!(place.clean(image.path(), &[]).code, 0);
    assert_empty(image.path());
}

/// Whether the main thread has ended, whatever its threads still do.
fn ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_none_or(|rest| matches!(rest.trim().chars().next(), Some('Z' | 'X') | None))
}

/// A frozen file system, thawed at the end of its life.
struct Frozen<'a>(&'a str);

impl<'a> Frozen<'a> {
    fn new(path: &'a str) -> Self {
        tool("fsfreeze", &["--freeze", path]);
        Self(path)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        tool("fsfreeze", &["--unfreeze", self.0]);
    }
}
