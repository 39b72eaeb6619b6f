//! The next step of a design: the smallest change that delivers more, and what it costs.

use catalog::Catalog;
use fault::Result;
use record::Upgrade;
use spec::Constraints;
use units::Bytes;

use crate::design::{Design, Layout};
use crate::evaluate::{Evaluation, StorageEvaluation, evaluate};
use crate::search::Options;

/// The change that delivers most per dollar for the storage with the least room; `None` if no single step helps.
///
/// Tried are: one more server, one more disk per server, the next size of a service or twice its throughput, one more
/// volume, more clients, and the next larger SKU of the same series for servers and clients.
pub fn upgrade(
    catalog: &Catalog,
    evaluation: &Evaluation,
    constraints: &Constraints,
    options: &Options,
) -> Result<Option<Upgrade>> {
    let Some(place) = least_room(evaluation) else { return Ok(None) };
    let now = &evaluation.storages[place];
    let operation = now.tightest();
    let mut best: Option<(f64, Upgrade)> = None;
    for (what, design) in steps(catalog, &evaluation.design, place) {
        let changed = evaluate(catalog, &design, constraints, &options.guards, &options.calibration)?;
        let then = &changed.storages[place];
        let more = then.delivered.of(operation).get() - now.delivered.of(operation).get();
        if more < now.delivered.of(operation).get() * 1e-3 || sold_out(then) {
            continue;
        }
        let cost = changed.per_month().zip(evaluation.per_month()).map(|(then, now)| (then - now).get());
        let weight = cost.unwrap_or(f64::MAX).max(1.0) / more;
        if best.as_ref().is_none_or(|(least, _)| weight < *least) {
            let delivered_bytes_per_second = then.delivered.of(operation).get();
            let storage = now.requirement.name.clone();
            best = Some((weight, Upgrade { what, storage, delivered_bytes_per_second, usd_per_month: cost }));
        }
    }
    Ok(best.map(|(_, upgrade)| upgrade))
}

/// The storage whose tightest operation has the least room over what is needed.
fn least_room(evaluation: &Evaluation) -> Option<usize> {
    let room = |storage: &StorageEvaluation| {
        let operation = storage.tightest();
        storage.delivered.of(operation).get() / storage.needed().of(operation).get().max(1.0)
    };
    let rooms = evaluation.storages.iter().map(room).enumerate();
    rooms.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place)
}

/// Whether something other than a rate stands against it.
fn sold_out(storage: &StorageEvaluation) -> bool {
    storage.refusals.iter().any(|why| !why.contains("less than the"))
}

/// Designs that are one step away, with the step in words.
fn steps(catalog: &Catalog, design: &Design, place: usize) -> Vec<(String, Design)> {
    let mut steps = Vec::new();
    let mut add = |what: String, change: &dyn Fn(&mut Design)| {
        let mut changed = design.clone();
        change(&mut changed);
        steps.push((what, changed));
    };
    add("one more client".to_owned(), &|design| {
        design.clients.count = design.clients.count.saturating_add(1);
    });
    if let Some(next) = next_sku(catalog, design, &design.clients.sku) {
        add(format!("clients of {next}"), &|design| design.clients.sku.clone_from(&next));
    }
    match &design.storage[place].layout {
        Layout::LustreOnVms(lustre) => {
            add("one more OSS".to_owned(), &|design| {
                with_lustre(design, place, |lustre| lustre.servers = lustre.servers.saturating_add(1));
            });
            add("one more disk on every OSS".to_owned(), &|design| {
                with_lustre(design, place, |lustre| {
                    lustre.disks_per_server = lustre.disks_per_server.saturating_add(1);
                });
            });
            let osts = lustre.servers.saturating_mul(lustre.disks_per_server);
            if lustre.stripe_count < osts {
                add("twice the stripe count".to_owned(), &|design| {
                    with_lustre(design, place, |lustre| {
                        lustre.stripe_count = lustre.stripe_count.saturating_mul(2).min(osts);
                    });
                });
            }
            if let Some(next) = next_sku(catalog, design, &lustre.sku) {
                add(format!("OSSs of {next}"), &|design| {
                    with_lustre(design, place, |lustre| lustre.sku.clone_from(&next));
                });
            }
        }
        Layout::Service(service) => {
            if let Some(size) = next_size(catalog, design, &service.tier, service.capacity) {
                add(format!("the next size, {size:#}"), &|design| {
                    if let Layout::Service(service) = &mut design.storage[place].layout {
                        service.capacity = size;
                    }
                });
            }
            if let Some(throughput) = service.throughput {
                let twice = throughput * 2.0;
                add(format!("{twice} ordered"), &|design| {
                    if let Layout::Service(service) = &mut design.storage[place].layout {
                        service.throughput = Some(twice);
                    }
                });
            }
        }
        Layout::StripedVolumes(_) => add("one more volume on every client".to_owned(), &|design| {
            if let Layout::StripedVolumes(striped) = &mut design.storage[place].layout {
                striped.volumes_per_client = striped.volumes_per_client.saturating_add(1);
            }
        }),
        Layout::SharedVolumes(_) => add("one more shared volume".to_owned(), &|design| {
            if let Layout::SharedVolumes(shared) = &mut design.storage[place].layout {
                shared.volumes = shared.volumes.saturating_add(1);
            }
        }),
        Layout::LocalNvme(_) => {}
    }
    steps
}

fn with_lustre(design: &mut Design, place: usize, change: impl FnOnce(&mut crate::design::LustreOnVms)) {
    if let Layout::LustreOnVms(lustre) = &mut design.storage[place].layout {
        change(lustre);
    }
}

/// The smallest SKU of the same series with more pCores.
fn next_sku(catalog: &Catalog, design: &Design, sku: &str) -> Option<String> {
    let here = || catalog.vms.iter().filter(|vm| vm.cloud == design.place.cloud);
    let vm = here().find(|vm| &*vm.sku == sku)?;
    let larger = here().filter(|other| {
        other.series == vm.series && other.pcores > vm.pcores && other.constrained_of.is_none()
    });
    larger.min_by_key(|other| other.pcores).map(|other| other.sku.to_string())
}

/// The next capacity of a service tier that is sold.
fn next_size(catalog: &Catalog, design: &Design, tier: &str, capacity: Bytes) -> Option<Bytes> {
    let tier =
        catalog.services.iter().find(|other| other.cloud == design.place.cloud && &*other.tier == tier)?;
    let next = tier.sizes.iter().filter_map(|range| {
        if capacity < range.min {
            return Some(range.min);
        }
        let step = range.step.get().max(1);
        let next = Bytes::new(range.min.get() + ((capacity.get() - range.min.get()) / step + 1) * step);
        range.max.is_none_or(|max| next <= max).then_some(next)
    });
    next.min()
}
