//! Searches over real runs: each ends, says what it found, and keeps all its runs in one record.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::path::Path;
use std::time::Duration;

use bench::search::{Goal, search};
use bench::workload::{Activity, FileSet, Phase, Stop, Transfer};
use bench::{Options, Session, TestPlan, Workload};
use record::{Event, Load, RunRecord, Search, SearchKind};
use units::Bytes;

fn plan(dir: &Path, think: Duration) -> TestPlan {
    let transfer = Transfer { think_time: think, ..Transfer::read(Bytes::kib(4)) };
    let stop = Stop { repeat: true, ..Stop::after(Duration::from_millis(200)) };
    let phases = vec![Phase { stop, ..Phase::transfer("read", transfer) }];
    let files = FileSet { block_size: Bytes::mib(1), ..FileSet::default() };
    TestPlan {
        name: "search".to_owned(),
        test: "workload".to_owned(),
        target: dir.to_owned(),
        workload: Workload { files, phases, ..Workload::empty() },
        pcores: 1,
        equivalence: None,
        expect_file_system: None,
    }
}

fn run(plan: &TestPlan, goal: &Goal) -> (RunRecord, Search) {
    let mut run = |before: Option<RunRecord>, plan: &TestPlan| {
        let mut listener = |_: &Event| {};
        let mut save = |_: &RunRecord| Ok(());
        let mut session = Session::new(vec!["test".to_owned()], Options::default(), &mut listener, &mut save);
        if let Some(before) = before {
            session.record = before;
        }
        session.run(std::slice::from_ref(plan))
    };
    let (record, outcome) = search(plan, goal, None, &mut run).unwrap();
    outcome.unwrap();
    let found = record.search.clone().unwrap();
    (record, found)
}

#[test]
fn ranks_are_doubled_until_two_further_points_do_not_grow_or_the_most_is_reached() {
    let dir = tempfile::tempdir().unwrap();
    let (record, found) =
        run(&plan(dir.path(), Duration::ZERO), &Goal::Saturation { load: Load::Ranks, most: 8 });
    assert_eq!(found.kind, SearchKind::Saturation);
    let loads: Vec<u32> = found.points.iter().map(|point| point.load.unwrap() as u32).collect();
    assert_eq!(loads, [1, 2, 4, 8][..loads.len()]);
    assert_eq!(record.tests.len(), loads.len(), "every point is a test of the one record");
    for (test, load) in record.tests.iter().zip(&loads) {
        let phase = test.phases("read").next().unwrap();
        assert_eq!(phase.ranks.len() as u32, *load, "{}", test.name);
    }
    let knee = found.found.unwrap();
    let further = found.points.iter().filter(|point| point.load.unwrap() > knee).count();
    assert_eq!(found.proven, further >= 2, "{}", found.sentence);
    let words = match further {
        0 => "still grew at",
        1 => "seems to stop growing at",
        _ => "stops growing at",
    };
    assert!(found.sentence.contains(words), "{}", found.sentence);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_latency_that_nothing_misses_is_kept_as_fast_as_it_goes() {
    let dir = tempfile::tempdir().unwrap();
    let goal = Goal::LatencyTarget {
        load: Load::OperationsPerSecond,
        percentile: 50.0,
        target: Duration::from_mins(1),
        most: 8,
    };
    let (record, found) = run(&plan(dir.path(), Duration::from_millis(1)), &goal);
    assert_eq!((record.tests.len(), found.proven), (1, true));
    assert!(found.sentence.contains("as fast as it goes"), "{}", found.sentence);
}

#[test]
fn a_latency_that_nothing_keeps_has_no_load() {
    let dir = tempfile::tempdir().unwrap();
    let goal = Goal::LatencyTarget {
        load: Load::OperationsPerSecond,
        percentile: 50.0,
        target: Duration::from_nanos(1),
        most: 8,
    };
    let (_, found) = run(&plan(dir.path(), Duration::from_millis(1)), &goal);
    assert_eq!((found.found, found.proven), (None, false));
    assert!(found.sentence.contains("no load keeps"), "{}", found.sentence);
    let rates: Vec<f64> = found.points.iter().skip(1).map(|point| point.load.unwrap()).collect();
    assert!(rates.windows(2).all(|pair| pair[1] < pair[0]), "ever less is tried: {rates:?}");
}

#[test]
fn a_load_that_is_given_is_the_open_loops_rate() {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(dir.path(), Duration::ZERO);
    bench::search::with_load(&mut plan.workload, "read", Load::OperationsPerSecond, 500.0).unwrap();
    assert!(plan.workload.phases[0].rate.is_some());
    bench::search::with_load(&mut plan.workload, "read", Load::QueueDepth, 4.0).unwrap();
    let Activity::Transfer(transfer) = &plan.workload.phases[0].jobs[0].activity else {
        panic!("no transfer")
    };
    assert_eq!(transfer.queue_depth, 4);
    plan.workload.phases[0].jobs[0].ranks = Some(1);
    let fault = bench::search::with_load(&mut plan.workload, "read", Load::Ranks, 2.0).unwrap_err();
    assert!(fault.hint_text().is_some());
}

#[test]
fn repetitions_go_on_until_they_are_alike_or_the_most_is_reached() {
    let dir = tempfile::tempdir().unwrap();
    // A rest after each transfer makes any machine steady enough for half of the mean.
    let goal = Goal::SteadyState { windows: 3, within: 0.9, most: 6 };
    let (record, found) = run(&plan(dir.path(), Duration::from_millis(2)), &goal);
    assert!(record.tests.len() >= 3 && record.tests.len() <= 6);
    assert_eq!(found.found.is_some(), found.proven);
    let none = Goal::SteadyState { windows: 3, within: 0.0, most: 4 };
    let (record, found) = run(&plan(dir.path(), Duration::from_millis(2)), &none);
    if found.found.is_none() {
        assert_eq!(record.tests.len(), 4);
        assert!(found.sentence.contains("never became steady"), "{}", found.sentence);
    }
}
