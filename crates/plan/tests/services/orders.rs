//! Sizes and rates of the cheapest orders.

use proptest::prelude::*;
use spec::Cloud;
use units::{Bandwidth, Bytes, Ratio};

use crate::ground::{Ground, meets, need, price, tib_of};

#[test]
fn throughput_can_ask_for_more_capacity_than_the_data() {
    let ground = Ground::embedded(Cloud::Azure);
    let candidate = ground.candidate("AMLFS-Durable-Premium-250", &need(120.0, 30_000.0, 30_000.0)).unwrap();
    assert_eq!(candidate.capacity, Bytes::tib(120));
    let candidate = ground.candidate("AMLFS-Durable-Premium-250", &need(10.0, 9216.0, 9216.0)).unwrap();
    assert_eq!(candidate.capacity, Bytes::tib(40), "9216 / 250 is 36.9 TiB, in steps of 8");
    let ground = ground.calibrated(0.9, 0.9);
    let candidate = ground.candidate("AMLFS-Durable-Premium-250", &need(10.0, 9216.0, 9216.0)).unwrap();
    assert_eq!(candidate.capacity, Bytes::tib(48), "a tenth is lost: 41 TiB");
}

#[test]
fn reads_and_writes_size_by_their_own_rates() {
    let ground = Ground::embedded(Cloud::Gcp);
    let mib = Bandwidth::mib_per_second;
    let mut requirement = need(1.0, 0.0, 0.0);
    requirement.read = mib(520.0);
    requirement.write = mib(88.0);
    assert_eq!(ground.candidate("Filestore-Zonal", &requirement).unwrap().capacity, tib_of(2.0));
    requirement.write = mib(264.0);
    assert_eq!(ground.candidate("Filestore-Zonal", &requirement).unwrap().capacity, tib_of(3.0));
    // Half of 520 MiB/s written is 260: as much as 2.96 TiB take, in steps of 256 GiB.
    requirement.write = mib(88.0);
    requirement.read_share = Ratio::percent(50.0);
    assert_eq!(ground.candidate("Filestore-Zonal", &requirement).unwrap().capacity, tib_of(3.0));
}

#[test]
fn volumes_multiply_only_where_one_is_not_enough() {
    let ground = Ground::embedded(Cloud::Azure);
    let of = |write| ground.candidate("ANF-Ultra", &need(20.0, 100.0, write)).unwrap();
    assert_eq!((of(1500.0).count, of(1600.0).count, of(3200.0).count), (1, 2, 3));
    assert_eq!(of(1500.0).capacity, Bytes::tib(20));
    assert_eq!(of(1600.0).capacity, Bytes::tib(10));
}

#[test]
fn throughput_is_ordered_beside_the_capacity() {
    let aws = Ground::embedded(Cloud::Aws);
    let candidate = aws.candidate("FSx-OpenZFS-SSD", &need(10.0, 1500.0, 1500.0)).unwrap();
    assert_eq!(
        (candidate.capacity, candidate.throughput),
        (Bytes::tib(10), Some(Bandwidth::mb_per_second(2048.0)))
    );
    let azure = Ground::embedded(Cloud::Azure);
    let mut requirement = need(1.0, 0.0, 0.0);
    requirement.read = Bandwidth::mib_per_second(1000.5);
    let candidate = azure.candidate("ANF-Flexible", &requirement).unwrap();
    assert_eq!(candidate.throughput, Some(Bandwidth::mib_per_second(1001.0)));
    assert_eq!(candidate.capacity, Bytes::tib(2), "640 MiB/s per TiB");
    let idle = azure.candidate("ANF-Flexible", &need(1.0, 1.0, 1.0)).unwrap();
    assert_eq!(idle.throughput, Some(Bandwidth::mib_per_second(128.0)));
}

#[test]
fn every_tier_has_a_candidate_or_a_reason() {
    for cloud in [Cloud::Azure, Cloud::Aws, Cloud::Gcp] {
        let ground = Ground::embedded(cloud);
        for requirement in [need(1.0, 10.0, 10.0), need(100.0, 9216.0, 9216.0), need(5000.0, 1e6, 1e6)] {
            let mut names: Vec<String> =
                ground.candidates(&requirement).into_iter().map(|service| service.tier).collect();
            let reasons = plan::layout::service::reasons(&ground.market(), &requirement);
            names.extend(reasons.into_iter().map(|(tier, _)| tier));
            names.sort();
            let here = ground.catalog.services.iter().filter(|tier| tier.cloud == cloud);
            let mut all: Vec<String> = here.map(|tier| tier.tier.to_string()).collect();
            all.sort();
            assert_eq!(names, all);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn candidates_meet_what_they_are_for(
        tib in 0.1..3000.0f64, read in 0.0..60_000.0f64, write in 0.0..60_000.0f64, percent in 0.0..=100.0f64,
        (reads, writes) in (0.7..1.2f64, 0.7..1.2f64),
    ) {
        let mut requirement = need(tib, read, write);
        requirement.read_share = Ratio::percent(percent);
        for cloud in [Cloud::Azure, Cloud::Aws, Cloud::Gcp] {
            let ground = Ground::embedded(cloud).calibrated(reads, writes);
            for candidate in ground.candidates(&requirement) {
                let assessment = ground.assess(&candidate, &requirement);
                let factor = ground.market().factor(assessment.family);
                prop_assert_eq!(&assessment.refusals, &Vec::<String>::new());
                prop_assert!(meets(&assessment, &requirement, &factor), "{:?}", candidate);
                prop_assert!(assessment.capacity >= requirement.capacity);
                // The design file keeps what was ordered.
                let written: plan::design::Service = toml_round_trip(&candidate);
                prop_assert_eq!(ground.assess(&written, &requirement).refusals, Vec::<String>::new());
            }
        }
    }

    #[test]
    fn more_capacity_never_lowers_a_limit_or_the_cost(
        which in any::<prop::sample::Index>(), a in 1u64..2_000_000, b in 1u64..2_000_000, percent in 0.0..=100.0f64,
    ) {
        let (small, large) = (Bytes::gib(a.min(b)), Bytes::gib(a.max(b)));
        let mut requirement = need(1.0, 1.0, 1.0);
        requirement.read_share = Ratio::percent(percent);
        for cloud in [Cloud::Azure, Cloud::Aws, Cloud::Gcp] {
            let ground = Ground::embedded(cloud);
            let tiers: Vec<_> = ground.catalog.services.iter().filter(|tier| tier.cloud == cloud).collect();
            let tier = &*which.get(&tiers).tier;
            let of = |size| ground.assess(&ground.order(tier, size), &requirement);
            let (less, more) = (of(small), of(large));
            prop_assert_eq!(less.limits.len(), more.limits.len());
            for (less, more) in less.limits.iter().zip(&more.limits) {
                let (less, more) = (less.stated, more.stated);
                prop_assert!(less.read <= more.read && less.write <= more.write && less.sum <= more.sum);
            }
            prop_assert!(price(&less).is_none_or(|less| less <= price(&more).unwrap()), "{}", tier);
        }
    }
}

fn toml_round_trip(service: &plan::design::Service) -> plan::design::Service {
    toml::from_str(&toml::to_string(service).unwrap()).unwrap()
}
