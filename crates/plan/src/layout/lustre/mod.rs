//! Lustre on VMs: equal OSSs, each with equal network disks, each disk an OST (F5, F6, F8, F9).

mod metadata;
mod search;

use catalog::{Disk, Source, Vm};
use fault::Result;
use units::{Bandwidth, Bytes};

pub use metadata::{Sizing, pcores_for, size as size_metadata};
pub use search::{Found, find, reasons};

use super::servers::{self, server_network, unknown_of, vm_disks};
use super::{Assessment, PerClient, WriteLaw};
use crate::cost::Part;
use crate::demand::Requirement;
use crate::design::{Family, LustreOnVms};
use crate::limit::{Capability, Limit, Place, UnknownLimit};
use crate::market::{Market, survives};
use crate::volume::{self, Order};

/// Share of its memory that a Linux server lets become dirty before writers wait: `vm.dirty_ratio`, 20 %.
const DIRTY_SHARE: f64 = 0.2;

/// Bytes an OST takes in turn: 4 MiB, one large RPC.
pub const STRIPE_SIZE: Bytes = Bytes::mib(4);

/// What a Lustre file system on VMs offers.
pub fn assess(market: &Market<'_>, layout: &LustreOnVms, requirement: &Requirement) -> Result<Assessment> {
    let vm = market.vm(&layout.sku)?;
    let disk = market.disk(&layout.disk.tier)?;
    let order = volume::ordered(disk, &layout.disk);
    let osts = layout.servers.saturating_mul(layout.disks_per_server);
    let size = order.map_or(layout.disk.size.get() as f64, |order| order.size.min(billed_size(layout, disk)));
    let mut assessment = Assessment::new(Family::LustreOnVms, Bytes::new((size * f64::from(osts)) as u64));
    match order {
        Some(order) => limits(&mut assessment, layout, vm, disk, &order, requirement),
        None => assessment.refusals.push(format!("{} is not sold", super::volume_text(&layout.disk, disk))),
    }
    assessment.nodes = layout.servers.saturating_add(layout.metadata.count);
    costs(&mut assessment, market, layout, vm, disk, requirement)?;
    refusals(&mut assessment, market, layout, vm, disk, requirement);
    law(&mut assessment, layout, vm, requirement);
    Ok(assessment)
}

/// A fixed tier is sold as a whole: all of it can be used.
fn billed_size(layout: &LustreOnVms, disk: &Disk) -> f64 {
    match disk.performance {
        catalog::Performance::Fixed(_) => disk.size_max.map_or(layout.disk.size, |max| max).get() as f64,
        _ => layout.disk.size.get() as f64,
    }
}

fn limits(
    assessment: &mut Assessment,
    layout: &LustreOnVms,
    vm: &Vm,
    disk: &Disk,
    order: &Order,
    requirement: &Requirement,
) {
    let (n, k, io) = (f64::from(layout.servers), f64::from(layout.disks_per_server), requirement.disk_io());
    let mut add = |place, one: Capability, each: String, source: &Source| {
        let cause = format!("{} x {each}", layout.servers);
        assessment.limits.push(Limit { place, stated: one.times(n), cause, source: Some(source.clone()) });
    };
    if let Some(network) = vm.network {
        add(
            Place::ServerNetwork,
            server_network(vm),
            format!("{}, {network} out of each", vm.sku),
            &vm.source,
        );
    }
    if let Some(disks) = vm_disks(vm, disk, io) {
        let rate = rate_text(disks);
        add(Place::ServerDisks, disks, format!("{}, {rate} to its disks", vm.sku), &vm.source);
    }
    let many = format!("{} x {}", layout.servers, layout.disks_per_server);
    assessment.limits.extend(super::volume_limits(disk, order, io, n * k, &many));
    for (place, what) in unknown_of(vm, disk, io) {
        assessment.unknown.push(UnknownLimit { place, what });
    }
    let one = order.at(disk, io) * f64::from(layout.stripe_count);
    assessment.per_stream = Some(PerClient {
        stated: Capability::shared(one),
        cause: format!(
            "stripe count {} x {} per OST",
            layout.stripe_count,
            Bandwidth::bytes_per_second(order.at(disk, io))
        ),
        source: Some(disk.source.clone()),
    });
    assessment.cache =
        vm.memory.map(|memory| Bytes::new(memory.get().saturating_mul(u64::from(layout.servers))));
    burst(assessment, layout, vm, disk);
}

fn rate_text(disks: Capability) -> String {
    let rate = Bandwidth::bytes_per_second(if disks.sum.is_finite() { disks.sum } else { disks.write });
    if disks.sum.is_finite() { rate.to_string() } else { format!("{rate} of writes") }
}

fn burst(assessment: &mut Assessment, layout: &LustreOnVms, vm: &Vm, disk: &Disk) {
    let n = f64::from(layout.servers);
    let vm_rate = vm.disks_burst.bandwidth.or(vm.disks.bandwidth);
    let disk_burst = disk
        .burst
        .bandwidth
        .filter(|_| disk.burst_kind.as_deref().is_none_or(|kind| !kind.contains("opt-in")));
    let bursts = vm.disks_burst.bandwidth.is_some() || disk_burst.is_some();
    let disk_rate = disk_burst.or_else(|| {
        let order = volume::ordered(disk, &layout.disk)?;
        Some(Bandwidth::bytes_per_second(order.bandwidth))
    });
    let (true, Some(vm_rate), Some(disk_rate)) = (bursts, vm_rate, disk_rate) else { return };
    let rate = vm_rate.get().min(disk_rate.get() * f64::from(layout.disks_per_server)) * n;
    let sustained = assessment.limits.iter().map(|limit| limit.stated.sum).fold(f64::INFINITY, f64::min);
    if rate > sustained * 1.01 {
        let rate = Some(Bandwidth::bytes_per_second(rate));
        let lasts = disk.burst_kind.as_deref().filter(|_| disk_burst.is_some());
        let lasts = lasts.unwrap_or("while the VMs' credits last").to_owned();
        assessment.burst = Some(super::Burst { read: rate, write: rate, lasts });
    }
}

fn costs(
    assessment: &mut Assessment,
    market: &Market<'_>,
    layout: &LustreOnVms,
    vm: &Vm,
    disk: &Disk,
    requirement: &Requirement,
) -> Result<()> {
    let osts = f64::from(layout.servers) * f64::from(layout.disks_per_server);
    assessment.costs.push(super::vm_cost(market, vm, layout.servers, Part::Servers));
    assessment.costs.push(super::volume_cost(market, Part::Disks, disk, &layout.disk, osts));
    let metadata = market.vm(&layout.metadata.sku)?;
    assessment.costs.extend(metadata::costs(market, &layout.metadata, metadata)?);
    assessment.costs.extend(super::operations(market, disk, requirement));
    Ok(())
}

fn refusals(
    assessment: &mut Assessment,
    market: &Market<'_>,
    layout: &LustreOnVms,
    vm: &Vm,
    disk: &Disk,
    requirement: &Requirement,
) {
    let why = &mut assessment.refusals;
    if layout.disks_per_server > vm.max_disks.unwrap_or(u32::MAX) {
        why.push(format!("{} takes at most {} disks", vm.sku, vm.max_disks.unwrap_or_default()));
    }
    if !servers::carries(vm, disk) {
        why.push(format!("{} does not carry {}", vm.sku, disk.tier));
    }
    if !survives(spec::Durability::Zone, requirement.durability) {
        why.push("network disks are in one zone; the data must survive the loss of a zone".to_owned());
    }
    if market.constraints.encryption.in_transit {
        why.push("Lustre between VMs does not encrypt data in transit by itself".to_owned());
    }
    if assessment.capacity < requirement.capacity {
        why.push(format!("{:#} is less than the {:#} needed", assessment.capacity, requirement.capacity));
    }
}

/// The burst law holds for checkpoints that the servers' memory takes in.
fn law(assessment: &mut Assessment, layout: &LustreOnVms, vm: &Vm, requirement: &Requirement) {
    let Some(checkpoint) = requirement.checkpoint else { return };
    let dirty = dirty_limit(vm, layout.servers);
    if (checkpoint.get() as f64) <= dirty {
        assessment.write_law = WriteLaw::Burst;
    }
}

/// Bytes the servers take before writers wait for the disks.
fn dirty_limit(vm: &Vm, servers: u32) -> f64 {
    vm.memory.map_or(0.0, |memory| memory.get() as f64) * DIRTY_SHARE * f64::from(servers)
}
