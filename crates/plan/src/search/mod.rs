//! All designs for a grid, ranked: every family in every region that may be used, with the clients that go with it.
//!
//! Given the clients' SKU the storages do not depend on each other, and storages behind a network do not depend on the
//! clients except through bounds that both sides must satisfy. So the cheapest grid is found by trying, for every
//! combination of families, every client SKU with each storage's cheapest layout: no combination is left out.

mod here;
mod local;
mod regions;

use catalog::Catalog;
use fault::Result;
use spec::Spec;
use units::Money;

use crate::calibration::Calibration;
use crate::demand::Demand;
use crate::design::{Family, Region};
use crate::evaluate::{Evaluation, evaluate_in};
use crate::guard::Guards;
use crate::market::Market;
use here::Here;

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
    /// Designs that meet everything but the budget, and what the cheapest of them costs; `None` if there are none.
    pub over_budget: Option<OverBudget>,
    /// Why a family has no design in a region.
    pub refused: Vec<Refused>,
    /// Combinations that were costed.
    pub looked_at: u64,
}

/// Designs that the budget leaves out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverBudget {
    /// How many.
    pub count: usize,
    /// Storage of the cheapest, per month.
    pub least: Money,
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

/// Finds the designs for `spec` by the catalog's facts.
pub fn search(catalog: &Catalog, spec: &Spec, options: &Options) -> Result<Plan> {
    let demand = Demand::of(spec)?;
    let regions = regions::of(catalog, &demand)?;
    let mut plan = Plan {
        ranked: Vec::new(),
        limits_unknown: Vec::new(),
        prices_unknown: Vec::new(),
        over_budget: None,
        refused: Vec::new(),
        looked_at: 0,
        regions: regions.clone(),
        demand,
    };
    for place in regions {
        let demand = plan.demand.clone();
        let market = Market::new(catalog, place, &demand.constraints, &options.guards, &options.calibration);
        let mut here = Here::new(&market, &demand, spec);
        for design in here.designs() {
            let evaluation = evaluate_in(&market, &design)?;
            if evaluation.holds() {
                plan.add(evaluation);
            }
        }
        plan.looked_at += here.looked_at;
        plan.refused.append(&mut here.refused);
    }
    plan.sort(options.objective);
    Ok(plan)
}

impl Plan {
    fn add(&mut self, evaluation: Evaluation) {
        let budget = self.demand.constraints.monthly_budget_usd.map(|usd| Money::usd(f64::from(usd)));
        if let (Some(budget), Some(cost)) = (budget, evaluation.storage_per_month())
            && cost > budget
        {
            let sofar = self.over_budget.map_or((0, cost), |over| (over.count, over.least));
            let least = if cost < sofar.1 { cost } else { sofar.1 };
            self.over_budget = Some(OverBudget { count: sofar.0 + 1, least });
            return;
        }
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
