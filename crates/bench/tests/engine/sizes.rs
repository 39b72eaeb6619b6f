//! Items with sizes of their own, read and written in parts, with and without the page cache, by one rank for all.

use bench::Workload;
use bench::data::Generator;
use bench::workload::EntryOperation::{Create, MakeTree, Read, Remove, Write};
use bench::workload::{Entries, FileSet, Phase, Selection, Stop, Tree, WeightedSize};
use proptest::prelude::*;
use units::Bytes;

use super::counts::check_phase;
use super::entries::{names, of, operations, phase, with_tree};
use super::run::{disk, keep, memory, run};

fn sized(sizes: &[(u64, u32)]) -> Vec<WeightedSize> {
    sizes.iter().map(|(size, weight)| WeightedSize { size: Bytes::new(*size), weight: *weight }).collect()
}

fn contents(workload: &Workload, rank: u64, item: u64, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    Generator::new(workload.data, workload.seed).fill(1 << 63 | rank << 40 | item, 0, &mut bytes);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Whatever the parts are that files are written and read in: what is there is what a naive writer would have left.
    #[test]
    fn files_of_all_sizes_hold_what_belongs_into_them(
        sizes in prop::collection::vec((0u64..9000, 1u32..5), 1..4), ranks in 1u32..4, items in 1u64..20,
        call in prop::option::of(1u64..3000), scattered: bool, relative: bool, calls in prop::option::of(1u64..4),
    ) {
        let tree = Tree { branch: 2, depth: 1, items, sizes: sized(&sizes), ..Tree::default() };
        let base = |operation| Entries {
            transfer_size: call.map(Bytes::new),
            scattered,
            relative,
            verify: true,
            ..of(operation)
        };
        let few = Entries { calls, ..base(Read) };
        let steps = [of(MakeTree), base(Create), base(Write), base(Read)];
        let mut phases: Vec<Phase> = steps.iter().map(phase).collect();
        phases.push(Phase { name: "few".to_owned(), ..phase(&few) });
        let workload = with_tree(ranks, tree.clone(), phases);
        let target = memory();
        let (done, directory) = keep(target.path(), &workload);
        let done = done.expect();
        done.phases().try_for_each(check_phase)?;
        let (mut all, mut some) = (0, 0);
        for rank in 0..ranks {
            for item in 0..items {
                let size = tree.size_of(workload.seed, rank, item).unwrap().get();
                prop_assert!(sizes.iter().any(|(known, _)| *known == size));
                let folder = match tree.directory_of(item) { 0 => String::new(), n => format!("dir.{n}/") };
                let path = directory.join(format!("tree.0/{folder}file.{rank}.{item}"));
                let expected = contents(&workload, u64::from(rank), item, size as usize);
                prop_assert!(std::fs::read(&path).unwrap() == expected, "{}", path.display());
                all += size;
                let call = call.unwrap_or(size).max(1);
                let count = size.div_ceil(call).min(calls.unwrap_or(u64::MAX));
                // Scattered calls may leave out the short one at the end, or not.
                some += (count * call).min(size);
            }
        }
        prop_assert_eq!(workload.files.tree.all_sizes(workload.seed, ranks), Bytes::new(all));
        for name in ["Create", "Write", "Read"] {
            prop_assert_eq!(done.phase(name).bytes(), Bytes::new(all), "{}", name);
        }
        let few = done.phase("few");
        prop_assert!(few.bytes() <= Bytes::new(some) && (scattered || few.bytes() == Bytes::new(some)));
        prop_assert_eq!(done.phase("Read").verified_bytes, Bytes::new(all));
        prop_assert!(done.phases().all(|phase| phase.verify_failures == 0));
    }
}

#[test]
fn sizes_are_drawn_by_their_weight() {
    let tree = Tree { items: 10_000, sizes: sized(&[(10, 1), (20, 0), (30, 3)]), ..Tree::default() };
    let small = (0..10_000).filter(|item| tree.size_of(7, 1, *item) == Some(Bytes::new(10))).count();
    assert!((2300..2700).contains(&small), "{small}");
    assert_eq!(Tree::default().size_of(7, 0, 0), None);
    let more = Tree { items: 1 << 30, ..tree };
    assert_eq!(more.all_sizes(7, 1), Bytes::new(25 << 30), "what can be expected");
}

#[test]
fn items_are_written_and_read_past_the_page_cache() {
    let target = disk();
    let tree = Tree { items: 5, ..Tree::default() };
    let base = |operation| Entries { direct: true, verify: true, ..of(operation) };
    let create = Entries { write_bytes: Bytes::kib(8), fsync: true, ..base(Create) };
    let read = Entries { read_bytes: Bytes::kib(8), transfer_size: Some(Bytes::kib(4)), ..base(Read) };
    let phases = vec![phase(&create), phase(&read), phase(&of(Remove))];
    let workload = with_tree(2, tree, phases);
    let done = run(target.path(), &workload).expect();
    assert_eq!((done.phase("Read").bytes(), done.phase("Read").verify_failures), (Bytes::kib(80), 0));
    let odd = Entries { write_bytes: Bytes::new(100), ..base(Create) };
    let fault = Workload { phases: vec![phase(&odd)], ..workload }.check().unwrap_err();
    assert_eq!(fault.message(), "phase `Create`: direct I/O needs files, and multiples of 512 bytes");
}

/// mdtest -c: the first rank makes and removes what belongs to all.
#[test]
fn one_rank_creates_and_removes_for_all() {
    for (per_rank, stop) in [(false, None), (true, None), (true, Some(10))] {
        let target = memory();
        let tree = Tree { branch: 2, depth: 1, items: 7, per_rank, ..Tree::default() };
        let base = |operation| Entries { first_rank_only: true, ..of(operation) };
        let stop = Stop { operations: stop, ..Stop::default() };
        let create = Phase { stop, ..phase(&base(Create)) };
        let steps = vec![phase(&of(MakeTree)), create, phase(&base(Remove))];
        let made = stop.operations.unwrap_or(21);
        let short = with_tree(3, tree.clone(), steps[..2].to_vec());
        let (done, directory) = keep(target.path(), &short);
        let done = done.expect();
        let files = names(&directory).iter().filter(|name| name.contains("/file.")).count();
        assert_eq!((files as u64, operations(&done, Create)), (made, made));
        let by: Vec<u64> = done.phase("Create").ranks.iter().map(|rank| rank.operations).collect();
        assert_eq!(by, [made, 0, 0]);
        if stop.operations.is_none() {
            let target = memory();
            let done = run(target.path(), &with_tree(3, tree, steps)).expect();
            assert_eq!(operations(&done, Remove), 21);
        }
    }
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    let said = |tree: Tree, entries: &Entries| {
        let files = FileSet { tree, ..FileSet::default() };
        let workload = Workload { files, ..with_tree(2, Tree::default(), vec![phase(entries)]) };
        workload.check().unwrap_err().message().to_owned()
    };
    let tree = |sizes: &[(u64, u32)]| Tree { items: 9, sizes: sized(sizes), ..Tree::default() };
    let weight = "`sizes` of items need some weight, and are at most 1 GiB";
    assert_eq!(said(tree(&[(10, 0)]), &of(Create)), weight);
    assert_eq!(said(tree(&[(1 << 31, 1)]), &of(Create)), weight);
    let both = Entries { write_bytes: Bytes::kib(1), ..of(Create) };
    let full = "items with `sizes` are files of one rank, and are read and written in full";
    assert_eq!(said(tree(&[(10, 1)]), &both), full);
    let none = Entries { calls: Some(0), select: Selection::Own, ..of(Read) };
    let calls = "phase `Read`: files are read and written with at least one call of one byte";
    assert_eq!(said(tree(&[]), &none), calls);
}
