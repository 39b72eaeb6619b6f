//! Plans and designs in words and tables, for a terminal. The answer comes first.

mod check;
mod costs;
mod figures;
mod growth;
mod heading;
mod limits;
mod ranking;
mod refused;
mod why;

use record::{DesignSheet, PlanDocument};

use crate::paint;
use crate::wrap::wrap;

pub use check::{DesignCheck, check};
pub use refused::why_not;
pub use why::why;

/// Everything a person wants to know of a plan at first: the best design of each family, `top` more, what could not be
/// ranked, families without a design, and what the figures rest on. Without a ranked design, what makes it impossible.
pub fn plan(document: &PlanDocument, top: usize) -> String {
    let mut parts = vec![heading::heading(document)];
    if document.ranked.is_empty() {
        parts.push(paint::bad("no design meets the requirement with limits and prices that are known"));
        parts.extend(listed(
            "What makes it impossible, and the nearest possible",
            document.impossible.iter().cloned(),
        ));
    } else {
        let best = best_of_families(&document.ranked);
        let several = document.ranked.iter().any(|sheet| sheet.storages.len() > 1);
        let title = if several { "Best of each combination of families" } else { "Best of each family" };
        parts.push(titled(title, &ranking::table(document, &best)));
        let more: Vec<usize> =
            (0..document.ranked.len()).filter(|place| !best.contains(place)).take(top).collect();
        if !more.is_empty() {
            let left = document.ranked.len() - best.len() - more.len();
            let rest = if left > 0 { format!(" ({left} left out: --top)") } else { String::new() };
            parts.push(titled(&format!("More designs{rest}"), &ranking::table(document, &more)));
        }
    }
    parts.extend(over_budget(document));
    parts.extend(ranking::apart("Not ranked, because a price is not known", &document.prices_unknown));
    parts.extend(ranking::apart("Not ranked, because a limit is not known", &document.limits_unknown));
    parts.extend(refused::section(document));
    parts.extend(growth::section(&document.growth));
    parts.push(heading::basis(document));
    parts.join("\n\n")
}

/// What the budget leaves out.
fn over_budget(document: &PlanDocument) -> Option<String> {
    let over = document.over_budget.as_ref()?;
    let least = figures::dollars(Some(over.least_usd_per_month));
    let designs =
        if over.count == 1 { "1 design costs".to_owned() } else { format!("{} designs cost", over.count) };
    Some(wrap(&format!("{designs} more than the budget; the cheapest has storage for {least} per month"), ""))
}

/// Places of the first design of every family; for a grid of several storages of every combination, as many as fit.
fn best_of_families(ranked: &[DesignSheet]) -> Vec<usize> {
    const MOST: usize = 8;
    let families = |sheet: &DesignSheet| -> Vec<String> {
        sheet.storages.iter().map(|storage| storage.family.clone()).collect()
    };
    let mut seen = Vec::new();
    let mut best = Vec::new();
    for (place, sheet) in ranked.iter().enumerate() {
        let families = families(sheet);
        if !seen.contains(&families) && best.len() < MOST {
            seen.push(families);
            best.push(place);
        }
    }
    best
}

fn titled(title: &str, body: &str) -> String {
    format!("{}\n{body}", paint::strong(title))
}

/// A list of sentences under a title.
fn listed(title: &str, lines: impl IntoIterator<Item = String>) -> Option<String> {
    let lines: Vec<String> = lines.into_iter().map(|line| wrap(&line, "  ")).collect();
    (!lines.is_empty()).then(|| titled(title, &lines.join("\n")))
}
