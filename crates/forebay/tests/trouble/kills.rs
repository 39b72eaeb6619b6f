//! 200 kills at random moments: whatever the moment, nothing is lost that was not the run's, and all that was can be
//! found and removed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::place::{PREFIX, Place, call, names, snapshot};

const KILLS: u32 = 200;
/// Places that are killed in at the same time.
const AT_ONCE: u32 = 4;
/// Equal seeds choose equal moments.
const SEED: u64 = 0xF0_EBA1;

/// Two repetitions of a small iotest; every fourth with the engine's probe in front.
fn arguments(number: u32) -> Vec<&'static str> {
    let engine = if number.is_multiple_of(4) { "auto" } else { "psync" };
    vec![
        "iotest",
        "--target",
        "target",
        "--pcores",
        "2",
        "--file-size",
        "8m",
        "--repetitions",
        "2",
        "--engine",
        engine,
    ]
}

/// A target with things in it that must never change.
fn guarded() -> (Place, BTreeMap<PathBuf, String>) {
    let place = Place::new();
    let precious = place.path("target/precious");
    std::fs::create_dir_all(precious.join("deep/er")).unwrap();
    for (number, name) in ["data.00000000", "probe", "deep/tree.0", "deep/er/file.0.0"].iter().enumerate() {
        std::fs::write(precious.join(name), vec![number as u8; 5000]).unwrap();
    }
    let before = snapshot(&precious);
    (place, before)
}

/// Kills run number `number` after `delay`.
fn kill_after(place: &Place, number: u32, delay: Duration) {
    let mut command = place.command(&arguments(number));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// What must hold after every kill.
fn check(place: &Place, before: &BTreeMap<PathBuf, String>, number: u32) {
    let left = names(&place.target());
    let foreign: Vec<_> = left.iter().filter(|n| *n != "precious" && !n.starts_with(PREFIX)).collect();
    assert!(foreign.is_empty(), "kill {number}: {foreign:?}");
    let clean = place.clean(&place.target(), &[]);
    assert_eq!(clean.code, 0, "kill {number}: {clean:?}");
    assert_eq!(names(&place.target()), ["precious"], "kill {number}: {clean:?}");
    assert_eq!(&snapshot(&place.path("target/precious")), before, "kill {number}");
    for (name, record) in place.records() {
        assert_ne!(record["state"], "failed", "kill {number}: {name}: {}", record["error"]);
    }
}

/// `runs list` must show every record, and those that were cut short as killed.
fn check_list(place: &Place) {
    let list = call(place.command(&["runs", "list", "--format", "jsonl"]));
    assert_eq!(list.code, 0, "{list:?}");
    let runs: Vec<serde_json::Value> =
        list.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let records = place.records();
    assert_eq!(runs.len(), records.len());
    for run in runs {
        let record = &records[&format!("{}.json", run["id"].as_str().unwrap())];
        assert_eq!(run["damaged"], serde_json::Value::Null);
        assert_eq!(run["killed"], record["state"] == "running", "{run}");
    }
}

#[test]
fn two_hundred_kills_leave_nothing_that_clean_does_not_remove() {
    // How long a run takes here only spreads the moments over it.
    let (place, _) = guarded();
    let started = Instant::now();
    assert_eq!(place.call(&arguments(0)).code, 0);
    let whole = started.elapsed();
    std::thread::scope(|scope| {
        for lane in 0..AT_ONCE {
            scope.spawn(move || {
                let (place, before) = guarded();
                let mut random = fastrand::Rng::with_seed(SEED + u64::from(lane));
                for number in (lane..KILLS).step_by(AT_ONCE as usize) {
                    // One moment in each of as many parts of the run, and a bit beyond its end.
                    let share = (f64::from(number) + random.f64()) / f64::from(KILLS);
                    kill_after(&place, number, whole.mul_f64(share * 1.1));
                    check(&place, &before, number);
                }
                check_list(&place);
            });
        }
    });
}
