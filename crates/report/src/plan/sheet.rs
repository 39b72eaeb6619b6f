//! One design in full: its limits, its cost, what its figures rest on, and what one should know.

use record::{DesignSheet, LimitRow, RatesRow, StorageSheet};

use super::words;
use crate::table::{Cell, Table, Tone};
use crate::text;

/// The chain of one storage.
pub fn limits(sheet: &DesignSheet, storage: &StorageSheet) -> Table {
    let name = if sheet.storages.len() > 1 { format!("{}. ", storage.name) } else { String::new() };
    let caption =
        format!("{name}Limits in the order data passes them: what is expected of each, stated below");
    let mut table = Table::new(caption)
        .words(["Limit"])
        .figures(["Read", "Write", "Mixed"])
        .sentences(["How it comes about"]);
    for row in &storage.limits {
        table.row(limit(storage, row));
    }
    for unknown in &storage.unknown {
        let dash = || Cell::from(text::NONE);
        table.row(vec![
            Cell::from("? not known").tone(Tone::Warn),
            dash(),
            dash(),
            dash(),
            unknown.as_str().into(),
        ]);
    }
    let total = |rates: &RatesRow| {
        [rates.read_bytes_per_second, rates.write_bytes_per_second, rates.mixed_bytes_per_second]
            .map(|rate| Cell::from(words::rate(rate)))
    };
    for (what, rates, why) in
        [("Delivered", &storage.delivered, delivered_by(storage)), ("Needed", &storage.needed, String::new())]
    {
        let mut cells = vec![Cell::from(what)];
        cells.extend(total(rates));
        cells.push(why.into());
        table.row(cells);
    }
    table
}

fn delivered_by(storage: &StorageSheet) -> String {
    match storage.write_law.as_str() {
        "burst" => "the smallest limit; writes are bursts: 1 / rate = 1 / network + 1 / disks".to_owned(),
        _ => "the smallest limit of each way of using it".to_owned(),
    }
}

fn limit(storage: &StorageSheet, row: &LimitRow) -> Vec<Cell> {
    let rate = |of: fn(&RatesRow) -> Option<f64>| match of(&row.reached) {
        Some(reached) => {
            Cell::from(words::rate(Some(reached))).note(format!("of {}", words::rate(of(&row.stated))))
        }
        None => Cell::from("no bound"),
    };
    let name = if storage.bottleneck.as_ref() == Some(&row.name) {
        Cell::from(format!("▸ {}", row.name)).note("bottleneck")
    } else {
        Cell::from(row.name.as_str())
    };
    let cause = Cell::from(row.cause.as_str());
    vec![
        name,
        rate(|rates| rates.read_bytes_per_second),
        rate(|rates| rates.write_bytes_per_second),
        rate(|rates| rates.mixed_bytes_per_second),
        match &row.source {
            Some(source) => cause.note(source.as_str()),
            None => cause.note("your own figure"),
        },
    ]
}

/// What is paid for.
pub fn costs(sheet: &DesignSheet) -> Table {
    let mut table = Table::new(format!("Cost per month, {}", words::commitment(sheet)))
        .words(["Part"])
        .sentences(["What"])
        .figures(["Per month"])
        .sentences(["Source of the price"]);
    for cost in &sheet.costs {
        let part = Cell::from(cost.part.as_str());
        let part = match &cost.storage {
            Some(storage) if sheet.storages.len() > 1 => part.note(storage.as_str()),
            _ => part,
        };
        let source = cost.source.as_deref().unwrap_or(text::NONE);
        let source = match &cost.doubt {
            Some(doubt) => Cell::from(format!("~ in doubt: {doubt}")).tone(Tone::Warn).note(source),
            None => Cell::from(source),
        };
        let amount = words::cell(cost.usd_per_month, cost.doubt.is_some());
        table.row(vec![part, cost.what.as_str().into(), amount.into(), source]);
    }
    let doubtful = words::doubtful(sheet);
    table.row(vec![
        "Total".into(),
        "storage and clients".into(),
        words::cell(sheet.usd_per_month, doubtful).into(),
        Cell::from(if doubtful { "~ one or more prices are in doubt" } else { "" }),
    ]);
    table
}

/// What the figures rest on: the share of its limits that a system of this kind reaches.
pub fn basis(sheets: &[&DesignSheet]) -> Table {
    let mut table =
        Table::new("Share of their limits that systems of a kind reach, with range and number of results")
            .words(["Family", "Read", "Write", "Basis"]);
    let mut told: Vec<(&str, &str, &str)> = Vec::new();
    for storage in sheets.iter().flat_map(|sheet| &sheet.storages) {
        let (read, write) = (&storage.read_factor, &storage.write_factor);
        let row = (storage.family.as_str(), read.text.as_str(), write.text.as_str());
        if told.contains(&row) {
            continue;
        }
        told.push(row);
        let basis = if read.basis == write.basis {
            read.basis.clone()
        } else {
            format!("read {}, write {}", read.basis, write.basis)
        };
        table.row(vec![row.0.into(), row.1.into(), row.2.into(), basis.into()]);
    }
    table
}

/// Where the shown figures stand.
pub fn sources(sheets: &[&DesignSheet]) -> Table {
    let mut table =
        Table::new("Documents and dates behind the designs shown in full").words(["Source", "Used for"]);
    let mut known: Vec<(&str, Vec<&str>)> = Vec::new();
    for (source, used) in sheets.iter().flat_map(|sheet| used_sources(sheet)) {
        match known.iter_mut().find(|(name, _)| *name == source) {
            Some((_, uses)) if uses.contains(&used) => {}
            Some((_, uses)) => uses.push(used),
            None => known.push((source, vec![used])),
        }
    }
    known.sort_unstable_by_key(|(source, _)| *source);
    for (source, uses) in known {
        table.row(vec![source.into(), uses.join(", ").into()]);
    }
    table
}

fn used_sources(sheet: &DesignSheet) -> impl Iterator<Item = (&str, &str)> {
    let limits = sheet.storages.iter().flat_map(|storage| &storage.limits);
    let limits = limits.filter_map(|limit| Some((limit.source.as_deref()?, limit.name.as_str())));
    let prices = sheet.costs.iter().filter_map(|cost| Some((cost.source.as_deref()?, "price")));
    limits.chain(prices)
}

/// What one should know of a design, a sentence each.
pub fn remarks(sheet: &DesignSheet) -> Vec<String> {
    let several = sheet.storages.len() > 1;
    let mut remarks = Vec::new();
    for storage in &sheet.storages {
        let name = if several { format!("{}: ", storage.name) } else { String::new() };
        let mut add = |remark: String| remarks.push(format!("{name}{remark}"));
        let servers = match storage.servers {
            0 => "no servers to run".to_owned(),
            some => format!("{} to run", text::count(some as usize, "server")),
        };
        add(format!(
            "{} usable of {} needed; {servers}",
            text::capacity(storage.capacity_bytes),
            text::capacity(storage.needed_capacity_bytes),
        ));
        if let Some(next) = &storage.next_limit {
            add(format!("after the bottleneck comes the {next}, {}", words::higher(storage.headroom)));
        }
        storage.burst.iter().for_each(|burst| add(format!("for a while it can do more: {burst}")));
        if let Some(cache) = storage.cache_bytes {
            add(format!(
                "its servers have {} of memory: reads of less data may come from there",
                text::capacity(cache)
            ));
        }
        storage.refusals.iter().chain(&storage.notes).for_each(|note| add(note.clone()));
    }
    remarks.extend(sheet.upgrade.iter().map(|upgrade| {
        let cost = upgrade.usd_per_month.map_or_else(
            || "at an unknown price".to_owned(),
            |cost| format!("for {} a month more", text::usd(cost)),
        );
        let rate = words::rate(Some(upgrade.delivered_bytes_per_second));
        format!("next step up: {} for {}, which then delivers {rate}, {cost}", upgrade.what, upgrade.storage)
    }));
    remarks
}
