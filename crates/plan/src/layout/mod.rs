//! The ways to build a file system: what each lets through, costs and survives, and which of them meet a requirement.

pub mod lustre;
pub mod multi_attach;
pub mod nvme;
pub mod servers;
pub mod service;
pub mod striped;

use std::fmt::Write as _;

use catalog::{Disk, HOURS_PER_MONTH, Performance, PriceUnit, Source, Vm};
use fault::Result;
use units::{Bandwidth, Bytes};

use crate::cost::{CostLine, Part};
use crate::demand::Requirement;
use crate::design::{Family, Layout, Volume};
use crate::limit::{Capability, Limit, Place, UnknownLimit};
use crate::market::Market;
use crate::volume::{self, Order, PriceList, carried};

/// The hosts that use a storage.
#[derive(Debug, Clone, Copy)]
pub struct ClientSide<'a> {
    /// Their SKU.
    pub vm: &'a Vm,
    /// How many.
    pub count: u32,
    /// Physical cores that are used on all of them.
    pub pcores: u32,
}

/// What is known of a layout before the clients' side is added.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// Its kind.
    pub family: Family,
    /// Bounds on the whole of it, in the order data passes them.
    pub limits: Vec<Limit>,
    /// Bounds that exist but are not in the catalog.
    pub unknown: Vec<UnknownLimit>,
    /// What one client gets through its mount, if that is bounded.
    pub per_client: Option<PerClient>,
    /// What one process gets on one file, if that is bounded.
    pub per_stream: Option<PerClient>,
    /// Usable capacity.
    pub capacity: Bytes,
    /// What it costs.
    pub costs: Vec<CostLine>,
    /// Machines to run, the metadata servers included.
    pub nodes: u32,
    /// How writes relate to the limits.
    pub write_law: WriteLaw,
    /// More than the sustained rates, for a while.
    pub burst: Option<Burst>,
    /// Reads come from memory when the data in use is smaller than this (F9).
    pub cache: Option<Bytes>,
    /// Why it may not be used for the requirement: durability, encryption, guards, sizes that are not sold.
    pub refusals: Vec<String>,
    /// What one should know of it.
    pub notes: Vec<String>,
}

/// A bound per client or per stream.
#[derive(Debug, Clone, PartialEq)]
pub struct PerClient {
    /// What one gets.
    pub stated: Capability,
    /// How it comes about.
    pub cause: String,
    /// Where it stands.
    pub source: Option<Source>,
}

/// How a write rate follows from the limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WriteLaw {
    /// A stream: the smallest of the chain.
    Stream,
    /// A burst that fits the servers' dirty pages, then fsync: it passes the network first and the disks afterwards,
    /// 1 / rate = 1 / network + 1 / disks.
    Burst,
}

/// What is reached for a while, on credits.
#[derive(Debug, Clone, PartialEq)]
pub struct Burst {
    /// Reading.
    pub read: Option<Bandwidth>,
    /// Writing.
    pub write: Option<Bandwidth>,
    /// For how long and on which condition.
    pub lasts: String,
}

impl Assessment {
    /// Nothing known yet.
    pub fn new(family: Family, capacity: Bytes) -> Self {
        Self {
            family,
            limits: Vec::new(),
            unknown: Vec::new(),
            per_client: None,
            per_stream: None,
            capacity,
            costs: Vec::new(),
            nodes: 0,
            write_law: WriteLaw::Stream,
            burst: None,
            cache: None,
            refusals: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// What `layout` offers for `requirement`. Fails when it names something the catalog does not have.
pub fn assess(
    market: &Market<'_>,
    layout: &Layout,
    requirement: &Requirement,
    clients: ClientSide<'_>,
) -> Result<Assessment> {
    match layout {
        Layout::LustreOnVms(lustre) => lustre::assess(market, lustre, requirement),
        Layout::Service(service) => service::assess(market, service, requirement),
        Layout::StripedVolumes(striped) => striped::assess(market, striped, requirement, clients),
        Layout::SharedVolumes(shared) => multi_attach::assess(market, shared, requirement, clients),
        Layout::LocalNvme(local) => nvme::assess(market, local, requirement, clients),
    }
}

/// What `count` machines of a SKU cost.
pub(crate) fn vm_cost(market: &Market<'_>, vm: &Vm, count: u32, part: Part) -> CostLine {
    let price = market.vm_price(vm);
    CostLine {
        part,
        what: format!("{count} x {}", vm.sku),
        per_month: price.map(|price| price.of(f64::from(count))),
        doubt: price.and_then(|price| price.doubt.as_deref().map(str::to_owned)),
        source: price.map(|price| price.source.clone()),
    }
}

/// What `count` volumes cost.
pub(crate) fn volume_cost(
    market: &Market<'_>,
    part: Part,
    disk: &Disk,
    volume: &Volume,
    count: f64,
) -> CostLine {
    let prices = PriceList::of(market, disk);
    let each = volume::ordered(disk, volume).and_then(|order| prices.of_order(&order));
    CostLine {
        part,
        what: format!("{count} x {}", volume_text(volume, disk)),
        per_month: each.map(|each| each * count),
        doubt: prices.main().and_then(|price| price.doubt.as_deref().map(str::to_owned)),
        source: prices.main().map(|price| price.source.clone()),
    }
}

/// What `count` volumes let through: their bandwidth, and their IOPS in I/Os of `io` bytes. `many` says how many in words.
pub(crate) fn volume_limits(disk: &Disk, order: &Order, io: Bytes, count: f64, many: &str) -> Vec<Limit> {
    let limit = |place, one: f64, each: String| Limit {
        place,
        stated: Capability::shared(one * count),
        cause: format!("{many} {}, {each} each", disk.tier),
        source: Some(disk.source.clone()),
    };
    let bandwidth = Bandwidth::bytes_per_second(order.bandwidth);
    let mut limits = vec![limit(Place::DiskBandwidth, order.bandwidth, bandwidth.to_string())];
    if order.iops.is_finite() {
        let bytes = carried(disk, io);
        let each = format!("{:.0} I/Os per second of {}", order.iops, Bytes::new(bytes as u64));
        limits.push(limit(Place::DiskIops, order.iops * bytes, each));
    }
    limits
}

/// What the clients' VMs may do with their network disks.
pub(crate) fn client_disks(clients: ClientSide<'_>, disk: &Disk, io: Bytes) -> Option<Limit> {
    let one = servers::vm_disks(clients.vm, disk, io)?;
    let each = Bandwidth::bytes_per_second(one.sum.min(one.write));
    Some(Limit {
        place: Place::ClientDisks,
        stated: one.times(f64::from(clients.count)),
        cause: format!("{} x {}, {each} to its disks", clients.count, clients.vm.sku),
        source: Some(clients.vm.source.clone()),
    })
}

/// A volume in words: `S70`, `gp3 of 2 TiB, 4,000 IOPS, 500.0 MB/s`.
pub(crate) fn volume_text(volume: &Volume, disk: &Disk) -> String {
    if matches!(disk.performance, Performance::Fixed(_)) {
        return volume.tier.clone();
    }
    let mut text = format!("{} of {}", volume.tier, volume.size);
    if let Some(iops) = volume.iops {
        let _ = write!(text, ", {iops} IOPS");
    }
    if let Some(bandwidth) = volume.bandwidth {
        let _ = write!(text, ", {bandwidth}");
    }
    text
}

/// What the provider charges for the I/Os done, when the requirement's rate runs for the guards' share of the month.
pub(crate) fn operations(market: &Market<'_>, disk: &Disk, requirement: &Requirement) -> Option<CostLine> {
    let price = market.price(&format!("operations:{}", disk.family))?;
    let per_second = requirement.mixed().get() / carried(disk, requirement.disk_io());
    let done = per_second * 3600.0 * HOURS_PER_MONTH * market.guards.duty_cycle;
    let counted = match price.unit {
        PriceUnit::TenThousandOperations => done / 10_000.0,
        _ => done,
    };
    Some(CostLine {
        part: Part::Operations,
        what: format!(
            "I/Os of {} disks, {:.0} % of the month",
            disk.family,
            market.guards.duty_cycle * 100.0
        ),
        per_month: Some(price.of(counted)),
        doubt: price.doubt.as_deref().map(str::to_owned),
        source: Some(price.source.clone()),
    })
}
