//! What holds for any table: rows survive being written and read, and prices grow with what is bought.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fs;
use std::sync::LazyLock;

use catalog::{Catalog, Table};
use proptest::prelude::*;
use spec::{Cloud, Commitment};

/// The facts that come with the program, read once.
static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().unwrap());

/// Text that a cell may hold: commas, quotes and line breaks too.
fn cell() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 ,;\"'µ()%\n-]{0,24}".prop_map(|text| format!("x{}x", text.trim()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_row_written_and_read_is_the_same(sku in "[a-z0-9.]{1,12}", notes in cell(), document in cell(), vcpus in 1u32..400, gib in 0.5f64..4096.0) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = csv::Writer::from_path(dir.path().join("vms.csv")).unwrap();
        writer.write_record(["as_of", "cloud", "sku", "series", "vcpus", "pcores", "memory_gib", "notes", "source"]).unwrap();
        let sku = format!("new.{sku}");
        let (vcpus_text, gib_text) = (vcpus.to_string(), gib.to_string());
        writer.write_record(["2026", "gcp", &sku, "new", &vcpus_text, "1", &gib_text, &notes, &document]).unwrap();
        writer.flush().unwrap();
        let catalog = Catalog::load(dir.path()).unwrap();
        let vm = catalog.vm(&sku).unwrap();
        prop_assert_eq!((vm.vcpus, &*vm.notes, &*vm.source.document), (vcpus, notes.as_str(), document.as_str()));
        prop_assert_eq!(vm.memory.unwrap().get(), (gib * 1_073_741_824.0).round() as u64);
        prop_assert!(catalog.clone().overlaid(dir.path()).unwrap() == catalog);
    }

    #[test]
    fn any_bytes_are_read_or_refused_with_a_hint(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("prices.csv"), bytes).unwrap();
        if let Err(fault) = Catalog::load(dir.path()) {
            prop_assert!(fault.message().contains("prices.csv") && fault.hint_text().is_some());
        }
    }

    #[test]
    fn more_of_a_thing_never_costs_less(a in 0.0f64..300_000.0, b in 0.0f64..300_000.0) {
        let (less, more) = if a < b { (a, b) } else { (b, a) };
        for item in ["io2-bx:iops", "gp3:iops", "gp3:throughput", "gp3:capacity"] {
            let price = CATALOG.prices.of(Cloud::Aws, "us-east-1", item, Commitment::Payg).unwrap();
            prop_assert!(price.of(less).get() <= price.of(more).get());
        }
    }
}

#[test]
fn every_table_written_out_and_laid_over_itself_is_the_same() {
    let catalog = CATALOG.clone();
    let dir = tempfile::tempdir().unwrap();
    for table in Table::ALL {
        let mut writer = csv::Writer::from_path(dir.path().join(table.files()[0])).unwrap();
        writer.write_record(table.columns()).unwrap();
        for row in catalog.rows.of(table) {
            writer.write_record(table.columns().iter().map(|column| row.cell(table, column))).unwrap();
        }
        writer.flush().unwrap();
    }
    let over = Catalog::load(dir.path()).unwrap();
    assert!(catalog.diff(&over).is_empty());
    assert_eq!(
        (over.vms, over.disks, over.services, over.prices),
        (catalog.vms, catalog.disks, catalog.services, catalog.prices)
    );
    assert_eq!(
        (over.published, over.calibration, over.ports),
        (catalog.published, catalog.calibration, catalog.ports)
    );
}
