//! What a capacity includes, what is ordered beyond it, and what needs special hardware.

use plan::{Place, Requirement};
use spec::{Access, Cloud};
use units::{Bandwidth, Bytes};

use crate::ground::{Ground, chain, need, price};

/// Random I/O of 8 KiB.
fn random(tib: f64, mb_per_second: f64) -> Requirement {
    let mut requirement = need(tib, mb_per_second, mb_per_second);
    (requirement.access, requirement.io_size) = (Access::Random, Bytes::kib(8));
    requirement
}

#[test]
fn iops_beyond_those_included_are_ordered_and_paid() {
    let ground = Ground::embedded(Cloud::Aws);
    let few = ground.candidate("FSx-OpenZFS-SSD", &random(10.0, 250.0)).unwrap();
    assert_eq!(few.iops, None, "30518 of the 30720 that 10 TiB include");
    let requirement = random(10.0, 400.0);
    let many = ground.candidate("FSx-OpenZFS-SSD", &requirement).unwrap();
    assert_eq!((many.capacity, many.iops), (Bytes::tib(10), Some(48_829)));
    let assessment = ground.assess(&many, &requirement);
    let limit = assessment.limits.iter().find(|limit| limit.place == Place::ServiceIops).unwrap();
    assert_eq!(limit.cause, "48829 IOPS x 8 KiB = 400 MB/s");
    let line = assessment.costs.iter().find(|line| line.what.contains("IOPS")).unwrap();
    assert_eq!(line.what, "18109 IOPS of FSx-OpenZFS-SSD beyond those included");
    assert!((line.per_month.unwrap().get() - 18_109.0 * 0.006).abs() < 1e-6);
    let unknown: Vec<&str> = assessment.unknown.iter().map(|unknown| &*unknown.what).collect();
    assert!(unknown.contains(&"FSx-OpenZFS-SSD: the most IOPS that can be ordered"), "{unknown:?}");
}

#[test]
fn iops_that_are_not_sold_are_refused() {
    let ground = Ground::embedded(Cloud::Aws);
    let refusals = |tier: &str, iops| {
        let mut order = ground.order(tier, Bytes::gib(12_000));
        order.iops = Some(iops);
        ground.assess(&order, &need(1.0, 1.0, 1.0)).refusals.join("\n")
    };
    assert_eq!(
        refusals("FSx-OpenZFS-SSD", 30_000),
        "30000 IOPS of FSx-OpenZFS-SSD are fewer than the 36000 that its capacity includes"
    );
    assert_eq!(refusals("FSx-OpenZFS-SSD", 36_000), "");
    let lustre = "30000 IOPS of PERSISTENT_2-SSD-125 cannot be ordered";
    assert_eq!(refusals("PERSISTENT_2-SSD-125", 30_000), lustre);
}

#[test]
fn throughput_that_is_included_is_not_paid() {
    let mut ground = Ground::embedded(Cloud::Aws);
    let flexible = Ground::embedded(Cloud::Azure).tier("ANF-Flexible").throughput.clone().unwrap();
    assert_eq!(flexible.included, Bandwidth::mib_per_second(128.0));
    let mut tier = ground.tier("FSx-OpenZFS-SSD").clone();
    let cost = |ground: &Ground, rate| {
        let mut order = ground.order("FSx-OpenZFS-SSD", Bytes::tib(1));
        (order.count, order.throughput) = (2, Some(Bandwidth::mb_per_second(rate)));
        price(&ground.assess(&order, &need(1.0, 1.0, 1.0))).unwrap().get()
    };
    let (least, more) = (cost(&ground, 64.0), cost(&ground, 128.0));
    tier.throughput.as_mut().unwrap().included = Bandwidth::mb_per_second(64.0);
    ground.catalog.to_mut().services = vec![tier];
    assert!((least - cost(&ground, 64.0) - 128.0 * 0.26).abs() < 1e-9);
    assert!((more - cost(&ground, 128.0) - 128.0 * 0.26).abs() < 1e-9);
}

#[test]
fn the_fastest_mount_that_needs_no_special_hardware() {
    let mut ground = Ground::embedded(Cloud::Aws);
    let mount = |ground: &Ground| {
        ground.candidate("PERSISTENT_2-SSD-1000", &need(1.0, 1.0, 1.0)).unwrap().mount.unwrap()
    };
    assert_eq!(mount(&ground), "TCP");
    let mut tier = ground.tier("PERSISTENT_2-SSD-1000").clone();
    tier.clients.reverse();
    let mut slow = tier.clients[2].clone();
    (slow.profile, slow.read) = ("one flow".into(), slow.flow);
    tier.clients.insert(0, slow);
    ground.catalog.to_mut().services = vec![tier];
    assert_eq!(mount(&ground), "TCP");
    let order = ground.candidate("PERSISTENT_2-SSD-1000", &need(1.0, 1.0, 1.0)).unwrap();
    let notes = ground.assess(&order, &need(1.0, 1.0, 1.0)).notes.join("\n");
    assert!(notes.contains("with EFA, which needs machines with EFA"), "{notes}");
}

#[test]
fn a_network_that_nobody_states_is_unknown() {
    let ground = Ground::embedded(Cloud::Aws);
    for tier in ["PERSISTENT_1-SSD-50", "PERSISTENT_1-SSD-200", "PERSISTENT_1-HDD-40"] {
        let assessment = ground.assess(&ground.order(tier, Bytes::gib(7200)), &need(1.0, 1.0, 1.0));
        assert!(assessment.unknown.iter().any(|unknown| unknown.place == Place::ServerNetwork), "{tier}");
        assert!(chain(&assessment).read.is_finite(), "{tier}: its disks are known");
    }
    let disks = ground.assess(&ground.order("PERSISTENT_1-HDD-12", Bytes::gib(6000)), &need(1.0, 1.0, 1.0));
    assert!(disks.unknown.is_empty() && disks.burst.is_none());
}
