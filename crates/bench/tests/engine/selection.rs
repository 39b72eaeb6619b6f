//! Ranks that take items from each other, and rates and parts of operations on items.

use std::time::Duration;

use bench::Workload;
use bench::workload::EntryOperation::{
    Create, Find, MakeTree, Open, Read, Remove, RemoveTree, Rename, Stat, Write,
};
use bench::workload::{
    Arrival, Entries, EntryOperation, Job, Pacing, Phase, PhaseRate, RateStep, Selection, Stop, Tree,
};
use record::{PhaseResult, StopCause};
use units::{Bytes, Ratio};

use super::counts::check_phase;
use super::entries::{names, of, operations, phase, with_tree};
use super::run::{Done, keep, memory, run};

fn selecting(operation: EntryOperation, select: Selection) -> Entries {
    Entries { select, ..of(operation) }
}

fn job(ranks: u32, skew: Option<f64>, entries: &Entries) -> Job {
    let skew = skew.map(Ratio::percent);
    Job { ranks: Some(ranks), skew, ..phase(entries).jobs.remove(0) }
}

fn together(name: &str, jobs: Vec<Job>, milliseconds: u64) -> Phase {
    let stop = Stop { repeat: true, ..Stop::after(Duration::from_millis(milliseconds)) };
    Phase { name: name.to_owned(), jobs, stop, ..phase(&of(Stat)) }
}

fn done_by(phase: &PhaseResult, ranks: std::ops::Range<usize>) -> u64 {
    phase.ranks[ranks].iter().map(|rank| rank.operations).sum()
}

/// 60 % getattr, 20 % open and close, 10 % create, 10 % delete, and a naive account of what must be there afterwards.
#[test]
fn operations_of_many_kinds_at_once_keep_to_their_parts_and_leave_what_they_made() {
    let selections = [Selection::Next, Selection::Random, Selection::Skewed(Ratio::percent(20.0))];
    for (select, per_rank) in selections.into_iter().zip([false, true, false]) {
        let target = memory();
        let tree = Tree { branch: 2, depth: 2, items: 40, per_rank, ..Tree::default() };
        let mixed = [(2, 60.0, Stat), (1, 20.0, Open), (1, 10.0, Create), (1, 10.0, Remove)];
        let jobs =
            mixed.map(|(ranks, part, operation)| job(ranks, Some(part), &selecting(operation, select)));
        let half = Stop { operations: Some(20), ..Stop::default() };
        let phases = vec![
            phase(&of(MakeTree)),
            Phase { stop: half, ..phase(&of(Create)) },
            together("mixed", jobs.into(), 150),
            phase(&of(Stat)),
        ];
        let (done, directory) = keep(target.path(), &with_tree(5, tree.clone(), phases.clone()));
        let done = done.expect();
        let mixed = done.phase("mixed");
        check_phase(mixed).unwrap();
        assert_eq!(mixed.stopped_by, StopCause::Time);
        let (created, removed) = (done_by(mixed, 3..4), done_by(mixed, 4..5));
        let there = 100 + created - removed;
        assert_eq!(operations(&done, Stat), there, "{select:?}");
        let on_disk = names(&directory).iter().filter(|name| name.contains("/file.")).count();
        assert_eq!(on_disk as u64, there, "{select:?}");
        assert!(created > 0 && removed > 0, "{created} {removed}");
        let all = mixed.operation_count();
        for (ranks, part) in [(0..2, 0.6), (2..3, 0.2), (3..4, 0.1), (4..5, 0.1)] {
            let (own, due) = (done_by(mixed, ranks), part * all as f64);
            assert!((own as f64 - due).abs() < 40.0 + all as f64 / 50.0, "{own} of {all}, {due} are due");
        }

        // What is missing is made, and everything can be removed.
        let target = memory();
        let more = [of(Create), of(Rename), of(Remove), of(RemoveTree)];
        let rest = more.iter().map(|e| Phase { name: format!("last {:?}", e.operation), ..phase(e) });
        let phases = phases.into_iter().chain(rest).collect();
        let (done, directory) = keep(target.path(), &with_tree(5, tree, phases));
        let done = done.expect();
        let count = |name: &str| done.phase(name).operation_count();
        assert_eq!(count("Stat") + count("last Create"), 200);
        assert_eq!((count("last Rename"), count("last Remove")), (200, 200));
        assert!(names(&directory).is_empty());
    }
}

#[test]
fn each_item_is_taken_once_by_whoever_comes_first() {
    let target = memory();
    let tree = Tree { items: 50, branch: 3, depth: 1, per_rank: true, ..Tree::default() };
    let read = Entries { read_bytes: Bytes::kib(2), verify: true, ..selecting(Read, Selection::Once) };
    let create = Entries { write_bytes: Bytes::kib(2), ..of(Create) };
    let again = Phase { name: "again".to_owned(), ..phase(&read) };
    let phases = vec![
        phase(&create),
        phase(&read),
        again,
        phase(&selecting(Remove, Selection::Once)),
        phase(&of(RemoveTree)),
    ];
    let (done, directory) = keep(target.path(), &with_tree(3, tree, phases));
    let done = done.expect();
    for name in ["Read", "again"] {
        let phase = done.phase(name);
        check_phase(phase).unwrap();
        assert_eq!((phase.operation_count(), phase.bytes()), (150, Bytes::kib(300)));
        assert_eq!((phase.verified_bytes, phase.verify_failures), (Bytes::kib(300), 0));
    }
    assert_eq!(operations(&done, Remove), 150);
    assert!(names(&directory).is_empty());
}

/// What is written again while others read it is never read half-way.
#[test]
fn writers_and_readers_of_one_pool_keep_apart() {
    let target = memory();
    let tree = Tree { items: 4, ..Tree::default() };
    let size = Bytes::kib(64);
    let read = Entries { read_bytes: size, verify: true, ..selecting(Read, Selection::Random) };
    let write = Entries { write_bytes: size, ..selecting(Write, Selection::Random) };
    let remove = selecting(Remove, Selection::Next);
    let create = Entries { write_bytes: size, ..selecting(Create, Selection::Next) };
    let jobs = vec![job(2, None, &read), job(1, None, &write), job(1, None, &create), job(1, None, &remove)];
    let done = run(target.path(), &with_tree(5, tree, vec![together("all", jobs, 200)])).expect();
    let phase = done.phase("all");
    check_phase(phase).unwrap();
    assert!(phase.verified_bytes > Bytes::ZERO);
    assert_eq!(phase.verify_failures, 0);
}

#[test]
fn the_working_set_is_a_part_of_the_items() {
    let target = memory();
    let tree = Tree { items: 30, ..Tree::default() };
    let part = |entries: Entries| Entries { working_set: Ratio::percent(10.0), ..entries };
    let stat = part(selecting(Stat, Selection::Once));
    let remove = Phase { name: "few".to_owned(), ..phase(&part(of(Remove))) };
    let phases = vec![phase(&of(Create)), phase(&stat), remove, phase(&of(Remove))];
    let done = run(target.path(), &with_tree(2, tree, phases)).expect();
    assert_eq!((operations(&done, Stat), done.phase("few").operation_count()), (6, 6));
    assert_eq!(operations(&done, Remove), 54, "those that are left");
}

fn counted(done: &Done, name: &str) -> (u64, bool) {
    (done.phase(name).operation_count(), done.phase(name).open_loop)
}

#[test]
fn a_rate_paces_items_and_latency_counts_from_the_due_instant() {
    let target = memory();
    let tree = Tree { items: 60, ..Tree::default() };
    let stop = Stop { operations: Some(50), ..Stop::default() };
    let pacing = |operations_per_second| Pacing::Open { operations_per_second, arrival: Arrival::Uniform };
    let stat = |name: &str, rate| {
        let entries = Entries { pacing: pacing(rate), ..of(Stat) };
        Phase { name: name.to_owned(), stop, ..phase(&entries) }
    };
    let rate = PhaseRate::Fixed { operations_per_second: 1000.0, arrival: Arrival::Jittered };
    let shared = Phase { rate: Some(rate), name: "shared".to_owned(), stop, ..phase(&of(Stat)) };
    let phases = vec![phase(&of(Create)), stat("slow", 1000.0), stat("impossible", 1e9), shared];
    let done = run(target.path(), &with_tree(2, tree, phases)).expect();
    for name in ["slow", "impossible", "shared"] {
        assert_eq!(counted(&done, name), (100, true));
        check_phase(done.phase(name)).unwrap();
    }
    // The last of 100 is due after 99 ms.
    assert!(done.phase("slow").transferred() >= Duration::from_millis(99));
    assert!((done.phase("shared").asked_operations_per_second.unwrap().get() - 1000.0).abs() < 1e-6);
}

/// A job with a rate of its own beside one that goes as fast as it can.
#[test]
fn one_job_keeps_its_rate_beside_another_that_has_none() {
    let target = memory();
    let pacing = Pacing::Open { operations_per_second: 100.0, arrival: Arrival::Uniform };
    let jobs = vec![job(1, None, &Entries { pacing, ..of(Stat) }), job(1, None, &of(Stat))];
    let tree = Tree { items: 10, ..Tree::default() };
    let done = run(target.path(), &with_tree(2, tree, vec![together("both", jobs, 300)])).expect();
    let phase = done.phase("both");
    let (paced, free) = (done_by(phase, 0..1), done_by(phase, 1..2));
    assert!((1..=31).contains(&paced), "100 per second, for 0.3 s: {paced}");
    assert!(free > paced, "{free}");
    assert!(phase.open_loop && phase.asked_operations_per_second.is_none());
}

#[test]
fn a_series_of_rates_rests_where_it_is_told_to() {
    let target = memory();
    let step = |operations_per_second, time| RateStep { operations_per_second, time };
    // Fifty at once, and then nothing for an hour.
    let steps = vec![step(5000.0, Duration::from_millis(10)), step(0.0, Duration::from_hours(1))];
    let rate = PhaseRate::Series { steps, arrival: Arrival::Uniform };
    let jobs = vec![job(2, None, &of(Stat))];
    let tree = Tree { items: 10, ..Tree::default() };
    let series = Phase { rate: Some(rate), ..together("series", jobs, 150) };
    let done = run(target.path(), &with_tree(2, tree, vec![series])).expect();
    let count = done.phase("series").operation_count();
    assert!((48..=52).contains(&count), "{count}");
}

#[test]
fn selections_that_make_no_sense_are_refused() {
    let tree = Tree { items: 9, ..Tree::default() };
    let said = |phase: Phase| {
        let workload = with_tree(4, tree.clone(), vec![phase]);
        workload.check().unwrap_err().message().to_owned()
    };
    let endless = |entries: Entries| together("x", vec![job(4, None, &entries)], 1);
    let random = |operation| selecting(operation, Selection::Random);
    assert!(with_tree(4, tree.clone(), vec![endless(random(Stat))]).check().is_ok());
    assert_eq!(said(phase(&random(Stat))), "phase `Stat` selects items without end");
    for operation in [Rename, Find, MakeTree] {
        let text = "phase `x`: `select` does not go with this operation";
        assert_eq!(said(endless(random(operation))), text);
    }
    let shuffled = Entries { order: bench::workload::Order::RandomOnce, ..random(Stat) };
    assert_eq!(said(endless(shuffled)), "phase `x`: `select` says which items are taken, and by whom");
    let nothing = Entries { working_set: Ratio::ZERO, ..of(Stat) };
    assert_eq!(said(endless(nothing)), "phase `x` uses no items");
    let skewed = selecting(Stat, Selection::Skewed(Ratio::ZERO));
    assert_eq!(said(endless(skewed)), "phase `x`: `skewed` to nothing");
    let both = |one: &Entries, other: &Entries| {
        together("x", vec![job(2, Some(90.0), one), job(2, Some(10.0), other)], 1)
    };
    let runs_out = "phase `x`: a job with `skew` runs out of items, and would hold up the others";
    for operation in [Create, Remove] {
        assert_eq!(said(both(&random(Stat), &random(operation))), runs_out, "{operation:?}");
    }
    assert_eq!(said(both(&random(Stat), &of(Create))), runs_out);
    assert_eq!(said(both(&of(Stat), &selecting(Open, Selection::Once))), runs_out);
    let first = Entries { first_rank_only: true, ..of(Stat) };
    assert_eq!(said(phase(&first)), "phase `Stat`: only creations and removals are done by one rank for all");
    let paced = Pacing::Open { operations_per_second: 0.0, arrival: Arrival::Uniform };
    let paced = Entries { pacing: paced, ..of(Stat) };
    assert_eq!(said(phase(&paced)), "phase `Stat`: 0 operations per second is no rate for this operation");
    let rests = vec![RateStep { operations_per_second: 0.0, time: Duration::from_secs(1) }];
    let rate = PhaseRate::Series { steps: rests, arrival: Arrival::Uniform };
    let rests = Phase { rate: Some(rate), ..endless(of(Stat)) };
    assert_eq!(said(rests), "phase `x`: its series of rates has a step that is none, or nothing but rests");
    let _: Workload = with_tree(1, tree.clone(), Vec::new());
}
