//! Movers that die, sleep and leave in the middle.

use testkit::skip::{Need, can};
use testkit::trees::Random;

use crate::place::{Mover, Place, wait_until};

/// A tree that takes a while.
fn slow_tree(place: &Place) {
    for part in 0..12 {
        for number in 0..4 {
            place.write(&format!("source/{part}/d/{number}"), vec![part * 16 + number; 100_000]);
        }
        place.write(&format!("source/{part}/large"), vec![part; 900_000]);
    }
}

const SLOWLY: [&str; 5] = ["--delete", "--bwlimit", "1MB/s", "--lease", "2s"];

/// How many files of some size have their final name.
fn there(place: &Place) -> usize {
    (0..12).filter(|part| place.destination().join(format!("{part}/large")).exists()).count()
}

fn works(place: &Place, mover: &mut Mover) -> bool {
    assert!(mover.child.try_wait().unwrap().is_none(), "it ended before anybody could stop it");
    there(place) >= 1
}

fn a_killed_mover(place: &Place) {
    slow_tree(place);
    let (mut first, mut second) = (place.start(&SLOWLY), place.start(&SLOWLY));
    wait_until("some work is done", || works(place, &mut first));
    first.child.kill().unwrap();
    let record = second.record(0);
    place.assert_equal();
    assert_eq!(record["state"], "complete", "{record}");
    // Another one finds all of it known.
    let record = place.start(&SLOWLY).record(0);
    assert_eq!(record["bytes"]["read_bytes"], 0, "{record}");
}

#[test]
fn work_of_a_killed_mover_is_taken_over_on_one_host() {
    a_killed_mover(&Place::on_one_host());
}

#[test]
fn work_of_a_killed_mover_is_taken_over_over_hosts() {
    if can("PostgreSQL", &[Need::Server("postgres")]) {
        a_killed_mover(&Place::over_hosts());
    }
}

#[test]
fn when_all_movers_were_killed_the_next_goes_on() {
    let place = Place::on_one_host();
    slow_tree(&place);
    for _ in 0..2 {
        let before = there(&place);
        let (mut first, mut second) = (place.start(&SLOWLY), place.start(&SLOWLY));
        wait_until("some work is done", || {
            first.child.try_wait().unwrap().is_some() || there(&place) > before
        });
        first.child.kill().unwrap();
        second.child.kill().unwrap();
    }
    place.start(&["--delete", "--bwlimit", "1MB/s", "--lease", "2s"]).record(0);
    place.assert_equal();
}

#[test]
fn a_mover_that_slept_through_its_lease_can_write_nothing() {
    if !can("PostgreSQL", &[Need::Server("postgres")]) {
        return;
    }
    // It may fall asleep in a transaction, which SQLite would wait for.
    let place = Place::over_hosts();
    slow_tree(&place);
    let (mut first, mut second) = (place.start(&SLOWLY), place.start(&SLOWLY));
    wait_until("some work is done", || works(&place, &mut first));
    first.signal("-STOP");
    second.record(0);
    place.assert_equal();
    // What the others do now must not be undone by what it had in hand.
    let mut random = Random::new(61);
    random.change(&place.source(), 20);
    place.start(&["--delete", "--special-files", "--max-delete", "1000", "--lease", "2s"]).record(0);
    first.signal("-CONT");
    let said = first.ended(0);
    assert!(said.contains("somebody else took over") || said.is_empty(), "{said}");
    place.start(&["--delete", "--special-files", "--max-delete", "1000", "--lease", "2s"]).record(0);
    place.assert_equal();
}

#[test]
fn a_mover_that_is_stopped_gives_back_what_it_has() {
    let place = Place::on_one_host();
    slow_tree(&place);
    // So long a lease that nobody waits for its end.
    let flags = ["--delete", "--bwlimit", "1MB/s", "--lease", "1h"];
    let (mut first, mut second) = (place.start(&flags), place.start(&flags));
    wait_until("some work is done", || works(&place, &mut first));
    first.signal("-TERM");
    first.ended(143);
    // It joins again, with a third.
    let mut third = place.start(&flags);
    second.record(0);
    third.record(0);
    place.assert_equal();
}

#[test]
fn a_queue_that_went_away_is_told_and_nothing_is_torn() {
    if !can("PostgreSQL", &[Need::Server("postgres")]) {
        return;
    }
    let mut place = Place::over_hosts();
    slow_tree(&place);
    let mut mover = place.start(&SLOWLY);
    wait_until("some work is done", || works(&place, &mut mover));
    let password = place.server.as_ref().unwrap().password();
    place.server = None;
    let said = mover.ended(1);
    assert!(said.contains("cannot use the queue") && !said.contains(password), "{said}");
    // One process makes the tree without them.
    let mut alone = std::process::Command::new(env!("CARGO_BIN_EXE_forebay"));
    alone.arg("sync").arg(place.source()).arg(place.destination()).args(["--delete", "--state"]);
    assert!(alone.arg(place.path("alone")).status().unwrap().success());
    place.assert_equal();
}
