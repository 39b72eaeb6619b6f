//! Damage is found, named, and makes the result not valid.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use bench::workload::{EngineChoice, Entries, EntryOperation, FileSet, Phase, Transfer, Tree};
use bench::{Options, Workload};
use record::{Event, Outcome, Validity};
use units::Bytes;

use super::run::{Done, disk, run_directory, run_with, workload};

/// Runs a workload whose files somebody damages after its first phase: one byte of `file` at `offset`.
fn damaged(target: &Path, workload: &Workload, file: &str, offset: u64) -> Done {
    let mut first = true;
    run_with(target, workload, Options::default(), |event| {
        if matches!(event, Event::PhaseFinished { .. }) && std::mem::take(&mut first) {
            flip(&run_directory(target).join(file), offset);
        }
    })
}

fn flip(path: &Path, offset: u64) {
    let byte = std::fs::read(path).unwrap()[offset as usize];
    let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(&[byte ^ 1]).unwrap();
}

#[test]
fn a_flipped_bit_is_found_and_named() {
    for (engine, queue_depth) in [(EngineChoice::Psync, 1), (EngineChoice::Uring, 8)] {
        let target = disk();
        let read = Transfer { verify: true, queue_depth, ..Transfer::read(Bytes::kib(4)) };
        let phases = vec![
            Phase::transfer("write", Transfer::write(Bytes::kib(4))),
            Phase::transfer("read", read),
            Phase::transfer("read on", Transfer::read(Bytes::kib(4))),
        ];
        let workload = Workload { engine, ..workload(2, phases) };
        let done = damaged(target.path(), &workload, "data.00000001", 20_001);
        assert!(done.failure.is_none(), "damage is a finding, not a failure: {:?}", done.failure);
        let phase = done.phase("read");
        assert_eq!((phase.verify_failures, phase.verified_bytes), (1, Bytes::kib(128)));
        let error = &phase.errors[0];
        // The word of 8 bytes that holds the byte.
        assert_eq!((error.file.as_str(), error.offset, error.rank), ("data.00000001", Some(20_000), 1));
        assert!(error.message.contains("was written") && error.hint.is_some(), "{error:?}");
        assert_eq!(done.check("read", "verification").0, Outcome::Fail);
        assert_eq!(done.record.tests[0].validity(), Validity::NotValid);
        assert_eq!(done.check("read on", "verification").0, Outcome::NotApplicable);
    }
}

#[test]
fn damage_in_a_small_file_is_found_and_named() {
    let target = disk();
    let of = |operation| Entries { verify: true, ..Entries::of(operation) };
    let create = Entries { write_bytes: Bytes::new(3901), ..of(EntryOperation::Create) };
    let read = Entries { read_bytes: Bytes::new(3901), ..of(EntryOperation::Read) };
    let phases = vec![
        Phase::entries("tree", of(EntryOperation::MakeTree)),
        Phase::entries("create", create),
        Phase::entries("read", read),
    ];
    let files = FileSet { tree: Tree { items: 10, ..Tree::default() }, ..FileSet::default() };
    let workload = Workload { files, ..workload(2, phases) };
    let mut count = 0;
    let done = run_with(target.path(), &workload, Options::default(), |event| {
        count += u32::from(matches!(event, Event::PhaseFinished { .. }));
        if count == 2 && matches!(event, Event::PhaseFinished { .. }) {
            flip(&run_directory(target.path()).join("tree.0/file.1.4"), 3900);
        }
    });
    let phase = done.phase("read");
    assert_eq!((phase.verify_failures, phase.verified_bytes), (1, Bytes::new(3901 * 20)));
    let error = &phase.errors[0];
    assert_eq!((error.file.as_str(), error.offset), ("tree.0/file.1.4", Some(3896)));
    assert_eq!(done.record.tests[0].validity(), Validity::NotValid);
}

#[test]
fn a_file_that_became_shorter_ends_the_run_with_its_name() {
    for engine in [EngineChoice::Psync, EngineChoice::Uring] {
        let target = disk();
        let phases = vec![
            Phase::transfer("write", Transfer::write(Bytes::kib(4))),
            Phase::transfer("read", Transfer::read(Bytes::kib(4))),
        ];
        let workload = Workload { engine, ..workload(2, phases) };
        let done = run_with(target.path(), &workload, Options::default(), |event| {
            if matches!(event, Event::PhaseFinished { result } if result.name == "write") {
                let path = run_directory(target.path()).join("data.00000000");
                std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(8192).unwrap();
            }
        });
        let (message, hint) = done.words();
        assert!(message.contains("`data.00000000` ended early at offset 8192"), "{message}");
        assert!(hint.contains("shorter"), "{hint}");
        assert_eq!(std::fs::read_dir(target.path()).unwrap().count(), 0, "removed all the same");
    }
}
