//! Why storage of the clients' own will not do.

use catalog::Vm;
use spec::{Durability, Role};

use crate::clients;
use crate::demand::{Demand, Requirement};
use crate::design::Family;
use crate::market::{Market, survives};

/// The reasons why no client has storage of this family that meets a requirement, in words.
pub fn reasons(
    market: &Market<'_>,
    demand: &Demand,
    requirement: &Requirement,
    family: Family,
    skus: &[(&Vm, Option<f64>)],
) -> Vec<String> {
    let offered = if family == Family::LocalNvme { Durability::Scratch } else { Durability::Zone };
    if !survives(offered, requirement.durability) {
        let what = match family {
            Family::LocalNvme => "local NVMe loses everything when a client stops",
            _ => "network disks live in one zone",
        };
        return vec![format!("{what}; `durability = \"{}\"` rules it out", requirement.durability.as_str())];
    }
    let fewest =
        skus.iter().map(|(vm, _)| clients::usable_pcores(vm, demand.memory_per_pcore)).max().unwrap_or(0);
    let fewest = demand.clients.unwrap_or_else(|| demand.pcores.div_ceil(fewest.max(1)));
    if family != Family::SharedVolumes
        && requirement.role != Role::Work
        && fewest.max(market.guards.min_clients) > 1
    {
        let why =
            "each client has it for itself, and only temporary files (`role = \"work\"`) need not be shared";
        return vec![why.to_owned()];
    }
    match family {
        Family::LocalNvme => nvme(requirement, demand, skus),
        Family::SharedVolumes => shared(market, requirement, fewest),
        _ => striped_volumes(market, requirement),
    }
}

fn nvme(requirement: &Requirement, demand: &Demand, skus: &[(&Vm, Option<f64>)]) -> Vec<String> {
    let with = || skus.iter().filter(|(vm, _)| vm.nvme.is_some());
    if with().next().is_none() {
        return vec!["no SKU that may be a client here has local NVMe".to_owned()];
    }
    // As many clients as the pCores need; more of them have more NVMe, and cost more.
    let capacity = |vm: &Vm| {
        let count = demand.pcores.div_ceil(clients::usable_pcores(vm, demand.memory_per_pcore).max(1));
        vm.nvme.map_or(0, |nvme| nvme.size.get() * u64::from(nvme.count) * u64::from(count))
    };
    let largest = with().map(|(vm, _)| capacity(vm)).max().unwrap_or(0);
    let has = units::Bytes::new(largest);
    if has < requirement.capacity {
        return vec![format!(
            "the clients' NVMe holds at most {has:#}, less than the {:#} needed",
            requirement.capacity
        )];
    }
    vec!["no client's NVMe is known to be fast enough".to_owned()]
}

fn shared(market: &Market<'_>, requirement: &Requirement, fewest: u32) -> Vec<String> {
    let shareable =
        || market.disks().filter(|disk| disk.max_attachments.is_some() && market.guards.permits(disk));
    if shareable().next().is_none() {
        return vec!["no disk tier that may be used here can be attached to several machines".to_owned()];
    }
    let most = shareable().filter_map(|disk| disk.max_attachments).max().unwrap_or(1);
    let most = most.min(market.guards.max_shared_hosts);
    if fewest > most {
        return vec![format!("{fewest} clients are needed and {most} can attach one volume")];
    }
    vec![no_volumes(requirement)]
}

fn striped_volumes(market: &Market<'_>, requirement: &Requirement) -> Vec<String> {
    if !market.disks().any(|disk| market.guards.permits(disk)) {
        return vec!["no disk tier is allowed here".to_owned()];
    }
    vec![no_volumes(requirement)]
}

fn no_volumes(requirement: &Requirement) -> String {
    format!(
        "no client may do {} with volumes of {:#} together whose limits and prices are known here",
        requirement.mixed(),
        requirement.capacity
    )
}
