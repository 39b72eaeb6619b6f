//! What runs, when, and after which kill.

use jiff::Timestamp;
use serde_json::Value;
use testkit::trees::{Random, differences, picture, rest};

use crate::server::{Place, files};

#[track_caller]
fn assert_equal(place: &Place, source: &str, destination: &str) {
    let lines = differences(&picture(&place.path(source)), &picture(&place.path(destination)));
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

fn began(run: &Value) -> Timestamp {
    run["started"].as_str().unwrap().parse().unwrap()
}

fn ended(run: &Value) -> Timestamp {
    run["ended"].as_str().unwrap().parse().unwrap()
}

#[test]
fn jobs_of_a_file_run_and_say_what_they_did() {
    let (place, mut random) = (Place::new(), Random::new(41));
    random.grow(&place.path("a"), 40);
    place.write("b/one.tmp", "1");
    place.write("b/two", "22");
    rest();
    place.jobs(
        "[[job]]\nname = 'a'\nsource = 'a'\ndestination = 'to-a'\nspecial_files = true\n\
         [[job]]\nname = 'b'\nsource = 'b'\ndestination = 'to-b'\nexclude = ['*.tmp']\nevery = '1d'\n",
    );
    let said = place.once(0);
    assert!(said.contains("a: complete: ") && said.contains("b: complete: "), "{said}");
    assert_equal(&place, "a", "to-a");
    assert!(place.has("to-b/two") && !place.has("to-b/one.tmp"));
    let view = place.view();
    assert_eq!(view["served"], false);
    let [a, b] = view["jobs"].as_array().unwrap().as_slice() else { panic!("{view}") };
    assert_eq!((&a["state"], &a["next_run"]), (&"done".into(), &Value::Null), "{a}");
    assert_eq!(b["state"], "waiting");
    assert!(b["next_run"].as_str().unwrap().parse::<Timestamp>().unwrap() > Timestamp::now());
    assert_eq!(b["runs"][0]["records"][0]["entries"]["copied"], 1, "{b}");
    // What was done is known: a further run finds nothing to do.
    place.once(0);
    let record = &place.view()["jobs"][0]["runs"][0]["records"][0];
    assert_eq!((&record["entries"]["copied"], &record["bytes"]["read_bytes"]), (&0.into(), &0.into()));
    let table = String::from_utf8(place.call(&["jobs"]).stdout).unwrap();
    assert!(table.contains("no server runs these jobs now") && table.contains("complete"), "{table}");
}

#[test]
fn a_killed_server_goes_on_where_it_was() {
    let place = Place::new();
    place.jobs(&place.slow_job("a"));
    let mut server = place.serve();
    place.wait("some files", "a", |job| job["progress"]["copied"].as_u64() > Some(1));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    place.wait_for_state("a", "interrupted");
    let there = files(&place.path("to-a"));
    assert!((1..20).contains(&there), "{there}");
    // The next one begins with it, without being told.
    let mut server = place.serve();
    place.wait_for_state("a", "running");
    let runs = place.job("a")["runs"].clone();
    assert_eq!(runs[1]["words"], "its server was killed", "{runs}");
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let text = place.read("sync.toml").replace("version = 1\n", "").replace("200kB/s", "off");
    place.jobs(&text);
    place.once(0);
    assert_equal(&place, "a", "to-a");
    let record = &place.view()["jobs"][0]["runs"][0]["records"][0];
    // What was there before the kill is not read again, but for what was not yet known to be durable.
    let copied = record["entries"]["copied"].as_u64().unwrap();
    assert!(copied < 20, "{record}");
}

#[test]
fn a_signal_stops_the_server_cleanly() {
    let place = Place::new();
    place.jobs(&place.slow_job("a"));
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let mut server = place.serve();
        place.wait_for_state("a", "running");
        server.signal(signal);
        assert_eq!(server.ended(), Some(code));
        // It goes on with the next server.
        let job = place.wait_for_state("a", "waiting");
        assert_eq!(job["runs"][0]["result"], "stopped", "{job}");
        assert!(job["next_run"].is_string(), "{job}");
    }
}

#[test]
fn the_same_job_never_runs_twice_at_once() {
    let place = Place::new();
    for number in 0..12 {
        place.write(&format!("a/{number}"), vec![number; 50_000]);
    }
    // Each run looks at every byte of the destination, and takes longer than the time between two.
    place.jobs(
        "[[job]]\nname = 'a'\nsource = 'a'\ndestination = 'to-a'\nevery = '1s'\nverify = 'all'\nbwlimit = '400kB/s'\n",
    );
    let _server = place.serve();
    place.wait("five runs", "a", |_| place.job("a")["runs"].as_array().unwrap().len() >= 5);
    let job = place.job("a");
    let runs: Vec<&Value> =
        job["runs"].as_array().unwrap().iter().filter(|run| run["ended"].is_string()).collect();
    assert!(runs.len() >= 4, "{job}");
    runs.windows(2).for_each(|pair| assert!(began(pair[0]) >= ended(pair[1]), "{job}"));
}

#[test]
fn the_highest_priority_goes_first_and_no_more_run_at_once_than_may() {
    let place = Place::new();
    let job = |(name, priority): (&str, i32)| {
        place.write(&format!("{name}/file"), name);
        format!(
            "[[job]]\nname = '{name}'\nsource = '{name}'\ndestination = 'to-{name}'\npriority = {priority}\n"
        )
    };
    let jobs: String = [("low", -5), ("middle", 0), ("high", 7), ("also-high", 7)].map(job).concat();
    place.jobs(&format!("at_once = 1\n{jobs}"));
    place.once(0);
    let view = place.view();
    let mut runs: Vec<(Timestamp, Timestamp, &str)> = view["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| (began(&job["runs"][0]), ended(&job["runs"][0]), job["name"].as_str().unwrap()))
        .collect();
    runs.sort();
    runs.windows(2).for_each(|pair| assert!(pair[1].0 >= pair[0].1, "{runs:?}"));
    let order: Vec<&str> = runs.iter().map(|run| run.2).collect();
    assert_eq!(order[2..], ["middle", "low"], "{runs:?}");
}

#[test]
fn a_run_that_failed_is_tried_again() {
    let place = Place::new();
    place.jobs(
        "[[job]]\nname = 'a'\nsource = 'a'\ndestination = 'to-a'\nretries = 1000\nretry_after = '1s'\n",
    );
    let _server = place.serve();
    let job = place.wait("a retry", "a", |job| job["attempt"].as_u64() >= Some(1));
    assert!(job["runs"][0]["words"].as_str().unwrap().contains("cannot find"), "{job}");
    place.write("a/file", "there now");
    place.wait_for_state("a", "done");
    assert_eq!(place.read("to-a/file"), "there now");
}

#[test]
fn a_run_that_fails_as_often_as_it_may_has_failed() {
    let place = Place::new();
    place.jobs("[[job]]\nname = 'a'\nsource = 'a'\ndestination = 'to-a'\nretries = 1\nretry_after = '1s'\n");
    let said = place.once(3);
    assert!(said.contains("tried again at"), "{said}");
    let job = place.job("a");
    assert_eq!((&job["state"], job["runs"].as_array().unwrap().len()), (&"failed".into(), 2), "{job}");
}

#[test]
fn a_watched_job_follows_its_source_and_takes_no_place() {
    let place = Place::new();
    place.write("a/first", "one");
    place.write("b/first", "one");
    place.jobs(
        "at_once = 1\n[[job]]\nname = 'a'\nsource = 'a'\ndestination = 'to-a'\nwatch = true\nwatch_by = 'inotify'\n\
         [[job]]\nname = 'b'\nsource = 'b'\ndestination = 'to-b'\npriority = -1\n",
    );
    let mut server = place.serve();
    place.wait_for_state("b", "done");
    place.wait("watching", "a", |job| job["progress"]["stage"] == "watch");
    place.write("a/second", "two");
    let began = std::time::Instant::now();
    while !place.has("to-a/second") {
        assert!(began.elapsed().as_secs() < 120, "{}", place.view());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(143));
    assert_equal(&place, "a", "to-a");
}
