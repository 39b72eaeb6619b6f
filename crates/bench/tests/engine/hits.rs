//! Hit areas: a share of the transfers goes to the start of the rank's range, the others keep out of it.

use bench::Workload;
use bench::sequence::Sequence;
use bench::workload::{EngineChoice, FileSet, Order, Phase, Stop, Transfer};
use record::OperationKind;
use units::{Bytes, Ratio};

use super::counts::check_phase;
use super::run::{data_files, keep, memory, workload};

fn hitting(read: f64, hits: f64, order: Order) -> Transfer {
    Transfer {
        read: Ratio::new(read),
        read_hits: Ratio::new(hits),
        write_hits: Ratio::new(hits),
        hit_area: Bytes::kib(16),
        order,
        ..Transfer::read(Bytes::kib(4))
    }
}

/// What was never written stays empty: a file tells where the writes went.
#[test]
fn writes_stay_in_the_hit_area_or_out_of_it() {
    for engine in [EngineChoice::Psync, EngineChoice::Uring] {
        for order in [Order::Random, Order::SeekPercent(30.0)] {
            for hits in [1.0, 0.5] {
                let target = memory();
                let stop = Stop { operations: Some(500), repeat: true, ..Stop::default() };
                let phases = vec![Phase { stop, ..Phase::transfer("write", hitting(0.0, hits, order)) }];
                let (done, directory) = keep(target.path(), &Workload { engine, ..workload(2, phases) });
                let done = done.expect();
                check_phase(done.phase("write")).unwrap();
                assert_eq!(done.phase("write").of(OperationKind::Write).unwrap().operations, 1000);
                for bytes in data_files(&directory).values() {
                    let holes: Vec<usize> =
                        (0..4).filter(|page| bytes[page << 12..][..4096].iter().all(|b| *b == 0)).collect();
                    assert!(
                        holes.is_empty(),
                        "{order:?} {hits} {engine:?}: nothing written to pages {holes:?}"
                    );
                    assert_eq!(bytes.len() > 16 << 10, hits < 1.0, "{order:?} {hits}");
                }
            }
        }
    }
}

#[test]
fn misses_keep_out_of_the_hit_area() {
    let files = FileSet { block_size: Bytes::kib(64), ..FileSet::default() };
    for order in [Order::Random, Order::SeekPercent(30.0)] {
        let mut sequence = Sequence::new(&files, &hitting(1.0, 0.5, order), 0, 1, 7);
        for _ in 0..16 {
            assert!(sequence.step().unwrap().offset >= 16 << 10, "{order:?}");
        }
        sequence.rewind();
        for _ in 0..16 {
            assert!(sequence.step_in_hits().unwrap().offset < 16 << 10, "{order:?}");
        }
    }
}

#[test]
fn hit_areas_that_make_no_sense_are_refused() {
    let said = |transfer: Transfer| {
        let fault = workload(1, vec![Phase::transfer("x", transfer)]).check().unwrap_err();
        format!("{} | {}", fault.message(), fault.hint_text().unwrap())
    };
    assert_eq!(
        said(hitting(1.0, 0.5, Order::Sequential)),
        "phase `x`: a hit area goes with random offsets only | set `order` to `random`, `seek_percent` or `skip`, or leave out `read_hits` and `write_hits`"
    );
    for area in [Bytes::kib(64), Bytes::new(100)] {
        let odd = Transfer { hit_area: area, ..hitting(1.0, 0.5, Order::Random) };
        assert!(said(odd).contains("must hold a transfer and be smaller than the range"));
    }
}
