//! What several processes do together is what one does.

use bench::Options;
use bench::workload::{
    Entries, EntryOperation, Layout, Order, Phase, RankShift, Selection, Stop, Transfer, Tree,
};
use proptest::prelude::*;
use record::OperationKind;
use units::Bytes;

use super::group::{Over, check, contents, disk, workload};

fn keep() -> Options {
    Options { keep_files: true, ..Options::default() }
}

fn verified(shift: RankShift) -> Transfer {
    Transfer { verify: true, rank_shift: shift, ..Transfer::read(Bytes::kib(8)) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// However ranks are dealt, and whoever reads whose files: the same bytes in the same files, all of them verified.
    #[test]
    fn files_are_those_of_one_process(
        seats in proptest::collection::vec(0u32..4, 1..8),
        shift in prop_oneof![
            Just(RankShift::None), (0u32..9).prop_map(RankShift::By), (1u32..3).prop_map(RankShift::ByNode),
            any::<u64>().prop_map(RankShift::Shuffled)],
        shared in any::<bool>(),
        random in any::<bool>(),
        barriers in any::<bool>(),
    ) {
        let ranks: u32 = seats.iter().sum::<u32>().max(1);
        let order = if random { Order::RandomOnce } else { Order::Sequential };
        let write = Phase {
            barriers,
            ..Phase::transfer("write", Transfer { order, ..Transfer::write(Bytes::kib(8)) })
        };
        let read = Phase { barriers, ..Phase::transfer("read", verified(shift)) };
        let mut workload = workload(ranks, vec![write, read]);
        workload.files.layout = if shared { Layout::Shared } else { Layout::PerRank };
        workload.files.segments = 3;
        let (one, several) = (disk(), disk());
        let alone = Over::new(&[ranks]).options(keep()).run(one.path(), &workload).expect();
        let done = Over::new(&seats).options(keep()).run(several.path(), &workload).expect();
        prop_assert_eq!(contents(one.path()), contents(several.path()));
        for (phase, by_one) in done.phases().into_iter().zip(alone.phases()) {
            let bytes = Bytes::kib(64) * 3 * u64::from(ranks);
            prop_assert_eq!((phase.bytes(), phase.last_done.bytes), (bytes, bytes));
            prop_assert_eq!(phase.operation_count(), by_one.operation_count());
            prop_assert_eq!(phase.verify_failures, 0);
            let numbers: Vec<u32> = phase.ranks.iter().map(|rank| rank.rank).collect();
            prop_assert_eq!(numbers, (0..ranks).collect::<Vec<_>>());
            let series: Bytes = phase.series.iter().map(record::Interval::bytes).sum();
            prop_assert_eq!(series, bytes);
            prop_assert!(phase.first_done.elapsed_ns <= phase.last_done.elapsed_ns);
            prop_assert!(phase.first_done.bytes <= phase.last_done.bytes);
            let of_hosts: Bytes = phase.hosts.iter().map(|host| host.bytes).sum();
            prop_assert!(phase.hosts.is_empty() || of_hosts == bytes, "{:?}", phase.hosts);
        }
        prop_assert_eq!(done.phase("read").verified_bytes, Bytes::kib(64) * 3 * u64::from(ranks));
    }
}

#[test]
fn ranks_say_on_which_host_they_were() {
    let target = disk();
    let workload = workload(6, vec![Phase::transfer("write", Transfer::write(Bytes::kib(8)))]);
    let done = Over::new(&[0, 4, 2]).run(target.path(), &workload).expect();
    let phase = done.phase("write");
    let hosts: Vec<&str> = phase.ranks.iter().map(|rank| rank.host.as_str()).collect();
    assert_eq!(hosts, ["node1", "node1", "node1", "node1", "node2", "node2"]);
    let names: Vec<(&str, u32)> = phase.hosts.iter().map(|host| (host.host.as_str(), host.ranks)).collect();
    assert_eq!(names, [("node1", 4), ("node2", 2)], "a root that only leads is no host of the test");
    let seats = &done.record.tests[0].hosts;
    assert_eq!((seats[1].name.as_str(), seats[1].ranks, seats[1].first_rank), ("node2", 2, 4));
    assert!(phase.hosts.iter().all(|host| host.limit.is_some()));
    assert!(phase.limit.as_ref().unwrap().evidence.contains("slowest host"), "{:?}", phase.limit);
}

#[test]
fn several_processes_of_one_host_are_one_host() {
    let target = disk();
    let workload = workload(4, vec![Phase::transfer("write", Transfer::write(Bytes::kib(8)))]);
    let done = Over::new(&[1; 4]).hosts(1).run(target.path(), &workload).expect();
    assert!(done.phase("write").hosts.is_empty() && done.record.tests[0].hosts.is_empty());
    let done = Over::new(&[1; 4]).hosts(2).run(target.path(), &workload).expect();
    let ranks: Vec<u32> = done.phase("write").hosts.iter().map(|host| host.ranks).collect();
    assert_eq!(ranks, [2, 2]);
}

/// A shift by one node reads what another host has written, and the verdict knows it.
#[test]
fn readers_of_other_hosts_files_do_not_read_their_own_cache() {
    let target = disk();
    let phases = vec![
        Phase::transfer("write", Transfer::write(Bytes::kib(8))),
        Phase::transfer("own", verified(RankShift::None)),
        Phase::transfer("other", verified(RankShift::ByNode(1))),
    ];
    let done = Over::new(&[2, 2, 2]).run(target.path(), &workload(6, phases)).expect();
    let own = check(done.phase("own"), "working-set");
    assert!(own.evidence.contains("had just written them"), "{own:?}");
    let other = check(done.phase("other"), "working-set");
    assert!(!other.evidence.contains("had just written them"), "{other:?}");
}

#[test]
fn entries_are_made_looked_at_and_removed_across_processes() {
    let target = disk();
    let of = |name: &str, operation, shift| {
        Phase::entries(name, Entries { rank_shift: shift, ..Entries::of(operation) })
    };
    let phases = vec![
        of("tree", EntryOperation::MakeTree, RankShift::None),
        of("create", EntryOperation::Create, RankShift::None),
        of("stat", EntryOperation::Stat, RankShift::ByNode(1)),
        of("rename", EntryOperation::Rename, RankShift::By(3)),
        of("again", EntryOperation::Stat, RankShift::By(1)),
        of("remove", EntryOperation::Remove, RankShift::By(2)),
    ];
    for per_rank in [false, true] {
        let mut workload = workload(7, phases.clone());
        workload.files.tree = Tree { items: 11, branch: 2, depth: 1, per_rank, ..Tree::default() };
        let done = Over::new(&[2, 3, 2]).run(target.path(), &workload).expect();
        for name in ["create", "stat", "rename", "again", "remove"] {
            assert_eq!(done.phase(name).operation_count(), 77, "{name}");
        }
    }
}

#[test]
fn items_that_ranks_take_from_each_other_are_dealt_to_processes() {
    let target = disk();
    let take =
        |name: &str, operation, select| Phase::entries(name, Entries { select, ..Entries::of(operation) });
    let mut workload = workload(
        5,
        vec![
            Phase::entries("tree", Entries::of(EntryOperation::MakeTree)),
            Phase::entries("create", Entries::of(EntryOperation::Create)),
            take("stat", EntryOperation::Stat, Selection::Once),
            take("remove", EntryOperation::Remove, Selection::Once),
        ],
    );
    workload.files.tree = Tree { items: 20, ..Tree::default() };
    let done = Over::new(&[2, 3]).run(target.path(), &workload).expect();
    assert_eq!(done.phase("stat").operation_count(), 100, "each once");
    assert_eq!(done.phase("remove").operation_count(), 100);

    let mut jobs = workload.phases[2].jobs.clone();
    jobs[0].ranks = Some(2);
    jobs.push(bench::workload::Job { ranks: None, ..jobs[0].clone() });
    workload.phases[2].jobs = jobs;
    let refused = Over::new(&[2, 3]).run(target.path(), &workload).failure.unwrap();
    assert!(refused.message().contains("has no rank of job"), "{refused:?}");
}

/// Every process has ranks of every job: what waits for each other is in one place.
#[test]
fn jobs_that_wait_for_each_other_are_dealt_to_groups() {
    let target = disk();
    let job = |skew, read: f64| bench::workload::Job {
        ranks: Some(1),
        skew: Some(units::Ratio::percent(skew)),
        ..bench::workload::Job::of(bench::workload::Activity::Transfer(Transfer {
            read: units::Ratio::percent(read),
            ..Transfer::read(Bytes::kib(4))
        }))
    };
    let stop = Stop { repeat: true, ..Stop::after(std::time::Duration::from_millis(500)) };
    let mut mixed = Phase { stop, ..Phase::transfer("mixed", Transfer::read(Bytes::kib(4))) };
    mixed.jobs = vec![job(75.0, 100.0), job(25.0, 0.0)];
    let mut workload = workload(6, vec![Phase::transfer("write", Transfer::write(Bytes::kib(8))), mixed]);
    let refused = Over::new(&[2, 2, 2]).run(target.path(), &workload).failure.unwrap();
    assert!(refused.message().contains("has no rank of job"), "{refused:?}");
    assert_eq!(std::fs::read_dir(target.path()).unwrap().count(), 0, "refused before anything is made");

    workload.group_jobs(2);
    let done = Over::new(&[2, 2, 2]).run(target.path(), &workload).expect();
    let phase = done.phase("mixed");
    assert!(phase.ranks.iter().all(|rank| rank.operations > 0), "all six work");
    let reads = phase.of(OperationKind::Read).unwrap().operations as f64;
    let share = reads / phase.operation_count() as f64;
    assert!((share - 0.75).abs() < 0.05, "{share}");

    // A job of the second group only: its ranks elsewhere sit out.
    workload.phases[1].jobs[1].only_groups = vec![1];
    workload.phases[1].jobs.iter_mut().for_each(|job| job.skew = None);
    let done = Over::new(&[2, 2, 2]).run(target.path(), &workload).expect();
    let idle: Vec<u32> =
        done.phase("mixed").ranks.iter().filter(|rank| rank.operations == 0).map(|rank| rank.rank).collect();
    assert_eq!(idle, [1, 5]);

    workload.phases[1].group = Some(4);
    let wrong = Over::new(&[2, 2, 2]).run(target.path(), &workload).failure.unwrap();
    assert!(wrong.message().contains("no whole groups of 4"), "{wrong:?}");
}

#[test]
fn a_wear_out_is_everybodys() {
    let target = disk();
    let stop = Stop {
        time: Some(std::time::Duration::from_millis(150)),
        wear_out: true,
        repeat: true,
        ..Stop::default()
    };
    let write = Phase { stop, ..Phase::transfer("write", Transfer::write(Bytes::kib(4))) };
    let done = Over::new(&[1, 2, 0, 1]).run(target.path(), &workload(4, vec![write])).expect();
    let counts: Vec<u64> = done.phase("write").ranks.iter().map(|rank| rank.operations).collect();
    let most = counts.iter().max().unwrap();
    assert!(counts.iter().all(|count| count == most), "{counts:?}");
}

#[test]
fn progress_tells_of_hosts_and_of_the_slowest_ranks() {
    let target = disk();
    let stop = Stop { repeat: true, ..Stop::after(std::time::Duration::from_millis(2500)) };
    let write = Phase { stop, ..Phase::transfer("write", Transfer::write(Bytes::kib(8))) };
    let done = Over::new(&[1, 2]).run(target.path(), &workload(3, vec![write])).expect();
    let moments: Vec<_> = done
        .events
        .iter()
        .filter_map(|event| match event {
            record::Event::Progress(moment) => Some(moment),
            _ => None,
        })
        .collect();
    let told =
        moments.iter().filter(|moment| moment.hosts.iter().all(|host| host.operations_per_second > 0.0));
    let told: Vec<_> = told.filter(|moment| moment.hosts.len() == 2).collect();
    assert!(!told.is_empty(), "{moments:?}");
    assert!(moments.iter().any(|moment| moment.slowest.iter().any(|rank| rank.host == "node1")));
}

#[test]
fn the_record_of_64_processes_stays_small() {
    let target = disk();
    let phases = vec![
        Phase::transfer("write", Transfer::write(Bytes::kib(8))),
        Phase::transfer("read", Transfer::read(Bytes::kib(8))),
    ];
    let done = Over::new(&[1; 64]).run(target.path(), &workload(64, phases)).expect();
    let read = done.phase("read");
    assert_eq!((read.ranks.len(), read.hosts.len()), (64, 64));
    assert_eq!(read.of(OperationKind::Read).unwrap().operations, 64 * 8);
    let size = serde_json::to_vec(&done.record).unwrap().len();
    assert!(size < 64 * 4096, "{size} bytes");
}
