//! What bounds a tier before anything is ordered: per TiB, per volume, or by the throughput that is ordered.

use catalog::{Protocol, ServiceTier};
use units::{Bandwidth, Bytes, Iops, Ratio};

use super::mixed::{self, Mixed};
use super::order::{Order, extra_iops};
use super::words::{Unit, number, size_in_tib, times};
use crate::demand::Requirement;
use crate::limit::{Capability, Limit, Place, UnknownLimit};

const TIB: f64 = (1u64 << 40) as f64;

/// What a bound is multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// Capacity of all volumes, TiB.
    Tib,
    /// Number of volumes.
    Volume,
    /// Throughput ordered for all volumes, bytes per second.
    Ordered,
    /// I/Os per second ordered for all volumes.
    Iops,
}

/// One bound of a tier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Where it sits.
    pub place: Place,
    /// What it grows with.
    pub per: Per,
    /// What one lets through.
    pub one: Capability,
}

/// Every known bound of a tier for a requirement, in the order data passes them.
pub fn of(tier: &ServiceTier, requirement: &Requirement) -> Vec<Bound> {
    let mut bounds = Vec::new();
    let mut add = |place, per, one: Capability| {
        if one != Capability::UNBOUNDED {
            bounds.push(Bound { place, per, one });
        }
    };
    let size = budget(tier.read_per_tib, tier.write_per_tib);
    let disks = budget(tier.disk_read_per_tib, tier.disk_write_per_tib);
    // Where the provider tells network and disks apart, the rate by size is the network's (F18).
    if disks == Capability::UNBOUNDED || disks == size {
        add(Place::ServiceThroughput, Per::Tib, size);
    } else {
        add(Place::ServerNetwork, Per::Tib, size);
        add(Place::DiskBandwidth, Per::Tib, disks);
    }
    if tier.throughput.is_some() {
        add(Place::ServiceThroughput, Per::Ordered, Capability::shared(1.0));
    }
    let iops = iops(tier.read_iops_per_tib, tier.write_iops_per_tib, requirement.disk_io());
    add(Place::ServiceIops, Per::Tib, iops);
    if tier.iops.is_some() {
        add(Place::ServiceIops, Per::Iops, Capability::shared(requirement.disk_io().get() as f64));
    }
    add(Place::ServiceMaximum, Per::Volume, maximum(tier, requirement.read_share));
    bounds
}

/// Providers state the rate of a size or an order as one budget for both directions; where reads and writes have rates of
/// their own, the larger one is the budget.
fn budget(read: Option<Bandwidth>, write: Option<Bandwidth>) -> Capability {
    one_budget(read.map(Bandwidth::get), write.map(Bandwidth::get))
}

fn one_budget(read: Option<f64>, write: Option<f64>) -> Capability {
    let sum = read.zip(write).map_or(f64::INFINITY, |(read, write)| read.max(write));
    Capability { read: read.unwrap_or(f64::INFINITY), write: write.unwrap_or(f64::INFINITY), sum }
}

fn iops(read: Option<Iops>, write: Option<Iops>, io: Bytes) -> Capability {
    let carried = |iops: Option<Iops>| iops.map(|iops| iops.get() * io.get() as f64);
    one_budget(carried(read), carried(write))
}

/// Most that one volume delivers, whatever its size.
fn maximum(tier: &ServiceTier, read_share: Ratio) -> Capability {
    let either = budget(tier.read_max, tier.write_max);
    match mixed::at(tier, read_share) {
        Mixed::Bound(together) => Capability { sum: together.total, ..either },
        Mixed::Unknown => Capability { sum: f64::INFINITY, ..either },
        Mixed::Unbounded => either,
    }
}

impl Bound {
    /// What all volumes of an order let through.
    pub fn stated(&self, order: &Order) -> Capability {
        self.one.times(self.quantity(order))
    }

    fn quantity(&self, order: &Order) -> f64 {
        let count = f64::from(order.count);
        match self.per {
            Per::Tib => order.capacity.get() as f64 / TIB * count,
            Per::Volume => count,
            Per::Ordered => order.throughput.map_or(0.0, Bandwidth::get) * count,
            Per::Iops => order.iops.unwrap_or_default() * count,
        }
    }

    /// The bound of an order, with its arithmetic.
    pub fn limit(&self, tier: &ServiceTier, order: &Order, requirement: &Requirement) -> Limit {
        let stated = self.stated(order);
        let size = format!("{}{} of {}", times(order.count), size_in_tib(order.capacity), tier.tier);
        let unit = Unit::of_both(self.one);
        let cause = match (self.place, self.per) {
            (_, Per::Iops) => ordered_iops_cause(order, stated, requirement.disk_io()),
            (Place::ServiceIops, _) => iops_cause(tier, &size, stated, requirement.disk_io()),
            (_, Per::Tib) => format!("{size} x {} per TiB = {}", unit.pair(self.one), unit.pair(stated)),
            (_, Per::Volume) => self.maximum_cause(tier, order.count, requirement.read_share),
            (_, Per::Ordered) => ordered_cause(order, stated),
        };
        Limit { place: self.place, stated, cause, source: Some(tier.source.clone()) }
    }

    fn maximum_cause(&self, tier: &ServiceTier, count: u32, read_share: Ratio) -> String {
        let unit = Unit::of_both(self.one);
        let each = unit.pair(Capability::each(self.one.read, self.one.write));
        let together = match mixed::at(tier, read_share) {
            Mixed::Bound(together) => {
                format!(", {} together at {}", unit.one(together.total), mixed::mix(read_share))
            }
            Mixed::Unbounded | Mixed::Unknown => String::new(),
        };
        format!("{count} x at most {each} of a volume{together}")
    }
}

fn iops_cause(tier: &ServiceTier, size: &str, stated: Capability, io: Bytes) -> String {
    let of = |iops: Option<Iops>| iops.map_or("?".to_owned(), |iops| number(iops.get()));
    let (read, write) = (of(tier.read_iops_per_tib), of(tier.write_iops_per_tib));
    let each = if read == write { read } else { format!("{read} read / {write} write") };
    format!("{size} x {each} IOPS per TiB x {io} = {}", Unit::Mb.pair(stated))
}

fn ordered_iops_cause(order: &Order, stated: Capability, io: Bytes) -> String {
    let one = number(order.iops.unwrap_or_default());
    format!("{}{one} IOPS x {io} = {}", times(order.count), Unit::Mb.pair(stated))
}

fn ordered_cause(order: &Order, stated: Capability) -> String {
    let one = order.throughput.unwrap_or_default();
    let unit = Unit::of(one.get());
    let all = if order.count == 1 { String::new() } else { format!(" = {}", unit.pair(stated)) };
    format!("{}{} ordered{all}", times(order.count), unit.one(one.get()))
}

/// Bounds a tier has whose figures are not in the catalog.
pub fn unknown(tier: &ServiceTier, read_share: Ratio) -> Vec<UnknownLimit> {
    let mut unknown = Vec::new();
    let mut add = |place, what: &str| {
        unknown.push(UnknownLimit { place, what: format!("{}: {what}", tier.tier) });
    };
    for what in rates_unknown(tier) {
        add(Place::ServiceThroughput, what);
    }
    let disks = (tier.disk_read_per_tib, tier.disk_write_per_tib);
    if disks.0.is_some() != disks.1.is_some() {
        add(Place::DiskBandwidth, "the disks' rate of one direction");
    }
    if disks != (None, None) && tier.read_per_tib.is_none() {
        add(Place::ServerNetwork, "its network's rate");
    }
    if tier.throughput.as_ref().is_some_and(|order| order.max.is_none() && order.max_per_tib.is_none()) {
        add(Place::ServiceMaximum, "the most throughput that can be ordered");
    }
    if tier.read_max.is_some() != tier.write_max.is_some() {
        add(Place::ServiceMaximum, "the most of one direction");
    }
    if mixed::at(tier, read_share) == Mixed::Unknown {
        add(Place::ServiceMaximum, "the most at this mix of reads and writes");
    }
    // A Lustre client reaches what its network does; an NFS mount has bounds of its own.
    if tier.protocol == Protocol::Nfs && tier.clients.is_empty() {
        add(Place::ClientMount, "what one client reaches");
    }
    unknown
}

/// More I/Os per second are ordered than the capacity includes, and the catalog does not know how many may be.
pub fn unknown_iops(tier: &ServiceTier, order: &Order) -> Option<UnknownLimit> {
    let unknown = tier.iops.is_some_and(|sold| sold.max.is_none()) && extra_iops(tier, order).is_some();
    let what = || format!("{}: the most IOPS that can be ordered", tier.tier);
    unknown.then(|| UnknownLimit { place: Place::ServiceIops, what: what() })
}

/// Directions in which nothing says what a tier delivers: no order of it can be shown to meet a requirement.
pub fn rates_unknown(tier: &ServiceTier) -> Vec<&'static str> {
    let directions = [
        ("its read throughput", tier.read_per_tib.or(tier.disk_read_per_tib)),
        ("its write throughput", tier.write_per_tib.or(tier.disk_write_per_tib)),
    ];
    let missing = directions.iter().filter(|(_, rate)| rate.is_none() && tier.throughput.is_none());
    missing.map(|(what, _)| *what).collect()
}
