//! The cheapest Lustre equals the cheapest of all that can be ordered, on small catalogs.

use catalog::{Catalog, Disk, Performance, Vm};
use plan::design::{Design, Layout, Region};
use plan::layout::lustre;
use plan::volume::{self, Need, PriceList};
use plan::{Calibration, Guards, Market, Requirement};
use proptest::prelude::*;
use spec::{Cloud, Commitment, Constraints};
use units::{Bandwidth, Bytes, Iops};

use crate::ground::{EMBEDDED, spec};

/// A few machines and disks of the real catalog with limits bent a little, so that every case is another catalog.
fn small(cloud: Cloud, picks: &[usize], bends: &[f64]) -> Catalog {
    let vms: Vec<&Vm> = EMBEDDED.vms.iter().filter(|vm| vm.cloud == cloud && vm.network.is_some()).collect();
    let disks: Vec<&Disk> = EMBEDDED.disks.iter().filter(|disk| disk.cloud == cloud).collect();
    let half = picks.len() / 2;
    let bend = |rate: Option<Bandwidth>, place: usize| rate.map(|rate| rate * bends[place % bends.len()]);
    let mut catalog = Catalog { prices: EMBEDDED.prices.clone(), ..Catalog::default() };
    for (place, pick) in picks[..half].iter().enumerate() {
        let mut vm = vms[pick % vms.len()].clone();
        vm.disks.bandwidth = bend(vm.disks.bandwidth, place);
        vm.network = bend(vm.network, place + 1);
        vm.max_disks = vm.max_disks.map(|most| most.min(6));
        catalog.vms.push(vm);
    }
    for (place, pick) in picks[half..].iter().enumerate() {
        let mut disk = disks[pick % disks.len()].clone();
        if let Performance::Fixed(rate) = &mut disk.performance {
            rate.bandwidth = bend(rate.bandwidth, place);
            rate.iops = rate.iops.map(|iops| Iops::new(iops.get() * bends[place % bends.len()]));
        }
        catalog.disks.push(disk);
    }
    // Something to serve metadata.
    let plain = |vm: &&&Vm| {
        vm.pcores >= 16 && vm.constrained_of.is_none() && vm.memory.is_some_and(|m| m >= Bytes::gib(128))
    };
    catalog.vms.extend(vms.iter().find(plain).map(|vm| (**vm).clone()));
    catalog
        .disks
        .extend(disks.iter().find(|disk| ["P30", "gp3"].contains(&&*disk.tier)).map(|disk| (*disk).clone()));
    // A name stands for one thing.
    let mut names = std::collections::HashSet::new();
    catalog.vms.retain(|vm| names.insert(vm.sku.clone()));
    catalog.disks.retain(|disk| names.insert(disk.tier.clone()));
    catalog
}

/// Every number of servers and disks, costed one by one through the evaluation of designs.
fn by_hand(market: &Market<'_>, requirement: &Requirement, base: &Design) -> Option<f64> {
    let mut least: Option<f64> = None;
    let most = market.guards.max_osts;
    for vm in market.vms().filter(|vm| vm.constrained_of.is_none()) {
        for disk in market.disks().filter(|disk| disk.caution.is_none()) {
            for disks in 1..=vm.max_disks.unwrap_or(0).min(most) {
                for servers in market.guards.min_servers..=most / disks {
                    let cost = cost_of(market, requirement, base, vm, disk, disks, servers);
                    least = least.into_iter().chain(cost).reduce(f64::min);
                }
            }
        }
    }
    least
}

#[allow(clippy::too_many_arguments, reason = "one design, spelled out")]
fn cost_of(
    market: &Market<'_>,
    requirement: &Requirement,
    base: &Design,
    vm: &Vm,
    disk: &Disk,
    disks: u32,
    servers: u32,
) -> Option<f64> {
    let volumes = f64::from(disks * servers);
    let smallest = market.guards.min_ost.get() as f64;
    let capacity = (requirement.capacity.get() as f64 / volumes).max(smallest);
    let bandwidth = requirement.mixed().get() / volumes;
    let order = volume::order(disk, &Need { capacity, bandwidth, io: requirement.disk_io() })?;
    if order.size < smallest {
        return None;
    }
    PriceList::of(market, disk).of_order(&order)?;
    let metadata = lustre::size_metadata(market, lustre::pcores_for(servers), requirement.capacity)?;
    let layout = plan::design::LustreOnVms {
        sku: vm.sku.to_string(),
        servers,
        disks_per_server: disks,
        disk: volume::as_volume(disk, &order),
        metadata: metadata.servers,
        stripe_count: disks * servers,
        stripe_size: lustre::STRIPE_SIZE,
    };
    let mut design = base.clone();
    design.storage[0].layout = Layout::LustreOnVms(layout);
    let assessment = lustre::assess(
        market,
        match &design.storage[0].layout {
            Layout::LustreOnVms(layout) => layout,
            _ => unreachable!(),
        },
        requirement,
    )
    .unwrap();
    let enough = |limit: &plan::Limit| {
        limit.stated.read >= requirement.read.get() * (1.0 - 1e-6)
            && limit.stated.write >= requirement.write.get() * (1.0 - 1e-6)
            && limit.stated.mixed(requirement.read_share) >= requirement.mixed().get() * (1.0 - 1e-6)
    };
    let known = assessment.unknown.is_empty() && assessment.refusals.is_empty();
    let lines = assessment.costs.iter().filter(|line| line.part != plan::Part::Operations);
    let cost = lines.map(|line| line.per_month.map(units::Money::get)).sum::<Option<f64>>()?;
    (known && assessment.limits.iter().all(enough)).then_some(cost)
}

fn cost_of_found(market: &Market<'_>, requirement: &Requirement, layout: &Layout) -> f64 {
    let Layout::LustreOnVms(layout) = layout else { panic!("no Lustre") };
    let assessment = lustre::assess(market, layout, requirement).unwrap();
    let lines = assessment.costs.iter().filter(|line| line.part != plan::Part::Operations);
    lines.map(|line| line.per_month.unwrap().get()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_cheapest_lustre_is_the_cheapest_of_all(
        cloud in prop::sample::select(vec![Cloud::Azure, Cloud::Aws]),
        picks in prop::collection::vec(0usize..1000, 6),
        bends in prop::collection::vec(0.5f64..2.0, 3),
        tib in 1u64..60,
        rate in 100.0f64..6000.0,
        read_share in 0.0f64..=1.0,
    ) {
        let catalog = small(cloud, &picks, &bends);
        let guards = Guards { max_osts: 24, ..Guards::default() };
        let region = match cloud { Cloud::Azure => "eastus", _ => "us-east-1" };
        let place = Region { cloud, region: region.to_owned(), commitment: Commitment::Payg };
        let mut wanted = spec(cloud, 8, Bytes::tib(tib), Bandwidth::mb_per_second(rate));
        wanted.storage[0].mix = Some(units::Ratio::new(read_share));
        let (constraints, calibration) = (wanted.constraints.clone(), Calibration::default());
        let market = Market::new(&catalog, place.clone(), &constraints, &guards, &calibration);
        let requirement = Requirement::of(&wanted, &wanted.storage[0]).unwrap();
        let found = lustre::find(&market, &requirement);
        let best = found.layouts.first().map(|layout| cost_of_found(&market, &requirement, layout));
        let base = Design {
            version: 1,
            place,
            grid: wanted.grid.clone(),
            clients: plan::design::Clients { sku: String::new(), count: 1 },
            storage: vec![plan::design::StorageDesign {
                requirement: wanted.storage[0].clone(),
                layout: Layout::LocalNvme(plan::design::LocalNvme { devices_per_client: 1 }),
            }],
        };
        let least = by_hand(&market, &requirement, &base);
        match (best, least) {
            (None, None) => {}
            (Some(best), Some(least)) => prop_assert!((best - least).abs() <= least * 1e-9, "{best} found, {least} possible: {:?}", found.layouts.first()),
            (best, least) => prop_assert!(false, "{best:?} found, {least:?} possible"),
        }
    }
}

#[test]
fn a_constraint_empty_plan_has_reasons() {
    let constraints = Constraints { max_osts: Some(1), ..Constraints::default() };
    let (guards, calibration) = (Guards::default(), Calibration::default());
    let place = Region { cloud: Cloud::Azure, region: "eastus".to_owned(), commitment: Commitment::Payg };
    let market = Market::new(&EMBEDDED, place, &constraints, &guards, &calibration);
    let wanted = spec(Cloud::Azure, 8, Bytes::tib(100), Bandwidth::mb_per_second(1000.0));
    let requirement = Requirement::of(&wanted, &wanted.storage[0]).unwrap();
    assert_eq!(lustre::find(&market, &requirement).layouts, Vec::new());
    let reasons = lustre::reasons(&market, &requirement);
    assert!(reasons[0].contains("at most 1 OSTs"), "{reasons:?}");
    // Three servers with at most one OST: nothing is possible, so nothing is promised.
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    let constraints = Constraints { max_osts: Some(12), ..Constraints::default() };
    let place = Region { cloud: Cloud::Azure, region: "eastus".to_owned(), commitment: Commitment::Payg };
    let market = Market::new(&EMBEDDED, place, &constraints, &guards, &calibration);
    let wanted = spec(Cloud::Azure, 8, Bytes::tib(1000), Bandwidth::mb_per_second(1000.0));
    let requirement = Requirement::of(&wanted, &wanted.storage[0]).unwrap();
    // 12 OSTs of 64 TiB, the largest disks sold.
    let reasons = lustre::reasons(&market, &requirement);
    assert!(reasons[1].starts_with("at this rate, 786"), "{reasons:?}");
}
