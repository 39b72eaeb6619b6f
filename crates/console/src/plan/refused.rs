//! Families without a design, and why.

use record::{PlanDocument, RefusedFamily};

use super::{listed, titled};
use crate::paint;
use crate::wrap::wrap;

/// Every family that has no design in a region, with its first reason.
pub fn section(document: &PlanDocument) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    for refused in &document.refused {
        let line = short(refused);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    listed("Families without a design", lines)
}

fn short(refused: &RefusedFamily) -> String {
    let more = match refused.reasons.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more: --why-not {})", count - 1, refused.family),
    };
    let first = refused.reasons.first().map_or("no reason is known", String::as_str);
    format!("{} in {}: {first}{more}", refused.family, refused.region)
}

/// Why a family has no design, region by region; and where it has one.
pub fn why_not(document: &PlanDocument, family: &str) -> String {
    let refused = document.refused.iter().filter(|refused| refused.family == family);
    let mut parts: Vec<String> = refused.map(reasons).collect();
    let has = |sheet: &record::DesignSheet| sheet.storages.iter().any(|storage| storage.family == family);
    let word = paint::strong(family);
    if let Some(place) = document.ranked.iter().position(has) {
        let count = document.ranked.iter().filter(|sheet| has(sheet)).count();
        let sheet = &document.ranked[place];
        let text = format!("{word}: {}, the best at rank {}: {}", counted(count), place + 1, sheet.title);
        parts.insert(0, wrap(&text, ""));
    } else {
        let unranked = document.prices_unknown.iter().chain(&document.limits_unknown);
        match unranked.filter(|sheet| has(sheet)).count() {
            0 => parts.insert(0, format!("{word}: no design")),
            count => parts.insert(
                0,
                format!("{word}: {}, but a price or a limit of each is not known", counted(count)),
            ),
        }
    }
    parts.join("\n\n")
}

fn counted(designs: usize) -> String {
    if designs == 1 { "1 design".to_owned() } else { format!("{designs} designs") }
}

fn reasons(refused: &RefusedFamily) -> String {
    let lines: Vec<String> = refused.reasons.iter().map(|reason| wrap(reason, "  ")).collect();
    let title = format!("{} for {} in {}", refused.family, refused.storage, refused.region);
    titled(&title, &lines.join("\n"))
}
