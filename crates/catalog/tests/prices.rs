//! Prices of the source documents, against the catalog. Their other figures are tests of `plan`: `tests/golden/golden.csv`.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use catalog::{Catalog, PriceUnit, Rate};
use spec::{Cloud, Commitment};
use units::Bytes;

#[test]
fn what_is_included_costs_nothing() {
    let catalog = Catalog::embedded().unwrap();
    let price = |item| catalog.prices.of(Cloud::Aws, "us-east-1", item, Commitment::Payg).unwrap();
    assert!(price("gp3:iops").of(3000.0).get().abs() < f64::EPSILON);
    assert!((price("gp3:iops").of(4000.0).get() - 5.0).abs() < 1e-9);
    assert!(price("gp3:throughput").of(125.0).get().abs() < f64::EPSILON);
    assert_eq!(price("gp3:throughput").unit, PriceUnit::MibPerSecond);
    assert_eq!(price("gp3:capacity").unit, PriceUnit::Gib);
}

#[test]
fn a_pool_of_netapp_files_costs_what_the_example_says() {
    let catalog = Catalog::embedded().unwrap();
    let month = |tier: &str| {
        let item = format!("service:{tier}:capacity");
        let price = catalog.prices.of(Cloud::Azure, "eastus", &item, Commitment::Payg).unwrap();
        assert!(price.doubt.is_some());
        price.of(24.0 * 1024.0).get() * 720.0 / 730.0
    };
    assert!((month("ANF-Premium") - 7130.97).abs() < 0.01);
}

#[test]
fn prices_per_file_system_are_linear_in_its_size() {
    let catalog = Catalog::embedded().unwrap();
    let stated = [
        ("125", [(1200.0, 0.31), (2400.0, 0.62), (4800.0, 1.24), (7200.0, 1.86), (9600.0, 2.48)]),
        ("250", [(1200.0, 0.46), (2400.0, 0.93), (4800.0, 1.85), (7200.0, 2.78), (9600.0, 3.71)]),
        ("500", [(1200.0, 0.77), (2400.0, 1.55), (4800.0, 3.1), (7200.0, 4.64), (9600.0, 6.19)]),
        ("1000", [(1200.0, 1.39), (2400.0, 2.79), (4800.0, 5.58), (7200.0, 8.37), (9600.0, 11.16)]),
    ];
    for (tier, sizes) in stated {
        let item = format!("service:PERSISTENT_2-SSD-{tier}:capacity");
        let price = catalog.prices.of(Cloud::Aws, "ap-northeast-1", &item, Commitment::Payg).unwrap();
        for (gib, usd_per_hour) in sizes {
            let ours = price.of(gib).get() / 730.0;
            assert!((ours - usd_per_hour).abs() <= 0.01, "{tier} {gib} GiB: {ours} is not {usd_per_hour}");
        }
    }
}

#[test]
fn a_disk_of_60_mb_per_second_is_slower_with_small_transfers() {
    let catalog = Catalog::embedded().unwrap();
    let catalog::Performance::Fixed(rate) = catalog.disk("S50").unwrap().performance else {
        panic!("S50 is fixed")
    };
    let at = |size| Rate::at(rate, size, None).unwrap().as_mb();
    assert!((at(Bytes::mib(1)) - 60.0).abs() < 1e-9);
    assert!((at(Bytes::kib(64)) - 500.0 * 65536.0 / 1e6).abs() < 1e-9);
}

#[test]
fn commitments_and_other_regions_have_prices_of_their_own() {
    let catalog = Catalog::embedded().unwrap();
    let of = |region, item, term| catalog.prices.of(Cloud::Azure, region, item, term);
    assert!(
        (of("eastus", "disk:P30", Commitment::OneYear).unwrap().of(1.0).get() - 1541.0 / 12.0).abs() < 1e-9
    );
    assert!(of("eastus", "disk:P30", Commitment::ThreeYears).is_none());
    assert!(of("westeurope", "disk:P30", Commitment::Payg).is_none());
    let linux = of("eastus", "vm:Standard_E4as_v5", Commitment::Payg).unwrap();
    assert!((linux.of(1.0).get() - 0.226 * 730.0).abs() < 1e-6);
}
