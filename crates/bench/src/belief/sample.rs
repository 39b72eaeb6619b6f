//! A phase, a machine and a test in which nothing is wrong, for tests to break one thing at a time.

use std::sync::LazyLock;

use host::{BlockDevice, CounterSource, Counters, Cpu, CpuTimes, Environment, Memory, Mount, TrafficCounter};
use record::{
    EngineUsed, Interval, Latency, Mark, OperationKind, OperationResult, PhaseResult, RankResult, Repetition,
    StopCause, TestRecord,
};
use units::Bytes;

use super::Context;

pub(super) const SECOND: u64 = 1_000_000_000;
/// Length of the sample phase in s.
pub(super) const LENGTH: u64 = 30;
const TRANSFER: Bytes = Bytes::mib(1);
const RANKS: u64 = 2;

/// A quiet host of 4 vCPUs and 1 GiB of memory with an SSD under xfs.
pub(super) static HOST: LazyLock<Environment> = LazyLock::new(|| Environment {
    cpu: Cpu { pcores: 2, vcpus: 4, vcpus_allowed: 4.0, ..Cpu::default() },
    memory: Memory { total_bytes: Bytes::gib(1), ..Memory::default() },
    clock_source: "tsc".into(),
    target: Some(Mount {
        file_system: "xfs".into(),
        options: "rw,relatime".into(),
        size_bytes: Bytes::gib(100),
        available_bytes: Bytes::gib(50),
        free_bytes: Bytes::gib(50),
        ..Mount::default()
    }),
    devices: vec![BlockDevice { name: "nvme0n1".into(), ..BlockDevice::default() }],
    ..Environment::default()
});

/// The sample host with another file system.
pub(super) fn host_with(file_system: &str) -> Environment {
    let mut host = HOST.clone();
    host.target.as_mut().unwrap().file_system = file_system.into();
    host
}

/// Files of 3 GiB in a run that wrote them on a host of 1 GiB.
pub(super) fn context() -> Context<'static> {
    context_on(&HOST)
}

pub(super) fn context_on(host: &Environment) -> Context<'_> {
    Context { files_written_by_this_host_in_this_run: true, ..Context::new(host, 2, Bytes::gib(3)) }
}

/// `count` operations on data at a latency that keeps both ranks' queues full over `ns`.
pub(super) fn result(kind: OperationKind, count: u64, ns: u64) -> OperationResult {
    let mut latency = Latency::new();
    (0..count).for_each(|_| latency.record(ns * RANKS / count.max(1)));
    OperationResult { kind, operations: count, bytes: TRANSFER * count, latency }
}

/// Two ranks move 100 MiB/s together for 30 s; the device sees every byte and is half busy.
pub(super) fn phase(kind: OperationKind) -> PhaseResult {
    let count = 100 * LENGTH;
    let (bytes, elapsed_ns) = (TRANSFER * count, LENGTH * SECOND);
    let mark = Mark { elapsed_ns, operations: count, bytes };
    let moved = |when: bool| if when { bytes } else { Bytes::ZERO };
    PhaseResult {
        name: kind.word().to_owned(),
        main: vec![kind],
        transfer_bytes: Some(TRANSFER),
        started_ns: 0,
        first_done: mark,
        last_done: mark,
        wear_out: false,
        wear_out_capped: false,
        stopped_by: StopCause::Bytes,
        open_loop: false,
        asked_operations_per_second: None,
        matched: None,
        operations: vec![result(kind, count, elapsed_ns)],
        ranks: (0..RANKS as u32).map(|rank| self::rank(rank, elapsed_ns)).collect(),
        ranks_stated: None,
        hosts: Vec::new(),
        lost: Vec::new(),
        layout: None,
        series: series(kind, &[100; LENGTH as usize]),
        engine: EngineUsed { name: "psync".into(), queue_depth: 1, ..EngineUsed::default() },
        counters: Counters {
            traffic: vec![TrafficCounter {
                source: CounterSource::Device,
                name: "nvme0n1".into(),
                read_bytes: moved(kind == OperationKind::Read),
                written_bytes: moved(kind == OperationKind::Write),
                busy_ns: elapsed_ns / 2,
            }],
            cpu: cpu(0.2),
            dirty_bytes: Bytes::ZERO,
            writeback_bytes: Bytes::ZERO,
        },
        errors: Vec::new(),
        error_count: 0,
        verify_failures: 0,
        verified_bytes: Bytes::ZERO,
        checks: Vec::new(),
        limit: None,
    }
}

pub(super) fn read() -> PhaseResult {
    phase(OperationKind::Read)
}

pub(super) fn write() -> PhaseResult {
    phase(OperationKind::Write)
}

pub(super) fn rank(rank: u32, elapsed_ns: u64) -> RankResult {
    RankResult {
        rank,
        operations: 50 * LENGTH,
        bytes: TRANSFER * 50 * LENGTH,
        transferred_ns: elapsed_ns,
        synced_ns: elapsed_ns,
        closed_ns: elapsed_ns,
        cpu_ns: elapsed_ns / 10,
        ..RankResult::default()
    }
}

/// One interval of a second per entry, which is its MiB.
pub(super) fn series(kind: OperationKind, mib: &[u64]) -> Vec<Interval> {
    let starts = (0..).map(|second| second * SECOND);
    let interval = |(start_ns, mib): (u64, &u64)| Interval {
        start_ns,
        length_ns: SECOND,
        operations: vec![OperationResult {
            kind,
            operations: *mib,
            bytes: Bytes::mib(*mib),
            latency: Latency::new(),
        }],
        cpu: None,
    };
    starts.zip(mib).map(interval).collect()
}

/// CPU times of 4 vCPUs over the phase, all busy to this share with this process's work.
pub(super) fn cpu(busy: f64) -> CpuTimes {
    let window = (LENGTH * SECOND) as f64;
    let used = (4.0 * window * busy) as u64;
    CpuTimes {
        user_ns: used / 4,
        system_ns: used - used / 4,
        idle_ns: (4.0 * window * (1.0 - busy)) as u64,
        busy_per_vcpu_ns: vec![(window * busy) as u64; 4],
        process_user_ns: used / 4,
        process_system_ns: used - used / 4,
        ..CpuTimes::default()
    }
}

/// A test whose read phase ran at these MiB/s.
pub(super) fn test(rates: &[u64]) -> TestRecord {
    let repetition = |(rate, number): (&u64, u32)| {
        let mut phase = read();
        phase.last_done.bytes = Bytes::mib(rate * LENGTH);
        Repetition { number, phases: vec![phase], removed_ns: None }
    };
    TestRecord {
        name: "iotest".into(),
        test: "iotest".into(),
        target: "/data".into(),
        summary: String::new(),
        workload: serde_json::Value::Null,
        pcores: 2,
        equivalence: None,
        environment: None,
        held_memory: None,
        hosts: Vec::new(),
        repetitions: rates.iter().zip(1..).map(repetition).collect(),
        checks: Vec::new(),
    }
}
