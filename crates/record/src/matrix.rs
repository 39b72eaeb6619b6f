//! The matrix that block storage is compared by: share of reads x seek x transfer size -> IOPS, MiB/s, latency. Any run
//! that has such points has it; vdbench's loops make them.
//!
//! Each point carries its own proof: by Little's law the operations in flight are IOPS x mean latency, and bytes per second
//! are IOPS x transfer size. A point where these differ from what ran was measured wrong.

use std::time::Duration;

use serde_json::Value;
use units::{Bandwidth, Bytes, Iops, Ratio};

use crate::latency::Latency;
use crate::phase::PhaseResult;
use crate::run::{RunRecord, TestRecord};

/// Fewer points are no matrix.
const LEAST_POINTS: usize = 4;
/// Phases that only make files for others.
const PREPARATIONS: [&str; 2] = ["prepare", "SD_format"];

/// Where transfers go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seek(f64);

impl Seek {
    /// A new random address with this probability in percent, else the next one.
    pub const fn percent(percent: f64) -> Self {
        Self(percent)
    }

    /// The probability in percent.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// `random`, `50 %`, `sequential`.
    pub fn word(self) -> String {
        match self.0 {
            percent if percent >= 100.0 => "random".to_owned(),
            percent if percent <= 0.0 => "sequential".to_owned(),
            percent => format!("{percent} %"),
        }
    }
}

/// One point, over all repetitions and without warm-up.
#[derive(Debug, Clone)]
pub struct MatrixPoint {
    /// Its phase.
    pub phase: String,
    /// Share of reads.
    pub read: Ratio,
    /// Where transfers go.
    pub seek: Seek,
    /// Bytes per call.
    pub transfer: Bytes,
    /// Operations.
    pub operations: u64,
    /// Bytes.
    pub bytes: Bytes,
    /// Time, of all repetitions together.
    pub time: Duration,
    /// Latency.
    pub latency: Latency,
    /// Repetitions.
    pub repetitions: u32,
}

impl MatrixPoint {
    /// Operations per second.
    pub fn iops(&self) -> Iops {
        Iops::over(self.operations, self.time)
    }

    /// Bytes per second, from the bytes that were counted.
    pub fn bandwidth(&self) -> Bandwidth {
        self.bytes.per(self.time)
    }

    /// Operations in flight by Little's law: IOPS x mean latency.
    pub fn in_flight(&self) -> f64 {
        self.iops().get() * self.latency.mean().as_secs_f64()
    }

    /// Bytes per second against IOPS x transfer size: 1 is equal.
    pub fn bytes_agree(&self) -> f64 {
        let expected = self.iops().get() * self.transfer.get() as f64;
        if expected > 0.0 { self.bandwidth().get() / expected } else { 1.0 }
    }
}

/// Points that differ in nothing but share of reads, seek and transfer size.
#[derive(Debug, Clone)]
pub struct Matrix {
    /// Name of the test.
    pub test: String,
    /// I/Os that were to be in flight, all ranks together.
    pub depth: u32,
    /// Operations per second that were asked for; none in a closed loop.
    pub asked: Option<Iops>,
    /// Whether the page cache was bypassed.
    pub direct: bool,
    /// The points, in the order in which they ran.
    pub points: Vec<MatrixPoint>,
}

impl Matrix {
    /// Shares of reads, the highest first.
    pub fn reads(&self) -> Vec<Ratio> {
        sorted(self.points.iter().map(|point| point.read.get())).into_iter().rev().map(Ratio::new).collect()
    }

    /// Seeks, random first.
    pub fn seeks(&self) -> Vec<Seek> {
        sorted(self.points.iter().map(|point| point.seek.get())).into_iter().rev().map(Seek).collect()
    }

    /// Transfer sizes, the smallest first.
    pub fn transfers(&self) -> Vec<Bytes> {
        let mut sizes: Vec<Bytes> = self.points.iter().map(|point| point.transfer).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The point at one place, if it was measured.
    pub fn at(&self, read: Ratio, seek: Seek, transfer: Bytes) -> Option<&MatrixPoint> {
        self.points
            .iter()
            .find(|point| point.read == read && point.seek == seek && point.transfer == transfer)
    }

    /// In flight by Little's law against what was to be in flight: 1 is equal. Nothing to compare with in an open loop.
    pub fn little(&self, point: &MatrixPoint) -> Option<f64> {
        self.asked.is_none().then(|| point.in_flight() / f64::from(self.depth.max(1)))
    }

    /// `32 in flight, O_DIRECT`: what all points have in common.
    pub fn conditions(&self) -> String {
        let mut words = vec![format!("{} in flight", self.depth)];
        words.extend(self.asked.map(|rate| format!("at {rate}")));
        words.push(if self.direct { "O_DIRECT" } else { "through the page cache" }.to_owned());
        words.join(", ")
    }

    /// The farthest that Little's law and the bytes are off, in one sentence each.
    pub fn proof(&self) -> Vec<String> {
        let off = |value: f64| (value - 1.0).abs();
        let worst = |of: &dyn Fn(&MatrixPoint) -> Option<f64>| {
            let all = self.points.iter().filter_map(|point| Some((off(of(point)?), point)));
            all.max_by(|a, b| a.0.total_cmp(&b.0))
        };
        let mut words = Vec::new();
        if let Some((off, point)) = worst(&|point| self.little(point)) {
            words.push(format!(
                "Little's law: IOPS x latency is {} in flight, at most {:.1} % off ({}: {:.2})",
                self.depth,
                100.0 * off,
                point.phase,
                point.in_flight()
            ));
        }
        if let Some((off, _)) = worst(&|point| Some(point.bytes_agree())) {
            words.push(format!("MiB/s is IOPS x transfer size, at most {:.1} % off", 100.0 * off));
        }
        words
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

impl RunRecord {
    /// The matrices in this run.
    pub fn matrices(&self) -> Vec<Matrix> {
        self.tests.iter().flat_map(TestRecord::matrices).collect()
    }
}

impl TestRecord {
    fn matrices(&self) -> Vec<Matrix> {
        let mut matrices: Vec<Matrix> = Vec::new();
        let phases = self.workload.get("phases").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for phase in phases {
            let Some(shape) = Shape::of(&self.workload, phase) else { continue };
            let results: Vec<&PhaseResult> = self.phases(&shape.name).collect();
            let Some(point) = shape.measured(&results) else { continue };
            let asked = results.first().and_then(|result| result.asked_operations_per_second);
            let same = |matrix: &&mut Matrix| {
                (matrix.depth, matrix.direct, matrix.asked) == (shape.depth, shape.direct, asked)
            };
            match matrices.iter_mut().find(same) {
                Some(matrix) if matrix.at(point.read, point.seek, point.transfer).is_some() => {}
                Some(matrix) => matrix.points.push(point),
                None => matrices.push(Matrix {
                    test: self.name.clone(),
                    depth: shape.depth,
                    asked,
                    direct: shape.direct,
                    points: vec![point],
                }),
            }
        }
        matrices.retain(|matrix| matrix.points.len() >= LEAST_POINTS);
        matrices
    }
}

/// What a phase of a workload does, where all its jobs do the same.
struct Shape {
    name: String,
    read: Ratio,
    seek: Seek,
    transfer: Bytes,
    depth: u32,
    direct: bool,
    warm_up: Duration,
    deadline: Duration,
}

impl Shape {
    fn of(workload: &Value, phase: &Value) -> Option<Self> {
        let name = phase.get("name")?.as_str()?.to_owned();
        if PREPARATIONS.iter().any(|own| name.starts_with(own)) {
            return None;
        }
        let all = workload.get("ranks").and_then(Value::as_u64)?;
        let ranks = phase.get("ranks").and_then(Value::as_u64).map_or(all, |own| own.min(all));
        let (mut left, mut depth) = (ranks, 0);
        let mut found: Option<(Ratio, Seek, Bytes, bool)> = None;
        for job in phase.get("jobs")?.as_array()? {
            let transfer = job.get("activity")?.get("transfer")?;
            let own = job.get("ranks").and_then(Value::as_u64).unwrap_or(left).min(left);
            left -= own;
            depth += own * transfer.get("queue_depth").and_then(Value::as_u64).unwrap_or(1);
            let read = text(transfer.get("read")).unwrap_or(Ratio::ONE);
            let size = text(transfer.get("transfer_size")?.get("fixed"))?;
            let direct = transfer.get("direct").and_then(Value::as_bool).unwrap_or(false);
            let this = (read, seek(transfer.get("order"))?, size, direct);
            if *found.get_or_insert(this) != this {
                return None;
            }
        }
        let (read, seek, transfer, direct) = found?;
        let duration = |value: Option<&Value>| {
            value.and_then(Value::as_str).and_then(|text| units::parse_duration(text).ok())
        };
        Some(Self {
            name,
            read,
            seek,
            transfer,
            depth: u32::try_from(depth).ok()?,
            direct,
            warm_up: duration(phase.get("warm_up")).unwrap_or_default(),
            deadline: duration(phase.get("stop").and_then(|stop| stop.get("time"))).unwrap_or(Duration::MAX),
        })
    }

    /// What was measured after the warm-up and until the deadline; a phase shorter than two intervals counts whole.
    fn measured(&self, results: &[&PhaseResult]) -> Option<MatrixPoint> {
        let mut point = MatrixPoint {
            phase: self.name.clone(),
            read: self.read,
            seek: self.seek,
            transfer: self.transfer,
            operations: 0,
            bytes: Bytes::ZERO,
            time: Duration::ZERO,
            latency: Latency::new(),
            repetitions: results.len() as u32,
        };
        for result in results {
            let inside =
                |start: u64| (self.warm_up.as_nanos()..self.deadline.as_nanos()).contains(&u128::from(start));
            let counted: Vec<_> = result.series.iter().filter(|own| inside(own.start_ns)).collect();
            if counted.is_empty() {
                for operation in result.main_results() {
                    point.operations += operation.operations;
                    point.bytes = point.bytes + operation.bytes;
                    point.latency.merge(&operation.latency);
                }
                point.time += result.transferred();
                continue;
            }
            for interval in counted {
                point.time += Duration::from_nanos(interval.length_ns);
                for operation in interval.operations.iter().filter(|own| result.main.contains(&own.kind)) {
                    point.operations += operation.operations;
                    point.bytes = point.bytes + operation.bytes;
                    point.latency.merge(&operation.latency);
                }
            }
        }
        (point.operations > 0 && !point.time.is_zero()).then_some(point)
    }
}

fn text<T: std::str::FromStr>(value: Option<&Value>) -> Option<T> {
    value?.as_str()?.parse().ok()
}

/// The seek of an order that has one.
fn seek(order: Option<&Value>) -> Option<Seek> {
    match order {
        None => Some(Seek(0.0)),
        Some(Value::String(word)) => match word.as_str() {
            "sequential" => Some(Seek(0.0)),
            "random" | "random_once" | "random_in_blocks" | "random_drawn" => Some(Seek(100.0)),
            _ => None,
        },
        Some(order) => order.get("seek_percent").and_then(Value::as_f64).map(Seek),
    }
}
