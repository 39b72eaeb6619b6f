//! The next step of a design, and the same question for larger grids.

use plan::design::{Layout, Service, SharedVolumes, StripedVolumes, Volume};
use plan::{grow, search, upgrade, words};
use spec::{Filter, Spec};
use units::{Bandwidth, Bytes};

use crate::ground::{EMBEDDED, options, sas_azure};

/// Only disks of 8 TiB and the MDT's, and as many OSTs as today's grid needs and a quarter more.
fn cramped() -> Spec {
    let mut spec = sas_azure();
    spec.constraints.tiers = Filter { allow: vec!["S60".to_owned(), "P30".to_owned()], deny: Vec::new() };
    spec.constraints.max_osts = Some(60);
    spec
}

#[test]
fn a_step_delivers_more_than_the_design_it_starts_from() {
    let plan = search(&EMBEDDED, &sas_azure(), &options()).unwrap();
    let mut helped = 0;
    for evaluation in plan.ranked.iter().take(12) {
        let Some(step) = upgrade(&EMBEDDED, evaluation, &plan.demand.constraints, &options()).unwrap() else {
            continue;
        };
        let storage = &evaluation.storages[0];
        let now = storage.delivered.of(storage.tightest()).get();
        assert!(step.delivered_bytes_per_second > now, "{}", step.what);
        assert_eq!(step.storage, "data");
        helped += 1;
    }
    assert!(helped > 0);
}

#[test]
fn larger_grids_cost_more() {
    let today = search(&EMBEDDED, &sas_azure(), &options()).unwrap().ranked[0].per_month().unwrap().get();
    let steps = grow(&EMBEDDED, &sas_azure(), &options(), &[1.0, 2.0, 4.0]).unwrap();
    let costs: Vec<f64> =
        steps.iter().map(|step| step.best.as_ref().unwrap().usd_per_month.unwrap()).collect();
    assert!((costs[0] - today).abs() < 1e-6, "{costs:?}");
    // Steps of sizes make a grid of twice the size a little cheaper or dearer than two of them.
    assert!(costs[1] > today * 1.8 && costs[2] > costs[1] * 1.8, "{costs:?}");
    let change = &steps[0].same_kind.as_ref().unwrap().change;
    assert!(change.contains("the same"), "{change}");
    assert!(steps.iter().all(|step| step.same_kind.is_some() == step.stops.is_empty()));
}

#[test]
fn a_design_stops_where_a_bound_is_and_says_which() {
    let steps = grow(&EMBEDDED, &cramped(), &options(), &[1.0, 4.0]).unwrap();
    assert!(steps[0].stops.is_empty() && steps[0].same_kind.is_some());
    assert!(steps[1].same_kind.is_none() && steps[1].best.is_none());
    assert!(steps[1].stops.iter().any(|why| why.contains("at most 60 OSTs")), "{:?}", steps[1].stops);
}

#[test]
fn a_grid_without_a_design_does_not_grow() {
    let mut nothing = cramped();
    nothing.constraints.max_osts = Some(1);
    let steps = grow(&EMBEDDED, &nothing, &options(), &[2.0]).unwrap();
    assert_eq!(steps[0].stops, ["today's grid has no design"]);
    for factor in [0.0, -1.0, f64::NAN] {
        assert!(grow(&EMBEDDED, &cramped(), &options(), &[factor]).is_err(), "{factor}");
    }
}

#[test]
fn layouts_in_one_line() {
    let volume = |iops, bandwidth| Volume { tier: "gp3".to_owned(), size: Bytes::tib(2), iops, bandwidth };
    let striped = Layout::StripedVolumes(StripedVolumes {
        volumes_per_client: 4,
        volume: volume(Some(4000), Some(Bandwidth::mib_per_second(500.0))),
    });
    let text = words::layout(&striped, Bytes::tib(48));
    assert!(text.starts_with("RAID-0 of 4 x gp3 (2.0 TiB, 4000 IOPS, "), "{text}");
    assert!(text.ends_with(" on each client, 48 TiB"), "{text}");
    let shared = Layout::SharedVolumes(SharedVolumes { volumes: 2, volume: volume(None, None) });
    assert_eq!(words::layout(&shared, Bytes::tib(4)), "GFS2 on 2 x gp3, attached to all clients, 4.0 TiB");
    let service = Layout::Service(Service {
        service: "FSx for OpenZFS".to_owned(),
        tier: "FSx-OpenZFS-SSD".to_owned(),
        capacity: Bytes::tib(10),
        throughput: Some(Bandwidth::mb_per_second(512.0)),
        iops: Some(48_829),
        count: 2,
        mount: None,
    });
    let text = words::layout(&service, Bytes::tib(20));
    assert_eq!(text, "2 x FSx-OpenZFS-SSD with 512.0 MB/s, 48829 IOPS, 20 TiB");
}
