//! File services: what sizes deliver, what is sold, and what stands against an order.

use plan::design::{Layout, Service};
use plan::layout::{Assessment, service};
use plan::{Capability, Place, Requirement};
use spec::Cloud;
use units::{Bandwidth, Bytes, Ratio};

use crate::ground::{CATALOG, cloud, market, nothing};
use crate::row::{Answer, Row};

pub fn compute(row: &Row) -> Option<Answer> {
    Some(match row.subject.as_str() {
        "service rate" => rate(row).into(),
        "service size" => (candidate(row, &holding(row)).capacity.get() as f64).into(),
        "service sizes" => {
            let range = CATALOG.service(row.text("tier")).unwrap().sizes[0];
            let size = if row.metric == "step" { range.step } else { range.min };
            (size.get() as f64).into()
        }
        "service maximum" => maximum(row),
        "client of a service" => {
            let order = Service { mount: Some(row.text("mount").to_owned()), ..order(row, Bytes::tib(4)) };
            let one = assess(Cloud::Azure, &order, &nothing()).per_client.unwrap();
            (one.stated.read / row.input::<f64>("pcores")).into()
        }
        "service price" => {
            let lines = assess(Cloud::Azure, &order(row, size(row)), &nothing()).costs;
            // The document counts a month of 720 hours.
            (plan::cost::total(&lines).unwrap().get() / catalog::HOURS_PER_MONTH * 720.0).into()
        }
        "volumes of a service" => volumes(row),
        "most ordered" => most_ordered(row).into(),
        _ => return None,
    })
}

fn size(row: &Row) -> Bytes {
    match row.maybe("gib") {
        Some(_) => Bytes::gib(row.input("gib")),
        None => Bytes::tib(row.input("tib")),
    }
}

fn order(row: &Row, capacity: Bytes) -> Service {
    let tier = CATALOG.service(row.text("tier")).unwrap();
    Service {
        service: tier.service.to_string(),
        tier: tier.tier.to_string(),
        capacity,
        throughput: None,
        iops: None,
        count: 1,
        mount: None,
    }
}

fn assess(cloud: Cloud, order: &Service, requirement: &Requirement) -> Assessment {
    service::assess(&market(cloud), order, requirement).unwrap()
}

fn limit(assessment: &Assessment, place: Place) -> Capability {
    assessment.limits.iter().find(|limit| limit.place == place).unwrap().stated
}

fn rate(row: &Row) -> f64 {
    let place = [Place::ServiceThroughput, Place::ServerNetwork, Place::DiskBandwidth]
        .into_iter()
        .find(|place| place.name() == row.metric)
        .unwrap();
    let stated = limit(&assess(cloud(row.text("cloud")), &order(row, size(row)), &nothing()), place);
    assert!((stated.read - stated.write).abs() < 1.0, "both directions have this rate");
    stated.read
}

fn holding(row: &Row) -> Requirement {
    Requirement { capacity: size(row), ..nothing() }
}

/// The cheapest order of the row's tier.
fn candidate(row: &Row, requirement: &Requirement) -> Service {
    let candidates = service::candidates(&market(cloud(row.text("cloud"))), requirement);
    let mut services = candidates.into_iter().filter_map(|layout| match layout {
        Layout::Service(service) => Some(service),
        _ => None,
    });
    services.find(|service| service.tier == row.text("tier")).unwrap()
}

/// What a volume reads, writes and does in all at a mix.
fn maximum(row: &Row) -> Answer {
    let share = Ratio::percent(row.input("read_percent"));
    let requirement = Requirement { read_share: share, ..nothing() };
    let stated =
        limit(&assess(Cloud::Azure, &order(row, Bytes::tib(50)), &requirement), Place::ServiceMaximum);
    let together = stated.mixed(share);
    let parts = [together * share.get(), together * share.complement().get(), together];
    Answer::Numbers(parts.to_vec())
}

/// How many volumes a rate needs, and what one reaches.
fn volumes(row: &Row) -> Answer {
    let needed = Bandwidth::mib_per_second(row.input("mib_per_second"));
    let requirement = Requirement { capacity: size(row), read: needed, ..nothing() };
    let one = limit(&assess(Cloud::Azure, &order(row, size(row)), &requirement), Place::ServiceMaximum);
    let count = candidate(row, &requirement).count;
    let volumes = if count == 1 { "one volume".to_owned() } else { format!("{count} volumes") };
    let most = Bandwidth::bytes_per_second(one.read).as_mib();
    format!("{volumes}: one reads {most} MiB/s at most").as_str().into()
}

/// The most throughput that may be ordered with a size.
fn most_ordered(row: &Row) -> f64 {
    let here = market(Cloud::Azure);
    let sold = |mib: &u32| {
        let throughput = Some(Bandwidth::mib_per_second(f64::from(*mib)));
        let order = Service { throughput, ..order(row, size(row)) };
        service::assess(&here, &order, &nothing()).unwrap().refusals.is_empty()
    };
    Bandwidth::mib_per_second(f64::from((1..1000).rfind(sold).unwrap())).get()
}
