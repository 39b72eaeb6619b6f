//! How limits come about, on tiers made for it.

use catalog::{MixedLimit, SizeRange, ThroughputOrder};
use plan::Place;
use spec::{Access, Cloud, Role};
use units::{Bandwidth, Bytes, Iops, Ratio};

use crate::ground::{Ground, bare, chain, need};

fn whole_tibs() -> Vec<SizeRange> {
    vec![SizeRange { min: Bytes::tib(1), step: Bytes::tib(1), max: Some(Bytes::tib(100)) }]
}

#[test]
fn iops_bound_small_random_io_and_not_merged_neighbours() {
    let mut tier = bare(whole_tibs());
    tier.read_per_tib = Some(Bandwidth::mb_per_second(100.0));
    tier.write_per_tib = tier.read_per_tib;
    tier.read_iops_per_tib = Some(Iops::new(1000.0));
    tier.write_iops_per_tib = Some(Iops::new(500.0));
    let ground = Ground::of(tier);
    let order = ground.order("FSx-OpenZFS-SSD", Bytes::tib(10));
    let mut requirement = need(10.0, 1.0, 1.0);
    requirement.io_size = Bytes::kib(64);
    let sequential = ground.assess(&order, &requirement);
    assert_eq!(chain(&sequential).read, 1e9);
    requirement.access = Access::Random;
    let random = ground.assess(&order, &requirement);
    assert_eq!((chain(&random).read, chain(&random).write), (10_000.0 * 65_536.0, 5000.0 * 65_536.0));
    let limit = random.limits.iter().find(|limit| limit.place == Place::ServiceIops).unwrap();
    assert_eq!(
        limit.cause,
        "10 TiB of FSx-OpenZFS-SSD x 1000 read / 500 write IOPS per TiB x 64 KiB = 655.4 read / 327.7 write MB/s"
    );
}

#[test]
fn mixes_that_nobody_names_lie_on_a_line_and_say_so() {
    let ground = Ground::embedded(Cloud::Azure);
    let order = ground.order("ANF-Ultra", Bytes::tib(50));
    let mut requirement = need(10.0, 1.0, 1.0);
    let at = |requirement: &_| ground.assess(&order, requirement);
    assert!(!at(&requirement).notes.join(" ").contains("assumption"));
    requirement.read_share = Ratio::percent(40.0);
    let line = at(&requirement);
    assert!((chain(&line).sum - Bandwidth::mib_per_second(2250.0).get()).abs() < 1.0);
    let note = line.notes.iter().find(|note| note.contains("our own assumption")).unwrap();
    assert!(note.contains("100:0 = 4500 MiB/s, 80:20 = 3000 MiB/s, 0:100 = 1500 MiB/s"), "{note}");
}

#[test]
fn a_mix_outside_the_named_ones_is_unknown() {
    let mut tier = bare(whole_tibs());
    tier.read_per_tib = Some(Bandwidth::mb_per_second(100.0));
    tier.write_per_tib = tier.read_per_tib;
    tier.mixed_max =
        vec![MixedLimit { read_share: Ratio::percent(50.0), total: Bandwidth::mb_per_second(300.0) }];
    let ground = Ground::of(tier);
    let order = ground.order("FSx-OpenZFS-SSD", Bytes::tib(10));
    let unknown = ground.assess(&order, &need(1.0, 1.0, 1.0)).unknown;
    assert!(unknown.iter().any(|unknown| unknown.place == Place::ServiceMaximum), "{unknown:?}");
    let mut requirement = need(1.0, 1.0, 1.0);
    requirement.read_share = Ratio::percent(50.0);
    let named = ground.assess(&order, &requirement);
    assert_eq!(chain(&named).sum, 300e6);
}

#[test]
fn what_is_not_known_is_named_and_not_guessed() {
    let ground = Ground::embedded(Cloud::Gcp);
    let regional = ground.assess(&ground.order("Filestore-Regional", Bytes::tib(2)), &need(1.0, 1.0, 1.0));
    let whats: Vec<&str> = regional.unknown.iter().map(|unknown| &*unknown.what).collect();
    assert_eq!(
        whats,
        [
            "Filestore-Regional: its read throughput",
            "Filestore-Regional: its write throughput",
            "Filestore-Regional: what one client reaches"
        ]
    );
    assert!(regional.limits.is_empty());
    let aws = Ground::embedded(Cloud::Aws);
    let efs = aws.assess(&aws.order("EFS-Provisioned", Bytes::tib(2)), &need(1.0, 1.0, 1.0));
    assert!(efs.unknown.iter().any(|unknown| unknown.what.contains("most throughput")), "{:?}", efs.unknown);
    assert!(efs.notes.iter().any(|note| note.contains("the least, 1 MiB/s, is taken")), "{:?}", efs.notes);
}

#[test]
fn volumes_side_by_side_add_up_and_are_name_spaces() {
    let mut tier = bare(whole_tibs());
    tier.throughput = Some(ThroughputOrder {
        values: vec![Bandwidth::mb_per_second(64.0), Bandwidth::mb_per_second(128.0)],
        included: Bandwidth::ZERO,
        min: Bandwidth::mb_per_second(64.0),
        max: None,
        max_per_tib: None,
    });
    let ground = Ground::of(tier);
    let mut order = ground.order("FSx-OpenZFS-SSD", Bytes::tib(5));
    (order.count, order.throughput) = (3, Some(Bandwidth::mb_per_second(128.0)));
    let assessment = ground.assess(&order, &need(1.0, 1.0, 1.0));
    assert_eq!((assessment.capacity, chain(&assessment).read), (Bytes::tib(15), 384e6));
    assert_eq!(assessment.limits[0].cause, "3 x 128 MB/s ordered = 384 MB/s");
    assert!(assessment.notes[0].contains("3 name spaces"), "{:?}", assessment.notes);
    let month: f64 = assessment.costs.iter().map(|line| line.per_month.unwrap().get()).sum();
    assert!((month - (15.0 * 1024.0 * 0.09 + 384.0 * 0.26)).abs() < 0.01, "{month}");
}

#[test]
fn temporary_files_on_nfs_are_advised_against() {
    let ground = Ground::embedded(Cloud::Azure);
    let mut requirement = need(1.0, 1.0, 1.0);
    requirement.role = Role::Work;
    let of = |tier: &str| ground.assess(&ground.order(tier, Bytes::tib(8)), &requirement).notes.join("\n");
    assert!(of("ANF-Ultra").contains("SASWORK"));
    assert!(!of("AMLFS-Durable-Premium-500").contains("SASWORK"));
}
