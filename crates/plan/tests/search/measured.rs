//! The model beside what was measured on real systems.

use plan::design::{Clients, Design, Layout, LustreOnVms, MetadataServers, Region, StorageDesign, Volume};
use plan::{Place, evaluate};
use spec::{Cloud, Commitment, Constraints, Figures};
use units::{Bandwidth, Bytes};

use crate::ground::{EMBEDDED, options, sas_azure};

/// The design of the study: 24 E16s_v3 with 2 S60 each, striped over 8.
fn study(client: &str, count: u32, pcores: u32) -> Design {
    let spec = sas_azure();
    let mut grid = spec.grid;
    grid.pcores = pcores;
    let disk = |tier: &str, tib| Volume {
        tier: tier.to_owned(),
        size: Bytes::tib(tib),
        iops: None,
        bandwidth: None,
    };
    let layout = Layout::LustreOnVms(LustreOnVms {
        sku: "Standard_E16s_v3".to_owned(),
        servers: 24,
        disks_per_server: 2,
        disk: disk("S60", 8),
        metadata: MetadataServers { sku: "Standard_E32s_v3".to_owned(), count: 1, disk: disk("P30", 1) },
        stripe_count: 8,
        stripe_size: Bytes::mib(4),
    });
    Design {
        version: 1,
        place: Region { cloud: Cloud::Azure, region: "eastus".to_owned(), commitment: Commitment::Payg },
        grid,
        clients: Clients { sku: client.to_owned(), count },
        storage: vec![StorageDesign { requirement: spec.storage[0].clone(), layout }],
    }
}

/// Clients, pCores used on each, and MB/s per pCore written and read, of the study's concluding summary.
const MEASURED: [(&str, u32, u32, f64, f64); 4] = [
    ("Standard_E8-4s_v3", 24, 2, 179.0, 353.0),
    ("Standard_E16-4s_v3", 24, 2, 174.0, 175.0),
    ("Standard_E8s_v3", 16, 4, 121.0, 167.0),
    ("Standard_E16-8s_v3", 16, 4, 140.0, 128.0),
];

#[test]
fn writes_of_the_24_oss_study_within_10_percent() {
    let options = options();
    for (sku, count, each, written, _) in MEASURED {
        let constraints = Constraints::default();
        let design = study(sku, count, count * each);
        let evaluation =
            evaluate(&EMBEDDED, &design, &constraints, &options.guards, &options.calibration).unwrap();
        let modelled = evaluation.storages[0].delivered.write.as_mb() / f64::from(count * each);
        let off = modelled / written - 1.0;
        assert!(
            off.abs() <= 0.10,
            "{count} x {sku}: modelled {modelled:.0}, measured {written} MB/s per pCore"
        );
    }
}

#[test]
fn reads_of_less_data_than_the_servers_remember_are_told_apart_by_rule() {
    let options = options();
    for (sku, count, each, _, read) in MEASURED {
        let constraints = Constraints { figures: Figures::SpecSheet, ..Constraints::default() };
        let design = study(sku, count, count * each);
        let evaluation =
            evaluate(&EMBEDDED, &design, &constraints, &options.guards, &options.calibration).unwrap();
        let storage = &evaluation.storages[0];
        let memory = EMBEDDED.vm(sku).unwrap().memory.unwrap();
        // One file as large as the memory of the machine, per pCore.
        let dataset = Bytes::new(memory.get() * u64::from(count * each));
        let limit = storage.delivered.read.as_mb() / f64::from(count * each);
        let cached = storage.cache.is_some_and(|cache| dataset <= cache);
        // What exceeds every limit was partly read from memory. The rule (the data fits in the servers' memory) catches the
        // clear case; 16 x E8s exceeds by 16 % with 4,096 GiB against 3,072 and stays unexplained.
        assert_eq!(cached, sku == "Standard_E8-4s_v3", "{sku}");
        assert!(cached == (read > limit * 1.2), "{sku}: {read} of {limit}");
    }
}

#[test]
fn the_paper_s_own_design_by_its_own_figures() {
    let options = options();
    let constraints = Constraints { figures: Figures::SpecSheet, ..Constraints::default() };
    let design = study("Standard_E8-4s_v3", 24, 48);
    let evaluation =
        evaluate(&EMBEDDED, &design, &constraints, &options.guards, &options.calibration).unwrap();
    let storage = &evaluation.storages[0];
    assert_eq!(storage.delivered.write, Bandwidth::mb_per_second(9216.0));
    assert_eq!(storage.capacity, Bytes::tib(384));
    assert_eq!(storage.bottleneck(plan::Operation::Write).unwrap().place, Place::ServerDisks);
    let data: f64 = storage
        .costs
        .iter()
        .filter(|line| matches!(line.part, plan::Part::Servers | plan::Part::Disks))
        .map(|line| line.per_month.unwrap().get())
        .sum();
    assert!((data - 30_243.0).abs() < 1.0, "{data}");
}
