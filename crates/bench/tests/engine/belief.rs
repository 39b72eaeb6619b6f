//! Whether results can be believed, end to end.

use bench::Workload;
use bench::data::{Data, Pattern};
use bench::workload::{EngineChoice, FileSet, Fsync, Order, Phase, Stop, Transfer};
use record::{Event, Outcome, Validity};
use testkit::skip::{Need, can};
use units::{Bytes, Ratio};

use super::mount::Mount;
use super::run::{disk, memory, run, run_directory, run_with, workload};

fn write_and_read(drop_cache: bool, data: Data) -> Workload {
    let read = Phase { drop_cache, ..Phase::transfer("read", Transfer::read(Bytes::mib(1))) };
    let phases = vec![Phase::transfer("write", Transfer::write(Bytes::mib(1))), read];
    let files = FileSet { block_size: Bytes::mib(64), ..FileSet::default() };
    Workload { files, data, ..workload(2, phases) }
}

/// A file system on a device that nobody else uses: its counters show this run alone.
fn device() -> Option<Mount> {
    can("counters of a device", &[Need::Root, Need::Program("mkfs.ext4"), Need::File("/dev/loop-control")])
        .then(|| Mount::ext4("512M"))
}

#[test]
fn reads_that_the_cache_served_are_not_believed() {
    let Some(device) = device() else { return };
    let cached = run(device.path(), &write_and_read(false, Data::default())).expect();
    let (outcome, evidence) = cached.check("read", "cache-hit-proof");
    assert_eq!(outcome, Outcome::Fail, "{evidence}");
    assert_eq!(cached.record.tests[0].validity(), Validity::NotValid);

    let dropped = run(device.path(), &write_and_read(true, Data::default())).expect();
    let (outcome, evidence) = dropped.check("read", "cache-hit-proof");
    assert_eq!(outcome, Outcome::Pass, "{evidence}");
    assert_eq!(dropped.check("read", "working-set").0, Outcome::Pass);
}

#[test]
fn direct_reads_come_from_the_device() {
    let Some(device) = device() else { return };
    let mut workload = write_and_read(false, Data::default());
    workload.phases[1] =
        Phase::transfer("read", Transfer { direct: true, queue_depth: 4, ..Transfer::read(Bytes::mib(1)) });
    workload.engine = EngineChoice::Uring;
    let done = run(device.path(), &workload).expect();
    let (outcome, evidence) = done.check("read", "cache-hit-proof");
    assert_eq!(outcome, Outcome::Pass, "{evidence}");
    assert!(done.phase("read").engine.direct);
}

#[test]
fn memory_is_called_memory() {
    let target = memory();
    let done = run(target.path(), &write_and_read(true, Data::default())).expect();
    assert_eq!(done.check("read", "cache-hit-proof").0, Outcome::Note);
    let told =
        |event: &Event| matches!(event, Event::Notice { message } if message.contains("memory is measured"));
    assert!(done.events.iter().any(told));
}

#[test]
fn data_that_can_be_shrunk_is_noted() {
    let target = disk();
    let shrinkable = [
        (Data { pattern: Pattern::Zeros, ..Data::default() }, "zeros"),
        (Data { pattern: Pattern::Repeated, ..Data::default() }, "repeated"),
        (Data { compressible: Ratio::new(0.5), ..Data::default() }, "50 % compressible"),
    ];
    for (data, words) in shrinkable {
        let done = run(target.path(), &write_and_read(true, data)).expect();
        for phase in ["write", "read"] {
            let (outcome, evidence) = done.check(phase, "compressible-data");
            assert_ne!(outcome, Outcome::Pass, "{evidence}");
            assert!(evidence.contains(words), "{evidence}");
        }
    }
    let done = run(target.path(), &write_and_read(true, Data::default())).expect();
    assert_eq!(done.check("read", "compressible-data").0, Outcome::Pass);
}

/// Somebody replaces a file by a hole of the same length between the phases.
#[test]
fn thin_files_are_not_believed() {
    let target = disk();
    let done =
        run_with(target.path(), &write_and_read(true, Data::default()), bench::Options::default(), |event| {
            if matches!(event, Event::PhaseFinished { result } if result.name == "write") {
                let path = run_directory(target.path()).join("data.00000001");
                let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
                file.set_len(0).unwrap();
                file.set_len(64 << 20).unwrap();
            }
        });
    let (outcome, evidence) = done.expect().check("read", "thin-files");
    assert_eq!(outcome, Outcome::Fail, "{evidence}");
}

#[test]
fn writes_without_fsync_say_where_the_data_is() {
    let target = disk();
    let mut workload = write_and_read(true, Data::default());
    let write = Transfer { fsync: Fsync::Never, ..Transfer::write(Bytes::mib(1)) };
    workload.phases = vec![Phase::transfer("write", write)];
    let done = run(target.path(), &workload).expect();
    let (outcome, evidence) = done.check("write", "dirty-left");
    assert!(evidence.contains("without fsync"), "{outcome:?} {evidence}");
}

#[test]
fn littles_law_holds_with_a_queue() {
    let target = memory();
    let stop = Stop { operations: Some(20_000), repeat: true, ..Stop::default() };
    let read = Transfer { order: Order::Random, queue_depth: 8, ..Transfer::read(Bytes::kib(4)) };
    let phases = vec![Phase { stop, ..Phase::transfer("read", read) }];
    let done = run(target.path(), &Workload { engine: EngineChoice::Uring, ..workload(1, phases) }).expect();
    let (outcome, evidence) = done.check("read", "littles-law");
    assert_ne!(outcome, Outcome::Fail, "{evidence}");
}
