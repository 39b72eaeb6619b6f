//! Figures of the source documents, against the catalog. `printed` is what a document has where it is wrong or gives a range.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use catalog::{Catalog, PriceUnit, Rate, Table};
use spec::{Cloud, Commitment};
use units::Bytes;

#[test]
fn the_catalog_has_what_the_documents_say() {
    let catalog = Catalog::embedded().unwrap();
    let mut facts = csv::Reader::from_path("tests/facts.csv").unwrap();
    let mut count = 0;
    for fact in facts.records().map(Result::unwrap) {
        let (file, key, column, value) = (&fact[0], &fact[1], &fact[2], &fact[3]);
        let table = Table::of_file(file).unwrap();
        let row = catalog.rows.of(table).iter().find(|row| row.key(table) == key);
        let row = row.unwrap_or_else(|| panic!("{file} has no row {key}"));
        let same = |a: &str, b: &str| {
            a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if (a - b).abs() < 1e-9)
        };
        assert!(table.columns().contains(&column), "{file} has no column {column}");
        assert!(
            same(row.cell(table, column), value),
            "{key} {column}: {} is not {value}",
            row.cell(table, column)
        );
        count += 1;
    }
    assert!(count > 100);
}

/// US dollars of a quantity, to a cent.
fn cents(price: &catalog::Price, quantity: f64) -> f64 {
    (price.of(quantity).get() * 100.0).round() / 100.0
}

#[test]
fn io2_costs_what_its_bands_say() {
    let catalog = Catalog::embedded().unwrap();
    let price = |item| catalog.prices.of(Cloud::Aws, "us-east-1", item, Commitment::Payg).unwrap();
    let total = |gib, iops| cents(price("io2-bx:iops"), iops) + cents(price("io2-bx:capacity"), gib);
    let cases = [
        (0.0, 14305.0, 929.83),
        (0.0, 32000.0, 2080.0),
        (0.0, 32001.0, 2080.05),
        (0.0, 64000.0, 3552.0),
        (0.0, 64001.0, 3552.03),
        (1000.0, 14305.0, 1054.83),
        (1024.0, 16000.0, 1168.0),
        (65536.0, 256_000.0, 17888.0),
    ];
    for (gib, iops, usd) in cases {
        assert!(
            (total(gib, iops) - usd).abs() < 0.006,
            "{gib} GiB and {iops} IOPS: {} is not {usd}",
            total(gib, iops)
        );
    }
}

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
    assert!((month("ANF-Ultra") - 9519.76).abs() < 0.01);
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
