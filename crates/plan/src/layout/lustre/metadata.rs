//! MGS and MDS, scaled from the one measured design of this size.
//!
//! The study SAS 9.4 Grid on Azure with Lustre served 24 OSSs with 384 TiB from one E32s (16 pCores) with a 1 TiB Premium
//! disk of 5,000 IOPS. Nothing in its results was bound by metadata, so the same ratio is safe, and no more is known.

use catalog::{Media, Vm};
use fault::Result;
use units::{Bytes, Money};

use crate::cost::{CostLine, Part};
use crate::design::{MetadataServers, Volume};
use crate::market::Market;
use crate::volume::{self, Need, PriceList};

/// The measured design: pCores of the MDS per OSS.
const PCORES_PER_OSS: f64 = 16.0 / 24.0;
/// Fewest and most pCores.
const PCORES: (f64, f64) = (4.0, 16.0);
/// Memory per pCore.
const MEMORY_PER_PCORE: Bytes = Bytes::gib(8);
/// The measured design: bytes of the file system per byte of MDT.
const DATA_PER_MDT: f64 = 384.0;
/// Smallest MDT.
const SMALLEST_MDT: Bytes = Bytes::gib(128);
/// The measured MDT's I/Os per second, per pCore of its server.
const IOPS_PER_PCORE: f64 = 5000.0 / 16.0;

/// The metadata servers of a file system, with their cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizing {
    /// What to order.
    pub servers: MetadataServers,
    /// Per month; `None` when a price is unknown.
    pub per_month: Option<Money>,
}

/// pCores an MDS needs for `servers` OSSs.
pub fn pcores_for(servers: u32) -> u32 {
    (PCORES_PER_OSS * f64::from(servers)).ceil().clamp(PCORES.0, PCORES.1) as u32
}

/// The cheapest metadata server for `pcores` and a file system of `capacity`; `None` if nothing here will do.
pub fn size(market: &Market<'_>, pcores: u32, capacity: Bytes) -> Option<Sizing> {
    let fits = |vm: &&Vm| {
        let memory = Bytes::new(MEMORY_PER_PCORE.get() * u64::from(pcores));
        vm.pcores >= pcores && vm.constrained_of.is_none() && vm.memory.is_some_and(|has| has >= memory)
    };
    let priced = market.vms().filter(fits).filter_map(|vm| Some((market.vm_price(vm)?.of(1.0), vm)));
    let (vm_price, vm) =
        priced.min_by(|a, b| a.0.get().total_cmp(&b.0.get()).then_with(|| a.1.sku.cmp(&b.1.sku)))?;
    let (disk_price, disk) = mdt(market, pcores, capacity)?;
    Some(Sizing {
        servers: MetadataServers { sku: vm.sku.to_string(), count: 1, disk },
        per_month: Some(vm_price + disk_price),
    })
}

/// The cheapest flash disk for an MDT.
fn mdt(market: &Market<'_>, pcores: u32, capacity: Bytes) -> Option<(Money, Volume)> {
    let io = Bytes::kib(4);
    let bytes = (capacity.get() as f64 / DATA_PER_MDT).max(SMALLEST_MDT.get() as f64);
    let iops = IOPS_PER_PCORE * f64::from(pcores);
    let need = Need { capacity: bytes, bandwidth: iops * io.get() as f64, io };
    let flash = market.disks().filter(|disk| disk.media == Media::Ssd && market.guards.permits(disk));
    let orders = flash.filter_map(|disk| {
        let order = volume::order(disk, &need)?;
        Some((PriceList::of(market, disk).of_order(&order)?, volume::as_volume(disk, &order)))
    });
    orders.min_by(|a, b| a.0.get().total_cmp(&b.0.get()).then_with(|| a.1.tier.cmp(&b.1.tier)))
}

/// What metadata servers cost.
pub fn costs(market: &Market<'_>, metadata: &MetadataServers, vm: &Vm) -> Result<Vec<CostLine>> {
    let disk = market.disk(&metadata.disk.tier)?;
    let count = f64::from(metadata.count);
    let disks = crate::layout::volume_cost(market, Part::Metadata, disk, &metadata.disk, count);
    Ok(vec![crate::layout::vm_cost(market, vm, metadata.count, Part::Metadata), disks])
}
