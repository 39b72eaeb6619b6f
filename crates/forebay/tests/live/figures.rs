//! Live events as lines, and figures for Prometheus.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::Place;

#[test]
fn every_event_is_a_line_of_json() {
    let place = Place::new();
    let output = place.run(&["--live-json", "live.jsonl"]).output().unwrap();
    assert!(output.status.code().is_some_and(|code| code != 1), "{output:?}");
    let text = std::fs::read_to_string(place.path("live.jsonl")).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!((named("run_started"), named("phase_started"), named("run_finished")), (1, 1, 1));
    assert!(named("progress") >= 2, "{text}");
    let progress = events.iter().find(|event| event["event"] == "progress").unwrap();
    assert!(progress["bytes_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(progress["slowest"].as_array().unwrap().len(), 2);
}

#[test]
fn events_on_standard_error_stand_alone() {
    let place = Place::new();
    let output = place.run(&["--live-json", "-"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let events = text.lines().filter(|line| line.starts_with("{\"event\":")).count();
    assert!(events >= 5, "{text}");
    assert!(!text.contains("write done"), "no lines for people between them: {text}");
}

#[test]
fn a_place_that_cannot_be_written_is_told_before_anything_runs() {
    let place = Place::new();
    let output = place.run(&["--live-json", "missing/live.jsonl"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("missing/live.jsonl"));
    assert!(!place.path("runs").exists());
}

#[test]
fn prometheus_sees_a_run_while_it_goes_on() {
    let place = Place::new();
    let mut command = place.run(&["--metrics", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let address = lines.find_map(|line| line.strip_prefix("live figures: ").map(str::to_owned)).unwrap();
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
    let figures = || ureq::get(&address).call().ok()?.body_mut().read_to_string().ok();
    let mut seen = String::new();
    while let Some(text) = figures() {
        if text.contains("quantile=\"0.99\"") {
            seen = text;
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(seen.contains("forebay_phase{test=\"workload\",phase=\"write\",repetition=\"1\"} 1"), "{seen}");
    assert!(seen.contains("forebay_ranks 2"), "{seen}");
    let moved = seen.lines().find_map(|line| line.strip_prefix("forebay_moved_bytes_total ")).unwrap();
    assert!(moved.parse::<u64>().unwrap() > 0);
    drop(lines);
    assert!(child.wait().unwrap().code().is_some_and(|code| code != 1));
    assert!(figures().is_none(), "it no longer listens");
}

#[test]
fn a_taken_port_is_told_before_anything_runs() {
    let place = Place::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = place.run(&["--metrics", &address]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains(&address) && text.contains("hint: "), "{text}");
    assert!(!place.path("runs").exists());
}
