//! Designs as rows: what they deliver, what bounds them, what they cost.

use record::{DesignSheet, PlanDocument, RatesRow, StorageSheet};

use super::figures::{doubtful, headroom, mb, usd};
use super::listed;
use crate::wrap::wrap;
use crate::{Align, Cell, Table};

/// Where the words below a row begin.
const INDENT: &str = "      ";

/// The designs at `places` of the ranking.
pub fn table(document: &PlanDocument, places: &[usize]) -> String {
    let mut table = Table::new([
        ("rank", Align::Right),
        ("read\nMB/s", Align::Right),
        ("write\nMB/s", Align::Right),
        ("mixed\nMB/s", Align::Right),
        ("bottleneck", Align::Left),
        ("head-\nroom", Align::Right),
        ("storage\n$/month", Align::Right),
        ("clients\n$/month", Align::Right),
        ("total\n$/month", Align::Right),
        ("$ per\nMB/s", Align::Right),
    ]);
    for place in places {
        if let Some(sheet) = document.ranked.get(*place) {
            let front = if document.front.contains(place) { "*" } else { "" };
            rows(&mut table, &format!("{front}{}", place + 1), sheet);
        }
    }
    table.to_string()
}

/// One row per storage; the clients and the total stand in the first.
fn rows(table: &mut Table, rank: &str, sheet: &DesignSheet) {
    let several = sheet.storages.len() > 1;
    for (number, storage) in sheet.storages.iter().enumerate() {
        let first = number == 0;
        table.row(row(if first { rank } else { "" }, sheet, storage, first));
        let name = if several { format!("{}: ", storage.name) } else { String::new() };
        table.note(wrap(&format!("{name}{}", storage.layout), INDENT));
    }
    table.note(wrap(&place(sheet), INDENT));
}

fn row(rank: &str, sheet: &DesignSheet, storage: &StorageSheet, first: bool) -> [Cell; 10] {
    let of = |amount: Option<f64>, doubtful: bool| {
        let text = if first { usd(amount, doubtful) } else { String::new() };
        Cell::new(text)
    };
    let (own, clients) = (doubtful(sheet, Some(&storage.name)), doubtful(sheet, None));
    let any = sheet.costs.iter().any(|cost| cost.doubt.is_some());
    let delivered = &storage.delivered;
    let per_rate = sheet.usd_per_month_per_mb_per_second.map(|rate| format!("{rate:.2}"));
    [
        if first { Cell::new(rank).strong() } else { Cell::new("") },
        Cell::new(mb(delivered.read_bytes_per_second)),
        Cell::new(mb(delivered.write_bytes_per_second)),
        Cell::new(mb(delivered.mixed_bytes_per_second)),
        Cell::new(storage.bottleneck.as_deref().unwrap_or("-")),
        Cell::new(headroom(storage.headroom)),
        Cell::new(usd(storage.usd_per_month, own)),
        of(sheet.clients_usd_per_month, clients),
        if first { of(sheet.usd_per_month, any).strong() } else { Cell::new("") },
        Cell::new(per_rate.filter(|_| first).unwrap_or_default()),
    ]
}

/// `192` where all three are equal, else `192/180/185`: read, write, mixed.
fn each(rates: &RatesRow) -> String {
    let [read, write, mixed] =
        [rates.read_bytes_per_second, rates.write_bytes_per_second, rates.mixed_bytes_per_second].map(mb);
    if read == write && write == mixed { read } else { format!("{read}/{write}/{mixed}") }
}

/// Where it runs, with which clients, what a pCore gets, and what its figures rest on.
fn place(sheet: &DesignSheet) -> String {
    let several = sheet.storages.len() > 1;
    let one = |storage: &StorageSheet| {
        let rates = each(&storage.delivered_per_pcore);
        if several { format!("{} {rates}", storage.name) } else { rates }
    };
    let rates: Vec<String> = sheet.storages.iter().map(one).collect();
    format!(
        "{} {}; clients {} x {}; per pCore {} MB/s; figures {}",
        sheet.cloud,
        sheet.region,
        sheet.client_count,
        sheet.client_sku,
        rates.join(", "),
        sheet.confidence
    )
}

/// Designs that can't be ranked, in short: what is not known, and how many designs that keeps out.
pub fn apart(title: &str, sheets: &[DesignSheet]) -> Option<String> {
    const SHOWN: usize = 6;
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for reason in sheets.iter().flat_map(unknown) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let designs = |count: usize| if count == 1 { "1 design".to_owned() } else { format!("{count} designs") };
    let mut lines: Vec<String> =
        reasons.iter().take(SHOWN).map(|(reason, count)| format!("{reason} ({})", designs(*count))).collect();
    if reasons.len() > SHOWN {
        lines.push(format!("... and {} more reasons (--format json has them all)", reasons.len() - SHOWN));
    }
    listed(&format!("{title}: {}", designs(sheets.len())), lines)
}

/// What is not known of a design, each once.
fn unknown(sheet: &DesignSheet) -> Vec<String> {
    let prices = sheet.costs.iter().filter(|cost| cost.usd_per_month.is_none());
    let prices = prices.map(|cost| format!("{} {}: no price for {}", sheet.cloud, sheet.region, cost.what));
    let limits = sheet.storages.iter().flat_map(|storage| storage.unknown.iter().cloned());
    let mut all: Vec<String> = prices.chain(limits).collect();
    all.sort();
    all.dedup();
    all
}
