//! The closed form against looking at every order there is.

use catalog::{IopsOrder, MixedLimit, ServiceTier, SizeRange, ThroughputOrder};
use plan::Requirement;
use plan::design::Service;
use proptest::prelude::*;
use units::{Bandwidth, Bytes, Iops, Ratio};

use crate::ground::{Ground, bare, meets, need, price};

/// Capacities sold by a tier of the strategy below: few.
fn capacities(tier: &ServiceTier) -> Vec<Bytes> {
    let of = |range: &SizeRange| {
        let steps = (range.max.unwrap().get() - range.min.get()) / range.step.get();
        let (min, step) = (range.min.get(), range.step.get());
        (0..=steps).map(move |at| Bytes::new(min + at * step))
    };
    tier.sizes.iter().flat_map(of).collect()
}

/// Throughputs sold.
fn throughputs(tier: &ServiceTier) -> Vec<Option<Bandwidth>> {
    let Some(order) = &tier.throughput else { return vec![None] };
    if !order.values.is_empty() {
        return order.values.iter().copied().map(Some).collect();
    }
    let mb = |rate: Bandwidth| rate.as_mb() as u32;
    (mb(order.min)..=mb(order.max.unwrap()))
        .map(|rate| Some(Bandwidth::mb_per_second(f64::from(rate))))
        .collect()
}

/// The fewest I/Os per second with which an order does, where they are ordered; every more does too.
fn least_iops(tier: &ServiceTier, does: impl Fn(Option<u32>) -> bool) -> Option<u32> {
    let most = tier.iops?.max.unwrap().get() as u32;
    let first = (0..=most).collect::<Vec<_>>().partition_point(|iops| !does(Some(*iops))) as u32;
    (first <= most).then_some(first)
}

/// The cheapest of all orders with the fewest volumes.
fn by_force(ground: &Ground, requirement: &Requirement) -> Option<(u32, f64)> {
    let tier = &ground.catalog.services[0];
    let factor = ground.market().factor(plan::Family::NfsService);
    (1..=ground.guards.max_name_spaces).find_map(|count| {
        let mut cheapest: Option<f64> = None;
        for capacity in capacities(tier) {
            for throughput in throughputs(tier) {
                let order = Service { count, throughput, ..ground.order(&tier.tier, capacity) };
                let meeting = |iops| {
                    let assessment = ground.assess(&Service { iops, ..order.clone() }, requirement);
                    let does = assessment.refusals.is_empty() && meets(&assessment, requirement, &factor);
                    does.then_some(assessment)
                };
                if let Some(assessment) =
                    meeting(None).or_else(|| meeting(Some(least_iops(tier, |iops| meeting(iops).is_some())?)))
                {
                    let cost = price(&assessment).unwrap().get();
                    cheapest = Some(cheapest.map_or(cost, |known| known.min(cost)));
                }
            }
        }
        Some((count, cheapest?))
    })
}

fn sizes() -> impl Strategy<Value = Vec<SizeRange>> {
    let range = |min: u64, step: u64, steps: u64| SizeRange {
        min: Bytes::gib(min),
        step: Bytes::gib(step),
        max: Some(Bytes::gib(min + step * steps)),
    };
    (1..3000u64, 1..2000u64, 0..6u64, 1..4000u64, 1..3000u64, 0..6u64).prop_map(
        move |(min, step, steps, gap, large, more)| {
            let low = range(min, step, steps);
            let high = range(low.max.unwrap().get() / Bytes::gib(1).get() + gap, large, more);
            vec![low, high]
        },
    )
}

fn mb(range: std::ops::Range<u32>) -> impl Strategy<Value = Bandwidth> {
    range.prop_map(|rate| Bandwidth::mb_per_second(f64::from(rate)))
}

fn ordered() -> impl Strategy<Value = ThroughputOrder> {
    let listed = prop::collection::btree_set(10..1000u32, 1..4).prop_map(|values| {
        let values: Vec<_> =
            values.into_iter().map(|rate| Bandwidth::mb_per_second(f64::from(rate))).collect();
        ThroughputOrder {
            included: Bandwidth::ZERO,
            min: values[0],
            max: values.last().copied(),
            values,
            max_per_tib: None,
        }
    });
    let any = (1..20u32, 0..30u32, prop::option::of(mb(5..50))).prop_map(|(min, more, max_per_tib)| {
        ThroughputOrder {
            values: Vec::new(),
            included: Bandwidth::mb_per_second(f64::from(min.min(5))),
            min: Bandwidth::mb_per_second(f64::from(min)),
            max: Some(Bandwidth::mb_per_second(f64::from(min + more))),
            max_per_tib,
        }
    });
    prop_oneof![listed, any]
}

fn tiers() -> impl Strategy<Value = ServiceTier> {
    let rates = prop_oneof![
        (mb(10..500), mb(10..500)).prop_map(|(read, write)| (Some(read), Some(write), None)),
        ordered().prop_map(|order| (None, None, Some(order))),
    ];
    let disks = prop::option::of((mb(10..500), mb(10..500)));
    let iops = prop::option::of((1..3000u32, 1..3000u32));
    let most = prop::option::of((mb(50..2000), mb(50..2000), prop::option::of(mb(50..2000))));
    let sold = prop::option::of((1..400u32, 100..2000u32));
    (sizes(), rates, disks, iops, most, sold).prop_map(
        |(sizes, (read, write, throughput), disks, iops, most, sold)| {
            let mut tier = bare(sizes);
            (tier.read_per_tib, tier.write_per_tib, tier.throughput) = (read, write, throughput);
            (tier.disk_read_per_tib, tier.disk_write_per_tib) = disks.unzip();
            let of = |rate: u32| Iops::new(f64::from(rate));
            tier.read_iops_per_tib = iops.map(|(read, _)| of(read));
            tier.write_iops_per_tib = iops.map(|(_, write)| of(write));
            tier.iops =
                sold.map(|(included, max)| IopsOrder { included_per_tib: of(included), max: Some(of(max)) });
            if let Some((read, write, together)) = most {
                (tier.read_max, tier.write_max) = (Some(read), Some(write));
                tier.mixed_max = together
                    .map(|total| MixedLimit { read_share: Ratio::percent(80.0), total })
                    .into_iter()
                    .collect();
            }
            tier
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn the_cheapest_order_is_the_cheapest_of_all(
        tier in tiers(), tib in 0.1..40.0f64, read in 0.0..900.0f64, write in 0.0..900.0f64, percent in 0.0..=100.0f64,
        (reads, writes) in (0.7..1.1f64, 0.7..1.1f64),
    ) {
        let ground = Ground::of(tier).calibrated(reads, writes);
        let mut requirement = need(tib, read, write);
        requirement.read_share = Ratio::percent(percent);
        let forced = by_force(&ground, &requirement);
        let found = ground.candidates(&requirement).pop().map(|order| {
            let cost = price(&ground.assess(&order, &requirement)).unwrap().get();
            (order.count, cost)
        });
        match (forced, found) {
            (None, None) => {}
            (Some((fewest, cheapest)), Some((count, cost))) => {
                prop_assert_eq!(fewest, count);
                prop_assert!((cheapest - cost).abs() <= 1e-9 * cheapest, "{} by force, {} found", cheapest, cost);
            }
            (forced, found) => prop_assert!(false, "{:?} by force, {:?} found", forced, found),
        }
        prop_assert_eq!(found.is_none(), plan::layout::service::reasons(&ground.market(), &requirement).len() == 1);
    }
}
