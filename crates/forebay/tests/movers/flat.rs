//! Directories with very many entries, which several movers share.

use testkit::skip::{Need, can};

use crate::place::{Mover, Place, wait_until};

/// More than one mover's share of a directory.
const FILES: usize = 20_000;
const SLOWLY: [&str; 5] = ["--delete", "--bwlimit", "400kB/s", "--lease", "2s"];

fn name(number: usize) -> String {
    format!("file-{number:05}-with-a-name-of-some-length")
}

/// Files of a few bytes, with directories, names of one file and a symlink among them.
fn flat(place: &Place, dir: &str) {
    std::fs::create_dir_all(place.path(dir)).unwrap();
    for number in 0..FILES {
        std::fs::write(place.path(&format!("{dir}/{}", name(number))), format!("{number:050}")).unwrap();
    }
    for number in (0..FILES).step_by(2_500) {
        place.write(&format!("{dir}/file-{number:05}/below/it"), "in a range");
    }
    for (from, to) in [(7, "aaa"), (7, "zzz"), (19_000, "file-19000-again")] {
        let from = place.path(&format!("{dir}/{}", name(from)));
        std::fs::hard_link(from, place.path(&format!("{dir}/{to}"))).unwrap();
    }
    std::os::unix::fs::symlink("nowhere", place.path(&format!("{dir}/link"))).unwrap();
}

/// Waits until two movers have ranges at the same time: each has one at most.
#[track_caller]
fn both_are_in_it(place: &Place, movers: &mut [Mover]) {
    wait_until("two movers have ranges", || {
        let over = movers.iter_mut().all(|mover| mover.child.try_wait().unwrap().is_some());
        assert!(!over, "they ended before two were in it: {}", movers[0].said());
        place.taken_ranges() >= 2
    });
}

fn one_directory(place: &Place, dir: &str) {
    flat(place, dir);
    let mut movers = [place.start(&SLOWLY), place.start(&SLOWLY)];
    both_are_in_it(place, &mut movers);
    for mut mover in movers {
        let record = mover.record(0);
        assert_eq!(record["entries"]["copied"], FILES + 8, "{record}");
    }
    place.assert_equal();
    // What goes and comes is brought over, and nothing else is read.
    let path = |number: usize| place.path(&format!("{dir}/{}", name(number)));
    (0..FILES).step_by(400).for_each(|number| std::fs::remove_file(path(number)).unwrap());
    (1..FILES).step_by(1_000).for_each(|number| std::fs::write(path(number), "changed").unwrap());
    place.write(&format!("{dir}/zzzz"), "new");
    let record = place.move_by(2, &["--delete", "--max-delete", "50"]).remove(0);
    assert_eq!(record["entries"]["deleted"], 50, "{record}");
    assert_eq!(record["entries"]["copied"], 21, "{record}");
    assert_eq!(record["bytes"]["read_bytes"], 7 * 20 + 3, "{record}");
    place.assert_equal();
    let record = place.move_by(2, &["--delete", "--max-delete", "50"]).remove(0);
    assert_eq!(
        (&record["bytes"]["read_bytes"], &record["state"]),
        (&0.into(), &"complete".into()),
        "{record}"
    );
    place.assert_equal();
}

#[test]
fn movers_of_one_host_share_a_directory_of_many_files() {
    one_directory(&Place::on_one_host(), "source");
}

#[test]
fn movers_of_several_hosts_share_a_directory_of_many_files() {
    if can("PostgreSQL", &[Need::Server("postgres")]) {
        one_directory(&Place::over_hosts(), "source/above/flat");
    }
}

fn one_dies(place: &Place) {
    flat(place, "source/flat");
    (0..3).for_each(|number| place.write(&format!("source/other/{number}"), "x"));
    // What only the destination has goes, wherever its name lies.
    for name in ["!first", "file-09000-only-here", "zzzz"] {
        place.write(&format!("destination/flat/{name}"), "old");
    }
    let mut movers = [place.start(&SLOWLY), place.start(&SLOWLY)];
    both_are_in_it(place, &mut movers);
    let [mut first, mut second] = movers;
    let copied = || std::fs::read_dir(place.path("destination/flat")).unwrap().count();
    wait_until("some of it is there", || copied() > 100);
    first.child.kill().unwrap();
    let mut third = place.start(&SLOWLY);
    let record = second.record(0);
    assert_eq!(record["state"], "complete", "{record}");
    assert_eq!(record["entries"]["deleted"], 3, "{record}");
    third.record(0);
    place.assert_equal();
    let record = place.start(&SLOWLY).record(0);
    assert_eq!(record["bytes"]["read_bytes"], 0, "{record}");
}

#[test]
fn a_range_of_a_killed_mover_is_taken_over_on_one_host() {
    one_dies(&Place::on_one_host());
}

#[test]
fn a_range_of_a_killed_mover_is_taken_over_over_hosts() {
    if can("PostgreSQL", &[Need::Server("postgres")]) {
        one_dies(&Place::over_hosts());
    }
}

#[test]
fn drafts_of_dead_movers_go_from_a_shared_directory_and_those_of_others_stay() {
    let place = Place::on_one_host();
    flat(&place, "source");
    // All die, again and again: each time ranges are listed in which others are at work.
    for _ in 0..3 {
        let mut movers = [place.start(&SLOWLY), place.start(&SLOWLY), place.start(&SLOWLY)];
        both_are_in_it(&place, &mut movers);
        std::thread::sleep(std::time::Duration::from_millis(300));
        movers.iter_mut().for_each(|mover| mover.child.kill().unwrap());
    }
    let records = place.move_by(3, &["--delete", "--lease", "2s"]);
    assert!(records.iter().all(|record| record["entries"]["failed"] == 0), "{records:?}");
    place.assert_equal();
}

#[test]
fn movers_share_a_directory_of_many_directories() {
    let place = Place::on_one_host();
    for number in 0..4_500 {
        place.write(&format!("source/{number:04}/one"), format!("{number:0500}"));
    }
    (0..5).for_each(|number| place.write(&format!("source/0100/deep/{number}"), "x"));
    let mut movers = [place.start(&SLOWLY), place.start(&SLOWLY)];
    both_are_in_it(&place, &mut movers);
    movers.into_iter().for_each(|mut mover| assert_eq!(mover.record(0)["entries"]["copied"], 4_505));
    place.assert_equal();
    std::fs::remove_dir_all(place.source().join("0100")).unwrap();
    std::fs::remove_dir_all(place.source().join("4400")).unwrap();
    place.write("source/2000/two", "new");
    let record = place.move_by(2, &["--delete"]).remove(0);
    assert_eq!(record["entries"]["deleted"], 10, "{record}");
    place.assert_equal();
}

#[test]
fn files_beside_directories_are_not_left_to_the_last() {
    let place = Place::on_one_host();
    for number in 0..2_000 {
        place.write(&format!("source/loose-{number}"), format!("{number:0500}"));
    }
    for part in 0..3 {
        place.write(&format!("source/{part}/a/b/c"), "deep");
        place.write(&format!("source/{part}/d/e"), "deep");
    }
    std::fs::hard_link(place.source().join("1/d/e"), place.source().join("loose-link")).unwrap();
    let mut movers = [place.start(&SLOWLY), place.start(&SLOWLY)];
    wait_until("its files are in ranges", || place.taken_ranges() >= 1);
    movers.iter_mut().for_each(|mover| drop(mover.record(0)));
    place.assert_equal();
    // A directory comes, another goes, a third changes: times above them are still those of the source.
    std::fs::remove_dir_all(place.source().join("0")).unwrap();
    place.write("source/3/new", "x");
    place.write("source/1/a/new", "x");
    std::fs::remove_file(place.source().join("loose-7")).unwrap();
    place.move_by(2, &["--delete"]);
    place.assert_equal();
    // Below the bound they are the rest's again.
    (8..1_700).for_each(|number| {
        std::fs::remove_file(place.source().join(format!("loose-{number}"))).unwrap();
    });
    place.move_by(2, &["--delete", "--max-delete", "2000"]);
    place.assert_equal();
}
