//! The search in one region: what can be built for each storage, and the clients with which all of it costs least.

use std::collections::HashMap;
use std::sync::Arc;

use catalog::Vm;
use spec::Spec;
use units::Money;

use super::{Refused, local};
use crate::clients::{self, Load};
use crate::cost;
use crate::demand::{Demand, Requirement};
use crate::design::{self, Clients, Design, Family, Layout, StorageDesign};
use crate::evaluate::uses_network;
use crate::layout::{self, Assessment, WriteLaw, lustre, multi_attach, nvme, service, striped};
use crate::limit::{Capability, Place};
use crate::market::Market;

/// Layouts per family that are followed up when a grid has one storage; with several, the cheapest each.
const ALTERNATIVES: usize = 24;

/// The search in one region.
pub struct Here<'a, 'm> {
    market: &'m Market<'a>,
    demand: &'m Demand,
    spec: &'m Spec,
    /// Combinations costed so far.
    pub looked_at: u64,
    /// Families without a design so far.
    pub refused: Vec<Refused>,
}

/// One way to build one storage.
#[derive(Debug, Clone)]
enum Choice {
    /// Independent of the clients, behind their network.
    Network {
        family: Family,
        layout: Box<Layout>,
        cost: Option<f64>,
        per_client: Capability,
        /// What the clients' network must carry of a write burst, bytes per second: as much as the servers'.
        burst: f64,
    },
    /// Made for the clients' SKU and number.
    Local(Family),
}

impl<'a, 'm> Here<'a, 'm> {
    /// Nothing looked at yet.
    pub fn new(market: &'m Market<'a>, demand: &'m Demand, spec: &'m Spec) -> Self {
        Self { market, demand, spec, looked_at: 0, refused: Vec::new() }
    }

    /// The designs worth evaluating.
    pub fn designs(&mut self) -> Vec<Design> {
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
        self.refuse_local(&skus, &locals);
        designs
    }

    /// Says why a family made of the clients' own storage has no design for a storage, where no client will do.
    fn refuse_local(&mut self, skus: &[(&Vm, Option<f64>)], locals: &Locals) {
        for (place, requirement) in self.demand.requirements.iter().enumerate() {
            for family in LOCAL {
                let found = |(key, found): (&LocalKey, &Option<(f64, Layout)>)| {
                    key.0 == place && key.1 == family && found.is_some()
                };
                if locals.iter().any(found) {
                    continue;
                }
                let reasons = local::reasons(self.market, self.demand, requirement, family, skus);
                self.refuse(requirement, family, reasons);
            }
        }
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
        choices.extend(LOCAL.map(Choice::Local));
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
        locals: &mut Locals,
    ) -> Option<(&'v Vm, u32, Vec<Layout>)> {
        let mut load = Load::default();
        let mut per_client = Capability::UNBOUNDED;
        let mut network = Some(0.0);
        for (requirement, choice) in self.demand.requirements.iter().zip(combination) {
            if let Choice::Network { family, cost, per_client: bound, burst, .. } = choice {
                let mut of = self.load(requirement, *family);
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
        locals: &mut Locals,
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
            Family::SharedVolumes => priced(multi_attach::cheapest(self.market, requirement, side)),
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

/// The cheapest layout on given clients with its cost, or that there is none.
type Locals = HashMap<LocalKey, Option<(f64, Layout)>>;

/// Families whose storage belongs to the clients.
const LOCAL: [Family; 3] = [Family::StripedVolumes, Family::SharedVolumes, Family::LocalNvme];

fn choice(layout: Layout, assessment: &Assessment) -> Choice {
    let per_client = assessment.per_client.as_ref().map_or(Capability::UNBOUNDED, |per| per.stated);
    let servers = assessment.limits.iter().find(|limit| limit.place == Place::ServerNetwork);
    let burst = match assessment.write_law {
        WriteLaw::Burst => servers.map_or(0.0, |limit| limit.stated.read.min(limit.stated.write)),
        WriteLaw::Stream => 0.0,
    };
    let cost = cost::total(&assessment.costs).map(Money::get);
    Choice::Network { family: assessment.family, layout: Box::new(layout), cost, per_client, burst }
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
