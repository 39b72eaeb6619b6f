//! Somebody with rights in a tree swaps directories for symlinks while root syncs it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use testkit::skip::{Need, can};
use testkit::trees::{differences, picture};

use crate::place::Place;

/// How often the sync is run while directories are swapped.
const ROUNDS: u32 = 12;

/// Swaps `dir` for a symlink to `outside` and back, until told to stop.
pub fn swap(dir: &Path, outside: &Path, stop: &AtomicBool) {
    let aside = PathBuf::from(format!("{}.aside", dir.display()));
    let link = PathBuf::from(format!("{}.link", dir.display()));
    std::os::unix::fs::symlink(outside, &link).unwrap();
    while !stop.load(Ordering::Relaxed) {
        // What the sync replaced meanwhile is put in place again.
        let _ = std::fs::rename(dir, &aside);
        let _ = std::fs::rename(&link, dir);
        std::thread::yield_now();
        let _ = std::fs::rename(dir, &link);
        let _ = std::fs::rename(&aside, dir);
    }
}

/// Runs syncs while a directory of one tree is swapped for a symlink to a place outside.
fn attack(place: &Place, swapped: &Path, outside: &Path, change: impl Fn(u32)) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| swap(swapped, outside, &stop));
        for round in 0..ROUNDS {
            change(round);
            // It may fail on what is being swapped, but must say so.
            let call = place.sync(&["--delete", "--check-destination", "--max-delete", "100000"]);
            assert!(matches!(call.code, Some(0 | 1 | 3)), "{call:?}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

pub fn fill(dir: &Path, content: &str) {
    std::fs::create_dir_all(dir.join("deep")).unwrap();
    for number in 0..40 {
        std::fs::write(dir.join(format!("f{number}")), content).unwrap();
        std::fs::write(dir.join("deep").join(format!("f{number}")), content).unwrap();
    }
}

#[test]
fn a_swapped_destination_leads_nowhere() {
    if !can("an attack on root", &[Need::Root]) {
        return;
    }
    let place = Place::new();
    fill(&place.source().join("victim"), "new");
    place.sync_well(&[]);
    let outside = place.path("outside");
    fill(&outside, "precious");
    std::fs::write(outside.join("only-here"), "precious").unwrap();
    let before = picture(&outside);
    attack(&place, &place.destination().join("victim"), &outside, |round| {
        fill(&place.source().join("victim"), &format!("round {round}"));
        let _ = std::fs::write(place.source().join(format!("victim/extra{round}")), "x");
        let _ = std::fs::remove_file(place.source().join(format!("victim/extra{}", round.wrapping_sub(1))));
    });
    let lines = differences(&before, &picture(&outside));
    assert!(lines.is_empty(), "something outside was touched:\n{}", lines.join("\n"));
}

#[test]
fn a_swapped_source_gives_away_nothing() {
    if !can("an attack on root", &[Need::Root]) {
        return;
    }
    let place = Place::new();
    fill(&place.source().join("victim"), "public");
    let outside = place.path("outside");
    fill(&outside, "secret");
    attack(&place, &place.source().join("victim"), &outside, |_| {
        let _ = std::fs::remove_dir_all(place.destination());
    });
    let found = picture(&place.destination());
    assert!(found.values().all(|entry| entry.content != b"secret"), "a file from outside was copied");
}
