//! docs/SEMANTICS.md and the tests that hold it; and the promises that only the sources can show.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::going::{Going, wait_until};
use crate::place::Place;
use crate::workload::{SLOWLY, endless, workload};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All Rust sources below `dir`.
fn sources(dir: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.extension() {
            _ if path.is_dir() => sources(&path),
            Some(extension) if extension == "rs" => {
                vec![(path.clone(), std::fs::read_to_string(&path).unwrap())]
            }
            _ => Vec::new(),
        })
        .collect()
}

#[test]
fn every_promise_names_tests_that_exist() {
    let text = std::fs::read_to_string(root().join("docs/SEMANTICS.md")).unwrap();
    let sources = sources(&root().join("crates"));
    let promises: Vec<&str> = text.split("\n### ").skip(1).collect();
    assert!(promises.len() > 10);
    for promise in promises {
        let title = promise.lines().next().unwrap();
        let held_by = promise.lines().find_map(|line| line.strip_prefix("Held by: "));
        let held_by = held_by.unwrap_or_else(|| panic!("{title}: no `Held by:`"));
        for name in held_by.split(',').map(|name| name.trim().trim_matches(['`', '.'])) {
            let exists = sources.iter().any(|(_, source)| is_test_in(source, name));
            assert!(exists, "{title}: there is no test `{name}`");
        }
    }
}

fn is_test_in(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&format!("fn {name}(")))
}

/// Sources of the program, without its tests.
fn shipped() -> Vec<(PathBuf, String)> {
    let mut sources = sources(&root().join("crates"));
    sources.retain(|(path, _)| {
        let path = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        path.contains("/src/") && !path.contains("testkit")
    });
    sources
}

#[test]
fn nothing_flushes_or_drops_what_belongs_to_others() {
    for (path, source) in shipped() {
        for word in ["/drop_caches", "fs::sync(", "libc::sync(", "SYS_sync"] {
            assert!(!source.contains(word), "{} in {}", word, path.display());
        }
    }
}

#[test]
fn a_run_listens_on_nothing_and_talks_to_nobody() {
    let place = Place::new();
    let mut going =
        Going::start(place.run_command(&workload(2, 1, &[endless("write", 0, SLOWLY)]), &place.target()));
    going.wait_for(&["phase_started"]);
    let mut open = Vec::new();
    wait_until("an open data file", || {
        open = open_files(going.pid());
        open.iter().any(|path| path.contains("data.00000000"))
    });
    // Rooms that speak when told to: price lists, `--metrics` (and who reads its address), tasks that Slurm started.
    let told = [
        "crates/prices",
        "crates/metrics",
        "crates/fleet/src/socket",
        "crates/forebay/src/cli/outputs.rs",
        "crates/forebay/src/cli/sync.rs",
        "crates/forebay/src/commands/sync/figures.rs",
        "crates/forebay/src/commands/watching.rs",
    ];
    let mut sources = shipped();
    sources.retain(|(path, _)| !told.iter().any(|room| path.starts_with(root().join(room))));
    let speaks = sources.iter().find(|(_, source)| source.contains("std::net::"));
    assert!(speaks.is_none(), "{:?}", speaks.map(|(path, _)| path));
    // The pair that wakes the thread for signals has no address; nothing else may be a socket.
    let sockets: BTreeSet<_> = open.iter().filter(|path| path.starts_with("socket:")).collect();
    let network = std::fs::read_to_string(format!("/proc/{}/net/tcp", going.pid())).unwrap_or_default();
    let inodes: Vec<&str> = network.lines().filter_map(|line| line.split_whitespace().nth(9)).collect();
    assert!(sockets.len() <= 2, "{open:?}");
    assert!(sockets.iter().all(|path| !inodes.iter().any(|inode| **path == format!("socket:[{inode}]"))));
    going.kill();
}

/// What the descriptors of all threads of a process stand for: ranks have tables of their own.
fn open_files(pid: u32) -> Vec<String> {
    let entries = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path());
    let threads = entries(format!("/proc/{pid}/task").into());
    let descriptors = threads.flat_map(|thread| entries(thread.join("fd")));
    let open = descriptors.filter_map(|descriptor| std::fs::read_link(descriptor).ok());
    open.map(|path| path.to_string_lossy().into_owned()).collect()
}
