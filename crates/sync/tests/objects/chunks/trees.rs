//! To chunks and back: nothing of what others lose is lost.

use std::path::Path;

use sync::Layout;
use testkit::servers::{self, Server};
use testkit::skip::{Need, can};
use testkit::trees::{Random, trap_tree};

use super::up;
use crate::job::{Order, Place, assert_equal};

fn there_and_back(server: &Server) {
    let place = Place::new(server);
    let (source, back) = (place.path("source"), place.path("back"));
    trap_tree(&source);
    let (up, down) = (up(&place, &source, "p"), place.order(&place.location("p"), &back));
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

#[test]
fn a_tree_of_traps_goes_to_chunks_in_s3_and_back() {
    if !can("a tree of traps as chunks", &[Need::Root]) {
        return;
    }
    let Some(server) = servers::s3("a tree of traps as chunks in S3") else { return };
    there_and_back(&server);
}

#[test]
fn a_tree_of_traps_goes_to_chunks_in_azure_and_back() {
    if !can("a tree of traps as chunks", &[Need::Root]) {
        return;
    }
    let Some(server) = servers::azurite("a tree of traps as chunks in Azure") else { return };
    there_and_back(&server);
}

#[test]
fn random_changes_follow_to_chunks_and_back() {
    let Some(server) = servers::s3("random changes in chunks") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    let (mut up, mut down) = (up(&place, &source, "q"), place.order(&place.location("q"), &back));
    for order in [&mut up, &mut down] {
        (order.delete, order.most) = (true, Some(100_000));
    }
    let mut random = Random::new(21);
    random.largest = 300_000;
    random.grow(&source, 50);
    for round in 0..6 {
        place.run_well(&up);
        finish(&place, &down);
        assert_equal(&source, &back);
        match round {
            1 => std::fs::remove_dir_all(&up.state).unwrap(),
            2 => std::fs::remove_dir_all(&down.state).unwrap(),
            3 => up.prune = Some(1),
            _ => {}
        }
        random.change(&source, 15);
    }
}

fn finish(place: &Place, order: &Order) {
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

fn tree(root: &Path) {
    std::fs::create_dir_all(root.join("d")).unwrap();
    std::fs::write(root.join("d/one"), b"one").unwrap();
    std::fs::write(root.join("two"), vec![2; 100_000]).unwrap();
}

#[test]
fn chunks_become_files_in_another_bucket_and_chunks_again() {
    let Some(server) = servers::s3("from chunks to files") else { return };
    let Some(other) = servers::azurite("from chunks to files") else { return };
    let place = Place::new(&server).and(&other);
    let (source, back) = (place.path("source"), place.path("back"));
    let mut random = Random::new(3);
    random.grow(&source, 40);
    let files = std::path::PathBuf::from(format!("{}files", other.url));
    place.run_well(&up(&place, &source, "p"));
    place.run_well(&place.order(&place.location("p"), &files));
    place.run_well(&Order { layout: Some(Layout::Chunks), ..place.order(&files, &place.location("again")) });
    place.run_well(&place.order(&place.location("again"), &back));
    assert_equal(&source, &back);
}

#[test]
fn a_prefix_keeps_the_layout_it_has() {
    let Some(server) = servers::s3("layouts") else { return };
    let place = Place::new(&server);
    let source = place.path("source");
    tree(&source);
    let files = |order: &Order| Order { layout: Some(Layout::Files), ..order.clone() };
    place.run_well(&place.order(&source, &place.location("files")));
    place.run_well(&up(&place, &source, "chunks"));
    let refused = |order: &Order, words: &str| {
        let error = place.run(order).error.unwrap();
        assert!(error.contains(words) && !error.contains("no hint"), "{error}");
    };
    refused(&up(&place, &source, "files"), "holds files");
    refused(&files(&up(&place, &source, "chunks")), "holds a chunk store");
    refused(&files(&place.order(&place.location("chunks"), &place.path("back"))), "holds a chunk store");
    let from_files = place.order(&place.location("files"), &place.path("back"));
    refused(&Order { layout: Some(Layout::Chunks), ..from_files.clone() }, "is no chunk store");
    refused(&Order { manifest: Some(1), ..from_files }, "is no chunk store");
    refused(&Order { prune: Some(1), ..place.order(&source, &place.location("files")) }, "is no chunk store");
    refused(&up(&place, &source, "../no"), "");
    let here = place.order(&source, &place.path("back"));
    refused(&Order { layout: Some(Layout::Chunks), ..here }, "needs a place in an object store");
    // Without the flag it is seen, in both directions.
    std::fs::write(source.join("three"), b"three").unwrap();
    place.run_well(&place.order(&source, &place.location("chunks")));
    place.run_well(&place.order(&place.location("chunks"), &place.path("back")));
    assert_equal(&source, &place.path("back"));
}

#[test]
fn a_dry_run_makes_no_chunk_store() {
    let Some(server) = servers::s3("a dry run of chunks") else { return };
    let place = Place::new(&server);
    let source = place.path("source");
    tree(&source);
    let order = Order { dry_run: true, ..up(&place, &source, "p") };
    let report = place.run_well(&order);
    assert!(report.told.iter().any(|line| line == "create d/one"), "{report:#?}");
    assert!(super::listed(&server, "p", "").is_empty());
}

#[test]
fn an_older_manifest_gives_the_older_tree() {
    let Some(server) = servers::s3("older trees") else { return };
    let place = Place::new(&server);
    let (source, old) = (place.path("source"), place.path("old"));
    tree(&source);
    let order = Order { delete: true, ..up(&place, &source, "p") };
    place.run_well(&order);
    place.run_well(&place.order(&source, &old));
    std::fs::remove_file(source.join("two")).unwrap();
    std::fs::write(source.join("d/one"), b"another").unwrap();
    place.run_well(&order);
    let back = place.path("back");
    let down = place.order(&place.location("p"), &back);
    place.run_well(&Order { manifest: Some(1), ..down.clone() });
    assert_equal(&old, &back);
    place.run_well(&Order { delete: true, ..down.clone() });
    assert_equal(&source, &back);
    let error = place.run(&Order { manifest: Some(9), ..down }).error.unwrap();
    assert!(error.contains("no manifest 9") && error.contains("from 1 to 2"), "{error}");
}
