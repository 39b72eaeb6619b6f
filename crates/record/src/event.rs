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
    Progress(Box<Moment>),
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
    /// A second of a phase that ended a second ago, as far as the ranks have told; after the phase, `Series` has it whole.
    /// For those who show it: it is not part of event streams.
    Second {
        /// Name of the phase.
        phase: String,
        /// The interval.
        interval: Box<Interval>,
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

/// A phase as it stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moment {
    /// Name of the phase.
    pub phase: String,
    /// Since the phase's start.
    pub elapsed_ns: u64,
    /// Bytes moved so far by all ranks.
    pub bytes: u64,
    /// Operations so far.
    pub operations: u64,
    /// Bytes per second over the last interval.
    pub bytes_per_second: f64,
    /// Operations per second over the last interval.
    pub operations_per_second: f64,
    /// Ranks that have finished their share.
    pub ranks_done: u32,
    /// Latency of the operations that were handed over in the last interval, if any were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<MomentLatency>,
    /// Each host's part, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostMoment>,
    /// The ranks that have done least so far and are not done, slowest first; a few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<RankMoment>,
}

/// Latency of the last interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MomentLatency {
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// The slowest.
    pub maximum_ns: u64,
}

/// One host's part of a moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostMoment {
    /// Its name.
    pub host: String,
    /// Ranks on it that take part.
    pub ranks: u32,
    /// Ranks that have finished their share.
    pub ranks_done: u32,
    /// Bytes per second over the last interval.
    pub bytes_per_second: f64,
    /// Operations per second over the last interval.
    pub operations_per_second: f64,
}

/// One rank's part of a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RankMoment {
    /// Its number.
    pub rank: u32,
    /// Where it runs.
    pub host: String,
    /// Bytes so far.
    pub bytes: u64,
    /// Operations so far.
    pub operations: u64,
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
