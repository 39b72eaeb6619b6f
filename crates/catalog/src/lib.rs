//! The facts planning rests on: machines, disks, file services, prices and published results, each with its source and date.
//!
//! The tables are data files (`catalog/` at the root of the project), embedded here and overlaid by the user's own. Every
//! quantity is stored there as the provider states it and converted once, on reading. A blank cell is unknown and stays so.

mod calibration;
mod cells;
mod check;
mod diff;
mod disk;
mod embedded;
mod lookup;
mod overlay;
mod port;
mod price;
mod published;
mod rate;
mod reading;
mod rows;
mod service;
mod source;
mod table;
mod update;
mod vm;

pub use calibration::{Factor, Fitted, Pair, fit};
pub use check::{Finding, Severity};
pub use diff::{CellChange, Change, Difference};
pub use disk::{Disk, Media, Performance, Provisioning};
pub use port::PortRule;
pub use price::{Band, HOURS_PER_MONTH, Price, PriceUnit, Prices};
pub use published::{Beside, Per, Published, Wanted};
pub use rate::Rate;
pub use rows::{Origin, Row, Rows};
pub use service::{ClientLimit, IopsOrder, MixedLimit, Protocol, ServiceTier, SizeRange, ThroughputOrder};
pub use source::Source;
pub use table::Table;
pub use update::{NewRow, update};
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
    /// Ports that storage needs open.
    pub ports: Vec<PortRule>,
    /// What studies measured.
    pub published: Vec<Published>,
    /// What systems reach of their limits.
    pub calibration: Vec<Factor>,
    /// The rows all this was read from, with the file and line of each.
    pub rows: Rows,
}
