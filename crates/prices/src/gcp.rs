//! Google's Cloud Billing Catalog: SKUs of a service, page by page; machines are priced by core and by GiB of memory.

mod machines;
mod meters;

use fault::{Fault, Kind, Result};
use serde::Deserialize;

use crate::http::{Address, Client, encoded};
use crate::journal::{Page, Place, Product};
use crate::meter::Meter;
use crate::refresh::{List, Watch, unexpected};
use crate::sold::Sold;

/// Where the price list is.
pub const SERVER: &str = "https://cloudbilling.googleapis.com";
/// How the sources of its rows begin.
pub const SOURCE: &str = "Google Cloud Billing Catalog";

/// A service of the catalog: its name, its id where that is known, and how the items begin that it can price.
const SERVICES: [(&str, Option<&str>, &[&str]); 4] = [
    ("Compute Engine", Some("6F81-5844-456A"), &["vm:", "pd-", "hyperdisk-"]),
    ("Filestore", Some("D97E-AB26-5D95"), &["service:Filestore-"]),
    ("Managed Lustre", None, &["service:Managed-Lustre-"]),
    ("Parallelstore", None, &["service:Parallelstore"]),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    skus: Vec<Sku>,
    #[serde(default)]
    next_page_token: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Services {
    services: Vec<Service>,
    #[serde(default)]
    next_page_token: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Service {
    service_id: String,
    display_name: String,
}

/// One SKU of the price list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sku {
    sku_id: String,
    description: String,
    category: Category,
    service_regions: Vec<String>,
    pricing_info: Vec<Pricing>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Category {
    usage_type: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pricing {
    pricing_expression: Expression,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expression {
    usage_unit: String,
    tiered_rates: Vec<Rate>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rate {
    #[serde(default)]
    start_usage_amount: f64,
    unit_price: Amount,
}

/// Whole units as text and billionths of one. What is zero may be left out.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Amount {
    currency_code: String,
    #[serde(default)]
    units: String,
    #[serde(default)]
    nanos: i64,
}

impl Amount {
    fn usd(&self) -> Option<f64> {
        let units: f64 = if self.units.is_empty() { 0.0 } else { self.units.parse().ok()? };
        Some(units + self.nanos as f64 / 1e9)
    }
}

/// The price list of Google Cloud.
pub struct Gcp<'a> {
    client: Client,
    base: Address,
    sold: &'a Sold<'a>,
    regions: Vec<String>,
    today: String,
    asked: Vec<(&'static str, Option<&'static str>)>,
}

impl<'a> Gcp<'a> {
    pub fn new(client: Client, base: Address, sold: &'a Sold<'a>, regions: &[String], today: &str) -> Self {
        let items = sold.items();
        let wanted =
            |starts: &[&str]| items.iter().any(|item| starts.iter().any(|start| item.starts_with(start)));
        let asked =
            SERVICES.into_iter().filter(|(_, _, starts)| wanted(starts)).map(|(name, id, _)| (name, id));
        Self {
            client,
            base,
            sold,
            regions: regions.to_vec(),
            today: today.to_owned(),
            asked: asked.collect(),
        }
    }

    /// Looks up the id of a service by its name; a page without SKUs.
    fn look_up(&self, request: usize, name: &str, place: Option<&Place>, watch: &dyn Watch) -> Result<Page> {
        let token = match place {
            Some(Place::Token(token)) => format!("&pageToken={}", encoded(token)),
            _ => String::new(),
        };
        let url = self.base.join(&format!("/v1/services?pageSize=5000{token}"))?;
        let text = self.client.page(&url, watch)?;
        let answer: Services =
            serde_json::from_slice(&text).map_err(|error| unexpected(&url, "a list of services", &error))?;
        let found = answer.services.into_iter().find(|service| service.display_name.ends_with(name));
        let more = Some(answer.next_page_token).filter(|token| !token.is_empty()).map(Place::Token);
        let next = match &found {
            Some(_) => Some(Place::Link(String::new())),
            None => more,
        };
        let product = |service: Service| Product { sku: service.service_id, meters: Vec::new() };
        let products = found.map(product).into_iter().collect();
        Ok(Page { request, next, products, bytes: text.len() as u64, ..Page::default() })
    }

    fn skus(&self, request: usize, id: &str, place: Option<&Place>, watch: &dyn Watch) -> Result<Page> {
        let token = match place {
            Some(Place::Token(token)) => format!("&pageToken={}", encoded(token)),
            _ => String::new(),
        };
        let url = self.base.join(&format!("/v1/services/{id}/skus?currencyCode=USD&pageSize=5000{token}"))?;
        let text = self.client.page(&url, watch)?;
        let answer: Answer =
            serde_json::from_slice(&text).map_err(|error| unexpected(&url, "a page of SKUs", &error))?;
        let mut page =
            Page { request, bytes: text.len() as u64, seen: answer.skus.len() as u64, ..Page::default() };
        for sku in &answer.skus {
            let before = page.meters.len();
            for region in self.regions.iter().filter(|region| sku.is_in(region)) {
                page.meters.extend(meters::of(sku, region, self.sold, &self.today)?);
            }
            page.matched += u64::from(page.meters.len() > before);
        }
        page.next = Some(answer.next_page_token).filter(|token| !token.is_empty()).map(Place::Token);
        Ok(page)
    }
}

impl Sku {
    fn is_in(&self, region: &str) -> bool {
        self.service_regions.iter().any(|of| of == region || of == "global")
    }
}

impl List for Gcp<'_> {
    fn requests(&self) -> Vec<String> {
        // The regions are part of what is asked: one answer has all of them.
        let regions = self.regions.join(", ");
        self.asked.iter().map(|(name, _)| format!("{name} in {regions}")).collect()
    }

    fn page(
        &self,
        request: usize,
        place: Option<&Place>,
        earlier: &[&Page],
        watch: &dyn Watch,
    ) -> Result<Page> {
        let Some((name, id)) = self.asked.get(request).copied() else {
            return Err(Fault::new(Kind::Bug, "a service that was not asked"));
        };
        let found = earlier.iter().flat_map(|page| &page.products).map(|product| product.sku.as_str()).next();
        match id.or(found) {
            Some(id) => self.skus(request, id, place, watch),
            None => self.look_up(request, name, place, watch),
        }
    }

    fn meters(&self, pages: &[&Page]) -> Vec<Meter> {
        let all: Vec<Meter> = pages.iter().flat_map(|page| page.meters.iter().cloned()).collect();
        let (parts, mut meters): (Vec<Meter>, Vec<Meter>) = all.into_iter().partition(machines::is_part);
        meters.extend(machines::priced(&parts, self.sold));
        meters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_sample_is_read() {
        let text = include_str!("../../catalog/tests/samples/gcp_billing_skus.json");
        let answer: Answer = serde_json::from_str(text).unwrap();
        assert_eq!(answer.next_page_token, "[NEXT_PAGE_TOKEN]");
        let rates = &answer.skus[0].pricing_info[0].pricing_expression.tiered_rates;
        let rates: Vec<_> =
            rates.iter().map(|rate| (rate.start_usage_amount, rate.unit_price.usd())).collect();
        assert_eq!(rates, [(0.0, Some(0.12)), (1024.0, Some(0.11)), (10_240.0, Some(0.08))]);
        assert!(answer.skus[0].is_in("us-east1") && !answer.skus[0].is_in("us-east10"));
    }
}
