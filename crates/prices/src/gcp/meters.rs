//! Google's SKUs as items of the catalog.

use std::collections::BTreeSet;

use fault::{Fault, Kind, Result};

use super::{SOURCE, Sku, machines};
use crate::meter::Meter;
use crate::sold::Sold;

/// Descriptions of disks: the whole of them, or before ` in ` and a place. "Regional Balanced PD Capacity" is another.
const DISKS: [(&str, &str, &str); 16] = [
    ("Storage PD Capacity", "pd-standard", "capacity"),
    ("Balanced PD Capacity", "pd-balanced", "capacity"),
    ("SSD backed PD Capacity", "pd-ssd", "capacity"),
    ("Extreme PD Capacity", "pd-extreme", "capacity"),
    ("Extreme PD IOPS", "pd-extreme", "iops"),
    ("Hyperdisk Balanced Capacity", "hyperdisk-balanced", "capacity"),
    ("Hyperdisk Balanced IOPS", "hyperdisk-balanced", "iops"),
    ("Hyperdisk Balanced Throughput", "hyperdisk-balanced", "throughput"),
    ("Hyperdisk Extreme Capacity", "hyperdisk-extreme", "capacity"),
    ("Hyperdisk Extreme IOPS", "hyperdisk-extreme", "iops"),
    ("Hyperdisk Throughput Capacity", "hyperdisk-throughput", "capacity"),
    ("Hyperdisk Throughput Throughput", "hyperdisk-throughput", "throughput"),
    ("Hyperdisk Throughput", "hyperdisk-throughput", "throughput"),
    ("Hyperdisk ML Capacity", "hyperdisk-ml", "capacity"),
    ("Hyperdisk ML Throughput", "hyperdisk-ml", "throughput"),
    ("Hyperdisk ML", "hyperdisk-ml", "throughput"),
];

/// Words of Filestore's descriptions.
const FILESTORE: [(&str, &str); 5] = [
    ("basic hdd", "Filestore-Basic-HDD"),
    ("basic ssd", "Filestore-Basic-SSD"),
    ("zonal", "Filestore-Zonal"),
    ("regional", "Filestore-Regional"),
    ("enterprise", "Filestore-Regional"),
];

/// The catalog's items of a SKU in a region, or the parts of machines that it prices.
pub fn of(sku: &Sku, region: &str, sold: &Sold<'_>, today: &str) -> Result<Vec<Meter>> {
    let term = match sku.category.usage_type.as_str() {
        "OnDemand" => "payg",
        "Commit1Yr" => "1y",
        "Commit3Yr" => "3y",
        _ => return Ok(Vec::new()),
    };
    let Some((item, counted)) = matched(sku, term, sold) else { return Ok(Vec::new()) };
    let Some(expression) = sku.pricing_info.first().map(|info| &info.pricing_expression) else {
        return Ok(Vec::new());
    };
    let Some(unit) = unit(&expression.usage_unit, counted) else { return Ok(Vec::new()) };
    let mut bands = Vec::new();
    for rate in &expression.tiered_rates {
        bands.push(Meter {
            item: item.clone(),
            region: region.to_owned(),
            term: term.to_owned(),
            meter: sku.sku_id.clone(),
            unit: unit.clone(),
            billed_unit: String::new(),
            usd: in_dollars(sku, rate)?,
            from: rate.start_usage_amount,
            notes: String::new(),
            source: format!("{SOURCE} ({})", sku.description),
            as_of: today.to_owned(),
        });
    }
    if machines::is_part_name(&item) {
        // Cores and memory have one price; a first band that is free is a trial's.
        bands.retain(|band| band.usd > 0.0);
        bands.truncate(1);
    }
    Ok(bands)
}

fn in_dollars(sku: &Sku, rate: &super::Rate) -> Result<f64> {
    let price = &rate.unit_price;
    let usd = price.usd().filter(|_| price.currency_code == "USD");
    usd.ok_or_else(|| {
        let shown: String = format!("{} {}", price.units, price.currency_code).chars().take(60).collect();
        let message = format!("the price of SKU {} is `{shown}`, but `USD` was asked for", sku.sku_id);
        Fault::new(Kind::Corrupt, message).hint("the catalog's prices are US dollars")
    })
}

fn matched(sku: &Sku, term: &str, sold: &Sold<'_>) -> Option<(String, &'static str)> {
    let description = sku.description.as_str();
    if term != "payg" {
        return part(description, true, sold).map(|part| (part, "part"));
    }
    let bare = description.split_once(" in ").map_or(description, |(before, _)| before);
    if let Some((_, tier, what)) = DISKS.iter().find(|(name, _, _)| *name == bare) {
        return sold.disk(tier, what).map(|item| (item, *what));
    }
    if description.contains("Filestore") {
        return filestore(description, sold).map(|item| (item, "capacity"));
    }
    if description.contains("Lustre") {
        return lustre(description, sold).map(|item| (item, "capacity"));
    }
    if description.starts_with("Parallelstore") && !description.contains("Network") {
        return sold.service("Parallelstore", "capacity").map(|item| (item, "capacity"));
    }
    part(description, false, sold).map(|part| (part, "part"))
}

fn part(description: &str, committed: bool, sold: &Sold<'_>) -> Option<String> {
    let series: BTreeSet<&str> =
        sold.vms().filter(|vm| sold.vm(&vm.sku).is_some()).map(|vm| &*vm.series).collect();
    series.into_iter().find_map(|series| machines::part(description, committed, series))
}

fn filestore(description: &str, sold: &Sold<'_>) -> Option<String> {
    let text = description.to_lowercase();
    if !text.contains("capacity") || ["backup", "snapshot"].iter().any(|word| text.contains(word)) {
        return None;
    }
    let (_, tier) = FILESTORE.iter().find(|(word, _)| text.contains(word))?;
    sold.service(tier, "capacity")
}

/// The tiers are told apart by their MB/s per TiB, the one number that a tier has.
fn lustre(description: &str, sold: &Sold<'_>) -> Option<String> {
    let dynamic = if description.to_lowercase().contains("dynamic") { "Dynamic-" } else { "" };
    let numbers = description.split(|letter: char| !letter.is_ascii_digit()).filter(|text| !text.is_empty());
    let tier = |number| sold.service(&format!("Managed-Lustre-{dynamic}{number}"), "capacity");
    let found: BTreeSet<String> = numbers.filter_map(tier).collect();
    found.into_iter().next()
}

/// Google's units (`GiBy.mo`, `h`, `GiBy.h`) in the catalog's words.
fn unit(usage: &str, counted: &str) -> Option<String> {
    let (thing, period) = usage.rsplit_once('.').unwrap_or(("", usage));
    let period = match period {
        "h" => "hour",
        "mo" => "month",
        _ => return None,
    };
    match (counted, thing) {
        ("part", _) if period == "hour" => Some("each-hour".to_owned()),
        ("capacity", "GiBy") => Some(format!("GiB-{period}")),
        ("iops", _) => Some(format!("IOPS-{period}")),
        ("throughput", _) => Some(format!("MiBps-{period}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use catalog::Catalog;
    use serde_json::json;
    use spec::Cloud;

    use super::*;

    fn sku(description: &str, unit: &str, rates: &[(f64, i64)]) -> Sku {
        let rate = |(start, nanos): &(f64, i64)| json!({ "startUsageAmount": start, "unitPrice": { "currencyCode": "USD", "units": "0", "nanos": nanos } });
        let rates: Vec<_> = rates.iter().map(rate).collect();
        let usage = if description.starts_with("Commitment") { "Commit1Yr" } else { "OnDemand" };
        serde_json::from_value(json!({
            "skuId": "X", "description": description, "category": { "usageType": usage },
            "serviceRegions": ["us-central1"],
            "pricingInfo": [{ "pricingExpression": { "usageUnit": unit, "tieredRates": rates } }],
        }))
        .unwrap()
    }

    fn all(sku: &Sku) -> Vec<String> {
        let catalog = Catalog::embedded().unwrap();
        let sold = Sold::new(&catalog, Cloud::Gcp, &|_| true);
        let found = of(sku, "us-central1", &sold, "2026-11-22").unwrap();
        found
            .iter()
            .map(|meter| format!("{} {} {} {}", meter.item, meter.term, meter.usd, meter.unit))
            .collect()
    }

    #[test]
    fn a_regional_disk_is_not_a_zonal_one() {
        let price = [(0.0, 100_000_000)];
        assert_eq!(
            all(&sku("SSD backed PD Capacity", "GiBy.mo", &price)),
            ["pd-ssd:capacity payg 0.1 GiB-month"]
        );
        assert_eq!(all(&sku("SSD backed PD Capacity in London", "GiBy.mo", &price)).len(), 1);
        for other in [
            "Regional SSD backed PD Capacity",
            "Regional Balanced PD Capacity",
            "Hyperdisk Balanced High Availability Capacity",
            "Confidential SSD backed PD Capacity in Iowa",
        ] {
            assert!(all(&sku(other, "GiBy.mo", &price)).is_empty(), "{other}");
        }
    }

    #[test]
    fn balanced_is_not_regional_balanced_where_the_catalog_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let row = "cloud,tier,family,media,model,size_min_gib,source,as_of\ngcp,pd-balanced,Persistent Disk balanced,ssd,unknown,10,me,2026\n";
        std::fs::write(dir.path().join("disks.csv"), row).unwrap();
        let catalog = Catalog::load(dir.path()).unwrap();
        let sold = Sold::new(&catalog, Cloud::Gcp, &|_| true);
        let found =
            |name: &str| of(&sku(name, "GiBy.mo", &[(0.0, 1)]), "us-central1", &sold, "").unwrap().len();
        assert_eq!(found("Balanced PD Capacity"), 1);
        assert_eq!(found("Balanced PD Capacity in Tokyo"), 1);
        assert_eq!(found("Regional Balanced PD Capacity"), 0);
    }

    #[test]
    fn a_first_band_may_be_free() {
        let found = all(&sku("Storage PD Capacity", "GiBy.mo", &[(0.0, 0), (30.0, 40_000_000)]));
        assert_eq!(
            found,
            ["pd-standard:capacity payg 0 GiB-month", "pd-standard:capacity payg 0.04 GiB-month"]
        );
        assert_eq!(all(&sku("N2 Instance Core running in Americas", "h", &[(0.0, 0), (1.0, 5)])).len(), 1);
    }

    #[test]
    fn services_and_commitments() {
        let one = |text: &str, unit: &str| all(&sku(text, unit, &[(0.0, 1_000_000_000)])).join(";");
        assert_eq!(
            one("Filestore Capacity Zonal Iowa", "GiBy.mo"),
            "service:Filestore-Zonal:capacity payg 1 GiB-month"
        );
        assert_eq!(one("Filestore Backup Capacity Zonal", "GiBy.mo"), "");
        assert_eq!(
            one("Managed Lustre 500 MB/s per TiB Iowa", "GiBy.h"),
            "service:Managed-Lustre-500:capacity payg 1 GiB-hour"
        );
        assert_eq!(
            one("Managed Lustre Dynamic 25", "GiBy.h"),
            "service:Managed-Lustre-Dynamic-25:capacity payg 1 GiB-hour"
        );
        assert_eq!(one("Commitment v1: N2 Cpu in Americas for 1 Year", "h"), "core:n2 1y 1 each-hour");
    }
}
