use std::collections::{HashMap, HashSet};

use spec::{Cloud, Commitment};

use super::{Findings, Severity, median};
use crate::rows::Row;
use crate::{Catalog, Performance, Table};

const TABLE: Table = Table::Prices;

pub(super) fn check(catalog: &Catalog, found: &mut Findings) {
    for cloud in [Cloud::Azure, Cloud::Aws, Cloud::Gcp] {
        if catalog.vms.iter().any(|vm| vm.cloud == cloud) && catalog.prices.regions(cloud).is_empty() {
            let why = "no design of this cloud has a price";
            found.about(Severity::Error, TABLE, format!("{cloud:?}"), "has no price list".to_owned(), why);
        }
    }
    let wanted = wanted(catalog);
    without_item(catalog, &wanted, found);
    without_price(catalog, &wanted, found);
    per_vcpu(catalog, found);
    per_gib(catalog, found);
    committed(catalog, found);
}

/// What is sold, with the items that price it: machines, then disks and services.
fn wanted(catalog: &Catalog) -> HashMap<String, (Table, usize)> {
    let vms = catalog.vms.iter().enumerate().map(|(at, vm)| (format!("vm:{}", vm.sku), (Table::Vms, at)));
    let disks = catalog.disks.iter().enumerate().map(|(at, disk)| {
        let item = match disk.performance {
            Performance::Fixed(_) if disk.cloud == Cloud::Azure => format!("disk:{}", disk.tier),
            _ => format!("{}:capacity", disk.tier),
        };
        (item, (Table::Disks, at))
    });
    let services = catalog.services.iter().enumerate();
    let services =
        services.map(|(at, tier)| (format!("service:{}:capacity", tier.tier), (Table::Services, at)));
    vms.chain(disks).chain(services).collect()
}

fn without_item(catalog: &Catalog, wanted: &HashMap<String, (Table, usize)>, found: &mut Findings) {
    for row in catalog.rows.of(TABLE) {
        let item = row.cell(TABLE, "item");
        let main = match item.rsplit_once(':') {
            Some((of, "iops" | "throughput")) => format!("{of}:capacity"),
            _ => item.to_owned(),
        };
        if !item.starts_with("operations:") && !wanted.contains_key(&main) {
            let why = "no design uses this price: is the name right?";
            found.add(
                Severity::Warning,
                TABLE,
                row,
                format!("nothing in the catalog is sold as `{item}`"),
                why,
            );
        }
        if row.cell(TABLE, "usd").parse() == Ok(0.0) {
            let why = "what is free is a first band that starts later; an unknown price is no row";
            found.add(Severity::Warning, TABLE, row, "it costs nothing".to_owned(), why);
        }
    }
}

fn without_price(catalog: &Catalog, wanted: &HashMap<String, (Table, usize)>, found: &mut Findings) {
    let rows = catalog.rows.of(TABLE);
    let priced: HashSet<&str> = rows
        .iter()
        .filter(|row| row.cell(TABLE, "term") == "payg")
        .map(|row| row.cell(TABLE, "item"))
        .collect();
    let mut missing: Vec<_> = wanted.iter().filter(|(item, _)| !priced.contains(item.as_str())).collect();
    missing.sort();
    for (item, (table, at)) in missing {
        if let Some(row) = catalog.rows.of(*table).get(*at) {
            let why = "designs with it are ranked apart";
            found.add(Severity::Note, *table, row, format!("no region has a price of `{item}`"), why);
        }
    }
}

/// Machines of a series cost about the same per vCPU: another operating system's price stands out.
fn per_vcpu(catalog: &Catalog, found: &mut Findings) {
    /// Isolated sizes cost a tenth more, sizes with less memory a tenth less; licences add a third and more.
    const FAR: f64 = 0.2;
    let vms: HashMap<&str, _> = catalog.vms.iter().map(|vm| (&*vm.sku, vm)).collect();
    let mut series: HashMap<_, Vec<(f64, &Row)>> = HashMap::new();
    for row in catalog.rows.of(TABLE).iter().filter(|row| row.cell(TABLE, "term") == "payg") {
        let sku = row.cell(TABLE, "item").strip_prefix("vm:").and_then(|sku| vms.get(sku));
        let (Some(vm), Ok(usd)) = (sku, row.cell(TABLE, "usd").parse::<f64>()) else { continue };
        let whole = vm.constrained_of.as_deref().and_then(|parent| vms.get(parent)).unwrap_or(vm);
        let memory_share = vm.memory.map_or(0, |memory| (memory.get() >> 30) / u64::from(whole.vcpus));
        let key = (row.cell(TABLE, "cloud"), row.cell(TABLE, "region"), &vm.series, memory_share);
        series.entry(key).or_default().push((usd / f64::from(whole.vcpus), row));
    }
    for prices in series.values() {
        let Some(usual) = median(&mut prices.iter().map(|(price, _)| *price).collect::<Vec<_>>()) else {
            continue;
        };
        for (price, row) in prices.iter().filter(|(price, _)| (price / usual - 1.0).abs() > FAR) {
            let what = format!("{price:.4} USD per vCPU, where the series has {usual:.4}");
            found.add(Severity::Warning, TABLE, row, what, "another operating system or a misprint");
        }
    }
}

/// Fixed tiers of a family cost no more per GiB the larger they are.
fn per_gib(catalog: &Catalog, found: &mut Findings) {
    /// Rounding of small prices to a cent.
    const ROUNDING: f64 = 1.02;
    let price = |tier: &str| {
        catalog.rows.of(TABLE).iter().find(|row| {
            row.cell(TABLE, "term") == "payg" && row.cell(TABLE, "item").strip_prefix("disk:") == Some(tier)
        })
    };
    let fixed = catalog.disks.iter().filter(|disk| matches!(disk.performance, Performance::Fixed(_)));
    let mut tiers: Vec<_> = fixed
        .filter_map(|disk| {
            let row = price(&disk.tier)?;
            let usd: f64 = row.cell(TABLE, "usd").parse().ok()?;
            Some((disk, usd / disk.size_max?.as_gib(), row))
        })
        .collect();
    tiers.sort_by(|a, b| (&a.0.family, a.0.size_min).cmp(&(&b.0.family, b.0.size_min)));
    for pair in tiers.windows(2) {
        let ((small, before, _), (large, after, row)) = (&pair[0], &pair[1]);
        if small.family == large.family && *after > before * ROUNDING {
            let what = format!("{after:.4} USD per GiB, more than {before:.4} of `{}`", small.tier);
            let why = "larger tiers of a family are no dearer per GiB";
            found.add(Severity::Warning, TABLE, row, what, why);
        }
    }
}

/// A commitment is cheaper than paying as one goes.
fn committed(catalog: &Catalog, found: &mut Findings) {
    for cloud in [Cloud::Azure, Cloud::Aws, Cloud::Gcp] {
        for region in catalog.prices.regions(cloud) {
            for (item, commitment, price) in catalog.prices.list(cloud, &region) {
                let payg = catalog.prices.of(cloud, &region, &item, Commitment::Payg);
                if payg.is_some_and(|payg| commitment != Commitment::Payg && price.of(1.0) > payg.of(1.0)) {
                    let what = format!("`{item}` costs more committed than as one goes in {region}");
                    let why = "nobody would commit: one of the two prices is off";
                    found.about(Severity::Warning, TABLE, item.to_string(), what, why);
                }
            }
        }
    }
}
