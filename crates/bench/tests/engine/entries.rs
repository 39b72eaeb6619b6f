//! Operations on entries: mdtest's phases over trees of every shape.

use std::collections::BTreeSet;
use std::path::Path;

use bench::Workload;
use bench::data::Generator;
use bench::workload::EntryOperation::{Create, Find, MakeTree, Read, Remove, RemoveTree, Rename, Stat};
use bench::workload::{Entries, EntryOperation, FileSet, Item, Order, Phase, RankShift, Stop, Tree};
use proptest::prelude::*;
use record::{OperationKind, StopCause};
use units::Bytes;

use super::counts::check_phase;
use super::run::{Done, disk, keep, memory, run, workload};
use super::strategy::shifts;

pub fn with_tree(ranks: u32, tree: Tree, phases: Vec<Phase>) -> Workload {
    let files = FileSet { tree, ..FileSet::default() };
    Workload { files, ..workload(ranks, phases) }
}

/// A phase named after its operation.
pub fn phase(entries: &Entries) -> Phase {
    Phase::entries(&format!("{:?}", entries.operation), entries.clone())
}

pub fn of(operation: EntryOperation) -> Entries {
    Entries::of(operation)
}

/// All names below a directory, relative to it, without the journal.
pub fn names(directory: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut stack = vec![directory.to_owned()];
    while let Some(next) = stack.pop() {
        for entry in std::fs::read_dir(&next).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
            if name.starts_with(".forebay") {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                stack.push(path);
            }
            found.insert(name);
        }
    }
    found
}

pub fn operations(done: &Done, operation: EntryOperation) -> u64 {
    done.phase(&format!("{operation:?}")).operation_count()
}

fn trees() -> impl Strategy<Value = Tree> {
    let directory_items = prop::option::of(1u64..9);
    (1u32..4, 0u32..4, 1u64..40, any::<bool>(), any::<bool>(), directory_items).prop_map(
        |(branch, depth, items, leaf_only, per_rank, directory_items)| Tree {
            branch,
            depth,
            items,
            directory_items,
            shared_items: false,
            leaf_only,
            per_rank,
            sizes: Vec::new(),
            prefix: "item-x".to_owned(),
        },
    )
}

fn items() -> impl Strategy<Value = Item> {
    prop_oneof![Just(Item::File), Just(Item::Directory), Just(Item::Node)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_is_made_used_and_removed_without_a_trace(
        tree in trees(), ranks in 1u32..5, item in items(), shift in shifts(), shuffled: bool, relative: bool,
        bytes in 0u64..5000, fsync: bool,
    ) {
        let base = |operation| Entries {
            item,
            relative,
            verify: true,
            order: if shuffled { Order::RandomOnce } else { Order::Sequential },
            ..of(operation)
        };
        let size = Bytes::new(if item == Item::File { bytes } else { 0 });
        let shifted = |operation| Entries { rank_shift: shift, ..base(operation) };
        let mut steps = vec![
            base(MakeTree),
            Entries { write_bytes: size, fsync, ..base(Create) },
            shifted(Stat),
            base(Find),
            shifted(Rename),
            Entries { sync_at_end: true, ..shifted(Stat) },
        ];
        if item == Item::File {
            steps.push(Entries { read_bytes: size, ..shifted(Read) });
        }
        steps.extend([shifted(Remove), base(RemoveTree)]);
        let workload = with_tree(ranks, tree.clone(), steps.iter().map(phase).collect());

        let target = memory();
        let (done, directory) = keep(target.path(), &workload);
        let done = done.expect();
        prop_assert_eq!(names(&directory), BTreeSet::new(), "something is left");
        done.phases().try_for_each(check_phase)?;

        let count = if tree.per_rank { u64::from(ranks) } else { 1 };
        let count = count * tree.trees();
        let (directories, all) = (tree.directories() * count, tree.items * u64::from(ranks));
        prop_assert_eq!(operations(&done, MakeTree), directories);
        prop_assert_eq!(operations(&done, RemoveTree), directories);
        for operation in [Create, Stat, Rename, Remove] {
            prop_assert_eq!(operations(&done, operation), all, "{:?}", operation);
        }
        // Every entry but the roots of the trees.
        prop_assert_eq!(operations(&done, Find), all + directories - count);
        if item == Item::File {
            prop_assert_eq!(done.phase("Create").bytes(), size * all);
            prop_assert_eq!(done.phase("Read").bytes(), size * all);
            let fsyncs = done.phase("Create").of(OperationKind::Fsync).map_or(0, |o| o.operations);
            prop_assert_eq!(fsyncs, if fsync { all } else { 0 });
        }
        prop_assert_eq!(workload.inodes(), all + directories + u64::from(workload.files.file_count(ranks)));
    }
}

#[test]
fn items_lie_where_mdtest_puts_them() {
    let target = disk();
    let tree = Tree { branch: 2, depth: 1, items: 4, leaf_only: true, ..Tree::default() };
    let create = Entries { write_bytes: Bytes::new(100), ..of(Create) };
    let workload = with_tree(2, tree, vec![phase(&of(MakeTree)), phase(&create)]);
    let (done, directory) = keep(target.path(), &workload);
    done.expect();
    let mut expected: BTreeSet<String> =
        ["tree.0", "tree.0/dir.1", "tree.0/dir.2"].into_iter().map(str::to_owned).collect();
    for rank in 0..2u64 {
        for item in 0..4u64 {
            let path = format!("tree.0/dir.{}/file.{rank}.{item}", 1 + item / 2);
            let mut bytes = vec![0; 100];
            let generator = Generator::new(workload.data, workload.seed);
            generator.fill(1 << 63 | rank << 40 | item, 0, &mut bytes);
            assert_eq!(std::fs::read(directory.join(&path)).unwrap(), bytes, "{path}");
            expected.insert(path);
        }
    }
    assert_eq!(names(&directory), expected);
}

#[test]
fn a_rename_gives_the_second_name_and_then_the_first_again() {
    let target = memory();
    let tree = Tree { items: 2, per_rank: true, ..Tree::default() };
    let steps = [of(MakeTree), of(Create), of(Rename), of(Rename), of(Rename)];
    let renamed = |renames: usize| {
        let phases = steps[..2 + renames].iter().map(phase).collect();
        let (done, directory) = keep(target.path(), &with_tree(1, tree.clone(), phases));
        done.expect();
        let names = names(&directory);
        std::fs::remove_dir_all(directory).unwrap();
        names.contains("tree.0/file.0.1.renamed")
    };
    assert_eq!([0, 1, 2, 3].map(renamed), [false, true, false, true]);
}

/// A rename by some ranks made the others look for names that nobody had given.
#[test]
fn a_rename_by_one_rank_leaves_the_names_of_the_others() {
    let target = memory();
    let mut rename = phase(&of(Rename));
    rename.jobs[0].ranks = Some(1);
    let tree = Tree { items: 3, ..Tree::default() };
    let phases =
        vec![phase(&of(Create)), rename, phase(&of(Stat)), phase(&of(Remove)), phase(&of(RemoveTree))];
    let done = run(target.path(), &with_tree(3, tree, phases)).expect();
    assert_eq!((operations(&done, Rename), operations(&done, Stat)), (3, 9));
}

/// Directories were dealt to all ranks, also to those that had another job: a part of the tree was never listed.
#[test]
fn a_find_by_some_ranks_sees_the_whole_tree() {
    let target = memory();
    let mut find = phase(&of(Find));
    find.jobs[0].ranks = Some(2);
    let tree = Tree { branch: 2, depth: 2, items: 7, per_rank: true, ..Tree::default() };
    let done = run(target.path(), &with_tree(5, tree, vec![find])).expect();
    assert_eq!(operations(&done, Find), 5 * (7 + 6), "items and directories of five trees");
}

#[test]
fn phases_after_a_stopped_creation_see_what_is_there() {
    let target = memory();
    let stop = Stop { operations: Some(5), ..Stop::default() };
    let tree = Tree { items: 50, branch: 2, depth: 2, ..Tree::default() };
    let shuffled = Entries { order: Order::RandomOnce, rank_shift: RankShift::By(1), ..of(Stat) };
    let phases = vec![
        Phase { stop, ..phase(&of(Create)) },
        phase(&shuffled),
        phase(&of(Rename)),
        phase(&of(Read)),
        phase(&of(Remove)),
        phase(&of(RemoveTree)),
    ];
    let (done, directory) = keep(target.path(), &with_tree(3, tree, phases));
    let done = done.expect();
    for operation in [Create, Stat, Rename, Read, Remove] {
        assert_eq!(operations(&done, operation), 15, "{operation:?}");
    }
    assert_eq!(names(&directory), BTreeSet::new());
}

#[test]
fn a_creation_that_wears_out_leaves_every_rank_the_same_number() {
    let target = memory();
    let stop = Stop { wear_out: true, ..Stop::after(std::time::Duration::from_millis(20)) };
    let tree = Tree { items: 1_000_000, ..Tree::default() };
    let create = Phase { stop, ..phase(&of(Create)) };
    let done = run(target.path(), &with_tree(3, tree, vec![create, phase(&of(Remove))])).expect();
    assert_eq!(done.phase("Create").stopped_by, StopCause::Time);
    let counts: Vec<u64> = done.phase("Create").ranks.iter().map(|rank| rank.operations).collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    assert_eq!(operations(&done, Remove), 3 * counts[0]);
}

/// What mdtest calls directory loops: I items in each directory of a tree, then the next tree.
#[test]
fn full_trees_are_followed_by_others() {
    let target = memory();
    let tree = Tree {
        branch: 2,
        depth: 1,
        items: 7,
        directory_items: Some(2),
        leaf_only: true,
        per_rank: true,
        ..Tree::default()
    };
    let workload = with_tree(2, tree, vec![phase(&of(MakeTree)), phase(&of(Create))]);
    let (done, directory) = keep(target.path(), &workload);
    done.expect();
    let mut expected = BTreeSet::new();
    for rank in 0..2 {
        for (item, leaf) in [1, 1, 2, 2, 1, 1, 2].into_iter().enumerate() {
            let tree = rank * 2 + item / 4;
            for path in [
                format!("tree.{tree}"),
                format!("tree.{tree}/dir.1"),
                format!("tree.{tree}/dir.2"),
                format!("tree.{tree}/dir.{leaf}/file.{rank}.{item}"),
            ] {
                expected.insert(path);
            }
        }
    }
    assert_eq!(names(&directory), expected);
}

#[test]
fn all_ranks_work_on_items_that_they_share() {
    for item in [Item::File, Item::Node] {
        let target = memory();
        let tree = Tree { branch: 2, depth: 1, items: 12, shared_items: true, ..Tree::default() };
        let size = Bytes::new(if item == Item::File { 100 } else { 0 });
        let base = |operation| Entries { item, ..of(operation) };
        let create = Entries { write_bytes: size, ..base(Create) };
        let read = Entries { read_bytes: size, verify: true, ..base(Read) };
        let shifted = Entries { rank_shift: RankShift::By(1), ..base(Stat) };
        let steps = [create, shifted, base(Rename), read, base(Find), base(Remove), base(RemoveTree)];
        let workload = with_tree(3, tree, steps.iter().map(phase).collect());
        assert_eq!(workload.inodes(), 12 + 3 + 3);
        let (done, directory) = keep(target.path(), &workload);
        let done = done.expect();
        assert_eq!(names(&directory), BTreeSet::new());
        for operation in [Create, Stat, Read] {
            assert_eq!(operations(&done, operation), 36, "{operation:?}: all of them by each rank");
        }
        for operation in [Rename, Remove] {
            assert_eq!(operations(&done, operation), 12, "{operation:?}: by the first rank");
        }
        assert_eq!((operations(&done, Find), done.phase("Read").verify_failures), (14, 0));
    }
}

#[test]
fn items_that_are_shared_can_be_made_again_after_fewer() {
    let target = memory();
    let tree = Tree { items: 30, shared_items: true, ..Tree::default() };
    let few = Phase { stop: Stop { operations: Some(5), ..Stop::default() }, ..phase(&of(Create)) };
    let again = |name: &str, first: Phase| Phase { name: name.to_owned(), ..first };
    let phases = vec![
        phase(&of(Create)),
        phase(&of(Remove)),
        again("few", few),
        again("few gone", phase(&of(Remove))),
        phase(&of(RemoveTree)),
    ];
    let (done, directory) = keep(target.path(), &with_tree(3, tree, phases));
    let done = done.expect();
    assert_eq!((done.phase("few").operation_count(), done.phase("few gone").operation_count()), (15, 5));
    assert_eq!(names(&directory), BTreeSet::new());
}

/// mdtest -f 1 -l 3: the same with one rank, two and three.
#[test]
fn a_phase_of_fewer_ranks_is_as_if_there_were_no_others() {
    for per_rank in [false, true] {
        let target = memory();
        let tree = Tree { branch: 2, depth: 1, items: 6, per_rank, ..Tree::default() };
        let shifted = Entries { rank_shift: RankShift::By(1), ..of(Stat) };
        let steps = [of(MakeTree), of(Create), shifted, of(Find), of(Remove), of(RemoveTree)];
        let named = |ranks: u32, entries: &Entries| Phase {
            ranks: Some(ranks),
            ..Phase::entries(&format!("{:?} {ranks}", entries.operation), entries.clone())
        };
        let phases = (1..=3).flat_map(|ranks| steps.iter().map(move |step| named(ranks, step))).collect();
        let (done, directory) = keep(target.path(), &with_tree(3, tree, phases));
        let done = done.expect();
        assert_eq!(names(&directory), BTreeSet::new());
        for ranks in 1..=3u64 {
            let count = |operation: &str| done.phase(&format!("{operation} {ranks}")).operation_count();
            let trees = if per_rank { ranks } else { 1 };
            assert_eq!((count("Create"), count("Stat"), count("Remove")), (6 * ranks, 6 * ranks, 6 * ranks));
            assert_eq!((count("MakeTree"), count("Find")), (3 * trees, 6 * ranks + 2 * trees));
        }
    }
}
