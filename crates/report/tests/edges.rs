//! Records that are hardly there, huge, or nonsense: no panic, no NaN, and the page stays small.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may panic")]

use proptest::prelude::*;
use record::{Interval, Mark, RunRecord, RunState};
use testkit::samples::Sample;
use units::{Bandwidth, Bytes};

fn small() -> Sample {
    Sample { seconds: 3, repetitions: 1, ranks: 2, latencies_per_interval: 20, ..Sample::default() }
}

/// Everything that can be made of a record; returns the page.
fn all(record: &RunRecord) -> String {
    let page = report::html(record).unwrap();
    let markdown = report::markdown(record);
    let (phases, series) = (report::phases_csv(record).unwrap(), report::series_csv(record).unwrap());
    for text in [&page, &markdown, &phases, &series] {
        for nonsense in ["NaN", "inf ", "inf<", ">inf", "-0.0 "] {
            assert!(!text.contains(nonsense), "`{nonsense}` in {}", &text[..200]);
        }
    }
    page
}

#[test]
fn a_run_without_tests() {
    for state in [RunState::Running, RunState::Interrupted, RunState::Failed, RunState::Complete] {
        let page = all(&Sample { state, ..small() }.build_without_tests());
        assert!(page.contains("not measured"));
        assert!(!page.contains("id=\"latency\""));
    }
}

#[test]
fn a_test_that_was_stopped_before_its_first_phase() {
    let mut record = Sample { state: RunState::Interrupted, ..small() }.build();
    record.tests[0].repetitions[0].phases.clear();
    all(&record);
    record.tests[0].repetitions.clear();
    all(&record);
}

#[test]
fn a_phase_in_only_some_repetitions() {
    let mut record = Sample { repetitions: 3, state: RunState::Interrupted, ..small() }.build();
    record.tests[0].repetitions[2].phases.pop();
    let page = all(&record);
    assert!(page.contains("work · read"));
}

#[test]
fn one_phase_one_rank_one_interval() {
    let mut record = Sample { ranks: 1, ..small() }.build();
    for repetition in &mut record.tests[0].repetitions {
        repetition.phases.truncate(1);
        repetition.phases[0].series.truncate(1);
    }
    let page = all(&record);
    assert!(page.contains("One rank took part"));
}

#[test]
fn phases_without_series_ranks_or_time() {
    let mut record = small().build();
    for phase in record.tests[0].repetitions.iter_mut().flat_map(|repetition| &mut repetition.phases) {
        phase.series.clear();
        phase.ranks.clear();
        phase.operations.clear();
        phase.first_done = Mark::default();
        phase.last_done = Mark::default();
        phase.limit = None;
        phase.checks.clear();
    }
    record.tests[0].checks.clear();
    record.environment = host::Environment::default();
    let page = all(&record);
    assert!(page.contains("No check was made"));
}

#[test]
fn intervals_of_no_length() {
    let mut record = small().build();
    let empty = Interval { start_ns: 0, length_ns: 0, operations: Vec::new(), cpu: None };
    for phase in record.tests[0].repetitions.iter_mut().flat_map(|repetition| &mut repetition.phases) {
        phase.series = vec![empty.clone(), empty.clone()];
    }
    all(&record);
}

#[test]
fn phases_that_move_no_bytes_are_counted_in_operations() {
    let page = all(&Sample { with_metadata_phase: true, ..small() }.build());
    assert!(page.contains("work · stat: throughput of all ranks (op/s)"));
}

#[test]
fn figures_that_are_not_numbers_become_dashes() {
    let mut record = small().build();
    for requirement in &mut record.requirements {
        requirement.margin = Some(f64::NAN);
        requirement.required_per_pcore = Bandwidth::bytes_per_second(f64::INFINITY);
    }
    all(&record);
}

#[test]
fn five_hundred_ranks_become_a_curve() {
    let page = all(&Sample { ranks: 500, ..small() }.build());
    assert!(page.contains("ranks, slowest first") && page.contains("the 64 slowest of 500 ranks"));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

#[test]
fn an_hour_of_seconds_stays_a_small_page() {
    let mut record =
        Sample { seconds: 3600, latencies_per_interval: 5, repetitions: 1, ranks: 4, ..Sample::default() }
            .build();
    let again = record.tests[0].repetitions[0].clone();
    record.tests[0].repetitions.push(record::Repetition { number: 2, ..again });
    let page = all(&record);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let rows = report::series_csv(&record).unwrap().lines().count();
    assert!(rows > 4 * 3600, "the export keeps every second: {rows} rows");
}

#[test]
fn many_repetitions_stay_a_small_page() {
    let page = all(&Sample { repetitions: 40, seconds: 20, ..small() }.build());
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_record_makes_a_report(
        ranks in 0u32..80,
        repetitions in 0u32..5,
        seconds in 0u32..12,
        write_mb in prop_oneof![Just(0.001), 0.1..1e6f64],
        required_mb in proptest::option::of(prop_oneof![Just(0.0), 0.001..1e7f64]),
        metadata in any::<bool>(),
        failed in any::<bool>(),
        label in proptest::option::of(".{0,40}"),
        hostname in ".{0,40}",
        scale in 0u64..1000,
    ) {
        let sample = Sample {
            ranks, repetitions, seconds, write_mb, required_mb, label, hostname,
            with_metadata_phase: metadata,
            with_failed_check: failed,
            latencies_per_interval: 3,
            ..Sample::default()
        };
        let mut record = sample.build();
        // Numbers that no engine measures, but a damaged or foreign record may hold.
        for phase in record.tests[0].repetitions.iter_mut().flat_map(|repetition| &mut repetition.phases) {
            phase.last_done.bytes = Bytes::new(phase.last_done.bytes.get().wrapping_mul(scale));
            phase.last_done.elapsed_ns = phase.last_done.elapsed_ns.wrapping_mul(scale) >> 1;
        }
        let page = all(&record);
        prop_assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    }
}
