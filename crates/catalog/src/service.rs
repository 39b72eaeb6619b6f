use std::sync::Arc;

use spec::Cloud;
use units::{Bandwidth, Bytes, Iops, Ratio};

use crate::Source;

/// A class of a file service that the provider runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceTier {
    /// Whose it is.
    pub cloud: Cloud,
    /// The service: `Azure Managed Lustre`.
    pub service: Arc<str>,
    /// The tier: `AMLFS-Durable-Premium-250`.
    pub tier: Arc<str>,
    /// What clients speak.
    pub protocol: Protocol,
    /// Sizes that can be ordered, ascending ranges.
    pub sizes: Vec<SizeRange>,
    /// Sustained throughput per TiB of capacity, read and write, where the throughput follows the capacity.
    pub read_per_tib: Option<Bandwidth>,
    /// See `read_per_tib`.
    pub write_per_tib: Option<Bandwidth>,
    /// What the disks behind it deliver per TiB, where the provider tells network and disk apart (F18).
    pub disk_read_per_tib: Option<Bandwidth>,
    /// See `disk_read_per_tib`.
    pub disk_write_per_tib: Option<Bandwidth>,
    /// Per TiB, while network credits last.
    pub burst_per_tib: Option<Bandwidth>,
    /// What the disks deliver per TiB, while their credits last.
    pub disk_burst_per_tib: Option<Bandwidth>,
    /// Memory that caches data, per TiB.
    pub cache_per_tib: Option<Bytes>,
    /// I/Os per second per TiB.
    pub read_iops_per_tib: Option<Iops>,
    /// See `read_iops_per_tib`.
    pub write_iops_per_tib: Option<Iops>,
    /// I/Os per second that are ordered beside the capacity, when they are.
    pub iops: Option<IopsOrder>,
    /// Throughput that is ordered beside the capacity, when it is.
    pub throughput: Option<ThroughputOrder>,
    /// Most one volume or file system delivers, whatever its size.
    pub read_max: Option<Bandwidth>,
    /// See `read_max`.
    pub write_max: Option<Bandwidth>,
    /// Most one volume delivers when reads and writes are mixed, for the mixes the provider or a study names.
    pub mixed_max: Vec<MixedLimit>,
    /// Metadata I/Os per second that can be ordered, ascending; empty: not ordered.
    pub metadata_iops: Vec<Iops>,
    /// What one client reaches, by mount profile; the first is the default.
    pub clients: Vec<ClientLimit>,
    /// TCP ports clients need, as the provider lists them.
    pub ports: Arc<str>,
    /// Data on its disks is encrypted.
    pub encrypted_at_rest: Option<bool>,
    /// Keys may be the customer's.
    pub customer_keys: Option<bool>,
    /// Data between clients and service can be encrypted.
    pub encrypted_in_transit: Option<bool>,
    /// Survives the loss of a disk or server (`false`: scratch).
    pub durable: bool,
    /// Survives the loss of a zone.
    pub regional: bool,
    /// The provider has announced its end, or sells it only as a preview; the text says which.
    pub caution: Option<Arc<str>>,
    /// What else the provider says.
    pub notes: Arc<str>,
    /// Where this stands.
    pub source: Source,
}

impl ServiceTier {
    /// The limit of one client for a mount profile; `None` when the profile is not known.
    pub fn client(&self, profile: &str) -> Option<&ClientLimit> {
        self.clients.iter().find(|limit| *limit.profile == *profile)
    }

    /// The item under which its capacity, throughput or IOPS is priced: `service:ANF-Premium:capacity`.
    pub fn priced(&self, what: &str) -> Arc<str> {
        format!("service:{}:{what}", self.tier).into()
    }
}

/// The protocol between clients and a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// Lustre.
    Lustre,
    /// NFS, version 3 or 4.
    Nfs,
    /// Something else, which the model does not cover.
    Other,
}

/// Capacities `min, min + step, ... max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeRange {
    /// Smallest.
    pub min: Bytes,
    /// Step between sizes.
    pub step: Bytes,
    /// Largest; `None`: the provider names no bound.
    pub max: Option<Bytes>,
}

/// Throughput that is ordered beside the capacity.
#[derive(Debug, Clone, PartialEq)]
pub struct ThroughputOrder {
    /// The values sold; empty: any between `min` and `max`.
    pub values: Vec<Bandwidth>,
    /// Included in the price of the capacity, of each volume or pool.
    pub included: Bandwidth,
    /// Least; zero when it is not known.
    pub min: Bandwidth,
    /// Most.
    pub max: Option<Bandwidth>,
    /// Most per TiB of capacity.
    pub max_per_tib: Option<Bandwidth>,
}

/// I/Os per second that are ordered beside the capacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IopsOrder {
    /// Included in the price of the capacity, per TiB; fewer can't be ordered.
    pub included_per_tib: Iops,
    /// Most; `None`: the provider's bound was not seen.
    pub max: Option<Iops>,
}

/// A bound on reads and writes together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixedLimit {
    /// Share of the bytes that are read.
    pub read_share: Ratio,
    /// Both together.
    pub total: Bandwidth,
}

/// What one client reaches with a mount profile, such as a kernel and `nconnect`.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientLimit {
    /// The profile: `RHEL 8.2`, `nconnect`.
    pub profile: Arc<str>,
    /// Reading, one client.
    pub read: Option<Bandwidth>,
    /// Writing, one client.
    pub write: Option<Bandwidth>,
    /// One TCP flow: between a client and one server, or one mount without `nconnect`.
    pub flow: Option<Bandwidth>,
    /// Hardware that clients must have for it; `None`: any client may mount so.
    pub special: Option<Arc<str>>,
    /// What else is known.
    pub notes: Arc<str>,
    /// Where this stands.
    pub source: Source,
}
