//! The cheapest file systems of equal OSSs with equal disks, exactly.
//!
//! Every pair of server SKU and disk tier and every number of disks per server is looked at. Given these, the number of
//! servers follows in closed form where a disk's price does not depend on it. Where capacity and rates are ordered apart,
//! more servers can save on rates (each volume includes some for nothing), so larger numbers are tried until the servers
//! and the bare capacity alone cost more than the best found: the bound that keeps the search exact.

use std::collections::BTreeMap;

use catalog::{Disk, Performance, Vm};
use units::{Bytes, Ratio};

use super::metadata::{self, Sizing};
use super::{STRIPE_SIZE, dirty_limit};
use crate::calibration::Factor;
use crate::demand::Requirement;
use crate::design::{Family, Layout, LustreOnVms};
use crate::layout::servers::{carries, server_network, unknown_of, vm_disks};
use crate::limit::Capability;
use crate::market::{Market, survives};
use crate::volume::{self, Need, Order, PriceList};

/// Designs that meet a requirement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// The cheapest of every pair of SKU and tier, cheapest first.
    pub layouts: Vec<Layout>,
    /// Combinations of SKU, tier and number of disks that were costed.
    pub looked_at: u64,
}

/// A design as numbers.
#[derive(Debug, Clone, Copy)]
struct Light<'a> {
    vm: &'a Vm,
    disk: &'a Disk,
    servers: u32,
    disks: u32,
    order: Order,
    cost: f64,
}

/// What a search needs again and again.
struct Search<'a, 'm> {
    market: &'m Market<'a>,
    requirement: &'m Requirement,
    io: Bytes,
    /// Stated rates the whole must have, calibration included.
    goal: Goal,
    metadata: BTreeMap<u32, Option<Sizing>>,
}

/// Rates a design's limits must reach as stated, so that what is left after calibration is what is needed.
#[derive(Debug, Clone, Copy)]
struct Goal {
    read: f64,
    write: f64,
    mixed: f64,
    read_share: Ratio,
}

impl Goal {
    fn of(requirement: &Requirement, factor: Factor) -> Self {
        Self {
            read: requirement.read.get() / factor.read.value,
            write: requirement.write.get() / factor.write.value,
            mixed: requirement.mixed().get() / factor.mixed(requirement.read_share),
            read_share: requirement.read_share,
        }
    }

    /// The rate that reads and writes together must have where they share a bound.
    fn shared(&self) -> f64 {
        self.read.max(self.write).max(self.mixed)
    }

    /// How many of `one` reach it.
    fn count(&self, one: Capability) -> f64 {
        let reads = self.read / one.read;
        let writes = self.write / one.write;
        let mixed = self.mixed / one.mixed(self.read_share);
        // A hair below a whole number is rounding noise.
        (reads.max(writes).max(mixed) - 1e-9).ceil().max(1.0)
    }
}

/// The cheapest designs for a requirement in a market.
pub fn find(market: &Market<'_>, requirement: &Requirement) -> Found {
    if !survives(spec::Durability::Zone, requirement.durability) || market.constraints.encryption.in_transit {
        return Found::default();
    }
    let factor = market.factor(Family::LustreOnVms);
    let io = requirement.disk_io();
    let goal = Goal::of(requirement, factor);
    let mut search = Search { market, requirement, io, goal, metadata: BTreeMap::new() };
    let servers = server_vms(market, requirement);
    let mut found = Found::default();
    let mut lights = Vec::new();
    for disk in market.disks().filter(|disk| market.guards.permits(disk)) {
        let prices = PriceList::of(market, disk);
        let able = able(&servers, disk, io);
        // Memory decides which law checkpoints follow, so more of it is not always better.
        let able = if requirement.checkpoint.is_some() { able } else { undominated(&able) };
        for (vm, price, _) in able {
            if let Some(light) = search.pair(vm, price, disk, &prices, &mut found.looked_at) {
                lights.push(light);
            }
        }
    }
    lights.sort_by(|a, b| {
        a.cost
            .total_cmp(&b.cost)
            .then_with(|| a.vm.sku.cmp(&b.vm.sku))
            .then_with(|| a.disk.tier.cmp(&b.disk.tier))
    });
    found.layouts = lights.iter().filter_map(|light| search.layout(light, factor)).collect();
    found
}

/// Why there is no design of this family, in words.
pub fn reasons(market: &Market<'_>, requirement: &Requirement) -> Vec<String> {
    let mut why = Vec::new();
    if !survives(spec::Durability::Zone, requirement.durability) {
        why.push("network disks live in one zone; `durability = \"region\"` rules them out".to_owned());
    }
    if market.constraints.encryption.in_transit {
        why.push("Lustre between VMs does not encrypt data in transit by itself".to_owned());
    }
    let vms = server_vms(market, requirement);
    if vms.is_empty() {
        why.push("no SKU that may be a server has a known price and network and disk limits here".to_owned());
    }
    if !market.disks().any(|disk| market.guards.permits(disk)) {
        why.push("no disk tier is allowed here".to_owned());
    }
    if why.is_empty() {
        let osts = max_osts(market);
        let (rate, size) = (requirement.mixed(), requirement.capacity);
        why.push(format!(
            "no combination reaches {rate} and {size:#} with at most {osts} OSTs and prices known here"
        ));
        why.extend(nearest(market, requirement));
    }
    why
}

/// The nearest that is possible: the rate with this capacity, and the capacity with this rate.
fn nearest(market: &Market<'_>, requirement: &Requirement) -> Vec<String> {
    let rates = |share: f64| {
        let (read, write) = (requirement.read * share, requirement.write * share);
        Requirement { read, write, ..requirement.clone() }
    };
    let sizes = |share: f64| {
        let capacity = Bytes::new((requirement.capacity.get() as f64 * share) as u64);
        Requirement { capacity, ..requirement.clone() }
    };
    let rate = most(market, &rates)
        .map(|share| format!("with this capacity, {} is possible", requirement.mixed() * share));
    let size = most(market, &sizes).map(|share| {
        let capacity = sizes(share).capacity.round_down(Bytes::gib(1));
        format!("at this rate, {capacity:#} is possible")
    });
    rate.into_iter().chain(size).collect()
}

/// The largest share of a requirement that has a design, to 1 %; `None` if not even 1 % has.
fn most(market: &Market<'_>, scaled: &dyn Fn(f64) -> Requirement) -> Option<f64> {
    let possible = |share: f64| !find(market, &scaled(share)).layouts.is_empty();
    let (mut can, mut cannot) = (0.01, 1.0);
    if !possible(can) {
        return None;
    }
    while cannot - can > 0.01 {
        let middle = f64::midpoint(can, cannot);
        if possible(middle) { can = middle } else { cannot = middle }
    }
    Some(can)
}

fn max_osts(market: &Market<'_>) -> u32 {
    market.constraints.max_osts.unwrap_or(market.guards.max_osts)
}

/// SKUs that may be servers, with their price.
fn server_vms<'a>(market: &Market<'a>, requirement: &Requirement) -> Vec<(&'a Vm, f64)> {
    let may = |vm: &&'a Vm| {
        (market.guards.constrained_servers || vm.constrained_of.is_none())
            && vm.network.is_some()
            && vm.max_disks.is_some()
            && (requirement.checkpoint.is_none() || vm.memory.is_some())
    };
    market.vms().filter(may).filter_map(|vm| Some((vm, market.vm_price(vm)?.of(1.0).get()))).collect()
}

/// A SKU with its price and what it lets through, disks aside.
type Able<'a> = (&'a Vm, f64, Capability);

/// SKUs that can carry a tier and whose limits are known.
fn able<'a>(vms: &[(&'a Vm, f64)], disk: &Disk, io: Bytes) -> Vec<Able<'a>> {
    let known = vms.iter().filter(|(vm, _)| carries(vm, disk) && unknown_of(vm, disk, io).is_empty());
    known
        .filter_map(|(vm, price)| Some((*vm, *price, vm_disks(vm, disk, io)?.and(server_network(vm)))))
        .collect()
}

/// Without SKUs that another beats or equals in everything this search looks at.
fn undominated<'a>(able: &[Able<'a>]) -> Vec<Able<'a>> {
    let beats = |a: &Able<'_>, b: &Able<'_>| {
        a.1 <= b.1
            && a.2.read >= b.2.read
            && a.2.write >= b.2.write
            && a.2.sum >= b.2.sum
            && a.0.max_disks >= b.0.max_disks
    };
    let beaten = |place: usize, b: &Able<'_>| {
        // Of two that beat each other, the first stays.
        able.iter().enumerate().any(|(i, a)| i != place && beats(a, b) && (!beats(b, a) || i < place))
    };
    able.iter().enumerate().filter(|(place, b)| !beaten(*place, b)).map(|(_, b)| *b).collect()
}

impl<'a> Search<'a, '_> {
    /// The cheapest design of one SKU with one tier.
    fn pair(
        &mut self,
        vm: &'a Vm,
        vm_price: f64,
        disk: &'a Disk,
        prices: &PriceList<'_>,
        looked_at: &mut u64,
    ) -> Option<Light<'a>> {
        let outside = vm_disks(vm, disk, self.io)?.and(server_network(vm));
        let most = vm.max_disks?.min(max_osts(self.market));
        let mut best: Option<Light<'a>> = None;
        for disks in 1..=most {
            *looked_at += 1;
            let light = match disk.performance {
                Performance::Fixed(_) => self.fixed(vm, vm_price, disk, prices, disks, outside),
                _ => self.ordered(vm, vm_price, disk, prices, disks, outside, best.map(|best| best.cost)),
            };
            best = match (best, light) {
                (Some(best), Some(light)) if light.cost < best.cost => Some(light),
                (None, light) => light,
                (best, _) => best,
            };
        }
        best
    }

    /// A tier that is sold in one size: the number of servers follows.
    fn fixed(
        &mut self,
        vm: &'a Vm,
        vm_price: f64,
        disk: &'a Disk,
        prices: &PriceList<'_>,
        disks: u32,
        outside: Capability,
    ) -> Option<Light<'a>> {
        let order = volume::order(disk, &Need { capacity: 0.0, bandwidth: 0.0, io: self.io })?;
        if order.size < self.market.guards.min_ost.get() as f64 {
            return None;
        }
        let k = f64::from(disks);
        let one = outside.and(Capability::shared(order.at(disk, self.io) * k));
        let by_capacity = (self.requirement.capacity.get() as f64 / (order.size * k)).ceil();
        let price = prices.of_order(&order)?.get();
        let mut servers = self.goal.count(one).max(by_capacity).max(f64::from(self.min_servers()));
        loop {
            if servers * k > f64::from(max_osts(self.market)) {
                return None;
            }
            if self.burst_holds(vm, one, servers) {
                break;
            }
            servers += 1.0;
        }
        let cost = servers * (vm_price + k * price) + self.metadata_cost(servers as u32)?;
        Some(Light { vm, disk, servers: servers as u32, disks, order, cost })
    }

    /// A tier whose size and rates are ordered.
    #[allow(clippy::too_many_arguments, reason = "the loop variables of one search")]
    fn ordered(
        &mut self,
        vm: &'a Vm,
        vm_price: f64,
        disk: &'a Disk,
        prices: &PriceList<'_>,
        disks: u32,
        outside: Capability,
        best: Option<f64>,
    ) -> Option<Light<'a>> {
        let k = f64::from(disks);
        let capacity = self.requirement.capacity.get() as f64;
        let smallest = self.market.guards.min_ost.get() as f64;
        let most = volume::most(disk, self.io);
        let by_disks = self.goal.shared() / (most * k);
        let by_size = disk.size_max.map_or(0.0, |max| capacity / (max.get() as f64 * k));
        let least = self.goal.count(outside).max(f64::from(self.min_servers()));
        let mut servers = least.max((by_disks - 1e-9).ceil()).max(by_size.ceil());
        let floor = prices.floor(disk, capacity)?;
        let mut found: Option<Light<'a>> = None;
        let mut bound = best.unwrap_or(f64::INFINITY);
        while servers * k <= f64::from(max_osts(self.market)) && servers * vm_price + floor < bound {
            let volumes = servers * k;
            let bandwidth = self.goal.shared() / volumes;
            let need = Need { capacity: (capacity / volumes).max(smallest), bandwidth, io: self.io };
            let one = outside.and(Capability::shared(bandwidth * k));
            if self.burst_holds(vm, one, servers)
                && let Some(order) = volume::order(disk, &need)
            {
                let price = prices.of_order(&order)?.get();
                let cost = servers * (vm_price + k * price) + self.metadata_cost(servers as u32)?;
                if cost < bound {
                    bound = cost;
                    found = Some(Light { vm, disk, servers: servers as u32, disks, order, cost });
                }
            }
            servers += 1.0;
        }
        found
    }

    /// Whether checkpoints are fast enough by the burst law, where they follow it.
    fn burst_holds(&self, vm: &Vm, one: Capability, servers: f64) -> bool {
        let Some(checkpoint) = self.requirement.checkpoint else { return true };
        if checkpoint.get() as f64 > dirty_limit(vm, servers as u32) {
            return true;
        }
        let network = server_network(vm).write.min(vm.network.map_or(f64::INFINITY, units::Bandwidth::get));
        let rate = 1.0 / (1.0 / (network * servers) + 1.0 / (one.write * servers));
        rate >= self.goal.write * (1.0 - 1e-9)
    }

    fn min_servers(&self) -> u32 {
        self.market.constraints.min_servers.unwrap_or(self.market.guards.min_servers)
    }

    fn sizing(&mut self, servers: u32) -> Option<&Sizing> {
        let pcores = metadata::pcores_for(servers);
        let (market, capacity) = (self.market, self.requirement.capacity);
        self.metadata.entry(pcores).or_insert_with(|| metadata::size(market, pcores, capacity)).as_ref()
    }

    fn metadata_cost(&mut self, servers: u32) -> Option<f64> {
        Some(self.sizing(servers)?.per_month?.get())
    }

    fn layout(&mut self, light: &Light<'_>, factor: Factor) -> Option<Layout> {
        let metadata = self.sizing(light.servers)?.servers.clone();
        let stream = self.requirement.stream.get() / factor.read.value.min(factor.write.value);
        let osts = light.servers * light.disks;
        let one = light.order.at(light.disk, self.io);
        let stripe_count = ((stream / one - 1e-9).ceil().max(1.0) as u32).min(osts);
        Some(Layout::LustreOnVms(LustreOnVms {
            sku: light.vm.sku.to_string(),
            servers: light.servers,
            disks_per_server: light.disks,
            disk: volume::as_volume(light.disk, &light.order),
            metadata,
            stripe_count,
            stripe_size: STRIPE_SIZE,
        }))
    }
}
