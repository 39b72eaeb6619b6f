//! Figures of a plan as text.

use record::{DesignSheet, PlanDocument, RatesRow};

use crate::text;

/// Bytes per second as MB/s, or a dash.
pub fn rate(bytes_per_second: Option<f64>) -> String {
    bytes_per_second.map_or_else(|| text::NONE.to_owned(), |rate| text::whole_mb(rate / 1e6))
}

/// US dollars, or that the price is not known.
pub fn cost(amount: Option<f64>) -> String {
    amount.map_or_else(|| "an unknown price".to_owned(), text::usd)
}

/// US dollars in a table: `~` before a price in doubt.
pub fn cell(amount: Option<f64>, doubtful: bool) -> String {
    let sign = if doubtful { "~" } else { "" };
    amount.map_or_else(|| "not known".to_owned(), |amount| format!("{sign}{}", text::usd(amount)))
}

/// `azure eastus`.
pub fn place(sheet: &DesignSheet) -> String {
    format!("{} {}", sheet.cloud, sheet.region)
}

/// The price list in words.
pub fn commitment(sheet: &DesignSheet) -> &str {
    match sheet.commitment.as_str() {
        "payg" => "pay as you go",
        "one_year" => "one year",
        "three_years" => "three years",
        other => other,
    }
}

/// `+12 %`.
pub fn headroom(share: Option<f64>) -> String {
    share.map_or_else(|| text::NONE.to_owned(), text::signed_percent)
}

/// `18.3 % higher`.
pub fn higher(share: Option<f64>) -> String {
    share.map_or_else(|| "how far is not known".to_owned(), |share| format!("{:.1} % higher", share * 100.0))
}

/// Whether a price of the design is in doubt.
pub fn doubtful(sheet: &DesignSheet) -> bool {
    sheet.costs.iter().any(|cost| cost.doubt.is_some())
}

/// `80:20`.
pub fn mix(read_share: f64) -> String {
    let reads = (read_share * 1e4).round() / 100.0;
    format!("{reads}:{}", 100.0 - reads)
}

/// The sum over all storages, as far as all are known.
pub fn together(sheet: &DesignSheet, of: impl Fn(&RatesRow) -> Option<f64>) -> Option<f64> {
    sheet.storages.iter().map(|storage| of(&storage.delivered)).sum()
}

/// What all storages together need at their mixes, bytes per second.
pub fn needed(document: &PlanDocument) -> Option<f64> {
    let sheet = any(document)?;
    sheet.storages.iter().map(|storage| storage.needed.mixed_bytes_per_second).sum()
}

/// A design of the plan, to read from it what is needed.
pub fn any(document: &PlanDocument) -> Option<&DesignSheet> {
    document.ranked.iter().chain(&document.limits_unknown).chain(&document.prices_unknown).next()
}
