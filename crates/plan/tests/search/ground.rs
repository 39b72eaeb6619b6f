//! Specs and catalogs to test with.

use std::sync::LazyLock;

use catalog::Catalog;
use plan::{Calibration, Options};
use spec::{Cloud, Constraints, Figures, Grid, Role, Spec, Storage};
use units::{Bandwidth, Bytes};

/// The catalog that comes with the program.
pub static EMBEDDED: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().unwrap());

/// A grid with one storage, by the figures of the specifications.
pub fn spec(cloud: Cloud, pcores: u32, capacity: Bytes, rate: Bandwidth) -> Spec {
    let mut storage = Storage::new("data", Role::Data);
    storage.capacity = Some(capacity);
    storage.read_aggregate = Some(rate);
    storage.write_aggregate = Some(rate);
    Spec {
        version: spec::VERSION,
        grid: Grid::new("grid", pcores),
        storage: vec![storage],
        constraints: Constraints {
            clouds: vec![cloud],
            figures: Figures::SpecSheet,
            ..Constraints::default()
        },
        test: Vec::new(),
        sweep: Vec::new(),
    }
}

/// The options of a plan, with what the catalog knows of measured systems.
pub fn options() -> Options {
    Options { calibration: Calibration::of(&EMBEDDED), ..Options::default() }
}

/// The grid of the study of SAS on Azure with Lustre: 9,216 MB/s, 384 TiB.
pub fn sas_azure() -> Spec {
    let mut spec = spec(Cloud::Azure, 48, Bytes::tib(384), Bandwidth::mb_per_second(9216.0));
    spec.constraints.regions = vec!["eastus".to_owned()];
    spec
}
