use std::sync::Arc;

use spec::Cloud;
use units::{Bandwidth, Bytes, Iops, Ratio};

use crate::{Catalog, Source};

/// One figure that a study measured, in the long form: what ran on what, and one value.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Names it: `sas-lustre-azure/24xE8-4s_v3/write`.
    pub id: Arc<str>,
    /// Title of the study.
    pub study: Arc<str>,
    /// Where; `None`: on premises.
    pub cloud: Option<Cloud>,
    /// The kind of system: `lustre-on-vms`, `managed-lustre`, `nfs-service`, `lustre-on-one-vm`, `listed-system`.
    pub architecture: Arc<str>,
    /// Machines that used the storage.
    pub clients: Option<u32>,
    /// Their SKU.
    pub client_sku: Option<Arc<str>>,
    /// Physical cores of all clients.
    pub pcores: Option<u32>,
    /// Machines that served it.
    pub servers: Option<u32>,
    /// Their SKU.
    pub server_sku: Option<Arc<str>>,
    /// Disks, layout or service tier, in the study's words.
    pub storage: Arc<str>,
    /// The test: `iotest`, `ior`, `mdtest`, `vdbench`, `io500`, `fio`.
    pub test: Arc<str>,
    /// The operation: `read`, `write`, `mixed`, `file-create`.
    pub operation: Arc<str>,
    /// Bytes of one I/O call.
    pub transfer_size: Option<Bytes>,
    /// Share of the I/Os that read.
    pub read_share: Option<Ratio>,
    /// `sequential`, `random`, `50% seek`; empty: not stated.
    pub access: Arc<str>,
    /// What was switched on: `dedup 2:1`, `lz4`; empty: nothing.
    pub variant: Arc<str>,
    /// What the value is: `bandwidth`, `iops`, `latency`, `rate`, `score`, `ratio`, `cpu`.
    pub metric: Arc<str>,
    /// As printed.
    pub value: f64,
    /// Unit of the value, as printed.
    pub unit: Arc<str>,
    /// Whether the value is of all together or of each physical core.
    pub per: Per,
    /// Bytes that all clients wrote and read back.
    pub dataset: Option<Bytes>,
    /// Memory of all servers together.
    pub server_memory: Option<Bytes>,
    /// Why it is known that memory of the servers took part; such results say nothing about disks.
    pub cached: Option<Arc<str>>,
    /// What is wrong with the value in the source.
    pub error: Option<Arc<str>>,
    /// The value it should be, in the same unit.
    pub corrected: Option<f64>,
    /// What else is known.
    pub notes: Arc<str>,
    /// Where it stands.
    pub source: Source,
}

/// What a value is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Per {
    /// All clients together.
    Aggregate,
    /// One physical core of the clients.
    Pcore,
}

impl Published {
    /// The value, with the source's error put right where that is known.
    pub fn right(&self) -> f64 {
        self.corrected.unwrap_or(self.value)
    }

    /// The bandwidth of all clients together; `None` when the value is no bandwidth, or of a core and the cores are not known.
    pub fn bandwidth(&self) -> Option<Bandwidth> {
        let unit = match &*self.unit {
            "MB/s" => 1e6,
            "MiB/s" => 1_048_576.0,
            "GB/s" => 1e9,
            "GiB/s" => 1_073_741_824.0,
            _ => return None,
        };
        Some(Bandwidth::bytes_per_second(self.right() * unit * self.parts()?))
    }

    /// I/Os or metadata operations per second of all clients together, where the value is such a rate.
    pub fn rate(&self) -> Option<Iops> {
        let unit = match &*self.unit {
            "IOPS" | "operations/s" => 1.0,
            "kIOPS" => 1e3,
            _ => return None,
        };
        Some(Iops::new(self.right() * unit * self.parts()?))
    }

    /// The rule by which reads are known to come from the servers' memory (F9): what was written and read back fits into it.
    pub fn fits_server_memory(&self) -> bool {
        self.dataset.zip(self.server_memory).is_some_and(|(dataset, memory)| dataset <= memory)
    }

    /// This value beside another of the same metric and unit, as studies set systems side by side; `None` when they can't be
    /// compared.
    pub fn beside(&self, other: &Self) -> Option<Beside> {
        let same = self.metric == other.metric && self.unit == other.unit && self.per == other.per;
        let (this, base) = (self.right(), other.right());
        (same && base != 0.0).then(|| Beside { ratio: this / base, difference: this - base })
    }

    /// How many times the value stands for the whole.
    fn parts(&self) -> Option<f64> {
        match self.per {
            Per::Aggregate => Some(1.0),
            Per::Pcore => self.pcores.map(f64::from),
        }
    }
}

/// A value beside another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// The one over the other: 1.96 for latencies of 196 % (which some studies print as a difference).
    pub ratio: f64,
    /// The one less the other, in their unit: percentage points where both are percentages.
    pub difference: f64,
}

impl Beside {
    /// How much more the one is, in percent of the other: -24 is 24 % less.
    pub fn percent_more(self) -> f64 {
        (self.ratio - 1.0) * 100.0
    }
}

/// Which published results are wanted; `None`: any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// The test.
    pub test: Option<&'a str>,
    /// The operation.
    pub operation: Option<&'a str>,
    /// The kind of system.
    pub architecture: Option<&'a str>,
    /// What the value is.
    pub metric: Option<&'a str>,
}

impl Wanted<'_> {
    fn takes(&self, result: &Published) -> bool {
        let fits = |wanted: Option<&str>, is: &str| wanted.is_none_or(|wanted| wanted == is);
        fits(self.test, &result.test)
            && fits(self.operation, &result.operation)
            && fits(self.architecture, &result.architecture)
            && fits(self.metric, &result.metric)
    }
}

impl Catalog {
    /// The published results that are wanted, in the order of the tables they stand in.
    pub fn published<'a>(&'a self, wanted: Wanted<'a>) -> impl Iterator<Item = &'a Published> {
        self.published.iter().filter(move |result| wanted.takes(result))
    }
}
