use std::sync::Arc;

use spec::Cloud;
use units::{Bandwidth, Bytes};

use crate::{Rate, Source};

/// A machine that can be rented: a client or a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Vm {
    /// Who rents it out.
    pub cloud: Cloud,
    /// The provider's orderable id: `Standard_E16s_v3`.
    pub sku: Arc<str>,
    /// The series or family it belongs to: `Esv3`.
    pub series: Arc<str>,
    /// Schedulable threads.
    pub vcpus: u32,
    /// Physical cores: vCPUs / 2 on hyper-threaded machines (F1).
    pub pcores: u32,
    /// Main memory; with `memory_derived` computed from the price, not read.
    pub memory: Option<Bytes>,
    /// The memory is our own computation.
    pub memory_derived: bool,
    /// Data disks or volumes that can be attached at once.
    pub max_disks: Option<u32>,
    /// Remote disks past the host's cache, sustained for ever.
    pub disks: Rate,
    /// The same while burst credits last.
    pub disks_burst: Rate,
    /// Sustained limit for disks of the newest kind (Premium SSD v2, Ultra) where the provider states another.
    pub disks_newest: Rate,
    /// Through the host's cache, where there is one.
    pub disks_cached: Rate,
    /// Sustained network out of the machine. Ingress is not metered on Azure (F10); the model knows.
    pub network: Option<Bandwidth>,
    /// Network while burst credits last, or with the provider's paid faster tier.
    pub network_peak: Option<Bandwidth>,
    /// Local NVMe that is lost when the machine stops.
    pub nvme: Option<Nvme>,
    /// The SKU this one is a copy of with fewer active vCPUs.
    pub constrained_of: Option<Arc<str>>,
    /// Carries io2 volumes as Block Express.
    pub block_express: bool,
    /// What else the provider says.
    pub notes: Arc<str>,
    /// Where its limits stand.
    pub source: Source,
}

/// Local NVMe of a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nvme {
    /// Devices.
    pub count: u32,
    /// Bytes of each.
    pub size: Bytes,
    /// What all together read, where the provider says.
    pub read: Rate,
}
