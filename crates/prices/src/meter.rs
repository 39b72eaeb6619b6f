use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sold::Sold;

/// What a price list says of one item: one band of one meter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meter {
    /// The catalog's item, or for Google's machines a part of one: `core:n2`.
    pub item: String,
    /// The region.
    pub region: String,
    /// `payg`, `1y`, `3y`.
    pub term: String,
    /// The provider's name for it: bands of one meter belong together.
    pub meter: String,
    /// As in the catalog: `each-hour`, `GiB-month`.
    pub unit: String,
    /// What the unit means, where it prints another.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub billed_unit: String,
    /// US dollars per unit.
    pub usd: f64,
    /// Units before this band.
    pub from: f64,
    /// What else to know.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// Where it stands.
    pub source: String,
    /// The date it speaks of.
    pub as_of: String,
}

/// A band of a price, as a row of the catalog's table has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Quote {
    pub meter: Meter,
    /// The last unit of the band.
    pub to: Option<f64>,
    /// Why to look again.
    pub doubt: String,
}

/// The key of a price in the catalog: region, item, term.
pub type Key = (String, String, String);

impl Meter {
    pub fn key(&self) -> Key {
        (self.region.clone(), self.item.clone(), self.term.clone())
    }
}

/// Every price with its bands, in order of region, item and term.
pub fn quotes(meters: Vec<Meter>, sold: &Sold<'_>) -> BTreeMap<Key, Vec<Quote>> {
    let mut by_key: BTreeMap<Key, BTreeMap<String, Vec<Meter>>> = BTreeMap::new();
    for meter in meters {
        by_key.entry(meter.key()).or_default().entry(meter.meter.clone()).or_default().push(meter);
    }
    by_key.into_iter().filter_map(|(key, meters)| Some((key, chosen(meters, sold)?))).collect()
}

/// The price of an item for which there may be more than one meter: where they differ, the dearest, in doubt.
fn chosen(meters: BTreeMap<String, Vec<Meter>>, sold: &Sold<'_>) -> Option<Vec<Quote>> {
    let mut known: Vec<Vec<Quote>> =
        meters.into_values().map(|meter| bands(meter, sold)).filter(|bands| !bands.is_empty()).collect();
    let first = |bands: &Vec<Quote>| bands.first().map_or(0.0, |band| per_month(&band.meter));
    known.sort_by(|a, b| first(b).total_cmp(&first(a)));
    let mut prices: Vec<f64> = known.iter().map(first).collect();
    prices.dedup_by(|a, b| (*a - *b).abs() <= 1e-9 * b.abs());
    let mut dearest = known.into_iter().next()?;
    if prices.len() > 1 {
        for band in &mut dearest {
            band.doubt = format!("the price list has {} meters of it: the dearest is taken", prices.len());
        }
    }
    Some(dearest)
}

fn per_month(meter: &Meter) -> f64 {
    match meter.unit.rsplit_once('-') {
        Some((_, "hour")) => meter.usd * catalog::HOURS_PER_MONTH,
        Some((_, "year")) => meter.usd / 12.0,
        _ => meter.usd,
    }
}

/// The bands of one meter: adjoining, without the first where that is free.
fn bands(mut meter: Vec<Meter>, sold: &Sold<'_>) -> Vec<Quote> {
    meter.sort_by(|a, b| a.from.total_cmp(&b.from));
    // The same meter may stand on two pages.
    meter.dedup_by(|a, b| a.from.total_cmp(&b.from).is_eq());
    let ends: Vec<Option<f64>> = meter.iter().skip(1).map(|band| Some(band.from)).chain([None]).collect();
    let free = meter.iter().take_while(|band| band.usd == 0.0).count();
    let quote = |(meter, to)| Quote { meter, to, doubt: String::new() };
    let mut bands: Vec<Quote> = meter.into_iter().zip(ends).skip(free).map(quote).collect();
    if let Some(first) = bands.first_mut()
        && first.meter.from == 0.0
        && let Some(included) = sold.included(&first.meter.item)
        && first.to.is_none_or(|to| to > included)
    {
        first.meter.from = included;
        first.meter.notes = format!("{included} come with the capacity");
    }
    bands
}

/// A number as the catalog's files have it: no more digits than a price needs.
pub fn number(value: f64) -> String {
    let text = format!("{value:.10}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(name: &str, from: f64, usd: f64) -> Meter {
        Meter {
            item: "gp3:iops".to_owned(),
            region: "us-east-1".to_owned(),
            term: "payg".to_owned(),
            meter: name.to_owned(),
            unit: "IOPS-month".to_owned(),
            billed_unit: String::new(),
            usd,
            from,
            notes: String::new(),
            source: "a price list".to_owned(),
            as_of: "2026-11-22".to_owned(),
        }
    }

    fn of(meters: &[Meter]) -> Vec<(f64, Option<f64>, f64)> {
        let catalog = catalog::Catalog::embedded().unwrap();
        let sold = Sold::new(&catalog, spec::Cloud::Aws, &|_| true);
        let quotes = quotes(meters.to_vec(), &sold);
        quotes.values().flatten().map(|quote| (quote.meter.from, quote.to, quote.meter.usd)).collect()
    }

    #[test]
    fn what_is_free_is_before_the_first_band() {
        assert_eq!(of(&[meter("a", 0.0, 0.0), meter("a", 125.0, 0.04)]), [(125.0, None, 0.04)]);
        assert_eq!(of(&[meter("a", 0.0, 0.0)]), []);
    }

    #[test]
    fn what_comes_with_the_capacity_is_free_even_where_the_list_does_not_say() {
        assert_eq!(of(&[meter("a", 0.0, 0.005)]), [(3000.0, None, 0.005)]);
    }

    #[test]
    fn bands_adjoin_and_a_page_that_is_read_twice_changes_nothing() {
        let bands = [meter("a", 32_000.0, 0.046), meter("a", 4000.0, 0.065), meter("a", 32_000.0, 0.046)];
        assert_eq!(of(&bands), [(4000.0, Some(32_000.0), 0.065), (32_000.0, None, 0.046)]);
    }

    #[test]
    fn of_two_meters_the_dearest_is_taken_in_doubt() {
        let catalog = catalog::Catalog::embedded().unwrap();
        let sold = Sold::new(&catalog, spec::Cloud::Aws, &|_| true);
        let both = quotes(vec![meter("a", 0.0, 1.0), meter("b", 0.0, 2.0)], &sold);
        let band = &both.values().next().unwrap()[0];
        assert!(band.meter.usd > 1.0 && band.doubt.contains("2 meters"));
        let same = quotes(vec![meter("a", 0.0, 1.0), meter("b", 0.0, 1.0)], &sold);
        assert!(same.values().next().unwrap()[0].doubt.is_empty());
    }

    #[test]
    fn numbers_have_no_noise() {
        assert_eq!(number(40.96 / 1024.0), "0.04");
        assert_eq!(number(0.065), "0.065");
        assert_eq!(number(32_000.0), "32000");
        assert_eq!(number(0.000_202), "0.000202");
    }
}
