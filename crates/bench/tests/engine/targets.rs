//! Several targets, and directories of ranks: where files lie, and that nothing is left in any of them.

use std::collections::BTreeMap;
use std::path::Path;

use bench::data::Generator;
use bench::workload::{EngineChoice, Entries, EntryOperation, FileSet, Layout, Phase, Transfer, Tree};
use bench::{Options, Workload};
use record::Outcome;
use units::Bytes;

use super::counts::check_phase;
use super::run::{disk, memory, run, run_directory, run_with, workload};

/// The data files below a directory, by path.
fn files_below(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            let below = files_below(&entry.path());
            found.extend(below.into_iter().map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
        } else if !name.starts_with(".forebay") {
            found.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    found
}

fn entries_in(directory: &Path) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

fn write_and_read(ranks: u32, files: FileSet) -> Workload {
    let read = Transfer { verify: true, ..Transfer::read(Bytes::kib(4)) };
    let phases =
        vec![Phase::transfer("write", Transfer::write(Bytes::kib(4))), Phase::transfer("read", read)];
    Workload { files, ..workload(ranks, phases) }
}

/// What file number `number` must hold.
fn contents(workload: &Workload, number: u64) -> Vec<u8> {
    let mut bytes = vec![0; 64 << 10];
    Generator::new(workload.data, workload.seed).fill(number, 0, &mut bytes);
    bytes
}

#[test]
fn files_of_ranks_lie_in_the_targets_in_turn() {
    for directory_per_rank in [false, true] {
        let (first, second, third) = (disk(), memory(), memory());
        let more_targets = vec![second.path().to_owned(), third.path().to_owned()];
        let files = FileSet {
            block_size: Bytes::kib(64),
            files_per_rank: 2,
            directory_per_rank,
            ..FileSet::default()
        };
        let workload = Workload { more_targets, ..write_and_read(4, files) };
        let options = Options { keep_files: true, ..Options::default() };
        let done = run_with(first.path(), &workload, options, |_| {}).expect();
        done.phases().try_for_each(check_phase).unwrap();
        assert_eq!((done.phase("read").bytes(), done.phase("read").verify_failures), (Bytes::kib(512), 0));
        for (place, target) in [&first, &second, &third].into_iter().enumerate() {
            let mut expected = BTreeMap::new();
            for rank in (0..4u64).filter(|rank| *rank as usize % 3 == place) {
                for number in [2 * rank, 2 * rank + 1] {
                    let own = if directory_per_rank { format!("own.{rank:08}/") } else { String::new() };
                    expected.insert(format!("{own}data.{number:08}"), contents(&workload, number));
                }
            }
            assert!(files_below(&run_directory(target.path())) == expected, "target {place}");
        }
    }
}

#[test]
fn nothing_is_left_in_any_target() {
    for engine in [EngineChoice::Psync, EngineChoice::Auto] {
        let (first, second) = (disk(), disk());
        let more_targets = vec![second.path().to_owned()];
        let files = FileSet { block_size: Bytes::kib(64), directory_per_rank: true, ..FileSet::default() };
        let workload = Workload { more_targets, engine, repetitions: 2, ..write_and_read(3, files) };
        std::fs::write(second.path().join("mine"), "kept").unwrap();
        let done = run(first.path(), &workload).expect();
        assert_eq!(entries_in(second.path()), 1);
        assert_eq!(std::fs::read(second.path().join("mine")).unwrap(), b"kept");
        done.phases().try_for_each(check_phase).unwrap();
    }
}

/// The proof adds up what is counted below all targets, each device once, and says so where some bytes are not counted.
#[test]
fn bytes_are_counted_below_every_target() {
    let (first, second, elsewhere) = (disk(), disk(), memory());
    let files = || FileSet { block_size: Bytes::kib(64), ..FileSet::default() };
    let over = |others: &[&Path]| {
        let more_targets = others.iter().map(|path| path.to_path_buf()).collect();
        run(first.path(), &Workload { more_targets, ..write_and_read(2, files()) }).expect()
    };
    let names = |done: &super::run::Done| {
        let traffic = &done.phase("read").counters.traffic;
        traffic.iter().map(|counter| counter.name.clone()).collect::<Vec<_>>()
    };
    let (alone, both) = (over(&[]), over(&[second.path()]));
    assert_eq!(names(&alone), names(&both), "one device below both");
    let applies = |done: &super::run::Done| done.check("read", "cache-hit-proof").0 != Outcome::NotApplicable;
    assert_eq!(applies(&alone), applies(&both));
    let mixed = over(&[elsewhere.path()]);
    if !names(&alone).is_empty() {
        let (outcome, evidence) = mixed.check("read", "cache-hit-proof");
        assert_eq!(outcome, Outcome::NotApplicable);
        assert!(evidence.contains("several targets"), "{evidence}");
    }
}

#[test]
fn trees_of_ranks_lie_in_the_targets_in_turn() {
    let (first, second) = (memory(), disk());
    let tree = Tree { branch: 2, depth: 1, items: 5, per_rank: true, ..Tree::default() };
    let steps =
        [EntryOperation::Create, EntryOperation::Find, EntryOperation::Remove, EntryOperation::RemoveTree];
    let of =
        |operation| Entries { sync_at_end: operation == EntryOperation::Create, ..Entries::of(operation) };
    let named = |step: &EntryOperation| Phase::entries(&format!("{step:?}"), of(*step));
    let mut workload = Workload {
        more_targets: vec![second.path().to_owned()],
        files: FileSet { tree, ..FileSet::default() },
        ..workload(3, steps.iter().map(named).collect())
    };
    let done = run(first.path(), &workload).expect();
    let count = |step: EntryOperation| done.phase(&format!("{step:?}")).operation_count();
    assert_eq!((count(EntryOperation::Create), count(EntryOperation::Remove)), (15, 15));
    assert_eq!(count(EntryOperation::Find), 3 * (5 + 2));
    assert_eq!(entries_in(second.path()), 0);

    workload.phases.truncate(1);
    let options = Options { keep_files: true, ..Options::default() };
    run_with(first.path(), &workload, options, |_| {}).expect();
    let trees = |target: &Path| {
        let below = files_below(&run_directory(target));
        let mut trees: Vec<String> =
            below.keys().map(|path| path.split('/').next().unwrap().to_owned()).collect();
        trees.dedup();
        trees
    };
    assert_eq!(
        (trees(first.path()), trees(second.path())),
        (vec!["tree.0".to_owned(), "tree.2".to_owned()], vec!["tree.1".to_owned()])
    );
}

/// A second target that can't be used leaves nothing in the first.
#[test]
fn every_target_is_looked_at_before_anything_is_made() {
    let first = memory();
    let files = FileSet { block_size: Bytes::kib(64), ..FileSet::default() };
    let missing = first.path().join("missing");
    let workload = Workload { more_targets: vec![missing], ..write_and_read(2, files) };
    let done = run(first.path(), &workload);
    assert!(done.words().0.contains("missing"), "{:?}", done.failure);
    assert!(done.phases().next().is_none());
}

/// A file that somebody puts into the second run directory is told, and the first is removed all the same.
#[test]
fn what_is_not_ours_in_the_second_target_stays() {
    let (first, second) = (memory(), memory());
    let files = FileSet { block_size: Bytes::kib(64), ..FileSet::default() };
    let workload = Workload { more_targets: vec![second.path().to_owned()], ..write_and_read(2, files) };
    let there = second.path().to_owned();
    let done = run_with(first.path(), &workload, Options::default(), move |event| {
        if matches!(event, record::Event::PhaseStarted { phase, .. } if phase == "read") {
            std::fs::write(run_directory(&there).join("foreign"), "x").unwrap();
        }
    });
    assert!(done.words().0.contains("foreign"), "{:?}", done.failure);
    assert_eq!(entries_in(first.path()), 0);
    assert!(run_directory(second.path()).join("foreign").exists());
    assert!(!run_directory(second.path()).join("data.00000001").exists());
}

#[test]
fn what_all_ranks_share_is_in_one_target() {
    let said = |workload: Workload| workload.check().unwrap_err().message().to_owned();
    let shared = FileSet { layout: Layout::Shared, block_size: Bytes::kib(64), ..FileSet::default() };
    let several = Workload { more_targets: vec!["/b".into()], ..write_and_read(2, shared.clone()) };
    assert_eq!(said(several), "a file that all ranks share is in one directory");
    let own = FileSet { directory_per_rank: true, ..shared };
    assert_eq!(said(write_and_read(2, own)), "a file that all ranks share is in one directory");
    let items = Tree { items: 1, shared_items: true, ..Tree::default() };
    let tree = FileSet { tree: items, ..FileSet::default() };
    let stat = Phase::entries("stat", Entries::of(EntryOperation::Stat));
    let several = Workload { more_targets: vec!["/b".into()], files: tree, ..workload(2, vec![stat]) };
    assert_eq!(said(several), "items that all ranks share are in one target");
}

#[test]
fn a_tree_that_all_ranks_share_is_in_each_target() {
    let (first, second) = (disk(), memory());
    let tree = Tree { branch: 2, depth: 1, items: 6, ..Tree::default() };
    let phases = [EntryOperation::Create, EntryOperation::Stat, EntryOperation::Find];
    let phases = phases.map(|operation| Phase::entries(&format!("{operation:?}"), Entries::of(operation)));
    let workload = Workload {
        more_targets: vec![second.path().to_owned()],
        files: FileSet { tree, ..FileSet::default() },
        ..workload(4, phases.to_vec())
    };
    let options = Options { keep_files: true, ..Options::default() };
    let done = run_with(first.path(), &workload, options, |_| {}).expect();
    let counts: Vec<u64> =
        ["Create", "Stat", "Find"].into_iter().map(|name| done.phase(name).operation_count()).collect();
    // In each: two directories below the top, and the items of two ranks.
    assert_eq!(counts, [24, 24, 2 * (2 + 12)]);
    for target in [&first, &second] {
        assert_eq!(files_below(&run_directory(target.path())).len(), 12);
    }
}
