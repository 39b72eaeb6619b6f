//! The facts planning rests on: machines, disks, file services, prices and published results, each with its source and date.
//!
//! The tables are data files (`catalog/` at the root of the project), embedded here and overlaid by the user's own. Every
//! quantity is stored there as the provider states it and converted once, on reading. A blank cell is unknown and stays so.

mod disk;
mod price;
mod rate;
mod service;
mod source;
mod vm;

pub use disk::{Disk, Media, Performance, Provisioning};
pub use price::{Band, HOURS_PER_MONTH, Price, PriceUnit, Prices};
pub use rate::Rate;
pub use service::{ClientLimit, Protocol, ServiceTier, SizeRange, ThroughputOrder};
pub use source::Source;
pub use vm::{Nvme, Vm};

/// All facts together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    /// Machines.
    pub vms: Vec<Vm>,
    /// Block storage.
    pub disks: Vec<Disk>,
    /// File services.
    pub services: Vec<ServiceTier>,
    /// Prices of all of these.
    pub prices: Prices,
}
