//! Failures and signals anywhere end the run everywhere.

use std::time::Duration;

use bench::crew::INTERRUPTED;
use bench::workload::{Phase, Stop, Transfer};
use fault::Kind;
use fleet::Link as _;
use record::{Event, RunState, StopCause};
use units::Bytes;

use super::group::{Over, disk, failed, workload};

fn endless(name: &str, transfer: Transfer) -> Phase {
    let stop = Stop { repeat: true, ..Stop::after(Duration::from_mins(10)) };
    Phase { stop, ..Phase::transfer(name, transfer) }
}

#[test]
fn a_failing_rank_stops_all_and_is_named_with_its_host() {
    let target = disk();
    let phases = vec![
        Phase::transfer("write", Transfer::write(Bytes::kib(8))),
        endless("read", Transfer::read(Bytes::kib(8))),
    ];
    let spoil = |event: &Event| {
        if let Event::PhaseStarted { phase, .. } = event
            && phase == "read"
        {
            let run = std::fs::read_dir(target.path()).unwrap().next().unwrap().unwrap();
            std::fs::remove_file(run.path().join("data.00000004")).unwrap();
        }
    };
    let done = Over::new(&[2, 2, 2]).run_listening(target.path(), &workload(6, phases), spoil);
    let failure = done.failure.as_ref().unwrap();
    assert_eq!(failure.kind(), Kind::NotFound);
    assert!(
        failure.message().contains("on node2: ") && failure.message().contains("data.00000004"),
        "{failure:?}"
    );
    let read = done.phase("read");
    assert_eq!((read.stopped_by, read.errors[0].rank), (StopCause::Error, 4));
    assert!(failed(read, "errors") && done.served.iter().all(Result::is_ok));
    assert_eq!(done.record.state, RunState::Failed);
}

#[test]
fn a_signal_to_any_process_stops_all_and_keeps_what_was_measured() {
    let target = disk();
    let write = endless("write", Transfer::write(Bytes::kib(8)));
    let over = Over::new(&[1, 1, 2]).meanwhile(2, |process| {
        std::thread::sleep(Duration::from_millis(700));
        process.stop(INTERRUPTED);
    });
    let done = over.run(target.path(), &workload(4, vec![write]));
    assert_eq!(done.failure.as_ref().unwrap().kind(), Kind::Interrupted);
    assert_eq!(done.record.state, RunState::Interrupted);
    let phase = done.phase("write");
    assert_eq!((phase.stopped_by, phase.ranks.len()), (StopCause::Interrupted, 4));
    assert!(phase.ranks.iter().all(|rank| rank.operations > 0));
}

#[test]
fn a_run_that_is_refused_leaves_the_crew_for_the_next() {
    let target = disk();
    let missing = target.path().join("missing");
    let workload = workload(2, vec![Phase::transfer("write", Transfer::write(Bytes::kib(8)))]);
    let done = Over::new(&[1, 1]).run_listening(&missing, &workload, |_| {});
    let failure = done.failure.unwrap();
    assert!(
        failure.message().contains("on node0, node1: ") && failure.message().contains("missing"),
        "{failure:?}"
    );
    assert!(done.served.iter().all(Result::is_ok));
}
