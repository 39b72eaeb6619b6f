//! Network disks: what a size or an order delivers and costs, and how many a machine needs.

use std::time::Duration;

use catalog::{Disk, HOURS_PER_MONTH, Rate};
use plan::concurrency::in_flight;
use plan::design::Volume;
use plan::layout::servers::vm_disks;
use plan::volume::{Need, Order, PriceList, carried, order, ordered};
use plan::{Market, cost};
use units::{Bandwidth, Bytes, Iops, Money};

use crate::ground::{CATALOG, cloud, market};
use crate::row::{Answer, Row};

const GIB: f64 = (1u64 << 30) as f64;

pub fn compute(row: &Row) -> Option<Answer> {
    Some(match row.subject.as_str() {
        "volumes" => volumes(row),
        "volume of a size" => of_size(row),
        "volume for a rate" => for_rate(row).unwrap().iops.into(),
        "most of a volume" => most(row),
        "tier for a size" => tier(row),
        "volume price" => {
            let order =
                Order { size: row.input::<f64>("gib") * GIB, iops: row.input("iops"), bandwidth: 0.0 };
            PriceList::of(&here(row), disk(row)).of_order(&order).unwrap().get().into()
        }
        "merged I/Os" => {
            let one = row.input::<Bytes>("io").get() as f64;
            (carried(disk(row), plan::demand::MERGED_IO) / one).into()
        }
        "NVMe price" => {
            cost::usd_per_gb(monthly(row), Bytes::new((row.input::<f64>("gb") * 1e9) as u64)).unwrap().into()
        }
        "price of a rate" => {
            let rate = Bandwidth::mb_per_second(row.input("mb_per_second"));
            cost::usd_per_mb_per_second(monthly(row), rate).unwrap().into()
        }
        "in flight" => {
            let latency = Duration::from_secs_f64(row.input::<f64>("latency_ms") / 1e3);
            in_flight(Iops::new(row.input("iops")), latency).into()
        }
        "rate of I/Os" => {
            let rate = Rate { iops: Some(Iops::new(row.input("iops"))), bandwidth: None };
            rate.at(row.input("io"), None).unwrap().get().into()
        }
        _ => return None,
    })
}

fn disk(row: &Row) -> &'static Disk {
    CATALOG.disk(row.text("tier")).unwrap()
}

fn here(row: &Row) -> Market<'static> {
    market(cloud(row.text("cloud")))
}

fn monthly(row: &Row) -> Money {
    Money::usd(row.input::<f64>("usd_per_hour") * HOURS_PER_MONTH)
}

/// The fewest volumes of a tier for all that a machine may do with its disks.
fn volumes(row: &Row) -> Answer {
    let io = Bytes::mib(1);
    let all = vm_disks(CATALOG.vm(row.text("sku")).unwrap(), disk(row), io).unwrap().sum;
    let each = |count: u32| {
        let need = Need { capacity: 0.0, bandwidth: all / f64::from(count), io };
        Some((f64::from(count), order(disk(row), &need)?))
    };
    let (count, one) = (1..=100).find_map(each).unwrap();
    match row.metric.as_str() {
        "volumes" => count,
        "IOPS of each" => one.iops,
        _ => one.iops * count,
    }
    .into()
}

fn of_size(row: &Row) -> Answer {
    let size = Bytes::gib(row.input("gib"));
    let volume = Volume { tier: row.text("tier").to_owned(), size, iops: None, bandwidth: None };
    let order = ordered(disk(row), &volume).unwrap();
    if row.metric == "IOPS" { order.iops } else { order.bandwidth }.into()
}

fn for_rate(row: &Row) -> Option<Order> {
    let need = Need {
        capacity: row.input::<f64>("gib") * GIB,
        bandwidth: Bandwidth::mib_per_second(row.input("mib_per_second")).get(),
        io: row.input("io"),
    };
    order(disk(row), &need)
}

/// The most that the cheapest order reaches without a larger size, or without more IOPS.
fn most(row: &Row) -> Answer {
    let disk = disk(row);
    let gib: f64 = row.input("gib");
    let (io, unit) = if row.metric == "IOPS" { (Bytes::new(1), 1.0) } else { (Bytes::mib(1), 1e5) };
    let holds = |units: f64| {
        let need = Need { capacity: gib * GIB, bandwidth: units * unit, io };
        order(disk, &need).is_some_and(|order| {
            let iops = row.maybe("iops").map_or(f64::INFINITY, |_| row.input("iops"));
            order.size <= gib * GIB && order.iops <= iops
        })
    };
    let (mut low, mut high) = (0.0, 1e6);
    while high - low > 1e-6 {
        let middle = f64::midpoint(low, high);
        if holds(middle) { low = middle } else { high = middle }
    }
    // Halving ends within a thousandth of a unit of the step it looks for.
    ((low * 1e3).round() / 1e3 * unit).into()
}

/// The cheapest tier of a family that holds a size (F23).
fn tier(row: &Row) -> Answer {
    let market = here(row);
    let need = Need { capacity: row.input::<f64>("gib") * GIB, bandwidth: 0.0, io: Bytes::mib(1) };
    let family = CATALOG.disks.iter().filter(|disk| &*disk.family == row.text("family"));
    let priced = family.filter_map(|disk| {
        let order = order(disk, &need)?;
        Some((PriceList::of(&market, disk).of_order(&order)?.get(), &*disk.tier))
    });
    priced.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1.into()
}
