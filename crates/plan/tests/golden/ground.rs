//! Markets and requirements to compute with.

use std::sync::LazyLock;

use catalog::Catalog;
use plan::design::Region;
use plan::{Calibration, Guards, Market, Requirement};
use spec::{Access, Cloud, Commitment, Constraints, Durability, Figures, Role};
use units::{Bandwidth, Bytes, Ratio};

/// The catalog that comes with the program.
pub static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().unwrap());

static GUARDS: LazyLock<Guards> = LazyLock::new(Guards::default);
static CALIBRATION: LazyLock<Calibration> = LazyLock::new(Calibration::default);
static CONSTRAINTS: LazyLock<Constraints> =
    LazyLock::new(|| Constraints { figures: Figures::SpecSheet, ..Constraints::default() });

/// What a cloud offers, by the figures of the specifications.
pub fn market(cloud: Cloud) -> Market<'static> {
    market_with(cloud, &CONSTRAINTS)
}

/// The same under constraints.
pub fn market_with(cloud: Cloud, constraints: &'static Constraints) -> Market<'static> {
    let region = match cloud {
        Cloud::Azure => "eastus",
        Cloud::Aws => "us-east-1",
        Cloud::Gcp => "us-central1",
    };
    let place = Region { cloud, region: region.to_owned(), commitment: Commitment::Payg };
    Market::new(&CATALOG, place, constraints, &GUARDS, &CALIBRATION)
}

/// The cloud a row names.
pub fn cloud(name: &str) -> Cloud {
    match name {
        "azure" => Cloud::Azure,
        "aws" => Cloud::Aws,
        "gcp" => Cloud::Gcp,
        other => panic!("{other} is no cloud"),
    }
}

/// A requirement that asks for nothing but what a test sets.
pub fn nothing() -> Requirement {
    Requirement {
        name: "data".to_owned(),
        role: Role::Work,
        capacity: Bytes::ZERO,
        read: Bandwidth::ZERO,
        write: Bandwidth::ZERO,
        read_share: Ratio::percent(80.0),
        io_size: Bytes::mib(1),
        access: Access::Sequential,
        durability: Durability::Zone,
        checkpoint: None,
        stream: Bandwidth::ZERO,
    }
}
