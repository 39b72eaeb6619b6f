//! The clients' own NVMe, striped, for each client alone. It is gone when a client stops: for what can be computed again.

use fault::Result;
use units::Bytes;

use super::{Assessment, ClientSide, striped};
use crate::demand::Requirement;
use crate::design::{Family, Layout, LocalNvme};
use crate::limit::{Capability, Limit, Place, UnknownLimit};
use crate::market::{Market, survives};

/// What the clients' NVMe offers. Providers name its read rates at most; writes are unknown.
pub fn assess(
    market: &Market<'_>,
    layout: &LocalNvme,
    requirement: &Requirement,
    clients: ClientSide<'_>,
) -> Result<Assessment> {
    let count = f64::from(clients.count);
    let devices = f64::from(layout.devices_per_client);
    let Some(nvme) = clients.vm.nvme else {
        let mut none = Assessment::new(Family::LocalNvme, Bytes::new(0));
        none.refusals.push(format!("{} has no local NVMe", clients.vm.sku));
        return Ok(none);
    };
    let capacity = Bytes::new(
        nvme.size
            .get()
            .saturating_mul(u64::from(layout.devices_per_client))
            .saturating_mul(u64::from(clients.count)),
    );
    let mut assessment = Assessment::new(Family::LocalNvme, capacity);
    let share = devices / f64::from(nvme.count.max(1));
    match nvme.read.at(requirement.disk_io(), None) {
        Some(read) => assessment.limits.push(Limit {
            place: Place::LocalNvme,
            stated: Capability::each(read.get() * share * count, f64::INFINITY),
            cause: format!("{count} x {devices} NVMe of {}, {} read per client", nvme.size, read * share),
            source: Some(clients.vm.source.clone()),
        }),
        None => assessment.unknown.push(UnknownLimit {
            place: Place::LocalNvme,
            what: format!("the read rate of {}'s NVMe is not in the catalog", clients.vm.sku),
        }),
    }
    assessment.unknown.push(UnknownLimit {
        place: Place::LocalNvme,
        what: format!(
            "the write rate of {}'s NVMe is not in the catalog; measure it with `forebay iotest`",
            clients.vm.sku
        ),
    });
    let why = &mut assessment.refusals;
    why.extend(striped::private(requirement, clients));
    if layout.devices_per_client > nvme.count {
        why.push(format!("{} has {} NVMe devices", clients.vm.sku, nvme.count));
    }
    if !survives(spec::Durability::Scratch, requirement.durability) {
        why.push(
            "local NVMe loses everything when a client stops; only `durability = \"scratch\"` allows it"
                .to_owned(),
        );
    }
    if market.constraints.encryption.customer_keys {
        why.push("local NVMe is not encrypted with keys of yours".to_owned());
    }
    if assessment.capacity < requirement.capacity {
        let (has, needs) = (assessment.capacity, requirement.capacity);
        assessment.refusals.push(format!("{has:#} is less than the {needs:#} needed"));
    }
    assessment.notes.push("what is on it is lost when a client stops or moves".to_owned());
    Ok(assessment)
}

/// All NVMe of these clients, if they have any that is large and fast enough as far as is known. It costs nothing extra.
pub fn cheapest(market: &Market<'_>, requirement: &Requirement, clients: ClientSide<'_>) -> Option<Layout> {
    let nvme = clients.vm.nvme?;
    let layout = LocalNvme { devices_per_client: nvme.count };
    let assessment = assess(market, &layout, requirement, clients).ok()?;
    let factor = market.factor(Family::LocalNvme);
    let fast =
        assessment.limits.iter().all(|limit| limit.stated.read * factor.read.value >= requirement.read.get());
    (assessment.refusals.is_empty() && fast).then_some(Layout::LocalNvme(layout))
}
