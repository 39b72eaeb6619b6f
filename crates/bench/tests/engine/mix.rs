//! Reads and writes in one job, and orders with a share of chance. All is seeded: equal seeds, equal runs.

use bench::data::{Data, Pattern};
use bench::workload::{EngineChoice, FileSet, Fsync, Layout, Order, PREPARE, Phase, Stop, Transfer};
use bench::{Options, Workload};
use record::{Event, OperationKind};
use units::{Bytes, Ratio};

use super::run::{Done, data_files, memory, run, run_directory, run_with, workload};

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

/// Rank 0 drew both from equal generators: its writes all went to the end of the file, its reads to the rest.
#[test]
fn writes_of_a_mix_kept_to_a_part_of_the_file() {
    for engine in [EngineChoice::Psync, EngineChoice::Uring] {
        let target = memory();
        let transfer = Transfer {
            read: Ratio::new(0.7),
            order: Order::Random,
            fsync: Fsync::Never,
            ..Transfer::read(Bytes::kib(4))
        };
        let stop = Stop { operations: Some(500), repeat: true, ..Stop::default() };
        let zeros = Data { pattern: Pattern::Zeros, ..Data::default() };
        let prepare = Phase::transfer("fill", Transfer::write(Bytes::kib(4)));
        let mut listened = workload(1, vec![prepare, Phase { stop, ..Phase::transfer("mix", transfer) }]);
        listened.engine = engine;
        listened.data = zeros;
        let directory = target.path().to_owned();
        // What is written is zeros: marks that are gone tell where.
        let mark = move |event: &Event| {
            if matches!(event, Event::PhaseStarted { phase, .. } if phase == "mix") {
                std::fs::write(run_directory(&directory).join("data.00000000"), vec![1; 64 << 10]).unwrap();
            }
        };
        let options = Options { keep_files: true, ..Options::default() };
        run_with(target.path(), &listened, options, mark).expect();
        let bytes = &data_files(&run_directory(target.path()))[&0];
        let kept: Vec<usize> = (0..16).filter(|page| bytes[page << 12] == 1).collect();
        // About 150 writes to 16 pages: the chance that one is left out is 1 in 1000, and the seed is fixed.
        assert!(kept.is_empty(), "{engine:?}: nothing written to pages {kept:?}");
    }
}
