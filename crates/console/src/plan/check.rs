//! A design that somebody has, beside what its money buys today.

use record::DesignSheet;
use serde::Serialize;

use super::figures::{dollars, mb};
use super::{titled, why};
use crate::paint;
use crate::wrap::wrap;

/// What a design should deliver, and what could be had instead.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DesignCheck {
    /// Whether it meets its requirements.
    pub met: bool,
    /// The design.
    pub design: DesignSheet,
    /// The cheapest design of the same region that meets the same requirements; `null` when there is none.
    pub cheapest: Option<DesignSheet>,
    /// The design of the same region that delivers most for at most the same money; `null` when a price is not known or
    /// nothing delivers more.
    pub most: Option<DesignSheet>,
}

/// The design limit by limit, and what its money buys today. The verdict is the last line.
pub fn check(name: &str, check: &DesignCheck) -> String {
    let mut parts = vec![why(name, &check.design)];
    let mut lines = Vec::new();
    match &check.cheapest {
        Some(sheet) => lines.push(wrap(&against(&check.design, sheet, "the same for the least money"), "  ")),
        None => lines.push("  no design of this region meets the same requirements".to_owned()),
    }
    if let Some(sheet) = &check.most {
        lines.push(wrap(&against(&check.design, sheet, "the most for the same money"), "  "));
    } else {
        lines.push("  nothing that is known delivers more for the same money".to_owned());
    }
    parts.push(titled("What the money buys today", &lines.join("\n")));
    let verdict = if check.met { paint::good("met") } else { paint::bad("not met") };
    parts.push(format!("requirement: {verdict}"));
    parts.join("\n\n")
}

fn against(now: &DesignSheet, other: &DesignSheet, what: &str) -> String {
    let change = match (now.storage_usd_per_month, other.storage_usd_per_month) {
        (Some(now), Some(other)) if now > 0.0 => format!(" ({:+.0} %)", (other / now - 1.0) * 100.0),
        _ => String::new(),
    };
    let storages: Vec<String> = other
        .storages
        .iter()
        .map(|storage| {
            let rates = &storage.delivered;
            format!(
                "read {}, write {}, mixed {} MB/s",
                mb(rates.read_bytes_per_second),
                mb(rates.write_bytes_per_second),
                mb(rates.mixed_bytes_per_second)
            )
        })
        .collect();
    format!(
        "{}: {}; {}; storage {}{change}, clients {} x {} {}",
        paint::strong(what),
        other.title,
        storages.join("; "),
        dollars(other.storage_usd_per_month),
        other.client_count,
        other.client_sku,
        dollars(other.clients_usd_per_month)
    )
}
