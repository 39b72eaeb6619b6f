//! Volumes attached to every client at once, under GFS2: each client reaches the volumes by itself, so the volumes' own
//! bound holds for all together and the clients' bound for each (F27).

use fault::Result;
use units::{Bytes, Money};

use super::servers::{carries, vm_disks};
use super::striped::needed;
use super::{Assessment, ClientSide, volume_text};
use crate::cost::Part;
use crate::demand::Requirement;
use crate::design::{Family, Layout, SharedVolumes};
use crate::market::{Market, survives};
use crate::volume::{self, Need, PriceList};

/// Most volumes of one GFS2 file system that are looked at; each is attached to every host.
const MOST_VOLUMES: u32 = 8;

/// What shared volumes offer.
pub fn assess(
    market: &Market<'_>,
    layout: &SharedVolumes,
    requirement: &Requirement,
    clients: ClientSide<'_>,
) -> Result<Assessment> {
    let disk = market.disk(&layout.volume.tier)?;
    let order = volume::ordered(disk, &layout.volume);
    let volumes = f64::from(layout.volumes);
    let size = order.map_or(layout.volume.size.get() as f64, |order| order.size);
    let mut assessment = Assessment::new(Family::SharedVolumes, Bytes::new((size * volumes) as u64));
    let io = requirement.disk_io();
    assessment.limits.extend(super::client_disks(clients, disk, io));
    match order {
        Some(order) => {
            let many = format!("{volumes} (shared by all clients)");
            assessment.limits.extend(super::volume_limits(disk, &order, io, volumes, &many));
        }
        None => assessment.refusals.push(format!("{} is not sold", volume_text(&layout.volume, disk))),
    }
    assessment.refusals.extend(refusals(market, requirement, clients, disk));
    if assessment.capacity < requirement.capacity {
        let (has, needs) = (assessment.capacity, requirement.capacity);
        assessment.refusals.push(format!("{has:#} is less than the {needs:#} needed"));
    }
    assessment.costs.push(super::volume_cost(market, Part::Disks, disk, &layout.volume, volumes));
    assessment.costs.extend(super::operations(market, disk, requirement));
    assessment
        .notes
        .push("GFS2 runs under Pacemaker: fencing is needed, and every client is a cluster node".to_owned());
    Ok(assessment)
}

fn refusals(
    market: &Market<'_>,
    requirement: &Requirement,
    clients: ClientSide<'_>,
    disk: &catalog::Disk,
) -> Vec<String> {
    let mut why = Vec::new();
    let most = disk.max_attachments.unwrap_or(1).min(market.guards.max_shared_hosts);
    if clients.count > most {
        why.push(format!("{} hosts can attach one {} volume, not {}", most, disk.tier, clients.count));
    }
    if !carries(clients.vm, disk) {
        why.push(format!("{} does not carry {}", clients.vm.sku, disk.tier));
    }
    if !survives(spec::Durability::Zone, requirement.durability) {
        why.push("network disks are in one zone; the data must survive the loss of a zone".to_owned());
    }
    why
}

/// The cheapest shared volumes for these clients, or `None` if none will do.
pub fn cheapest(
    market: &Market<'_>,
    requirement: &Requirement,
    clients: ClientSide<'_>,
) -> Option<(Money, Layout)> {
    let factor = market.factor(Family::SharedVolumes);
    let io = requirement.disk_io();
    let needed = needed(requirement, factor);
    let capacity = requirement.capacity.get() as f64;
    let mut best: Option<(Money, Layout)> = None;
    for disk in market.disks().filter(|disk| disk.max_attachments.is_some() && market.guards.permits(disk)) {
        if !refusals(market, requirement, clients, disk).is_empty() {
            continue;
        }
        let Some(vm) = vm_disks(clients.vm, disk, io).filter(|vm| vm.read.is_finite()) else { continue };
        if vm.sum * f64::from(clients.count) < needed * (1.0 - 1e-9) {
            continue;
        }
        let prices = PriceList::of(market, disk);
        for volumes in 1..=MOST_VOLUMES.min(clients.vm.max_disks.unwrap_or(1)) {
            let k = f64::from(volumes);
            let Some(order) =
                volume::order(disk, &Need { capacity: capacity / k, bandwidth: needed / k, io })
            else {
                continue;
            };
            let Some(each) = prices.of_order(&order) else { continue };
            if best.as_ref().is_none_or(|(least, _)| each * k < *least) {
                let volume = volume::as_volume(disk, &order);
                best = Some((each * k, Layout::SharedVolumes(SharedVolumes { volumes, volume })));
            }
        }
    }
    best
}
