//! Azure's meters as items of the catalog.

use super::{Item, SOURCE};
use crate::meter::Meter;
use crate::sold::Sold;

/// What is sold under a meter: items, what is counted, and for reservations nothing else.
struct Match {
    items: Vec<String>,
    counted: Counted,
}

#[derive(Clone, Copy, PartialEq)]
enum Counted {
    Each,
    Capacity,
    Iops,
    Throughput(&'static str),
    Operations,
}

/// The catalog's items of a meter; none for the many that nothing in the catalog is sold by.
pub fn of(item: &Item, region: &str, sold: &Sold<'_>, today: &str) -> Vec<Meter> {
    let Some(found) = matched(item, sold) else { return Vec::new() };
    let Some((term, years)) = term(item) else { return Vec::new() };
    let Some((unit, billed_unit, count)) = unit(item, found.counted, years) else { return Vec::new() };
    let usd = years.map_or(item.retail_price / count, |years| item.retail_price / years);
    let meter = |name: String| Meter {
        item: name,
        region: region.to_owned(),
        term: term.to_owned(),
        meter: item.meter_id.clone(),
        unit: unit.clone(),
        billed_unit: billed_unit.to_owned(),
        usd,
        from: item.tier_minimum_units,
        notes: String::new(),
        source: format!("{SOURCE} ({}, {})", item.kind, item.meter_name),
        as_of: today.to_owned(),
    };
    found.items.into_iter().map(meter).collect()
}

fn matched(item: &Item, sold: &Sold<'_>) -> Option<Match> {
    let found = match item.service_name.as_str() {
        "Virtual Machines" => machine(item, sold),
        "Storage" => disk(item, sold),
        "Azure NetApp Files" => netapp(item, sold),
        _ if item.product_name.contains("Lustre") => lustre(item, sold),
        _ => None,
    }?;
    (!found.items.is_empty()).then_some(found)
}

/// Linux on demand or reserved: no Windows, no spot, no cloud service of the same SKU.
fn machine(item: &Item, sold: &Sold<'_>) -> Option<Match> {
    let product = item.product_name.to_lowercase();
    let name = format!("{} {}", item.sku_name, item.meter_name).to_lowercase();
    let other = ["windows", "cloud services", "cloudservices", "dedicated host", "rhel", "suse"];
    if other.iter().any(|word| product.contains(word))
        || ["spot", "low priority"].iter().any(|word| name.contains(word))
    {
        return None;
    }
    let items = sold.vm(&item.arm_sku_name).into_iter().collect();
    Some(Match { items, counted: Counted::Each })
}

fn disk(item: &Item, sold: &Sold<'_>) -> Option<Match> {
    let (meter, product) = (item.meter_name.as_str(), item.product_name.as_str());
    if let Some(tier) = ["Premium SSD v2", "Ultra"].iter().find(|name| product.contains(*name)) {
        return provisioned(if *tier == "Ultra" { "Ultra" } else { "PremiumV2" }, meter, sold);
    }
    let family =
        ["Premium SSD", "Standard SSD", "Standard HDD"].into_iter().find(|name| product.starts_with(name))?;
    if !product.ends_with("Managed Disks") {
        return None;
    }
    let (tier, rest) = meter.split_once(' ').unwrap_or((item.sku_name.split_once(' ')?.0, ""));
    match rest {
        "LRS Disk" => {
            Some(Match { items: sold.fixed_disk(tier).into_iter().collect(), counted: Counted::Each })
        }
        "LRS Disk Operations" | "Disk Operations" => {
            Some(Match { items: sold.operations(family).into_iter().collect(), counted: Counted::Operations })
        }
        _ => None,
    }
}

fn provisioned(tier: &str, meter: &str, sold: &Sold<'_>) -> Option<Match> {
    let (what, counted) = if meter.ends_with("LRS Provisioned Capacity") {
        ("capacity", Counted::Capacity)
    } else if meter.ends_with("LRS Provisioned IOPS") {
        ("iops", Counted::Iops)
    } else if meter.ends_with("LRS Provisioned Throughput (MBps)") {
        ("throughput", Counted::Throughput("MBps"))
    } else {
        return None;
    };
    Some(Match { items: sold.disk(tier, what).into_iter().collect(), counted })
}

/// The plain meters of the service levels; double encryption and cool access are other meters.
fn netapp(item: &Item, sold: &Sold<'_>) -> Option<Match> {
    let service =
        |tiers: &[&str], what: &str| tiers.iter().filter_map(|tier| sold.service(tier, what)).collect();
    let (items, counted) = match item.meter_name.as_str() {
        "Standard Capacity" => {
            (service(&["ANF-Standard", "ANF-Large-Standard"], "capacity"), Counted::Capacity)
        }
        "Premium Capacity" => (service(&["ANF-Premium", "ANF-Large-Premium"], "capacity"), Counted::Capacity),
        "Ultra Capacity" => (service(&["ANF-Ultra", "ANF-Large-Ultra"], "capacity"), Counted::Capacity),
        "Flexible Service Level Capacity" => (service(&["ANF-Flexible"], "capacity"), Counted::Capacity),
        "Flexible Service Level Throughput MiBps" => {
            (service(&["ANF-Flexible"], "throughput"), Counted::Throughput("MiBps"))
        }
        _ => return None,
    };
    Some(Match { items, counted })
}

/// The tiers are told apart by their MB/s per TiB, the one number in the name that a tier has.
fn lustre(item: &Item, sold: &Sold<'_>) -> Option<Match> {
    let name = format!("{} {}", item.sku_name, item.meter_name);
    let mut numbers: Vec<&str> =
        name.split(|letter: char| !letter.is_ascii_digit()).filter(|text| !text.is_empty()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let tiers = numbers
        .iter()
        .filter_map(|number| sold.service(&format!("AMLFS-Durable-Premium-{number}"), "capacity"));
    let items: Vec<String> = tiers.collect();
    (items.len() == 1).then_some(Match { items, counted: Counted::Capacity })
}

/// The price list, and for reservations the years: their price is that of the whole term, whatever their unit says.
fn term(item: &Item) -> Option<(&'static str, Option<f64>)> {
    match (item.kind.as_str(), item.reservation_term.as_deref()) {
        ("Consumption", _) if item.is_primary_meter_region => Some(("payg", None)),
        ("Reservation", Some("1 Year")) => Some(("1y", Some(1.0))),
        ("Reservation", Some("3 Years")) => Some(("3y", Some(3.0))),
        _ => None,
    }
}

/// The unit in the catalog's words, what is billed by it, and how many of it the price is for: `1 GiB/Hour`, `1/Month`, `10K`.
fn unit(item: &Item, counted: Counted, years: Option<f64>) -> Option<(String, &'static str, f64)> {
    if years.is_some() {
        return (counted == Counted::Each).then(|| ("each-year".to_owned(), "", 1.0));
    }
    let text = item.unit_of_measure.as_str();
    if counted == Counted::Operations {
        return (text == "10K").then(|| ("10k-operations".to_owned(), "", 1.0));
    }
    let (amount, period) = text.rsplit_once(['/', ' '])?;
    let period = match period {
        "Hour" => "hour",
        "Month" => "month",
        _ => return None,
    };
    let (number, thing) = amount.split_once(' ').unwrap_or((amount, ""));
    let count: f64 = number.parse().ok().filter(|count| *count > 0.0)?;
    let (counted, billed) = match (counted, thing) {
        (Counted::Each, "") => ("each", ""),
        (Counted::Capacity, "GiB") => ("GiB", ""),
        (Counted::Capacity, "GB") => ("GB", "GiB"),
        (Counted::Capacity, "TiB") => return Some((format!("GiB-{period}"), "", count * 1024.0)),
        (Counted::Iops, _) => ("IOPS", ""),
        (Counted::Throughput(unit), _) => (unit, ""),
        _ => return None,
    };
    Some((format!("{counted}-{period}"), billed, count))
}

#[cfg(test)]
mod tests {
    use catalog::Catalog;
    use spec::Cloud;

    use super::*;

    fn item(change: impl FnOnce(&mut Item)) -> Item {
        let mut item = Item {
            currency_code: "USD".to_owned(),
            tier_minimum_units: 0.0,
            retail_price: 1.0,
            arm_region_name: "eastus".to_owned(),
            meter_id: "m".to_owned(),
            meter_name: "P6 LRS Disk".to_owned(),
            product_name: "Premium SSD Managed Disks".to_owned(),
            sku_name: "P6 LRS".to_owned(),
            service_name: "Storage".to_owned(),
            unit_of_measure: "1/Month".to_owned(),
            kind: "Consumption".to_owned(),
            arm_sku_name: String::new(),
            is_primary_meter_region: true,
            reservation_term: None,
        };
        change(&mut item);
        item
    }

    fn all(change: impl FnOnce(&mut Item)) -> Vec<String> {
        let catalog = Catalog::embedded().unwrap();
        let sold = Sold::new(&catalog, Cloud::Azure, &|_| true);
        let found = of(&item(change), "eastus", &sold, "2026-11-22");
        found
            .iter()
            .map(|meter| format!("{} {} {} {}", meter.item, meter.term, meter.usd, meter.unit))
            .collect()
    }

    fn machine(change: impl FnOnce(&mut Item)) -> Vec<String> {
        all(|item| {
            item.service_name = "Virtual Machines".to_owned();
            item.product_name = "Virtual Machines Esv5 Series".to_owned();
            item.arm_sku_name = "Standard_E16s_v5".to_owned();
            item.sku_name = "E16s v5".to_owned();
            item.meter_name = "E16s v5".to_owned();
            item.unit_of_measure = "1 Hour".to_owned();
            change(item);
        })
    }

    #[test]
    fn disks_are_locally_redundant_and_not_their_mounts() {
        assert_eq!(all(|_| {}), ["disk:P6 payg 1 each-month"]);
        for other in ["P6 ZRS Disk", "P6 LRS Disk Mount", "P6 LRS Disk Operations extra", "P6 Disks"] {
            assert!(all(|item| item.meter_name = other.to_owned()).is_empty(), "{other}");
        }
        assert!(all(|item| item.product_name = "Premium SSD Snapshots".to_owned()).is_empty());
        assert!(all(|item| item.is_primary_meter_region = false).is_empty());
    }

    #[test]
    fn machines_run_linux_on_demand_or_reserved() {
        assert_eq!(machine(|_| {}), ["vm:Standard_E16s_v5 payg 1 each-hour"]);
        assert!(machine(|item| item.product_name += " Windows").is_empty());
        assert!(machine(|item| item.sku_name += " Spot").is_empty());
        assert!(machine(|item| item.meter_name += " Low Priority").is_empty());
        assert!(machine(|item| item.product_name = "Esv5 Series Cloud Services".to_owned()).is_empty());
        assert!(machine(|item| item.arm_sku_name = "Standard_X1".to_owned()).is_empty());
    }

    #[test]
    fn the_price_of_a_reservation_is_that_of_its_whole_term() {
        let reserved = |term: &str| {
            machine(|item| {
                item.kind = "Reservation".to_owned();
                item.retail_price = 3000.0;
                item.reservation_term = Some(term.to_owned());
            })
        };
        assert_eq!(reserved("1 Year"), ["vm:Standard_E16s_v5 1y 3000 each-year"]);
        assert_eq!(reserved("3 Years"), ["vm:Standard_E16s_v5 3y 1000 each-year"]);
        assert!(reserved("5 Years").is_empty());
    }

    #[test]
    fn units_are_per_hour_per_month_and_per_ten_thousand() {
        let provisioned = |meter: &str, unit: &str| {
            all(|item| {
                item.product_name = "Azure Premium SSD v2".to_owned();
                item.meter_name = format!("Premium LRS Provisioned {meter}");
                item.unit_of_measure = unit.to_owned();
            })
        };
        assert_eq!(provisioned("Capacity", "1 GiB/Hour"), ["PremiumV2:capacity payg 1 GiB-hour"]);
        assert_eq!(provisioned("IOPS", "1/Hour"), ["PremiumV2:iops payg 1 IOPS-hour"]);
        assert_eq!(provisioned("Throughput (MBps)", "1/Hour"), ["PremiumV2:throughput payg 1 MBps-hour"]);
        assert!(provisioned("Capacity", "1 Fortnight").is_empty());
        let operations = all(|item| {
            item.product_name = "Standard HDD Managed Disks".to_owned();
            item.meter_name = "S4 LRS Disk Operations".to_owned();
            item.unit_of_measure = "10K".to_owned();
            item.retail_price = 0.0005;
        });
        assert_eq!(operations, ["operations:Standard HDD payg 0.0005 10k-operations"]);
    }

    #[test]
    fn services_by_their_plain_meters() {
        let netapp = |meter: &str| {
            all(|item| {
                item.service_name = "Azure NetApp Files".to_owned();
                item.meter_name = meter.to_owned();
                item.unit_of_measure = "1 GiB/Hour".to_owned();
            })
        };
        assert_eq!(netapp("Ultra Capacity").len(), 2);
        assert_eq!(
            netapp("Flexible Service Level Throughput MiBps"),
            ["service:ANF-Flexible:throughput payg 1 MiBps-hour"]
        );
        assert!(netapp("Ultra Double Encrypted Capacity").is_empty());
        let lustre = |sku: &str| {
            all(|item| {
                item.service_name = "Azure Managed Lustre".to_owned();
                item.product_name = "Azure Managed Lustre".to_owned();
                item.sku_name = sku.to_owned();
                item.meter_name = format!("{sku} Capacity");
                item.unit_of_measure = "1 GiB/Hour".to_owned();
            })
        };
        assert_eq!(
            lustre("Durable Premium 250"),
            ["service:AMLFS-Durable-Premium-250:capacity payg 1 GiB-hour"]
        );
        assert!(lustre("Durable Premium 2500").is_empty());
    }
}
