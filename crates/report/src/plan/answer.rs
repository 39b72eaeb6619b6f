//! The best design in a sentence.

use record::{PlanDocument, RatesRow, StorageSheet};

use super::words;
use crate::text;

/// The answer in a few words: where, and what it costs.
pub fn headline(document: &PlanDocument) -> String {
    match document.ranked.first() {
        Some(best) => {
            format!(
                "{} a month in {}",
                words::cell(best.usd_per_month, words::doubtful(best)),
                words::place(best)
            )
        }
        None => "No design".to_owned(),
    }
}

/// The best design in words: what comes first, what each storage is and does, and what comes last.
pub struct Words {
    /// One sentence.
    pub first: String,
    /// One per storage when there are several; without a design, what makes it impossible and the nearest possible.
    pub storages: Vec<String>,
    /// One sentence; empty without a design.
    pub last: String,
}

/// What, where, what it delivers, what limits it and what it costs.
pub fn words(document: &PlanDocument) -> Words {
    let Some(best) = document.ranked.first() else {
        return Words {
            first: none(document),
            storages: document.impossible.clone(),
            last: over_budget(document),
        };
    };
    let rank = if document.objective == "cost" { "cheapest" } else { "best (by cost per MB/s)" };
    let first = format!(
        "The {rank} design for {} ({} pCores on {} x {})",
        document.grid, document.pcores, best.client_count, best.client_sku
    );
    let last = format!(
        "Storage costs {} a month, the clients {}.",
        words::cost(best.storage_usd_per_month),
        words::cost(best.clients_usd_per_month)
    );
    let last = format!("{last} {}", over_budget(document)).trim_end().to_owned();
    let mut storages: Vec<String> = best.storages.iter().map(delivers).collect();
    if let [one] = storages.as_slice() {
        return Words { first: format!("{first} is {one}"), storages: Vec::new(), last };
    }
    for (text, storage) in storages.iter_mut().zip(&best.storages) {
        *text = format!("{}: {text}", storage.name);
    }
    Words { first: format!("{first}:"), storages, last }
}

/// A storage, what it delivers and what limits it.
fn delivers(storage: &StorageSheet) -> String {
    let limit = match &storage.bottleneck {
        Some(limit) => format!("limited by the {limit}"),
        None => "limited by nothing that is known".to_owned(),
    };
    let (delivered, needed) = (&storage.delivered, &storage.needed);
    format!(
        "{}. It delivers {}, {} and {}, {limit}.",
        storage.layout,
        of(delivered, needed, "read", |rates| rates.read_bytes_per_second),
        of(delivered, needed, "write", |rates| rates.write_bytes_per_second),
        of(delivered, needed, "mixed", |rates| rates.mixed_bytes_per_second),
    )
}

/// `read 9,664 MB/s (9,216 MB/s needed)`.
fn of(delivered: &RatesRow, needed: &RatesRow, way: &str, rate: impl Fn(&RatesRow) -> Option<f64>) -> String {
    format!("{way} {} ({} needed)", words::rate(rate(delivered)), words::rate(rate(needed)))
}

/// What the budget leaves out.
fn over_budget(document: &PlanDocument) -> String {
    document.over_budget.map_or_else(String::new, |over| {
        format!(
            "{} would do but for the budget; the cheapest storage among them costs {} a month.",
            text::count(over.count, "more design"),
            text::usd(over.least_usd_per_month)
        )
    })
}

fn none(document: &PlanDocument) -> String {
    let apart = document.limits_unknown.len() + document.prices_unknown.len();
    let apart = match apart {
        0 => String::new(),
        some => format!(
            " {} cannot be ranked, because a limit or a price of theirs is not known.",
            text::count(some, "design")
        ),
    };
    format!(
        "No design whose limits and prices are known meets what {} needs. Why each family fails is below.{apart}",
        document.grid
    )
}
