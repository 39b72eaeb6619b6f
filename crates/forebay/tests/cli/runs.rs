//! `forebay runs`: the store as the command line shows it.

use record::{RunRecord, Store};
use testkit::samples::Sample;

use crate::transcript::Place;

/// Saves `record` where this place's runs are kept.
fn keep(place: &Place, record: &RunRecord) {
    Store::open(place.path().join(".local/share/forebay/runs")).unwrap().save(record).unwrap();
}

fn with_id(id: &str, sample: &Sample) -> RunRecord {
    RunRecord { id: id.to_owned(), ..sample.build() }
}

const OLD: &str = "20261120-101500-aa01bc";
const NEW: &str = "20261121-214226-3f9a1c";

fn two_runs() -> Place {
    let place = Place::new();
    keep(&place, &with_id(OLD, &Sample { write_mb: 90.0, ..Sample::default() }));
    keep(&place, &with_id(NEW, &Sample { label: None, ..Sample::default() }));
    place
}

#[test]
fn an_empty_store_is_no_error() {
    let place = Place::new();
    insta::assert_snapshot!(place.transcript(&["runs", "list"]), @r"
    $ forebay runs list
    exit: 0
    --- stdout
    --- stderr
    no runs in [dir]/.local/share/forebay/runs
    ");
    insta::assert_snapshot!(place.transcript(&["runs", "list", "--format", "json"]), @r#"
    $ forebay runs list --format json
    exit: 0
    --- stdout
    {
      "forebay": "[version]",
      "kind": "runs",
      "data": []
    }
    --- stderr
    no runs in [dir]/.local/share/forebay/runs
    "#);
    insta::assert_snapshot!(place.transcript(&["runs", "list", "--format", "jsonl"]), @r"
    $ forebay runs list --format jsonl
    exit: 0
    --- stdout
    --- stderr
    no runs in [dir]/.local/share/forebay/runs
    ");
}

#[test]
fn a_run_that_is_not_there() {
    let place = Place::new();
    insta::assert_snapshot!(place.transcript(&["runs", "show", "20261121"]), @r"
    $ forebay runs show 20261121
    exit: 1
    --- stdout
    --- stderr
    error: no run `20261121`
    hint: `forebay runs list` shows what there is
    ");
    insta::assert_snapshot!(place.transcript(&["runs", "show"]), @r"
    $ forebay runs show
    exit: 1
    --- stdout
    --- stderr
    error: no runs in `[dir]/.local/share/forebay/runs`
    hint: run a test first (`forebay prove`, `forebay iotest`), or name the directory with `--runs-dir`
    ");
}

#[test]
fn runs_are_listed_newest_first() {
    let place = two_runs();
    insta::assert_snapshot!(place.transcript(&["runs", "list"]));
    let newest = place.call(&["runs", "list", "--limit", "1", "--format", "jsonl"]).out;
    let summary: serde_json::Value = serde_json::from_str(&newest).unwrap();
    assert_eq!(summary["id"], NEW);
}

#[test]
fn a_damaged_record_is_listed_with_the_reason() {
    let place = two_runs();
    place.write(&format!(".local/share/forebay/runs/{OLD}.json"), "{");
    let call = place.call(&["runs", "list"]);
    assert_eq!(call.code, 0);
    assert!(call.out.contains("damaged"), "{}", call.out);
    assert!(call.err.contains(OLD), "{}", call.err);
    assert_eq!(place.call(&["runs", "show", OLD]).code, 1);
}

#[test]
fn a_run_is_shown_as_text_or_as_its_document() {
    let place = two_runs();
    let text = place.call(&["runs", "show", OLD]);
    assert!(text.out.contains("not met"), "{}", text.out);
    let json: serde_json::Value =
        serde_json::from_str(&place.call(&["runs", "show", "--format", "json"]).out).unwrap();
    assert_eq!((json["kind"].as_str(), json["data"]["id"].as_str()), (Some("run"), Some(NEW)));
}

#[test]
fn only_named_runs_are_removed() {
    let place = two_runs();
    assert_eq!(place.call(&["runs", "rm"]).code, 2);
    assert_eq!(place.call(&["runs", "rm", "2026"]).code, 1);
    assert_eq!(place.call(&["runs", "rm", "latest"]).code, 1);
    insta::assert_snapshot!(format!("exit: {}", place.call(&["runs", "rm", OLD, "20200101-000000-ffffff"]).code), @r"exit: 3");
    assert!(place.call(&["runs", "show", NEW]).code == 0 && place.call(&["runs", "show", OLD]).code == 1);
}

#[test]
fn a_comparison_says_which_differences_are_larger_than_the_noise() {
    let place = Place::new();
    let sample = |write_mb| Sample { repetitions: 5, write_mb, ..Sample::default() };
    keep(&place, &with_id(OLD, &sample(90.0)));
    keep(&place, &with_id(NEW, &sample(171.0)));
    let text = place.call(&["runs", "compare", OLD, "latest"]);
    assert_eq!(text.code, 0, "{}", text.err);
    assert!(text.out.contains("better") && text.out.contains("within the noise"), "{}", text.out);
    let json = place.call(&["runs", "compare", OLD, "latest", "--format", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["kind"].as_str(), json["data"]["a"].as_str()), (Some("comparison"), Some(OLD)));
}

#[test]
fn unlike_runs_are_compared_only_by_force() {
    let place = Place::new();
    keep(&place, &with_id(OLD, &Sample { ranks: 4, ..Sample::default() }));
    keep(&place, &with_id(NEW, &Sample::default()));
    let refused = place.call(&["runs", "compare", OLD, NEW]);
    assert_eq!((refused.code, refused.out.as_str()), (1, ""));
    assert!(
        refused.err.contains("did not do the same") && refused.err.contains("--force"),
        "{}",
        refused.err
    );
    let forced = place.call(&["runs", "compare", OLD, NEW, "--force"]);
    assert_eq!(forced.code, 0);
    assert!(forced.out.contains("not the same: "), "{}", forced.out);
}

#[test]
fn exports_are_tables_lines_and_the_document() {
    let place = two_runs();
    let export = |shape: &str| place.call(&["runs", "export", "latest", "--as", shape]).out;
    let (csv, jsonl) = (export("csv"), export("jsonl"));
    assert_eq!(csv.lines().count(), jsonl.lines().count() + 1);
    assert!(export("series-csv").lines().count() > csv.lines().count());
    let row: serde_json::Value = serde_json::from_str(jsonl.lines().next().unwrap()).unwrap();
    assert!(row["bandwidth_bytes_per_second"].is_number() && row["phase"].is_string(), "{row}");
    let record: RunRecord = serde_json::from_str(&export("json")).unwrap();
    assert_eq!(record.id, NEW);
    let written = place.call(&["runs", "export", "latest", "--output", "phases.csv"]);
    assert_eq!((written.out.as_str(), written.err.as_str()), ("", "wrote phases.csv\n"));
    assert_eq!(place.read("phases.csv"), csv);
}

#[test]
fn a_report_is_written_where_it_is_wanted() {
    let place = two_runs();
    assert_eq!(place.call(&["runs", "report"]).code, 0);
    assert!(place.read(&format!("forebay-{NEW}.html")).contains("<html"));
    let markdown = place.call(&["runs", "report", OLD, "--md", "--output", "-"]);
    assert!(markdown.out.starts_with('#'), "{}", markdown.out);
    assert_eq!(place.call(&["runs", "report", "--output", "no/such/folder.html"]).code, 1);
}

#[test]
fn another_directory_for_runs_by_flag_or_by_environment() {
    let place = two_runs();
    let elsewhere = place.call(&["runs", "list", "--runs-dir", "other"]);
    assert!(elsewhere.err.contains("no runs in other"), "{}", elsewhere.err);
    let output = place.command(&["runs", "list"]).env("FOREBAY_RUNS_DIR", "third").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("no runs in third"));
}
