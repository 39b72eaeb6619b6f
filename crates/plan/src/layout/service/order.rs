//! The cheapest order of a tier that meets a requirement, in closed form (F17, F19, F22).
//!
//! Capacity and throughput cost more the more is ordered, and every bound grows with one of them, so for a number of
//! volumes the least capacity and the least throughput that do are the cheapest. A second volume is a second name space,
//! over which users must split their files; so the number of volumes is the fewest that can do it at all, even where
//! several small ones would round up to less capacity. I/Os per second that are ordered apart are taken to cost less than
//! the capacity that would include them, as they do wherever they are sold.

use catalog::{ServiceTier, ThroughputOrder};
use units::{Bandwidth, Bytes, Iops, Ratio};

use super::bounds::{Bound, Per};
use super::sizes;
use super::words::Unit;
use crate::calibration::Factor;
use crate::demand::Requirement;
use crate::design::Service;
use crate::limit::Capability;

const TIB: f64 = (1u64 << 40) as f64;

/// Part of a whole that is rounding noise.
const NOISE: f64 = 1e-9;

/// Volumes of a tier: all equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Order {
    /// How many.
    pub count: u32,
    /// Capacity of each.
    pub capacity: Bytes,
    /// Throughput ordered of each, where it is ordered.
    pub throughput: Option<Bandwidth>,
    /// I/Os per second of each, those included, where they are ordered.
    pub iops: Option<f64>,
}

impl Order {
    /// What a design orders. Where throughput is sold and none is named, the least is taken.
    pub fn of(service: &Service, tier: &ServiceTier) -> Self {
        let least = tier.throughput.as_ref().map(|order| least(order, 0.0).unwrap_or(order.min));
        let throughput = least.map(|least| service.throughput.unwrap_or(least));
        let iops = included_iops(tier, service.capacity);
        let iops = iops.map(|included| service.iops.map_or(included, f64::from));
        Self { count: service.count, capacity: service.capacity, throughput, iops }
    }

    /// Capacity of all volumes, bytes.
    pub fn total(&self) -> Bytes {
        Bytes::new(self.capacity.get().saturating_mul(u64::from(self.count)))
    }
}

/// I/Os per second that a capacity includes, where they are ordered.
pub fn included_iops(tier: &ServiceTier, capacity: Bytes) -> Option<f64> {
    let order = tier.iops?;
    let included = order.included_per_tib.get() * (capacity.get() as f64 / TIB);
    Some(included.min(order.max.map_or(f64::INFINITY, Iops::get)))
}

/// I/Os per second of each volume beyond those that its capacity includes, if there are any.
pub fn extra_iops(tier: &ServiceTier, order: &Order) -> Option<f64> {
    let extra = order.iops? - included_iops(tier, order.capacity)?;
    (extra > 0.0).then_some(extra)
}

/// What the bounds of a service must let through as they are stated, so that what calibration leaves is enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// Bytes.
    pub capacity: f64,
    read: f64,
    write: f64,
    mixed: f64,
    read_share: Ratio,
}

impl Need {
    /// What `requirement` needs of a family that reaches `factor` of its limits.
    pub fn of(requirement: &Requirement, factor: &Factor) -> Self {
        Self {
            capacity: requirement.capacity.get() as f64,
            read: requirement.read.get() / factor.read.value,
            write: requirement.write.get() / factor.write.value,
            mixed: requirement.mixed().get() / factor.mixed(requirement.read_share),
            read_share: requirement.read_share,
        }
    }

    /// How many of `one` it takes; infinite where none would do.
    pub fn times(&self, one: Capability) -> f64 {
        let of = |need: f64, have: f64| if need > 0.0 { need / have } else { 0.0 };
        of(self.read, one.read).max(of(self.write, one.write)).max(of(self.mixed, one.mixed(self.read_share)))
    }

    fn most(&self, bounds: &[Bound], per: Per) -> f64 {
        let of_kind = bounds.iter().filter(|bound| bound.per == per);
        of_kind.map(|bound| self.times(bound.one)).fold(0.0, f64::max)
    }
}

/// The cheapest order of at most `most` volumes, or `None` when they are not enough.
pub fn cheapest(tier: &ServiceTier, bounds: &[Bound], need: &Need, most: u32) -> Option<Order> {
    (1..=most).find_map(|count| each(tier, bounds, need, count))
}

/// The least capacity and throughput of each of `count` volumes; `None` where so few volumes cannot do it.
fn each(tier: &ServiceTier, bounds: &[Bound], need: &Need, count: u32) -> Option<Order> {
    let share = |total: f64| total / f64::from(count);
    if share(need.most(bounds, Per::Volume)) > 1.0 + NOISE {
        return None;
    }
    let throughput = match &tier.throughput {
        Some(order) => Some(least(order, share(need.most(bounds, Per::Ordered)))?),
        None => None,
    };
    let per_tib = tier.throughput.as_ref().and_then(|order| order.max_per_tib);
    let to_order = throughput.zip(per_tib).map_or(0.0, |(rate, per_tib)| rate.get() / per_tib.get() * TIB);
    let needed = share(need.capacity).max(share(need.most(bounds, Per::Tib)) * TIB).max(to_order);
    let capacity = sizes::at_least(&tier.sizes, needed)?;
    let iops = match included_iops(tier, capacity) {
        Some(included) => Some(iops_for(tier, included, share(need.most(bounds, Per::Iops)))?),
        None => None,
    };
    Some(Order { count, capacity, throughput, iops })
}

/// The I/Os per second to order: those included, or as many as are needed; `None` where so many are not sold.
fn iops_for(tier: &ServiceTier, included: f64, needed: f64) -> Option<f64> {
    let most = tier.iops.and_then(|order| order.max).map_or(f64::INFINITY, Iops::get);
    let iops = if needed > included * (1.0 + NOISE) { (needed - NOISE).ceil() } else { included };
    (iops <= most).then_some(iops)
}

/// The least throughput sold that is enough: a listed value, or a whole number of the unit it is sold in.
fn least(order: &ThroughputOrder, needed: f64) -> Option<Bandwidth> {
    let enough = |rate: f64| rate >= needed * (1.0 - NOISE);
    if !order.values.is_empty() {
        let listed = order.values.iter().copied().filter(|value| enough(value.get()));
        return listed.min_by(|a, b| a.get().total_cmp(&b.get()));
    }
    let unit = Unit::of(order.min.get()).bytes();
    let whole = (needed / unit - NOISE).ceil() * unit;
    let max = order.max.map_or(f64::INFINITY, Bandwidth::get);
    let rate = whole.max(order.min.get()).min(max);
    (rate.is_finite() && enough(rate)).then_some(Bandwidth::bytes_per_second(rate))
}

/// Bytes of the largest volume; infinite where the provider names no bound.
fn largest(tier: &ServiceTier) -> f64 {
    sizes::largest(&tier.sizes).map_or(f64::INFINITY, |size| size.get() as f64)
}

/// The most throughput that can be ordered of one volume.
fn most_ordered(tier: &ServiceTier) -> f64 {
    let Some(order) = &tier.throughput else { return f64::INFINITY };
    let listed = order.values.iter().map(|value| value.get()).fold(0.0, f64::max);
    let listed = if order.values.is_empty() { f64::INFINITY } else { listed };
    let by_size = order.max_per_tib.map_or(f64::INFINITY, |rate| rate.get() * largest(tier) / TIB);
    order.max.map_or(f64::INFINITY, Bandwidth::get).min(listed).min(by_size)
}

/// `count` volumes as large and as fast as they get; where the provider names no bound, as needed.
pub fn utmost(tier: &ServiceTier, bounds: &[Bound], need: &Need, count: u32) -> Option<Order> {
    let share = |total: f64| total / f64::from(count);
    let needed = share(need.capacity.max(need.most(bounds, Per::Tib) * TIB));
    let capacity = sizes::largest(&tier.sizes).or_else(|| sizes::at_least(&tier.sizes, needed))?;
    let most = most_ordered(tier);
    let rate = if most.is_finite() { most } else { share(need.most(bounds, Per::Ordered)) };
    let throughput = tier.throughput.as_ref().map(|_| Bandwidth::bytes_per_second(rate));
    let most_iops = tier.iops.and_then(|order| order.max).map(Iops::get);
    let iops = tier.iops.map(|_| most_iops.unwrap_or_else(|| share(need.most(bounds, Per::Iops)).ceil()));
    Some(Order { count, capacity, throughput, iops })
}
