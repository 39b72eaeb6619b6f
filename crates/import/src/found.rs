//! What a file says, before it becomes a record.

use record::{Check, Interval, Latency, Mark, OperationKind, OperationResult, StopCause};
use serde_json::{Map, Value};
use units::Bytes;

/// Everything a file says.
#[derive(Debug, Default)]
pub struct Found {
    /// Name of the program.
    pub tool: &'static str,
    /// Its version.
    pub version: Option<String>,
    /// The command line.
    pub command: String,
    /// Name of the host.
    pub hostname: String,
    /// When it began, RFC 3339.
    pub started_at: Option<String>,
    /// Tests in order.
    pub tests: Vec<FoundTest>,
}

/// One test.
#[derive(Debug, Default)]
pub struct FoundTest {
    /// Its name, equal in results that can be compared.
    pub name: String,
    /// `ior`, `mdtest`, `iotest`.
    pub kind: &'static str,
    /// Directory or file under test.
    pub target: String,
    /// One line about what was run.
    pub summary: String,
    /// Settings as the tool states them: equal ones can be compared.
    pub settings: Map<String, Value>,
    /// Number of ranks.
    pub ranks: Option<u32>,
    /// Physical cores of the hosts.
    pub pcores: Option<u32>,
    /// Phases of each repetition.
    pub repetitions: Vec<Vec<FoundPhase>>,
    /// What to know about all of it.
    pub checks: Vec<Check>,
}

impl FoundTest {
    /// Adds `phase` to the repetition of this number, counting from 0.
    pub fn add(&mut self, repetition: usize, phase: FoundPhase) {
        if self.repetitions.len() <= repetition {
            self.repetitions.resize_with(repetition + 1, Vec::new);
        }
        self.repetitions[repetition].push(phase);
    }

    /// States a setting.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.settings.insert(key.to_owned(), value.into());
    }

    /// Whether any phase was found.
    pub fn is_empty(&self) -> bool {
        self.repetitions.iter().all(Vec::is_empty)
    }
}

/// One phase of one repetition.
#[derive(Debug, Clone, Default)]
pub struct FoundPhase {
    /// Its name.
    pub name: String,
    /// Kinds that count.
    pub main: Vec<OperationKind>,
    /// All kinds that are counted.
    pub operations: Vec<OperationResult>,
    /// Bytes per call.
    pub transfer: Option<Bytes>,
    /// Its length in seconds.
    pub seconds: f64,
    /// When it began, in seconds after the first; `None` if the file doesn't say.
    pub began: Option<f64>,
    /// When the first rank was done, where the tool prints it.
    pub first_done: Option<Mark>,
    /// Number of ranks, where it differs from the test's.
    pub ranks: Option<u32>,
    /// Whether O_DIRECT was in use.
    pub direct: bool,
    /// I/Os in flight per rank.
    pub queue_depth: u32,
    /// Whether ranks went on after a deadline.
    pub wear_out: bool,
    /// What ended it.
    pub stopped_by: StopCause,
    /// Its course.
    pub series: Vec<Interval>,
    /// What to know.
    pub checks: Vec<Check>,
    /// Failed operations.
    pub errors: u64,
}

impl FoundPhase {
    /// A phase of one kind of operation.
    pub fn new(
        name: impl Into<String>,
        kind: OperationKind,
        operations: u64,
        bytes: Bytes,
        seconds: f64,
    ) -> Self {
        let mut phase = Self { name: name.into(), seconds, queue_depth: 1, ..Self::default() };
        phase.count(kind, operations, bytes);
        phase
    }

    /// A phase of which only the rate is known: as much as one second of it.
    pub fn rate_only(name: impl Into<String>, kind: OperationKind, rate: f64) -> Self {
        // The count is rounded, so the time is what gives the rate back.
        let operations = rate.max(1.0).round();
        let mut phase = Self::new(name, kind, operations as u64, Bytes::ZERO, operations / rate);
        phase.checks.push(Check::note(
            "imported-rate",
            "only the rate is stated: counts and time are those of one second",
            "look at the rate alone",
        ));
        phase
    }

    /// Adds a main kind.
    pub fn count(&mut self, kind: OperationKind, operations: u64, bytes: Bytes) {
        self.main.push(kind);
        self.beside(kind, operations, bytes);
    }

    /// Adds a kind that is not the phase's work.
    pub fn beside(&mut self, kind: OperationKind, operations: u64, bytes: Bytes) {
        self.operations.push(OperationResult { kind, operations, bytes, latency: Latency::new() });
    }

    /// Notes a figure for which the record has no place of its own.
    pub fn stated(&mut self, evidence: String) {
        self.checks.push(Check::pass("imported-figure", evidence));
    }

    /// Length in ns, in the range a record takes.
    pub fn nanoseconds(&self) -> u64 {
        nanoseconds(self.seconds)
    }

    /// Main operations and bytes at the end.
    pub fn last_done(&self) -> Mark {
        let main = || self.operations.iter().filter(|result| self.main.contains(&result.kind));
        Mark {
            elapsed_ns: self.nanoseconds(),
            operations: main().fold(0, |sum, result| u64::saturating_add(sum, result.operations)),
            bytes: Bytes::new(main().fold(0, |sum, result| u64::saturating_add(sum, result.bytes.get()))),
        }
    }
}

/// Seconds as ns; what no run can last becomes a century.
pub fn nanoseconds(seconds: f64) -> u64 {
    const CENTURY: f64 = 3.2e9;
    (seconds.clamp(0.0, CENTURY) * 1e9).round() as u64
}

/// Bytes that a rate in MiB/s moves in a time. Totals are printed with few digits: if the product is a multiple of `unit`
/// within what rounding explains, it is that multiple.
pub fn moved(mib_per_second: f64, seconds: f64, unit: u64, resolution: f64) -> u64 {
    let product = mib_per_second * seconds * f64::from(1u32 << 20);
    if unit == 0 || !product.is_finite() {
        return product.max(0.0) as u64;
    }
    let unit = unit as f64;
    let multiple = (product / unit).round().max(1.0) * unit;
    let explained = (resolution / seconds.max(resolution)).max(0.005);
    if ((multiple - product) / multiple).abs() <= explained { multiple as u64 } else { product as u64 }
}
