use std::collections::HashMap;

use super::{Findings, Severity};
use crate::rows::Row;
use crate::{Catalog, Rate, Table, Vm};

const TABLE: Table = Table::Vms;

pub(super) fn check(catalog: &Catalog, found: &mut Findings) {
    let by_sku: HashMap<&str, &Vm> = catalog.vms.iter().map(|vm| (&*vm.sku, vm)).collect();
    for (vm, row) in catalog.vms.iter().zip(catalog.rows.of(TABLE)) {
        cores(vm, row, found);
        rates(vm, row, found);
        parent(vm, &by_sku, row, found);
        memory(vm, row, found);
    }
}

fn cores(vm: &Vm, row: &Row, found: &mut Findings) {
    let want = match row.cell(TABLE, "hyperthreaded") {
        "yes" => vm.vcpus.div_ceil(2),
        "no" => vm.vcpus,
        _ => return,
    };
    if vm.pcores != want {
        let what = format!("{} pCores of {} vCPUs", vm.pcores, vm.vcpus);
        let why = "a physical core is 2 vCPUs on hyper-threaded machines and 1 on others";
        found.add(Severity::Error, TABLE, row, what, why);
    }
}

fn rates(vm: &Vm, row: &Row, found: &mut Findings) {
    let stated = [
        ("disks", vm.disks),
        ("disks, burst", vm.disks_burst),
        ("disks of the newest kind", vm.disks_newest),
        ("disks through the cache", vm.disks_cached),
    ];
    for (name, rate) in stated {
        bytes_per_io(name, rate, row, found);
    }
    let below = |burst: Option<f64>, sustained: Option<f64>| burst.zip(sustained).is_some_and(|(b, s)| b < s);
    let mb = |rate: Rate| rate.bandwidth.map(units::Bandwidth::get);
    let iops = |rate: Rate| rate.iops.map(units::Iops::get);
    if below(mb(vm.disks_burst), mb(vm.disks)) || below(iops(vm.disks_burst), iops(vm.disks)) {
        let why = "a burst adds to what is sustained";
        found.add(Severity::Error, TABLE, row, "its burst is below its sustained rate".to_owned(), why);
    }
    let network = |rate: Option<units::Bandwidth>| rate.map(units::Bandwidth::get);
    if below(network(vm.network_peak), network(vm.network)) {
        let why = "a peak adds to what is sustained";
        found.add(
            Severity::Error,
            TABLE,
            row,
            "its network peak is below the sustained rate".to_owned(),
            why,
        );
    }
    if vm.disks == Rate::UNKNOWN {
        let why = "it can't be planned as a server of network disks";
        found.add(Severity::Note, TABLE, row, "its disk limits are unknown".to_owned(), why);
    }
}

/// Limits of disks are stated so that full bandwidth needs I/Os of some KiB to some hundred KiB.
fn bytes_per_io(name: &str, rate: Rate, row: &Row, found: &mut Findings) {
    let (Some(bandwidth), Some(iops)) = (rate.bandwidth, rate.iops) else { return };
    let bytes = bandwidth.get() / iops.get();
    if !(4096.0..=1_048_576.0).contains(&bytes) {
        let what = format!("{name}: {bandwidth} at {iops} is {bytes:.0} bytes per I/O");
        let why = "one of the two is off: providers state 4 KiB to 1 MiB per I/O";
        found.add(Severity::Warning, TABLE, row, what, why);
    }
}

fn parent(vm: &Vm, by_sku: &HashMap<&str, &Vm>, row: &Row, found: &mut Findings) {
    let Some(parent) = &vm.constrained_of else { return };
    let why = "a constrained SKU has every limit of the one it is a copy of, and fewer vCPUs";
    match by_sku.get(&**parent) {
        None => {
            found.add(Severity::Error, TABLE, row, format!("its parent `{parent}` is not in the table"), why);
        }
        Some(of) if of.vcpus <= vm.vcpus => {
            found.add(Severity::Error, TABLE, row, format!("its parent `{parent}` has no more vCPUs"), why);
        }
        Some(of) if (of.disks, of.network, of.memory) != (vm.disks, vm.network, vm.memory) => {
            found.add(
                Severity::Warning,
                TABLE,
                row,
                format!("its limits differ from those of `{parent}`"),
                why,
            );
        }
        Some(_) => {}
    }
}

fn memory(vm: &Vm, row: &Row, found: &mut Findings) {
    let Some(memory) = vm.memory else {
        let why = "file sizes of tests and the memory per pCore follow from it";
        return found.add(Severity::Note, TABLE, row, "its memory is unknown".to_owned(), why);
    };
    let residual: f64 = row.cell(TABLE, "memory_residual_gib").parse().unwrap_or_default();
    if residual.abs() > 0.5 {
        let what =
            format!("its memory of {memory} was computed from the price and misses it by {residual} GiB");
        found.add(Severity::Warning, TABLE, row, what, "take the memory per vCPU of the family instead");
    }
}
