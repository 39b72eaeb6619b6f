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

/// A part of a price list: units from `from` (exclusive) up to `to` (inclusive) cost `usd` each.
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

/// A price list's item and the commitment it asks for.
type Item = (Arc<str>, Commitment);

/// Prices by cloud, region, item and commitment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    pub(crate) lists: HashMap<(Cloud, Arc<str>), HashMap<Item, Price>>,
}

impl Prices {
    /// The price of `item` (`vm:Standard_E16s_v3`, `disk:P30`, `ebs:gp3:capacity`), or `None` when it is unknown.
    /// `region` must be one that exists; a row for every region (`*`) is used where the region has none.
    pub fn of(&self, cloud: Cloud, region: &str, item: &str, commitment: Commitment) -> Option<&Price> {
        let key = (Arc::from(item), commitment);
        [region, "*"].iter().find_map(|region| self.lists.get(&(cloud, Arc::from(*region)))?.get(&key))
    }

    /// Regions of a cloud that have prices, in order of their names.
    pub fn regions(&self, cloud: Cloud) -> Vec<Arc<str>> {
        let mut regions: Vec<_> = self
            .lists
            .keys()
            .filter(|(of, region)| *of == cloud && &**region != "*")
            .map(|(_, r)| r.clone())
            .collect();
        regions.sort();
        regions
    }
}
