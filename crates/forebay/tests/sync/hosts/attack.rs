//! Somebody with rights in a tree of a host swaps directories for symlinks while root syncs it.

use std::sync::atomic::{AtomicBool, Ordering};

use testkit::trees::{differences, picture};

use super::Hosts;
use crate::attack::{fill, swap};

const ROUNDS: u32 = 6;

fn attack(hosts: &Hosts, swapped: &str, (from, to): (&str, &str), change: impl Fn(u32)) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| swap(&hosts.path(swapped), &hosts.path("outside"), &stop));
        for round in 0..ROUNDS {
            change(round);
            // It may fail on what is being swapped, but must say so.
            let flags = ["--delete", "--check-destination", "--max-delete", "100000"];
            let call = hosts.sync(from, to, &flags);
            assert!(matches!(call.code, Some(0 | 1 | 3)), "{call:?}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_swapped_destination_on_a_host_leads_nowhere() {
    let Some(hosts) = Hosts::new("an attack on a destination over ssh", 1) else { return };
    fill(&hosts.path("source/victim"), "new");
    let (from, to) = (hosts.tree(0, "source"), hosts.tree(1, "far"));
    hosts.sync_well(&from, &to, &[]);
    fill(&hosts.path("outside"), "precious");
    std::fs::write(hosts.path("outside/only-here"), "precious").unwrap();
    let before = picture(&hosts.path("outside"));
    attack(&hosts, "far/victim", (&from, &to), |round| {
        fill(&hosts.path("source/victim"), &format!("round {round}"));
        std::fs::write(hosts.path(&format!("source/victim/extra{round}")), "x").unwrap();
        let _ = std::fs::remove_file(hosts.path(&format!("source/victim/extra{}", round.wrapping_sub(1))));
    });
    let lines = differences(&before, &picture(&hosts.path("outside")));
    assert!(lines.is_empty(), "something outside was touched:\n{}", lines.join("\n"));
}

#[test]
fn a_swapped_source_on_a_host_gives_away_nothing() {
    let Some(hosts) = Hosts::new("an attack on a source over ssh", 1) else { return };
    fill(&hosts.path("far/victim"), "public");
    fill(&hosts.path("outside"), "secret");
    let (from, to) = (hosts.tree(1, "far"), hosts.tree(0, "back"));
    attack(&hosts, "far/victim", (&from, &to), |_| {
        let _ = std::fs::remove_dir_all(hosts.path("back"));
    });
    let found = picture(&hosts.path("back"));
    assert!(found.values().all(|entry| entry.content != b"secret"), "a file from outside was copied");
}
