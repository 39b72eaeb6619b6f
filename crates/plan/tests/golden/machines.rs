//! Machines: their cores, networks and disks, and Lustre on them.

use catalog::Vm;
use plan::design::{Layout, LustreOnVms, MetadataServers, Volume};
use plan::layout::servers::{client_network, vm_disks};
use plan::layout::{Assessment, ClientSide, assess};
use plan::{Capability, Place};
use spec::{Cloud, Constraints, Encryption};
use units::Bytes;

use crate::ground::{CATALOG, market, market_with, nothing};
use crate::row::{Answer, Row};

pub fn compute(row: &Row) -> Option<Answer> {
    let clients = || row.maybe("clients").map_or(1.0, |_| row.input("clients"));
    let vm = || vm(row, "sku");
    Some(match row.subject.as_str() {
        "pCores" => f64::from(vm().pcores).into(),
        "vCPUs" => (f64::from(vm().vcpus) * clients()).into(),
        "memory per vCPU" => (vm().memory.unwrap().as_gib() / f64::from(vm().vcpus)).into(),
        "VM network" => vm().network.unwrap().get().into(),
        // What a client sends is metered everywhere: its writes.
        "client network" => client_network(vm()).times(clients()).write.into(),
        "client network per pCore" => (client_network(vm()).write / f64::from(vm().pcores)).into(),
        "VM disks per pCore" => (disks(row, vm()) / f64::from(vm().pcores)).into(),
        "VM disks ratio" => (disks(row, vm()) / disks(row, self::vm(row, "to"))).into(),
        "Lustre capacity" => (lustre(row).capacity.get() as f64).into(),
        "Lustre servers" => chain(&lustre(row), &[Place::ServerDisks, Place::DiskBandwidth]).into(),
        "Lustre disks" => chain(&lustre(row), &[Place::DiskBandwidth]).into(),
        "Lustre stream" => lustre(row).per_stream.unwrap().stated.write.into(),
        "dataset" => dataset(row),
        "encrypted in transit" => encrypted_in_transit(row),
        _ => return None,
    })
}

fn vm(row: &Row, input: &str) -> &'static Vm {
    CATALOG.vm(row.text(input)).unwrap()
}

fn disks(row: &Row, vm: &Vm) -> f64 {
    let disk = CATALOG.disk(row.text("tier")).unwrap();
    vm_disks(vm, disk, Bytes::mib(1)).unwrap().sum
}

fn layout(row: &Row) -> Layout {
    let or = |name, usual| row.maybe(name).map_or(usual, |_| row.input(name));
    let disk = |tier: &str| Volume {
        tier: tier.to_owned(),
        size: CATALOG.disk(tier).unwrap().size_max.unwrap(),
        iops: None,
        bandwidth: None,
    };
    Layout::LustreOnVms(LustreOnVms {
        sku: row.maybe("server").unwrap_or("Standard_E16s_v3").to_owned(),
        servers: or("servers", 24),
        disks_per_server: or("disks", 2),
        disk: disk(row.maybe("tier").unwrap_or("S60")),
        metadata: MetadataServers { sku: "Standard_E32s_v3".to_owned(), count: 1, disk: disk("P30") },
        stripe_count: or("stripe_count", 8),
        stripe_size: Bytes::mib(4),
    })
}

fn lustre(row: &Row) -> Assessment {
    let anyone = ClientSide { vm: &CATALOG.vms[0], count: 1, pcores: 1 };
    assess(&market(Cloud::Azure), &layout(row), &nothing(), anyone).unwrap()
}

/// The smallest of the limits of these places, reading and writing.
fn chain(assessment: &Assessment, places: &[Place]) -> f64 {
    let limits = assessment.limits.iter().filter(|limit| places.contains(&limit.place));
    let all = limits.fold(Capability::UNBOUNDED, |all, limit| all.and(limit.stated));
    assert!((all.read - all.write).abs() < 1.0, "reads and writes share these");
    all.sum
}

/// What clients write when each pCore writes a file as large as its machine's memory, and whether the servers' memory is
/// smaller: the rule (F9) by which reads are known to come from disks.
fn dataset(row: &Row) -> Answer {
    let client = vm(row, "client");
    let files = u64::from(client.pcores) * row.input::<u64>("clients");
    let dataset = Bytes::new(client.memory.unwrap().get() * files);
    let mut words = vec![dataset.as_gib().to_string()];
    if row.metrics().count() > 1 {
        let exceeds = dataset > lustre(row).cache.unwrap();
        words.push(if exceeds { "yes" } else { "no" }.to_owned());
    }
    Answer::Words(words)
}

fn encrypted_in_transit(row: &Row) -> Answer {
    assert_eq!(row.text("family"), "lustre-on-vms");
    let encryption = Encryption { in_transit: true, ..Encryption::default() };
    let constraints = Box::leak(Box::new(Constraints { encryption, ..Constraints::default() }));
    let anyone = ClientSide { vm: &CATALOG.vms[0], count: 1, pcores: 1 };
    let market = market_with(Cloud::Azure, constraints);
    let why = assess(&market, &layout(row), &nothing(), anyone).unwrap().refusals;
    if why.iter().any(|why| why.contains("in transit")) { "no" } else { "yes" }.into()
}
