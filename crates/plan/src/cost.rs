//! What designs cost, by part, and what a rate or a capacity costs.

use catalog::Source;
use units::{Bandwidth, Bytes, Money};

/// What a part of a design costs.
#[derive(Debug, Clone, PartialEq)]
pub struct CostLine {
    /// The part.
    pub part: Part,
    /// What is paid for: `8 x Standard_E16bs_v5`.
    pub what: String,
    /// Per month; `None`: the price is unknown.
    pub per_month: Option<Money>,
    /// Why the price is in doubt, if it is.
    pub doubt: Option<String>,
    /// Where it stands.
    pub source: Option<Source>,
}

/// The parts a design's cost is split into.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Servers that hold data.
    Servers,
    /// Disks and volumes.
    Disks,
    /// Metadata servers with their disks.
    Metadata,
    /// A file service.
    Service,
    /// Charges per I/O done.
    Operations,
    /// The hosts that use the storage.
    Clients,
}

impl Part {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Servers => "servers",
            Self::Disks => "disks",
            Self::Metadata => "metadata servers",
            Self::Service => "service",
            Self::Operations => "disk operations",
            Self::Clients => "clients",
        }
    }
}

/// The sum, or `None` if a price is missing.
pub fn total(lines: &[CostLine]) -> Option<Money> {
    lines.iter().map(|line| line.per_month).sum()
}

/// US dollars per month and MB/s; `None` where nothing is delivered (F26).
pub fn usd_per_mb_per_second(per_month: Money, rate: Bandwidth) -> Option<f64> {
    (rate.get() > 0.0).then(|| per_month.get() / rate.as_mb())
}

/// US dollars per month and GB (10^9 bytes); `None` where there is no capacity (F26).
pub fn usd_per_gb(per_month: Money, capacity: Bytes) -> Option<f64> {
    (capacity > Bytes::ZERO).then(|| per_month.get() / (capacity.get() as f64 / 1e9))
}
