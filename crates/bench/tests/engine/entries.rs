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

fn with_tree(ranks: u32, tree: Tree, phases: Vec<Phase>) -> Workload {
    let files = FileSet { tree, ..FileSet::default() };
    Workload { files, ..workload(ranks, phases) }
}

/// A phase named after its operation.
fn phase(entries: &Entries) -> Phase {
    Phase::entries(&format!("{:?}", entries.operation), entries.clone())
}

fn of(operation: EntryOperation) -> Entries {
    Entries::of(operation)
}

/// All names below a directory, relative to it, without the journal.
fn names(directory: &Path) -> BTreeSet<String> {
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

fn operations(done: &Done, operation: EntryOperation) -> u64 {
    done.phase(&format!("{operation:?}")).operation_count()
}

fn trees() -> impl Strategy<Value = Tree> {
    (1u32..4, 0u32..4, 1u64..40, any::<bool>(), any::<bool>()).prop_map(
        |(branch, depth, items, leaf_only, per_rank)| Tree {
            branch,
            depth,
            items,
            leaf_only,
            per_rank,
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
