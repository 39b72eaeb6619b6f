//! IOR's data on disk, and passes over it as IOR makes them.

use std::time::Duration;

use bench::Workload;
use bench::data::{Data, Pattern};
use bench::workload::{EngineChoice, FileSet, Fsync, Layout, Phase, Stop, Transfer};
use record::OperationKind;
use units::Bytes;

use super::run::{data_files, keep, memory, run, workload};

fn of(pattern: Pattern, layout: Layout, engine: EngineChoice, phases: Vec<Phase>) -> Workload {
    let files = FileSet { layout, block_size: Bytes::kib(64), segments: 2, ..FileSet::default() };
    let data = Data { pattern, signature: 1234, ..Data::default() };
    Workload { files, data, engine, ..workload(3, phases) }
}

/// Word number `word` of the transfer at `offset`, as IOR defines it: `t` and `o`.
fn naive(pattern: Pattern, rank: u64, offset: u64, word: u64) -> u64 {
    if pattern == Pattern::IorOffset && word.is_multiple_of(512) {
        return rank << 32 | (offset * (word / 512 + 1)) & 0xffff_ffff;
    }
    rank << 32 | (1234 + word)
}

#[test]
fn files_hold_what_ior_would_write() {
    let write = || vec![Phase::transfer("write", Transfer::write(Bytes::kib(16)))];
    for engine in [EngineChoice::Psync, EngineChoice::Uring] {
        for layout in [Layout::PerRank, Layout::Shared] {
            for pattern in [Pattern::IorTimestamp, Pattern::IorOffset] {
                let target = memory();
                let (done, directory) = keep(target.path(), &of(pattern, layout, engine, write()));
                done.expect();
                for (number, bytes) in data_files(&directory) {
                    let words =
                        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
                    for (index, word) in words.enumerate() {
                        let position = index as u64 * 8;
                        let offset = position / 16384 * 16384;
                        let rank = if layout == Layout::Shared { position / 65536 % 3 } else { number };
                        let expected = naive(pattern, rank, offset, (position - offset) / 8);
                        assert_eq!(
                            word, expected,
                            "{pattern:?} {layout:?} {engine:?} file {number} at {position}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn every_kind_of_data_verifies() {
    let read = Transfer { verify: true, ..Transfer::read(Bytes::kib(16)) };
    let phases = || {
        vec![Phase::transfer("write", Transfer::write(Bytes::kib(16))), Phase::transfer("read", read.clone())]
    };
    for pattern in [Pattern::IorTimestamp, Pattern::IorOffset, Pattern::IorIncompressible, Pattern::IorRandom]
    {
        for layout in [Layout::PerRank, Layout::Shared] {
            let done = run(memory().path(), &of(pattern, layout, EngineChoice::Psync, phases())).expect();
            let read = done.phase("read");
            assert_eq!(
                (read.verified_bytes, read.verify_failures),
                (Bytes::kib(384), 0),
                "{pattern:?} {layout:?}"
            );
        }
    }
}

#[test]
fn strict_synchronisation_is_twice_per_write() {
    for (fsync, times) in [(Fsync::Every(1), 1), (Fsync::EachTwice, 2)] {
        let transfer = Transfer { fsync, ..Transfer::write(Bytes::kib(16)) };
        let phases = vec![Phase::transfer("write", transfer)];
        let workload = of(Pattern::Unique, Layout::PerRank, EngineChoice::Psync, phases);
        let done = run(memory().path(), &workload).expect();
        let count = |kind| done.phase("write").operations.iter().find(|o| o.kind == kind).unwrap().operations;
        assert_eq!((count(OperationKind::Write), count(OperationKind::Fsync)), (24, 24 * times));
    }
}

#[test]
fn a_share_is_gone_through_again_until_the_time_is_over_and_never_cut() {
    let stop = Stop { at_least: Some(Duration::from_millis(50)), ..Stop::default() };
    let phase = Phase { stop, ..Phase::transfer("write", Transfer::write(Bytes::kib(16))) };
    let workload = of(Pattern::Unique, Layout::PerRank, EngineChoice::Psync, vec![phase]);
    let done = run(memory().path(), &workload).expect();
    for rank in &done.phase("write").ranks {
        assert!(
            rank.operations > 8 && rank.operations.is_multiple_of(8),
            "whole passes: {}",
            rank.operations
        );
    }
}

#[test]
fn where_all_stood_at_the_deadline_is_known() {
    let stop =
        Stop { time: Some(Duration::from_millis(30)), repeat: true, wear_out: true, ..Stop::default() };
    let phase = Phase { stop, ..Phase::transfer("write", Transfer::write(Bytes::kib(16))) };
    let workload = of(Pattern::Unique, Layout::PerRank, EngineChoice::Psync, vec![phase]);
    let done = run(memory().path(), &workload).expect();
    let ranks = &done.phase("write").ranks;
    let most = ranks.iter().map(|rank| rank.stonewall.unwrap().operations).max().unwrap();
    for rank in ranks {
        let wall = rank.stonewall.unwrap();
        assert_eq!(rank.operations, most, "all went on until they had done as much as the first");
        assert_eq!(wall.bytes.get(), wall.operations * 16384);
        assert!(wall.elapsed_ns >= 30_000_000 && wall.elapsed_ns <= rank.transferred_ns);
    }
}
