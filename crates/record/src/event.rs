//! What engines emit while they run. Progress bars, tables and JSON lines are readers of these.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::phase::{Interval, PhaseResult};

/// Something that happened in a run. Times are ns since the start of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run begins.
    RunStarted {
        /// Its id.
        run: String,
        /// Tests that will run.
        tests: u32,
    },
    /// A test begins.
    TestStarted {
        /// Name of the test.
        test: String,
        /// One line about what runs.
        summary: String,
        /// How many repetitions there will be.
        repetitions: u32,
    },
    /// A phase begins.
    PhaseStarted {
        /// Name of the test.
        test: String,
        /// Counting from 1.
        repetition: u32,
        /// Name of the phase.
        phase: String,
        /// Ranks taking part.
        ranks: u32,
        /// Bytes it will move, if known.
        planned_bytes: Option<u64>,
        /// Operations it will do, if known.
        planned_operations: Option<u64>,
        /// How long it may run, if limited.
        deadline_ns: Option<u64>,
    },
    /// About a second of a phase has passed; live counters.
    Progress {
        /// Name of the phase.
        phase: String,
        /// Since the phase's start.
        elapsed_ns: u64,
        /// Bytes moved so far by all ranks.
        bytes: u64,
        /// Operations so far.
        operations: u64,
        /// Bytes per second over the last interval.
        bytes_per_second: f64,
        /// Operations per second over the last interval.
        operations_per_second: f64,
        /// Ranks that have finished their share.
        ranks_done: u32,
    },
    /// Ranks have done their transfers; data is being made durable (fsync) or files closed.
    Draining {
        /// Name of the phase.
        phase: String,
    },
    /// A phase ended.
    PhaseFinished {
        /// Its result, without the series (those were sent as they happened, and are in the record).
        result: Box<PhaseResult>,
    },
    /// One full interval of a phase, after the phase, with its latency.
    Series {
        /// Name of the phase.
        phase: String,
        /// The interval.
        interval: Box<Interval>,
    },
    /// Something a person should know while it runs.
    Notice {
        /// One line.
        message: String,
    },
    /// The run ended.
    RunFinished {
        /// Its id.
        run: String,
        /// Monotonic length.
        elapsed_ns: u64,
    },
}

/// Someone who reads events. Called from one thread at a time.
pub trait Listener: Send {
    /// Takes one event.
    fn on_event(&mut self, event: &Event);
}

impl<F: FnMut(&Event) + Send> Listener for F {
    fn on_event(&mut self, event: &Event) {
        self(event);
    }
}
