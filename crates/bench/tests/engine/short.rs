//! Transfers that come back short.

use bench::workload::{EngineChoice, FileSet, Phase, Transfer};
use bench::{Options, Workload};
use record::Event;
use units::Bytes;

use super::mount::Mount;
use super::run::{run_with, workload};

/// A file system that is full after two and a half transfers answers the third with a part of it, and then with an error.
#[test]
fn a_short_transfer_fails_where_one_attempt_is_all_there_is() {
    for (engine, single_attempt, expected) in [
        (EngineChoice::Psync, true, "came back short at offset 655360"),
        (EngineChoice::Uring, true, "came back short at offset 655360"),
        (EngineChoice::Psync, false, "no space"),
    ] {
        let mount = Mount::new("full", &["-t", "tmpfs", "-o", "size=16m", "none"]);
        let write = Transfer { single_attempt, ..Transfer::write(Bytes::kib(256)) };
        let files = FileSet { block_size: Bytes::mib(2), ..FileSet::default() };
        let phases = vec![Phase::transfer("write", write)];
        let workload = Workload { engine, files, ..workload(1, phases) };
        let filler = mount.path().join("filler");
        let mut file = None;
        let done = run_with(mount.path(), &workload, Options::default(), |event| {
            if !matches!(event, Event::PhaseStarted { .. }) {
                return;
            }
            let stat = rustix::fs::statvfs(mount.path()).unwrap();
            let filler = std::fs::File::create(&filler).unwrap();
            let left = 2 * 256 + 128;
            rustix::fs::fallocate(
                &filler,
                rustix::fs::FallocateFlags::empty(),
                0,
                stat.f_bavail * stat.f_frsize - (left << 10),
            )
            .unwrap();
            file = Some(filler);
        });
        let said = done.words().0.to_lowercase();
        assert!(said.contains(expected), "{engine:?}: {said}");
    }
}
