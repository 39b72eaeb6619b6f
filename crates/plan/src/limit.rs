//! Bounds on throughput: where they sit, what they let through, how they come about.

use std::fmt;

use catalog::Source;
use serde::{Deserialize, Serialize};
use units::{Bandwidth, Ratio};

/// What something lets through: reading alone, writing alone, and the sum of both. Bytes per second; infinite where it
/// does not bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capability {
    /// Reading alone.
    pub read: f64,
    /// Writing alone.
    pub write: f64,
    /// Reads and writes together, whatever their shares.
    pub sum: f64,
}

impl Capability {
    /// Bounds nothing.
    pub const UNBOUNDED: Self = Self { read: f64::INFINITY, write: f64::INFINITY, sum: f64::INFINITY };

    /// Reads and writes share one bound, as on a disk.
    pub const fn shared(rate: f64) -> Self {
        Self { read: rate, write: rate, sum: rate }
    }

    /// Each direction has its own bound, as in a network.
    pub const fn each(read: f64, write: f64) -> Self {
        Self { read, write, sum: f64::INFINITY }
    }

    /// `count` of them side by side.
    pub fn times(self, count: f64) -> Self {
        Self { read: self.read * count, write: self.write * count, sum: self.sum * count }
    }

    /// Both bounds hold.
    pub fn and(self, other: Self) -> Self {
        Self {
            read: self.read.min(other.read),
            write: self.write.min(other.write),
            sum: self.sum.min(other.sum),
        }
    }

    /// The total rate when `read_share` of the bytes are read.
    pub fn mixed(self, read_share: Ratio) -> f64 {
        let (reads, writes) = (read_share.get(), read_share.complement().get());
        let by = |bound: f64, share: f64| if share > 0.0 { bound / share } else { f64::INFINITY };
        self.sum.min(by(self.read, reads)).min(by(self.write, writes))
    }
}

/// Where in the chain between a process and the bytes a limit sits, in the order data passes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// One process reads or writes one file at a time.
    OneStream,
    /// The clients' network.
    ClientNetwork,
    /// What a client's kernel and mount options reach.
    ClientMount,
    /// The clients' own limit for volumes.
    ClientDisks,
    /// The clients' local NVMe.
    LocalNvme,
    /// The servers' network.
    ServerNetwork,
    /// What a server VM may do with its disks.
    ServerDisks,
    /// The disks' bandwidth.
    DiskBandwidth,
    /// The disks' I/Os per second, at the size I/Os have there.
    DiskIops,
    /// Throughput of a file service, by its size or as ordered.
    ServiceThroughput,
    /// A service's I/Os per second at the application's I/O size.
    ServiceIops,
    /// Most that one volume or file system of a service delivers, whatever its size.
    ServiceMaximum,
}

impl Place {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneStream => "one stream",
            Self::ClientNetwork => "client network",
            Self::ClientMount => "client mount",
            Self::ClientDisks => "client VM disk limit",
            Self::LocalNvme => "local NVMe",
            Self::ServerNetwork => "server network",
            Self::ServerDisks => "server VM disk limit",
            Self::DiskBandwidth => "disk bandwidth",
            Self::DiskIops => "disk IOPS",
            Self::ServiceThroughput => "service throughput",
            Self::ServiceIops => "service IOPS",
            Self::ServiceMaximum => "service maximum",
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One bound on a design's throughput, for the whole design, as its source states it.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Where it sits.
    pub place: Place,
    /// What it lets through, before calibration.
    pub stated: Capability,
    /// How it comes about: `24 x Standard_E16s_v3, 384.0 MB/s uncached each`.
    pub cause: String,
    /// Where the figures stand; `None` when they are the user's own.
    pub source: Option<Source>,
}

/// A limit whose figure is not in the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLimit {
    /// Where it sits.
    pub place: Place,
    /// What is not known: `Standard_X has no disk limit in the catalog`.
    pub what: String,
}

/// A rate for each way of using a storage.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rates {
    /// Reading alone.
    pub read: Bandwidth,
    /// Writing alone.
    pub write: Bandwidth,
    /// Both together at the requirement's mix.
    pub mixed: Bandwidth,
}

/// The way of using a storage that a number speaks of.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Reading alone.
    Read,
    /// Writing alone.
    Write,
    /// Both together, at the requirement's mix.
    Mixed,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Mixed];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Mixed => "mixed",
        }
    }
}

impl Rates {
    /// The rate of an operation.
    pub const fn of(&self, operation: Operation) -> Bandwidth {
        match operation {
            Operation::Read => self.read,
            Operation::Write => self.write,
            Operation::Mixed => self.mixed,
        }
    }
}

impl Capability {
    /// What is left of an operation, bytes per second.
    pub fn of(self, operation: Operation, read_share: Ratio) -> f64 {
        match operation {
            Operation::Read => self.read,
            Operation::Write => self.write,
            Operation::Mixed => self.mixed(read_share),
        }
    }
}
