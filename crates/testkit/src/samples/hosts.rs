//! A sample run as if it had been over several hosts.

use record::{HostResult, HostSeat, Limit, LimitCause, PhaseResult, RankResult, RunRecord};

/// The ranks of `record` dealt to hosts of these names, in blocks.
pub fn over_hosts(mut record: RunRecord, names: &[&str]) -> RunRecord {
    let environment = record.environment.clone();
    for test in &mut record.tests {
        for phase in test.repetitions.iter_mut().flat_map(|repetition| &mut repetition.phases) {
            deal(phase, names);
        }
        let first = test.repetitions.first().and_then(|repetition| repetition.phases.first());
        let ranks =
            |name: &str| first.map_or(0, |phase| phase.ranks.iter().filter(|r| r.host == name).count());
        test.hosts = names
            .iter()
            .map(|name| HostSeat {
                processes: 1,
                ranks: ranks(name) as u32,
                ..HostSeat::new(name, &environment)
            })
            .collect();
    }
    record
}

fn deal(phase: &mut PhaseResult, names: &[&str]) {
    let count = phase.ranks.len().max(1);
    for (number, rank) in phase.ranks.iter_mut().enumerate() {
        names[number * names.len() / count].clone_into(&mut rank.host);
    }
    phase.hosts = names.iter().map(|name| host(name, &phase.ranks)).collect();
}

fn host(name: &str, ranks: &[RankResult]) -> HostResult {
    let own = || ranks.iter().filter(|rank| rank.host == name);
    HostResult {
        host: name.to_owned(),
        ranks: own().count() as u32,
        operations: own().map(|rank| rank.operations).sum(),
        bytes: own().map(|rank| rank.bytes).sum(),
        transferred_ns: own().map(|rank| rank.transferred_ns).max().unwrap_or(0),
        closed_ns: own().map(|rank| rank.closed_ns).max().unwrap_or(0),
        cpu_ns: own().map(|rank| rank.cpu_ns).sum(),
        cpu_busy_share: 0.31,
        clock_offset_ns: -42_000_000,
        clock_drift_ns: 1_200,
        clock_uncertainty_ns: 35_000,
        start_skew_ns: 61_000,
        limit: Some(Limit { cause: LimitCause::Network, evidence: "96 % of the NIC's 3 GB/s used".into() }),
        ..HostResult::default()
    }
}
