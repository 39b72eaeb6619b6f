//! Phases whose ranks wait for each other between opening, transferring and closing: all take part, and nobody is
//! left waiting when one fails.

use std::time::Duration;

use bench::Workload;
use bench::workload::{EngineChoice, Entries, EntryOperation, FileSet, Job, Phase, Stop, Transfer, Tree};
use record::{Event, PhaseResult, StopCause};
use units::Bytes;

use super::counts::check_phase;
use super::run::{disk, memory, run, run_directory, run_with, workload};

fn job(ranks: u32, phase: Phase) -> Job {
    Job { ranks: Some(ranks), ..phase.jobs.into_iter().next().unwrap() }
}

/// Two ranks write, one creates files, two sit out.
fn mixed(stop: Stop, engine: EngineChoice) -> Workload {
    let create = Entries { write_bytes: Bytes::new(100), ..Entries::of(EntryOperation::Create) };
    let jobs =
        vec![job(2, Phase::transfer("", Transfer::write(Bytes::kib(4)))), job(1, Phase::entries("", create))];
    let phase = Phase { jobs, stop, barriers: true, ..Phase::transfer("mixed", Transfer::default()) };
    let tree = Tree { items: 20_000, ..Tree::default() };
    let files = FileSet { block_size: Bytes::kib(64), tree, ..FileSet::default() };
    Workload { engine, files, ..workload(5, vec![phase]) }
}

fn each<T>(phase: &PhaseResult, value: impl Fn(&record::RankResult) -> T) -> Vec<T> {
    phase.ranks.iter().take(3).map(value).collect()
}

#[test]
fn nobody_transfers_before_all_are_open_or_closes_before_all_are_durable() {
    for engine in [EngineChoice::Psync, EngineChoice::Uring] {
        let target = disk();
        let stop = Stop { operations: Some(10), ..Stop::default() };
        let done = run(target.path(), &mixed(stop, engine)).expect();
        let phase = done.phase("mixed");
        check_phase(phase).unwrap();
        assert_eq!(each(phase, |rank| rank.operations), [10, 10, 10]);
        let opened = each(phase, |rank| rank.opened_ns);
        assert!(opened.iter().all(|instant| *instant == opened[0]), "one instant for all: {opened:?}");
        let synced = each(phase, |rank| rank.synced_ns).into_iter().max();
        let closed = each(phase, |rank| rank.closed_ns).into_iter().min();
        assert!(closed >= synced, "{closed:?} {synced:?}");
    }
}

#[test]
fn a_wear_out_fits_between_the_barriers() {
    let target = memory();
    let stop = Stop { wear_out: true, repeat: true, ..Stop::after(Duration::from_millis(20)) };
    let done = run(target.path(), &mixed(stop, EngineChoice::Psync)).expect();
    let operations = each(done.phase("mixed"), |rank| rank.operations);
    assert_eq!(operations[0], operations[1]);
}

/// A rank that can't open its file still comes to every meeting, or calls it off.
#[test]
fn a_rank_that_fails_to_open_frees_the_others() {
    for wear_out in [false, true] {
        let target = disk();
        let stop = Stop { wear_out, ..Stop::after(Duration::from_mins(10)) };
        let read = Phase { stop, barriers: true, ..Phase::transfer("read", Transfer::read(Bytes::kib(4))) };
        let phases = vec![Phase::transfer("write", Transfer::write(Bytes::kib(4))), read];
        let mut repeated = workload(4, phases);
        repeated.phases[1].stop.repeat = true;
        let directory = target.path().to_owned();
        let done = run_with(target.path(), &repeated, bench::Options::default(), move |event| {
            if matches!(event, Event::PhaseStarted { phase, .. } if phase == "read") {
                std::fs::remove_file(run_directory(&directory).join("data.00000002")).unwrap();
            }
        });
        let (message, _) = done.words();
        assert!(message.contains("cannot open") && message.contains("data.00000002"), "{message}");
        assert_eq!(done.phase("read").stopped_by, StopCause::Error);
    }
}

/// Here a rank does not come to the meeting at all.
#[test]
fn a_rank_that_can_not_begin_frees_the_others() {
    let target = disk();
    let odd = Transfer { direct: true, ..Transfer::write(Bytes::new(47_008)) };
    let phase = Phase { barriers: true, ..Phase::transfer("write", odd) };
    let files = FileSet { block_size: Bytes::new(470_080), ..FileSet::default() };
    let done = run(target.path(), &Workload { files, ..workload(4, vec![phase]) });
    assert!(done.words().0.contains("direct I/O here needs multiples of"), "{:?}", done.failure);
}
