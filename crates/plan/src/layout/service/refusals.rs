//! Why a tier, or an order of it, may not be used.

use catalog::{Protocol, ServiceTier};
use spec::Durability;
use units::Bandwidth;

use super::order::{Order, included_iops};
use super::sizes;
use super::words::{number, rate, size, times};
use crate::demand::Requirement;
use crate::design::Service;
use crate::market::{Market, allows, survives};

/// What stands against a tier, however much of it is ordered.
pub fn of_tier(market: &Market<'_>, tier: &ServiceTier, requirement: &Requirement) -> Vec<String> {
    if tier.protocol == Protocol::Other {
        return vec![format!("clients of {} speak neither Lustre nor NFS", tier.service)];
    }
    let mut why = Vec::new();
    if !allows(&market.constraints.tiers, &tier.tier) {
        why.push(format!("the constraints do not allow the tier {}", tier.tier));
    }
    if let Some(caution) = tier.caution.as_deref().filter(|_| !market.guards.cautioned_tiers) {
        why.push(format!("the guards leave it out: {caution}"));
    }
    why.extend(durability(tier, requirement.durability));
    encryption(market, tier, &mut why);
    why
}

fn durability(tier: &ServiceTier, needed: Durability) -> Option<String> {
    let offered = match (tier.regional, tier.durable) {
        (true, _) => Durability::Region,
        (false, true) => Durability::Zone,
        (false, false) => Durability::Scratch,
    };
    let loss = match needed {
        _ if survives(offered, needed) => return None,
        Durability::Region => "of a zone",
        Durability::Zone | Durability::Scratch => "of a disk or a server",
    };
    Some(format!("{} does not survive the loss {loss}", tier.tier))
}

/// What is not known to be encrypted is not: nobody should find out later.
fn encryption(market: &Market<'_>, tier: &ServiceTier, why: &mut Vec<String>) {
    let asked = &market.constraints.encryption;
    let kinds = [
        (asked.at_rest, tier.encrypted_at_rest, "encrypt data at rest"),
        (asked.in_transit, tier.encrypted_in_transit, "encrypt data in transit"),
        (asked.customer_keys, tier.customer_keys, "take the customer's keys"),
    ];
    for (_, has, what) in kinds.into_iter().filter(|(asked, ..)| *asked) {
        match has {
            Some(true) => {}
            Some(false) => why.push(format!("{} does not {what}", tier.tier)),
            None => why.push(format!("{} is not known to {what}", tier.tier)),
        }
    }
}

/// What stands against one order of a tier.
pub fn of_order(
    market: &Market<'_>,
    tier: &ServiceTier,
    order: &Order,
    asked: &Service,
    requirement: &Requirement,
) -> Vec<String> {
    let mut why = Vec::new();
    let most = market.guards.max_name_spaces;
    if order.count == 0 {
        why.push(format!("none of {} is ordered", tier.tier));
    } else if order.count > most {
        why.push(format!("{} name spaces are more than the {most} allowed", order.count));
    }
    if !sizes::sold(&tier.sizes, order.capacity) {
        let around = sizes::around(&tier.sizes, order.capacity);
        why.push(format!("{} of {} is not sold: {around}", tier.tier, size(order.capacity)));
    }
    if order.total() < requirement.capacity {
        let all = format!("{}{}", times(order.count), size(order.capacity));
        why.push(format!("{all} is less than the {} needed", size(requirement.capacity)));
    }
    why.extend(throughput(tier, order, asked.throughput));
    why.extend(asked.iops.and_then(|asked| iops(tier, order, asked)));
    why
}

/// Whether the I/Os per second asked for are sold.
fn iops(tier: &ServiceTier, order: &Order, asked: u32) -> Option<String> {
    let text = format!("{asked} IOPS of {}", tier.tier);
    let Some((sold, included)) = tier.iops.zip(included_iops(tier, order.capacity)) else {
        return Some(format!("{text} cannot be ordered"));
    };
    if f64::from(asked) < included.floor() {
        return Some(format!("{text} are fewer than the {} that its capacity includes", number(included)));
    }
    let most = sold.max.filter(|max| f64::from(asked) > max.get())?;
    Some(format!("{text} are more than the most sold, {}", number(most.get())))
}

/// Whether the throughput asked for is sold.
fn throughput(tier: &ServiceTier, order: &Order, asked: Option<Bandwidth>) -> Option<String> {
    let asked = asked?;
    let text = format!("{} of {}", rate(asked), tier.tier);
    let Some(sold) = &tier.throughput else {
        return Some(format!("{text} cannot be ordered: its throughput follows its capacity"));
    };
    let near = |value: &Bandwidth| (value.get() - asked.get()).abs() <= 1e-6 * asked.get();
    if !sold.values.is_empty() && !sold.values.iter().any(near) {
        let values: Vec<String> = sold.values.iter().map(|value| rate(*value)).collect();
        return Some(format!("{text} is not sold, only {}", values.join(", ")));
    }
    let above = |most: f64| asked.get() > most * (1.0 + 1e-9);
    if asked.get() < sold.min.get() * (1.0 - 1e-9) {
        return Some(format!("{text} is less than the least sold, {}", rate(sold.min)));
    }
    if let Some(max) = sold.max.filter(|max| above(max.get())) {
        return Some(format!("{text} is more than the most sold, {}", rate(max)));
    }
    let tib = order.capacity.get() as f64 / (1u64 << 40) as f64;
    let most = sold.max_per_tib.filter(|per_tib| above(per_tib.get() * tib))?;
    Some(format!("{text} needs more capacity: at most {} per TiB can be ordered", rate(most)))
}
