//! elbencho's CSV and its table.

mod comma;
mod table;

use record::{Mark, OperationKind};
use units::Bytes;

pub use comma::read as csv;
pub use table::read as text;

use crate::found::{FoundPhase, nanoseconds};

const MIB: f64 = 1_048_576.0;

/// What elbencho states of one phase: when the first and when the last thread was done.
#[derive(Debug, Clone, Default)]
struct Stated {
    operation: String,
    seconds: [f64; 2],
    entries: [Option<f64>; 2],
    entries_per_second: Option<f64>,
    mib: [Option<f64>; 2],
    mib_per_second: Option<f64>,
    iops: Option<f64>,
    block: Option<u64>,
    latency: Vec<String>,
}

impl Stated {
    /// The phase; `None` for what is no operation on files (sync, drop caches) or did nothing.
    fn phase(&self) -> Option<FoundPhase> {
        let moved = self.mib[1].filter(|mib| *mib > 0.0);
        let (kind, beside) = match (self.operation.as_str(), moved) {
            ("MKDIRS", _) => (OperationKind::MakeDirectory, None),
            ("RMDIRS", _) => (OperationKind::RemoveDirectory, None),
            ("RMFILES", _) => (OperationKind::Remove, None),
            ("STAT", _) => (OperationKind::Stat, None),
            ("WRITE", Some(_)) => (OperationKind::Write, Some(OperationKind::Create)),
            ("WRITE", None) => (OperationKind::Create, None),
            ("READ", Some(_)) => (OperationKind::Read, Some(OperationKind::ReadFile)),
            ("READ", None) => (OperationKind::ReadFile, None),
            _ => return None,
        };
        let name = self.operation.to_lowercase();
        let entries = self.entries[1].unwrap_or(0.0);
        let mut phase = match moved {
            Some(mib) => {
                let bytes = (mib * MIB) as u64;
                let seconds = self.length(mib, self.mib_per_second);
                let operations = match (self.block, self.iops) {
                    (Some(block), _) if block > 0 => bytes / block,
                    (_, Some(iops)) => (iops * seconds).round() as u64,
                    _ => entries as u64,
                };
                FoundPhase::new(name, kind, operations, Bytes::new(bytes), seconds)
            }
            None if entries > 0.0 => {
                let seconds = self.length(entries, self.entries_per_second);
                FoundPhase::new(name, kind, entries as u64, Bytes::ZERO, seconds)
            }
            None => return None,
        };
        if let Some(beside) = beside.filter(|_| entries > 0.0) {
            phase.beside(beside, entries as u64, Bytes::ZERO);
        }
        phase.transfer = self.block.filter(|_| moved.is_some()).map(Bytes::new);
        phase.first_done = Some(self.first_done(&phase));
        self.latency.iter().for_each(|text| phase.stated(text.clone()));
        Some(phase)
    }

    /// Times are whole milliseconds: in short phases the rates have more digits.
    fn length(&self, amount: f64, rate: Option<f64>) -> f64 {
        match rate.filter(|rate| *rate > 0.0 && self.seconds[1] < 0.1) {
            Some(rate) => amount / rate,
            None => self.seconds[1],
        }
    }

    fn first_done(&self, phase: &FoundPhase) -> Mark {
        let last = phase.last_done();
        let bytes = Bytes::new((self.mib[0].unwrap_or(0.0) * MIB) as u64);
        let operations = match (self.mib[0], self.block) {
            (Some(_), Some(block)) if block > 0 => bytes / Bytes::new(block),
            _ => self.entries[0].unwrap_or(0.0) as u64,
        };
        Mark {
            elapsed_ns: nanoseconds(self.seconds[0]).min(last.elapsed_ns),
            operations: operations.min(last.operations),
            bytes: bytes.min(last.bytes),
        }
    }
}
