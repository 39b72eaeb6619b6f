//! File services the provider runs: managed Lustre and NFS.
//!
//! A service is ordered by capacity, and some by throughput too; what it delivers follows from the catalog's figures per
//! TiB, per volume and as ordered (F17, F18, F19, F22, F28). Nothing is known here of any particular service.

mod bounds;
mod clients;
mod cost;
mod mixed;
mod order;
mod reasons;
mod refusals;
mod sizes;
mod words;

use catalog::{ClientLimit, Protocol, ServiceTier};
use fault::{Fault, Kind, Result};
use spec::Role;
use units::{Bandwidth, Bytes};

pub use reasons::reasons;

use self::order::{Need, Order};
use self::words::{rate, size_in_tib, times};
use super::{Assessment, Burst};
use crate::demand::Requirement;
use crate::design::{Family, Layout, Service};
use crate::market::Market;

/// What a service offers.
pub fn assess(market: &Market<'_>, service: &Service, requirement: &Requirement) -> Result<Assessment> {
    let tier = tier(market, service)?;
    let client = clients::profile(tier, service.mount.as_deref())?;
    let order = Order::of(service, tier);
    let mut assessment = Assessment::new(family(tier), order.total());
    let bounds = bounds::of(tier, requirement);
    assessment.limits = bounds.iter().map(|bound| bound.limit(tier, &order, requirement)).collect();
    assessment.unknown = bounds::unknown(tier, requirement.read_share);
    assessment.unknown.extend(bounds::unknown_iops(tier, &order));
    assessment.per_client = client.and_then(clients::per_client);
    assessment.per_stream = client.and_then(|client| clients::per_stream(tier, client));
    assessment.costs = cost::lines(market, tier, &order);
    assessment.burst = burst(tier, &order);
    assessment.cache = tier.cache_per_tib.map(|per_tib| per_tib_of(per_tib, order.total()));
    assessment.refusals = refusals::of_tier(market, tier, requirement);
    assessment.refusals.extend(refusals::of_order(market, tier, &order, service, requirement));
    assessment.notes = notes(tier, service, &order, client, requirement);
    Ok(assessment)
}

/// The cheapest order of each tier that meets `requirement` by itself, clients aside, with the mount profile that lets a
/// client do most. Tiers that may not be used, or whose rates or sizes are not known, have none; see [`reasons`].
pub fn candidates(market: &Market<'_>, requirement: &Requirement) -> Vec<Layout> {
    market.services().filter_map(|tier| candidate(market, tier, requirement)).map(Layout::Service).collect()
}

fn candidate(market: &Market<'_>, tier: &ServiceTier, requirement: &Requirement) -> Option<Service> {
    let refused = !refusals::of_tier(market, tier, requirement).is_empty();
    if refused || reasons::facts_missing(tier).is_some() {
        return None;
    }
    let need = Need::of(requirement, &market.factor(family(tier)));
    let bounds = bounds::of(tier, requirement);
    let order = order::cheapest(tier, &bounds, &need, market.guards.max_name_spaces)?;
    Some(Service {
        service: tier.service.to_string(),
        tier: tier.tier.to_string(),
        capacity: order.capacity,
        throughput: order.throughput,
        iops: order::extra_iops(tier, &order).map(|_| order.iops.unwrap_or_default() as u32),
        count: order.count,
        mount: clients::best(tier).map(|limit| limit.profile.to_string()),
    })
}

/// The kind of design a tier makes.
pub(crate) fn family(tier: &ServiceTier) -> Family {
    match tier.protocol {
        Protocol::Lustre => Family::ManagedLustre,
        Protocol::Nfs | Protocol::Other => Family::NfsService,
    }
}

fn tier<'a>(market: &Market<'a>, service: &Service) -> Result<&'a ServiceTier> {
    let tier = market.service(&service.tier)?;
    if *tier.service == *service.service {
        return Ok(tier);
    }
    let message = format!("the tier `{}` is not of the service `{}`", service.tier, service.service);
    Err(Fault::new(Kind::Spec, message).hint(format!("it is of `{}`", tier.service)))
}

fn per_tib_of(per_tib: Bytes, capacity: Bytes) -> Bytes {
    let tib = capacity.get() as f64 / Bytes::tib(1).get() as f64;
    Bytes::new((per_tib.get() as f64 * tib) as u64)
}

/// The network's credits carry what is in the servers' memory; the disks keep their pace.
fn burst(tier: &ServiceTier, order: &Order) -> Option<Burst> {
    let per_tib = tier.burst_per_tib?;
    let tib = order.total().get() as f64 / Bytes::tib(1).get() as f64;
    let size = format!("{}{}", times(order.count), size_in_tib(order.capacity));
    let disks = tier.disk_read_per_tib.map_or(String::new(), |disks| {
        let burst =
            tier.disk_burst_per_tib.map_or(String::new(), |burst| format!(", {} for a while", rate(burst)));
        format!(", for data in the servers' memory; their disks sustain {} per TiB{burst}", rate(disks))
    });
    Some(Burst {
        read: Some(Bandwidth::bytes_per_second(per_tib.get() * tib)),
        write: tier
            .disk_burst_per_tib
            .map(|disks| Bandwidth::bytes_per_second(disks.get().min(per_tib.get()) * tib)),
        lasts: format!("while network credits last{disks} ({size} x {} per TiB)", rate(per_tib)),
    })
}

fn notes(
    tier: &ServiceTier,
    service: &Service,
    order: &Order,
    client: Option<&ClientLimit>,
    requirement: &Requirement,
) -> Vec<String> {
    let mut notes = Vec::new();
    if order.count > 1 {
        notes.push(format!("{} name spaces: the files have to be split over them", order.count));
    }
    notes.extend(mixed::note(tier, requirement.read_share));
    if let Some(least) = order.throughput.filter(|_| service.throughput.is_none()) {
        notes.push(format!("no throughput is named: the least, {}, is taken", rate(least)));
    }
    notes.extend(client.and_then(|client| clients::note(tier, client)));
    if tier.protocol == Protocol::Nfs && requirement.role == Role::Work {
        notes.push("SAS advises against its temporary files (SASWORK) on NFS".to_owned());
    }
    if !tier.notes.is_empty() {
        notes.push(tier.notes.to_string());
    }
    notes
}
