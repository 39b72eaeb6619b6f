//! Some storage says only at close that data was lost: that ends the run, whatever came before it.

use bench::Workload;
use bench::workload::{EngineChoice, Entries, EntryOperation, FileSet, Fsync, Phase, Transfer, Tree};
use record::{OperationKind, StopCause};
use testkit::skip::{Need, can};
use units::Bytes;

use super::lossy::LossyMount;
use super::run::{Done, run, workload};

fn possible() -> bool {
    can("a file system that fails at close", &[Need::Root, Need::File("/dev/fuse")])
}

fn assert_told(done: &Done, phase: &str, file: &str) {
    let (message, hint) = done.words();
    assert!(message.contains("cannot close") && message.contains(file), "{message}");
    assert!(message.to_lowercase().contains("input/output error") && !hint.is_empty(), "{message} | {hint}");
    let phase = done.phase(phase);
    assert_eq!(phase.stopped_by, StopCause::Error);
    assert!(phase.error_count > 0);
    assert!(phase.errors.iter().any(|error| error.kind == OperationKind::Close), "{:?}", phase.errors);
    assert_eq!(done.phases().count(), 1, "what failed is not measured further");
}

#[test]
fn a_failing_close_ends_the_run_after_every_way_to_write() {
    if !possible() {
        return;
    }
    let mount = LossyMount::new("data.");
    for (engine, fsync) in [
        (EngineChoice::Psync, Fsync::Never),
        (EngineChoice::Psync, Fsync::AtEnd),
        (EngineChoice::Psync, Fsync::Every(1)),
        (EngineChoice::Uring, Fsync::AtEnd),
    ] {
        let write = Transfer { fsync, ..Transfer::write(Bytes::kib(16)) };
        let phases =
            vec![Phase::transfer("write", write), Phase::transfer("read", Transfer::read(Bytes::kib(16)))];
        let done = run(mount.path(), &Workload { engine, ..workload(2, phases) });
        assert_told(&done, "write", "data.0000000");
    }
}

/// Dropping the descriptor hid it: a creation that lost its data passed for a success.
#[test]
fn a_close_that_failed_passed_for_a_created_file() {
    if !possible() {
        return;
    }
    let mount = LossyMount::new("file.");
    let create = Entries { write_bytes: Bytes::new(100), ..Entries::of(EntryOperation::Create) };
    let tree = Tree { items: 3, ..Tree::default() };
    let files = FileSet { tree, ..FileSet::default() };
    let phases = vec![
        Phase::entries("tree", Entries::of(EntryOperation::MakeTree)),
        Phase::entries("create", create),
        Phase::entries("stat", Entries::of(EntryOperation::Stat)),
    ];
    let done = run(mount.path(), &Workload { files, ..workload(2, phases) });
    let (message, _) = done.words();
    assert!(message.contains("cannot create") && message.contains("file."), "{message}");
    assert!(message.to_lowercase().contains("input/output error"), "{message}");
    assert_eq!((done.phase("create").stopped_by, done.phases().count()), (StopCause::Error, 2));
}

#[test]
fn files_that_close_well_are_written_and_read_there_too() {
    if !possible() {
        return;
    }
    let mount = LossyMount::new("nothing is called this");
    let read = Transfer { verify: true, ..Transfer::read(Bytes::kib(16)) };
    let phases =
        vec![Phase::transfer("write", Transfer::write(Bytes::kib(16))), Phase::transfer("read", read)];
    let done = run(mount.path(), &workload(2, phases)).expect();
    assert_eq!((done.phase("read").bytes(), done.phase("read").verify_failures), (Bytes::kib(128), 0));
}
