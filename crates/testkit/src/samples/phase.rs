use host::{CounterSource, Counters, CpuTimes, TrafficCounter};
use record::{
    Check, Direction, EngineUsed, Interval, Latency, Limit, LimitCause, Mark, OperationKind, OperationResult,
    PhaseResult, RankResult, StopCause,
};
use units::{Bandwidth, Bytes};

use super::Sample;

const TRANSFER: Bytes = Bytes::kib(64);
const SECOND: u64 = 1_000_000_000;

/// A small deterministic source of noise: the same seed gives the same record on every machine.
#[derive(Debug)]
pub struct Noise(u64);

impl Noise {
    /// Noise that depends on `seed` only.
    pub const fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// A share from 0 to 1 (xorshift64*).
    pub fn share(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Within `reach` of zero.
    pub fn around_zero(&mut self, reach: f64) -> f64 {
        (self.share() * 2.0 - 1.0) * reach
    }

    /// A latency around `typical` ns with the long tail storage has.
    fn latency_ns(&mut self, typical: f64) -> u64 {
        let body = 0.7 + 0.6 * self.share();
        let tail = (1.0 - self.share()).max(1e-5).powf(-0.42);
        (typical * body * tail) as u64
    }
}

/// A phase in which every rank moves about `rate_mb` MB/s for the sample's time.
pub fn data_phase(sample: &Sample, direction: Direction, rate_mb: f64, noise: &mut Noise) -> PhaseResult {
    let kind = match direction {
        Direction::Read => OperationKind::Read,
        Direction::Write => OperationKind::Write,
    };
    let rate = Bandwidth::mb_per_second(rate_mb).get();
    let bytes = Bytes::new((rate * f64::from(sample.seconds)) as u64).round_down(TRANSFER);
    let ranks: Vec<RankResult> =
        (0..sample.ranks).map(|rank| rank_result(sample, rank, bytes, rate, direction, noise)).collect();
    let total = bytes * u64::from(sample.ranks);
    let transferred_ns = ranks.iter().map(|r| r.transferred_ns).max().unwrap_or(0);
    let typical_ns = TRANSFER.get() as f64 / rate * 1e9 * 0.6;
    let series = series(sample, kind, total, transferred_ns, typical_ns, noise);
    let mut latency = Latency::new();
    series.iter().flat_map(|i| &i.operations).for_each(|o| latency.merge(&o.latency));
    let main = OperationResult { kind, operations: total / TRANSFER, bytes: total, latency };
    let mut operations = vec![main, few(OperationKind::Open, &ranks, 140_000.0, noise)];
    if direction == Direction::Write {
        operations.push(few(OperationKind::Fsync, &ranks, 380_000_000.0, noise));
    }
    operations.push(few(OperationKind::Close, &ranks, 60_000.0, noise));
    let first_ns = ranks.iter().map(|r| r.closed_ns).min().unwrap_or(0);
    let last_ns = ranks.iter().map(|r| r.closed_ns).max().unwrap_or(0);
    let at_first = total.get() as f64 * first_ns as f64 / last_ns.max(1) as f64 * 1.01;
    let at_first = Bytes::new((at_first as u64).min(total.get()));
    PhaseResult {
        transfer_bytes: Some(TRANSFER),
        first_done: Mark { elapsed_ns: first_ns, operations: at_first / TRANSFER, bytes: at_first },
        last_done: Mark { elapsed_ns: last_ns, operations: total / TRANSFER, bytes: total },
        operations,
        counters: counters(direction, total, last_ns, sample.ranks),
        checks: checks(sample, direction, total),
        limit: Some(limit(direction)),
        ranks,
        series,
        ..blank(direction.word(), vec![kind])
    }
}

/// A phase that moves no bytes: `stat` on many files.
pub fn metadata_phase(sample: &Sample, noise: &mut Noise) -> PhaseResult {
    let per_rank = 40_000;
    let ranks: Vec<RankResult> = (0..sample.ranks)
        .map(|rank| {
            let end = (f64::from(sample.seconds) * 1e9 * (1.0 + noise.around_zero(0.1))) as u64;
            RankResult {
                rank,
                host: sample.hostname.clone(),
                operations: per_rank,
                transferred_ns: end,
                synced_ns: end,
                closed_ns: end,
                ..RankResult::default()
            }
        })
        .collect();
    let total = per_rank * u64::from(sample.ranks);
    let last_ns = ranks.iter().map(|r| r.closed_ns).max().unwrap_or(0);
    let first_ns = ranks.iter().map(|r| r.closed_ns).min().unwrap_or(0);
    let mut series = series(sample, OperationKind::Stat, Bytes::ZERO, last_ns, 90_000.0, noise);
    for interval in &mut series {
        let share = interval.length_ns as f64 / last_ns as f64;
        interval.operations.iter_mut().for_each(|o| o.operations = (total as f64 * share) as u64);
    }
    let mut latency = Latency::new();
    series.iter().flat_map(|i| &i.operations).for_each(|o| latency.merge(&o.latency));
    PhaseResult {
        first_done: Mark { elapsed_ns: first_ns, operations: total - total / 50, bytes: Bytes::ZERO },
        last_done: Mark { elapsed_ns: last_ns, operations: total, bytes: Bytes::ZERO },
        operations: vec![OperationResult {
            kind: OperationKind::Stat,
            operations: total,
            bytes: Bytes::ZERO,
            latency,
        }],
        ranks,
        series,
        ..blank("stat", vec![OperationKind::Stat])
    }
}

fn blank(name: &str, main: Vec<OperationKind>) -> PhaseResult {
    PhaseResult {
        name: name.to_owned(),
        main,
        transfer_bytes: None,
        started_ns: 0,
        first_done: Mark::default(),
        last_done: Mark::default(),
        wear_out: false,
        wear_out_capped: false,
        stopped_by: StopCause::Bytes,
        open_loop: false,
        asked_operations_per_second: None,
        matched: None,
        operations: Vec::new(),
        ranks: Vec::new(),
        ranks_stated: None,
        hosts: Vec::new(),
        lost: Vec::new(),
        layout: None,
        series: Vec::new(),
        engine: EngineUsed {
            name: "psync".to_owned(),
            reason: "probe: psync 1.9 s of CPU per million reads, uring 2.6 s".to_owned(),
            direct: false,
            queue_depth: 1,
        },
        counters: Counters::default(),
        errors: Vec::new(),
        error_count: 0,
        verify_failures: 0,
        verified_bytes: Bytes::ZERO,
        checks: Vec::new(),
        limit: None,
    }
}

fn rank_result(
    sample: &Sample,
    rank: u32,
    bytes: Bytes,
    rate: f64,
    direction: Direction,
    noise: &mut Noise,
) -> RankResult {
    let straggler = if rank == 5 { 0.91 } else { 1.0 };
    let actual = rate * straggler * (1.0 + noise.around_zero(0.02));
    let transferred_ns = (bytes.get() as f64 / actual * 1e9) as u64;
    let fsync_ns = if direction == Direction::Write { (300.0e6 * (1.0 + noise.share())) as u64 } else { 0 };
    RankResult {
        rank,
        host: sample.hostname.clone(),
        operations: bytes / TRANSFER,
        bytes,
        opened_ns: 180_000,
        transferred_ns,
        synced_ns: transferred_ns + fsync_ns,
        closed_ns: transferred_ns + fsync_ns + 70_000,
        cpu_ns: transferred_ns / 9,
        errors: 0,
        ..RankResult::default()
    }
}

/// Cuts `total` bytes into intervals of a second, with noise and one dip; the parts add up to the whole.
fn series(
    sample: &Sample,
    kind: OperationKind,
    total: Bytes,
    end_ns: u64,
    typical_ns: f64,
    noise: &mut Noise,
) -> Vec<Interval> {
    let count = end_ns.div_ceil(SECOND);
    let length = |index: u64| (end_ns - index * SECOND).min(SECOND);
    let dip = count * 2 / 3;
    let slow = |index: u64| if index == dip && count > 4 { 0.55 } else { 1.0 };
    let weights: Vec<f64> =
        (0..count).map(|i| length(i) as f64 * slow(i) * (1.0 + noise.around_zero(0.05))).collect();
    let sum: f64 = weights.iter().sum();
    let mut left = total;
    (0..count)
        .zip(&weights)
        .map(|(index, weight)| {
            let part = Bytes::new((total.get() as f64 * weight / sum) as u64).round_down(TRANSFER);
            let part = if index + 1 == count { left } else { part.min(left) };
            left = left.saturating_sub(part);
            let mut latency = Latency::new();
            let typical = typical_ns / slow(index);
            (0..sample.latencies_per_interval).for_each(|_| latency.record(noise.latency_ns(typical)));
            let operation = OperationResult { kind, operations: part / TRANSFER, bytes: part, latency };
            Interval {
                start_ns: index * SECOND,
                length_ns: length(index),
                operations: vec![operation],
                cpu: None,
            }
        })
        .collect()
}

fn few(kind: OperationKind, ranks: &[RankResult], typical_ns: f64, noise: &mut Noise) -> OperationResult {
    let mut latency = Latency::new();
    for _ in ranks {
        latency.record(noise.latency_ns(typical_ns));
    }
    OperationResult { kind, operations: ranks.len() as u64, bytes: Bytes::ZERO, latency }
}

fn counters(direction: Direction, total: Bytes, elapsed_ns: u64, ranks: u32) -> Counters {
    let (read_bytes, written_bytes) = match direction {
        Direction::Read => (total, Bytes::ZERO),
        Direction::Write => (Bytes::ZERO, total),
    };
    let vcpus = u64::from(ranks) * 2;
    Counters {
        traffic: vec![TrafficCounter {
            source: CounterSource::Device,
            name: "md0".to_owned(),
            read_bytes,
            written_bytes,
            busy_ns: elapsed_ns / 100 * 97,
        }],
        cpu: CpuTimes {
            user_ns: elapsed_ns * vcpus / 50,
            system_ns: elapsed_ns * vcpus / 10,
            idle_ns: elapsed_ns * vcpus / 100 * 88,
            ..CpuTimes::default()
        },
        dirty_bytes: Bytes::mib(3),
        writeback_bytes: Bytes::ZERO,
    }
}

fn limit(direction: Direction) -> Limit {
    match direction {
        Direction::Write => Limit {
            cause: LimitCause::Device,
            evidence: "md0 was busy 97 % of the phase; CPU 12 %, NIC not involved".to_owned(),
        },
        Direction::Read => Limit {
            cause: LimitCause::QueueDepth,
            evidence: "md0 was busy 61 % of the phase with 0.9 reads in flight per rank".to_owned(),
        },
    }
}

fn checks(sample: &Sample, direction: Direction, total: Bytes) -> Vec<Check> {
    let mut checks = vec![
        Check::pass(
            "cache-hit-proof",
            format!("the application moved {total} and md0 saw 100 % of it ({})", direction.word()),
        ),
        Check::pass("short-or-failed-io", "no operation failed or stayed short"),
        Check::not_applicable("steal", "this host is not a virtual machine"),
    ];
    if direction == Direction::Write {
        checks.push(Check::note(
            "dirty-pages",
            "3.00 MiB were still dirty when the phase ended",
            "nothing to do: this is less than 0.1 % of what was written",
        ));
    }
    if sample.with_failed_check && direction == Direction::Read {
        checks.push(Check::fail(
            "working-set",
            "the files (62 GiB) fit into memory (64 GiB): reads may have come from the page cache",
            "use a larger size, or --direct",
        ));
    }
    checks
}
