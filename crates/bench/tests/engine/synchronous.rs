//! Writes that return when their data is durable: how the files are open is asked of the kernel.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use bench::Workload;
use bench::workload::{EngineChoice, Fsync, Phase, Stop, Transfer};
use record::OperationKind;
use rustix::fs::OFlags;
use units::{Bytes, Ratio};

use super::run::{disk, run, workload};

/// The open flags of the data files below `target`, whichever thread has them open.
fn open_flags(target: &Path) -> Vec<u32> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok);
    threads.flat_map(|thread| flags_of_thread(&thread.path(), target)).collect()
}

/// A thread or file that is gone by now has none.
fn flags_of_thread(thread: &Path, target: &Path) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(thread.join("fd")) else { return Vec::new() };
    let flags = |entry: std::fs::DirEntry| {
        let file = std::fs::read_link(entry.path()).ok()?;
        let ours = file.starts_with(target) && file.file_name()?.to_str()?.starts_with("data.");
        let text = std::fs::read_to_string(thread.join("fdinfo").join(entry.file_name())).ok()?;
        let octal = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
        ours.then(|| u32::from_str_radix(octal.trim(), 8).ok())?
    };
    entries.filter_map(Result::ok).filter_map(flags).collect()
}

/// Watches a phase that would run for long, and ends it by taking its data away.
fn flags_in_use(workload: &Workload) -> Vec<u32> {
    let target = disk();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                let now = open_flags(target.path());
                if seen.is_empty()
                    && !now.is_empty()
                    && now.iter().all(|flags| flags & 3 == OFlags::RDWR.bits())
                {
                    seen = now;
                }
                if !seen.is_empty() {
                    truncate_all(target.path());
                }
            }
            seen
        });
        let done = run(target.path(), workload);
        ended.store(true, Ordering::Relaxed);
        assert!(done.words().0.contains("ended early"), "{:?}", done.failure);
        watcher.join().unwrap()
    })
}

fn truncate_all(target: &Path) {
    let runs = std::fs::read_dir(target).unwrap().filter_map(Result::ok);
    let files = runs.filter_map(|run| std::fs::read_dir(run.path()).ok()).flatten().filter_map(Result::ok);
    for file in files.filter(|file| file.file_name().to_string_lossy().starts_with("data.")) {
        if let Ok(open) = std::fs::OpenOptions::new().write(true).open(file.path()) {
            open.set_len(0).unwrap();
        }
    }
}

#[test]
fn synchronous_files_are_open_as_such() {
    for (engine, synchronous) in
        [(EngineChoice::Psync, true), (EngineChoice::Uring, true), (EngineChoice::Psync, false)]
    {
        let mix = Transfer { read: Ratio::new(0.5), synchronous, ..Transfer::read(Bytes::kib(4)) };
        let stop = Stop { repeat: true, ..Stop::after(std::time::Duration::from_secs(20)) };
        let phases = vec![Phase { stop, ..Phase::transfer("mix", mix) }];
        let flags = flags_in_use(&Workload { engine, ..workload(2, phases) });
        let sync = OFlags::SYNC.bits();
        assert!(
            !flags.is_empty() && flags.iter().all(|f| (f & sync == sync) == synchronous),
            "{engine:?} {flags:?}"
        );
    }
}

#[test]
fn nothing_is_left_to_fsync_after_synchronous_writes() {
    let target = disk();
    let write = Transfer { synchronous: true, fsync: Fsync::AtEnd, ..Transfer::write(Bytes::kib(4)) };
    let done = run(target.path(), &workload(2, vec![Phase::transfer("write", write)])).expect();
    assert_eq!(done.phase("write").bytes(), Bytes::kib(128));
    assert!(done.phase("write").of(OperationKind::Fsync).is_none_or(|fsync| fsync.operations == 0));
}
