//! Streams and skips: sequential with a gap here and there.

use bench::Workload;
use bench::sequence::Sequence;
use bench::workload::{EngineChoice, FileSet, Layout, Order, Phase, Stop, Transfer};
use units::{Bytes, Ratio};

use super::run::{data_files, keep, memory, workload};

const PAGE: u64 = 4096;

/// The pages a rank comes to, in order.
fn pages(files: &FileSet, transfer: &Transfer, rank: u32, ranks: u32, most: usize) -> Vec<u64> {
    let mut sequence = Sequence::new(files, transfer, rank, ranks, 7);
    std::iter::from_fn(|| sequence.step()).take(most).map(|step| step.offset / PAGE).collect()
}

fn of(order: Order) -> Transfer {
    Transfer { order, ..Transfer::read(Bytes::new(PAGE)) }
}

#[test]
fn ranks_are_dealt_to_the_streams_of_a_shared_file() {
    // 4 ranks own 12 pages each, 48 in all: two streams of 24, two ranks in each.
    let files = FileSet { layout: Layout::Shared, block_size: Bytes::new(12 * PAGE), ..FileSet::default() };
    let every_other = |start: u64| (0..12).map(|turn| start + 2 * turn).collect::<Vec<_>>();
    for (rank, start) in [(0, 0), (1, 24), (2, 1), (3, 25)] {
        assert_eq!(pages(&files, &of(Order::Streams(2)), rank, 4, 99), every_other(start), "rank {rank}");
    }
}

#[test]
fn streams_keep_to_the_range() {
    let files = FileSet { layout: Layout::Shared, block_size: Bytes::new(10 * PAGE), ..FileSet::default() };
    let half = Transfer { range_start: Ratio::percent(50.0), ..of(Order::Streams(2)) };
    assert_eq!(pages(&files, &half, 0, 2, 99), [10, 11, 12, 13, 14]);
    assert_eq!(pages(&files, &half, 1, 2, 99), [15, 16, 17, 18, 19]);
}

#[test]
fn a_rank_goes_from_stream_to_stream_of_its_own_file() {
    let files = FileSet { block_size: Bytes::new(8 * PAGE), ..FileSet::default() };
    assert_eq!(pages(&files, &of(Order::Streams(3)), 0, 1, 99), [0, 3, 6, 1, 4, 7, 2, 5]);
}

/// What a stopped run has written tells where its streams were.
#[test]
fn streams_are_written_from_their_starts() {
    for engine in [EngineChoice::Psync, EngineChoice::Uring] {
        let target = memory();
        let write = Transfer { order: Order::Streams(2), ..Transfer::write(Bytes::new(PAGE)) };
        let stop = Stop { operations: Some(3), ..Stop::default() };
        let files = FileSet { layout: Layout::Shared, block_size: Bytes::kib(64), ..FileSet::default() };
        let phases = vec![Phase { stop, ..Phase::transfer("write", write) }];
        let (done, directory) = keep(target.path(), &Workload { engine, files, ..workload(4, phases) });
        done.expect();
        let bytes = &data_files(&directory)[&0];
        let written: Vec<usize> = (0..bytes.len() / 4096)
            .filter(|page| bytes[page * 4096..][..4096].iter().any(|b| *b != 0))
            .collect();
        // 64 pages in two streams; two ranks in each did three.
        assert_eq!(written, [0, 1, 2, 3, 4, 5, 32, 33, 34, 35, 36, 37], "{engine:?}");
    }
}

#[test]
fn skips_are_between_their_bounds() {
    let files = FileSet { block_size: Bytes::kib(4 * 1000), ..FileSet::default() };
    let skip = |percent, least: u64, most: u64| {
        of(Order::Skip { percent, smallest: Bytes::new(least * PAGE), largest: Bytes::new(most * PAGE) })
    };
    let gaps = |transfer: &Transfer| -> Vec<u64> {
        let visited = pages(&files, transfer, 0, 1, 200);
        // The way back to the start is no gap.
        visited.windows(2).filter(|pair| pair[1] > pair[0]).map(|pair| pair[1] - pair[0] - 1).collect()
    };
    let always = gaps(&skip(100.0, 2, 5));
    for gap in 2..=5 {
        assert!(always.contains(&gap), "{gap} in {always:?}");
    }
    assert!(always.iter().all(|gap| (2..=5).contains(gap)), "{always:?}");
    let half = gaps(&skip(50.0, 2, 2));
    let skipped = half.iter().filter(|gap| **gap == 2).count();
    assert_eq!(skipped + half.iter().filter(|gap| **gap == 0).count(), half.len());
    // Of about 200; the deviation is 7.
    assert!((60..140).contains(&skipped), "{skipped} of {}", half.len());
    assert_eq!(gaps(&skip(0.0, 2, 5)), vec![0; 199], "never");
}

#[test]
fn skips_begin_at_the_start_again() {
    let files = FileSet { block_size: Bytes::new(10 * PAGE), ..FileSet::default() };
    let order = Order::Skip { percent: 100.0, smallest: Bytes::new(3 * PAGE), largest: Bytes::new(3 * PAGE) };
    assert_eq!(pages(&files, &of(order), 0, 1, 6), [3, 7, 0, 4, 8, 0]);
}
