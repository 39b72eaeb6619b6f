//! How much is sent and kept, in bytes and objects.

use std::io::Write as _;
use std::os::unix::fs::FileExt as _;

use testkit::servers;

use super::{listed, noise, up};
use crate::job::{Order, Place, assert_equal};

const MIB: u64 = 1 << 20;

#[test]
fn what_changes_in_a_large_file_is_sent_and_nothing_else() {
    let Some(server) = servers::s3("deltas of chunks") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    std::fs::create_dir(&source).unwrap();
    let content = noise(48 << 20, 1);
    std::fs::write(source.join("large"), &content).unwrap();
    let (up, down) = (up(&place, &source, "p"), place.order(&place.location("p"), &back));
    assert!(place.run_well(&up).bytes("sent_bytes") >= 48 * MIB);
    place.run_well(&down);
    // One byte more at the front: the first chunk is another, and no further one.
    std::fs::write(source.join("large"), [&b"x"[..], &content].concat()).unwrap();
    let report = place.run_well(&up);
    assert!(report.bytes("sent_bytes") < 5 * MIB, "{report:#?}");
    assert!(report.bytes("saved_bytes") > 43 * MIB, "{report:#?}");
    let report = place.run_well(&down);
    assert!(report.bytes("sent_bytes") < 5 * MIB, "{report:#?}");
    assert_equal(&source, &back);
    // A byte in the middle.
    let file = std::fs::File::options().write(true).open(source.join("large")).unwrap();
    file.write_at(b"abc", 20_000_000).unwrap();
    drop(file);
    assert!(place.run_well(&up).bytes("sent_bytes") < 5 * MIB);
    assert!(place.run_well(&down).bytes("sent_bytes") < 5 * MIB);
    // More at the end.
    let mut file = std::fs::File::options().append(true).open(source.join("large")).unwrap();
    file.write_all(b"the end").unwrap();
    drop(file);
    assert!(place.run_well(&up).bytes("sent_bytes") < 5 * MIB);
    place.run_well(&down);
    assert_equal(&source, &back);
}

#[test]
fn the_same_content_is_kept_once() {
    let Some(server) = servers::s3("dedup") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    let content = noise(9 << 20, 2);
    for number in 0..5 {
        let dir = source.join(number.to_string());
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("same"), &content).unwrap();
        std::fs::write(dir.join("small"), &content[..50_000]).unwrap();
    }
    let order = up(&place, &source, "p");
    let report = place.run_well(&order);
    assert!(report.bytes("sent_bytes") < 10 * MIB, "{report:#?}");
    // A new name for known content, and a directory that moved.
    std::fs::write(source.join("again"), &content).unwrap();
    std::fs::rename(source.join("3"), source.join("moved")).unwrap();
    let report = place.run_well(&Order { delete: true, ..order });
    assert!(report.bytes("sent_bytes") < MIB / 8, "{report:#?}");
    place.run_well(&place.order(&place.location("p"), &back));
    assert_equal(&source, &back);
}

#[test]
fn small_files_share_packs_and_come_back_together() {
    let Some(server) = servers::s3("small files in packs") else { return };
    let proxy = servers::Proxy::new(server.address(), |_, _| None);
    let place = Place::new(&server).with_variables(server.variables_through(&proxy));
    let (source, back) = (place.path("source"), place.path("back"));
    for number in 0..4000u64 {
        let dir = source.join(format!("d{}", number % 40));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(number.to_string()), noise(700, number)).unwrap();
    }
    place.run_well(&up(&place, &source, "p"));
    let objects = listed(&server, "p", "");
    assert!(objects.len() < 10, "{objects:#?}");
    let before = proxy.requests();
    place.run_well(&place.order(&place.location("p"), &back));
    assert!(proxy.requests() - before < 400, "{}", proxy.requests() - before);
    assert_equal(&source, &back);
}

#[test]
fn a_change_in_a_tree_of_many_sends_a_part_of_the_list() {
    let Some(server) = servers::s3("a change among many") else { return };
    let place = Place::new(&server);
    let source = place.path("source");
    for number in 0..6000u64 {
        let dir = source.join(format!("d{}", number % 60));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(number.to_string()), noise(200, number)).unwrap();
    }
    let order = up(&place, &source, "p");
    let first = place.run_well(&order).bytes("sent_bytes");
    std::fs::write(source.join("d7/7"), b"changed").unwrap();
    let report = place.run_well(&order);
    assert_eq!(report.entries("copied"), 1, "{report:#?}");
    assert!(report.bytes("sent_bytes") < first / 8, "{first} {report:#?}");
    let nothing = place.run_well(&order);
    assert_eq!(nothing.bytes("sent_bytes"), 0, "{nothing:#?}");
    assert_eq!(listed(&server, "p", "manifests/").len(), 2);
}
