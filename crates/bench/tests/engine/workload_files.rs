//! Workload files: any text is understood or refused with words, and what is written reads back.

use std::time::Duration;

use bench::Workload;
use bench::data::{Data, Pattern};
use bench::workload::{
    Arrival, Entries, EntryOperation, HoldMemory, Instant, Item, Layout, LookingFor, Order, Pacing, Phase,
    Stop, Transfer, Tree,
};
use proptest::prelude::*;
use units::{Bytes, Ratio};

use super::run::workload;
use super::strategy::{orders, shifts, write_then_read};

fn ratio() -> impl Strategy<Value = Ratio> {
    prop_oneof![
        (0u32..=100).prop_map(|percent| Ratio::percent(f64::from(percent))),
        (0.0..=1.0).prop_map(Ratio::new)
    ]
}

fn duration() -> impl Strategy<Value = Duration> {
    (1u64..1 << 40, 0u32..4).prop_map(|(count, unit)| {
        Duration::from_nanos(count / 1000u64.pow(unit) * 1000u64.pow(unit) + 1000u64.pow(unit))
    })
}

fn pacing() -> impl Strategy<Value = Pacing> {
    let open = (0.001f64..1e9, any::<bool>()).prop_map(|(operations_per_second, poisson)| Pacing::Open {
        operations_per_second,
        arrival: if poisson { Arrival::Poisson } else { Arrival::Jittered },
    });
    prop_oneof![Just(Pacing::Closed), open]
}

fn entries() -> impl Strategy<Value = Entries> {
    use EntryOperation::{Create, Find, MakeTree, Read, RemoveTree, Stat};
    let operation = prop::sample::select(vec![MakeTree, RemoveTree, Create, Stat, Read, Find]);
    let item = prop::sample::select(vec![Item::File, Item::Directory, Item::Node]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (operation, item, 0u64..1 << 30, flags, shifts()).prop_map(
        |(operation, item, bytes, flags, rank_shift)| {
            let (fsync, sync_at_end, shuffled, relative, verify) = flags;
            let size = Bytes::new(bytes);
            let order = if shuffled { Order::RandomOnce } else { Order::Sequential };
            Entries {
                item,
                write_bytes: size,
                fsync,
                sync_at_end,
                order,
                rank_shift,
                relative,
                verify,
                working_set: Ratio::percent(if verify { 33.0 } else { 100.0 }),
                transfer_size: relative.then_some(Bytes::kib(4)),
                scattered: shuffled,
                calls: verify.then_some(bytes + 1),
                looking_for: (operation == Find).then(|| LookingFor {
                    name: verify.then(|| "*01?".to_owned()),
                    size: fsync.then_some(size),
                    newer: false,
                    newer_than: relative
                        .then_some(Instant { seconds: bytes.cast_signed() - 9, nanoseconds: 7 }),
                }),
                ..Entries::of(operation)
            }
        },
    )
}

/// Any workload that `check` accepts, with every field set to something.
fn workloads() -> impl Strategy<Value = Workload> {
    let stop = (duration(), any::<bool>(), any::<bool>(), duration(), prop::option::of(1u64..1 << 60))
        .prop_map(|(time, repeat, wear_out, cap, operations)| Stop {
            time: Some(time),
            repeat,
            at_least: Some(cap),
            wear_out,
            wear_out_cap: Some(cap),
            operations,
        });
    let data = (ratio(), ratio(), 0usize..7).prop_map(|(compressible, duplicate, pattern)| Data {
        pattern: [
            Pattern::Unique,
            Pattern::Zeros,
            Pattern::Repeated,
            Pattern::IorTimestamp,
            Pattern::IorOffset,
            Pattern::IorIncompressible,
            Pattern::IorRandom,
        ][pattern],
        compressible,
        duplicate,
        signature: pattern as u32,
    });
    let tree =
        (1u32..9, 0u32..5, 1u64..1 << 20, any::<bool>()).prop_map(|(branch, depth, items, flag)| Tree {
            branch,
            depth,
            items,
            directory_items: flag.then_some(items),
            shared_items: false,
            leaf_only: flag,
            per_rank: !flag,
            sizes: Vec::new(),
            prefix: "a-b_C9".to_owned(),
        });
    (write_then_read(), entries(), stop, data, tree, (ratio(), pacing(), duration(), "[ -~]{0,20}")).prop_map(
        |(mut workload, entries, stop, data, tree, (read, pacing, think_time, name))| {
            let transfer = Transfer { read, pacing, think_time, ..Transfer::default() };
            workload.files.block_size = workload.files.block_size * (1 << 20);
            workload.phases.push(Phase {
                stop,
                drop_cache: true,
                barriers: true,
                ..Phase::transfer(&name, transfer)
            });
            workload.phases.push(Phase { stop, pause_before: think_time, ..Phase::entries(&name, entries) });
            workload.files.tree = tree;
            Workload {
                data,
                name,
                pin: true,
                repetitions: 3,
                hold_memory: Some(HoldMemory::Share(Ratio::percent(12.5))),
                max_time: Some(think_time),
                ..workload
            }
        },
    )
}

/// Text that is almost a workload.
fn almost() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        "[0-9]{1,20}",
        "\"[0-9]{1,20} ?(k|MiB|%|s|ms|d)\"",
        "\"-?[0-9.]{1,6}:?[0-9.]{0,4}\"",
        "true",
        "\\[\\]",
        "\\{\\}",
        "\"[a-z_]{1,12}\"",
        "-?[0-9]{1,3}\\.[0-9]e[0-9]{1,3}",
        "nan",
        "inf",
    ];
    let key = prop::sample::select(vec![
        "ranks",
        "seed",
        "repetitions",
        "files.block_size",
        "files.segments",
        "files.files_per_rank",
        "files.tree.items",
        "files.tree.branch",
        "files.tree.depth",
        "files.tree.directory_items",
        "files.layout",
        "data.compressible",
        "phases[0].stop.time",
        "phases[0].stop.operations",
    ]);
    let inner = prop::sample::select(vec![
        "read",
        "transfer_size.fixed",
        "queue_depth",
        "order.stride",
        "order.streams",
        "order.seek_percent",
        "fsync.every",
        "range_start",
        "range_end",
        "rank_shift.by",
        "rank_shift.shuffled",
        "think_time",
        "verify",
        "pacing.open.operations_per_second",
        "transfer_size.range.step",
    ]);
    (prop::collection::vec((key, value.clone()), 0..4), prop::collection::vec((inner, value), 0..4)).prop_map(
        |(outer, inner)| {
            let line = |(key, value): &(&str, String)| format!("{key} = {value}\n");
            let outer: String = outer.iter().filter(|(key, _)| !key.starts_with("phases")).map(line).collect();
            let inner: String = inner.iter().map(line).collect();
            format!("version = 1\n{outer}[[phases]]\nname = \"x\"\n[[phases.jobs]]\n[phases.jobs.activity.transfer]\n{inner}")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back(workload in workloads()) {
        let text = toml::to_string(&workload).unwrap();
        let read = Workload::from_toml(&text).map_err(|error| TestCaseError::fail(format!("{error:?}\n{text}")))?;
        prop_assert_eq!(read, workload);
    }

    #[test]
    fn any_text_is_answered(text in "(?s).{0,200}") {
        let _ = Workload::from_toml(&text);
    }

    /// What is accepted can be planned: sums of sizes that no file system has must not overflow.
    #[test]
    fn almost_any_workload_is_answered_and_planned(text in almost()) {
        if let Ok(workload) = Workload::from_toml(&text) {
            prop_assume!(workload.ranks <= 1 << 12);
            let prepared = workload.prepared();
            prop_assert!(prepared.check().is_ok());
            let _ = (prepared.space(), prepared.inodes(), prepared.summary());
            for phase in &prepared.phases {
                let _ = prepared.planned(phase);
            }
        }
    }

    #[test]
    fn orders_are_checked(order in orders()) {
        let transfer = Transfer { order, ..Transfer::read(Bytes::kib(4)) };
        prop_assert!(workload(2, vec![Phase::transfer("x", transfer)]).check().is_ok());
    }
}

const TRANSFER: &str = "[[phases]]\nname = \"x\"\n[[phases.jobs]]\n[phases.jobs.activity.transfer]\n";
const ENTRIES: &str = "[[phases]]\nname = \"x\"\n[[phases.jobs]]\n[phases.jobs.activity.entries]\n";

/// The words for a file: message, then hint.
fn words(text: &str) -> String {
    let fault = Workload::from_toml(text).expect_err(text);
    assert_eq!(fault.kind(), fault::Kind::Spec);
    format!("{} | {}", fault.message(), fault.hint_text().unwrap_or("none"))
}

#[test]
fn what_is_wrong_is_said() {
    let transfer = |line: &str| format!("version = 1\n{TRANSFER}{line}\n");
    let entries = |line: &str| format!("version = 1\n[files.tree]\nitems = 9\n{ENTRIES}{line}\n");
    let stopped = |line: &str| {
        format!(
            "version = 1\n[[phases]]\nname = \"x\"\nstop = {{ {line} }}\n[[phases.jobs]]\nactivity.transfer = {{}}\n"
        )
    };
    let expected = [
        (format!("version = 2\n{TRANSFER}"), "workload version 2 is not known | write `version = 1`"),
        ("version = 1\nphases = []\n".to_owned(), "a workload needs at least one rank, one repetition and one phase | set `ranks`, `repetitions`, `[[phases]]`"),
        (format!("version = 1\nranks = 4000000000\n{TRANSFER}"), "4000000000 ranks are more than a host can run | set `ranks` to the number of processes that shall work at the same time"),
        (format!("version = 1\nfiles.segments = 0\n{TRANSFER}"), "`block_size`, `segments` and `files_per_rank` must be at least 1 | look at `[files]`"),
        (format!("version = 1\nranks = 9999\nfiles.files_per_rank = 999999\n{TRANSFER}"), "the files are larger, or the tree has more directories, than a file system can hold | lower `block_size`, `segments`, `files_per_rank`, `branch` or `depth`"),
        (format!("version = 1\nfiles.tree.branch = 0\n{TRANSFER}"), "a tree with `branch = 0` has no leaves | set `branch` to 1 or more in `[files.tree]`"),
        (format!("version = 1\nfiles.tree.depth = 4294967295\n{TRANSFER}"), "the files are larger, or the tree has more directories, than a file system can hold | lower `block_size`, `segments`, `files_per_rank`, `branch` or `depth`"),
        (format!("version = 1\nfiles.tree.depth = 100\n{TRANSFER}"), "a tree of depth 100 has longer paths than the system takes | set `depth` to 60 or less"),
        (format!("version = 1\nfiles.tree.items = 9000000000000000000\n{TRANSFER}"), "9000000000000000000 items per rank are more than a file system can hold | lower `items` in `[files.tree]`"),
        (format!("version = 1\nfiles.tree.prefix = \"../x\"\n{TRANSFER}"), "`prefix = \"../x\"` is no name for entries | use letters, digits, `-` and `_`, at most 64"),
        (format!("version = 1\nfiles.tree.directory_items = 0\n{TRANSFER}"), "directories with `directory_items = 0` hold nothing | set `directory_items` to 1 or more in `[files.tree]`, or leave it out"),
        (format!("version = 1\nfiles.tree = {{ shared_items = true, per_rank = true }}\n{TRANSFER}"), "items that all ranks share are files in a tree that all share | leave out `per_rank`, `item = \"directory\"` or `shared_items`"),
        (format!("version = 1\n{TRANSFER}").replace("name = \"x\"", "name = \"x\"\nranks = 2"), "phase `x` wants 2 ranks of 1 | set `ranks` of the phase to between 1 and the workload's `ranks`"),
        (format!("version = 1\nranks = 3\nfiles.layout = \"shared\"\n{TRANSFER}").replace("name = \"x\"", "name = \"x\"\nranks = 2"), "phase `x`: where data lies in a shared file depends on the number of ranks | leave out `ranks` of the phase, or use a file per rank"),
        ("version = 1\nphases = [{ name = \"x\", jobs = [] }]\n".to_owned(), "phase `x` has no jobs | add `[[phases.jobs]]`"),
        (stopped("time = \"0s\""), "phase `x` may run for no time at all | set `stop.time` to a second or more, or leave it out"),
        (stopped("repeat = true"), "phase `x`: `repeat` and `wear_out` need a deadline | set `stop.time`"),
        ("version = 1\nphases = [{ name = \"x\", jobs = [{ ranks = 2, activity.transfer = {} }] }]\n".to_owned(), "phase `x` deals out 2 ranks of 1 | lower the jobs' `ranks`"),
        ("version = 1\nphases = [{ name = \"x\", jobs = [{ activity.transfer = {} }, { activity.transfer = {} }] }]\n".to_owned(), "phase `x` has a job without ranks | give every job `ranks`; only the last may leave it out and takes those that are left"),
        (transfer("transfer_size.fixed = \"2 GiB\""), "phase `x`: the transfer size must be between 1 B and 1 GiB | set `transfer_size`"),
        (transfer("transfer_size.fixed = \"3 MiB\""), "phase `x`: the block size 64 MiB is not a multiple of the transfer size 3 MiB | round `block_size`"),
        (transfer("transfer_size.weighted = [{ size = \"4k\", weight = 0 }]"), "phase `x`: weighted transfer sizes must be multiples of the smallest, with some weight | for example 4KiB, 8KiB, 64KiB"),
        (transfer("transfer_size.range = { smallest = \"8k\", largest = \"4k\", step = \"4k\" }"), "phase `x`: 8 KiB to 4 KiB in steps of 4 KiB is no range of sizes | both ends must be multiples of `step`, and the smallest not above the largest"),
        (transfer("order = \"random_once\"\ntransfer_size.range = { smallest = \"4k\", largest = \"8k\", step = \"4k\" }"), "phase `x`: transfers of different sizes can't visit every offset once | use one `transfer_size`, or the order `sequential`, `reverse`, `random` or `seek_percent`"),
        (transfer("queue_depth = 0"), "phase `x`: queue depth 0 is not between 1 and 32768 | set `queue_depth`"),
        (transfer("range_start = \"50%\"\nrange_end = \"50%\""), "phase `x`: the range 50 % to 50 % is empty | a range that goes over the end of the file has its start behind its end"),
        (transfer("order.seek_percent = 101.0"), "phase `x`: 101 is not a percentage | set `seek_percent` between 0 and 100"),
        (transfer("order.stride = 0"), "phase `x`: a stride of 0 never moves | set `stride` to 1 or more"),
        (transfer("order.random_runs = 0"), "phase `x`: runs of 0 transfers go nowhere | set `random_runs` to 1 or more"),
        (transfer("order = \"random_in_blocks\"\nrange_end = \"50%\""), "phase `x`: an order inside blocks goes through all of each block | leave out `range_start` and `range_end`, or use the order `random_once`"),
        (transfer("order.skip = { percent = 101.0, smallest = \"1k\", largest = \"2k\" }"), "phase `x`: 101 is not a percentage | set `percent` of `skip` between 0 and 100"),
        (transfer("order.skip = { percent = 1.0, smallest = \"3k\", largest = \"2k\" }"), "phase `x`: 3 KiB to 2 KiB is nothing to skip | `smallest` must not be above `largest`"),
        (transfer("order.streams = 0"), "phase `x`: no streams | set `streams` to 1 or more"),
        (format!("version = 1\nranks = 3\nfiles.layout = \"shared\"\n{TRANSFER}order.streams = 2\n"), "phase `x`: 3 ranks can't be dealt to 2 streams | every stream of a shared file needs the same number of ranks: round `ranks`"),
        (transfer("fsync.every = 0"), "phase `x`: fsync after every 0 writes is never | set `every` to 1 or more, or `fsync = \"never\"`"),
        (transfer("pacing.open.operations_per_second = 0.0"), "phase `x`: 0 operations per second is no rate | set `operations_per_second` above 0"),
        (format!("version = 1\n{ENTRIES}operation = \"stat\"\n"), "phase `x` works on no items | set `items` in `[files.tree]`"),
        (entries("operation = \"stat\"\nchained = true"), "phase `x`: only renames of a rank's own items, all and in order, make a chain | leave out `chained`, or `select`, `order`, `working_set` and `shared_items`"),
        (entries("operation = \"stat\"\norder = \"reverse\""), "phase `x`: entries are visited `sequential` or `random_once` | set `order`"),
        (entries("operation = \"create\"\nwrite_bytes = \"2 GiB\""), "phase `x`: at most 1 GiB per file | lower `write_bytes` and `read_bytes`, or use a transfer"),
        ("version = 1\n[files.tree]\nitems = 9\n[[phases]]\nname = \"x\"\nstop.operations = 1\n[[phases.jobs]]\nactivity.entries.operation = \"rename\"\n".to_owned(), "phase `x` may not stop half-way: the phases after it could not tell which items are left | leave out `stop`, or use fewer items"),
        (entries(&format!("operation = \"create\"\nwrite_bytes = \"1k\"\n{ENTRIES}operation = \"read\"\nread_bytes = \"2k\"")), "files of 1 KiB are created and 2 KiB are read from each | lower `read_bytes`, or raise `write_bytes`"),
    ];
    for (text, expected) in expected {
        assert_eq!(words(&text), expected, "{text}");
    }
}

#[test]
fn unknown_keys_are_refused_with_their_place() {
    let text = format!("version = 1\n{TRANSFER}queue_dept = 3\n");
    let said = words(&text);
    assert!(said.contains("queue_dept") && said.contains("line"), "{said}");
}

#[test]
fn defaults_are_those_of_the_documentation() {
    let workload = Workload::from_toml(&format!("version = 1\n{TRANSFER}")).unwrap();
    assert_eq!((workload.ranks, workload.repetitions, workload.files.layout), (1, 1, Layout::PerRank));
    assert_eq!(workload.files.block_size, Bytes::mib(64));
    assert_eq!(workload.phases[0], Phase::transfer("x", Transfer::default()));
}
