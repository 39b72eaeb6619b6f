//! Azure Retail Prices: pages of items, each with a link to the next.

mod meters;

use fault::{Fault, Kind, Result};
use serde::Deserialize;

use crate::http::{Address, Client, encoded};
use crate::journal::{Page, Place};
use crate::meter::Meter;
use crate::refresh::{List, Watch, unexpected};
use crate::sold::Sold;

/// Where the price list is.
pub const SERVER: &str = "https://prices.azure.com";
/// How the sources of its rows begin.
pub const SOURCE: &str = "Azure Retail Prices API";

/// The questions of a region: a name, the filter, and how the items begin that it can price.
const QUESTIONS: [(&str, &str, &[&str]); 6] = [
    ("virtual machines", "serviceName eq 'Virtual Machines' and priceType eq 'Consumption'", &["vm:"]),
    (
        "virtual machines, reserved",
        "serviceName eq 'Virtual Machines' and priceType eq 'Reservation'",
        &["vm:"],
    ),
    (
        "managed disks",
        "serviceName eq 'Storage' and priceType eq 'Consumption' and (contains(productName, 'Disk') or productName eq 'Azure Premium SSD v2')",
        &["disk:", "operations:", "PremiumV2:", "Ultra:"],
    ),
    (
        "managed disks, reserved",
        "serviceName eq 'Storage' and priceType eq 'Reservation' and contains(productName, 'Disk')",
        &["disk:"],
    ),
    (
        "Azure NetApp Files",
        "serviceName eq 'Azure NetApp Files' and priceType eq 'Consumption'",
        &["service:ANF-"],
    ),
    (
        "Azure Managed Lustre",
        "contains(productName, 'Lustre') and priceType eq 'Consumption'",
        &["service:AMLFS-"],
    ),
];

/// The answer to a question, or a part of it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    billing_currency: String,
    items: Vec<Item>,
    next_page_link: Option<String>,
}

/// One meter, or one band of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    currency_code: String,
    tier_minimum_units: f64,
    retail_price: f64,
    arm_region_name: String,
    meter_id: String,
    meter_name: String,
    product_name: String,
    sku_name: String,
    service_name: String,
    unit_of_measure: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    arm_sku_name: String,
    #[serde(default = "yes")]
    is_primary_meter_region: bool,
    #[serde(default)]
    reservation_term: Option<String>,
}

fn yes() -> bool {
    true
}

/// The price list of Azure.
pub struct Azure<'a> {
    client: Client,
    base: Address,
    sold: &'a Sold<'a>,
    today: String,
    asked: Vec<(String, &'static str, &'static str)>,
}

impl<'a> Azure<'a> {
    pub fn new(client: Client, base: Address, sold: &'a Sold<'a>, regions: &[String], today: &str) -> Self {
        let items = sold.items();
        let wanted =
            |starts: &[&str]| items.iter().any(|item| starts.iter().any(|start| item.starts_with(start)));
        let questions: Vec<_> = QUESTIONS.into_iter().filter(|(_, _, starts)| wanted(starts)).collect();
        let asked = regions
            .iter()
            .flat_map(|region| questions.iter().map(|(name, filter, _)| (region.clone(), *name, *filter)))
            .collect();
        Self { client, base, sold, today: today.to_owned(), asked }
    }

    fn first(&self, request: usize) -> Result<Address> {
        let Some((region, _, filter)) = self.asked.get(request) else {
            return Err(Fault::new(Kind::Bug, "a question that was not asked"));
        };
        let filter = encoded(&format!("armRegionName eq '{region}' and {filter}"));
        self.base.join(&format!(
            "/api/retail/prices?api-version=2023-01-01-preview&currencyCode='USD'&meterRegion='primary'&$filter={filter}"
        ))
    }
}

impl List for Azure<'_> {
    fn requests(&self) -> Vec<String> {
        self.asked.iter().map(|(region, name, _)| format!("{name} in {region}")).collect()
    }

    fn page(&self, request: usize, place: Option<&Place>, _: &[&Page], watch: &dyn Watch) -> Result<Page> {
        let url = match place {
            Some(Place::Link(link)) => self.base.follow(link)?,
            _ => self.first(request)?,
        };
        let text = self.client.page(&url, watch)?;
        let answer: Answer =
            serde_json::from_slice(&text).map_err(|error| unexpected(&url, "a page of prices", &error))?;
        in_dollars(&answer.billing_currency)?;
        for item in &answer.items {
            in_dollars(&item.currency_code)?;
        }
        let region = self.asked.get(request).map_or("", |(region, _, _)| region.as_str());
        let here = answer.items.iter().filter(|item| item.arm_region_name.eq_ignore_ascii_case(region));
        let found: Vec<Vec<Meter>> = here
            .map(|item| meters::of(item, region, self.sold, &self.today))
            .filter(|found| !found.is_empty())
            .collect();
        Ok(Page {
            request,
            next: answer.next_page_link.filter(|link| !link.is_empty()).map(Place::Link),
            seen: answer.items.len() as u64,
            matched: found.len() as u64,
            meters: found.into_iter().flatten().collect(),
            bytes: text.len() as u64,
            ..Page::default()
        })
    }

    fn meters(&self, pages: &[&Page]) -> Vec<Meter> {
        pages.iter().flat_map(|page| page.meters.iter().cloned()).collect()
    }
}

/// Other currencies are refused: the catalog has US dollars.
fn in_dollars(currency: &str) -> Result<()> {
    if currency == "USD" {
        return Ok(());
    }
    let shown: String = currency.chars().take(20).collect();
    Err(Fault::new(Kind::Corrupt, format!("the price list is in `{shown}`, but `USD` was asked for"))
        .hint("the catalog's prices are US dollars, and exchange rates are not the providers' prices"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../catalog/tests/samples/azure_retail_prices.json");

    #[test]
    fn pounds_are_refused() {
        let answer: Answer = serde_json::from_str(SAMPLE).unwrap();
        let fault = in_dollars(&answer.billing_currency).unwrap_err();
        assert_eq!(fault.message(), "the price list is in `GBP`, but `USD` was asked for");
        assert!(answer.next_page_link.is_none());
    }

    #[test]
    fn a_field_that_is_missing_is_named() {
        let text = SAMPLE.replace("retailPrice", "price");
        let error = serde_json::from_str::<Answer>(&text).err().unwrap();
        assert!(error.to_string().contains("missing field `retailPrice`"), "{error}");
    }
}
