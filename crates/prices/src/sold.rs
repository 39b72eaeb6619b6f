use std::collections::HashMap;

use catalog::{Catalog, Disk, Performance, ServiceTier, Vm};
use spec::Cloud;

/// What the catalog knows of a cloud and prices are asked for.
pub struct Sold<'a> {
    vms: HashMap<&'a str, &'a Vm>,
    disks: HashMap<&'a str, &'a Disk>,
    services: HashMap<&'a str, &'a ServiceTier>,
    wanted: &'a dyn Fn(&str) -> bool,
}

impl<'a> Sold<'a> {
    pub fn new(catalog: &'a Catalog, cloud: Cloud, wanted: &'a dyn Fn(&str) -> bool) -> Self {
        let vms = catalog.vms.iter().filter(|vm| vm.cloud == cloud).map(|vm| (&*vm.sku, vm));
        let disks = catalog.disks.iter().filter(|disk| disk.cloud == cloud).map(|disk| (&*disk.tier, disk));
        let services = catalog.services.iter().filter(|tier| tier.cloud == cloud);
        Self {
            vms: vms.collect(),
            disks: disks.collect(),
            services: services.map(|tier| (&*tier.tier, tier)).collect(),
            wanted,
        }
    }

    /// Machines, in no order.
    pub fn vms(&self) -> impl Iterator<Item = &'a Vm> + '_ {
        self.vms.values().copied()
    }

    /// The item of a machine, if it is in the catalog and wanted.
    pub fn vm(&self, sku: &str) -> Option<String> {
        self.vms.get(sku).and_then(|vm| self.item(format!("vm:{}", vm.sku)))
    }

    /// The item of a disk sold in fixed sizes.
    pub fn fixed_disk(&self, tier: &str) -> Option<String> {
        let disk = self.disks.get(tier)?;
        matches!(disk.performance, Performance::Fixed(_)).then(|| self.item(format!("disk:{tier}")))?
    }

    /// An item of a disk that is not sold in fixed sizes: `capacity`, `iops`, `throughput`.
    pub fn disk(&self, tier: &str, what: &str) -> Option<String> {
        self.disks.get(tier).and_then(|disk| self.item(format!("{}:{what}", disk.tier)))
    }

    /// An item of a tier of a file service.
    pub fn service(&self, tier: &str, what: &str) -> Option<String> {
        self.services.get(tier).and_then(|tier| self.item(format!("service:{}:{what}", tier.tier)))
    }

    /// What disk operations of a family cost.
    pub fn operations(&self, family: &str) -> Option<String> {
        let known = self.disks.values().any(|disk| *disk.family == *family);
        known.then(|| self.item(format!("operations:{family}")))?
    }

    /// Every item that this cloud's price lists could price.
    pub fn items(&self) -> Vec<String> {
        let parts = ["capacity", "iops", "throughput"];
        let vms = self.vms.keys().map(|sku| format!("vm:{sku}"));
        let fixed = self.disks.keys().map(|tier| format!("disk:{tier}"));
        let disks = self.disks.keys().flat_map(|tier| parts.map(|part| format!("{tier}:{part}")));
        let services =
            self.services.keys().flat_map(|tier| parts.map(|part| format!("service:{tier}:{part}")));
        let families = self.disks.values().map(|disk| format!("operations:{}", disk.family));
        let all = vms.chain(fixed).chain(disks).chain(services).chain(families);
        all.filter(|item| (self.wanted)(item)).collect()
    }

    /// The item of each thing that is sold: a disk's price is that of its size or of its capacity.
    pub fn main_items(&self) -> Vec<String> {
        let disk = |disk: &&&Disk| match disk.performance {
            Performance::Fixed(_) => format!("disk:{}", disk.tier),
            _ => format!("{}:capacity", disk.tier),
        };
        let vms = self.vms.keys().map(|sku| format!("vm:{sku}"));
        let disks = self.disks.values().collect::<Vec<_>>();
        let disks = disks.iter().map(disk);
        let services = self.services.keys().map(|tier| format!("service:{tier}:capacity"));
        let mut all: Vec<String> =
            vms.chain(disks).chain(services).filter(|item| (self.wanted)(item)).collect();
        all.sort_unstable();
        all
    }

    /// Units that come with the capacity of a disk, which the price list of the provider may not say.
    pub fn included(&self, item: &str) -> Option<f64> {
        let (tier, part) = item.rsplit_once(':')?;
        let Performance::Provisioned(terms) = &self.disks.get(tier)?.performance else { return None };
        let units = match part {
            "iops" => terms.included.iops?.get(),
            // Included bandwidths are stated in the unit they are billed in: MB/s by Azure, MiB/s by AWS and Google.
            "throughput" => {
                let rate = terms.included.bandwidth?.get();
                let mib = rate / 1_048_576.0;
                if mib.fract().abs() < 1e-9 { mib } else { rate / 1e6 }
            }
            _ => return None,
        };
        (units > 0.0).then_some(units)
    }

    fn item(&self, item: String) -> Option<String> {
        (self.wanted)(&item).then_some(item)
    }
}
