//! Entries under names that somebody chose: where they lie, what was there before, and what is removed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use bench::workload::{
    Entries, EntryOperation, Existing, FileSet, Item, Layout, Named, Phase, RankShift, Stop, Transfer, Tree,
};
use bench::{Options, Workload};
use record::Event;
use units::Bytes;

use super::run::{Done, disk, memory, run, run_with, workload};

fn named(existing: Existing, keep: bool) -> Named {
    Named { data: vec!["test.file".to_owned()], existing, keep, ..Named::default() }
}

fn files(layout: Layout, named: Named) -> FileSet {
    FileSet { layout, block_size: Bytes::kib(64), segments: 2, named: Some(named), ..FileSet::default() }
}

fn write() -> Phase {
    Phase::transfer("write", Transfer::write(Bytes::kib(16)))
}

fn read() -> Phase {
    let shift = RankShift::By(1);
    Phase::transfer("read", Transfer { verify: true, rank_shift: shift, ..Transfer::read(Bytes::kib(16)) })
}

fn of(files: FileSet, phases: Vec<Phase>) -> Workload {
    Workload { files, ..workload(3, phases) }
}

fn do_it(target: &Path, workload: &Workload) -> Done {
    run_with(target, workload, Options::default(), |_| {})
}

fn listing(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            names.extend(listing(&entry.path()).into_iter().map(|below| format!("{name}/{below}")));
        }
        names.push(name);
    }
    names.sort();
    names
}

fn notices(done: &Done) -> Vec<&str> {
    let mut notices = Vec::new();
    for event in &done.events {
        if let Event::Notice { message } = event {
            notices.push(message.as_str());
        }
    }
    notices
}

#[test]
fn named_files_are_removed_like_any_others() {
    for layout in [Layout::PerRank, Layout::Shared] {
        let target = disk();
        let done =
            run(target.path(), &of(files(layout, named(Existing::Refuse, false)), vec![write(), read()]));
        let done = done.expect();
        assert_eq!((done.phase("read").bytes(), done.phase("read").verify_failures), (Bytes::kib(384), 0));
    }
}

#[test]
fn kept_files_are_read_by_a_later_run() {
    for layout in [Layout::PerRank, Layout::Shared] {
        let target = memory();
        do_it(target.path(), &of(files(layout, named(Existing::Replace, true)), vec![write()])).expect();
        let expected: &[&str] = match layout {
            Layout::PerRank => &["test.file.00000000", "test.file.00000001", "test.file.00000002"],
            Layout::Shared => &["test.file"],
        };
        assert_eq!(listing(target.path()), expected);
        let done =
            do_it(target.path(), &of(files(layout, named(Existing::Use, false)), vec![read()])).expect();
        assert_eq!((done.phases().count(), done.phase("read").bytes()), (1, Bytes::kib(384)));
        assert_eq!(done.phase("read").verify_failures, 0);
        assert_eq!(listing(target.path()), expected, "what was there before stays");
    }
}

#[test]
fn names_follow_targets_ranks_and_repetitions() {
    let (first, second) = (disk(), memory());
    let data = vec!["a".to_owned(), "b".to_owned()];
    let names = Named { data, data_per_repetition: true, keep: true, ..Named::default() };
    let files = FileSet { directory_per_rank: true, ..files(Layout::PerRank, names) };
    let more_targets = vec![second.path().to_owned()];
    let workload = Workload { repetitions: 2, more_targets, ..of(files, vec![write()]) };
    do_it(first.path(), &workload).expect();
    let expected = ["0", "0/a.00000000.0", "0/a.00000000.1", "2", "2/a.00000002.0", "2/a.00000002.1"];
    assert_eq!(listing(first.path()), expected);
    assert_eq!(listing(second.path()), ["1", "1/b.00000001.0", "1/b.00000001.1"]);
}

#[test]
fn what_is_in_the_way_is_told_and_nothing_is_made() {
    let target = disk();
    fs::write(target.path().join("test.file.00000002"), "mine").unwrap();
    let outside = disk();
    fs::write(outside.path().join("precious"), "mine").unwrap();
    let of = |existing| of(files(Layout::PerRank, named(existing, false)), vec![write()]);
    let done = do_it(target.path(), &of(Existing::Refuse));
    assert!(done.words().0.contains("test.file.00000002` is there already"), "{:?}", done.words());
    assert_eq!(listing(target.path()), ["test.file.00000002"]);

    // What may be replaced is a regular file. A symlink is neither followed nor removed.
    symlink(outside.path().join("precious"), target.path().join("test.file.00000001")).unwrap();
    for existing in [Existing::Refuse, Existing::Replace, Existing::Use] {
        let done = do_it(target.path(), &of(existing));
        assert!(done.words().0.contains("test.file.0000000"), "{:?}", done.words());
        assert_eq!(listing(target.path()), ["test.file.00000001", "test.file.00000002"]);
    }
    assert_eq!(fs::read(outside.path().join("precious")).unwrap(), b"mine");

    fs::remove_file(target.path().join("test.file.00000001")).unwrap();
    let done = do_it(target.path(), &of(Existing::Replace)).expect();
    assert!(
        notices(&done).iter().any(|notice| notice.contains("test.file.00000002")),
        "{:?}",
        notices(&done)
    );
    assert!(listing(target.path()).is_empty());
}

#[test]
fn existing_files_are_written_in_place_and_stay() {
    let target = disk();
    let path = target.path().join("test.file");
    fs::write(&path, vec![7; 500 << 10]).unwrap();
    do_it(target.path(), &of(files(Layout::Shared, named(Existing::Use, false)), vec![write(), read()]))
        .expect();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 500 << 10, "not truncated");
    assert!(bytes[384 << 10..].iter().all(|byte| *byte == 7) && bytes[..8] != [7; 8]);
}

#[test]
fn as_much_as_there_is_is_read() {
    // Two rounds of three blocks of 64 KiB: 1.5 rounds are there.
    let target = disk();
    let workload = of(files(Layout::Shared, named(Existing::Use, false)), vec![read()]);
    fs::write(target.path().join("test.file"), vec![0; 288 << 10]).unwrap();
    let done = do_it(target.path(), &workload);
    let read: Vec<u64> = done.phase("read").ranks.iter().map(|rank| rank.bytes.get() >> 10).collect();
    assert_eq!(read, [96, 64, 128], "each rank reads the blocks of the next");
    assert!(
        notices(&done).iter().any(|notice| notice.contains("288 KiB of 384 KiB")),
        "{:?}",
        notices(&done)
    );

    fs::write(target.path().join("test.file"), "").unwrap();
    let done = do_it(target.path(), &workload);
    assert!(done.words().0.contains("hold 0 B of the 384 KiB"), "{:?}", done.words());
    fs::remove_file(target.path().join("test.file")).unwrap();
    let done = do_it(target.path(), &workload);
    assert!(
        done.words().0.contains("is not there") && done.words().1.contains("-w -k"),
        "{:?}",
        done.words()
    );
}

#[test]
fn a_stopped_write_leaves_nothing() {
    let target = disk();
    let stop = Stop { operations: Some(3), ..Stop::default() };
    let workload =
        of(files(Layout::PerRank, named(Existing::Refuse, false)), vec![Phase { stop, ..write() }, read()]);
    let done = run(target.path(), &workload).expect();
    assert_eq!(done.phase("read").bytes(), Bytes::kib(144));
}

/// mdtest in several processes: -C, then -T, then -r.
#[test]
fn trees_of_one_run_are_used_and_removed_by_others() {
    for per_rank in [false, true] {
        let target = memory();
        let tree = Tree { items: 12, depth: 1, branch: 2, per_rank, ..Tree::default() };
        let names = |keep| Named { tree: Some("test-dir".to_owned()), keep, ..Named::default() };
        let set = |keep| FileSet { tree: tree.clone(), named: Some(names(keep)), ..FileSet::default() };
        let phase = |operation, item| {
            let entries = Entries { item, rank_shift: RankShift::By(1), ..Entries::of(operation) };
            Phase::entries(
                "x",
                if operation == EntryOperation::Create {
                    Entries { rank_shift: RankShift::None, ..entries }
                } else {
                    entries
                },
            )
        };
        let both = |operation| vec![phase(operation, Item::Directory), phase(operation, Item::File)];
        let make = Phase::entries("tree", Entries::of(EntryOperation::MakeTree));
        let create: Vec<Phase> = std::iter::once(make).chain(both(EntryOperation::Create)).collect();
        do_it(target.path(), &of(set(true), create.clone())).expect();
        let made = listing(target.path());
        let (root, last) = if per_rank {
            ("test-dir.0-0/mdtest_tree.2.0", "mdtest_tree.2.2/file.mdtest.2.11")
        } else {
            ("test-dir.0-0/mdtest_tree.0", "mdtest_tree.2/dir.mdtest.2.11")
        };
        assert!(made.contains(&format!("{root}/{last}")), "{made:?}");
        assert_eq!(made.len(), 1 + 3 * if per_rank { 3 } else { 1 } + 3 * 24);

        let done = do_it(target.path(), &of(set(true), both(EntryOperation::Stat))).expect();
        assert!(done.phases().all(|phase| phase.operations[0].operations == 36));
        assert_eq!(listing(target.path()), made);

        let mut remove = both(EntryOperation::Remove);
        remove.push(Phase::entries("tree", Entries::of(EntryOperation::RemoveTree)));
        do_it(target.path(), &of(set(true), remove)).expect();
        assert!(listing(target.path()).is_empty());

        // Without anything that removes it, a tree that is not kept goes at the end.
        do_it(target.path(), &of(set(false), create)).expect();
        assert!(listing(target.path()).is_empty());
    }
}

#[test]
fn items_that_all_ranks_share_are_called_as_mdtest_calls_them() {
    let target = memory();
    let tree = Tree { items: 4, shared_items: true, ..Tree::default() };
    let names = Named { tree: Some("test-dir".to_owned()), keep: true, ..Named::default() };
    let set = FileSet { tree, named: Some(names), ..FileSet::default() };
    let phases =
        [EntryOperation::MakeTree, EntryOperation::Create].map(|o| Phase::entries("x", Entries::of(o)));
    do_it(target.path(), &of(set, phases.to_vec())).expect();
    let root = "test-dir.0-0/mdtest_tree.0";
    let items = (0..4).map(|item| format!("{root}/file.mdtest.shared.{item}"));
    let expected: Vec<String> =
        ["test-dir.0-0".to_owned(), root.to_owned()].into_iter().chain(items).collect();
    assert_eq!(listing(target.path()), expected);
}

#[test]
fn damaged_files_are_kept_where_that_is_asked_for() {
    let target = disk();
    let path = target.path().join("test.file");
    fs::write(&path, vec![7; 384 << 10]).unwrap();
    let mut names = named(Existing::Replace, false);
    names.keep_damaged = true;
    let workload = of(files(Layout::Shared, names), vec![write(), read()]);
    let damage = |event: &Event| {
        if let Event::PhaseFinished { result } = event
            && result.name == "write"
        {
            let file = fs::File::options().write(true).open(&path).unwrap();
            std::os::unix::fs::FileExt::write_all_at(&file, b"damaged!", 100 << 10).unwrap();
        }
    };
    let done = run_with(target.path(), &workload, Options::default(), damage);
    assert_eq!(done.phase("read").verify_failures, 1);
    let damaged: u64 = done.phase("read").ranks.iter().map(|rank| rank.damaged).sum();
    assert_eq!(damaged, 1, "one transfer, as IOR counts");
    assert_eq!(listing(target.path()), ["test.file"]);
    run(memory().path(), &workload).expect();
}
