//! What each host did, where there were several.

use record::{HostResult, PhaseResult, TestRecord, statistics};
use units::{Bandwidth, Iops};

use crate::{Align, Cell, Table};

/// Hosts listed per phase; of more, the slowest.
const MOST: usize = 32;

/// One row per phase and host: medians over the repetitions. `None` where there was one host.
pub fn table(test: &TestRecord) -> Option<Table> {
    if test.hosts.is_empty() {
        return None;
    }
    let mut table = Table::new([
        ("phase", Align::Left),
        ("host", Align::Left),
        ("ranks", Align::Right),
        ("median", Align::Right),
        ("operations", Align::Right),
        ("CPU busy", Align::Right),
        ("done after", Align::Right),
        ("limited by", Align::Left),
    ]);
    table.may_leave_out(&["done after", "operations", "ranks"]);
    for name in test.phase_names() {
        let phases: Vec<&PhaseResult> = test.phases(name).collect();
        for row in rows(name, &phases, test) {
            table.row(row);
        }
    }
    Some(table)
}

fn rows(name: &str, phases: &[&PhaseResult], test: &TestRecord) -> Vec<[Cell; 8]> {
    let mut rows: Vec<(f64, [Cell; 8])> = Vec::new();
    for seat in &test.hosts {
        let results: Vec<&HostResult> =
            phases.iter().flat_map(|phase| &phase.hosts).filter(|host| host.host == seat.name).collect();
        let Some(last) = results.last() else { continue };
        let middle = |figure: fn(&HostResult) -> f64| {
            statistics::median(&results.iter().map(|host| figure(host)).collect::<Vec<_>>()).unwrap_or(0.0)
        };
        let (bandwidth, iops) = (middle(|host| host.bandwidth().get()), middle(|host| host.iops().get()));
        let moved = results.iter().any(|host| host.bytes.get() > 0);
        let closed = std::time::Duration::from_nanos(middle(|host| host.closed_ns as f64) as u64);
        let limit = last.limit.as_ref().map_or("-", |limit| limit.cause.words());
        rows.push((
            if moved { bandwidth } else { iops },
            [
                Cell::new(name),
                Cell::new(&seat.name),
                Cell::new(last.ranks),
                if moved {
                    Cell::new(Bandwidth::bytes_per_second(bandwidth)).strong()
                } else {
                    Cell::new("-")
                },
                Cell::new(Iops::new(iops)),
                Cell::new(format!("{:.0} %", middle(|host| host.cpu_busy_share) * 100.0)),
                Cell::new(units::format_duration(closed)),
                Cell::new(limit),
            ],
        ));
    }
    if rows.len() > MOST {
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        rows.truncate(MOST);
    }
    rows.into_iter().map(|(_, row)| row).collect()
}
