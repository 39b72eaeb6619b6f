use record::{HostResult, LayoutCount, LayoutPart, LostProcess, StorageLayout};

use super::*;
use crate::belief::data::server_balance;
use crate::belief::hosts::{clocks, host_balance, host_stragglers, lost_processes};

fn over(rates: &[(u64, u64)]) -> PhaseResult {
    let host = |(number, (mib, seconds)): (usize, &(u64, u64))| HostResult {
        host: format!("node{number}"),
        ranks: 2,
        operations: *mib,
        bytes: Bytes::mib(*mib),
        closed_ns: seconds * SECOND,
        clock_uncertainty_ns: 40_000 * (number as u64 + 1),
        ..HostResult::default()
    };
    PhaseResult { hosts: rates.iter().enumerate().map(host).collect(), ..read() }
}

#[test]
fn clocks_that_are_not_known_well_enough_make_a_phase_not_valid() {
    let mut phase = over(&[(100, 30), (100, 30)]);
    assert_eq!(clocks(&phase).outcome, Outcome::Pass);
    phase.hosts[1].clock_uncertainty_ns = LENGTH * SECOND / 90;
    let check = clocks(&phase);
    assert_eq!(check.outcome, Outcome::Fail);
    assert!(check.evidence.contains("node1"), "{check:?}");
    assert_eq!(clocks(&read()).outcome, Outcome::NotApplicable);
}

#[test]
fn the_slowest_host_is_named() {
    let check = host_balance(&over(&[(3000, 30), (3000, 30), (1500, 30)]));
    assert_eq!(check.outcome, Outcome::Note);
    assert!(check.evidence.contains("node2"), "{check:?}");
    assert_eq!(host_balance(&over(&[(3000, 30), (2900, 30)])).outcome, Outcome::Pass);
    let check = host_stragglers(&over(&[(3000, 20), (3000, 20), (3000, 30)]));
    assert_eq!(check.outcome, Outcome::Note);
    assert!(check.evidence.starts_with("node2 was done "), "{check:?}");
}

#[test]
fn a_loss_is_a_failure_unless_it_is_allowed() {
    let lost = LostProcess { host: "node7".into(), first_rank: 4, ranks: 2, why: "cut off".into() };
    let phase = PhaseResult { lost: vec![lost], ..read() };
    let (refused, allowed) = (lost_processes(&phase, 0), lost_processes(&phase, 1));
    assert_eq!((refused.outcome, allowed.outcome), (Outcome::Fail, Outcome::Note));
    assert!(refused.evidence.contains("node7") && refused.evidence.contains("cut off"));
}

#[test]
fn servers_that_hold_most_are_named() {
    let part = |name: &str, mib| LayoutPart { name: name.into(), bytes: Bytes::mib(mib), files: 1 };
    let of = |parts| StorageLayout {
        kind: "lustre".into(),
        files: 2,
        files_in_all: 2,
        layouts: vec![LayoutCount { layout: "1 stripe of 1 MiB".into(), files: 2 }],
        parts,
        each: Vec::new(),
    };
    let even = of(vec![part("OST0000", 10), part("OST0001", 10), part("MDT0000", 1)]);
    assert_eq!(server_balance(&PhaseResult { layout: Some(even), ..write() }).outcome, Outcome::Pass);
    let uneven = of(vec![part("OST0000", 30), part("OST0001", 10)]);
    let check = server_balance(&PhaseResult { layout: Some(uneven), ..write() });
    assert_eq!(check.outcome, Outcome::Note);
    assert!(check.evidence.contains("30 MiB on OST0000, 20 MiB on the average"), "{check:?}");
}
