//! What runs teach: factors for plans, and where a run stands among published results.

use record::{Direction, RunRecord, Spread, Store, Validity};
use serde_json::Value;
use testkit::samples::Sample;
use units::Bandwidth;

use crate::transcript::{Call, Place};

const DESIGN: &str = include_str!("../../../../examples/sas-azure-paper.design.toml");
const RUN: &str = "20261121-214226-3f9a1c";

/// A run of all 48 pCores on all 24 clients of the paper's design.
fn run(id: &str, write_mb: f64, read_mb: f64) -> RunRecord {
    let sample = Sample {
        ranks: 48,
        repetitions: 1,
        latencies_per_interval: 1,
        required_mb: Some(100.0),
        ..Sample::default()
    };
    let mut run = RunRecord { id: id.to_owned(), ..sample.build() };
    for phase in run.tests.iter_mut().flat_map(|test| &mut test.repetitions).flat_map(|one| &mut one.phases) {
        for rank in &mut phase.ranks {
            rank.host = format!("client-{}", rank.rank / 2);
        }
    }
    for verdict in &mut run.requirements {
        "data".clone_into(&mut verdict.storage);
        let rate =
            Bandwidth::mb_per_second(if verdict.direction == Direction::Write { write_mb } else { read_mb });
        verdict.measured_per_pcore = Some(Spread {
            median_bytes_per_second: rate,
            min_bytes_per_second: rate,
            max_bytes_per_second: rate,
        });
    }
    run
}

fn place(runs: &[RunRecord]) -> Place {
    let place = Place::new();
    let store = Store::open(place.path().join(".local/share/forebay/runs")).unwrap();
    for run in runs {
        store.save(run).unwrap();
    }
    place.write("design.toml", DESIGN);
    place
}

fn calibrate(place: &Place, runs: &[&str]) -> Call {
    let rest = ["--design", "design.toml", "--to", "facts", "--format", "json"];
    place.call(&[&["catalog", "calibrate"], runs, &rest].concat())
}

fn json(call: &Call) -> Value {
    serde_json::from_str(&call.out).unwrap_or_else(|_| panic!("{}\n{}", call.out, call.err))
}

#[test]
fn after_calibrating_the_design_gives_what_was_measured() {
    let place = place(&[run(RUN, 170.0, 0.0)]);
    let call = calibrate(&place, &["latest"]);
    assert_eq!(call.code, 0, "{}", call.err);
    let factors = json(&call)["data"]["factors"].clone();
    assert_eq!(factors.as_array().unwrap().len(), 1, "{factors}");
    assert_eq!((&factors[0]["operation"], &factors[0]["n"]), (&"write".into(), &1.into()));
    let check =
        json(&place.call(&["plan", "check", "design.toml", "--catalog", "facts", "--format", "json"]));
    let storage = &check["data"]["design"]["storages"][0];
    let delivered = storage["delivered_per_pcore"]["write_bytes_per_second"].as_f64().unwrap();
    assert!((delivered / 170e6 - 1.0).abs() < 1e-4, "{delivered}");
    assert_eq!(storage["write_factor"]["basis"], "measured");
}

#[test]
fn runs_add_up_and_none_counts_twice() {
    let second = "20261122-101500-aa01bc";
    let place = place(&[run(RUN, 170.0, 0.0), run(second, 180.0, 0.0)]);
    let n = |runs: &[&str]| json(&calibrate(&place, runs))["data"]["factors"][0]["n"].clone();
    assert_eq!(
        (n(&[RUN]), n(&[RUN, RUN]), n(&[second]), n(&[RUN])),
        (1.into(), 1.into(), 2.into(), 2.into())
    );
    let row = place.read("facts/calibration.csv");
    assert!(row.contains(&format!("\"runs {RUN}, {second}\"")), "{row}");
    assert_eq!(place.call(&["catalog", "check", "--catalog", "facts"]).code, 0);
}

#[test]
fn reads_from_memory_and_results_that_are_not_valid_teach_nothing() {
    let cached = run(RUN, 170.0, 300.0);
    let mut wrong = run("20261122-101500-aa01bc", 170.0, 300.0);
    wrong.requirements.iter_mut().for_each(|verdict| verdict.validity = Validity::NotValid);
    let place = place(&[cached, wrong]);
    let call = json(&calibrate(&place, &[RUN]));
    let why = call["data"]["left_out"][0]["why"].as_str().unwrap();
    assert!(why.contains("fits in the memory of the servers"), "{why}");
    let before = place.read("facts/calibration.csv");
    let call = calibrate(&place, &["latest"]);
    assert_eq!(call.code, 1);
    assert!(call.err.contains("no result of these runs can calibrate a plan"), "{}", call.err);
    assert_eq!(place.read("facts/calibration.csv"), before);
    let call = place.call(&["catalog", "calibrate", "latest"]);
    assert!(call.code == 2 && call.err.contains("--design design.toml"), "{}", call.err);
}

#[test]
fn a_run_stands_beside_published_results() {
    let place = place(&[run(RUN, 170.0, 200.0)]);
    let call = place.call(&["runs", "compare", RUN, "--with", "published"]);
    assert_eq!(call.code, 0, "{}", call.err);
    assert!(call.out.contains("from memory:") && call.out.contains("beside read of iotest"), "{}", call.out);
    let document = json(&place.call(&["runs", "compare", RUN, "--with", "published", "--format", "json"]));
    let figures = document["data"]["figures"].as_array().unwrap();
    let read = figures.iter().find(|figure| figure["operation"] == "read").unwrap();
    let result =
        |id: &str| read["published"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap().clone();
    let paper = result("sas-lustre-azure/24xE8-4s_v3/read");
    assert_eq!((&paper["per"], &paper["value"]), (&"pcore".into(), &353.0.into()));
    let own = read["bytes_per_second_per_pcore"].as_f64().unwrap();
    assert!((paper["ratio"].as_f64().unwrap() - own / 353e6).abs() < 1e-9);
    assert!(paper["cached"].as_str().unwrap().contains("memory"));
    let ior = json(&place.call(&[
        "runs",
        "compare",
        RUN,
        "--with",
        "published",
        "--test",
        "ior",
        "--format",
        "json",
    ]));
    assert!(ior["data"]["figures"][0]["published"].as_array().unwrap().len() > 5);
}

#[test]
fn a_comparison_with_the_published_says_what_is_wrong_with_the_question() {
    let place = place(&[run(RUN, 170.0, 200.0)]);
    let call = place.call(&["runs", "compare", RUN, "--with", "published", "--test", "iortest"]);
    assert!(call.code == 2 && call.err.contains("did you mean `iotest`?"), "{}", call.err);
    assert_eq!(place.call(&["runs", "compare", RUN]).code, 2);
    assert_eq!(place.call(&["runs", "compare", RUN, RUN, "--with", "published"]).code, 2);
    let call = place.call(&["runs", "compare", RUN, "--with", "published", "--test", "io500"]);
    assert!(call.code == 1 && call.err.contains("nothing is published"), "{}", call.err);
}
