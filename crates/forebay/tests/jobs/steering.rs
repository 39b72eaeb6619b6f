//! Who says what to a server, and what stays of it.

use serde_json::Value;

use crate::server::{Place, files};

#[test]
fn pause_resume_and_cancel_reach_a_running_server_and_outlive_it() {
    let place = Place::new();
    place.jobs(&place.slow_job("a"));
    let well = |words: &[&str]| {
        let output = place.call(words);
        assert!(output.status.success(), "{output:?}");
    };
    let mut server = place.serve();
    place.wait_for_state("a", "running");
    well(&["pause", "a"]);
    let job = place.wait_for_state("a", "paused");
    assert_eq!((&job["runs"][0]["result"], &job["next_run"]), (&"stopped".into(), &Value::Null), "{job}");
    // Neither a restart nor a kill forgets it.
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let mut server = place.serve();
    place.wait("served", "a", |job| job["state"] == "paused" && place.view()["served"] == true);
    let there = files(&place.path("to-a"));
    well(&["resume", "a"]);
    place.wait_for_state("a", "running");
    assert!(files(&place.path("to-a")) >= there);
    well(&["cancel", "a"]);
    let job = place.wait_for_state("a", "cancelled");
    assert_eq!(job["next_run"], Value::Null, "{job}");
    server.signal("-TERM");
    server.ended();
    // With nobody there, a wish waits.
    let output = place.call(&["resume", "a"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("the next one will know"), "{output:?}");
    let _server = place.serve();
    place.wait_for_state("a", "running");
}

#[test]
fn what_changes_nothing_is_refused_with_what_there_is() {
    let place = Place::new();
    place.write("projects/file", "one");
    place.jobs("[[job]]\nname = 'projects'\nsource = 'projects'\ndestination = 'to'\nevery = '1d'\n");
    let refused = |words: &[&str], code: i32, expected: &str| {
        let output = place.call(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(expected) && said.contains("hint: "), "{expected:?} is missing in {said}");
    };
    refused(&["pause", "projects"], 1, "`forebay sync serve` has not run here yet");
    place.once(0);
    refused(&["pause", "project"], 1, "did you mean `projects`?");
    refused(&["cancel", "projects"], 1, "has nothing to cancel");
    assert!(place.call(&["pause", "projects"]).status.success());
    refused(&["pause", "projects"], 1, "is paused already");
    refused(&["jobs", "other"], 1, "there are `projects`");
    assert_eq!(place.call(&["pause"]).status.code(), Some(2));
}

#[test]
fn a_second_server_is_refused() {
    let place = Place::new();
    place.jobs(&place.slow_job("a"));
    let _server = place.serve();
    place.wait_for_state("a", "running");
    for flags in [&["serve"][..], &["serve", "--once"]] {
        let output = place.call(flags);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("another `forebay sync serve` runs the jobs"), "{said}");
    }
}

#[test]
fn a_changed_file_is_taken_up_and_a_wrong_one_changes_nothing() {
    let place = Place::new();
    let job = |name: &str, more: &str| {
        place.write(&format!("{name}/file"), name);
        format!("[[job]]\nname = '{name}'\nsource = '{name}'\ndestination = 'to-{name}'\n{more}")
    };
    place.jobs(&job("a", ""));
    let server = place.serve();
    place.wait_for_state("a", "done");
    // Seen by its times.
    place.jobs(&(job("a", "") + &job("b", "")));
    place.wait_for_state("b", "done");
    // A wrong one is passed over, and the next right one is not.
    place.jobs("[[job]]\nname = 'a'\nsauce = 'a'\n");
    server.signal("-HUP");
    place.jobs(&(job("b", "") + &job("c", "")));
    server.signal("-HUP");
    place.wait_for_state("c", "done");
    let names: Vec<String> = place.view()["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["b", "c"]);
    // What did not change did not run again; what says something else does.
    assert_eq!(place.job("b")["runs"].as_array().unwrap().len(), 1);
    place.jobs(&(job("b", "exclude = ['x']\n") + &job("c", "")));
    place.wait("b again", "b", |_| place.job("b")["runs"].as_array().unwrap().len() == 2);
    assert_eq!(place.job("c")["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_job_that_is_gone_from_the_file_stops() {
    let place = Place::new();
    let (a, b) = (place.slow_job("a"), place.slow_job("b"));
    place.jobs(&(a + &b));
    let _server = place.serve();
    place.wait_for_state("a", "running");
    place.wait_for_state("b", "running");
    place.jobs(&b);
    let began = std::time::Instant::now();
    while place.view()["jobs"].as_array().unwrap().len() > 1 {
        assert!(began.elapsed().as_secs() < 120, "{}", place.view());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(place.view()["jobs"][0]["name"], "b");
}
