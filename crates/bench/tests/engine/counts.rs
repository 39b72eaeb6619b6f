//! Sums agree with their parts, and instants with their order.

use bench::Workload;
use bench::workload::{EngineChoice, FileSet, Fsync, Layout, Phase, Transfer};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use record::{OperationKind, PhaseResult};
use units::{Bytes, Ratio};

use super::run::{disk, memory, run, workload};
use super::strategy::write_then_read;

/// What must hold in every phase of every run.
pub fn check_phase(phase: &PhaseResult) -> TestCaseResult {
    let rank_operations: u64 = phase.ranks.iter().map(|r| r.operations).sum();
    let rank_bytes: Bytes = phase.ranks.iter().map(|r| r.bytes).sum();
    prop_assert_eq!(phase.operation_count(), rank_operations);
    prop_assert_eq!(phase.bytes(), rank_bytes);
    prop_assert_eq!((phase.last_done.operations, phase.last_done.bytes), (rank_operations, rank_bytes));
    for result in &phase.operations {
        prop_assert_eq!(result.operations, result.latency.count());
    }
    let series = || phase.series.iter().flat_map(|i| &i.operations);
    prop_assert_eq!(series().map(|o| o.operations).sum::<u64>(), rank_operations);
    prop_assert_eq!(series().map(|o| o.bytes).sum::<Bytes>(), rank_bytes);
    prop_assert_eq!(series().map(|o| o.latency.count()).sum::<u64>(), rank_operations);
    for rank in &phase.ranks {
        prop_assert!(rank.opened_ns <= rank.transferred_ns, "{:?}", rank);
        prop_assert!(rank.transferred_ns <= rank.synced_ns, "{:?}", rank);
        prop_assert!(rank.synced_ns <= rank.closed_ns, "{:?}", rank);
    }
    prop_assert!(phase.first_done.elapsed_ns <= phase.last_done.elapsed_ns);
    prop_assert!(phase.first_done.operations <= phase.last_done.operations);
    prop_assert!(phase.first_done.bytes <= phase.last_done.bytes);
    prop_assert!(phase.transferred() <= phase.synced() && phase.synced() <= phase.closed());
    prop_assert_eq!(phase.closed().as_nanos() as u64, phase.last_done.elapsed_ns);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn sums_agree_with_their_parts(workload in write_then_read()) {
        let target = memory();
        run(target.path(), &workload).expect().phases().try_for_each(check_phase)?;
    }
}

fn count(phase: &PhaseResult, kind: OperationKind) -> u64 {
    phase.of(kind).map_or(0, |result| result.operations)
}

#[test]
fn every_file_is_opened_synced_and_closed_once() {
    for engine in [EngineChoice::Psync, EngineChoice::Uring] {
        let target = disk();
        let phases = vec![
            Phase::transfer("write", Transfer::write(Bytes::kib(16))),
            Phase::transfer("read", Transfer::read(Bytes::kib(16))),
        ];
        let files = FileSet { files_per_rank: 5, block_size: Bytes::kib(64), ..FileSet::default() };
        let done = run(target.path(), &Workload { engine, files, ..workload(3, phases) }).expect();
        let (write, read) = (done.phase("write"), done.phase("read"));
        for kind in [OperationKind::Open, OperationKind::Fsync, OperationKind::Close] {
            assert_eq!(count(write, kind), 15, "{kind:?}");
        }
        assert_eq!((count(read, OperationKind::Open), count(read, OperationKind::Fsync)), (15, 0));
        assert_eq!((write.operation_count(), write.bytes()), (60, Bytes::kib(960)));
    }
}

#[test]
fn fsync_happens_as_often_as_asked() {
    let target = disk();
    let fsyncs = |fsync| {
        let write = Transfer { fsync, ..Transfer::write(Bytes::kib(4)) };
        let done = run(target.path(), &workload(2, vec![Phase::transfer("write", write)])).expect();
        count(done.phase("write"), OperationKind::Fsync)
    };
    // 16 writes by each of 2 ranks, one file each.
    assert_eq!(fsyncs(Fsync::Never), 0);
    assert_eq!(fsyncs(Fsync::AtEnd), 2);
    assert_eq!(fsyncs(Fsync::Every(1)), 32);
    assert_eq!(fsyncs(Fsync::Every(5)), 2 * (3 + 1));
}

#[test]
fn ranks_share_one_file_without_overlap() {
    let target = memory();
    let files = FileSet {
        layout: Layout::Shared,
        block_size: Bytes::new(47_008),
        segments: 10,
        ..FileSet::default()
    };
    let phases = vec![Phase::transfer("write", Transfer::write(Bytes::new(47_008)))];
    let done = run(target.path(), &Workload { files, ..workload(4, phases) }).expect();
    let phase = done.phase("write");
    assert_eq!(phase.bytes(), Bytes::new(47_008 * 40));
    assert!(phase.ranks.iter().all(|rank| rank.operations == 10));
    assert_eq!(count(phase, OperationKind::Open), 4, "every rank opens it");
}

#[test]
fn a_range_shrinks_the_work() {
    let target = memory();
    let write = Transfer { range_end: Ratio::new(0.25), ..Transfer::write(Bytes::kib(4)) };
    let done = run(target.path(), &workload(2, vec![Phase::transfer("write", write)])).expect();
    assert_eq!(done.phase("write").bytes(), Bytes::kib(32));
}
