//! When a phase ends, and what it leaves to those after it.

use std::time::Duration;

use bench::Workload;
use bench::workload::{
    Arrival, EngineChoice, FileSet, Job, Layout, Order, PREPARE, Pacing, Phase, Stop, Transfer,
};
use record::{Outcome, StopCause};
use units::Bytes;

use super::run::{Done, disk, memory, run, workload};

const ENGINES: [(EngineChoice, u32); 3] =
    [(EngineChoice::Psync, 1), (EngineChoice::Uring, 1), (EngineChoice::Uring, 16)];

fn operations(done: &Done, phase: &str) -> Vec<u64> {
    done.phase(phase).ranks.iter().map(|rank| rank.operations).collect()
}

/// A wear-out goes round, so a short time leaves every rank with something to catch up.
fn wearing_out(milliseconds: u64) -> Stop {
    Stop { wear_out: true, repeat: true, ..Stop::after(Duration::from_millis(milliseconds)) }
}

#[test]
fn an_operation_limit_is_exact() {
    for (engine, queue_depth) in ENGINES {
        let target = memory();
        let write = Transfer { queue_depth, ..Transfer::write(Bytes::kib(4)) };
        let stop = Stop { operations: Some(11), ..Stop::default() };
        let phases = vec![Phase { stop, ..Phase::transfer("write", write) }];
        let done = run(target.path(), &Workload { engine, ..workload(3, phases) }).expect();
        assert_eq!(operations(&done, "write"), [11, 11, 11], "{engine:?} {queue_depth}");
    }
}

#[test]
fn a_limit_beyond_the_share_goes_round_only_if_told() {
    let target = memory();
    let phase = |repeat| {
        let stop = Stop { operations: Some(40), repeat, ..Stop::default() };
        let read = Transfer { verify: true, ..Transfer::read(Bytes::kib(4)) };
        run(target.path(), &workload(2, vec![Phase { stop, ..Phase::transfer("read", read) }])).expect()
    };
    assert_eq!(operations(&phase(false), "read"), [16, 16]);
    assert_eq!(operations(&phase(true), "read"), [40, 40]);
}

#[test]
fn after_a_wear_out_all_ranks_have_done_the_same() {
    for (engine, queue_depth) in ENGINES {
        let target = memory();
        let write = Transfer { queue_depth, ..Transfer::write(Bytes::kib(4)) };
        let phases = vec![Phase { stop: wearing_out(20), ..Phase::transfer("write", write) }];
        let done = run(target.path(), &Workload { engine, ..workload(4, phases) }).expect();
        let phase = done.phase("write");
        assert_eq!((phase.stopped_by, phase.wear_out_capped), (StopCause::Time, false));
        let operations = operations(&done, "write");
        assert!(operations.iter().all(|count| *count == operations[0] && *count > 0), "{operations:?}");
    }
}

/// Poisson arrivals leave ranks with different counts, and the cap no time to make up for it.
#[test]
fn a_wear_out_cap_is_kept_and_noted() {
    let target = memory();
    let transfer = Transfer {
        pacing: Pacing::Open { operations_per_second: 600.0, arrival: Arrival::Poisson },
        ..Transfer::write(Bytes::kib(4))
    };
    let stop = Stop { wear_out_cap: Some(Duration::from_nanos(1)), ..wearing_out(60) };
    let phases = vec![Phase { stop, ..Phase::transfer("write", transfer) }];
    let done = run(target.path(), &workload(6, phases)).expect();
    let operations = operations(&done, "write");
    let equal = operations.iter().all(|count| *count == operations[0]);
    assert_eq!(done.phase("write").wear_out_capped, !equal, "{operations:?}");
    assert_eq!(done.check("write", "wear-out-capped").0 == Outcome::Note, !equal);
}

#[test]
fn a_wear_out_compares_ranks_of_the_same_job_only() {
    let target = memory();
    let small = Transfer::write(Bytes::kib(4));
    let large = Transfer::write(Bytes::kib(64));
    let job = |transfer: Transfer| Job { ranks: Some(2), ..Phase::transfer("", transfer).jobs.remove(0) };
    let phase = Phase {
        jobs: vec![job(small), job(large)],
        stop: wearing_out(20),
        ..Phase::transfer("write", Transfer::default())
    };
    // One rank sits out.
    let done = run(target.path(), &workload(5, vec![phase])).expect();
    let operations = operations(&done, "write");
    assert_eq!((operations[0], operations[2], operations[4]), (operations[1], operations[3], 0));
    assert_ne!(operations[0], operations[2], "16 times the bytes per write");
}

#[test]
fn a_stopped_write_limits_the_reads_that_follow() {
    let orders = [
        Order::Sequential,
        Order::Reverse,
        Order::RandomOnce,
        Order::Random,
        Order::RandomRuns(2),
        Order::Stride(3),
    ];
    for (engine, queue_depth) in ENGINES {
        for layout in [Layout::PerRank, Layout::Shared] {
            let target = memory();
            let write = Transfer { queue_depth, ..Transfer::write(Bytes::kib(8)) };
            let stop = Stop { operations: Some(3), ..Stop::default() };
            let mut phases = vec![Phase { stop, ..Phase::transfer("write", write) }];
            let of =
                |order: &Order| Transfer { order: *order, verify: true, ..Transfer::read(Bytes::kib(4)) };
            // Orders that go to all of a shared file need all of it.
            let own = orders.iter().map(of).filter(|transfer| !transfer.roams(layout));
            phases.extend(own.map(|transfer| Phase::transfer("read", transfer)));
            let files = FileSet { layout, block_size: Bytes::kib(64), segments: 2, ..FileSet::default() };
            let done = run(target.path(), &Workload { engine, files, ..workload(2, phases) }).expect();
            for phase in done.phases() {
                assert_eq!((phase.bytes(), phase.verify_failures), (Bytes::kib(48), 0), "{}", phase.name);
                assert_ne!(phase.name, PREPARE);
            }
        }
    }
}

#[test]
fn what_a_stopped_write_can_not_serve_is_written_first() {
    let target = memory();
    let stop = Stop { operations: Some(3), ..Stop::default() };
    let write = Transfer { order: Order::RandomOnce, ..Transfer::write(Bytes::kib(4)) };
    let read = Transfer { verify: true, ..Transfer::read(Bytes::kib(4)) };
    let phases = vec![Phase { stop, ..Phase::transfer("write", write) }, Phase::transfer("read", read)];
    let done = run(target.path(), &workload(2, phases)).expect();
    assert_eq!(done.phase(PREPARE).bytes(), Bytes::kib(128));
    assert_eq!(done.phase("read").bytes(), Bytes::kib(128));
}

/// Random writes meet some bytes twice and others never; reading those back met holes and the end of the file.
#[test]
fn reads_after_random_writes_find_data_everywhere() {
    let target = disk();
    let write = Transfer { order: Order::Random, ..Transfer::write(Bytes::kib(4)) };
    let read = Transfer { verify: true, ..Transfer::read(Bytes::kib(4)) };
    let phases = vec![Phase::transfer("write", write), Phase::transfer("read", read)];
    let done = run(target.path(), &workload(2, phases)).expect();
    assert_eq!((done.phase("read").bytes(), done.phase("read").verify_failures), (Bytes::kib(128), 0));
}

/// A transfer prepared for the device when the time was up was forgotten, and its place left a hole.
#[test]
fn a_wear_out_leaves_no_hole_where_the_deadline_struck() {
    for _ in 0..5 {
        let target = memory();
        let write = Transfer { queue_depth: 4, ..Transfer::write(Bytes::kib(64)) };
        let stop = Stop { wear_out: true, ..Stop::after(Duration::from_millis(5)) };
        let read = Transfer { verify: true, ..Transfer::read(Bytes::kib(64)) };
        let phases = vec![Phase { stop, ..Phase::transfer("write", write) }, Phase::transfer("read", read)];
        let files = FileSet { block_size: Bytes::mib(64), ..FileSet::default() };
        let done =
            run(target.path(), &Workload { engine: EngineChoice::Uring, files, ..workload(3, phases) })
                .expect();
        assert_eq!(done.phase("read").verify_failures, 0);
        assert_eq!(done.phase("read").bytes(), done.phase("write").bytes());
    }
}

/// A rank whose part of a shared file is empty looked for a position that does not exist, for ever.
#[test]
fn more_ranks_than_positions_in_a_range_end_too() {
    let target = memory();
    let read = Transfer {
        order: Order::RandomOnce,
        range_end: units::Ratio::new(0.1),
        ..Transfer::read(Bytes::kib(4))
    };
    let files = FileSet { layout: Layout::Shared, block_size: Bytes::kib(4), ..FileSet::default() };
    let phases = vec![Phase::transfer("read", read)];
    let done = run(target.path(), &Workload { files, ..workload(6, phases) }).expect();
    assert_eq!(done.phase("read").operation_count(), 1);
}
