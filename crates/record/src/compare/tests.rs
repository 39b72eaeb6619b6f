use super::*;
use crate::phase::StopCause;
use crate::sample::record_of;

fn changed(change: impl FnOnce(&mut RunRecord)) -> RunRecord {
    let mut record = record_of(&[100.0, 101.0, 99.0, 100.5]);
    record.id = "20261122-000000-bbbbbb".into();
    change(&mut record);
    record
}

fn figure(comparison: &Comparison, figure: Figure) -> &FigureComparison {
    comparison.figures.iter().find(|f| f.figure == figure).unwrap()
}

#[test]
fn a_faster_run_is_larger_in_rates_and_smaller_in_latency() {
    let slow = record_of(&[100.0, 101.0, 99.0, 100.5]);
    let fast = record_of(&[200.0, 201.0, 199.0, 200.5]);
    let comparison = compare(&slow, &fast).unwrap();
    for name in [Figure::RatePerPcore, Figure::Bandwidth, Figure::Iops] {
        let seen = figure(&comparison, name);
        assert_eq!(seen.verdict, Verdict::Larger, "{name:?}");
        assert!((seen.ratio.unwrap() - 2.0).abs() < 0.01);
        let interval = seen.interval.unwrap();
        assert!(interval.low < seen.ratio.unwrap() && seen.ratio.unwrap() < interval.high);
    }
    let latency = figure(&comparison, Figure::LatencyP50);
    assert_eq!(latency.verdict, Verdict::Smaller);
    assert_eq!(latency.kind, Some(OperationKind::Read));
    assert!(latency.figure.show(latency.a.median).contains("µs"));
    assert!(!latency.figure.larger_is_better());
    assert_eq!(compare(&slow, &fast).unwrap(), comparison, "the same every time");
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let run = record_of(&[100.0, 101.0, 99.0, 100.5]);
    let comparison = compare(&run, &run).unwrap();
    assert!(comparison.figures.iter().all(|f| f.verdict == Verdict::WithinNoise));
    assert!(comparison.notes.is_empty() && comparison.unlike.is_empty());
}

#[test]
fn unlike_runs_are_refused_with_every_difference() {
    let a = record_of(&[100.0, 101.0, 99.0, 100.5]);
    let b = changed(|run| {
        let test = &mut run.tests[0];
        test.pcores = 8;
        test.workload["phases"][0]["transfer_bytes"] = 4096.into();
        test.workload["pin"] = true.into();
        for repetition in &mut test.repetitions {
            let rank = repetition.phases[0].ranks[0].clone();
            repetition.phases[0].ranks.push(rank);
            repetition.phases[0].engine.direct = true;
        }
    });
    let fault = compare(&a, &b).unwrap_err();
    assert_eq!(fault.kind(), Kind::Refused);
    for part in [
        "pCores 1 against 8",
        "ranks in phase `read` 1 against 2",
        "O_DIRECT in phase `read` false against true",
        "workload.phases[0].transfer_bytes 65536 against 4096",
        "workload.pin unset against true",
    ] {
        assert!(fault.message().contains(part), "{part} is missing in {fault}");
    }
    assert!(fault.hint_text().unwrap().contains("--force"));
    let forced = compare_anyway(&a, &b);
    assert_eq!(forced.unlike.len(), 5);
    assert!(!forced.figures.is_empty());
}

#[test]
fn names_seeds_and_the_number_of_repetitions_do_not_matter() {
    let a = record_of(&[100.0, 101.0, 99.0, 100.5]);
    let b = changed(|run| {
        run.tests[0].workload["seed"] = 99.into();
        run.tests[0].workload["phases"][0]["name"] = "lecture".into();
        run.tests[0].workload["repetitions"] = 9.into();
        run.tests[0].target = "/mnt/other".into();
        run.tests[0].repetitions.pop();
    });
    assert!(compare(&a, &b).is_ok());
}

#[test]
fn tests_and_phases_of_one_run_only_are_named() {
    let a = record_of(&[100.0]);
    let b = changed(|run| run.tests[0].name = "other".into());
    let message = compare(&a, &b).unwrap_err().to_string();
    assert!(message.contains("`iotest` is only in") && message.contains("`other` is only in"), "{message}");
    let b = changed(|run| run.tests[0].repetitions[0].phases[0].name = "reread".into());
    assert!(compare(&a, &b).unwrap_err().message().contains("phase `reread` ran only in the second run"));
    let empty = changed(|run| run.tests.clear());
    assert!(compare(&empty, &empty).is_err());
}

#[test]
fn another_machine_is_a_note_and_a_broken_repetition_is_left_out() {
    let a = record_of(&[100.0, 101.0, 99.0, 100.5]);
    let b = changed(|run| {
        run.environment.kernel = "6.1.0".into();
        run.tests[0].repetitions[3].phases[0].stopped_by = StopCause::Interrupted;
        run.tests[0].repetitions[3].phases[0].checks.push(crate::Check::fail("interrupted", "", ""));
    });
    let comparison = compare(&a, &b).unwrap();
    assert_eq!(figure(&comparison, Figure::Bandwidth).b.values.len(), 3);
    assert!(
        comparison.notes.iter().any(|note| note == "kernel: not known against 6.1.0"),
        "{:?}",
        comparison.notes
    );
    assert!(comparison.notes.iter().any(|note| note.contains("is not valid")), "{:?}", comparison.notes);
}

#[test]
fn files_shrunk_a_little_differently_made_runs_unlike() {
    let sized = |size: &str| {
        changed(|run| run.tests[0].workload["files"] = serde_json::json!({ "block_size": size }))
    };
    let (a, b, c) = (sized("20.0 GiB"), sized("19.2 GiB"), sized("10 GiB"));
    let comparison = compare(&a, &b).unwrap();
    assert!(
        comparison.notes.iter().any(|note| note.starts_with("file size of test")),
        "{:?}",
        comparison.notes
    );
    assert_eq!(compare(&a, &c).unwrap_err().kind(), Kind::Refused);
}
