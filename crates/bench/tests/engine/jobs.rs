//! Several jobs in one phase, each on its own ranks.

use bench::Workload;
use bench::workload::{
    EngineChoice, Entries, EntryOperation, FileSet, Job, PREPARE, Phase, RankShift, Stop, Transfer, Tree,
};
use record::OperationKind;
use units::Bytes;

use super::counts::check_phase;
use super::run::{memory, run, workload};

fn job(ranks: Option<u32>, phase: Phase) -> Job {
    Job { ranks, ..phase.jobs.into_iter().next().unwrap() }
}

fn together(name: &str, jobs: Vec<Job>) -> Phase {
    Phase { jobs, ..Phase::transfer(name, Transfer::default()) }
}

#[test]
fn readers_and_writers_work_side_by_side() {
    for (engine, queue_depth) in [(EngineChoice::Psync, 1), (EngineChoice::Uring, 4)] {
        let target = memory();
        let read = Transfer {
            verify: true,
            queue_depth,
            // The readers read what the writers overwrite meanwhile, with the same data.
            rank_shift: RankShift::By(2),
            ..Transfer::read(Bytes::kib(4))
        };
        let write = Transfer { queue_depth, ..Transfer::write(Bytes::kib(8)) };
        let jobs = vec![job(Some(2), Phase::transfer("", read)), job(Some(1), Phase::transfer("", write))];
        let done =
            run(target.path(), &Workload { engine, ..workload(5, vec![together("both", jobs)]) }).expect();
        let phase = done.phase("both");
        check_phase(phase).unwrap();
        let of = |kind| phase.of(kind).map(|o| (o.operations, o.bytes)).unwrap();
        assert_eq!(of(OperationKind::Read), (32, Bytes::kib(128)));
        assert_eq!(of(OperationKind::Write), (8, Bytes::kib(64)));
        let operations: Vec<u64> = phase.ranks.iter().map(|rank| rank.operations).collect();
        assert_eq!(operations, [16, 16, 8, 0, 0], "two ranks sit out");
        assert_eq!((phase.verify_failures, done.phase(PREPARE).bytes()), (0, Bytes::kib(320)));
    }
}

#[test]
fn transfers_and_operations_on_entries_share_a_phase() {
    let target = memory();
    let stop = Stop { operations: Some(10), ..Stop::default() };
    let jobs = vec![
        job(Some(1), Phase::transfer("", Transfer::write(Bytes::kib(4)))),
        job(None, Phase::entries("", Entries::of(EntryOperation::Create))),
    ];
    let files = FileSet {
        block_size: Bytes::kib(64),
        tree: Tree { items: 30, per_rank: true, ..Tree::default() },
        ..FileSet::default()
    };
    let phases = vec![Phase { stop, ..together("both", jobs) }];
    let done = run(target.path(), &Workload { files, ..workload(3, phases) }).expect();
    let phase = done.phase("both");
    check_phase(phase).unwrap();
    assert_eq!(phase.main, [OperationKind::Write, OperationKind::Create]);
    assert!(phase.ranks.iter().all(|rank| rank.operations == 10));
}

/// Ranks without a part in the write had no files, and the read that followed failed.
#[test]
fn files_of_ranks_that_sat_out_are_written_first() {
    let target = memory();
    let write = together("write", vec![job(Some(1), Phase::transfer("", Transfer::write(Bytes::kib(4))))]);
    let read = Transfer { verify: true, ..Transfer::read(Bytes::kib(4)) };
    let done = run(target.path(), &workload(3, vec![write.clone(), Phase::transfer("read", read.clone())]));
    let done = done.expect();
    assert_eq!((done.phase("read").bytes(), done.phase(PREPARE).bytes()), (Bytes::kib(192), Bytes::kib(192)));
    // Those that wrote can read without.
    let own = together("read", vec![job(Some(1), Phase::transfer("", read))]);
    let done = run(target.path(), &workload(3, vec![write, own])).expect();
    assert!(done.phases().all(|phase| phase.name != PREPARE));
}
