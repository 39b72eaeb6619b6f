//! What a search found: runs at different loads, and the load that answers the question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bandwidth, Iops};

/// What was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchKind {
    /// The load from which throughput no longer grows.
    Saturation,
    /// The highest load that keeps a latency.
    LatencyTarget,
    /// Repetitions that no longer differ.
    SteadyState,
}

/// What is raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Ranks.
    Ranks,
    /// I/Os in flight per rank.
    QueueDepth,
    /// Operations per second of an open loop.
    OperationsPerSecond,
    /// Nothing: the same again.
    Repetition,
}

impl Load {
    /// The word shown to people, with the number in front.
    pub fn words(self, load: f64) -> String {
        match self {
            Self::Ranks if load as u64 == 1 => "1 rank".to_owned(),
            Self::Ranks => format!("{load:.0} ranks"),
            Self::QueueDepth => format!("depth {load:.0}"),
            Self::OperationsPerSecond if load.is_infinite() => "as fast as it goes".to_owned(),
            Self::OperationsPerSecond => Iops::new(load).to_string(),
            Self::Repetition => format!("repetition {load:.0}"),
        }
    }

    /// What an axis is called.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Ranks => "ranks",
            Self::QueueDepth => "I/Os in flight per rank",
            Self::OperationsPerSecond => "operations per second that were asked for",
            Self::Repetition => "repetition",
        }
    }
}

/// One run of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchPoint {
    /// Name of its test in this record.
    pub test: String,
    /// The load; absent where it was as fast as it goes.
    pub load: Option<f64>,
    /// Operations per second until the last rank was done.
    pub operations_per_second: Iops,
    /// Bytes per second, likewise.
    pub bandwidth_bytes_per_second: Bandwidth,
    /// Mean latency.
    pub latency_mean_ns: u64,
    /// Median latency.
    pub latency_p50_ns: u64,
    /// Latency that 99 of 100 operations did not exceed.
    pub latency_p99_ns: u64,
    /// Whether it kept what was asked; absent where nothing was.
    pub kept: Option<bool>,
}

/// A search: its runs, and what they say together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// What was looked for.
    pub kind: SearchKind,
    /// What was raised.
    pub load: Load,
    /// The phase that was measured.
    pub phase: String,
    /// The runs, in their order.
    pub points: Vec<SearchPoint>,
    /// The load that was found; absent when there is none, or when it was as fast as it goes.
    pub found: Option<f64>,
    /// Whether further runs prove it: throughput that did not grow, a latency that was kept three times.
    pub proven: bool,
    /// Latency that was to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_ns: Option<u64>,
    /// All of it in one sentence.
    pub sentence: String,
}
