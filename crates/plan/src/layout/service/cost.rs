//! What an order of a service costs per month.

use catalog::ServiceTier;

use super::order::Order;
use super::words::{rate, size, times};
use crate::cost::{CostLine, Part};
use crate::market::Market;
use crate::volume::quantity;

/// A line for the capacity, and one for the throughput where it is billed apart.
pub fn lines(market: &Market<'_>, tier: &ServiceTier, order: &Order) -> Vec<CostLine> {
    let many = times(order.count);
    let capacity = format!("{many}{} of {}", size(order.capacity), tier.tier);
    let mut lines = vec![line(market, tier, "capacity", capacity, order.total().get() as f64)];
    if let Some(throughput) = order.throughput {
        let what = format!("{many}{} of {}", rate(throughput), tier.tier);
        lines.push(line(market, tier, "throughput", what, throughput.get() * f64::from(order.count)));
    }
    lines
}

/// `amount` is bytes, or bytes per second.
fn line(market: &Market<'_>, tier: &ServiceTier, item: &str, what: String, amount: f64) -> CostLine {
    let price = market.price(&tier.priced(item));
    CostLine {
        part: Part::Service,
        what,
        per_month: price.map(|price| price.of(quantity(price, amount))),
        doubt: price.and_then(|price| price.doubt.as_deref().map(str::to_owned)),
        source: price.map(|price| price.source.clone()),
    }
}
