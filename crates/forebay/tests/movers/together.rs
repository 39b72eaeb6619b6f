//! What several movers make is what one makes.

use std::os::unix::fs::MetadataExt as _;

use serde_json::Value;
use testkit::skip::{Need, can};
use testkit::trees::{Random, trap_tree};

use crate::place::Place;

const FLAGS: [&str; 3] = ["--special-files", "--max-delete", "100000"];

fn flags(more: &[&'static str]) -> Vec<&'static str> {
    FLAGS.into_iter().chain(["--delete"]).chain(more.iter().copied()).collect()
}

fn one_tree(place: &Place) {
    let mut random = Random::new(51);
    random.grow(&place.source(), 150);
    let flags = flags(&[]);
    let records = place.move_by(3, &flags);
    place.assert_equal();
    // Whoever was there to the end has the record of all.
    let copied = |record: &Value| record["entries"]["copied"].as_u64().unwrap();
    assert!(records.iter().any(|record| copied(record) > 10), "{records:?}");
    assert!(
        !place
            .destination()
            .read_dir()
            .unwrap()
            .any(|entry| { entry.unwrap().file_name().to_string_lossy().starts_with(".forebay") })
    );
    for _ in 0..4 {
        random.change(&place.source(), 40);
        place.move_by(2, &flags);
        place.assert_equal();
    }
    // Where the tree is divided otherwise than before, names in several parts are copied anew, once.
    place.move_by(1, &flags);
    // What is known is known to all: nothing is read again.
    let record = place.move_by(1, &flags).remove(0);
    assert_eq!(record["state"], "complete", "{record}");
    assert_eq!(record["bytes"]["read_bytes"], 0, "{record}");
}

#[test]
fn movers_of_one_host_make_one_tree() {
    one_tree(&Place::on_one_host());
}

#[test]
fn movers_of_several_hosts_make_one_tree() {
    if can("PostgreSQL", &[Need::Server("postgres")]) {
        one_tree(&Place::over_hosts());
    }
}

#[test]
fn movers_copy_a_tree_of_traps_whole() {
    let place = Place::on_one_host();
    trap_tree(&place.source());
    place.move_by(2, &flags(&[]));
    place.assert_equal();
}

#[test]
fn names_of_a_file_in_several_parts_stay_one_file() {
    let place = Place::on_one_host();
    for part in 0..6 {
        place.write(&format!("source/{part}/own"), format!("{part}"));
    }
    place.write("source/0/a", "one file");
    let link = |from: &str, to: &str| {
        std::fs::hard_link(place.source().join(from), place.source().join(to)).unwrap();
    };
    ["3/b", "5/c", "d"].iter().for_each(|to| link("0/a", to));
    // And one whose names are all in one part.
    ["2/same", "2/again"].iter().for_each(|to| link("2/own", to));
    place.move_by(2, &flags(&[]));
    place.assert_equal();
    let inode = |name: &str| std::fs::metadata(place.destination().join(name)).unwrap().ino();
    ["3/b", "5/c", "d"].iter().for_each(|name| assert_eq!(inode(name), inode("0/a"), "{name}"));
    // A name that goes, one that comes, and content that changes in the middle.
    std::fs::remove_file(place.source().join("0/a")).unwrap();
    link("3/b", "4/e");
    std::fs::write(place.source().join("5/c"), "another").unwrap();
    place.move_by(2, &flags(&[]));
    place.assert_equal();
    ["3/b", "4/e", "d"].iter().for_each(|name| assert_eq!(inode(name), inode("5/c"), "{name}"));
}

#[test]
fn deletes_are_counted_over_all_parts() {
    let place = Place::on_one_host();
    for part in 0..8 {
        (0..10).for_each(|number| place.write(&format!("source/{part}/{number}"), "x"));
    }
    place.move_by(1, &["--delete"]);
    for part in 0..8 {
        (0..3).for_each(|number| {
            std::fs::remove_file(place.source().join(format!("{part}/{number}"))).unwrap();
        });
    }
    place.write("source/7/new", "copied all the same");
    let said = place.start(&["--delete", "--max-delete", "23"]).ended(1);
    assert!(said.contains("24 entries") && said.contains("more than the 23"), "{said}");
    assert!(place.destination().join("0/0").exists() && place.destination().join("7/new").exists());
    let record = place.move_by(2, &["--delete", "--max-delete", "24"]).remove(0);
    place.assert_equal();
    assert!(record["entries"]["deleted"].as_u64() <= Some(24), "{record}");
}

#[test]
fn what_a_file_had_in_its_way_goes_first() {
    let place = Place::on_one_host();
    for part in ["a", "b", "c"] {
        place.write(&format!("source/{part}/own"), part);
        place.write(&format!("source/{part}/swap/inside"), part);
    }
    place.move_by(1, &flags(&[]));
    std::fs::remove_dir_all(place.source().join("a/swap")).unwrap();
    place.write("source/a/swap", "a file now");
    std::fs::remove_dir_all(place.source().join("c")).unwrap();
    place.write("source/c", "a file, too");
    place.move_by(2, &flags(&[]));
    place.assert_equal();
}

#[test]
fn movers_with_other_options_are_refused() {
    let place = Place::on_one_host();
    for part in 0..4 {
        (0..5).for_each(|number| place.write(&format!("source/{part}/{number}"), vec![0; 200_000]));
    }
    let slow = ["--bwlimit", "200kB/s"];
    let _mover = place.start(&slow);
    crate::place::wait_until("something is copied", || place.destination().join("0").exists());
    let said = place.start(&["--bwlimit", "200kB/s", "--delete"]).ended(1);
    assert!(said.contains("with other options") && said.contains("the same command"), "{said}");
    // One process alone is kept out as well.
    let mut alone = std::process::Command::new(env!("CARGO_BIN_EXE_forebay"));
    alone.arg("sync").arg(place.source()).arg(place.destination()).arg("--state").arg(place.path("alone"));
    let output = alone.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("another sync is writing"), "{output:?}");
}

#[test]
fn what_several_movers_can_not_do_is_refused() {
    let place = Place::on_one_host();
    place.write("source/a", "one");
    for (flags, words) in [
        (&["--watch"][..], "several movers can't do a watch"),
        (&["--state", "sqlite:"], "names no file"),
        (&["--state", "postgres://me:hush@host/db"], "has a password in it"),
        (&["--state", "postgres://me@127.0.0.1:1/db"], "cannot use the queue"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.arg("sync").arg(place.source()).arg(place.destination()).args(flags);
        if !flags.contains(&"--state") {
            command.args(["--state", &place.url()]);
        }
        let output = command.env("XDG_STATE_HOME", place.path("states")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(words), "{flags:?}: {said}");
        assert!(said.contains("hint: ") && !said.contains("hush"), "{said}");
    }
}
