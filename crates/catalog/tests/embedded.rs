//! The catalog that comes with the program.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use catalog::Catalog;
use spec::{Cloud, Commitment};

#[test]
fn every_table_is_read() {
    let catalog = Catalog::embedded().unwrap();
    assert_eq!((catalog.vms.len(), catalog.disks.len(), catalog.services.len()), (503, 63, 39));
    assert_eq!(catalog.ports.len(), 13);
    let vm = catalog.prices.of(Cloud::Azure, "eastus", "vm:Standard_E16s_v3", Commitment::Payg).unwrap();
    assert!((vm.of(1.0).get() - 1.008 * 730.0).abs() < 1e-9);
}
