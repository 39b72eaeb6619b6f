//! What one region of a cloud offers under a spec's constraints.

use std::collections::HashMap;
use std::sync::Arc;

use catalog::{Catalog, Disk, Price, ServiceTier, Vm};
use fault::{Fault, Kind, Result};
use spec::{Cloud, Constraints, Durability, Filter};

use crate::calibration::{Calibration, Factor};
use crate::design::{Family, Region};
use crate::guard::Guards;
use crate::volume::PriceList;

/// What can be rented in one region, and the rules a design has to keep.
#[derive(Debug)]
pub struct Market<'a> {
    /// The facts.
    pub catalog: &'a Catalog,
    /// Where.
    pub place: Region,
    /// What the user allows.
    pub constraints: &'a Constraints,
    /// What good sense allows.
    pub guards: &'a Guards,
    /// How measured systems compare with their limits.
    pub calibration: &'a Calibration,
    vm_prices: HashMap<&'a str, &'a Price>,
    disk_prices: HashMap<&'a str, PriceList<'a>>,
}

impl<'a> Market<'a> {
    /// What `place` offers.
    pub fn new(
        catalog: &'a Catalog,
        place: Region,
        constraints: &'a Constraints,
        guards: &'a Guards,
        calibration: &'a Calibration,
    ) -> Self {
        let price = |vm: &'a Vm| {
            let item = format!("vm:{}", vm.sku);
            Some((&*vm.sku, catalog.prices.of(place.cloud, &place.region, &item, place.commitment)?))
        };
        let vm_prices = catalog.vms.iter().filter(|vm| vm.cloud == place.cloud).filter_map(price).collect();
        let disk_prices = HashMap::new();
        let mut market = Self { catalog, place, constraints, guards, calibration, vm_prices, disk_prices };
        let disks = catalog.disks.iter().filter(|disk| disk.cloud == market.place.cloud);
        market.disk_prices = disks.map(|disk| (&*disk.tier, PriceList::look_up(&market, disk))).collect();
        market
    }

    /// The provider.
    pub fn cloud(&self) -> Cloud {
        self.place.cloud
    }

    /// The price of an item, such as `disk:P30`, or `None` when it is unknown here.
    pub fn price(&self, item: &str) -> Option<&'a Price> {
        self.catalog.prices.of(self.place.cloud, &self.place.region, item, self.place.commitment)
    }

    /// The price of a VM, or `None` when it is unknown here.
    pub fn vm_price(&self, vm: &Vm) -> Option<&'a Price> {
        self.vm_prices.get(&*vm.sku).copied()
    }

    /// The prices of a disk tier of this cloud.
    pub(crate) fn disk_prices(&self, disk: &Disk) -> Option<PriceList<'a>> {
        self.disk_prices.get(&*disk.tier).copied()
    }

    /// The VM of this cloud with this SKU.
    pub fn vm(&self, sku: &str) -> Result<&'a Vm> {
        let names = self.catalog.vms.iter().filter(|vm| vm.cloud == self.cloud());
        names.clone().find(|vm| &*vm.sku == sku).ok_or_else(|| unknown("SKU", sku, names.map(|vm| &*vm.sku)))
    }

    /// The disk tier of this cloud with this name.
    pub fn disk(&self, tier: &str) -> Result<&'a Disk> {
        let names = self.catalog.disks.iter().filter(|disk| disk.cloud == self.cloud());
        let found = names.clone().find(|disk| &*disk.tier == tier);
        found.ok_or_else(|| unknown("disk tier", tier, names.map(|disk| &*disk.tier)))
    }

    /// The service tier of this cloud with this name.
    pub fn service(&self, tier: &str) -> Result<&'a ServiceTier> {
        let names = self.catalog.services.iter().filter(|service| service.cloud == self.cloud());
        let found = names.clone().find(|service| &*service.tier == tier);
        found.ok_or_else(|| unknown("service tier", tier, names.map(|service| &*service.tier)))
    }

    /// VMs of this cloud that the constraints allow.
    pub fn vms(&self) -> impl Iterator<Item = &'a Vm> + '_ {
        let here = self.catalog.vms.iter().filter(|vm| vm.cloud == self.cloud());
        here.filter(|vm| allows(&self.constraints.skus, &vm.sku))
    }

    /// Disks of this cloud that the constraints allow.
    pub fn disks(&self) -> impl Iterator<Item = &'a Disk> + '_ {
        let here = self.catalog.disks.iter().filter(|disk| disk.cloud == self.cloud());
        here.filter(|disk| allows(&self.constraints.tiers, &disk.tier))
    }

    /// Service tiers of this cloud that the constraints allow.
    pub fn services(&self) -> impl Iterator<Item = &'a ServiceTier> + '_ {
        let here = self.catalog.services.iter().filter(|tier| tier.cloud == self.cloud());
        here.filter(|tier| allows(&self.constraints.tiers, &tier.tier))
    }

    /// What designs of a family reach of their limits.
    pub fn factor(&self, family: Family) -> Factor {
        self.calibration.factor(family, self.constraints.figures)
    }
}

/// A name that the catalog does not have, with the nearest that it has.
fn unknown<'n>(what: &str, name: &str, names: impl Iterator<Item = &'n str>) -> Fault {
    let fault = Fault::new(Kind::Spec, format!("the catalog has no {what} `{name}`"));
    match spec::nearest(name, names) {
        Some(nearest) => fault.hint(format!("did you mean `{nearest}`?")),
        None => fault.hint("`forebay catalog list` shows what there is"),
    }
}

/// Whether a filter of a spec lets a name pass. `*` stands for any text.
pub fn allows(filter: &Filter, name: &str) -> bool {
    let matches = |patterns: &[String]| patterns.iter().any(|pattern| wildcard(pattern, name));
    (filter.allow.is_empty() || matches(&filter.allow)) && !matches(&filter.deny)
}

fn wildcard(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

/// Whether storage that survives `offered` will do where `needed` is asked.
pub fn survives(offered: Durability, needed: Durability) -> bool {
    let rank = |durability| match durability {
        Durability::Scratch => 0,
        Durability::Zone => 1,
        Durability::Region => 2,
    };
    rank(offered) >= rank(needed)
}

/// A name shared without copying, as the catalog keeps it.
pub type Name = Arc<str>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_know_stars() {
        let filter = |allow: &[&str], deny: &[&str]| Filter {
            allow: allow.iter().map(ToString::to_string).collect(),
            deny: deny.iter().map(ToString::to_string).collect(),
        };
        assert!(allows(&Filter::default(), "S70"));
        assert!(allows(&filter(&["Standard_E*_v5"], &[]), "Standard_E16bs_v5"));
        assert!(!allows(&filter(&["Standard_E*_v5"], &[]), "Standard_E16s_v4"));
        assert!(!allows(&filter(&["*"], &["*bs*"]), "Standard_E16bs_v5"));
        assert!(allows(&filter(&["P30"], &[]), "P30") && !allows(&filter(&["P3"], &[]), "P30"));
        assert!(!allows(&filter(&["a*a"], &[]), "a"));
    }
}
