//! The matrix of a run and the answer of a search in every form of the report.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use record::{Load, RunRecord, Search, SearchKind, SearchPoint};
use serde_json::json;
use testkit::samples::Sample;
use units::{Bandwidth, Iops};

/// Four points: reads and writes, random and sequential.
fn matrix() -> RunRecord {
    let mut record =
        Sample { ranks: 2, repetitions: 1, seconds: 6, latencies_per_interval: 20, ..Sample::default() }
            .build();
    let test = &mut record.tests[0];
    let phases = test.repetitions[0].phases.clone();
    let (mut shapes, mut results) = (Vec::new(), Vec::new());
    for (phase, read) in [(&phases[1], "100%"), (&phases[0], "0%")] {
        for order in ["random", "sequential"] {
            let name = format!("{read} {order}");
            shapes.push(json!({
                "name": name,
                "stop": { "time": "6s" },
                "warm_up": "2s",
                "jobs": [{ "activity": { "transfer": {
                    "read": read, "order": order, "transfer_size": { "fixed": "64 KiB" }, "queue_depth": 4,
                } } }],
            }));
            results.push(record::PhaseResult { name, ..phase.clone() });
        }
    }
    test.workload = json!({ "ranks": 2, "phases": shapes });
    test.repetitions[0].phases = results;
    record
}

#[test]
fn every_form_has_every_point_and_its_figures_are_the_records() {
    let record = matrix();
    let matrices = record.matrices();
    assert_eq!((matrices.len(), matrices[0].depth, matrices[0].points.len()), (1, 8, 4));

    let csv = report::matrix_csv(&record).unwrap().unwrap();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let names = reader.headers().unwrap().clone();
    let column = |name: &str| names.iter().position(|own| own == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    for row in &rows {
        let seek = if &row[column("seek_percent")] == "100" { "random" } else { "sequential" };
        let phase = record.tests[0]
            .phases(&format!("{}% {seek}", &row[column("read_percent")]))
            .next()
            .unwrap()
            .clone();
        let counted =
            phase.series.iter().filter(|own| (2_000_000_000..6_000_000_000).contains(&own.start_ns));
        let operations: u64 = counted.flat_map(|own| &own.operations).map(|own| own.operations).sum();
        assert_eq!(row[column("operations")].parse::<u64>().unwrap(), operations);
    }

    let svg = report::matrix_svg(&record).unwrap();
    assert_eq!(
        svg.matches("<rect").count(),
        1 + 3 * 4,
        "the ground, and a cell for each figure of each point"
    );
    assert!(svg.contains("prefers-color-scheme:dark") && svg.starts_with("<svg xmlns="));
    let html = report::html(&record).unwrap();
    assert!(html.contains("id=\"matrix\"") && html.contains("Little"));
    assert!(report::markdown(&record).contains("In flight (Little)"));
}

#[test]
fn a_run_without_such_points_has_no_matrix() {
    let record = Sample::default().build();
    assert!(report::matrix_csv(&record).unwrap().is_none() && report::matrix_svg(&record).is_none());
    assert!(!report::html(&record).unwrap().contains("id=\"matrix\""));
}

#[test]
fn the_answer_of_a_search_leads_its_section() {
    let point = |load: f64, rate: f64| SearchPoint {
        test: format!("search: depth {load}"),
        load: Some(load),
        operations_per_second: Iops::new(rate),
        bandwidth_bytes_per_second: Bandwidth::bytes_per_second(rate * 4096.0),
        latency_mean_ns: (load / rate * 1e9) as u64,
        latency_p50_ns: (load / rate * 1e9) as u64,
        latency_p99_ns: (load / rate * 3e9) as u64,
        kept: None,
    };
    let points =
        vec![point(1.0, 9e3), point(2.0, 17e3), point(4.0, 31e3), point(8.0, 31.2e3), point(16.0, 30.8e3)];
    let search = Search {
        kind: SearchKind::Saturation,
        load: Load::QueueDepth,
        phase: "read".to_owned(),
        points,
        found: Some(4.0),
        proven: true,
        target_ns: None,
        sentence: "throughput stops growing at depth 4".to_owned(),
    };
    let record = RunRecord { search: Some(search), ..Sample::default().build() };
    let html = report::html(&record).unwrap();
    let section = html.split("id=\"search\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(
        section.contains("throughput stops growing at depth 4.") && section.matches("<figure>").count() == 2
    );
    assert!(section.contains("depth 16") && report::markdown(&record).contains("stops growing at depth 4"));
}
