//! The exports hold a row for everything, with units in the column names.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may panic")]

use testkit::samples::Sample;

fn rows(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
    (header, rows)
}

fn sample() -> record::RunRecord {
    Sample { seconds: 5, latencies_per_interval: 30, ..Sample::default() }.build()
}

#[test]
fn one_row_per_phase_and_repetition() {
    let record = sample();
    let (header, rows) = rows(&report::phases_csv(&record).unwrap());
    assert_eq!(rows.len(), 2 * 3);
    let column = |name: &str| header.iter().position(|title| title == name).expect(name);
    let first = &record.tests[0].repetitions[0].phases[0];
    assert_eq!(rows[0][column("bytes")], first.last_done.bytes.get().to_string());
    assert_eq!(rows[0][column("closed_ns")], first.closed().as_nanos().to_string());
    let rate: f64 = rows[0][column("rate_per_rank_bytes_per_second")].parse().unwrap();
    assert!((rate - first.rate_per_rank().get()).abs() < 0.001);
    let p99: u128 = rows[0][column("latency_p99_ns")].parse().unwrap();
    assert_eq!(p99, first.operations[0].latency.percentile(99.0).as_nanos());
}

#[test]
fn one_row_per_interval_and_their_bytes_add_up() {
    let record = sample();
    let (header, rows) = rows(&report::series_csv(&record).unwrap());
    let phases = || record.tests[0].repetitions.iter().flat_map(|repetition| &repetition.phases);
    assert_eq!(rows.len(), phases().map(|phase| phase.series.len()).sum::<usize>());
    let column = header.iter().position(|title| title == "bytes").unwrap();
    let sum: u64 = rows.iter().map(|row| row[column].parse::<u64>().unwrap()).sum();
    assert_eq!(sum, phases().map(|phase| phase.last_done.bytes.get()).sum::<u64>());
}

#[test]
fn quantities_name_their_unit() {
    let record = sample();
    let quantities =
        ["latency", "bandwidth", "rate", "done", "start", "length", "closed", "synced", "transfer"];
    for text in [report::phases_csv(&record).unwrap(), report::series_csv(&record).unwrap()] {
        for title in rows(&text).0 {
            let is_quantity = quantities.iter().any(|quantity| title.starts_with(quantity));
            let has_unit = ["_ns", "bytes", "_per_second"].iter().any(|unit| title.ends_with(unit));
            assert!(!is_quantity || has_unit, "{title}");
        }
    }
}

#[test]
fn a_hostile_name_stays_one_field() {
    let mut record = sample();
    record.tests[0].name = "a,b\"\nc".to_owned();
    let (header, rows) = rows(&report::phases_csv(&record).unwrap());
    assert_eq!(rows[0].len(), header.len());
    assert_eq!(rows[0][1], "a,b\"\nc");
}

#[test]
fn a_run_without_tests_is_a_header() {
    let record = Sample::default().build_without_tests();
    assert_eq!(report::phases_csv(&record).unwrap().lines().count(), 1);
    assert_eq!(report::series_csv(&record).unwrap().lines().count(), 1);
}
