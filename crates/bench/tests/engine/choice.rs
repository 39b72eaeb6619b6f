//! Which engine runs, and what is refused before anything is touched.

use std::time::Duration;

use bench::Workload;
use bench::engine::uring_available;
use bench::workload::{EngineChoice, FileSet, Fsync, Order, Phase, Transfer};
use fault::Kind;
use testkit::skip::{Need, can};
use units::{Bytes, Ratio};

use super::mount::Mount;
use super::run::{disk, memory, run, workload};

fn with_engine(engine: EngineChoice, block: Bytes, transfer: Transfer) -> Workload {
    let files = FileSet { block_size: block, ..FileSet::default() };
    Workload { engine, files, ..workload(1, vec![Phase::transfer("x", transfer)]) }
}

#[test]
fn auto_reads_memory_with_psync_and_says_why() {
    let target = memory();
    let read = Transfer { order: Order::Random, ..Transfer::read(Bytes::kib(4)) };
    let done = run(target.path(), &with_engine(EngineChoice::Auto, Bytes::mib(1), read)).expect();
    let engine = &done.phase("x").engine;
    assert_eq!(engine.name, "psync", "{}", engine.reason);
    for words in ["probe: psync ", " op/s at ", " µs CPU, uring "] {
        assert!(engine.reason.contains(words), "{}", engine.reason);
    }
}

#[test]
fn engines_are_used_as_told() {
    assert!(uring_available(), "this kernel has io_uring");
    for target in [memory(), disk()] {
        for (engine, name) in [(EngineChoice::Psync, "psync"), (EngineChoice::Uring, "uring")] {
            let write = Transfer::write(Bytes::kib(4));
            let done = run(target.path(), &with_engine(engine, Bytes::kib(64), write)).expect();
            assert_eq!(
                (done.phase("x").engine.name.as_str(), done.phase("x").engine.reason.as_str()),
                (name, "as told")
            );
        }
        let deep = Transfer { queue_depth: 8, ..Transfer::write(Bytes::kib(4)) };
        let done = run(target.path(), &with_engine(EngineChoice::Auto, Bytes::kib(64), deep)).expect();
        assert_eq!((done.phase("x").engine.name.as_str(), done.phase("x").engine.queue_depth), ("uring", 8));
    }
}

/// The probe's file ended where its own rounding ended, and mixes of reads and writes probed an empty file.
#[test]
fn the_probe_manages_every_shape_of_transfer() {
    for target in [memory(), disk()] {
        for (size, read, direct) in
            [(47_008, 1.0, false), (4096, 0.5, false), (3901, 0.0, false), (4096, 1.0, true)]
        {
            let transfer = Transfer {
                read: Ratio::new(read),
                order: Order::Random,
                direct,
                ..Transfer::read(Bytes::new(size))
            };
            let workload = with_engine(EngineChoice::Auto, Bytes::new(size * 16), transfer);
            let done = run(target.path(), &workload).expect();
            assert!(done.phase("x").engine.reason.starts_with("probe: "), "{size} {read}");
        }
    }
}

#[track_caller]
fn refused(workload: &Workload, message: &str, hint: &str) {
    let target = disk();
    let done = run(target.path(), workload);
    let (said, advised) = done.words();
    assert!(said.contains(message), "{said}");
    assert!(advised.contains(hint), "{advised}");
    assert_eq!(done.failure.unwrap().kind(), Kind::Unsupported);
}

#[test]
fn what_an_engine_can_not_do_is_refused_with_a_hint() {
    let (kib, block) = (Bytes::kib(4), Bytes::kib(64));
    let deep = Transfer { queue_depth: 4, ..Transfer::read(kib) };
    refused(
        &with_engine(EngineChoice::Psync, block, deep),
        "one I/O in flight per rank, not 4",
        "uring engine",
    );
    let synced = Transfer { fsync: Fsync::Every(2), ..Transfer::write(kib) };
    refused(&with_engine(EngineChoice::Uring, block, synced.clone()), "no fsync per write", "psync engine");
    // Auto took the uring engine here, and quietly left out the fsync and the think time.
    let deep = Transfer { queue_depth: 4, ..synced };
    refused(&with_engine(EngineChoice::Auto, block, deep), "one I/O at a time, not 4", "more ranks");
    let thinking = Transfer { queue_depth: 2, think_time: Duration::from_millis(1), ..Transfer::read(kib) };
    refused(&with_engine(EngineChoice::Auto, block, thinking), "one I/O at a time, not 2", "more ranks");
}

#[test]
fn direct_io_with_an_odd_size_is_refused_with_a_hint() {
    for engine in [EngineChoice::Psync, EngineChoice::Uring, EngineChoice::Auto] {
        let odd = Transfer { direct: true, ..Transfer::write(Bytes::new(47_008)) };
        let workload = with_engine(engine, Bytes::new(470_080), odd);
        refused(&workload, "direct I/O here needs multiples of", "`direct = false`");
    }
}

#[test]
fn a_file_system_without_direct_io_is_named() {
    if !can("direct I/O on ramfs", &[Need::Root]) {
        return;
    }
    let mount = Mount::new("ramfs", &["-t", "ramfs", "none"]);
    let target = mount.path();
    let direct = Transfer { direct: true, ..Transfer::write(Bytes::kib(4)) };
    let workload = with_engine(EngineChoice::Psync, Bytes::kib(64), direct);
    let done = run(target, &workload);
    let (message, hint) = done.words();
    assert!(message.contains("direct I/O"), "{message}");
    assert!(hint.contains("direct"), "{hint}");
}
