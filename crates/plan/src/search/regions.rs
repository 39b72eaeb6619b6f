//! Where to look.

use std::sync::Arc;

use catalog::Catalog;
use fault::{Fault, Kind, Result};
use spec::Cloud;

use crate::demand::Demand;
use crate::design::Region;

/// The regions to look at: those the spec names, or of every cloud the one with the most prices.
pub fn of(catalog: &Catalog, demand: &Demand) -> Result<Vec<Region>> {
    let constraints = &demand.constraints;
    let clouds = [Cloud::Azure, Cloud::Aws, Cloud::Gcp];
    let allowed = clouds
        .into_iter()
        .filter(|cloud| constraints.clouds.is_empty() || constraints.clouds.contains(cloud));
    let region = |cloud, name: &Arc<str>| Region {
        cloud,
        region: name.to_string(),
        commitment: constraints.commitment,
    };
    let allowed: Vec<Cloud> = allowed.collect();
    if constraints.regions.is_empty() {
        let usual = allowed.iter().filter_map(|cloud| Some(region(*cloud, &main_region(catalog, *cloud)?)));
        return Ok(usual.collect());
    }
    let mut found = Vec::new();
    for name in &constraints.regions {
        let known = |cloud: &&Cloud| catalog.prices.regions(**cloud).iter().any(|region| **region == **name);
        match allowed.iter().find(known) {
            Some(cloud) => found.push(region(*cloud, &Arc::from(name.as_str()))),
            None => return Err(no_region(catalog, &allowed, name)),
        }
    }
    Ok(found)
}

/// The region of a cloud with the most prices.
fn main_region(catalog: &Catalog, cloud: Cloud) -> Option<Arc<str>> {
    let regions = catalog.prices.regions(cloud);
    // `max_by_key` takes the last of equals; the first by name is wanted.
    regions.into_iter().rev().max_by_key(|region| catalog.prices.list(cloud, region).len())
}

fn no_region(catalog: &Catalog, clouds: &[Cloud], name: &str) -> Fault {
    let known: Vec<Arc<str>> = clouds.iter().flat_map(|cloud| catalog.prices.regions(*cloud)).collect();
    let names = || known.iter().map(|region| &**region);
    let fault = Fault::new(
        Kind::Spec,
        format!("the catalog has no prices for region `{name}` of the clouds allowed"),
    );
    match spec::nearest(name, names()) {
        Some(nearest) => fault.hint(format!("did you mean `{nearest}`?")),
        None => fault.hint(format!(
            "it has prices for {}; `forebay catalog refresh` reads others",
            spec::quoted(names())
        )),
    }
}
