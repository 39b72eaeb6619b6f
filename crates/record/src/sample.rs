//! A small, complete record for the tests of this crate.

use host::{Counters, Environment};
use units::{Bandwidth, Bytes};

use crate::{
    Check, Direction, EngineUsed, Interval, Latency, Limit, LimitCause, Mark, OperationKind, OperationResult,
    PhaseResult, RankResult, Repetition, RequirementVerdict, RunRecord, RunState, Spread, StopCause,
    TestRecord, VERSION, Validity,
};

const SECOND: u64 = 1_000_000_000;

/// One rank reading at `mib_per_second` for a second.
pub(crate) fn phase(name: &str, mib_per_second: f64) -> PhaseResult {
    let bytes = Bytes::new((mib_per_second * f64::from(1u32 << 20)) as u64);
    let count = bytes / Bytes::kib(64);
    let mut latency = Latency::new();
    (0..count).for_each(|n| latency.record(SECOND / count.max(1) + n % 10));
    let result = OperationResult { kind: OperationKind::Read, operations: count, bytes, latency };
    let mark = Mark { elapsed_ns: SECOND, operations: count, bytes };
    PhaseResult {
        name: name.to_owned(),
        main: vec![OperationKind::Read],
        transfer_bytes: Some(Bytes::kib(64)),
        started_ns: 0,
        first_done: mark,
        last_done: mark,
        wear_out: false,
        wear_out_capped: false,
        stopped_by: StopCause::Bytes,
        open_loop: false,
        asked_operations_per_second: None,
        matched: None,
        operations: vec![result.clone()],
        ranks: vec![RankResult {
            operations: count,
            bytes,
            transferred_ns: SECOND,
            synced_ns: SECOND,
            closed_ns: SECOND,
            ..RankResult::default()
        }],
        ranks_stated: None,
        hosts: Vec::new(),
        lost: Vec::new(),
        layout: None,
        series: vec![Interval { start_ns: 0, length_ns: SECOND, operations: vec![result], cpu: None }],
        engine: EngineUsed {
            name: "psync".into(),
            reason: "asked for".into(),
            direct: false,
            queue_depth: 1,
        },
        counters: Counters::default(),
        errors: Vec::new(),
        error_count: 0,
        verify_failures: 0,
        verified_bytes: Bytes::ZERO,
        checks: vec![Check::pass("duration", "1 s")],
        limit: Some(Limit { cause: LimitCause::Beyond, evidence: "nothing here was busy".into() }),
    }
}

/// A complete run with one test, whose repetitions read at these rates.
pub(crate) fn record_of(rates: &[f64]) -> RunRecord {
    let repetitions = rates.iter().zip(1..);
    RunRecord {
        version: VERSION,
        id: "20261121-214226-3f9a1c".into(),
        label: Some("sample".into()),
        state: RunState::Complete,
        error: None,
        program: "forebay 0.1.0".into(),
        command: vec!["forebay".into(), "iotest".into()],
        process_id: std::process::id(),
        boot_id: crate::process::boot_id(),
        started_at: "2026-11-21T21:42:26Z".into(),
        elapsed_ns: 3 * SECOND,
        spec: None,
        environment: Environment::default(),
        tests: vec![TestRecord {
            name: "iotest".into(),
            test: "iotest".into(),
            target: "/mnt/data".into(),
            summary: "1 rank, 64 KiB sequential".into(),
            workload: serde_json::json!({ "seed": 7, "ranks": 1, "phases": [{ "name": "read", "transfer_bytes": 65536 }] }),
            pcores: 1,
            equivalence: None,
            environment: None,
            held_memory: None,
            hosts: Vec::new(),
            repetitions: repetitions
                .map(|(rate, number)| Repetition {
                    number,
                    phases: vec![phase("read", *rate)],
                    removed_ns: None,
                })
                .collect(),
            checks: Vec::new(),
        }],
        requirements: vec![RequirementVerdict {
            storage: "data".into(),
            test: "iotest".into(),
            direction: Direction::Read,
            required_per_pcore: Bandwidth::mb_per_second(100.0),
            measured_per_pcore: Some(Spread {
                median_bytes_per_second: Bandwidth::mb_per_second(150.0),
                min_bytes_per_second: Bandwidth::mb_per_second(149.0),
                max_bytes_per_second: Bandwidth::mb_per_second(151.0),
            }),
            pcores: 1,
            margin: Some(0.5),
            met: true,
            validity: Validity::Valid,
            limited_by: "beyond this host".into(),
        }],
        design: None,
        imported: None,
        search: None,
        sweep: None,
    }
}

/// A complete run.
pub(crate) fn record() -> RunRecord {
    record_of(&[150.0, 151.0, 149.0])
}
