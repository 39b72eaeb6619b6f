//! What a design should deliver, what limits it and what it costs: the one path for designs that were searched and for
//! designs that people bring.

use catalog::Catalog;
use fault::{Fault, Kind, Result};
use spec::{Constraints, Spec};
use units::{Bandwidth, Bytes, Money};

use crate::calibration::{Calibration, Factor};
use crate::cost::{self, CostLine, Part};
use crate::demand::{Demand, Requirement};
use crate::design::{Design, Family, Layout};
use crate::guard::Guards;
use crate::layout::servers::client_network;
use crate::layout::{self, Assessment, Burst, ClientSide, WriteLaw};
use crate::limit::{Limit, Operation, Place, Rates, UnknownLimit};
use crate::market::Market;

/// What is known of a design.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The design.
    pub design: Design,
    /// One per file system, in the design's order.
    pub storages: Vec<StorageEvaluation>,
    /// The clients' cost.
    pub clients: CostLine,
    /// What stands against using it, beyond what stands against one of its storages.
    pub refusals: Vec<String>,
}

/// What is known of one file system of a design.
#[derive(Debug, Clone, PartialEq)]
pub struct StorageEvaluation {
    /// What is needed.
    pub requirement: Requirement,
    /// Its kind.
    pub family: Family,
    /// The share of the limits that such systems reach.
    pub factor: Factor,
    /// The chain, in the order data passes it.
    pub limits: Vec<Limit>,
    /// Bounds that are not known.
    pub unknown: Vec<UnknownLimit>,
    /// What it should deliver to all clients.
    pub delivered: Rates,
    /// Usable capacity.
    pub capacity: Bytes,
    /// What it costs, clients aside.
    pub costs: Vec<CostLine>,
    /// Servers to run.
    pub nodes: u32,
    /// The law its writes follow.
    pub write_law: WriteLaw,
    /// More for a while.
    pub burst: Option<Burst>,
    /// Memory of its servers: reads of less data than this may come from there.
    pub cache: Option<Bytes>,
    /// What stands against using it.
    pub refusals: Vec<String>,
    /// What one should know.
    pub notes: Vec<String>,
}

/// Evaluates a design by the catalog's facts. Fails when it names something the catalog does not have.
pub fn evaluate(
    catalog: &Catalog,
    design: &Design,
    constraints: &Constraints,
    guards: &Guards,
    calibration: &Calibration,
) -> Result<Evaluation> {
    evaluate_in(&Market::new(catalog, design.place.clone(), constraints, guards, calibration), design)
}

/// Evaluates a design of this market's region.
pub(crate) fn evaluate_in(market: &Market<'_>, design: &Design) -> Result<Evaluation> {
    let spec = Spec {
        version: spec::VERSION,
        grid: design.grid.clone(),
        storage: design.storage.iter().map(|storage| storage.requirement.clone()).collect(),
        constraints: market.constraints.clone(),
        test: Vec::new(),
        sweep: Vec::new(),
    };
    let demand = Demand::of(&spec)?;
    if design.clients.count == 0 {
        return Err(Fault::new(Kind::Spec, "the design has no clients").hint("set `count` in `[clients]`"));
    }
    let vm = market.vm(&design.clients.sku)?;
    let side = ClientSide { vm, count: design.clients.count, pcores: demand.pcores };
    let judged = design.storage.iter().zip(demand.requirements);
    let storages = judged
        .map(|(storage, requirement)| {
            let assessment = layout::assess(market, &storage.layout, &requirement, side)?;
            Ok(StorageEvaluation::of(market, assessment, requirement, side, &storage.layout))
        })
        .collect::<Result<Vec<_>>>()?;
    let clients = layout::vm_cost(market, vm, design.clients.count, Part::Clients);
    let refusals = together(&storages, side);
    Ok(Evaluation { design: design.clone(), storages, clients, refusals })
}

/// Whether the clients' network carries all storages at once.
fn together(storages: &[StorageEvaluation], side: ClientSide<'_>) -> Vec<String> {
    let over_network = || storages.iter().filter(|storage| uses_network(storage.family));
    if over_network().count() < 2 {
        return Vec::new();
    }
    let network = client_network(side.vm).times(f64::from(side.count));
    let share = |of: fn(&StorageEvaluation) -> f64| over_network().map(of).sum::<f64>();
    let read = share(|s| s.requirement.mixed().get() * s.requirement.read_share.get() / s.factor.read.value);
    let write = share(|s| {
        s.requirement.mixed().get() * s.requirement.read_share.complement().get() / s.factor.write.value
    });
    let mut why = Vec::new();
    for (what, needed, has) in [("read", read, network.read), ("write", write, network.write)] {
        if needed > has * (1.0 + 1e-9) {
            why.push(format!(
                "all storages together {what} {} over the clients' network, which carries {}",
                Bandwidth::bytes_per_second(needed),
                Bandwidth::bytes_per_second(has)
            ));
        }
    }
    why
}

/// Whether a family's bytes pass the clients' network; network disks have a path of their own.
pub(crate) fn uses_network(family: Family) -> bool {
    matches!(family, Family::LustreOnVms | Family::ManagedLustre | Family::NfsService)
}

impl StorageEvaluation {
    fn of(
        market: &Market<'_>,
        assessment: Assessment,
        requirement: Requirement,
        side: ClientSide<'_>,
        layout: &Layout,
    ) -> Self {
        let factor = market.factor(assessment.family);
        let mut limits = client_limits(&assessment, side);
        limits.extend(assessment.limits);
        limits.sort_by_key(|limit| limit.place);
        let mut storage = Self {
            family: assessment.family,
            factor,
            limits,
            unknown: assessment.unknown,
            delivered: Rates::default(),
            capacity: assessment.capacity,
            costs: assessment.costs,
            nodes: assessment.nodes,
            write_law: assessment.write_law,
            burst: assessment.burst,
            cache: assessment.cache,
            refusals: assessment.refusals,
            notes: assessment.notes,
            requirement,
        };
        storage.delivered = storage.rates(layout);
        storage.refusals.extend(storage.misses());
        storage
    }

    /// What a limit lets through after calibration.
    pub fn reached(&self, limit: &Limit, operation: Operation) -> Bandwidth {
        let share = self.requirement.read_share;
        let factor = match operation {
            Operation::Read => self.factor.read.value,
            Operation::Write => self.factor.write.value,
            Operation::Mixed => self.factor.mixed(share),
        };
        Bandwidth::bytes_per_second(limit.stated.of(operation, share) * factor)
    }

    /// What is needed.
    pub fn needed(&self) -> Rates {
        Rates { read: self.requirement.read, write: self.requirement.write, mixed: self.requirement.mixed() }
    }

    /// The smallest limit for an operation; `None` if nothing known bounds it.
    pub fn bottleneck(&self, operation: Operation) -> Option<&Limit> {
        let share = self.requirement.read_share;
        let bounds = self.limits.iter().filter(|limit| limit.stated.of(operation, share).is_finite());
        bounds.min_by(|a, b| a.stated.of(operation, share).total_cmp(&b.stated.of(operation, share)))
    }

    /// The operation with the least room over what is needed.
    pub fn tightest(&self) -> Operation {
        let room = |operation: &Operation| {
            self.delivered.of(*operation).get() / self.needed().of(*operation).get().max(1.0)
        };
        let least = Operation::ALL.into_iter().min_by(|a, b| room(a).total_cmp(&room(b)));
        least.unwrap_or(Operation::Mixed)
    }

    /// How much larger than the smallest limit the next one is, as a share: 0.25 means a quarter more.
    pub fn headroom(&self, operation: Operation) -> Option<(f64, &Limit)> {
        let smallest = self.bottleneck(operation)?;
        let share = self.requirement.read_share;
        let least = smallest.stated.of(operation, share);
        let others = self.limits.iter().filter(|limit| limit.place != smallest.place);
        let next = others
            .filter(|limit| limit.stated.of(operation, share).is_finite())
            .min_by(|a, b| a.stated.of(operation, share).total_cmp(&b.stated.of(operation, share)))?;
        Some((next.stated.of(operation, share) / least - 1.0, next))
    }

    /// What it costs per month without clients; `None` if a price is missing.
    pub fn per_month(&self) -> Option<Money> {
        cost::total(&self.costs)
    }

    fn rates(&self, layout: &Layout) -> Rates {
        let least = |operation| {
            let reached = self.limits.iter().map(|limit| self.reached(limit, operation).get());
            Bandwidth::bytes_per_second(reached.fold(f64::INFINITY, f64::min))
        };
        let finite = |rate: Bandwidth| if rate.get().is_finite() { rate } else { Bandwidth::ZERO };
        let mut rates = Rates {
            read: finite(least(Operation::Read)),
            write: finite(least(Operation::Write)),
            mixed: finite(least(Operation::Mixed)),
        };
        if self.write_law == WriteLaw::Burst && matches!(layout, Layout::LustreOnVms(_)) {
            rates.write = self.burst_write();
        }
        rates
    }

    /// 1 / rate = 1 / network + 1 / disks: a burst passes the network into the servers' memory, then fsync drains it.
    fn burst_write(&self) -> Bandwidth {
        let least = |places: &[Place]| {
            let of = self.limits.iter().filter(|limit| places.contains(&limit.place));
            of.map(|limit| limit.stated.write).fold(f64::INFINITY, f64::min)
        };
        // A stream's bound is its OSTs', which a burst does not wait for before fsync.
        let network = least(&[Place::ClientNetwork, Place::ServerNetwork]);
        let disks = least(&[Place::ServerDisks, Place::DiskBandwidth, Place::DiskIops]);
        Bandwidth::bytes_per_second(self.factor.write.value / (1.0 / network + 1.0 / disks))
    }

    /// Rates that are less than needed.
    fn misses(&self) -> Vec<String> {
        let needed = self.needed();
        let missed = Operation::ALL.into_iter().filter(|operation| {
            self.delivered.of(*operation).get() < needed.of(*operation).get() * (1.0 - 1e-6)
                && !self.unbounded(*operation)
        });
        missed
            .map(|operation| {
                let place = self.bottleneck(operation).map_or("no known limit", |limit| limit.place.name());
                format!(
                    "{} is {}, less than the {} needed: {place}",
                    operation.name(),
                    self.delivered.of(operation),
                    needed.of(operation)
                )
            })
            .collect()
    }

    /// Whether nothing known bounds an operation: then nothing can be said of it.
    fn unbounded(&self, operation: Operation) -> bool {
        self.bottleneck(operation).is_none()
    }
}

/// The clients' side of the chain.
fn client_limits(assessment: &Assessment, side: ClientSide<'_>) -> Vec<Limit> {
    let mut limits = Vec::new();
    let clients = f64::from(side.count);
    if uses_network(assessment.family)
        && let Some(network) = side.vm.network
    {
        let stated = client_network(side.vm).times(clients);
        let unmetered = if stated.read.is_infinite() { "; what arrives is not metered" } else { "" };
        let cause = format!("{} x {}, {network} out of each{unmetered}", side.count, side.vm.sku);
        let source = Some(side.vm.source.clone());
        limits.push(Limit { place: Place::ClientNetwork, stated, cause, source });
    }
    let mut add = |place, per: &layout::PerClient, count: f64, what: &str| {
        let cause = format!("{count} {what} x {}", per.cause);
        limits.push(Limit { place, stated: per.stated.times(count), cause, source: per.source.clone() });
    };
    if let Some(per) = &assessment.per_client {
        add(Place::ClientMount, per, clients, "clients");
    }
    if let Some(per) = &assessment.per_stream {
        add(Place::OneStream, per, f64::from(side.pcores), "streams");
    }
    limits
}

impl Evaluation {
    /// Storage and clients per month; `None` if a price is missing.
    pub fn per_month(&self) -> Option<Money> {
        Some(self.storage_per_month()? + self.clients.per_month?)
    }

    /// Storage alone per month; `None` if a price is missing.
    pub fn storage_per_month(&self) -> Option<Money> {
        self.storages.iter().map(StorageEvaluation::per_month).sum()
    }

    /// Whether every requirement is met and nothing stands against the design.
    pub fn holds(&self) -> bool {
        self.refusals.is_empty() && self.storages.iter().all(|storage| storage.refusals.is_empty())
    }

    /// Whether all limits it passes are known.
    pub fn is_known(&self) -> bool {
        self.storages.iter().all(|storage| storage.unknown.is_empty())
    }

    /// What all storages deliver together at their mixes.
    pub fn delivered(&self) -> Bandwidth {
        self.storages.iter().map(|storage| storage.delivered.mixed).sum()
    }

    /// The kinds of its storages, in order.
    pub fn families(&self) -> Vec<Family> {
        self.storages.iter().map(|storage| storage.family).collect()
    }
}
