//! `forebay sync --watch` as people run it: killed, stopped, and with a queue of the kernel that runs over.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::skip::{Need, can};
use testkit::trees::{Random, differences, picture};

use crate::place::Place;

/// Long enough for any machine; only a watch that never gets there takes it.
const PATIENCE: Duration = Duration::from_mins(2);
const FLAGS: [&str; 7] =
    ["--watch", "--delete", "--max-delete", "100000", "--special-files", "--format", "json"];

fn start(place: &Place, flags: &[&str]) -> Child {
    let mut command = place.command(&place.source(), &place.destination(), &FLAGS);
    command.args(flags).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits until both trees are equal.
#[track_caller]
fn settle(place: &Place, child: &mut Child) {
    let began = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let both = || differences(&picture(&place.source()), &picture(&place.destination()));
        // The destination may change while a picture of it is taken.
        let lines = std::panic::catch_unwind(both).unwrap_or_else(|_| vec!["moving".to_owned()]);
        if lines.is_empty() {
            return;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended: {}", lines.join("\n"));
        assert!(began.elapsed() < PATIENCE, "{}", lines.join("\n"));
    }
}

/// Ctrl-C; returns the record and what was said.
#[track_caller]
fn interrupt(mut child: Child) -> (Value, String) {
    signal(&child, "-INT");
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{out}\n{err}");
    let mut document: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}\n{err}"));
    (document["data"].take(), err)
}

#[test]
fn a_killed_watch_goes_on_where_it_was() {
    let (place, mut random) = (Place::new(), Random::new(77));
    random.hard_links = false;
    random.grow(&place.source(), 60);
    for round in 0..6 {
        let mut child = start(&place, &[]);
        let moments = fastrand::Rng::with_seed(round).u64(20..1200);
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(moments) {
            random.change(&place.source(), 2);
            std::thread::sleep(Duration::from_millis(10));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let mut child = start(&place, &["--metrics", "127.0.0.1:0"]);
    settle(&place, &mut child);
    random.change(&place.source(), 20);
    settle(&place, &mut child);
    let (record, said) = interrupt(child);
    assert_eq!(record["state"], "stopped", "{record}");
    assert_eq!(record["failures"], serde_json::json!([]), "{record}");
    assert!(said.contains("live figures: http://127.0.0.1:"), "{said}");
}

#[test]
fn how_far_a_watch_is_behind_is_shown() {
    use std::io::{BufRead as _, BufReader};
    let place = Place::new();
    place.write(&[("a", "one")]);
    let _queues = queues();
    let mut child = start(&place, &["--metrics", "127.0.0.1:0", "--watch-by", "inotify"]);
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("live figures: ") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended without a word");
    }
    let url = line.split_whitespace().last().unwrap().to_owned();
    settle(&place, &mut child);
    place.write(&[("b", "two")]);
    settle(&place, &mut child);
    let began = Instant::now();
    loop {
        let text = ureq::get(&url).call().unwrap().body_mut().read_to_string().unwrap();
        let has = |line: &str| text.lines().any(|other| other == line);
        let is_done = has("forebay_sync_rounds_total 1") && has("forebay_sync_copied_total 2");
        // The figures are taken one after the other: what waits may still be that of a moment ago.
        if is_done && has("forebay_sync_waiting 0") {
            assert!(text.contains("forebay_sync_lag_seconds "), "{text}");
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{text}");
        std::thread::sleep(Duration::from_millis(100));
    }
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// While one test makes the kernel's queues small, no other may begin a watch that counts on them.
static QUEUES: Mutex<()> = Mutex::new(());

fn queues() -> MutexGuard<'static, ()> {
    QUEUES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A limit of the kernel that is put back when the test ends, however it ends.
struct Limit {
    path: &'static str,
    before: String,
}

impl Limit {
    fn set(path: &'static str, value: &str) -> Self {
        let before = std::fs::read_to_string(path).unwrap();
        std::fs::write(path, value).unwrap();
        Self { path, before }
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        std::fs::write(self.path, &self.before).unwrap();
    }
}

fn a_queue_runs_over(by: &str, limit: &'static str) {
    let place = Place::new();
    place.write(&[("d/first", "one"), ("e/f/second", "two")]);
    let mut child = {
        let _small = Limit::set(limit, "8");
        let mut child = start(&place, &["--watch-by", by]);
        settle(&place, &mut child);
        child
    };
    // Nobody reads the queue meanwhile.
    signal(&child, "-STOP");
    for number in 0..300 {
        let dir = place.source().join(format!("new{number}/inside"));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("file"), number.to_string()).unwrap();
    }
    std::fs::remove_dir_all(place.source().join("e")).unwrap();
    signal(&child, "-CONT");
    settle(&place, &mut child);
    // What comes after is heard again.
    std::fs::write(place.source().join("new7/inside/later"), "heard").unwrap();
    settle(&place, &mut child);
    let (record, said) = interrupt(child);
    assert!(record["watched"]["gaps"].as_u64() > Some(0), "{record}");
    assert!(record["watched"]["rescans"].as_u64() > Some(0), "{record}");
    assert!(said.contains("ran over: everything is looked at again"), "{said}");
}

#[test]
fn a_queue_that_runs_over_is_told_and_healed() {
    if !can("limits of the kernel", &[Need::Root]) {
        return;
    }
    let _queues = queues();
    assert!(Path::new("/proc/sys/fs/fanotify/max_queued_events").exists());
    a_queue_runs_over("fanotify", "/proc/sys/fs/fanotify/max_queued_events");
    a_queue_runs_over("inotify", "/proc/sys/fs/inotify/max_queued_events");
}

#[test]
fn a_changelog_without_lustre_is_an_error_that_says_so() {
    let place = Place::new();
    place.write(&[("a", "one")]);
    let watch = |flags: &[&str]| place.sync(&[&["--watch"], flags].concat());
    watch(&["--changelog", "scratch-MDT0000=cl1"]).assert_failed(2, &["does not lie on Lustre"]);
    watch(&["--changelog", "scratch"]).assert_failed(2, &["`scratch` names no changelog"]);
}
