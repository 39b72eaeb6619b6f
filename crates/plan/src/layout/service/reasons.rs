//! Why a tier has no order that meets a requirement.

use catalog::ServiceTier;
use units::Bandwidth;

use super::bounds::{self, Bound};
use super::order::{self, Need, Order};
use super::words::{size, times};
use super::{family, refusals};
use crate::calibration::Factor;
use crate::demand::Requirement;
use crate::limit::Operation;
use crate::market::Market;

/// For every tier of this cloud that has no candidate: its name, and what makes it impossible with the nearest possible
/// figure.
pub fn reasons(market: &Market<'_>, requirement: &Requirement) -> Vec<(String, String)> {
    let here = market.catalog.services.iter().filter(|tier| tier.cloud == market.cloud());
    here.filter_map(|tier| Some((tier.tier.to_string(), reason(market, tier, requirement)?))).collect()
}

fn reason(market: &Market<'_>, tier: &ServiceTier, requirement: &Requirement) -> Option<String> {
    let refused = refusals::of_tier(market, tier, requirement);
    if !refused.is_empty() {
        return Some(refused.join("; "));
    }
    if let Some(unknown) = facts_missing(tier) {
        return Some(unknown);
    }
    let factor = market.factor(family(tier));
    let bounds = bounds::of(tier, requirement);
    let need = Need::of(requirement, &factor);
    let most = market.guards.max_name_spaces;
    if order::cheapest(tier, &bounds, &need, most).is_some() {
        return None;
    }
    let nearest = order::utmost(tier, &bounds, &need, most)
        .map(|order| nearest(&order, tier, &bounds, requirement, &factor));
    Some(nearest.unwrap_or_else(|| format!("no order of up to {most} name spaces meets the requirement")))
}

/// What has to be known of a tier before anything can be ordered for a rate.
pub fn facts_missing(tier: &ServiceTier) -> Option<String> {
    let mut missing = bounds::rates_unknown(tier);
    if tier.sizes.is_empty() {
        missing.push("its sizes");
    }
    (!missing.is_empty()).then(|| format!("not in the catalog: {}", missing.join(", ")))
}

/// What the largest order falls short of, the worst first.
fn nearest(
    order: &Order,
    tier: &ServiceTier,
    bounds: &[Bound],
    requirement: &Requirement,
    factor: &Factor,
) -> String {
    let most = format!("{}{}", times(order.count), size(order.capacity));
    if order.total() < requirement.capacity {
        return format!("at most {most}, {} is needed", size(requirement.capacity));
    }
    let short = Operation::ALL.into_iter().filter_map(|operation| {
        let (needed, share) = need_of(operation, requirement, factor);
        let (bound, stated) = tightest(bounds, order, operation, requirement)?;
        (stated * share < needed).then_some((operation, bound, stated * share, needed, share))
    });
    let worst = short.min_by(|a, b| (a.2 / a.3).total_cmp(&(b.2 / b.3)));
    let Some((operation, bound, reached, needed, share)) = worst else {
        return format!("at most {most}, which does not meet the requirement");
    };
    let (reached, needed) = (Bandwidth::bytes_per_second(reached), Bandwidth::bytes_per_second(needed));
    let limit = bound.limit(tier, order, requirement);
    let exact = (share - 1.0).abs() < 1e-9;
    let calibrated = if exact { String::new() } else { format!(" x {share:.2} calibration") };
    format!(
        "{} reaches at most {reached} of the {needed} needed: {} ({}){calibrated}",
        operation.name(),
        limit.place,
        limit.cause
    )
}

/// What is needed of an operation, and the share of a limit that it reaches.
fn need_of(operation: Operation, requirement: &Requirement, factor: &Factor) -> (f64, f64) {
    match operation {
        Operation::Read => (requirement.read.get(), factor.read.value),
        Operation::Write => (requirement.write.get(), factor.write.value),
        Operation::Mixed => (requirement.mixed().get(), factor.mixed(requirement.read_share)),
    }
}

/// The smallest bound of an operation.
fn tightest<'b>(
    bounds: &'b [Bound],
    order: &Order,
    operation: Operation,
    requirement: &Requirement,
) -> Option<(&'b Bound, f64)> {
    let rates = bounds.iter().map(|bound| (bound, bound.stated(order).of(operation, requirement.read_share)));
    rates.min_by(|a, b| a.1.total_cmp(&b.1))
}
