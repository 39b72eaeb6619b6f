//! What may not be used, and why.

use spec::{Cloud, Durability};
use units::{Bandwidth, Bytes};

use crate::ground::{Ground, need};

#[test]
fn scratch_is_for_scratch() {
    let ground = Ground::embedded(Cloud::Aws);
    let mut requirement = need(1.0, 100.0, 100.0);
    assert_eq!(ground.candidate("SCRATCH_2-SSD", &requirement), None);
    let why = ground.reason("SCRATCH_2-SSD", &requirement);
    assert_eq!(why, "SCRATCH_2-SSD does not survive the loss of a disk or a server");
    requirement.durability = Durability::Scratch;
    assert!(ground.candidate("SCRATCH_2-SSD", &requirement).is_some());
    requirement.durability = Durability::Region;
    let why = ground.reason("PERSISTENT_2-SSD-125", &requirement);
    assert_eq!(why, "PERSISTENT_2-SSD-125 does not survive the loss of a zone");
    assert!(ground.candidate("EFS-Provisioned", &requirement).is_some());
}

#[test]
fn encryption_that_is_not_known_is_refused() {
    let mut ground = Ground::embedded(Cloud::Azure);
    ground.constraints.encryption.in_transit = true;
    ground.constraints.encryption.customer_keys = true;
    let requirement = need(1.0, 100.0, 100.0);
    let amlfs = ground.reason("AMLFS-Durable-Premium-250", &requirement);
    assert_eq!(amlfs, "AMLFS-Durable-Premium-250 does not encrypt data in transit");
    let anf = ground.reason("ANF-Ultra", &requirement);
    assert_eq!(anf, "ANF-Ultra is not known to take the customer's keys");
    ground.constraints.encryption.customer_keys = false;
    assert!(ground.candidate("ANF-Ultra", &requirement).is_some());
}

#[test]
fn previews_need_the_guard_taken_off() {
    let mut ground = Ground::embedded(Cloud::Azure);
    let requirement = need(100.0, 100.0, 100.0);
    let tier = "AMLFS-Durable-Premium-20";
    assert!(ground.reason(tier, &requirement).contains("preview"));
    ground.guards.cautioned_tiers = true;
    assert_eq!(ground.reason(tier, &requirement), "not in the catalog: its sizes", "its sizes were not seen");
}

#[test]
fn denied_tiers_and_other_protocols_say_so() {
    let mut ground = Ground::embedded(Cloud::Azure);
    ground.constraints.tiers.deny = vec!["ANF-*".to_owned()];
    let requirement = need(1.0, 1.0, 1.0);
    assert!(ground.reason("ANF-Ultra", &requirement).contains("do not allow the tier ANF-Ultra"));
    assert!(ground.candidates(&requirement).iter().all(|service| !service.tier.starts_with("ANF")));
    let gcp = Ground::embedded(Cloud::Gcp);
    assert!(gcp.reason("Parallelstore", &requirement).contains("neither Lustre nor NFS"));
}

#[test]
fn what_is_not_sold_is_refused_with_what_is() {
    let aws = Ground::embedded(Cloud::Aws);
    let requirement = need(1.0, 1.0, 1.0);
    let refusals = |order: &_| aws.assess(order, &requirement).refusals.join("; ");
    let lustre = aws.order("PERSISTENT_2-SSD-125", Bytes::gib(3600));
    assert_eq!(
        refusals(&lustre),
        "PERSISTENT_2-SSD-125 of 3600 GiB is not sold: the next sizes are 2400 GiB and 4800 GiB"
    );
    let mut files = aws.order("FSx-OpenZFS-SSD", Bytes::tib(10));
    files.throughput = Some(Bandwidth::mb_per_second(100.0));
    assert!(refusals(&files).contains("100 MB/s of FSx-OpenZFS-SSD is not sold, only 64 MB/s, 128 MB/s"));
    let mut many = aws.order("FSx-OpenZFS-SSD", Bytes::tib(10));
    many.count = 5;
    assert_eq!(refusals(&many), "5 name spaces are more than the 4 allowed");
    let mut lustre = aws.order("PERSISTENT_2-SSD-125", Bytes::gib(2400));
    lustre.throughput = Some(Bandwidth::mb_per_second(100.0));
    assert!(refusals(&lustre).contains("cannot be ordered: its throughput follows its capacity"));
    let small = aws.order("FSx-OpenZFS-SSD", Bytes::gib(64));
    assert_eq!(refusals(&small), "64 GiB is less than the 1 TiB needed");
}

#[test]
fn names_that_the_catalog_does_not_have_fail_with_a_suggestion() {
    let ground = Ground::embedded(Cloud::Azure);
    let requirement = need(1.0, 1.0, 1.0);
    let fails = |order: &_| {
        plan::layout::service::assess(&ground.market(), order, &requirement).unwrap_err().to_string()
    };
    let good = ground.order("ANF-Ultra", Bytes::tib(10));
    let mut order = good.clone();
    order.mount = Some("RHEL 9".to_owned());
    assert_eq!(fails(&order), "the catalog has no mount profile `RHEL 9` for Azure NetApp Files");
    let mut order = good.clone();
    order.service = "Azure Managed Lustre".to_owned();
    assert!(fails(&order).contains("the tier `ANF-Ultra` is not of the service `Azure Managed Lustre`"));
    let mut order = good;
    order.tier = "ANF-Ulta".to_owned();
    assert!(fails(&order).contains("ANF-Ulta"));
}

#[test]
fn the_nearest_possible_figure_is_told() {
    let mut ground = Ground::embedded(Cloud::Azure);
    ground.guards.max_name_spaces = 1;
    // 48 pCores at 100 MiB/s each are more than one volume reads (a published sizing said they fit).
    let mut requirement = need(50.0, 0.0, 0.0);
    requirement.read = Bandwidth::mib_per_second(4800.0);
    requirement.read_share = units::Ratio::ONE;
    assert_eq!(
        ground.reason("ANF-Ultra", &requirement),
        "read reaches at most 4718.6 MB/s of the 5033.2 MB/s needed: service maximum (1 x at most 4500 read / 1500 write \
         MiB/s of a volume, 4500 MiB/s together at 100:0)"
    );
    let large = ground.reason("ANF-Standard", &need(101.0, 1.0, 1.0));
    assert_eq!(large, "at most 100 TiB, 101 TiB is needed");
    let writes = ground.calibrated(0.9, 0.8).reason("ANF-Ultra", &need(50.0, 10.0, 1400.0));
    assert!(writes.starts_with("write reaches at most 1258.3 MB/s of the 1400.0 MB/s needed"), "{writes}");
    assert!(writes.ends_with("x 0.80 calibration"), "{writes}");
}

#[test]
fn a_size_without_bound_still_tells_the_nearest_figure() {
    let mut ground = Ground::embedded(Cloud::Aws);
    let tiers = &mut ground.catalog.to_mut().services;
    let lustre = tiers.iter_mut().find(|tier| &*tier.tier == "PERSISTENT_2-SSD-125").unwrap();
    lustre.read_max = Some(Bandwidth::mb_per_second(1000.0));
    lustre.write_max = lustre.read_max;
    assert_eq!(
        ground.reason("PERSISTENT_2-SSD-125", &need(1.0, 5000.0, 100.0)),
        "read reaches at most 4000.0 MB/s of the 5000.0 MB/s needed: service maximum (4 x at most 1000 MB/s of a volume)"
    );
}
