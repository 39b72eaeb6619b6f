//! Network volumes of each client, striped by RAID-0, for that client alone: temporary files, or the data of a single host.

use catalog::Disk;
use fault::Result;
use units::{Bytes, Money};

use super::servers::{carries, vm_disks};
use super::{Assessment, ClientSide, WriteLaw, volume_text};
use crate::cost::Part;
use crate::demand::Requirement;
use crate::design::{Family, Layout, StripedVolumes};
use crate::limit::{Place, UnknownLimit};
use crate::market::{Market, survives};
use crate::volume::{self, Need, PriceList};

/// What volumes on every client offer.
pub fn assess(
    market: &Market<'_>,
    layout: &StripedVolumes,
    requirement: &Requirement,
    clients: ClientSide<'_>,
) -> Result<Assessment> {
    let disk = market.disk(&layout.volume.tier)?;
    let order = volume::ordered(disk, &layout.volume);
    let volumes = f64::from(clients.count) * f64::from(layout.volumes_per_client);
    let size = order.map_or(layout.volume.size.get() as f64, |order| order.size);
    let mut assessment = Assessment::new(Family::StripedVolumes, Bytes::new((size * volumes) as u64));
    assessment.write_law = WriteLaw::Stream;
    let io = requirement.disk_io();
    assessment.limits.extend(super::client_disks(clients, disk, io));
    match order {
        Some(order) => {
            let many = format!("{volumes}");
            assessment.limits.extend(super::volume_limits(disk, &order, io, volumes, &many));
        }
        None => assessment.refusals.push(format!("{} is not sold", volume_text(&layout.volume, disk))),
    }
    if vm_disks(clients.vm, disk, io).is_none_or(|one| one.read.is_infinite()) {
        let what = format!("{} has no limit for reading network disks", clients.vm.sku);
        assessment.unknown.push(UnknownLimit { place: Place::ClientDisks, what });
    }
    refusals(&mut assessment, layout, requirement, clients, disk);
    assessment.costs.push(super::volume_cost(market, Part::Disks, disk, &layout.volume, volumes));
    assessment.costs.extend(super::operations(market, disk, requirement));
    Ok(assessment)
}

fn refusals(
    assessment: &mut Assessment,
    layout: &StripedVolumes,
    requirement: &Requirement,
    clients: ClientSide<'_>,
    disk: &Disk,
) {
    let why = &mut assessment.refusals;
    why.extend(private(requirement, clients));
    if layout.volumes_per_client > clients.vm.max_disks.unwrap_or(u32::MAX) {
        why.push(format!(
            "{} takes at most {} disks",
            clients.vm.sku,
            clients.vm.max_disks.unwrap_or_default()
        ));
    }
    if !carries(clients.vm, disk) {
        why.push(format!("{} does not carry {}", clients.vm.sku, disk.tier));
    }
    if !survives(spec::Durability::Zone, requirement.durability) {
        why.push("network disks are in one zone; the data must survive the loss of a zone".to_owned());
    }
    if assessment.capacity < requirement.capacity {
        why.push(format!("{:#} is less than the {:#} needed", assessment.capacity, requirement.capacity));
    }
}

/// Why storage that each client has for itself will not do, if it will not: only temporary files need not be shared.
pub(super) fn private(requirement: &Requirement, clients: ClientSide<'_>) -> Option<String> {
    let needs_sharing = requirement.role != spec::Role::Work && clients.count > 1;
    needs_sharing
        .then(|| format!("{} clients must share the files; this is each client's own", clients.count))
}

/// The cheapest volumes for these clients, or `None` if no tier will do.
pub fn cheapest(
    market: &Market<'_>,
    requirement: &Requirement,
    clients: ClientSide<'_>,
) -> Option<(Money, Layout)> {
    let factor = market.factor(Family::StripedVolumes);
    if private(requirement, clients).is_some() || !survives(spec::Durability::Zone, requirement.durability) {
        return None;
    }
    let io = requirement.disk_io();
    let count = f64::from(clients.count);
    let needed = needed(requirement, factor) / count;
    let capacity = requirement.capacity.get() as f64 / count;
    let mut best: Option<(Money, Layout)> = None;
    for disk in market.disks().filter(|disk| market.guards.permits(disk) && carries(clients.vm, disk)) {
        let Some(vm) = vm_disks(clients.vm, disk, io).filter(|vm| vm.read.is_finite()) else { continue };
        if vm.mixed(requirement.read_share).min(vm.read).min(vm.write) < needed * (1.0 - 1e-9) {
            continue;
        }
        let prices = PriceList::of(market, disk);
        for volumes in 1..=clients.vm.max_disks.unwrap_or(0) {
            let k = f64::from(volumes);
            let need = Need { capacity: capacity / k, bandwidth: needed / k, io };
            let Some(order) = volume::order(disk, &need) else { continue };
            let Some(each) = prices.of_order(&order) else { continue };
            let cost = each * k * count;
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                let volume = volume::as_volume(disk, &order);
                best = Some((
                    cost,
                    Layout::StripedVolumes(StripedVolumes { volumes_per_client: volumes, volume }),
                ));
            }
        }
    }
    best
}

/// The rate that disks shared by reads and writes must have as stated.
pub(super) fn needed(requirement: &Requirement, factor: crate::Factor) -> f64 {
    let read = requirement.read.get() / factor.read.value;
    let write = requirement.write.get() / factor.write.value;
    let mixed = requirement.mixed().get() / factor.mixed(requirement.read_share);
    read.max(write).max(mixed)
}
