//! The best design in a sentence.

use record::{DesignSheet, PlanDocument, RatesRow, StorageSheet};

use super::words;
use crate::text;

/// The answer in a few words: where, and what it costs.
pub fn headline(document: &PlanDocument) -> String {
    match document.ranked.first() {
        Some(best) => {
            format!("{} a month in {}", words::cost(best.usd_per_month), words::place(best))
        }
        None => "No design".to_owned(),
    }
}

/// What, where, what it delivers, what limits it and what it costs.
pub fn sentence(document: &PlanDocument) -> String {
    let Some(best) = document.ranked.first() else { return none(document) };
    let rank = if document.objective == "cost" { "cheapest" } else { "best (by cost per MB/s)" };
    let storages: Vec<String> = best.storages.iter().map(|storage| delivers(best, storage)).collect();
    format!(
        "The {rank} design for {}, {} pCores, is {} for {} x {}. {} Storage costs {} a month and the clients {}.",
        document.grid,
        document.pcores,
        best.title,
        best.client_count,
        best.client_sku,
        storages.join(" "),
        words::cost(best.storage_usd_per_month),
        words::cost(best.clients_usd_per_month),
    )
}

fn delivers(sheet: &DesignSheet, storage: &StorageSheet) -> String {
    let name = if sheet.storages.len() > 1 { format!("For {} it", storage.name) } else { "It".to_owned() };
    let limit = match &storage.bottleneck {
        Some(limit) => format!(", limited by the {limit}"),
        None => String::new(),
    };
    format!("{name} delivers {}{limit}; {} are needed.", rates(&storage.delivered), rates(&storage.needed))
}

/// `read 9,216 MB/s, write 9,216 MB/s and 9,216 MB/s mixed`.
fn rates(rates: &RatesRow) -> String {
    format!(
        "read {}, write {} and {} mixed",
        words::rate(rates.read_bytes_per_second),
        words::rate(rates.write_bytes_per_second),
        words::rate(rates.mixed_bytes_per_second)
    )
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
