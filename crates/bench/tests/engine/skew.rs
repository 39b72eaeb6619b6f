//! Jobs that keep to their part of all operations, and rates that all jobs of a phase share.

use std::time::Duration;

use bench::Workload;
use bench::workload::{
    Arrival, EngineChoice, Entries, EntryOperation, Job, PREPARE, Pacing, Phase, PhaseRate, Stop, Transfer,
};
use record::{Outcome, PhaseResult, StopCause};
use units::{Bytes, Ratio};

use super::counts::check_phase;
use super::run::{memory, run, workload};

const ENGINES: [(EngineChoice, u32); 3] =
    [(EngineChoice::Psync, 1), (EngineChoice::Uring, 1), (EngineChoice::Uring, 8)];

fn job(ranks: u32, skew: Option<f64>, transfer: &Transfer) -> Job {
    let skew = skew.map(Ratio::percent);
    Job { ranks: Some(ranks), skew, ..Phase::transfer("", transfer.clone()).jobs.remove(0) }
}

fn together(name: &str, jobs: Vec<Job>, milliseconds: u64) -> Phase {
    let stop = Stop { repeat: true, ..Stop::after(Duration::from_millis(milliseconds)) };
    Phase { jobs, stop, ..Phase::transfer(name, Transfer::default()) }
}

fn of(phase: &str, percent: f64) -> PhaseRate {
    PhaseRate::Of { phase: phase.to_owned(), share: Ratio::percent(percent), arrival: Arrival::Uniform }
}

/// Operations of the first `ranks` ranks, and of all.
fn part(phase: &PhaseResult, ranks: usize) -> (u64, u64) {
    let operations = |ranks: &[record::RankResult]| ranks.iter().map(|rank| rank.operations).sum();
    (operations(&phase.ranks[..ranks]), operations(&phase.ranks))
}

#[test]
fn jobs_keep_to_their_part_of_all_operations() {
    for (engine, queue_depth) in ENGINES {
        let target = memory();
        let small = Transfer { queue_depth, ..Transfer::read(Bytes::kib(4)) };
        let large = Transfer { queue_depth, ..Transfer::read(Bytes::kib(64)) };
        // One rank of large transfers does 60 %, two of small ones 30 %, one more what is left. Left alone, the small
        // ones would do most.
        let jobs = vec![job(1, Some(60.0), &large), job(2, Some(30.0), &small), job(1, None, &small)];
        let phase = together("skewed", jobs, 150);
        let done = run(target.path(), &Workload { engine, ..workload(4, vec![phase]) }).expect();
        let phase = done.phase("skewed");
        check_phase(phase).unwrap();
        assert_eq!(phase.stopped_by, StopCause::Time);
        let (first, all) = part(phase, 1);
        let (two, _) = part(phase, 3);
        // What a rank may be ahead, and what is in flight when time is up.
        let slack = 40.0 + all as f64 / 100.0;
        assert!(all > 200, "{all} operations");
        for (done, part) in [(first, 0.6), (two - first, 0.3), (all - two, 0.1)] {
            let due = part * all as f64;
            assert!((done as f64 - due).abs() < slack, "{done} of {all}, {due} are due ({engine:?})");
        }
        assert_eq!(done.check("skewed", "littles-law").0, Outcome::NotApplicable);
    }
}

#[test]
fn a_job_that_fails_frees_those_that_wait_for_it() {
    let target = memory();
    let odd = Transfer { direct: true, ..Transfer::write(Bytes::new(47_008)) };
    let write = Transfer::write(Bytes::new(47_008));
    let jobs = vec![job(1, Some(50.0), &odd), job(2, Some(50.0), &write)];
    let files = bench::workload::FileSet { block_size: Bytes::new(470_080), ..Default::default() };
    let disk = super::run::disk();
    let done = run(disk.path(), &Workload { files, ..workload(3, vec![together("both", jobs, 600_000)]) });
    assert!(done.words().0.contains("direct I/O here needs multiples of"), "{:?}", done.failure);
    drop(target);
}

#[test]
fn a_curve_takes_shares_of_what_was_reached() {
    for (engine, queue_depth) in ENGINES {
        let target = memory();
        let read = Transfer { queue_depth, ..Transfer::read(Bytes::kib(4)) };
        // Reaches the same on every machine: the curve is one of a paced phase.
        let jobs = || vec![job(1, None, &read), job(1, None, &read)];
        let rate = PhaseRate::Fixed { operations_per_second: 2000.0, arrival: Arrival::Poisson };
        let stop = Stop { operations: Some(100), repeat: true, ..Stop::default() };
        let limited = |name: &str, rate| Phase { stop, rate: Some(rate), ..together(name, jobs(), 0) };
        let phases = vec![
            limited("all", rate),
            limited("half", of("all", 50.0)),
            limited("a quarter", of("half", 50.0)),
        ];
        let done = run(target.path(), &Workload { engine, ..workload(2, phases) }).expect();
        let reached = |name: &str| {
            let phase = done.phase(name);
            phase.operation_count() as f64 / phase.transferred().as_secs_f64()
        };
        let asked = |name: &str| done.phase(name).asked_operations_per_second.unwrap().get();
        let close = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-6;
        assert!(close(asked("all"), 2000.0));
        assert!(close(asked("half"), reached("all") / 2.0), "{} {}", asked("half"), reached("all"));
        assert!(close(asked("a quarter"), reached("half") / 2.0));
        let mut measured = done.phases().filter(|phase| phase.name != PREPARE);
        assert!(measured.all(|phase| phase.open_loop && phase.operation_count() == 200));
    }
}

#[test]
fn a_rate_is_dealt_by_skew_or_as_it_was_observed_or_evenly() {
    let read = Transfer::read(Bytes::kib(4));
    let fixed = PhaseRate::Fixed { operations_per_second: 1000.0, arrival: Arrival::Uniform };
    let rates = |workload: &Workload, phase: &Phase, earlier: &[PhaseResult]| -> Vec<f64> {
        let paced = workload.with_rates(phase, earlier).unwrap();
        let rate = |job: &Job| match &job.activity {
            bench::workload::Activity::Transfer(Transfer {
                pacing: Pacing::Open { operations_per_second, .. },
                ..
            }) => (operations_per_second * 1e6).round() / 1e6,
            other => panic!("{other:?}"),
        };
        paced.jobs.iter().map(rate).collect()
    };
    let jobs = |skew| vec![job(1, skew, &read), job(3, None, &read)];
    let phase = |skew, rate: &PhaseRate| Phase { rate: Some(rate.clone()), ..together("x", jobs(skew), 1) };
    let workload = workload(4, vec![together("max", jobs(None), 1)]);
    assert_eq!(rates(&workload, &phase(None, &fixed), &[]), [500.0, 500.0]);
    assert_eq!(rates(&workload, &phase(Some(80.0), &fixed), &[]), [800.0, 200.0]);

    let target = memory();
    let stop = Stop { operations: Some(16), ..Stop::default() };
    let max = Phase { stop, ..together("max", jobs(None), 1) };
    let done = run(target.path(), &Workload { phases: vec![max], ..workload.clone() }).expect();
    let results: Vec<PhaseResult> = done.phases().cloned().collect();
    // All ranks did the same: a quarter by the first job.
    let observed = rates(&workload, &phase(None, &of("max", 100.0)), &results);
    assert!((observed[1] / observed[0] - 3.0).abs() < 1e-3, "{observed:?}");
    let skewed = rates(&workload, &phase(Some(50.0), &of("max", 100.0)), &results);
    assert!((skewed[0] - skewed[1]).abs() < 1e-3, "{skewed:?}");
    assert!((observed.iter().sum::<f64>() - skewed.iter().sum::<f64>()).abs() < 1e-3);
}

#[test]
fn rates_and_skews_that_make_no_sense_are_refused() {
    let read = Transfer::read(Bytes::kib(4));
    let paced = Transfer {
        pacing: Pacing::Open { operations_per_second: 1.0, arrival: Arrival::Uniform },
        ..read.clone()
    };
    let both = |one, other| together("x", vec![job(1, one, &read), job(1, other, &read)], 1);
    let said = |phase: Phase| {
        let max = together("max", vec![job(2, None, &read)], 1);
        workload(2, vec![max, phase]).check().unwrap_err().message().to_owned()
    };
    let sums = "phase `x`: the jobs' `skew` does not add up to 100 %";
    for (one, other) in
        [(Some(50.0), Some(49.0)), (Some(90.0), Some(20.0)), (Some(100.0), None), (Some(100.0), Some(0.0))]
    {
        assert_eq!(said(both(one, other)), sums, "{one:?} {other:?}");
    }
    let good = || both(Some(50.0), None);
    assert!(workload(2, vec![good()]).check().is_ok());
    let ending = Phase { stop: Stop::default(), ..good() };
    assert!(said(ending).contains("one that has ended would hold up the others"));
    let own = together("x", vec![job(1, Some(50.0), &paced), job(1, None, &read)], 1);
    let no_pacing =
        "phase `x`: `rate` and `skew` go with transfers and items that have no `pacing` of their own";
    assert_eq!(said(own), no_pacing);
    let find =
        Phase { rate: Some(of("max", 50.0)), ..Phase::entries("x", Entries::of(EntryOperation::Find)) };
    assert_eq!(said(find), no_pacing);
    let with = |rate| said(Phase { rate: Some(rate), ..both(None, None) });
    assert_eq!(with(of("max", 0.0)), "phase `x`: 0 % of a rate is no rate");
    assert_eq!(with(of("x", 10.0)), "phase `x` wants a share of the rate of `x`, which is no earlier phase");
    assert_eq!(with(of("max", 50.0)), "phase `x` has other jobs than `max`, whose rate it wants a share of");
    let nothing = PhaseRate::Fixed { operations_per_second: 0.0, arrival: Arrival::Uniform };
    assert_eq!(with(nothing), "phase `x`: 0 operations per second is no rate");
}
