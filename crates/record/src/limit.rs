//! What limited a phase.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The bound that a measured phase ran into, as far as one host can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitCause {
    /// The client's CPU.
    Cpu,
    /// The client's network interface.
    Network,
    /// The block device.
    Device,
    /// The page cache: storage was not measured.
    Cache,
    /// Too few I/Os in flight to fill the storage.
    QueueDepth,
    /// The load itself was paced.
    Pacing,
    /// Something beyond this host: the file service or its network.
    Beyond,
}

impl LimitCause {
    /// The words shown to people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Cpu => "client CPU",
            Self::Network => "client NIC",
            Self::Device => "device",
            Self::Cache => "page cache",
            Self::QueueDepth => "queue depth",
            Self::Pacing => "pacing",
            Self::Beyond => "beyond this host",
        }
    }
}

/// A limit with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// What it was.
    pub cause: LimitCause,
    /// How we know, with the numbers.
    pub evidence: String,
}
