//! What ranks handed over in a phase, of one process or of several: small enough to be sent, and merged as it comes.

use std::collections::BTreeMap;

use fault::{Fault, Kind, Result};
use record::{Interval, Latency, OperationKind, OperationResult};
use units::Bytes;

use super::collect::empty;
use crate::crew::wire::{Reader, push_bytes, push_number};
use crate::engine::INTERVAL_NS;

/// Intervals kept per phase. Longer phases get longer intervals, so that a record of a day stays a document.
pub const LONGEST_SERIES: usize = 3600;
/// Intervals that all processes together may send.
const MOST_SENT: usize = 200_000;
/// Intervals that each process may send in any case.
const FEWEST_SENT: usize = 300;

/// Sums per kind, and a series.
#[derive(Debug)]
pub struct Gathered {
    totals: Vec<OperationResult>,
    /// Intervals of the series, in seconds: a power of two.
    step: u64,
    /// By number (of steps) and kind.
    intervals: BTreeMap<(u64, OperationKind), (Bytes, Latency)>,
}

impl Gathered {
    /// From intervals of a second.
    pub fn new(
        totals: Vec<OperationResult>,
        intervals: BTreeMap<(u64, OperationKind), (Bytes, Latency)>,
    ) -> Self {
        Self { totals, step: 1, intervals }
    }

    /// How many intervals each of `processes` may send.
    pub fn most_of(processes: u32) -> usize {
        (MOST_SENT / processes.max(1) as usize).clamp(FEWEST_SENT, LONGEST_SERIES)
    }

    /// Results per kind.
    pub fn totals(&self) -> &[OperationResult] {
        &self.totals
    }

    /// Makes intervals longer until there are at most `most`.
    pub fn shorten(&mut self, most: usize) {
        let last = self.intervals.last_key_value().map_or(0, |((number, _), _)| *number);
        let mut factor = 1;
        while last / factor >= most as u64 {
            factor *= 2;
        }
        self.stretch(factor);
    }

    fn stretch(&mut self, factor: u64) {
        if factor <= 1 {
            return;
        }
        self.step *= factor;
        for ((number, kind), (bytes, latency)) in std::mem::take(&mut self.intervals) {
            self.add((number / factor, kind), bytes, latency);
        }
    }

    fn add(&mut self, key: (u64, OperationKind), bytes: Bytes, latency: Latency) {
        self.intervals
            .entry(key)
            .and_modify(|(sum, known)| {
                *sum = *sum + bytes;
                known.merge(&latency);
            })
            .or_insert((bytes, latency));
    }

    /// Adds what another process gathered.
    pub fn merge(&mut self, mut other: Self) {
        self.stretch(other.step / self.step);
        other.stretch(self.step / other.step);
        for (key, (bytes, latency)) in other.intervals {
            self.add(key, bytes, latency);
        }
        add_totals(&mut self.totals, &other.totals);
    }

    /// One interval per step over `length_ns`, those without any operation included.
    pub fn series(self, length_ns: u64) -> Vec<Interval> {
        let count = length_ns.div_ceil(INTERVAL_NS);
        let steps = count.div_ceil(self.step);
        let factor = steps.div_ceil(LONGEST_SERIES as u64).max(1);
        let step = self.step * factor;
        let mut series: Vec<Interval> = (0..count.div_ceil(step))
            .map(|number| {
                let start_ns = number * step * INTERVAL_NS;
                let length_ns = (step * INTERVAL_NS).min(length_ns - start_ns);
                Interval { start_ns, length_ns, operations: Vec::new(), cpu: None }
            })
            .collect();
        for ((number, kind), (bytes, latency)) in self.intervals {
            let Some(interval) = series.get_mut((number / factor) as usize) else { continue };
            match interval.operations.iter_mut().find(|o| o.kind == kind) {
                Some(result) => {
                    result.operations += latency.count();
                    result.bytes = result.bytes + bytes;
                    result.latency.merge(&latency);
                }
                None => interval.operations.push(OperationResult {
                    kind,
                    operations: latency.count(),
                    bytes,
                    latency,
                }),
            }
        }
        series
    }

    /// For the root: step, totals, intervals; numbers of variable length, distributions in HdrHistogram's V2 form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_number(&mut bytes, self.step);
        push_number(&mut bytes, self.totals.len() as u64);
        for total in &self.totals {
            push_kind(&mut bytes, total.kind);
            push_number(&mut bytes, total.operations);
            push_number(&mut bytes, total.bytes.get());
            push_bytes(&mut bytes, &total.latency.to_bytes());
        }
        push_number(&mut bytes, self.intervals.len() as u64);
        for ((number, kind), (moved, latency)) in &self.intervals {
            push_number(&mut bytes, *number);
            push_kind(&mut bytes, *kind);
            push_number(&mut bytes, moved.get());
            push_bytes(&mut bytes, &latency.to_bytes());
        }
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader(bytes);
        let step = reader.number()?;
        if !step.is_power_of_two() {
            return Err(damaged());
        }
        let mut gathered = Self { totals: Vec::new(), step, intervals: BTreeMap::new() };
        for _ in 0..reader.number()? {
            gathered.totals.push(OperationResult {
                kind: kind(&mut reader)?,
                operations: reader.number()?,
                bytes: Bytes::new(reader.number()?),
                latency: latency(&mut reader)?,
            });
        }
        for _ in 0..reader.number()? {
            let key = (reader.number()?, kind(&mut reader)?);
            let bytes = Bytes::new(reader.number()?);
            gathered.add(key, bytes, latency(&mut reader)?);
        }
        Ok(gathered)
    }
}

/// Adds results per kind to others.
pub fn add_totals(totals: &mut Vec<OperationResult>, others: &[OperationResult]) {
    for other in others {
        if !totals.iter().any(|total| total.kind == other.kind) {
            totals.push(empty(other.kind));
        }
        for total in totals.iter_mut().filter(|total| total.kind == other.kind) {
            total.operations += other.operations;
            total.bytes = total.bytes + other.bytes;
            total.latency.merge(&other.latency);
        }
    }
    totals.sort_by_key(|total| total.kind);
}

fn push_kind(bytes: &mut Vec<u8>, kind: OperationKind) {
    let number = OperationKind::ALL.iter().position(|known| *known == kind).unwrap_or(0);
    push_number(bytes, number as u64);
}

fn kind(reader: &mut Reader<'_>) -> Result<OperationKind> {
    OperationKind::ALL.get(reader.number()? as usize).copied().ok_or_else(damaged)
}

fn latency(reader: &mut Reader<'_>) -> Result<Latency> {
    Latency::from_bytes(reader.bytes()?).ok_or_else(damaged)
}

fn damaged() -> Fault {
    Fault::new(Kind::Corrupt, "what another process of the run measured can't be read")
}
