//! Plans and evaluations as documents.

use fault::{Fault, Kind, Result};
use record::{
    CostRow, DesignSheet, FactorRow, LimitRow, OverBudgetRow, PLAN_VERSION, PlanDocument, RatesRow,
    RefusedFamily, StorageSheet,
};
use units::{Bandwidth, Money};

use crate::calibration::{Basis, Share};
use crate::cost::{self, CostLine};
use crate::design::{Layout, Region};
use crate::evaluate::{Evaluation, StorageEvaluation};
use crate::layout::WriteLaw;
use crate::limit::{Limit, Operation, Rates};
use crate::search::{Objective, Options, Plan};
use crate::words;

/// A plan as a document, without growth, upgrades and what makes it impossible: those are computed apart.
pub fn document(plan: &Plan, options: &Options) -> Result<PlanDocument> {
    let sheets = |list: &[Evaluation]| list.iter().map(sheet).collect::<Result<Vec<_>>>();
    let front = plan.front();
    let place = |wanted: &&Evaluation| plan.ranked.iter().position(|one| std::ptr::eq(one, *wanted));
    Ok(PlanDocument {
        version: PLAN_VERSION,
        grid: plan.demand.name.clone(),
        pcores: plan.demand.pcores,
        figures: match plan.demand.constraints.figures {
            spec::Figures::Calibrated => "calibrated".to_owned(),
            spec::Figures::SpecSheet => "spec sheet".to_owned(),
        },
        objective: match options.objective {
            Objective::Cost => "cost".to_owned(),
            Objective::CostPerRate => "cost per MB/s".to_owned(),
        },
        regions: plan.regions.iter().map(region).collect(),
        rules: options.guards.lines(),
        ranked: sheets(&plan.ranked)?,
        limits_unknown: sheets(&plan.limits_unknown)?,
        prices_unknown: sheets(&plan.prices_unknown)?,
        over_budget: plan
            .over_budget
            .map(|over| OverBudgetRow { count: over.count, least_usd_per_month: over.least.get() }),
        impossible: Vec::new(),
        front: front.iter().filter_map(place).collect(),
        refused: plan
            .refused
            .iter()
            .map(|refused| RefusedFamily {
                region: region(&refused.place),
                storage: refused.storage.clone(),
                family: refused.family.as_str().to_owned(),
                reasons: refused.reasons.clone(),
            })
            .collect(),
        growth: Vec::new(),
        looked_at: plan.looked_at,
    })
}

/// `azure eastus`
pub fn region(place: &Region) -> String {
    format!("{} {}", cloud(place.cloud), place.region)
}

/// The word for a cloud in spec files.
pub fn cloud(cloud: spec::Cloud) -> &'static str {
    match cloud {
        spec::Cloud::Azure => "azure",
        spec::Cloud::Aws => "aws",
        spec::Cloud::Gcp => "gcp",
    }
}

fn commitment(commitment: spec::Commitment) -> &'static str {
    match commitment {
        spec::Commitment::Payg => "payg",
        spec::Commitment::OneYear => "one_year",
        spec::Commitment::ThreeYears => "three_years",
    }
}

/// A design's evaluation as a document.
pub fn sheet(evaluation: &Evaluation) -> Result<DesignSheet> {
    let design = serde_json::to_value(&evaluation.design)
        .map_err(|error| Fault::new(Kind::Bug, "cannot write a design as JSON").caused_by(error))?;
    let place = &evaluation.design.place;
    let storage_cost = evaluation.storage_per_month();
    let storages: Vec<StorageSheet> = evaluation
        .design
        .storage
        .iter()
        .zip(&evaluation.storages)
        .map(|(d, s)| storage(s, &d.layout, evaluation))
        .collect();
    let named = |row: &StorageEvaluation| {
        let name = row.requirement.name.clone();
        row.costs.iter().map(move |line| cost(line, Some(name.clone()))).collect::<Vec<_>>()
    };
    let costs = evaluation.storages.iter().flat_map(named).chain([cost(&evaluation.clients, None)]);
    let weakest = evaluation.storages.iter().map(|s| s.factor.read.basis.min(s.factor.write.basis)).min();
    let own = evaluation.storages.iter().flat_map(|storage| &storage.refusals);
    Ok(DesignSheet {
        title: words::title(evaluation),
        cloud: cloud(place.cloud).to_owned(),
        region: place.region.clone(),
        commitment: commitment(place.commitment).to_owned(),
        client_sku: evaluation.design.clients.sku.clone(),
        client_count: evaluation.design.clients.count,
        costs: costs.collect(),
        storage_usd_per_month: storage_cost.map(Money::get),
        clients_usd_per_month: evaluation.clients.per_month.map(Money::get),
        usd_per_month: evaluation.per_month().map(Money::get),
        usd_per_month_per_mb_per_second: storage_cost
            .and_then(|cost| cost::usd_per_mb_per_second(cost, evaluation.delivered())),
        confidence: weakest.unwrap_or(Basis::Assumed).name().to_owned(),
        refusals: own.chain(&evaluation.refusals).cloned().collect(),
        upgrade: None,
        storages,
        design,
    })
}

fn storage(storage: &StorageEvaluation, layout: &Layout, evaluation: &Evaluation) -> StorageSheet {
    let tightest = storage.tightest();
    let headroom = storage.headroom(tightest);
    let pcores = f64::from(evaluation.design.grid.pcores.max(1));
    let each = |rate: Bandwidth| rate / pcores;
    let Rates { read, write, mixed } = storage.delivered;
    StorageSheet {
        name: storage.requirement.name.clone(),
        family: storage.family.as_str().to_owned(),
        layout: words::layout(layout, storage.capacity),
        capacity_bytes: storage.capacity.get(),
        needed_capacity_bytes: storage.requirement.capacity.get(),
        read_share: storage.requirement.read_share.get(),
        needed: rates(storage.needed()),
        delivered: known(storage, storage.delivered),
        delivered_per_pcore: known(
            storage,
            Rates { read: each(read), write: each(write), mixed: each(mixed) },
        ),
        limits: storage.limits.iter().map(|row| limit(storage, row)).collect(),
        unknown: storage
            .unknown
            .iter()
            .map(|unknown| format!("{}: {}", unknown.place, unknown.what))
            .collect(),
        tightest: tightest.name().to_owned(),
        bottleneck: storage.bottleneck(tightest).map(|limit| limit.place.name().to_owned()),
        next_limit: headroom.map(|(_, limit)| limit.place.name().to_owned()),
        headroom: headroom.map(|(share, _)| share),
        read_factor: factor(&storage.factor.read),
        write_factor: factor(&storage.factor.write),
        write_law: match storage.write_law {
            WriteLaw::Stream => "stream".to_owned(),
            WriteLaw::Burst => "burst".to_owned(),
        },
        burst: storage.burst.as_ref().map(|burst| {
            let rate = |name: &str, rate: Option<Bandwidth>| rate.map(|rate| format!("{name} {rate}"));
            let rates = [rate("read", burst.read), rate("write", burst.write)];
            format!("{}: {}", rates.into_iter().flatten().collect::<Vec<_>>().join(", "), burst.lasts)
        }),
        cache_bytes: storage.cache.map(units::Bytes::get),
        servers: storage.nodes,
        usd_per_month: storage.per_month().map(Money::get),
        refusals: storage.refusals.clone(),
        notes: storage.notes.clone(),
    }
}

/// Rates of operations that something known bounds.
fn known(storage: &StorageEvaluation, rates: Rates) -> RatesRow {
    let of = |operation| storage.bottleneck(operation).map(|_| rates.of(operation).get());
    RatesRow {
        read_bytes_per_second: of(Operation::Read),
        write_bytes_per_second: of(Operation::Write),
        mixed_bytes_per_second: of(Operation::Mixed),
    }
}

fn rates(rates: Rates) -> RatesRow {
    RatesRow {
        read_bytes_per_second: Some(rates.read.get()),
        write_bytes_per_second: Some(rates.write.get()),
        mixed_bytes_per_second: Some(rates.mixed.get()),
    }
}

fn limit(storage: &StorageEvaluation, limit: &Limit) -> LimitRow {
    let share = storage.requirement.read_share;
    let row = |of: &dyn Fn(Operation) -> f64| {
        let finite = |operation| Some(of(operation)).filter(|rate| rate.is_finite());
        RatesRow {
            read_bytes_per_second: finite(Operation::Read),
            write_bytes_per_second: finite(Operation::Write),
            mixed_bytes_per_second: finite(Operation::Mixed),
        }
    };
    LimitRow {
        place: place_word(limit),
        name: limit.place.name().to_owned(),
        stated: row(&|operation| limit.stated.of(operation, share)),
        reached: row(&|operation| storage.reached(limit, operation).get()),
        cause: limit.cause.clone(),
        source: limit.source.as_ref().map(ToString::to_string),
    }
}

fn place_word(limit: &Limit) -> String {
    let value = serde_json::to_value(limit.place).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn factor(share: &Share) -> FactorRow {
    FactorRow { value: share.value, text: share.text(), basis: share.basis.name().to_owned() }
}

fn cost(line: &CostLine, storage: Option<String>) -> CostRow {
    CostRow {
        storage,
        part: line.part.name().to_owned(),
        what: line.what.clone(),
        usd_per_month: line.per_month.map(Money::get),
        doubt: line.doubt.clone(),
        source: line.source.as_ref().map(ToString::to_string),
    }
}
