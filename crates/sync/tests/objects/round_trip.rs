//! To a store and back: nothing of what others lose is lost.

use std::path::{Path, PathBuf};

use testkit::servers::{self, Server};
use testkit::skip::{Need, can};
use testkit::trees::{Random, trap_tree};

use crate::job::{Place, assert_equal};

/// To the store and back, and again when nothing changed, and again when something did.
fn there_and_back(server: &Server) {
    let place = Place::new(server);
    let (source, back) = (place.path("source"), place.path("back"));
    trap_tree(&source);
    let (up, down) = (place.order(&source, &place.location("p")), place.order(&place.location("p"), &back));
    place.run_well(&up);
    place.run_well(&down);
    assert_equal(&source, &back);
    let sparse = std::os::unix::fs::MetadataExt::blocks(&back.join("sparse").metadata().unwrap());
    assert!(sparse * 512 < 16 << 20, "holes became data");
    for order in [&up, &down] {
        let report = place.run_well(order);
        assert_eq!(report.bytes("sent_bytes"), 0, "{report:#?}");
        assert_eq!(report.entries("copied") + report.entries("made") + report.entries("failed"), 0);
    }
    assert_equal(&source, &back);
}

/// Random trees, with changes and deletes between the syncs.
fn changes_follow(server: &Server) {
    let place = Place::new(server);
    let (source, back) = (place.path("source"), place.path("back"));
    let (mut up, mut down) =
        (place.order(&source, &place.location("q")), place.order(&place.location("q"), &back));
    for order in [&mut up, &mut down] {
        (order.delete, order.most) = (true, Some(100_000));
    }
    let mut random = Random::new(11);
    random.largest = 300_000;
    random.grow(&source, 50);
    for round in 0..4 {
        place.run_well(&up);
        finish(&place, &down);
        assert_equal(&source, &back);
        if round == 2 {
            std::fs::remove_dir_all(&down.state).unwrap();
        }
        random.change(&source, 15);
    }
}

/// A directory that is a file now is in the way: removed as the hint says, until nothing is.
fn finish(place: &Place, order: &crate::job::Order) {
    for _ in 0..4 {
        let report = place.run(order);
        if report.record["state"] == "complete" {
            return;
        }
        for line in report.told.iter().filter(|line| line.starts_with("failed ")) {
            assert!(line.contains("cannot replace the directory"), "{report:#?}");
            std::fs::remove_dir_all(line.split('`').nth(1).unwrap()).unwrap();
        }
    }
    panic!("it never ends");
}

#[test]
fn a_tree_of_traps_goes_to_s3_and_back() {
    if !can("a tree of traps", &[Need::Root]) {
        return;
    }
    let Some(server) = servers::s3("a tree of traps in S3") else { return };
    there_and_back(&server);
}

#[test]
fn a_tree_of_traps_goes_to_azure_and_back() {
    if !can("a tree of traps", &[Need::Root]) {
        return;
    }
    let Some(server) = servers::azurite("a tree of traps in Azure") else { return };
    there_and_back(&server);
}

#[test]
fn changes_and_deletes_follow_to_s3_and_back() {
    let Some(server) = servers::s3("changes in S3") else { return };
    changes_follow(&server);
}

/// The content stays, so its tag stays, and a store's clock has whole seconds: only looking at the labels tells.
#[test]
fn attributes_that_change_within_a_second_follow() {
    use std::os::unix::fs::PermissionsExt as _;

    let Some(server) = servers::s3("changes of attributes in S3") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    std::fs::create_dir_all(source.join("dir")).unwrap();
    for name in ["file", "dir/one"] {
        std::fs::write(source.join(name), name).unwrap();
    }
    std::fs::hard_link(source.join("dir/one"), source.join("dir/two")).unwrap();
    std::os::unix::fs::symlink("target", source.join("link")).unwrap();
    let (up, down) = (place.order(&source, &place.location("t")), place.order(&place.location("t"), &back));
    for mode in [0o700, 0o750, 0o711, 0o755, 0o770] {
        for name in ["file", "dir", "dir/one"] {
            std::fs::set_permissions(source.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        place.run_well(&up);
        place.run_well(&down);
        assert_equal(&source, &back);
    }
    let report = place.run_well(&down);
    assert_eq!(report.entries("copied") + report.bytes("sent_bytes"), 0, "{report:#?}");
    assert_equal(&source, &back);
}

/// The store makes a large object anew of itself, with other labels; a small one is sent again.
#[test]
fn attributes_of_large_files_change_in_s3_without_their_content() {
    use std::os::unix::fs::PermissionsExt as _;

    let Some(server) = servers::s3("attributes of large files in S3") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    std::fs::create_dir_all(source.join("dir")).unwrap();
    let names = ["dir/large", "touched", "renamed", "changed", "theirs"];
    for (number, name) in names.iter().enumerate() {
        std::fs::write(source.join(name), vec![number as u8 + 1; (9 << 20) + number]).unwrap();
    }
    std::fs::write(source.join("small"), vec![7; 1000]).unwrap();
    let rest = || std::thread::sleep(std::time::Duration::from_millis(60));
    rest();
    let (up, down) = (place.order(&source, &place.location("p")), place.order(&place.location("p"), &back));
    let up = crate::job::Order { delete: true, ..up };
    place.run_well(&up);
    rest();
    let mode = |name: &str| {
        std::fs::set_permissions(source.join(name), std::fs::Permissions::from_mode(0o604)).unwrap();
    };
    names.iter().for_each(|name| mode(name));
    mode("small");
    std::fs::rename(source.join("renamed"), source.join("dir/new")).unwrap();
    let open = |name: &str| std::fs::File::options().write(true).open(source.join(name)).unwrap();
    open("touched").set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    // Content that changed with its time put back is no change of attributes.
    let time = open("changed").metadata().unwrap().modified().unwrap();
    std::fs::write(source.join("changed"), vec![99; (9 << 20) + 3]).unwrap();
    open("changed").set_modified(time).unwrap();
    // Neither is it one where somebody else wrote the object.
    let other = place.path("other");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("theirs"), vec![98; (9 << 20) + 4]).unwrap();
    place.run_well(&place.order(&other, &place.location("p")));
    let report = place.run_well(&up);
    assert_eq!(report.bytes("sent_bytes"), 2 * (9 << 20) + 7 + 1000, "{report:#?}");
    assert_eq!((report.entries("updated"), report.entries("moved")), (2, 1), "{report:#?}");
    place.run_well(&down);
    assert_equal(&source, &back);
    let again = place.run_well(&up);
    assert_eq!(again.bytes("sent_bytes") + again.entries("updated"), 0, "{again:#?}");
    // Read back where that is asked for.
    std::fs::set_permissions(source.join("touched"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let up = crate::job::Order { verify: Some(sync::Verify::Transferred), ..up };
    let report = place.run_well(&up);
    assert_eq!((report.bytes("sent_bytes"), report.entries("updated")), (0, 1), "{report:#?}");
    place.run_well(&down);
    assert_equal(&source, &back);
}

#[test]
fn a_tree_goes_from_store_to_store() {
    if !can("a tree of traps", &[Need::Root]) {
        return;
    }
    let Some(s3) = servers::s3("from S3 to Azure") else { return };
    let Some(azure) = servers::azurite("from S3 to Azure") else { return };
    let place = Place::new(&s3).and(&azure);
    let (source, back) = (place.path("source"), place.path("back"));
    small_trap_tree(&source);
    let other = PathBuf::from(format!("{}r", azure.url));
    let again = place.location("again");
    let orders = [
        place.order(&source, &place.location("q")),
        place.order(&place.location("q"), &other),
        place.order(&other, &again),
        place.order(&again, &back),
    ];
    orders.iter().for_each(|order| drop(place.run_well(order)));
    assert_equal(&source, &back);
    let report = place.run_well(&orders[1]);
    assert_eq!((report.bytes("sent_bytes"), report.entries("copied")), (0, 0), "{report:#?}");
}

/// Without the file of a gibibyte of holes, which would travel four times.
fn small_trap_tree(root: &Path) {
    trap_tree(root);
    let file = std::fs::File::options().write(true).open(root.join("sparse")).unwrap();
    file.set_len(3 << 20).unwrap();
}

#[test]
fn what_others_wrote_becomes_a_tree() {
    let Some(server) = servers::s3("objects of others") else { return };
    let place = Place::new(&server);
    let source = place.path("source");
    std::fs::create_dir_all(source.join("a/b")).unwrap();
    std::fs::write(source.join("a/b/c"), "content").unwrap();
    place.run_well(&place.order(&source, &place.location("x/y")));
    // Seen from above there are no marks: the directories follow from the keys.
    let back = place.path("back");
    place.run_well(&place.order(&place.location(""), &back));
    assert_eq!(std::fs::read_to_string(back.join("x/y/a/b/c")).unwrap(), "content");
}
