use std::collections::HashMap;
use std::sync::Arc;

use spec::{Cloud, Commitment};
use units::Money;

use crate::Source;

/// Hours of a month in provider prices.
pub const HOURS_PER_MONTH: f64 = 730.0;

/// What a price is for: a quantity of something during a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PriceUnit {
    /// One of it.
    Each,
    /// GB (10^9 bytes).
    Gb,
    /// GiB.
    Gib,
    /// One I/O per second.
    Iops,
    /// MB/s.
    MbPerSecond,
    /// MiB/s.
    MibPerSecond,
    /// 10,000 I/Os done (no time).
    TenThousandOperations,
}

/// A part of a price list: units from `from` (exclusive) up to `to` (inclusive) cost `per_month` each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Units that are not in this band because they come before it.
    pub from: f64,
    /// Last unit of the band; `None`: no end.
    pub to: Option<f64>,
    /// Per unit and month.
    pub per_month: Money,
}

/// The price of an item in a region: bands, ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// What is counted.
    pub unit: PriceUnit,
    /// Ascending, adjoining; the first starts at what is free.
    pub bands: Vec<Band>,
    /// Not the provider's own dated list price of this region, or the row says to check it again; the text says why.
    pub doubt: Option<Arc<str>>,
    /// Where it stands.
    pub source: Source,
}

impl Price {
    /// What `quantity` units cost per month.
    pub fn of(&self, quantity: f64) -> Money {
        let in_band = |band: &Band| (band.to.map_or(quantity, |to| to.min(quantity)) - band.from).max(0.0);
        self.bands.iter().map(|band| band.per_month * in_band(band)).sum()
    }
}

/// Prices by cloud, region, item and commitment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    clouds: HashMap<Cloud, HashMap<Arc<str>, Regional>>,
}

/// The prices of a region: by item, one place for each commitment.
type Regional = HashMap<Arc<str>, [Option<Price>; 3]>;

/// The region of rows that hold in every region.
const EVERYWHERE: &str = "*";

impl Prices {
    /// The price of `item` (`vm:Standard_E16s_v3`, `disk:P30`, `gp3:capacity`, `service:ANF-Premium:capacity`), or `None`
    /// when it is unknown. `region` must be one that exists; a row for every region (`*`) is used where it has none.
    pub fn of(&self, cloud: Cloud, region: &str, item: &str, commitment: Commitment) -> Option<&Price> {
        let regions = self.clouds.get(&cloud)?;
        let price = |region| regions.get(region)?.get(item)?[commitment as usize].as_ref();
        price(region).or_else(|| price(EVERYWHERE))
    }

    /// Regions of a cloud that have prices, in order of their names.
    pub fn regions(&self, cloud: Cloud) -> Vec<Arc<str>> {
        let regions = self.clouds.get(&cloud).into_iter().flat_map(HashMap::keys);
        let mut regions: Vec<_> = regions.filter(|region| &***region != EVERYWHERE).cloned().collect();
        regions.sort();
        regions
    }

    /// Every price of a region (`*`: those that hold in every region), in order of item and commitment.
    pub fn list(&self, cloud: Cloud, region: &str) -> Vec<(Arc<str>, Commitment, &Price)> {
        let items = self.clouds.get(&cloud).and_then(|regions| regions.get(region)).into_iter().flatten();
        let mut list: Vec<_> = items
            .flat_map(|(item, prices)| {
                let known = COMMITMENTS.into_iter().zip(prices);
                known.filter_map(|(commitment, price)| Some((item.clone(), commitment, price.as_ref()?)))
            })
            .collect();
        list.sort_by(|a, b| (&a.0, a.1 as usize).cmp(&(&b.0, b.1 as usize)));
        list
    }

    /// Sets the price of an item.
    pub(crate) fn set(
        &mut self,
        (cloud, region): (Cloud, Arc<str>),
        (item, commitment): (Arc<str>, Commitment),
        price: Price,
    ) {
        let items = self.clouds.entry(cloud).or_default().entry(region).or_default();
        items.entry(item).or_default()[commitment as usize] = Some(price);
    }
}

/// Every commitment, in the order of their places.
const COMMITMENTS: [Commitment; 3] = [Commitment::Payg, Commitment::OneYear, Commitment::ThreeYears];
