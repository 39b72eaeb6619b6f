//! What one VM with network disks lets through, as a server or as a client with volumes of its own.

use catalog::{Disk, Performance, Vm};
use spec::Cloud;
use units::{Bandwidth, Bytes};

use crate::limit::{Capability, Place};

/// On Google Cloud, bytes written to network disks count 1.16 times against the VM's egress, and at most 60 % of it may be
/// used for them (`pd-rule-egress` in the catalog).
const GCP_WRITE_COUNTS: f64 = 1.16;
const GCP_WRITE_SHARE: f64 = 0.6;

/// The volumes' tier that needs a VM with Block Express.
const BLOCK_EXPRESS: &str = "io2-bx";

/// Whether a VM can carry volumes of a tier.
pub fn carries(vm: &Vm, disk: &Disk) -> bool {
    &*disk.tier != BLOCK_EXPRESS || vm.block_express
}

/// What a VM may do with its network disks in I/Os of `io` bytes; `None` where the provider's figure is not known.
pub fn vm_disks(vm: &Vm, disk: &Disk, io: Bytes) -> Option<Capability> {
    if vm.cloud == Cloud::Gcp {
        let writes = vm.network?.get() * GCP_WRITE_SHARE / GCP_WRITE_COUNTS;
        let known = vm.disks.at(io, disk.io_unit).map_or(f64::INFINITY, Bandwidth::get);
        return Some(Capability { read: known, write: writes.min(known), sum: known });
    }
    let newest = matches!(disk.performance, Performance::Provisioned(_));
    let rate = if newest && vm.disks_newest.bandwidth.is_some() { vm.disks_newest } else { vm.disks };
    Some(Capability::shared(rate.at(io, disk.io_unit)?.get()))
}

/// Whether all of a VM's limits that a design with disks of this kind meets are in the catalog.
pub fn unknown_of(vm: &Vm, disk: &Disk, io: Bytes) -> Vec<(Place, String)> {
    let mut unknown = Vec::new();
    if vm.network.is_none() {
        unknown.push((Place::ServerNetwork, format!("{} has no network figure", vm.sku)));
    }
    let reads = vm_disks(vm, disk, io).map_or(f64::INFINITY, |disks| disks.read);
    if reads.is_infinite() {
        unknown.push((Place::ServerDisks, format!("{} has no limit for reading network disks", vm.sku)));
    }
    unknown
}

/// What a VM's network lets through as a server. Reads leave it and are metered; writes arrive, which Azure does not meter
/// (F10) and Google Cloud does not either.
pub fn server_network(vm: &Vm) -> Capability {
    let Some(network) = vm.network else { return Capability::UNBOUNDED };
    match vm.cloud {
        Cloud::Azure | Cloud::Gcp => Capability::each(network.get(), f64::INFINITY),
        Cloud::Aws => Capability::each(network.get(), network.get()),
    }
}

/// What a VM's network lets through as a client: the other way round.
pub fn client_network(vm: &Vm) -> Capability {
    let server = server_network(vm);
    Capability::each(server.write, server.read)
}
