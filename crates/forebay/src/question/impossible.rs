//! Why no design meets a requirement, and the nearest that one does.

use plan::{Evaluation, Operation};
use spec::{Constraints, Spec};

use super::Question;

/// Halvings of the interval that the nearest figure lies in: to a thousandth.
const HALVINGS: u32 = 10;
/// Below this share of what is needed, a figure is not what stands in the way.
const SMALLEST: f64 = 1e-3;

/// In words: each constraint without which there would be a design, and the nearest rates and capacity for which there is
/// one with all of them. The cheapest design of that, last found, says which limit stands in the way.
pub fn reasons(question: &Question) -> fault::Result<Vec<String>> {
    let mut lines = vec![needed(&question.spec)?];
    for (name, relaxed) in relaxations(&question.spec) {
        if let Some(best) = cheapest(question, &relaxed)? {
            lines.push(format!("without `{name}` there is a design: {}", described(&best)));
        }
    }
    lines.extend(nearest(question, "rates", faster)?);
    lines.extend(nearest(question, "capacity", larger)?);
    if lines.len() == 1 {
        lines.push("no single constraint and no smaller figure makes it possible".to_owned());
    }
    Ok(lines)
}

/// What is asked, in totals.
fn needed(spec: &Spec) -> fault::Result<String> {
    let storages = plan::Demand::of(spec)?.requirements.into_iter().map(|storage| {
        format!("{} {}, read {}, write {}", storage.name, storage.capacity, storage.read, storage.write)
    });
    Ok(format!("needed: {}", storages.collect::<Vec<_>>().join("; ")))
}

fn cheapest(question: &Question, spec: &Spec) -> fault::Result<Option<Evaluation>> {
    let plan = plan::search(&question.catalog, spec, &question.options)?;
    Ok(plan.ranked.into_iter().next())
}

/// The spec without one of its constraints, for each that it has.
fn relaxations(spec: &Spec) -> Vec<(&'static str, Spec)> {
    let mut all = Vec::new();
    let mut without = |name: &'static str, change: &dyn Fn(&mut Spec)| {
        let mut relaxed = spec.clone();
        change(&mut relaxed);
        if relaxed != *spec {
            all.push((name, relaxed));
        }
    };
    let usual = Constraints::default;
    without("monthly_budget_usd", &|spec| spec.constraints.monthly_budget_usd = None);
    without("skus", &|spec| spec.constraints.skus = usual().skus);
    without("tiers", &|spec| spec.constraints.tiers = usual().tiers);
    without("encryption", &|spec| spec.constraints.encryption = usual().encryption);
    without("min_servers", &|spec| spec.constraints.min_servers = None);
    without("max_osts", &|spec| spec.constraints.max_osts = None);
    without("commitment", &|spec| spec.constraints.commitment = usual().commitment);
    without("clients", &|spec| spec.grid.clients = None);
    without("client_sku", &|spec| spec.grid.client_sku = None);
    without("regions", &|spec| spec.constraints.regions.clear());
    without("clouds", &|spec| {
        spec.constraints.clouds.clear();
        spec.constraints.regions.clear();
    });
    all
}

/// The largest share of a figure for which there is a design, if that is what stands in the way.
fn nearest(question: &Question, what: &str, scaled: fn(&Spec, f64) -> Spec) -> fault::Result<Option<String>> {
    let (mut low, mut high) = (SMALLEST, 1.0);
    let Some(mut best) = cheapest(question, &scaled(&question.spec, low))? else { return Ok(None) };
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        match cheapest(question, &scaled(&question.spec, middle))? {
            Some(found) => {
                best = found;
                low = middle;
            }
            None => high = middle,
        }
    }
    Ok(Some(format!("with {:.1} % of the {what} there is a design: {}", low * 100.0, described(&best))))
}

/// The same grid with all rates `share` times as large.
pub fn faster(spec: &Spec, share: f64) -> Spec {
    let mut faster = spec.clone();
    for storage in &mut faster.storage {
        let read = storage.required_read_aggregate(&spec.grid);
        let write = storage.required_write_aggregate(&spec.grid);
        (storage.read_per_pcore, storage.write_per_pcore) = (None, None);
        storage.read_aggregate = Some(read * share);
        storage.write_aggregate = Some(write * share);
    }
    faster
}

fn larger(spec: &Spec, share: f64) -> Spec {
    let mut larger = spec.clone();
    for storage in &mut larger.storage {
        let capacity = storage.capacity.map(|bytes| (bytes.get() as f64 * share) as u64);
        storage.capacity = capacity.map(units::Bytes::new);
    }
    larger
}

/// A design with what it delivers, what bounds it and what it costs.
fn described(design: &Evaluation) -> String {
    let storages: Vec<String> = design
        .storages
        .iter()
        .map(|storage| {
            let tightest = storage.tightest();
            let bound = storage.bottleneck(tightest).map_or("nothing known", |limit| limit.place.name());
            format!(
                "read {}, write {}, {}, bounded by {bound}",
                storage.delivered.of(Operation::Read),
                storage.delivered.of(Operation::Write),
                storage.capacity
            )
        })
        .collect();
    let cost =
        design.storage_per_month().map(|cost| format!(", storage {cost} per month")).unwrap_or_default();
    format!("{} ({}{cost})", plan::words::title(design), storages.join("; "))
}
