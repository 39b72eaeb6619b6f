//! Which hosts use the storage: enough pCores, memory and network, at the least cost.

use catalog::Vm;
use units::Bytes;

use crate::demand::Demand;
use crate::layout::ClientSide;
use crate::layout::servers::client_network;
use crate::limit::Capability;
use crate::market::Market;

/// What storages ask of the clients' network, in bytes per second, calibration included.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Load {
    /// The largest rate of one storage read alone.
    pub read: f64,
    /// The largest rate of one storage written alone.
    pub write: f64,
    /// All storages at their mixes: what is read.
    pub mixed_read: f64,
    /// All storages at their mixes: what is written.
    pub mixed_write: f64,
}

impl Load {
    /// Clients needed so that `one` client's network carries a share of it.
    fn clients(&self, one: Capability) -> f64 {
        let read = self.read.max(self.mixed_read) / one.read;
        let write = self.write.max(self.mixed_write) / one.write;
        (read.max(write) - 1e-9).ceil().max(1.0)
    }

    /// This and another storage's share.
    pub fn and(self, other: Self) -> Self {
        Self {
            read: self.read.max(other.read),
            write: self.write.max(other.write),
            mixed_read: self.mixed_read + other.mixed_read,
            mixed_write: self.mixed_write + other.mixed_write,
        }
    }
}

/// SKUs that may be clients of this grid, with their monthly price where it is known.
pub fn skus<'a>(market: &Market<'a>, demand: &Demand) -> Vec<(&'a Vm, Option<f64>)> {
    let wanted = |vm: &&'a Vm| match &demand.client_sku {
        Some(sku) => &*vm.sku == sku.as_str(),
        None => {
            vm.constrained_of.is_none() && vm.pcores >= market.guards.min_client_pcores.min(demand.pcores)
        }
    };
    let priced =
        market.vms().filter(wanted).map(|vm| (vm, market.vm_price(vm).map(|price| price.of(1.0).get())));
    priced.filter(|(_, price)| price.is_some() || demand.client_sku.is_some()).collect()
}

/// pCores of a SKU that have the memory the grid asks for.
pub fn usable_pcores(vm: &Vm, memory_per_pcore: Bytes) -> u32 {
    let by_memory = vm.memory.map_or(0, |memory| memory.get() / memory_per_pcore.get().max(1));
    vm.pcores.min(u32::try_from(by_memory).unwrap_or(u32::MAX))
}

/// How many clients of a SKU the grid needs to carry `load` and, where a storage bounds what one client gets, `per_client`;
/// `None` if this SKU can't be used.
pub fn count(
    market: &Market<'_>,
    demand: &Demand,
    vm: &Vm,
    load: Load,
    per_client: Capability,
) -> Option<u32> {
    let usable = usable_pcores(vm, demand.memory_per_pcore);
    if usable == 0 {
        return None;
    }
    let cores = demand.pcores.div_ceil(usable);
    let needed = cores.max(load.clients(client_network(vm).and(per_client)) as u32);
    match demand.clients {
        Some(clients) if needed > clients => None,
        Some(clients) => Some(clients),
        // One pCore can't be spread.
        None => Some(needed.max(market.guards.min_clients.min(demand.pcores))),
    }
}

/// The clients as layouts see them.
pub fn side<'a>(demand: &Demand, vm: &'a Vm, count: u32) -> ClientSide<'a> {
    ClientSide { vm, count, pcores: demand.pcores }
}
