//! Figures that stand in the documents of the providers and in published studies.

use plan::Place;
use spec::Cloud;
use units::{Bandwidth, Bytes};

use crate::ground::{Ground, chain, need, price, tib_of};

#[test]
fn amlfs_of_120_tib_at_250_mb_per_tib_is_30_gb() {
    let ground = Ground::embedded(Cloud::Azure);
    let assessment =
        ground.assess(&ground.order("AMLFS-Durable-Premium-250", Bytes::tib(120)), &need(1.0, 1.0, 1.0));
    assert_eq!(chain(&assessment).read, 30e9);
    assert_eq!(chain(&assessment).sum, 30e9);
    assert_eq!(
        assessment.limits[0].cause,
        "120 TiB of AMLFS-Durable-Premium-250 x 250 MB/s per TiB = 30000 MB/s"
    );
    assert_eq!(assessment.refusals, Vec::<String>::new());
}

#[test]
fn amlfs_is_sold_in_steps_of_its_smallest_size() {
    let ground = Ground::embedded(Cloud::Azure);
    let sizes =
        [("40", 50, 96), ("125", 17, 32), ("250", 9, 16), ("500", 5, 8), ("250", 1, 8), ("500", 1, 4)];
    for (rate, needed, sold) in sizes {
        let tier = format!("AMLFS-Durable-Premium-{rate}");
        let candidate = ground.candidate(&tier, &need(f64::from(needed), 1.0, 1.0)).unwrap();
        assert_eq!((candidate.capacity, candidate.count), (Bytes::tib(sold), 1), "{tier}");
    }
    let least =
        ground.assess(&ground.order("AMLFS-Durable-Premium-500", Bytes::tib(4)), &need(1.0, 1.0, 1.0));
    assert_eq!(chain(&least).read, 2e9);
}

#[test]
fn anf_costs_what_its_cost_model_says() {
    let ground = Ground::embedded(Cloud::Azure);
    for (tier, month_of_720_hours) in [("ANF-Premium", 7130.97), ("ANF-Ultra", 9519.76)] {
        let assessment = ground.assess(&ground.order(tier, Bytes::tib(24)), &need(1.0, 1.0, 1.0));
        let month_of_730 = price(&assessment).unwrap().get();
        assert!((month_of_730 * 720.0 / 730.0 - month_of_720_hours).abs() < 0.01, "{tier} {month_of_730}");
        assert!(assessment.costs[0].doubt.is_some(), "an example is not a price list");
    }
}

#[test]
fn anf_delivers_quota_times_rate_up_to_the_volume_limits() {
    let ground = Ground::embedded(Cloud::Azure);
    let mib = |rate: f64| Bandwidth::mib_per_second(rate).get();
    let premium = ground.assess(&ground.order("ANF-Premium", Bytes::tib(2)), &need(1.0, 1.0, 1.0));
    assert_eq!(chain(&premium).read, mib(128.0));
    let ultra = ground.assess(&ground.order("ANF-Ultra", Bytes::tib(50)), &need(1.0, 1.0, 1.0));
    let stated = |place| ultra.limits.iter().find(|limit| limit.place == place).unwrap();
    assert_eq!(stated(Place::ServiceThroughput).stated.read, mib(6400.0));
    let most = stated(Place::ServiceMaximum);
    assert_eq!(
        (most.stated.read, most.stated.write, most.stated.sum),
        (mib(4500.0), mib(1500.0), mib(3000.0))
    );
    assert_eq!(
        most.cause,
        "1 x at most 4500 read / 1500 write MiB/s of a volume, 3000 MiB/s together at 80:20"
    );
}

#[test]
fn anf_flexible_has_640_mib_for_each_tib() {
    let ground = Ground::embedded(Cloud::Azure);
    let mut order = ground.order("ANF-Flexible", Bytes::tib(1));
    order.throughput = Some(Bandwidth::mib_per_second(640.0));
    let assessment = ground.assess(&order, &need(1.0, 1.0, 1.0));
    assert_eq!(chain(&assessment).read, Bandwidth::mib_per_second(640.0).get());
    assert_eq!((assessment.refusals.len(), price(&assessment)), (0, None));
    order.throughput = Some(Bandwidth::mib_per_second(641.0));
    let refusals = ground.assess(&order, &need(1.0, 1.0, 1.0)).refusals;
    assert_eq!(
        refusals,
        ["641 MiB/s of ANF-Flexible needs more capacity: at most 640 MiB/s per TiB can be ordered"]
    );
}

#[test]
fn anf_clients_reach_what_their_kernel_and_mount_let_them() {
    let ground = Ground::embedded(Cloud::Azure);
    let mut order = ground.order("ANF-Ultra", Bytes::tib(50));
    for (mount, read) in [("RHEL 7", 750.0), ("RHEL 8.2", 1200.0), ("nconnect", 3000.0)] {
        order.mount = Some(mount.to_owned());
        let one = ground.assess(&order, &need(1.0, 1.0, 1.0)).per_client.unwrap();
        assert_eq!(one.stated.read, Bandwidth::mib_per_second(read).get(), "{mount}");
        assert_eq!(one.stated.write, Bandwidth::mib_per_second(1500.0).get(), "{mount}");
    }
    let candidate = ground.candidate("ANF-Ultra", &need(10.0, 100.0, 100.0)).unwrap();
    assert_eq!(candidate.mount.as_deref(), Some("nconnect"));
    let notes = ground.assess(&candidate, &need(10.0, 100.0, 100.0)).notes.join("\n");
    assert!(notes.contains("otherwise 1200 read / 1500 write MiB/s per client with RHEL 8.2"), "{notes}");
}

#[test]
fn fsx_for_lustre_is_sold_in_1200_and_multiples_of_2400_gib() {
    let ground = Ground::embedded(Cloud::Aws);
    for (needed, sold) in [(1, 1200), (1200, 1200), (1201, 2400), (2401, 4800), (7200, 7200)] {
        let mut requirement = need(1.0, 1.0, 1.0);
        requirement.capacity = Bytes::gib(needed);
        let candidate = ground.candidate("PERSISTENT_2-SSD-125", &requirement).unwrap();
        assert_eq!(candidate.capacity, Bytes::gib(sold), "{needed}");
    }
}

#[test]
fn fsx_for_lustre_has_a_network_and_disks() {
    let ground = Ground::embedded(Cloud::Aws);
    let at = |tier: &str, gib, place| {
        let assessment = ground.assess(&ground.order(tier, Bytes::gib(gib)), &need(1.0, 1.0, 1.0));
        let limit = assessment.limits.iter().find(|limit| limit.place == place).unwrap();
        limit.stated.read / 1e6
    };
    assert_eq!(at("PERSISTENT_2-SSD-125", 4800, Place::ServerNetwork), 1500.0);
    for (rate, disks) in [("250", 2929.69), ("500", 5859.38), ("1000", 11_718.75)] {
        let stated = at(&format!("PERSISTENT_2-SSD-{rate}"), 12_000, Place::DiskBandwidth);
        assert!((stated - disks).abs() < 0.01, "{stated}");
    }
    let assessment =
        ground.assess(&ground.order("PERSISTENT_2-SSD-125", Bytes::gib(4800)), &need(1.0, 1.0, 1.0));
    assert!((chain(&assessment).read / 1e6 - 585.94).abs() < 0.01, "reads that miss memory come from disks");
    let burst = assessment.burst.unwrap();
    assert!(
        (burst.read.unwrap().as_mb() - 6093.75).abs() < 0.01
            && (burst.write.unwrap().as_mb() - 500.0 * 4.6875).abs() < 0.01
    );
    assert!((assessment.cache.unwrap().as_gib() - 3.4 * 4.6875).abs() < 1e-6);
    let stream = assessment.per_stream.unwrap();
    assert_eq!(stream.stated.read, 625e6);
}

#[test]
fn filestore_reads_at_260_and_writes_at_88_mib_per_tib() {
    let ground = Ground::embedded(Cloud::Gcp);
    let at =
        |gib| chain(&ground.assess(&ground.order("Filestore-Zonal", Bytes::gib(gib)), &need(1.0, 1.0, 1.0)));
    let mib = |rate: f64| Bandwidth::mib_per_second(rate).get();
    assert_eq!((at(1024).read, at(1024).write), (mib(260.0), mib(88.0)));
    let (small, large) = (at(10_240), at(12_800));
    assert!(
        (large.read - small.read - mib(650.0)).abs() < 1.0
            && (large.write - small.write - mib(220.0)).abs() < 1.0
    );
    let candidate = ground.candidate("Filestore-Zonal", &need(1.0, 10.0, 10.0)).unwrap();
    assert_eq!(candidate.capacity, tib_of(1.0));
    let candidate = ground.candidate("Filestore-Zonal", &need(9.8, 10.0, 10.0)).unwrap();
    assert_eq!(candidate.capacity, Bytes::gib(10_240), "the low range ends at 9984 GiB");
}

#[test]
fn google_cloud_managed_lustre_has_larger_steps_where_it_is_large() {
    let ground = Ground::embedded(Cloud::Gcp);
    let sizes = [
        ("Managed-Lustre-1000", 1, 9000),
        ("Managed-Lustre-1000", 9001, 18_000),
        ("Managed-Lustre-1000", 1_530_001, 1_584_000),
        ("Managed-Lustre-1000", 1_584_001, 1_656_000),
        ("Managed-Lustre-500", 18_001, 36_000),
        ("Managed-Lustre-250", 36_001, 72_000),
        ("Managed-Lustre-125", 72_001, 144_000),
        ("Managed-Lustre-Dynamic-25", 1, 472_000),
    ];
    for (tier, needed, sold) in sizes {
        let mut requirement = need(1.0, 1.0, 1.0);
        requirement.capacity = Bytes::gib(needed);
        assert_eq!(
            ground.candidate(tier, &requirement).unwrap().capacity,
            Bytes::gib(sold),
            "{tier} {needed}"
        );
    }
}
