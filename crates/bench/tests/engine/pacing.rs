//! The open loop counts latency from the instant an operation was due.

use std::time::Duration;

use bench::Workload;
use bench::workload::{Arrival, EngineChoice, Pacing, Phase, Stop, Transfer};
use record::Outcome;
use units::Bytes;

use super::run::{memory, run, workload};

fn open(operations_per_second: f64, arrival: Arrival) -> Pacing {
    Pacing::Open { operations_per_second, arrival }
}

/// At a rate that no machine reaches, everything is due at the start: waiting is most of the latency.
#[test]
fn falling_behind_shows_in_the_latency() {
    for (engine, queue_depth) in
        [(EngineChoice::Psync, 1), (EngineChoice::Uring, 1), (EngineChoice::Uring, 8)]
    {
        let target = memory();
        let stop = Stop { operations: Some(2000), repeat: true, ..Stop::default() };
        let phase = |name, pacing| {
            let transfer = Transfer { pacing, queue_depth, ..Transfer::read(Bytes::kib(4)) };
            Phase { stop, ..Phase::transfer(name, transfer) }
        };
        let phases = vec![phase("closed", Pacing::Closed), phase("open", open(1e9, Arrival::Uniform))];
        let done = run(target.path(), &Workload { engine, ..workload(2, phases) }).expect();
        let median = |name| done.phase(name).operations[0].latency.percentile(50.0);
        assert!(median("open") > 20 * median("closed"), "{:?} {:?}", median("open"), median("closed"));
        assert!(done.phase("open").open_loop && !done.phase("closed").open_loop);
        assert_eq!(done.phase("open").operation_count(), 4000);
        assert_eq!(done.check("open", "littles-law").0, Outcome::NotApplicable);
    }
}

/// A schedule has an end: the last of 100 operations at 1000 per second is due after 99 ms, not before.
#[test]
fn nothing_starts_before_it_is_due() {
    for (engine, queue_depth) in [(EngineChoice::Psync, 1), (EngineChoice::Uring, 4)] {
        let target = memory();
        let transfer =
            Transfer { pacing: open(1000.0, Arrival::Uniform), queue_depth, ..Transfer::read(Bytes::kib(4)) };
        let stop = Stop { operations: Some(50), repeat: true, ..Stop::default() };
        let phases = vec![Phase { stop, ..Phase::transfer("read", transfer) }];
        let done = run(target.path(), &Workload { engine, ..workload(2, phases) }).expect();
        let phase = done.phase("read");
        assert_eq!(phase.operation_count(), 100);
        assert!(phase.transferred() >= Duration::from_millis(99), "{:?}", phase.transferred());
    }
}

#[test]
fn a_slow_rate_ends_at_the_deadline() {
    for (engine, queue_depth) in [(EngineChoice::Psync, 1), (EngineChoice::Uring, 4)] {
        let target = memory();
        let pacing = open(10.0, Arrival::Poisson);
        let transfer = Transfer { pacing, queue_depth, ..Transfer::write(Bytes::kib(4)) };
        let stop = Stop { repeat: true, ..Stop::after(Duration::from_millis(100)) };
        let phases = vec![Phase { stop, ..Phase::transfer("write", transfer) }];
        let done = run(target.path(), &Workload { engine, ..workload(1, phases) }).expect();
        let phase = done.phase("write");
        assert_eq!(phase.stopped_by, record::StopCause::Time);
        // One is due at once; gaps of a tenth of a second on average leave room for few more.
        assert!((1..=20).contains(&phase.operation_count()), "{}", phase.operation_count());
    }
}

/// The counter that times operations was behind the clock that ended the rest: most latencies came out as nothing.
#[test]
fn an_operation_after_a_rest_has_a_latency() {
    let target = memory();
    let transfer = Transfer { think_time: Duration::from_millis(1), ..Transfer::read(Bytes::kib(4)) };
    let stop = Stop { operations: Some(60), repeat: true, ..Stop::default() };
    let phases = vec![Phase { stop, ..Phase::transfer("read", transfer) }];
    let workload = Workload { engine: EngineChoice::Psync, ..workload(1, phases) };
    let done = run(target.path(), &workload).expect();
    let latency = &done.phase("read").operations[0].latency;
    assert!(latency.percentile(10.0) > Duration::ZERO, "{:?}", latency.quantiles());
}
