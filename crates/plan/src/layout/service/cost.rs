//! What an order of a service costs per month.

use catalog::ServiceTier;

use super::order::{Order, extra_iops};
use super::words::{number, rate, size, times};
use crate::cost::{CostLine, Part};
use crate::market::Market;
use crate::volume::quantity;

/// A line for the capacity, and one each for throughput and I/Os per second beyond what is included.
pub fn lines(market: &Market<'_>, tier: &ServiceTier, order: &Order) -> Vec<CostLine> {
    let many = times(order.count);
    let capacity = format!("{many}{} of {}", size(order.capacity), tier.tier);
    let mut lines = vec![line(market, tier, "capacity", capacity, order.total().get() as f64)];
    let count = f64::from(order.count);
    let included = tier.throughput.as_ref().map_or(0.0, |sold| sold.included.get());
    if let Some(throughput) = order.throughput.filter(|rate| rate.get() > included) {
        let what = format!("{many}{} of {}", rate(throughput), tier.tier);
        lines.push(line(market, tier, "throughput", what, (throughput.get() - included) * count));
    }
    if let Some(extra) = extra_iops(tier, order) {
        let what = format!("{many}{} IOPS of {} beyond those included", number(extra), tier.tier);
        lines.push(line(market, tier, "iops", what, extra * count));
    }
    lines
}

/// `amount` is bytes, bytes per second or I/Os per second.
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
