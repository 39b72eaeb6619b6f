//! What a person sees of a finished run.

use anstream::adapter::strip_str;
use record::{RunError, RunState};
use testkit::samples::Sample;

fn summary(sample: &Sample) -> String {
    strip_str(&console::summary(&sample.build())).to_string()
}

#[test]
fn a_run_that_meets_its_requirements() {
    insta::assert_snapshot!(summary(&Sample::default()));
}

#[test]
fn a_run_that_is_too_slow_and_not_valid() {
    let sample = Sample { write_mb: 90.0, with_failed_check: true, on_lustre: true, ..Sample::default() };
    insta::assert_snapshot!(summary(&sample));
}

#[test]
fn a_run_beside_the_limits_of_its_design() {
    let sample = Sample { design: Some(testkit::plans::for_a_run()), ..Sample::default() };
    let text = summary(&sample);
    let from = text.find("design: Lustre").unwrap();
    let to = text.find("work: 8 ranks").unwrap();
    insta::assert_snapshot!(text[from..to].trim_end().to_owned());
}

#[test]
fn a_run_that_ended_early_says_why_and_what_to_do() {
    let error =
        RunError { message: "no space left on device".into(), hint: Some("use a smaller size".into()) };
    let sample =
        Sample { state: RunState::Failed, error: Some(error), required_mb: None, ..Sample::default() };
    let text = summary(&sample);
    assert!(text.contains("ended early: no space left on device\nhint: use a smaller size"), "{text}");
    assert!(text.ends_with("numbers: not valid"), "{text}");
}

#[test]
fn metadata_phases_have_no_bandwidth() {
    let text = summary(&Sample { with_metadata_phase: true, ..Sample::default() });
    let stat = text.lines().find(|line| line.starts_with("stat ")).unwrap();
    assert!(stat.contains(" - ") && stat.contains("op/s") && !stat.contains("B/s"), "{stat}");
}

#[test]
fn two_runs_side_by_side() {
    let sample = |write_mb, id: &str| {
        let sample = Sample { repetitions: 5, write_mb, ..Sample::default() };
        record::RunRecord { id: id.to_owned(), ..sample.build() }
    };
    let (before, after) = (sample(90.0, "20261120-101500-aa01bc"), sample(171.0, "20261121-214226-3f9a1c"));
    let comparison = record::compare(&before, &after).unwrap();
    insta::assert_snapshot!(strip_str(&console::comparison(&comparison)).to_string());
}

#[test]
fn hosts_have_a_table_of_their_own_where_there_are_several() {
    let sample = Sample { ranks: 4, repetitions: 2, seconds: 5, ..Sample::default() };
    let record = testkit::samples::over_hosts(sample.build(), &["node1", "node2"]);
    let text = anstream::adapter::strip_str(&console::summary(&record)).to_string();
    let rows: Vec<&str> =
        text.lines().filter(|line| line.contains("node1") || line.contains("node2")).collect();
    assert!(rows.len() >= 2 * 2, "{text}");
    assert!(rows.iter().all(|row| row.contains("client NIC") && row.contains("31 %")), "{text}");
    assert!(!summary(&sample).contains("CPU busy"), "one host has none");
}
