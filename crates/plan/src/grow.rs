//! The same question for a grid that has grown: how today's kind of design scales, and where it stops.

use catalog::Catalog;
use fault::{Fault, Kind, Result};
use record::{GrownDesign, GrowthStep};
use spec::Spec;
use units::{Bytes, Money};

use crate::design::{Design, Layout};
use crate::evaluate::Evaluation;
use crate::search::{Options, Plan, search};
use crate::words;

/// The answers for the grid `factors` times as large. Rates per pCore stay; pCores, clients, capacity and totals grow.
pub fn grow(catalog: &Catalog, spec: &Spec, options: &Options, factors: &[f64]) -> Result<Vec<GrowthStep>> {
    let today = search(catalog, spec, options)?;
    factors.iter().map(|factor| step(catalog, spec, options, &today, *factor)).collect()
}

fn step(catalog: &Catalog, spec: &Spec, options: &Options, today: &Plan, factor: f64) -> Result<GrowthStep> {
    if !(factor.is_finite() && factor > 0.0) {
        return Err(
            Fault::new(Kind::Usage, format!("cannot grow {factor} times")).hint("give a number such as 2x")
        );
    }
    let larger = search(catalog, &grown(spec, factor), options)?;
    let Some(now) = today.ranked.first() else {
        let best = larger.ranked.first().map(|best| short(best, None));
        return Ok(GrowthStep {
            factor,
            same_kind: None,
            best,
            stops: vec!["today's grid has no design".to_owned()],
        });
    };
    let kind = now.families();
    let same_place = |other: &&Evaluation| other.design.place.cloud == now.design.place.cloud;
    let same = larger.ranked.iter().filter(same_place).find(|other| other.families() == kind);
    let stops = if same.is_some() { Vec::new() } else { reasons(&larger, now) };
    Ok(GrowthStep {
        factor,
        same_kind: same.map(|same| short(same, Some(now))),
        best: larger.ranked.first().map(|best| short(best, Some(now))),
        stops,
    })
}

/// The spec of a grid `factor` times as large.
pub fn grown(spec: &Spec, factor: f64) -> Spec {
    let mut spec = spec.clone();
    let count = |count: u32| (f64::from(count) * factor).round().max(1.0) as u32;
    let bytes = |bytes: Bytes| Bytes::new((bytes.get() as f64 * factor).round() as u64);
    spec.grid.pcores = count(spec.grid.pcores);
    spec.grid.clients = spec.grid.clients.map(count);
    for storage in &mut spec.storage {
        storage.capacity = storage.capacity.map(bytes);
        storage.checkpoint = storage.checkpoint.map(bytes);
        storage.read_aggregate = storage.read_aggregate.map(|rate| rate * factor);
        storage.write_aggregate = storage.write_aggregate.map(|rate| rate * factor);
    }
    spec.constraints.monthly_budget_usd = None;
    spec
}

fn reasons(larger: &Plan, now: &Evaluation) -> Vec<String> {
    let kind = now.families();
    let of = larger
        .refused
        .iter()
        .filter(|refused| kind.contains(&refused.family) && refused.place.cloud == now.design.place.cloud);
    of.flat_map(|refused| refused.reasons.iter().cloned()).collect()
}

fn short(design: &Evaluation, before: Option<&Evaluation>) -> GrownDesign {
    GrownDesign {
        title: words::title(design),
        usd_per_month: design.per_month().map(Money::get),
        change: before.map_or_else(String::new, |before| change(&before.design, &design.design)),
    }
}

/// What differs between two designs, in words.
fn change(before: &Design, after: &Design) -> String {
    let mut changes = Vec::new();
    if before.place != after.place {
        changes.push(format!("in {}", crate::document::region(&after.place)));
    }
    if before.clients.sku == after.clients.sku {
        changes.push(added(before.clients.count, after.clients.count, "clients"));
    } else {
        changes.push(format!("clients: {} x {}", after.clients.count, after.clients.sku));
    }
    for (old, new) in before.storage.iter().zip(&after.storage) {
        changes.push(match (&old.layout, &new.layout) {
            (Layout::LustreOnVms(old), Layout::LustreOnVms(new))
                if old.sku == new.sku && old.disk.tier == new.disk.tier =>
            {
                let osts = |lustre: &crate::design::LustreOnVms| lustre.servers * lustre.disks_per_server;
                let oss = added(old.servers, new.servers, "OSSs");
                format!("{oss}, {}", added(osts(old), osts(new), "OSTs"))
            }
            (Layout::Service(old), Layout::Service(new)) if old.tier == new.tier => {
                let capacity = new.capacity.get() as f64 * f64::from(new.count);
                let times = capacity / (old.capacity.get() as f64 * f64::from(old.count)).max(1.0);
                format!("{times:.2} times the capacity of {}", new.tier)
            }
            (old, new) if old == new => "the same storage".to_owned(),
            _ => "other storage".to_owned(),
        });
    }
    changes.join("; ")
}

fn added(before: u32, after: u32, what: &str) -> String {
    match i64::from(after) - i64::from(before) {
        0 => format!("the same {after} {what}"),
        more if more > 0 => format!("{more} more {what} ({after})"),
        fewer => format!("{} fewer {what} ({after})", -fewer),
    }
}
