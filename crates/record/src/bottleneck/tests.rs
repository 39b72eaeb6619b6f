use super::*;
use crate::plan::FactorRow;
use crate::sample;

fn rates(mb: f64) -> RatesRow {
    RatesRow {
        read_bytes_per_second: Some(mb * 1e6),
        write_bytes_per_second: Some(mb * 1e6),
        mixed_bytes_per_second: Some(mb * 1e6),
    }
}

fn row(place: &str, stated_mb: f64) -> LimitRow {
    LimitRow {
        place: place.to_owned(),
        name: place.replace('_', " "),
        stated: rates(stated_mb),
        reached: rates(stated_mb * 0.9),
        cause: "a cause".to_owned(),
        source: Some("a source, 2026".to_owned()),
    }
}

/// 4 clients with 40 pCores together; limits of 8000 MB/s (clients), 4000 and 5000 MB/s (servers), of which 0.9 are
/// expected: 180, 90 and 112.5 MB/s per pCore.
fn design(family: &str) -> DesignSheet {
    let factor = || FactorRow { value: 0.9, text: "0.9 (assumed)".to_owned(), basis: "assumed".to_owned() };
    let storage = StorageSheet {
        name: "data".to_owned(),
        family: family.to_owned(),
        layout: "a layout".to_owned(),
        capacity_bytes: 1 << 40,
        needed_capacity_bytes: 1 << 40,
        read_share: 0.8,
        needed: rates(3000.0),
        delivered: rates(3600.0),
        delivered_per_pcore: rates(90.0),
        limits: vec![
            row("client_network", 8000.0),
            row("server_disks", 4000.0),
            row("disk_bandwidth", 5000.0),
        ],
        unknown: Vec::new(),
        tightest: "mixed".to_owned(),
        bottleneck: Some("server disks".to_owned()),
        next_limit: None,
        headroom: None,
        read_factor: factor(),
        write_factor: factor(),
        write_law: "stream".to_owned(),
        burst: None,
        cache_bytes: None,
        servers: 4,
        usd_per_month: None,
        refusals: Vec::new(),
        notes: Vec::new(),
    };
    DesignSheet {
        title: "a design".to_owned(),
        cloud: "azure".to_owned(),
        region: "eastus".to_owned(),
        commitment: "payg".to_owned(),
        client_sku: "a SKU".to_owned(),
        client_count: 4,
        storages: vec![storage],
        costs: Vec::new(),
        storage_usd_per_month: None,
        clients_usd_per_month: None,
        usd_per_month: None,
        usd_per_month_per_mb_per_second: None,
        confidence: "assumed".to_owned(),
        refusals: Vec::new(),
        upgrade: None,
        design: serde_json::json!({ "grid": { "name": "g", "pcores": 40 } }),
    }
}

/// A run of the whole grid, unless `pcores` and `hosts` are fewer.
fn compare(design: &DesignSheet, mb: f64, (pcores, hosts): (u32, u32)) -> DesignComparison {
    let mut verdict = sample::record().requirements.remove(0);
    verdict.pcores = pcores;
    if let Some(spread) = &mut verdict.measured_per_pcore {
        spread.median_bytes_per_second = Bandwidth::mb_per_second(mb);
    }
    compare_design(design, &verdict, hosts).unwrap()
}

fn whole(mb: f64) -> DesignComparison {
    compare(&design("lustre-on-vms"), mb, (40, 4))
}

fn bottleneck_of(comparison: &DesignComparison) -> Option<&str> {
    comparison.bottleneck.map(|index| comparison.limits[index].name.as_str())
}

#[test]
fn the_nearest_limit_within_ten_percent_is_named() {
    let comparison = whole(82.0);
    assert_eq!(bottleneck_of(&comparison), Some("server disks"));
    assert_eq!(
        comparison.sentence(),
        "measured 82.0 MB/s per pCore is 91 % of the server disks (90.0 MB/s per pCore): this limits it"
    );
    assert_eq!(comparison.expected_per_pcore, Some(Bandwidth::mb_per_second(90.0)));
    assert_eq!(comparison.extent, None);
}

#[test]
fn better_than_calibrated_but_within_the_source_is_still_that_limit() {
    let comparison = whole(99.0);
    assert_eq!(bottleneck_of(&comparison), Some("server disks"));
    assert!(comparison.sentence().contains("110 % of the server disks"), "{}", comparison.sentence());
}

#[test]
fn more_than_a_source_allows_is_said_and_the_next_limit_is_still_named() {
    let comparison = whole(110.0);
    assert_eq!(comparison.limits[1].standing, Standing::Exceeded);
    assert_eq!(bottleneck_of(&comparison), Some("disk bandwidth"));
    let sentence = comparison.sentence();
    assert!(
        sentence.contains("more than the server disks lets through by its source (100.0 MB/s)"),
        "{sentence}"
    );
    assert!(sentence.contains("98 % of the disk bandwidth"), "{sentence}");
    let far = whole(500.0);
    assert_eq!(far.bottleneck, None);
    assert!(far.sentence().contains("a cache helped"), "{}", far.sentence());
}

#[test]
fn far_below_all_no_limit_explains_it() {
    let comparison = whole(40.0);
    assert_eq!(comparison.bottleneck, None);
    let sentence = comparison.sentence();
    assert!(sentence.contains("none explains it") && sentence.contains("90.0 MB/s"), "{sentence}");
}

#[test]
fn a_run_of_one_client_has_shared_limits_to_itself() {
    let comparison = compare(&design("lustre-on-vms"), 100.0, (10, 1));
    let reached: Vec<f64> = comparison.limits.iter().map(|l| l.reached_per_pcore.as_mb().round()).collect();
    assert_eq!(reached, [180.0, 360.0, 450.0], "its own network as before, the servers four times");
    assert!(comparison.extent.as_ref().unwrap().contains("10 of the design's 40 pCores, on 1 of its 4"));
}

#[test]
fn volumes_of_a_client_are_its_own() {
    let comparison = compare(&design("striped-volumes"), 82.0, (10, 1));
    assert_eq!(bottleneck_of(&comparison), Some("server disks"));
    assert!(comparison.limits.iter().all(|limit| !limit.shared));
}

#[test]
fn bursts_follow_the_second_law() {
    let mut design = design("lustre-on-vms");
    design.storages[0].write_law = "burst".to_owned();
    let mut verdict = sample::record().requirements.remove(0);
    verdict.pcores = 40;
    verdict.direction = Direction::Write;
    let comparison = compare_design(&design, &verdict, 4).unwrap();
    let expected = comparison.expected_per_pcore.unwrap().as_mb();
    assert!((expected - 60.0).abs() < 1e-6, "1 / (1/180 + 1/90) = 60, not {expected}");
}

#[test]
fn what_a_design_does_not_bound_or_name_is_not_compared() {
    let mut design = design("lustre-on-vms");
    design.storages[0].limits[0].reached.read_bytes_per_second = None;
    design.storages[0].limits[0].stated.read_bytes_per_second = None;
    assert_eq!(compare(&design, 82.0, (40, 4)).limits.len(), 2);
    design.storages[0].limits.clear();
    let comparison = compare(&design, 82.0, (40, 4));
    assert!(comparison.sentence().contains("no limit of the design is known"), "{}", comparison.sentence());
    design.storages[0].name = "other".to_owned();
    let verdict = sample::record().requirements.remove(0);
    assert!(compare_design(&design, &verdict, 1).is_none());
}

#[test]
fn without_a_measurement_there_is_nothing_to_explain() {
    let mut verdict = sample::record().requirements.remove(0);
    verdict.measured_per_pcore = None;
    let comparison = compare_design(&design("lustre-on-vms"), &verdict, 1).unwrap();
    assert_eq!(comparison.sentence(), "Nothing was measured.");
    assert!(comparison.limits.iter().all(|limit| limit.standing == Standing::NotMeasured));
}

#[test]
fn records_without_a_design_still_read() {
    let mut record = sample::record();
    let mut document = serde_json::to_value(&record).unwrap();
    document.as_object_mut().unwrap().remove("design");
    let read: RunRecord = serde_json::from_value(document).unwrap();
    assert_eq!(read.design, None);
    assert!(read.design_comparisons().is_empty());
    record.design = Some(design("lustre-on-vms"));
    let text = serde_json::to_string(&record).unwrap();
    let read: RunRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(read.design_comparisons().len(), 1);
}
