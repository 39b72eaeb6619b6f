//! IOR's text tables, CSV and JSON.

mod comma;
mod document;
mod table;

use record::{Check, OperationKind};
use units::Bytes;

pub use comma::read as csv;
pub use document::read as json;
pub use table::read as text;

use crate::found::{FoundPhase, FoundTest, moved};

const KIB: f64 = 1024.0;

/// One line of results.
#[derive(Debug, Default)]
struct Row {
    access: String,
    mib_per_second: f64,
    iops: Option<f64>,
    latency: Option<f64>,
    block_kib: f64,
    transfer_kib: f64,
    seconds: f64,
}

/// How a line became what it is.
#[derive(Debug, Clone, Copy, Default)]
struct Setting {
    /// Bytes that all tasks move without a deadline; `None` if that isn't known.
    expected: Option<u64>,
    /// Digits with which times are printed, in seconds.
    resolution: f64,
    /// Whether there was a deadline.
    deadline: bool,
    wear_out: bool,
    direct: bool,
}

impl Row {
    fn kind(&self) -> Option<OperationKind> {
        match self.access.as_str() {
            "write" => Some(OperationKind::Write),
            "read" => Some(OperationKind::Read),
            _ => None,
        }
    }

    /// The phase of a line that moved data; `None` for others.
    fn phase(&self, setting: Setting) -> Option<FoundPhase> {
        let kind = self.kind()?;
        let rate = self.mib_per_second;
        let transfer = (self.transfer_kib * KIB).round() as u64;
        let bytes = match setting.expected {
            Some(expected) if !setting.deadline && expected > 0 => expected,
            _ => moved(rate, self.seconds, setting.expected.unwrap_or(transfer), setting.resolution),
        };
        // Rates have more digits than times.
        let seconds = if rate > 0.0 { bytes as f64 / (rate * KIB * KIB) } else { self.seconds };
        let mut phase =
            FoundPhase::new(&self.access, kind, bytes / transfer.max(1), Bytes::new(bytes), seconds);
        phase.transfer = (transfer > 0).then(|| Bytes::new(transfer));
        phase.direct = setting.direct;
        phase.wear_out = setting.wear_out;
        if let Some(iops) = self.iops {
            phase.stated(format!("IOR's own IOPS (without open and close): {iops}"));
        }
        if let Some(latency) = self.latency.filter(|latency| *latency > 0.0) {
            phase.stated(format!("IOR's own latency (the best rank's mean): {latency} s"));
        }
        Some(phase)
    }
}

/// Whether a command line asks for O_DIRECT.
fn is_direct(command: &str) -> bool {
    command
        .split_whitespace()
        .any(|word| word == "-B" || word.contains("odirect") || word.contains("useO_DIRECT=1"))
}

fn summary(test: &FoundTest, block_kib: f64, transfer_kib: f64) -> String {
    let ranks = test.ranks.map_or("ranks not stated".to_owned(), |ranks| format!("{ranks} ranks"));
    let size = |kib: f64| Bytes::new((kib * KIB).round() as u64);
    format!("{ranks}, transfers of {}, blocks of {}", size(transfer_kib), size(block_kib))
}

/// What lines beside the table say about it.
fn remarks<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Check> {
    let mut checks = Vec::new();
    for line in lines.map(str::trim).filter(|line| line.starts_with("WARNING") || line.starts_with("ERROR")) {
        let wrong_data =
            line.contains("ncorrect data") || line.contains("errors found") || line.starts_with("ERROR");
        let check = if wrong_data {
            Check::fail("imported-error", line, "the tool itself found errors: do not use these numbers")
        } else {
            Check::note("imported-warning", line, "the tool's own warning")
        };
        if !checks.contains(&check) {
            checks.push(check);
        }
    }
    checks
}
