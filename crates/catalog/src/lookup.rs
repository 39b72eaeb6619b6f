use fault::{Fault, Kind, Result};

use crate::{Catalog, Disk, ServiceTier, Vm};

/// What providers put before every SKU and people leave out.
const PREFIX: &str = "Standard_";

impl Catalog {
    /// The machine of this SKU.
    pub fn vm(&self, sku: &str) -> Result<&Vm> {
        let names = || self.vms.iter().map(|vm| &*vm.sku);
        let found = self.vms.iter().find(|vm| *vm.sku == *sku);
        found.ok_or_else(|| {
            let full = format!("{PREFIX}{sku}");
            let same =
                names().find(|name| name.eq_ignore_ascii_case(sku) || name.eq_ignore_ascii_case(&full));
            missing(
                "machine",
                sku,
                same.or_else(|| spec::nearest(sku, names())).or_else(|| spec::nearest(&full, names())),
            )
        })
    }

    /// The block storage of this tier.
    pub fn disk(&self, tier: &str) -> Result<&Disk> {
        let found = self.disks.iter().find(|disk| *disk.tier == *tier);
        found.ok_or_else(|| {
            missing("disk tier", tier, spec::nearest(tier, self.disks.iter().map(|disk| &*disk.tier)))
        })
    }

    /// The tier of a file service.
    pub fn service(&self, tier: &str) -> Result<&ServiceTier> {
        let found = self.services.iter().find(|service| *service.tier == *tier);
        found.ok_or_else(|| {
            let names = || self.services.iter().map(|service| &*service.tier);
            let inside =
                || names().find(|name| tier.len() > 2 && name.to_lowercase().contains(&tier.to_lowercase()));
            missing("service tier", tier, spec::nearest(tier, names()).or_else(inside))
        })
    }
}

fn missing(what: &str, name: &str, near: Option<&str>) -> Fault {
    let fault = Fault::new(Kind::NotFound, format!("the catalog has no {what} `{name}`"));
    match near {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None => fault.hint("`forebay catalog list` shows what there is; `--catalog DIR` adds your own"),
    }
}
