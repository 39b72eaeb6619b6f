//! The catalog that comes with the program.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use catalog::{Catalog, Severity, Wanted};
use spec::{Cloud, Commitment};

#[test]
fn every_table_is_read() {
    let catalog = Catalog::embedded().unwrap();
    assert_eq!((catalog.vms.len(), catalog.disks.len(), catalog.services.len()), (503, 63, 41));
    assert_eq!((catalog.ports.len(), catalog.published.len(), catalog.calibration.len()), (13, 797, 6));
    let vm = catalog.prices.of(Cloud::Azure, "eastus", "vm:Standard_E16s_v3", Commitment::Payg).unwrap();
    assert!((vm.of(1.0).get() - 1.008 * 730.0).abs() < 1e-9);
}

#[test]
fn nothing_in_it_is_wrong_and_what_is_unlikely_is_known() {
    let found = Catalog::embedded().unwrap().check();
    let of = |severity| found.iter().filter(move |finding| finding.severity == severity);
    let shown = |severity| of(severity).map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(shown(Severity::Error), Vec::<String>::new());
    assert_eq!(shown(Severity::Warning), Vec::<String>::new());
    assert!(
        shown(Severity::Note).iter().any(
            |note| note.contains("no region has a price of `service:AMLFS-Durable-Premium-250:capacity`")
        )
    );
}

#[test]
fn published_results_are_found_by_what_they_are_of() {
    let catalog = Catalog::embedded().unwrap();
    let wanted = Wanted {
        test: Some("iotest"),
        operation: Some("write"),
        architecture: Some("lustre-on-vms"),
        ..Wanted::default()
    };
    let totals: Vec<f64> =
        catalog.published(wanted).map(|result| result.bandwidth().unwrap().as_mb()).collect();
    assert_eq!(totals, [8592.0, 8352.0, 7744.0, 8960.0]);
    let reads = Wanted { operation: Some("read"), ..wanted };
    let cached: Vec<bool> = catalog.published(reads).map(|result| result.cached.is_some()).collect();
    assert_eq!(cached, [true, false, true, false]);
}
