//! Random small workloads that write and then read back.

use std::time::Duration;

use bench::Workload;
use bench::workload::{
    EngineChoice, FileSet, Fsync, Layout, Order, Phase, RankShift, Stop, Transfer, TransferSize, WeightedSize,
};
use proptest::prelude::*;
use units::{Bytes, Ratio};

use super::run::workload;

pub fn once_orders() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Sequential),
        Just(Order::Reverse),
        Just(Order::RandomStart),
        Just(Order::RandomOnce),
        Just(Order::RandomInBlocks),
        Just(Order::RandomDrawn),
        (1u64..6).prop_map(Order::Stride),
        Just(Order::SeekPercent(0.0)),
        Just(Order::Streams(1)),
    ]
}

pub fn orders() -> impl Strategy<Value = Order> {
    let skip = (0.0..100.0, 0u64..9, 0u64..100).prop_map(|(percent, least, more)| Order::Skip {
        percent,
        smallest: Bytes::kib(least),
        largest: Bytes::kib(least + more),
    });
    let chance = prop_oneof![
        Just(Order::Random),
        (1u64..5).prop_map(Order::RandomRuns),
        (0.0..100.0).prop_map(Order::SeekPercent),
        skip
    ];
    prop_oneof![3 => once_orders(), 2 => chance]
}

/// Sizes with `unit` as their grid.
fn sizes(unit: u64) -> impl Strategy<Value = TransferSize> {
    let of = move |count: u64| Bytes::new(unit * count);
    let weighted = (1u32..5, 1u32..5, 2u64..5).prop_map(move |(one, other, factor)| {
        TransferSize::Weighted(vec![
            WeightedSize { size: of(1), weight: one },
            WeightedSize { size: of(factor), weight: other },
        ])
    });
    let range = (1u64..3, 0u64..4).prop_map(move |(smallest, more)| TransferSize::Range {
        smallest: of(smallest),
        largest: of(smallest + more),
        step: of(1),
    });
    prop_oneof![3 => Just(TransferSize::Fixed(of(1))), 1 => weighted, 1 => range]
}

pub fn shifts() -> impl Strategy<Value = RankShift> {
    prop_oneof![
        Just(RankShift::None),
        (0u32..9).prop_map(RankShift::By),
        (0u64..9).prop_map(RankShift::Shuffled),
    ]
}

fn files(block: u64) -> impl Strategy<Value = FileSet> {
    (any::<bool>(), 1u64..4, 1u32..4).prop_map(move |(shared, segments, files_per_rank)| FileSet {
        layout: if shared { Layout::Shared } else { Layout::PerRank },
        block_size: Bytes::new(block),
        segments,
        files_per_rank: if shared { 1 } else { files_per_rank },
        ..FileSet::default()
    })
}

fn stops() -> impl Strategy<Value = Stop> {
    prop_oneof![
        3 => Just(Stop::default()),
        2 => (1u64..12).prop_map(|operations| Stop { operations: Some(operations), ..Stop::default() }),
        1 => any::<bool>().prop_map(|wear_out| Stop { wear_out, ..Stop::after(Duration::from_millis(1)) }),
    ]
}

fn depths() -> impl Strategy<Value = (EngineChoice, u32)> {
    prop_oneof![
        Just((EngineChoice::Psync, 1)),
        prop::sample::select(vec![1u32, 2, 7, 64]).prop_map(|depth| (EngineChoice::Uring, depth)),
    ]
}

/// A random part of a file.
pub fn ranges() -> impl Strategy<Value = (Ratio, Ratio)> {
    let part = (0.0f64..0.9, 0.05f64..1.0)
        .prop_map(|(start, length)| (Ratio::new(start), Ratio::new(start + length.max(0.02))));
    // From one over the end of the file to the other.
    let turned = (0.05f64..0.95, 0.05f64..0.95)
        .prop_filter("not empty", |(one, other)| (one - other).abs() > 0.01)
        .prop_map(|(one, other)| (Ratio::new(one.max(other)), Ratio::new(one.min(other))));
    prop_oneof![3 => Just((Ratio::ZERO, Ratio::ONE)), 1 => part, 1 => turned]
}

/// Writes, then reads and verifies the same in another order and with another size.
pub fn write_then_read() -> impl Strategy<Value = Workload> {
    let unit = prop::sample::select(vec![512u64, 4096, 47_008]);
    (unit, 1u64..9).prop_flat_map(|(unit, units)| {
        let shape = (files(unit * units), 1u32..7, any::<u64>(), depths(), any::<bool>());
        let write = (sizes(unit), once_orders(), ranges(), shifts(), stops());
        let read = (sizes(unit), orders(), shifts(), 0u32..3);
        (shape, write, read).prop_map(move |((files, ranks, seed, (engine, depth), direct), write, read)| {
            let (write_sizes, write_order, (range_start, range_end), write_shift, stop) = write;
            let (read_sizes, read_order, read_shift, fsync) = read;
            let direct = direct && unit == 4096;
            let fsync = match fsync {
                0 => Fsync::Never,
                1 if engine == EngineChoice::Psync => Fsync::Every(3),
                _ => Fsync::AtEnd,
            };
            let by_blocks = |order| matches!(order, Order::RandomInBlocks | Order::RandomDrawn);
            let (range_start, range_end) = if by_blocks(write_order) || by_blocks(read_order) {
                (Ratio::ZERO, Ratio::ONE)
            } else {
                (range_start, range_end)
            };
            let base = Transfer { range_start, range_end, queue_depth: depth, direct, ..Transfer::default() };
            let write = Transfer {
                read: Ratio::ZERO,
                transfer_size: once(write_sizes, write_order),
                order: write_order,
                rank_shift: write_shift,
                fsync,
                ..base.clone()
            };
            let read = Transfer {
                transfer_size: once(read_sizes, read_order),
                order: read_order,
                rank_shift: read_shift,
                verify: true,
                ..base
            };
            let phases =
                vec![Phase { stop, ..Phase::transfer("write", write) }, Phase::transfer("read", read)];
            Workload { seed, engine, files, ..workload(ranks, phases) }
        })
    })
}

/// Sizes that differ don't go with orders that visit every offset once.
fn once(sizes: TransferSize, order: Order) -> TransferSize {
    match order {
        Order::RandomOnce
        | Order::RandomInBlocks
        | Order::RandomDrawn
        | Order::RandomRuns(_)
        | Order::Stride(_)
        | Order::Streams(_) => TransferSize::Fixed(sizes.unit()),
        _ => sizes,
    }
}
