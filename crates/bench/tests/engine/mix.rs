//! Reads and writes in one job, and orders with a share of chance. All is seeded: equal seeds, equal runs.

use bench::Workload;
use bench::workload::{EngineChoice, FileSet, Layout, Order, PREPARE, Phase, Stop, Transfer};
use record::OperationKind;
use units::{Bytes, Ratio};

use super::run::{Done, memory, run, workload};

fn counts(done: &Done, phase: &str) -> (u64, u64) {
    let of = |kind| done.phase(phase).of(kind).map_or(0, |result| result.operations);
    (of(OperationKind::Read), of(OperationKind::Write))
}

fn mixed(read: f64, engine: EngineChoice, queue_depth: u32, seed: u64) -> (u64, u64) {
    let target = memory();
    let transfer = Transfer {
        read: Ratio::new(read),
        order: Order::SeekPercent(50.0),
        verify: true,
        queue_depth,
        ..Transfer::read(Bytes::kib(4))
    };
    let stop = Stop { operations: Some(5000), repeat: true, ..Stop::default() };
    let phases = vec![Phase { stop, ..Phase::transfer("mix", transfer) }];
    let done = run(target.path(), &Workload { engine, seed, ..workload(2, phases) }).expect();
    assert_eq!(done.phase("mix").verify_failures, 0, "writes hold the same data as before");
    assert_eq!(done.phase(PREPARE).bytes(), Bytes::kib(128));
    counts(&done, "mix")
}

#[test]
fn the_share_of_reads_is_what_was_asked_for() {
    for (engine, queue_depth) in [(EngineChoice::Psync, 1), (EngineChoice::Uring, 8)] {
        for share in [0.7, 0.5, 0.05] {
            let (reads, writes) = mixed(share, engine, queue_depth, 7);
            assert_eq!(reads + writes, 10_000);
            // Standard deviation below 50; ten of those is out of reach of chance.
            assert!((reads as f64 - share * 10_000.0).abs() < 500.0, "{reads} of 10000 at {share}");
        }
    }
}

#[test]
fn equal_seeds_draw_equal_mixes_and_others_differ() {
    let first = mixed(0.7, EngineChoice::Psync, 1, 1);
    assert_eq!(first, mixed(0.7, EngineChoice::Psync, 1, 1));
    assert_eq!(first, mixed(0.7, EngineChoice::Uring, 4, 1), "whatever the engine");
    assert_ne!(first, mixed(0.7, EngineChoice::Psync, 1, 2));
}

#[test]
fn shuffled_orders_cover_everything_once() {
    for layout in [Layout::PerRank, Layout::Shared] {
        let target = memory();
        let write = Transfer { order: Order::RandomOnce, ..Transfer::write(Bytes::kib(4)) };
        let read = Transfer { verify: true, ..Transfer::read(Bytes::kib(64)) };
        let phases = vec![Phase::transfer("write", write), Phase::transfer("read", read)];
        let files = FileSet { layout, block_size: Bytes::kib(192), segments: 3, ..FileSet::default() };
        let done = run(target.path(), &Workload { files, ..workload(5, phases) }).expect();
        assert!(done.phases().all(|phase| phase.name != PREPARE), "the write alone is enough");
        assert_eq!((done.phase("read").bytes(), done.phase("read").verify_failures), (Bytes::kib(2880), 0));
    }
}
