use std::collections::HashSet;

use proptest::prelude::*;
use units::Ratio;

use super::*;

fn files(layout: Layout, block_kib: u64, segments: u64) -> FileSet {
    FileSet { layout, block_size: Bytes::kib(block_kib), segments, ..FileSet::default() }
}

fn steps(files: &FileSet, order: Order, owner: u32, ranks: u32) -> Vec<Step> {
    let transfer = Transfer { order, ..Transfer::read(Bytes::kib(4)) };
    let mut sequence = Sequence::new(files, &transfer, owner, ranks, 1);
    std::iter::from_fn(|| sequence.step()).collect()
}

#[test]
fn a_shared_file_is_laid_out_as_ior_does() {
    // offset = segment x ranks x block + rank x block + j x transfer
    let offsets: Vec<u64> =
        steps(&files(Layout::Shared, 8, 2), Order::Sequential, 1, 3).iter().map(|s| s.offset >> 10).collect();
    assert_eq!(offsets, [8, 12, 32, 36]);
}

#[test]
fn a_random_start_goes_round_to_where_it_began() {
    for owner in 0..4 {
        let all = files(Layout::PerRank, 64, 2);
        let walk: Vec<u64> =
            steps(&all, Order::RandomStart, owner, 4).iter().map(|s| s.offset >> 12).collect();
        let start = walk[0];
        assert!(start > 0, "vdbench: not zero");
        let expected: Vec<u64> = (0..32).map(|index| (start + index) % 32).collect();
        assert_eq!(walk, expected);
    }
}

#[test]
fn a_range_goes_over_the_end_to_the_beginning() {
    let transfer = Transfer {
        range_start: Ratio::percent(75.0),
        range_end: Ratio::percent(25.0),
        transfer_size: TransferSize::Range {
            smallest: Bytes::kib(8),
            largest: Bytes::kib(12),
            step: Bytes::kib(4),
        },
        ..Transfer::default()
    };
    for order in [Order::Sequential, Order::Reverse, Order::RandomStart] {
        let all = files(Layout::PerRank, 64, 1);
        let mut sequence = Sequence::new(&all, &Transfer { order, ..transfer.clone() }, 0, 1, 1);
        let mut seen: Vec<u64> = Vec::new();
        while let Some(step) = sequence.step() {
            seen.extend((step.offset >> 12)..(step.offset + u64::from(step.length)) >> 12);
        }
        if order == Order::Sequential {
            assert_eq!(seen, [12, 13, 14, 15, 0, 1, 2, 3]);
        }
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 12, 13, 14, 15], "{order:?}");
    }
}

proptest! {
    #[test]
    fn what_a_stopped_write_left_is_all_that_is_read(
        order in prop_oneof![
            Just(Order::Sequential),
            Just(Order::Reverse),
            Just(Order::RandomStart),
            Just(Order::Random),
            (1u64..5).prop_map(Order::RandomRuns),
            (0.0..100.0).prop_map(Order::SeekPercent),
        ],
        largest in 1u64..5,
        left in 1u64..48,
        hit_area in 0u64..8,
        seed: u64,
    ) {
        // Three stretches of 64 KiB, of which some units of 4 KiB were written.
        let files = FileSet { files_per_rank: 3, ..files(Layout::PerRank, 64, 1) };
        let (smallest, step) = (Bytes::kib(4), Bytes::kib(4));
        let transfer = Transfer {
            order,
            transfer_size: TransferSize::Range { smallest, largest: Bytes::kib(4 * largest), step },
            read_hits: Ratio::percent(if hit_area > 0 { 10.0 } else { 0.0 }),
            hit_area: Bytes::kib(4 * hit_area),
            ..Transfer::default()
        };
        let mut sequence = Sequence::new(&files, &transfer, 0, 1, seed);
        sequence.keep_to(Bytes::kib(4 * left), true);
        while let Some(step) = sequence.step() {
            let end = u64::from(step.slot) * 16 + ((step.offset + u64::from(step.length)) >> 12);
            prop_assert!(end <= left, "{step:?} reaches to {end} of {left}");
        }
    }
}

#[test]
fn weighted_sizes_stay_inside_the_share() {
    let sizes = TransferSize::Weighted(vec![
        WeightedSize { size: Bytes::kib(4), weight: 1 },
        WeightedSize { size: Bytes::kib(64), weight: 3 },
    ]);
    for order in [Order::Sequential, Order::Random, Order::SeekPercent(50.0)] {
        let transfer = Transfer { transfer_size: sizes.clone(), order, ..Transfer::default() };
        let mut sequence = Sequence::new(&files(Layout::PerRank, 1024, 1), &transfer, 0, 1, 3);
        while let Some(step) = sequence.step() {
            assert!(step.offset + u64::from(step.length) <= 1 << 20, "{order:?} {step:?}");
        }
    }
}

#[test]
fn a_range_keeps_to_its_part_of_the_file() {
    let transfer = Transfer {
        order: Order::Random,
        range_start: Ratio::new(0.5),
        range_end: Ratio::new(0.75),
        ..Transfer::read(Bytes::kib(4))
    };
    let mut sequence = Sequence::new(&files(Layout::PerRank, 1024, 1), &transfer, 0, 1, 3);
    assert_eq!(sequence.count(), 64);
    while let Some(step) = sequence.step() {
        assert!((512 << 10..768 << 10).contains(&step.offset));
    }
}

#[test]
fn blocks_follow_each_other_and_are_shuffled_alike() {
    let walk = |layout, owner| -> Vec<u64> {
        let steps = steps(&files(layout, 64, 3), Order::RandomInBlocks, owner, 2);
        steps.iter().map(|step| step.offset >> 12).collect()
    };
    for (layout, size) in [(Layout::PerRank, 16), (Layout::Shared, 32)] {
        let walk = walk(layout, 1);
        assert_eq!(walk.len(), 48);
        let block = |number: usize| -> Vec<u64> {
            walk[16 * number..][..16].iter().map(|position| position - size * number as u64).collect()
        };
        assert!(block(0).iter().all(|position| *position < size) && !block(0).is_sorted());
        assert_eq!((block(1), block(2)), (block(0), block(0)));
    }
}

#[test]
fn drawn_parts_of_a_shared_file_differ_and_runs_go_through_blocks() {
    let shared = files(Layout::Shared, 256, 2);
    let parts: Vec<usize> = (0..4).map(|owner| steps(&shared, Order::RandomDrawn, owner, 4).len()).collect();
    assert_eq!(parts.iter().sum::<usize>(), 4 * 64 * 2);
    assert!(parts.iter().any(|part| *part != 128), "{parts:?}");
    let walk: Vec<u64> = steps(&files(Layout::PerRank, 256, 2), Order::RandomRuns(8), 0, 1)
        .iter()
        .map(|step| step.offset >> 12)
        .collect();
    assert_eq!(walk.len(), 128);
    for run in walk.chunks(8) {
        assert!(run[0].is_multiple_of(8), "{run:?}");
        assert!(run.windows(2).all(|pair| pair[1] == pair[0] + 1), "{run:?}");
    }
    let starts: HashSet<u64> = walk.iter().step_by(8).copied().collect();
    assert!(starts.len() > 4, "{starts:?}");
}

proptest! {
    #[test]
    fn a_permutation_visits_everything_once(size in 1u64..5000, seed: u64) {
        let permutation = Permutation::new(size, seed);
        let seen: HashSet<u64> = (0..size).map(|index| permutation.at(index)).collect();
        prop_assert_eq!(seen.len() as u64, size);
        prop_assert!(seen.iter().all(|v| *v < size));
    }

    #[test]
    fn orders_without_repeats_cover_every_byte_once_over_all_ranks(
        shared: bool, block in 1u64..9, segments in 1u64..5, ranks in 1u32..5,
        streams in 1u32..4,
        order in prop_oneof![Just(Order::Sequential), Just(Order::Reverse), Just(Order::RandomOnce), Just(Order::RandomInBlocks), Just(Order::RandomDrawn), (1u64..7).prop_map(Order::Stride), Just(Order::Streams(1))],
    ) {
        let (ranks, order) = match order {
            Order::Streams(_) => (ranks * streams, Order::Streams(streams)),
            order => (ranks, order),
        };
        let layout = if shared { Layout::Shared } else { Layout::PerRank };
        let set = files(layout, block * 4, segments);
        let mut seen = HashSet::new();
        for owner in 0..ranks {
            for step in steps(&set, order, owner, ranks) {
                let file = if shared { 0 } else { owner };
                prop_assert!(step.offset + u64::from(step.length) <= set.file_size(ranks).get());
                prop_assert!(seen.insert((file, step.slot, step.offset)), "twice: {:?}", step);
            }
        }
        prop_assert_eq!(seen.len() as u64 * 4096, set.total_size(ranks).get());
    }
}
