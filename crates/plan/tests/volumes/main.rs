//! Orders of volumes: they do what is needed, can be ordered as they are, and nothing smaller would do.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::sync::LazyLock;

use catalog::{Catalog, Disk, Performance};
use plan::design::Volume;
use plan::volume::{Need, Order, as_volume, most, order, ordered};
use proptest::prelude::*;
use units::{Bandwidth, Bytes};

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().unwrap());

const GIB: f64 = (1u64 << 30) as f64;

/// One of every way in which rates follow from what is ordered, and the fixed tiers.
const TIERS: [&str; 13] = [
    "gp2",
    "gp3",
    "io1",
    "io2-bx",
    "st1",
    "sc1",
    "PremiumV2",
    "Ultra",
    "hyperdisk-extreme",
    "hyperdisk-balanced",
    "P30",
    "S70",
    "E10",
];

fn disk(tier: &str) -> &'static Disk {
    CATALOG.disk(tier).unwrap()
}

fn need(gib: f64, mb: f64, io: Bytes) -> Need {
    Need { capacity: gib * GIB, bandwidth: mb * 1e6, io }
}

fn does(disk: &Disk, order: &Order, need: &Need) -> bool {
    order.size >= need.capacity && order.at(disk, need.io) >= need.bandwidth * (1.0 - 1e-9)
}

/// A volume with parts of another's figures, in the units that are ordered.
fn part(volume: &Volume, (size, iops, rate): (f64, f64, f64)) -> Volume {
    Volume {
        tier: volume.tier.clone(),
        size: Bytes::gib((volume.size.as_gib() * size).floor() as u64),
        iops: volume.iops.map(|all| (f64::from(all) * iops).floor() as u32),
        bandwidth: volume.bandwidth.map(|all| {
            let unit = if all.as_mib().fract() == 0.0 {
                Bandwidth::mib_per_second
            } else {
                Bandwidth::mb_per_second
            };
            unit((all.get() / unit(1.0).get() * rate).floor())
        }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn orders_do_what_is_needed_and_nothing_smaller_does(
        tier in 0..TIERS.len(), gib in 0.0..20_000.0f64, mb in 0.0..5000.0f64, kib in 2..11u32,
        parts in prop::collection::vec((0.0..=1.0f64, 0.0..=1.0f64, 0.0..=1.0f64), 20),
    ) {
        let disk = disk(TIERS[tier]);
        let need = need(gib, mb, Bytes::kib(1 << kib));
        let Some(found) = order(disk, &need) else { return Ok(()) };
        prop_assert!(does(disk, &found, &need), "{:?} for {:?}", found, need);
        let volume = as_volume(disk, &found);
        let again = ordered(disk, &volume);
        prop_assert!(again.is_some_and(|again| does(disk, &again, &need)), "{:?} is {:?}", volume, again);
        let whole = (1.0, 1.0, 1.0);
        let a_little = [(1.0 - 1e-9, 1.0, 1.0), (1.0, 1.0 - 1e-9, 1.0), (1.0, 1.0, 1.0 - 1e-9)];
        for smaller in parts.iter().chain(&a_little).map(|parts| part(&volume, *parts)) {
            // The lowest that is sold, and what comes with it, is no saving.
            let least = smaller.size < disk.size_min || smaller == part(&volume, whole) || saves_nothing(disk, &smaller, &volume);
            let Some(order) = ordered(disk, &smaller).filter(|_| !least) else { continue };
            prop_assert!(!does(disk, &order, &need), "{:?} is enough, {:?} was found", smaller, volume);
        }
    }

    #[test]
    fn what_a_tier_can_do_at_most_is_sold(tier in 0..TIERS.len(), kib in 2..11u32, share in 0.0..1.0f64) {
        let disk = disk(TIERS[tier]);
        let io = Bytes::kib(1 << kib);
        let bandwidth = most(disk, io) * share * (1.0 - 1e-6);
        let within = Need { capacity: 0.0, bandwidth, io };
        prop_assert!(order(disk, &within).is_some(), "{:?}", within);
        let more = Need { capacity: 0.0, bandwidth: most(disk, io) * 1.001, io };
        prop_assert!(order(disk, &more).is_none(), "{:?}", more);
    }
}

/// Fixed tiers are sold whole, and rates below what is included cost the same.
fn saves_nothing(disk: &Disk, smaller: &Volume, volume: &Volume) -> bool {
    let Performance::Provisioned(terms) = &disk.performance else {
        return matches!(disk.performance, Performance::Fixed(_));
    };
    let free = terms.min.bandwidth.or(terms.included.bandwidth).map_or(0.0, Bandwidth::get);
    let rate = |volume: &Volume| volume.bandwidth.map_or(0.0, Bandwidth::get).max(free);
    smaller.size == volume.size && smaller.iops == volume.iops && rate(smaller) >= rate(volume)
}

#[test]
fn rates_that_do_not_go_together_are_not_sold() {
    let gp3 = |gib, iops, mib| {
        let bandwidth = Some(Bandwidth::mib_per_second(mib));
        ordered(
            disk("gp3"),
            &Volume { tier: "gp3".to_owned(), size: Bytes::gib(gib), iops: Some(iops), bandwidth },
        )
    };
    assert!(gp3(100, 3000, 750.0).is_some() && gp3(100, 3000, 751.0).is_none(), "0.25 MiB/s per IOPS");
    assert!(gp3(10, 5000, 125.0).is_some() && gp3(10, 5001, 125.0).is_none(), "500 IOPS per GiB");
    assert!(gp3(1, 3000, 125.0).is_some(), "what is included needs no size");
    assert!(gp3(100, 2999, 125.0).is_none() && gp3(1000, 80_001, 125.0).is_none());
}

#[test]
fn whole_megabytes_are_carried_by_the_iops_beside_them() {
    let found = order(disk("PremiumV2"), &need(100.0, 750.3, Bytes::mib(1))).unwrap();
    assert_eq!((found.bandwidth, found.iops), (751e6, 3004.0), "250 kB per IOPS");
}
