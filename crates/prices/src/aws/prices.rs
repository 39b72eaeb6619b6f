//! The terms of a product: what it costs on demand and reserved.

use std::collections::{BTreeMap, HashMap};

use fault::{Fault, Kind, Result};
use serde::Deserialize;

use crate::meter::Meter;

/// One way to buy a product.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Offer {
    price_dimensions: BTreeMap<String, Dimension>,
    #[serde(default)]
    term_attributes: Lease,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dimension {
    #[serde(default)]
    begin_range: String,
    unit: String,
    price_per_unit: HashMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Lease {
    lease_contract_length: String,
    offering_class: String,
    purchase_option: String,
}

/// The offers of a product, by their id.
pub type Offers = BTreeMap<String, Offer>;

/// The prices of `products` (all of one SKU) by these offers.
pub fn of(offers: &Offers, reserved: bool, products: &[Meter]) -> Result<Vec<Meter>> {
    let mut found = Vec::new();
    for offer in offers.values() {
        let Some(term) = term(&offer.term_attributes, reserved) else { continue };
        for product in products.iter().filter(|product| !reserved || product.unit == "each") {
            for dimension in offer.price_dimensions.values() {
                found.extend(price(product, dimension, term)?);
            }
        }
    }
    Ok(found)
}

/// Reservations are counted where they are standard and paid by the hour: others have a part that is paid at once.
fn term(lease: &Lease, reserved: bool) -> Option<&'static str> {
    if !reserved {
        return Some("payg");
    }
    if lease.offering_class != "standard" || lease.purchase_option != "No Upfront" {
        return None;
    }
    match lease.lease_contract_length.as_str() {
        "1yr" => Some("1y"),
        "3yr" => Some("3y"),
        _ => None,
    }
}

fn price(product: &Meter, dimension: &Dimension, term: &str) -> Result<Option<Meter>> {
    let Some((unit, billed_unit, count)) = unit(&product.unit, &dimension.unit) else { return Ok(None) };
    let wrong = |why: String| {
        Fault::new(Kind::Corrupt, format!("the price of `{}` in {}: {why}", product.item, product.region))
            .hint("is --base-url the address of a price server? If it is, its format has changed: please report it")
    };
    let Some(usd) = dimension.price_per_unit.get("USD") else {
        let others: Vec<&str> = dimension.price_per_unit.keys().map(String::as_str).collect();
        return Err(wrong(format!("`pricePerUnit` has no `USD`, only `{}`", others.join(", "))));
    };
    let number = |field: &str, text: &str| {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| wrong(format!("`{field}` is `{text}`, which is no amount")))
    };
    let begin =
        if dimension.begin_range.is_empty() { 0.0 } else { number("beginRange", &dimension.begin_range)? };
    let notes = if term == "payg" { "" } else { "standard, nothing paid upfront" };
    Ok(Some(Meter {
        term: term.to_owned(),
        unit: unit.to_owned(),
        billed_unit: billed_unit.to_owned(),
        // No more digits than AWS prints.
        usd: (number("pricePerUnit", usd)? * count * 1e12).round() / 1e12,
        from: product.from + begin,
        notes: notes.to_owned(),
        ..product.clone()
    }))
}

/// AWS's units in the catalog's words: what is printed, what is billed, and how many of ours make one of theirs the other way
/// round. Throughput of gp3 is sold by the GiB/s.
fn unit(counted: &str, unit: &str) -> Option<(&'static str, &'static str, f64)> {
    match (counted, unit.to_ascii_lowercase().as_str()) {
        ("each", "hrs" | "hours") => Some(("each-hour", "", 1.0)),
        ("capacity", "gb-mo" | "gb-month") => Some(("GB-month", "GiB", 1.0)),
        ("iops", "iops-mo") => Some(("IOPS-month", "", 1.0)),
        ("throughput", "gibps-mo") => Some(("MiBps-month", "", 1.0 / 1024.0)),
        ("throughput", "mibps-mo") => Some(("MiBps-month", "", 1.0)),
        ("throughput", "mbps-mo") => Some(("MBps-month", "", 1.0)),
        ("operations", "ios") => Some(("1M-operations", "", 1e6)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn product(item: &str, counted: &str) -> Meter {
        Meter {
            item: item.to_owned(),
            region: "us-east-1".to_owned(),
            term: "payg".to_owned(),
            meter: "m".to_owned(),
            unit: counted.to_owned(),
            billed_unit: String::new(),
            usd: 1.0,
            from: 0.0,
            notes: String::new(),
            source: "s".to_owned(),
            as_of: "2024-05-01".to_owned(),
        }
    }

    fn all(value: serde_json::Value, reserved: bool, product: &Meter) -> Vec<String> {
        let offers: Offers = serde_json::from_value(value).unwrap();
        let found = of(&offers, reserved, std::slice::from_ref(product)).unwrap();
        found
            .iter()
            .map(|meter| format!("{} {} {} from {}", meter.term, meter.usd, meter.unit, meter.from))
            .collect()
    }

    #[test]
    fn the_bands_of_the_sample() {
        let text = include_str!("../../../catalog/tests/samples/aws_price_list.json");
        let sample: serde_json::Value = serde_json::from_str(text).unwrap();
        let terms = sample["terms"]["OnDemand"]["EXAMPLESKUIO2IOPS"].clone();
        let expected = [
            "payg 0.065 IOPS-month from 0",
            "payg 0.046 IOPS-month from 32000",
            "payg 0.032 IOPS-month from 64000",
        ];
        assert_eq!(all(terms, false, &product("io2:iops", "iops")), expected);
    }

    fn offer(unit: &str, usd: &str, lease: &serde_json::Value) -> serde_json::Value {
        json!({ "o": {
            "priceDimensions": { "d": { "unit": unit, "beginRange": "0", "endRange": "Inf", "pricePerUnit": { "USD": usd } } },
            "termAttributes": lease,
        }})
    }

    #[test]
    fn throughput_is_sold_by_the_gib_and_operations_one_by_one() {
        let throughput =
            all(offer("GiBps-mo", "40.96", &json!({})), false, &product("gp3:throughput", "throughput"));
        assert_eq!(throughput, ["payg 0.04 MiBps-month from 0"]);
        let operations = all(
            offer("IOs", "0.00000005", &json!({})),
            false,
            &product("operations:EBS magnetic", "operations"),
        );
        assert!(operations[0].starts_with("payg 0.05"), "{operations:?}");
        assert!(all(offer("Furlongs", "1", &json!({})), false, &product("x", "capacity")).is_empty());
    }

    #[test]
    fn reservations_are_standard_and_paid_by_the_hour() {
        let lease = |length: &str, class: &str, option: &str| {
            let lease =
                json!({ "LeaseContractLength": length, "OfferingClass": class, "PurchaseOption": option });
            all(offer("Hrs", "0.5", &lease), true, &product("vm:x", "each"))
        };
        assert_eq!(lease("1yr", "standard", "No Upfront"), ["1y 0.5 each-hour from 0"]);
        assert_eq!(lease("3yr", "standard", "No Upfront"), ["3y 0.5 each-hour from 0"]);
        assert!(lease("1yr", "convertible", "No Upfront").is_empty());
        assert!(lease("1yr", "standard", "Partial Upfront").is_empty());
    }

    #[test]
    fn other_currencies_are_named() {
        let offers: Offers = serde_json::from_value(json!({ "o": {
            "priceDimensions": { "d": { "unit": "Hrs", "pricePerUnit": { "CNY": "1" } } },
        }}))
        .unwrap();
        let fault = of(&offers, false, &[product("vm:x", "each")]).unwrap_err();
        assert!(fault.message().contains("has no `USD`, only `CNY`"), "{fault}");
    }
}
