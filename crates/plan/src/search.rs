//! All designs for a grid, ranked: every family in every region that may be used, with the clients that go with it.
//!
//! Given the clients' SKU the storages do not depend on each other, and storages behind a network do not depend on the
//! clients except through bounds that both sides must satisfy. So the cheapest grid is found by trying, for every
//! combination of families, every client SKU with each storage's cheapest layout: no combination is left out.

use std::collections::HashMap;
use std::sync::Arc;

use catalog::{Catalog, Vm};
use fault::{Fault, Kind, Result};
use spec::{Cloud, Spec};
use units::Money;

use crate::calibration::Calibration;
use crate::clients::{self, Load};
use crate::cost;
use crate::demand::{Demand, Requirement};
use crate::design::{self, Clients, Design, Family, Layout, Region, StorageDesign};
use crate::evaluate::{Evaluation, evaluate, uses_network};
use crate::guard::Guards;
use crate::layout::{self, Assessment, WriteLaw, lustre, nvme, service, shared, striped};
use crate::limit::{Capability, Place};
use crate::market::Market;

/// What is weighed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Objective {
    /// US dollars per month.
    #[default]
    Cost,
    /// US dollars per month and MB/s delivered.
    CostPerRate,
}

/// How to search.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What designs are ranked by.
    pub objective: Objective,
    /// Rules of good sense.
    pub guards: Guards,
    /// How measured systems compare with their limits.
    pub calibration: Calibration,
}

/// Every design found, best first, and why there are no others.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What was asked.
    pub demand: Demand,
    /// Where was looked.
    pub regions: Vec<Region>,
    /// Designs whose limits and prices are known, best first.
    pub ranked: Vec<Evaluation>,
    /// Designs that can't be ranked: a limit they pass is not in the catalog.
    pub limits_unknown: Vec<Evaluation>,
    /// Designs that can't be ranked: a price is not in the catalog.
    pub prices_unknown: Vec<Evaluation>,
    /// Why a family has no design in a region.
    pub refused: Vec<Refused>,
    /// Combinations that were costed.
    pub looked_at: u64,
}

/// Why a family has no design for a storage in a region.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// Where.
    pub place: Region,
    /// The storage's name.
    pub storage: String,
    /// The kind of design.
    pub family: Family,
    /// The reasons, in words.
    pub reasons: Vec<String>,
}

/// Layouts per family that are followed up when a grid has one storage; with several, the cheapest each.
const ALTERNATIVES: usize = 24;

/// Finds the designs for `spec` by the catalog's facts.
pub fn search(catalog: &Catalog, spec: &Spec, options: &Options) -> Result<Plan> {
    let demand = Demand::of(spec)?;
    let regions = regions(catalog, &demand)?;
    let mut plan = Plan {
        ranked: Vec::new(),
        limits_unknown: Vec::new(),
        prices_unknown: Vec::new(),
        refused: Vec::new(),
        looked_at: 0,
        regions: regions.clone(),
        demand,
    };
    for place in regions {
        let demand = plan.demand.clone();
        let market = Market::new(catalog, place, &demand.constraints, &options.guards, &options.calibration);
        let mut here = Here { market: &market, demand: &demand, spec, looked_at: 0, refused: Vec::new() };
        for design in here.designs() {
            let evaluation =
                evaluate(catalog, &design, &demand.constraints, &options.guards, &options.calibration)?;
            if evaluation.holds() && within_budget(&evaluation, &demand) {
                plan.add(evaluation);
            }
        }
        plan.looked_at += here.looked_at;
        plan.refused.append(&mut here.refused);
    }
    plan.sort(options.objective);
    Ok(plan)
}

fn within_budget(evaluation: &Evaluation, demand: &Demand) -> bool {
    let budget = demand.constraints.monthly_budget_usd.map(|usd| Money::usd(f64::from(usd)));
    match (budget, evaluation.storage_per_month()) {
        (Some(budget), Some(cost)) => cost <= budget,
        _ => true,
    }
}

/// The regions to look at: those the spec names, or of every cloud the one with the most prices.
fn regions(catalog: &Catalog, demand: &Demand) -> Result<Vec<Region>> {
    let constraints = &demand.constraints;
    let clouds = [Cloud::Azure, Cloud::Aws, Cloud::Gcp];
    let allowed = clouds
        .into_iter()
        .filter(|cloud| constraints.clouds.is_empty() || constraints.clouds.contains(cloud));
    let region = |cloud, name: &Arc<str>| Region {
        cloud,
        region: name.to_string(),
        commitment: constraints.commitment,
    };
    let allowed: Vec<Cloud> = allowed.collect();
    if constraints.regions.is_empty() {
        let usual = allowed.iter().filter_map(|cloud| Some(region(*cloud, &main_region(catalog, *cloud)?)));
        return Ok(usual.collect());
    }
    let mut found = Vec::new();
    for name in &constraints.regions {
        let known = |cloud: &&Cloud| catalog.prices.regions(**cloud).iter().any(|region| **region == **name);
        match allowed.iter().find(known) {
            Some(cloud) => found.push(region(*cloud, &Arc::from(name.as_str()))),
            None => return Err(no_region(catalog, &allowed, name)),
        }
    }
    Ok(found)
}

/// The region of a cloud with the most prices.
fn main_region(catalog: &Catalog, cloud: Cloud) -> Option<Arc<str>> {
    let regions = catalog.prices.regions(cloud);
    // `max_by_key` takes the last of equals; the first by name is wanted.
    regions.into_iter().rev().max_by_key(|region| catalog.prices.list(cloud, region).len())
}

fn no_region(catalog: &Catalog, clouds: &[Cloud], name: &str) -> Fault {
    let known: Vec<Arc<str>> = clouds.iter().flat_map(|cloud| catalog.prices.regions(*cloud)).collect();
    let names = || known.iter().map(|region| &**region);
    let fault = Fault::new(
        Kind::Spec,
        format!("the catalog has no prices for region `{name}` of the clouds allowed"),
    );
    match spec::nearest(name, names()) {
        Some(nearest) => fault.hint(format!("did you mean `{nearest}`?")),
        None => fault.hint(format!(
            "it has prices for {}; `forebay catalog refresh` reads others",
            spec::quoted(names())
        )),
    }
}

impl Plan {
    fn add(&mut self, evaluation: Evaluation) {
        if evaluation.per_month().is_none() {
            self.prices_unknown.push(evaluation);
        } else if evaluation.is_known() {
            self.ranked.push(evaluation);
        } else {
            self.limits_unknown.push(evaluation);
        }
    }

    fn sort(&mut self, objective: Objective) {
        let weight = |evaluation: &Evaluation| {
            let cost = evaluation
                .per_month()
                .or_else(|| evaluation.storage_per_month())
                .map_or(f64::MAX, Money::get);
            match objective {
                Objective::Cost => cost,
                Objective::CostPerRate => cost / evaluation.delivered().as_mb().max(1.0),
            }
        };
        for list in [&mut self.ranked, &mut self.limits_unknown, &mut self.prices_unknown] {
            // The sort is stable and designs come in a fixed order, so the output is the same every time.
            list.sort_by(|a, b| weight(a).total_cmp(&weight(b)));
        }
    }

    /// The best design of every family, in the order of the ranking. For a grid of several storages: of every combination.
    pub fn best_of_families(&self) -> Vec<&Evaluation> {
        let mut seen = Vec::new();
        let mut best = Vec::new();
        for evaluation in self.ranked.iter().chain(&self.limits_unknown).chain(&self.prices_unknown) {
            let families = evaluation.families();
            if !seen.contains(&families) {
                seen.push(families);
                best.push(evaluation);
            }
        }
        best
    }

    /// Designs that none beats in cost, throughput, capacity and number of servers at once, cheapest first.
    pub fn front(&self) -> Vec<&Evaluation> {
        let point = |evaluation: &Evaluation| {
            let cost = evaluation.per_month().map_or(f64::MAX, Money::get);
            let capacity: u64 = evaluation.storages.iter().map(|storage| storage.capacity.get()).sum();
            let nodes: u32 = evaluation.storages.iter().map(|storage| storage.nodes).sum();
            [cost, -evaluation.delivered().get(), -(capacity as f64), f64::from(nodes)]
        };
        let points: Vec<[f64; 4]> = self.ranked.iter().map(point).collect();
        let no_worse = |a: &[f64; 4], b: &[f64; 4]| a.iter().zip(b).all(|(a, b)| a <= b);
        // Of two equal ones the first stays.
        let beaten = |place: usize| {
            let b = &points[place];
            points
                .iter()
                .enumerate()
                .any(|(i, a)| i != place && no_worse(a, b) && (i < place || !no_worse(b, a)))
        };
        self.ranked
            .iter()
            .enumerate()
            .filter(|(place, _)| !beaten(*place))
            .map(|(_, evaluation)| evaluation)
            .collect()
    }
}

/// The search in one region.
struct Here<'a, 'm> {
    market: &'m Market<'a>,
    demand: &'m Demand,
    spec: &'m Spec,
    looked_at: u64,
    refused: Vec<Refused>,
}

/// One way to build one storage.
#[derive(Debug, Clone)]
enum Choice {
    /// Independent of the clients, behind their network.
    Network {
        layout: Box<Layout>,
        cost: Option<f64>,
        per_client: Capability,
        /// What the clients' network must carry of a write burst, bytes per second: as much as the servers'.
        burst: f64,
    },
    /// Made for the clients' SKU and number.
    Local(Family),
}

impl Here<'_, '_> {
    fn designs(&mut self) -> Vec<Design> {
        let skus = clients::skus(self.market, self.demand);
        let choices: Vec<Vec<Choice>> =
            self.demand.requirements.iter().map(|requirement| self.choices(requirement)).collect();
        let mut locals = HashMap::new();
        let mut designs = Vec::new();
        for combination in combinations(&choices) {
            if let Some((vm, count, layouts)) = self.cheapest_clients(&skus, &combination, &mut locals) {
                designs.push(self.design(vm, count, layouts));
            }
        }
        designs
    }

    fn choices(&mut self, requirement: &Requirement) -> Vec<Choice> {
        let most = if self.demand.requirements.len() == 1 { ALTERNATIVES } else { 1 };
        let mut choices = Vec::new();
        let found = lustre::find(self.market, requirement);
        self.looked_at += found.looked_at;
        if found.layouts.is_empty() {
            self.refuse(requirement, Family::LustreOnVms, lustre::reasons(self.market, requirement));
        }
        choices.extend(
            found
                .layouts
                .into_iter()
                .take(most)
                .filter_map(|layout| self.behind_network(layout, requirement)),
        );
        let mut services: Vec<(Family, Choice)> = Vec::new();
        for layout in service::candidates(self.market, requirement) {
            self.looked_at += 1;
            let Some(assessment) = self.assess(&layout, requirement) else { continue };
            services.push((assessment.family, choice(layout, &assessment)));
        }
        for family in [Family::ManagedLustre, Family::NfsService] {
            let of: Vec<Choice> =
                services.iter().filter(|(of, _)| *of == family).map(|(_, choice)| choice.clone()).collect();
            if of.is_empty() {
                let why = service::reasons(self.market, requirement).into_iter();
                let lines = why
                    .filter(|(tier, _)| {
                        self.market.service(tier).is_ok_and(|tier| service::family(tier) == family)
                    })
                    .map(|(tier, why)| format!("{tier}: {why}"));
                let lines = lines.collect();
                self.refuse(requirement, family, lines);
            }
            choices.extend(cheapest_first(of, most));
        }
        choices.extend([Family::StripedVolumes, Family::SharedVolumes, Family::LocalNvme].map(Choice::Local));
        choices
    }

    fn refuse(&mut self, requirement: &Requirement, family: Family, mut reasons: Vec<String>) {
        if reasons.is_empty() {
            reasons.push(format!("the catalog has no {} in this cloud", family.as_str()));
        }
        let (place, storage) = (self.market.place.clone(), requirement.name.clone());
        self.refused.push(Refused { place, storage, family, reasons });
    }

    /// A layout that does not look at its clients.
    fn assess(&self, layout: &Layout, requirement: &Requirement) -> Option<Assessment> {
        let anyone = self.market.catalog.vms.first()?;
        layout::assess(self.market, layout, requirement, clients::side(self.demand, anyone, 1)).ok()
    }

    fn behind_network(&self, layout: Layout, requirement: &Requirement) -> Option<Choice> {
        let assessment = self.assess(&layout, requirement)?;
        Some(choice(layout, &assessment))
    }

    /// What a storage asks of the clients' network, as stated rates.
    fn load(&self, requirement: &Requirement, family: Family) -> Load {
        if !uses_network(family) {
            return Load::default();
        }
        let factor = self.market.factor(family);
        let (mixed, share) = (requirement.mixed().get(), requirement.read_share);
        Load {
            read: requirement.read.get() / factor.read.value,
            write: requirement.write.get() / factor.write.value,
            mixed_read: mixed * share.get() / factor.read.value,
            mixed_write: mixed * share.complement().get() / factor.write.value,
        }
    }

    /// The clients for which a combination costs least, and the layouts with them.
    fn cheapest_clients<'v>(
        &mut self,
        skus: &[(&'v Vm, Option<f64>)],
        combination: &[&Choice],
        locals: &mut HashMap<LocalKey, Option<(f64, Layout)>>,
    ) -> Option<(&'v Vm, u32, Vec<Layout>)> {
        let mut load = Load::default();
        let mut per_client = Capability::UNBOUNDED;
        let mut network = Some(0.0);
        for (requirement, choice) in self.demand.requirements.iter().zip(combination) {
            if let Choice::Network { layout, cost, per_client: bound, burst } = choice {
                let mut of = self.load(requirement, family_of(layout));
                of.write = of.write.max(*burst);
                load = load.and(of);
                per_client = per_client.and(*bound);
                network = network.zip(*cost).map(|(sum, cost)| sum + cost);
            }
        }
        let mut best: Option<(f64, &'v Vm, u32, Vec<Layout>)> = None;
        for (vm, price) in skus {
            let Some(count) = clients::count(self.market, self.demand, vm, load, per_client) else {
                continue;
            };
            let base = price.unwrap_or(0.0) * f64::from(count) + network.unwrap_or(0.0);
            if best.as_ref().is_some_and(|(least, ..)| base >= *least) {
                continue;
            }
            let Some((local, layouts)) = self.layouts(combination, vm, count, locals) else { continue };
            let total = base + local;
            if best.as_ref().is_none_or(|(least, ..)| total < *least) {
                best = Some((total, vm, count, layouts));
            }
        }
        best.map(|(_, vm, count, layouts)| (vm, count, layouts))
    }

    /// The layouts of a combination on given clients, and what the local ones cost.
    fn layouts(
        &mut self,
        combination: &[&Choice],
        vm: &Vm,
        count: u32,
        locals: &mut HashMap<LocalKey, Option<(f64, Layout)>>,
    ) -> Option<(f64, Vec<Layout>)> {
        let mut sum = 0.0;
        let mut layouts = Vec::new();
        for (place, choice) in combination.iter().enumerate() {
            match choice {
                Choice::Network { layout, .. } => layouts.push((**layout).clone()),
                Choice::Local(family) => {
                    let key = (place, *family, vm.sku.clone(), count);
                    let found = locals.entry(key).or_insert_with(|| {
                        self.looked_at += 1;
                        self.local(*family, &self.demand.requirements[place], vm, count)
                    });
                    let (cost, layout) = found.as_ref()?;
                    sum += cost;
                    layouts.push(layout.clone());
                }
            }
        }
        Some((sum, layouts))
    }

    fn local(&self, family: Family, requirement: &Requirement, vm: &Vm, count: u32) -> Option<(f64, Layout)> {
        let side = clients::side(self.demand, vm, count);
        let priced = |found: Option<(Money, Layout)>| found.map(|(cost, layout)| (cost.get(), layout));
        match family {
            Family::StripedVolumes => priced(striped::cheapest(self.market, requirement, side)),
            Family::SharedVolumes => priced(shared::cheapest(self.market, requirement, side)),
            Family::LocalNvme => Some((0.0, nvme::cheapest(self.market, requirement, side)?)),
            Family::LustreOnVms | Family::ManagedLustre | Family::NfsService => None,
        }
    }

    fn design(&self, vm: &Vm, count: u32, layouts: Vec<Layout>) -> Design {
        let requirements = self.spec.storage.iter().cloned();
        Design {
            version: design::VERSION,
            place: self.market.place.clone(),
            grid: self.spec.grid.clone(),
            clients: Clients { sku: vm.sku.to_string(), count },
            storage: requirements
                .zip(layouts)
                .map(|(requirement, layout)| StorageDesign { requirement, layout })
                .collect(),
        }
    }
}

/// Storage, family, client SKU and number of clients.
type LocalKey = (usize, Family, Arc<str>, u32);

fn choice(layout: Layout, assessment: &Assessment) -> Choice {
    let per_client = assessment.per_client.as_ref().map_or(Capability::UNBOUNDED, |per| per.stated);
    let servers = assessment.limits.iter().find(|limit| limit.place == Place::ServerNetwork);
    let burst = match assessment.write_law {
        WriteLaw::Burst => servers.map_or(0.0, |limit| limit.stated.read.min(limit.stated.write)),
        WriteLaw::Stream => 0.0,
    };
    let cost = cost::total(&assessment.costs).map(Money::get);
    Choice::Network { layout: Box::new(layout), cost, per_client, burst }
}

fn family_of(layout: &Layout) -> Family {
    match layout {
        Layout::LustreOnVms(_) => Family::LustreOnVms,
        // Managed Lustre and NFS load the clients' network alike, and are calibrated apart where evaluated.
        Layout::Service(_) => Family::ManagedLustre,
        Layout::StripedVolumes(_) => Family::StripedVolumes,
        Layout::SharedVolumes(_) => Family::SharedVolumes,
        Layout::LocalNvme(_) => Family::LocalNvme,
    }
}

/// Priced choices first, by cost.
fn cheapest_first(mut choices: Vec<Choice>, most: usize) -> Vec<Choice> {
    let cost = |choice: &Choice| match choice {
        Choice::Network { cost, .. } => cost.unwrap_or(f64::MAX),
        Choice::Local(_) => f64::MAX,
    };
    choices.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    choices.truncate(most);
    choices
}

/// One of each list, in every way.
fn combinations<T>(lists: &[Vec<T>]) -> Vec<Vec<&T>> {
    let mut all: Vec<Vec<&T>> = vec![Vec::new()];
    for list in lists {
        let mut longer = Vec::with_capacity(all.len() * list.len());
        for head in &all {
            for item in list {
                longer.push(head.iter().copied().chain([item]).collect());
            }
        }
        all = longer;
    }
    all
}
