//! Catalogs, markets and requirements to test with.

use std::borrow::Cow;
use std::sync::LazyLock;

use catalog::{Catalog, Protocol, ServiceTier, SizeRange, Source};
use plan::calibration::Share;
use plan::design::{Family, Region, Service};
use plan::layout::{Assessment, service};
use plan::{Calibration, Capability, Factor, Guards, Layout, Market, Operation, Requirement, cost};
use spec::{Access, Cloud, Commitment, Constraints, Durability, Figures, Role};
use units::{Bandwidth, Bytes, Money, Ratio};

/// The services and prices of the catalog that comes with the program. Machines only cost time here.
static EMBEDDED: LazyLock<Catalog> = LazyLock::new(|| {
    let catalog = Catalog::embedded().unwrap();
    Catalog { services: catalog.services, prices: catalog.prices, ..Catalog::default() }
});

/// Everything a market needs. Figures are those of the specification unless a test wants calibration.
pub struct Ground {
    pub catalog: Cow<'static, Catalog>,
    pub constraints: Constraints,
    pub guards: Guards,
    pub calibration: Calibration,
    pub place: (Cloud, &'static str),
}

impl Ground {
    /// The catalog that comes with the program.
    pub fn embedded(cloud: Cloud) -> Self {
        let region = match cloud {
            Cloud::Azure => "eastus",
            Cloud::Aws => "us-east-1",
            Cloud::Gcp => "us-central1",
        };
        Self {
            catalog: Cow::Borrowed(&EMBEDDED),
            constraints: Constraints { figures: Figures::SpecSheet, ..Constraints::default() },
            guards: Guards::default(),
            calibration: Calibration::default(),
            place: (cloud, region),
        }
    }

    /// One tier alone, with the prices of the tier of that name.
    pub fn of(tier: ServiceTier) -> Self {
        let mut ground = Self::embedded(tier.cloud);
        ground.catalog.to_mut().services = vec![tier];
        ground
    }

    /// Reads and writes reach shares of their limits.
    pub fn calibrated(mut self, read: f64, write: f64) -> Self {
        self.constraints.figures = Figures::Calibrated;
        let share = |value| Share { value, ..Share::ASSUMED };
        for family in Family::ALL {
            self.calibration.set_read(family, share(read));
            self.calibration.set_write(family, share(write));
        }
        self
    }

    pub fn market(&self) -> Market<'_> {
        let place =
            Region { cloud: self.place.0, region: self.place.1.to_owned(), commitment: Commitment::Payg };
        Market::new(&self.catalog, place, &self.constraints, &self.guards, &self.calibration)
    }

    pub fn tier(&self, name: &str) -> &ServiceTier {
        self.catalog.services.iter().find(|tier| &*tier.tier == name).unwrap()
    }

    /// An order of one volume.
    pub fn order(&self, tier: &str, capacity: Bytes) -> Service {
        Service {
            service: self.tier(tier).service.to_string(),
            tier: tier.to_owned(),
            capacity,
            throughput: None,
            iops: None,
            count: 1,
            mount: None,
        }
    }

    pub fn assess(&self, service: &Service, requirement: &Requirement) -> Assessment {
        service::assess(&self.market(), service, requirement).unwrap()
    }

    pub fn candidates(&self, requirement: &Requirement) -> Vec<Service> {
        let service = |layout| match layout {
            Layout::Service(service) => service,
            other => panic!("{other:?} is no service"),
        };
        service::candidates(&self.market(), requirement).into_iter().map(service).collect()
    }

    /// The candidate of one tier.
    pub fn candidate(&self, tier: &str, requirement: &Requirement) -> Option<Service> {
        self.candidates(requirement).into_iter().find(|service| service.tier == tier)
    }

    /// Why a tier has no candidate.
    pub fn reason(&self, tier: &str, requirement: &Requirement) -> String {
        let reasons = service::reasons(&self.market(), requirement);
        reasons.into_iter().find(|(name, _)| name == tier).unwrap().1
    }
}

/// A requirement in TiB and MB/s, 80:20, that one disk lost must not hurt.
pub fn need(tib: f64, read: f64, write: f64) -> Requirement {
    Requirement {
        name: "data".to_owned(),
        role: Role::Data,
        capacity: tib_of(tib),
        read: Bandwidth::mb_per_second(read),
        write: Bandwidth::mb_per_second(write),
        read_share: Ratio::percent(80.0),
        io_size: Bytes::mib(1),
        access: Access::Sequential,
        durability: Durability::Zone,
        checkpoint: None,
        stream: Bandwidth::ZERO,
    }
}

pub fn tib_of(tib: f64) -> Bytes {
    Bytes::new((tib * Bytes::tib(1).get() as f64) as u64)
}

/// Smallest of all limits.
pub fn chain(assessment: &Assessment) -> Capability {
    assessment.limits.iter().fold(Capability::UNBOUNDED, |all, limit| all.and(limit.stated))
}

/// Whether every operation has what it needs after calibration.
pub fn meets(assessment: &Assessment, requirement: &Requirement, factor: &Factor) -> bool {
    let chain = chain(assessment);
    Operation::ALL.into_iter().all(|operation| {
        let (needed, share) = match operation {
            Operation::Read => (requirement.read, factor.read.value),
            Operation::Write => (requirement.write, factor.write.value),
            Operation::Mixed => (requirement.mixed(), factor.mixed(requirement.read_share)),
        };
        chain.of(operation, requirement.read_share) * share >= needed.get() * (1.0 - 1e-9)
    })
}

pub fn price(assessment: &Assessment) -> Option<Money> {
    cost::total(&assessment.costs)
}

/// A tier of which nothing is known but its sizes, priced as FSx for OpenZFS is.
pub fn bare(sizes: Vec<SizeRange>) -> ServiceTier {
    ServiceTier {
        cloud: Cloud::Aws,
        service: "Files".into(),
        tier: "FSx-OpenZFS-SSD".into(),
        protocol: Protocol::Nfs,
        sizes,
        read_per_tib: None,
        write_per_tib: None,
        disk_read_per_tib: None,
        disk_write_per_tib: None,
        burst_per_tib: None,
        disk_burst_per_tib: None,
        cache_per_tib: None,
        read_iops_per_tib: None,
        write_iops_per_tib: None,
        iops: None,
        throughput: None,
        read_max: None,
        write_max: None,
        mixed_max: Vec::new(),
        metadata_iops: Vec::new(),
        clients: Vec::new(),
        ports: "2049".into(),
        encrypted_at_rest: None,
        customer_keys: None,
        encrypted_in_transit: None,
        durable: true,
        regional: false,
        caution: None,
        notes: "".into(),
        source: Source { document: "a test".into(), as_of: "2026".into() },
    }
}
