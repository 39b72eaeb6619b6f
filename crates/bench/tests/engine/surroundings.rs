//! What is around the phases: prefilled files, memory that is held, time that is up.

use std::collections::BTreeSet;
use std::time::Duration;

use bench::Workload;
use bench::workload::{EngineChoice, FileSet, HoldMemory, Layout, Order, PREPARE, Phase, Stop, Transfer};
use record::{Event, OperationKind, Outcome, RunState};
use units::{Bytes, Ratio};

use super::counts::check_phase;
use super::model::written_units;
use super::run::{data_files, disk, keep, memory, run, workload};

#[test]
fn a_prefill_writes_everything_and_counts_nothing() {
    for (engine, layout, direct) in [
        (EngineChoice::Psync, Layout::PerRank, false),
        (EngineChoice::Uring, Layout::PerRank, true),
        (EngineChoice::Psync, Layout::Shared, false),
        (EngineChoice::Uring, Layout::Shared, false),
    ] {
        let target = disk();
        // Five of sixteen: what else is there comes from the prefill.
        let stop = Stop { operations: Some(5), ..Stop::default() };
        let write = Transfer {
            order: Order::RandomOnce,
            prefill: Some(Bytes::kib(16)),
            direct,
            ..Transfer::write(Bytes::kib(4))
        };
        let files = FileSet { layout, block_size: Bytes::kib(64), segments: 2, ..FileSet::default() };
        let phases = vec![Phase { stop, ..Phase::transfer("write", write.clone()) }];
        let workload = Workload { engine, files, ..workload(2, phases) };
        let (done, directory) = keep(target.path(), &workload);
        let done = done.expect();
        let phase = done.phase("write");
        check_phase(phase).unwrap();
        assert_eq!((phase.operation_count(), phase.bytes()), (10, Bytes::kib(40)));
        assert_eq!(phase.of(OperationKind::Write).unwrap().latency.count(), 10);
        let whole = written_units(&workload, &write, &data_files(&directory)).unwrap();
        assert_eq!(whole.values().map(BTreeSet::len).sum::<usize>(), 64, "{engine:?} {layout:?}");
    }
}

#[test]
fn what_was_prefilled_can_be_read_without_preparation() {
    let target = memory();
    let write =
        Transfer { order: Order::Random, prefill: Some(Bytes::kib(64)), ..Transfer::write(Bytes::kib(4)) };
    let read = Transfer { verify: true, ..Transfer::read(Bytes::kib(8)) };
    let phases = vec![Phase::transfer("write", write), Phase::transfer("read", read)];
    let done = run(target.path(), &workload(2, phases)).expect();
    assert!(done.phases().all(|phase| phase.name != PREPARE));
    assert_eq!((done.phase("read").bytes(), done.phase("read").verify_failures), (Bytes::kib(128), 0));
}

#[test]
fn a_deadline_ends_a_prefill() {
    let target = memory();
    let write = Transfer { prefill: Some(Bytes::kib(4)), ..Transfer::write(Bytes::kib(4)) };
    let stop = Stop::after(Duration::from_nanos(1));
    let files = FileSet { block_size: Bytes::mib(512), ..FileSet::default() };
    let phases = vec![Phase { stop, ..Phase::transfer("write", write) }];
    let done = run(target.path(), &Workload { files, ..workload(1, phases) }).expect();
    assert_eq!(
        (done.phase("write").stopped_by, done.phase("write").operation_count()),
        (record::StopCause::Time, 0)
    );
}

#[test]
fn nothing_begins_after_the_time_of_a_test() {
    let target = memory();
    let write = || Phase::transfer("write", Transfer::write(Bytes::kib(4)));
    let late = Phase { pause_before: Duration::from_millis(60), ..write() };
    let first = Phase { name: "first".to_owned(), ..late.clone() };
    let test = Workload {
        max_time: Some(Duration::from_millis(50)),
        repetitions: 3,
        ..workload(2, vec![first, late])
    };
    let done = run(target.path(), &test).expect();
    let names: Vec<_> = done.phases().map(|phase| phase.name.as_str()).collect();
    assert_eq!((names, done.record.state), (vec!["first"], RunState::Complete));
    let check = done.record.tests[0].checks.iter().find(|check| check.rule == "max-time").unwrap();
    assert_eq!(
        (check.outcome, check.evidence.as_str()),
        (Outcome::Note, "1 of 6 phases began within 50.0 ms")
    );
    let phases = vec![write(), write()];
    let enough = Workload { max_time: Some(Duration::from_hours(1)), phases, ..test };
    let done = run(target.path(), &enough).expect();
    let check = done.record.tests[0].checks.iter().find(|check| check.rule == "max-time").unwrap();
    assert_eq!((done.phases().count(), check.outcome), (6, Outcome::Pass));
}

#[test]
fn held_memory_is_told() {
    let target = memory();
    let phases = vec![Phase::transfer("write", Transfer::write(Bytes::kib(4)))];
    let hold = |hold_memory| Workload { hold_memory: Some(hold_memory), ..workload(1, phases.clone()) };
    let done = run(target.path(), &hold(HoldMemory::Size(Bytes::mib(8)))).expect();
    let told = |event: &Event| matches!(event, Event::Notice { message } if message.starts_with("8 MiB of memory are held"));
    assert!(done.events.iter().any(told), "{:?}", done.events);
    assert_eq!(done.record.tests[0].held_memory.unwrap().size_bytes, Bytes::mib(8));
    let done = run(target.path(), &hold(HoldMemory::Size(Bytes::tib(1 << 10))));
    assert!(done.words().0.contains("of memory are to be held"), "{:?}", done.failure);
}

#[test]
fn surroundings_that_make_no_sense_are_refused() {
    let said = |workload: Workload| workload.check().unwrap_err().message().to_owned();
    let with = |transfer| workload(1, vec![Phase::transfer("x", transfer)]);
    let plain = || with(Transfer::write(Bytes::kib(4)));
    let read = Transfer { prefill: Some(Bytes::kib(4)), ..Transfer::read(Bytes::kib(4)) };
    assert_eq!(said(with(read)), "phase `x` reads: only the time of a write can have a prefill in it");
    let odd = Transfer { prefill: Some(Bytes::kib(3)), ..Transfer::write(Bytes::kib(4)) };
    assert_eq!(said(with(odd)), "phase `x`: the block size 64 KiB is not a multiple of the prefill's 3 KiB");
    for hold in [HoldMemory::Share(Ratio::ZERO), HoldMemory::Share(Ratio::ONE), HoldMemory::Size(Bytes::ZERO)]
    {
        let held = Workload { hold_memory: Some(hold), ..plain() };
        assert_eq!(said(held), "memory that is held is more than nothing and less than everything");
    }
    let none = Workload { max_time: Some(Duration::ZERO), ..plain() };
    assert_eq!(said(none), "a test that may take no time does nothing");
}
