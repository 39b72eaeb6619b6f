use std::collections::{BTreeMap, BTreeSet};

use catalog::{Catalog, NewRow, Price, Table};
use serde::Serialize;
use spec::{Cloud, Commitment};

use crate::meter::{Key, Quote, number};
use crate::refresh::{Question, source};
use crate::sold::Sold;

/// What a refresh changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Prices that are new or no longer what they were, in order of region, item and term.
    pub changes: Vec<Changed>,
    /// Prices that are as they were.
    pub same: usize,
    /// Wanted items for which the list of a region has no price and had none before.
    pub unknown: Vec<String>,
}

/// A price that changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changed {
    /// The region.
    pub region: String,
    /// The item.
    pub item: String,
    /// `payg`, `1y`, `3y`.
    pub term: String,
    /// How.
    pub change: Change,
    /// US dollars per month of the first unit that costs something, before.
    pub old_usd_per_month: Option<f64>,
    /// The same now.
    pub new_usd_per_month: Option<f64>,
}

/// How a price changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was not known.
    New,
    /// It is another.
    Changed,
    /// The list no longer has it.
    Gone,
}

const TERMS: [(&str, Commitment); 3] =
    [("payg", Commitment::Payg), ("1y", Commitment::OneYear), ("3y", Commitment::ThreeYears)];

const fn cloud(cloud: Cloud) -> &'static str {
    match cloud {
        Cloud::Azure => "azure",
        Cloud::Aws => "aws",
        Cloud::Gcp => "gcp",
    }
}

/// The rows of what was found, and of prices of an earlier refresh that the list no longer has: these say so from now on.
pub fn rows(question: &Question<'_>, found: &BTreeMap<Key, Vec<Quote>>, today: &str) -> Vec<NewRow> {
    let fresh = found.values().flatten().map(|quote| row(question.cloud, quote));
    fresh.chain(gone_rows(question, found, today)).collect()
}

fn row(of: Cloud, quote: &Quote) -> NewRow {
    let meter = &quote.meter;
    let from = if meter.from == 0.0 { String::new() } else { number(meter.from) };
    BTreeMap::from([
        ("cloud", cloud(of).to_owned()),
        ("region", meter.region.clone()),
        ("item", meter.item.clone()),
        ("unit", meter.unit.clone()),
        ("billed_unit", meter.billed_unit.clone()),
        ("usd", number(meter.usd)),
        ("band_from", from),
        ("band_to", quote.to.map(number).unwrap_or_default()),
        ("term", meter.term.clone()),
        ("doubt", quote.doubt.clone()),
        ("notes", meter.notes.clone()),
        ("source", meter.source.clone()),
        ("as_of", meter.as_of.clone()),
    ])
}

fn gone_rows(question: &Question<'_>, found: &BTreeMap<Key, Vec<Quote>>, today: &str) -> Vec<NewRow> {
    const TABLE: Table = Table::Prices;
    let rows = question.catalog.rows.of(TABLE).iter();
    let gone = rows.filter(|row| {
        let cell = |column| row.cell(TABLE, column).to_owned();
        !row.origin.built_in
            && row.cell(TABLE, "cloud") == cloud(question.cloud)
            && row.cell(TABLE, "source").starts_with(source(question.cloud))
            && question.regions.iter().any(|region| region == row.cell(TABLE, "region"))
            && (question.wanted)(row.cell(TABLE, "item"))
            && !found.contains_key(&(cell("region"), cell("item"), cell("term")))
    });
    gone.map(|row| {
        let cell = |column: &&'static str| (*column, row.cell(TABLE, column).to_owned());
        let mut cells: NewRow = TABLE.columns().iter().map(cell).collect();
        cells.insert("doubt", format!("no longer in the provider's price list on {today}"));
        cells
    })
    .collect()
}

/// What changed from the question's catalog to `after`.
pub fn of(
    question: &Question<'_>,
    sold: &Sold<'_>,
    found: &BTreeMap<Key, Vec<Quote>>,
    after: &Catalog,
) -> Summary {
    let mut summary = Summary::default();
    let price = |catalog: &Catalog, (region, item, term): &Key| {
        let (_, commitment) = TERMS.iter().find(|(name, _)| name == term)?;
        let list = catalog.prices.list(question.cloud, region);
        list.into_iter()
            .find(|(of, at, _)| **of == **item && at == commitment)
            .map(|(_, _, price)| price.clone())
    };
    let before = known(question, sold, question.catalog);
    let now = known(question, sold, after);
    let keys: BTreeSet<&Key> = before.keys().chain(found.keys()).collect();
    for key in keys {
        let old = before.get(key).cloned().or_else(|| price(question.catalog, key));
        let new =
            found.contains_key(key).then(|| now.get(key).cloned().or_else(|| price(after, key))).flatten();
        match (&old, &new) {
            (Some(old), Some(new)) if alike(old, new) => summary.same += 1,
            _ => summary.changes.push(changed(key, old.as_ref(), new.as_ref())),
        }
    }
    summary.unknown = unknown(question, sold, &before, found);
    summary
}

/// The wanted prices of the question's regions.
fn known(question: &Question<'_>, sold: &Sold<'_>, catalog: &Catalog) -> BTreeMap<Key, Price> {
    let wanted: BTreeSet<String> = sold.items().into_iter().collect();
    let mut known = BTreeMap::new();
    for region in &question.regions {
        for (item, commitment, price) in catalog.prices.list(question.cloud, region) {
            let term = TERMS.iter().find(|(_, of)| *of == commitment).map_or("", |(name, _)| *name);
            if wanted.contains(&*item) {
                known.insert((region.clone(), item.to_string(), term.to_owned()), price.clone());
            }
        }
    }
    known
}

/// The same bands at the same prices, to a ten-thousandth.
fn alike(a: &Price, b: &Price) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-4 * a.abs().max(b.abs());
    let bands = a.bands.iter().zip(&b.bands);
    a.unit == b.unit
        && a.bands.len() == b.bands.len()
        && bands.into_iter().all(|(a, b)| {
            near(a.per_month.get(), b.per_month.get())
                && near(a.from, b.from)
                && a.to.is_none() == b.to.is_none()
                && near(a.to.unwrap_or_default(), b.to.unwrap_or_default())
        })
}

fn changed((region, item, term): &Key, old: Option<&Price>, new: Option<&Price>) -> Changed {
    let first = |price: &Price| price.bands.first().map(|band| band.per_month.get());
    let change = match (old, new) {
        (_, None) => Change::Gone,
        (None, _) => Change::New,
        _ => Change::Changed,
    };
    Changed {
        region: region.clone(),
        item: item.clone(),
        term: term.clone(),
        change,
        old_usd_per_month: old.and_then(first),
        new_usd_per_month: new.and_then(first),
    }
}

/// What has no price on demand, neither before nor now: machines, fixed disks, and capacities of the others.
fn unknown(
    question: &Question<'_>,
    sold: &Sold<'_>,
    before: &BTreeMap<Key, Price>,
    found: &BTreeMap<Key, Vec<Quote>>,
) -> Vec<String> {
    let mut unknown = Vec::new();
    let main = sold.main_items();
    for region in &question.regions {
        let priced = |item: &String| {
            let key = (region.clone(), item.clone(), "payg".to_owned());
            before.contains_key(&key) || found.contains_key(&key)
        };
        unknown.extend(main.iter().filter(|item| !priced(item)).map(|item| format!("{region} {item}")));
    }
    unknown
}
