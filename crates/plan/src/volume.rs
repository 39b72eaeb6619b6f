//! What a network disk of a tier and size delivers and costs.

use catalog::{Disk, Performance, Price, Provisioning, Rate};
use units::{Bandwidth, Bytes, Money};

use crate::design::Volume;
use crate::market::Market;

const GIB: f64 = (1u64 << 30) as f64;
const TIB: f64 = (1u64 << 40) as f64;

/// Part of a rate that is rounding noise.
const NOISE: f64 = 1e-6;

/// What one volume has to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// Bytes.
    pub capacity: f64,
    /// Bytes per second, reads and writes together.
    pub bandwidth: f64,
    /// Bytes of one I/O when it reaches the disk.
    pub io: Bytes,
}

/// A volume as numbers: what to order, or what is fixed by the tier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Order {
    /// Bytes.
    pub size: f64,
    /// I/Os per second it may do; infinite where the provider names no bound.
    pub iops: f64,
    /// Bytes per second.
    pub bandwidth: f64,
}

impl Order {
    /// What it delivers in I/Os of `io` bytes.
    pub fn at(&self, disk: &Disk, io: Bytes) -> f64 {
        self.bandwidth.min(self.iops * carried(disk, io))
    }
}

/// Bytes one counted I/O carries: larger I/Os count as several of the tier's unit.
pub fn carried(disk: &Disk, io: Bytes) -> f64 {
    disk.io_unit.map_or(io, |unit| unit.min(io)).get() as f64
}

/// The cheapest order of a tier that does what is needed, or `None` if none does. Sizes are whole GiB, ordered rates whole
/// I/Os per second and MB/s or MiB/s (F14, F15, F23).
pub fn order(disk: &Disk, need: &Need) -> Option<Order> {
    let largest = disk.size_max.map_or(f64::INFINITY, |max| max.get() as f64);
    if need.capacity > largest {
        return None;
    }
    let iops_needed = need.bandwidth / carried(disk, need.io);
    match &disk.performance {
        Performance::Fixed(rate) => {
            let order = fixed(*rate, largest);
            (order.at(disk, need.io) >= need.bandwidth).then_some(order)
        }
        Performance::BySize { bandwidth_per_tib, iops_per_gib, .. } => {
            let for_bandwidth = bandwidth_per_tib.map_or(0.0, |rate| need.bandwidth / rate.get() * TIB);
            let for_iops = iops_per_gib.map_or(0.0, |per_gib| iops_needed / per_gib * GIB);
            let smallest = disk.size_min.get() as f64;
            // The lower bound may do without a larger size.
            let candidates =
                [need.capacity.max(smallest), for_bandwidth.max(need.capacity), for_iops.max(need.capacity)];
            let mut sizes = candidates.map(|size| whole(size.max(smallest), GIB));
            sizes.sort_by(f64::total_cmp);
            let orders = sizes.into_iter().chain([whole(for_bandwidth.max(for_iops).max(smallest), GIB)]);
            orders
                .filter(|size| *size <= largest && *size >= need.capacity)
                .filter_map(|size| by_size(disk, size))
                .find(|order| order.at(disk, need.io) >= need.bandwidth)
        }
        Performance::Provisioned(terms) => {
            let value = |iops: Option<units::Iops>| iops.map(units::Iops::get);
            let bandwidth_max = terms.max.bandwidth.map_or(f64::INFINITY, units::Bandwidth::get);
            let bandwidth_min =
                terms.min.bandwidth.or(terms.included.bandwidth).map_or(0.0, units::Bandwidth::get);
            // Whole units are ordered, and the IOPS must carry what is ordered.
            let to_order = if terms.bandwidth_follows {
                need.bandwidth
            } else {
                whole(need.bandwidth.max(bandwidth_min), rate_unit(terms)).min(bandwidth_max)
            };
            let ratio = terms.bytes_per_io.map_or(0.0, |bytes| to_order / bytes.get() as f64 - 1e-6);
            let iops = iops_needed.max(ratio).max(value(terms.min.iops).unwrap_or(0.0)).ceil();
            if iops > value(terms.max.iops).unwrap_or(f64::INFINITY) || need.bandwidth > bandwidth_max {
                return None;
            }
            let for_iops = terms.iops_per_gib.map_or(0.0, |per_gib| iops / per_gib * GIB);
            // What is included needs no larger size.
            let included = value(terms.included.iops).is_some_and(|included| iops <= included);
            let for_iops = if included { 0.0 } else { for_iops };
            let size = whole(need.capacity.max(for_iops).max(disk.size_min.get() as f64), GIB);
            let bandwidth = if terms.bandwidth_follows {
                (iops * terms.bytes_per_io.map_or(carried(disk, need.io), |bytes| bytes.get() as f64))
                    .min(bandwidth_max)
            } else {
                to_order
            };
            (size <= largest).then_some(Order { size, iops, bandwidth })
        }
        Performance::Unknown => None,
    }
}

/// What a volume that is already ordered delivers. Fails if the tier has no such size or rate.
pub fn ordered(disk: &Disk, volume: &Volume) -> Option<Order> {
    let size = volume.size.get() as f64;
    let largest = disk.size_max.map_or(f64::INFINITY, |max| max.get() as f64);
    if size > largest {
        return None;
    }
    match &disk.performance {
        Performance::Fixed(rate) => Some(fixed(*rate, largest)),
        Performance::BySize { .. } => by_size(disk, size),
        Performance::Provisioned(terms) => {
            let included = terms.included.iops.or(terms.min.iops).map_or(0.0, units::Iops::get);
            let iops = volume.iops.map_or(included, f64::from);
            let follows = iops * terms.bytes_per_io.map_or(256.0 * 1024.0, |bytes| bytes.get() as f64);
            let max = terms.max.bandwidth.map_or(f64::INFINITY, units::Bandwidth::get);
            let bandwidth = match volume.bandwidth {
                Some(bandwidth) => bandwidth.get(),
                None if terms.bandwidth_follows => follows,
                None => terms.included.bandwidth.map_or(follows, units::Bandwidth::get),
            };
            let order = Order { size, iops, bandwidth: bandwidth.min(max) };
            (bandwidth <= max * (1.0 + NOISE) || terms.bandwidth_follows)
                .then_some(order)
                .filter(|order| sold(terms, order))
        }
        Performance::Unknown => None,
    }
}

/// Bandwidth is ordered in whole units: MiB/s where the provider's figures are that, else MB/s.
fn rate_unit(terms: &Provisioning) -> f64 {
    const MIB: f64 = (1u32 << 20) as f64;
    let stated = terms.max.bandwidth.or(terms.included.bandwidth).map_or(0.0, units::Bandwidth::get);
    if stated > 0.0 && stated % MIB == 0.0 { MIB } else { 1e6 }
}

/// Whether rates of a provisioned tier can be ordered together, and with this size.
fn sold(terms: &Provisioning, order: &Order) -> bool {
    let value = |iops: Option<units::Iops>| iops.map(units::Iops::get);
    let within = |value: f64, most: f64| value <= most * (1.0 + NOISE);
    let least = value(terms.min.iops).unwrap_or(0.0);
    let by_size = terms.iops_per_gib.map_or(f64::INFINITY, |per_gib| per_gib * order.size / GIB);
    let free = value(terms.included.iops).unwrap_or(0.0);
    let carried = terms.bytes_per_io.map_or(f64::INFINITY, |bytes| order.iops * bytes.get() as f64);
    within(least, order.iops)
        && within(order.iops, value(terms.max.iops).unwrap_or(f64::INFINITY))
        && within(order.iops, by_size.max(free))
        && within(order.bandwidth, carried)
}

/// An order as a design file states it.
pub fn as_volume(disk: &Disk, order: &Order) -> Volume {
    let terms = match &disk.performance {
        Performance::Provisioned(terms) => Some(terms),
        _ => None,
    };
    Volume {
        tier: disk.tier.to_string(),
        size: Bytes::new(order.size as u64),
        iops: terms.map(|_| order.iops as u32),
        bandwidth: terms
            .filter(|terms| !terms.bandwidth_follows)
            .map(|_| Bandwidth::bytes_per_second(order.bandwidth)),
    }
}

/// The most a tier can do in one volume of at most `capacity` bytes in I/Os of `io` bytes: for bounds in a search.
pub fn most(disk: &Disk, io: Bytes) -> f64 {
    let carried = carried(disk, io);
    let bound = |rate: &Rate| {
        let iops = rate.iops.map_or(f64::INFINITY, |iops| iops.get() * carried);
        rate.bandwidth.map_or(f64::INFINITY, units::Bandwidth::get).min(iops)
    };
    match &disk.performance {
        Performance::Fixed(rate) => bound(rate),
        Performance::BySize { max, .. } => {
            let largest = disk.size_max.and_then(|size| by_size(disk, size.get() as f64));
            largest.map_or_else(|| bound(max), |order| order.at(disk, io))
        }
        Performance::Provisioned(terms) => bound(&terms.max),
        Performance::Unknown => 0.0,
    }
}

fn fixed(rate: Rate, size: f64) -> Order {
    Order {
        size,
        iops: rate.iops.map_or(f64::INFINITY, units::Iops::get),
        bandwidth: rate.bandwidth.map_or(0.0, units::Bandwidth::get),
    }
}

fn by_size(disk: &Disk, size: f64) -> Option<Order> {
    let Performance::BySize { bandwidth_per_tib, iops_per_gib, min, max } = &disk.performance else {
        return None;
    };
    let bandwidth_max = max.bandwidth.map_or(f64::INFINITY, units::Bandwidth::get);
    let bandwidth = bandwidth_per_tib.map_or(bandwidth_max, |rate| rate.get() * size / TIB);
    let iops = iops_per_gib.map_or(f64::INFINITY, |per_gib| per_gib * size / GIB);
    let iops_min = min.iops.map_or(0.0, units::Iops::get);
    let iops_max = max.iops.map_or(f64::INFINITY, units::Iops::get);
    let bandwidth_min = min.bandwidth.map_or(0.0, units::Bandwidth::get);
    Some(Order {
        size,
        iops: iops.max(iops_min).min(iops_max),
        bandwidth: bandwidth.max(bandwidth_min).min(bandwidth_max),
    })
}

/// Rounded up to whole units; a millionth of a unit is rounding noise.
fn whole(value: f64, unit: f64) -> f64 {
    (value / unit - 1e-6).ceil() * unit
}

/// Price items of a tier, looked up once per search.
#[derive(Debug, Clone, Copy)]
pub struct PriceList<'a> {
    each: Option<&'a Price>,
    capacity: Option<&'a Price>,
    iops: Option<&'a Price>,
    throughput: Option<&'a Price>,
    fixed: bool,
    sells_iops: bool,
    sells_throughput: bool,
}

impl<'a> PriceList<'a> {
    /// The prices of a tier in a market.
    pub fn of(market: &Market<'a>, disk: &Disk) -> Self {
        market.disk_prices(disk).unwrap_or_else(|| Self::look_up(market, disk))
    }

    /// The prices of a tier, by the names of their items.
    pub(crate) fn look_up(market: &Market<'a>, disk: &Disk) -> Self {
        let item = |what: &str| market.price(&format!("{}:{what}", disk.tier));
        let (fixed, terms) = match &disk.performance {
            Performance::Fixed(_) => (true, None),
            Performance::Provisioned(terms) => (false, Some(*terms)),
            Performance::BySize { .. } | Performance::Unknown => (false, None),
        };
        Self {
            each: market.price(&format!("disk:{}", disk.tier)),
            capacity: item("capacity"),
            iops: item("iops"),
            throughput: item("throughput"),
            fixed,
            sells_iops: terms.is_some(),
            sells_throughput: terms.is_some_and(|terms| !terms.bandwidth_follows),
        }
    }

    /// What an order costs per month, or `None` when a part of it has no price.
    pub fn of_order(&self, order: &Order) -> Option<Money> {
        if self.fixed {
            return Some(self.each?.of(1.0));
        }
        let mut sum = self.capacity?.of(quantity(self.capacity?, order.size));
        if self.sells_iops {
            sum += self.iops?.of(order.iops);
        }
        if self.sells_throughput {
            sum += self.throughput?.of(quantity(self.throughput?, order.bandwidth));
        }
        Some(sum)
    }

    /// The least that volumes holding `capacity` bytes together can cost per month; `None` when it is unknown.
    pub fn floor(&self, disk: &Disk, capacity: f64) -> Option<f64> {
        if self.fixed {
            let size = disk.size_max.map_or(f64::INFINITY, |max| max.get() as f64);
            return Some(self.each?.of(1.0).get() * capacity / size);
        }
        // Every band of the providers' capacity prices is linear; a cheaper later band would make this no bound.
        let price = self.capacity?;
        let cheapest = price.bands.iter().map(|band| band.per_month.get()).fold(f64::INFINITY, f64::min);
        Some(quantity(price, capacity) * cheapest)
    }

    /// The price that stands for all in a report: its source, and the doubt of any part.
    pub fn main(&self) -> Option<&'a Price> {
        let all = [self.each.filter(|_| self.fixed), self.capacity, self.iops, self.throughput];
        let known = || all.iter().flatten().copied();
        known().find(|price| price.doubt.is_some()).or_else(|| known().next())
    }
}

/// Bytes or bytes per second in the unit of a price.
pub fn quantity(price: &Price, value: f64) -> f64 {
    use catalog::PriceUnit as Unit;
    match price.unit {
        Unit::Gb => value / 1e9,
        Unit::Gib => value / GIB,
        Unit::MbPerSecond => value / 1e6,
        Unit::MibPerSecond => value / f64::from(1u32 << 20),
        Unit::Each | Unit::Iops | Unit::TenThousandOperations => value,
    }
}
