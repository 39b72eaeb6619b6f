//! A process that goes away is named, and what the others measured is kept.

use std::time::Duration;

use bench::Options;
use bench::workload::{Phase, Stop, Transfer};
use fault::Kind;
use fleet::group::Group;
use record::{Outcome, RunState, Validity};
use units::Bytes;

use super::group::{Over, check, disk, failed, workload};

fn write() -> Phase {
    Phase::transfer("write", Transfer::write(Bytes::kib(8)))
}

/// Votes of a phase: four to find out how long telling everyone takes, the common start, the end.
const AT_THE_START: u32 = 5;
const AT_THE_END: u32 = 6;

#[test]
fn a_process_that_dies_in_a_phase_ends_the_run_and_is_named() {
    for vote in [1, 3, AT_THE_START, AT_THE_END] {
        let target = disk();
        let done = Over::new(&[2, 2, 2]).dies(2, vote).run(target.path(), &workload(6, vec![write()]));
        let failure = done.failure.as_ref().unwrap();
        assert_eq!(failure.kind(), Kind::Io, "{vote}");
        assert!(failure.message().contains("member2"), "{vote}: {failure:?}");
        assert_eq!((done.record.state, done.record.validity()), (RunState::Failed, Validity::NotValid));
        let phase = done.phase("write");
        assert!(failed(phase, "lost-processes"), "{vote}: {:?}", phase.checks);
        assert_eq!((phase.lost.len(), phase.lost[0].host.as_str(), phase.lost[0].ranks), (1, "node2", 2));
        assert!(done.served[0].is_ok() && done.served[1].is_err());
        if vote == AT_THE_END {
            assert_eq!(phase.bytes(), Bytes::kib(64) * 4, "what the others measured is kept");
        }
    }
}

#[test]
fn the_others_stop_soon_when_one_is_gone() {
    let target = disk();
    let stop = Stop { repeat: true, ..Stop::after(Duration::from_mins(10)) };
    let endless = Phase { stop, ..write() };
    // Nobody would come back from this phase in time but for the loss.
    let short = Phase { stop: Stop::default(), ..write() };
    let over = Over::new(&[1, 1, 1]).dies(1, AT_THE_START);
    let done = over.run(target.path(), &workload(3, vec![endless, short]));
    assert!(done.failure.unwrap().message().contains("member1"));
}

#[test]
fn a_loss_that_is_allowed_is_told_and_the_run_goes_on() {
    let target = disk();
    let options = Options { allow_lost: 1, ..Options::default() };
    let group = Group::new(3).allow_lost(1);
    let read = Phase::transfer("read", Transfer { verify: true, ..Transfer::read(Bytes::kib(8)) });
    let over = Over::group(group, &[2, 2, 2]).options(options).dies(1, AT_THE_END);
    let done = over.run(target.path(), &workload(6, vec![write(), read]));
    assert!(done.failure.is_none(), "{:?}", done.failure);
    let told = check(done.phase("write"), "lost-processes");
    assert_eq!(told.outcome, Outcome::Note);
    assert!(told.evidence.contains("node1") && told.evidence.contains("rank 2"), "{told:?}");
    let ranks: Vec<u32> = done.phase("read").ranks.iter().map(|rank| rank.rank).collect();
    assert_eq!(ranks, [0, 1, 4, 5]);
    assert_eq!(done.phase("read").verify_failures, 0);
}

/// The lost process made the directory: somebody else removes it.
#[test]
fn files_go_when_the_process_that_made_their_directory_is_gone() {
    let target = disk();
    let options = Options { allow_lost: 1, ..Options::default() };
    let group = Group::new(3).allow_lost(1);
    let over = Over::group(group, &[0, 2, 2]).options(options).dies(1, AT_THE_END);
    let done = over.run(target.path(), &workload(4, vec![write()]));
    assert!(done.failure.is_none(), "{:?}", done.failure);
}
