//! Large files of which both sides have a copy: what differs travels, and what arrives is the same whatever the way.

use serde_json::Value;

use super::Hosts;

const SIZE: usize = 24 << 20;

fn content(seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut bytes = vec![0; SIZE];
    random.fill(&mut bytes);
    bytes
}

fn sent(record: &Value) -> u64 {
    record["bytes"]["sent_bytes"].as_u64().unwrap()
}

/// There and back: the file goes to the host, and from there to another place here.
fn both_ways(hosts: &Hosts, flags: &[&str]) -> [u64; 2] {
    let record = hosts.sync_well(&hosts.tree(0, "source"), &hosts.tree(1, "far"), flags);
    let back = hosts.sync_well(&hosts.tree(1, "far"), &hosts.tree(0, "back"), flags);
    hosts.assert_equal("source", "far");
    hosts.assert_equal("source", "back");
    [sent(&record), sent(&back)]
}

fn change(hosts: &Hosts, bytes: &[u8]) {
    std::fs::create_dir_all(hosts.path("source")).unwrap();
    std::fs::write(hosts.path("source/large"), bytes).unwrap();
}

#[test]
fn only_what_differs_travels_to_a_host_and_back() {
    let Some(hosts) = Hosts::new("deltas over ssh", 1) else { return };
    let mut bytes = content(1);
    change(&hosts, &bytes);
    assert_eq!(both_ways(&hosts, &[]), [SIZE as u64; 2]);
    // Where it stands: two leaves.
    bytes[5_000_000] ^= 1;
    bytes[20_000_000] ^= 1;
    change(&hosts, &bytes);
    assert_eq!(both_ways(&hosts, &[]), [2 << 16; 2]);
    // What moved is found again: the chunks around the edit and no more.
    bytes.splice(100_000..100_000, *b"inserted");
    change(&hosts, &bytes);
    for sent in both_ways(&hosts, &[]) {
        assert!(sent < 1 << 20, "{sent}");
    }
    // What became shorter.
    bytes.drain(7_000_000..7_500_000);
    change(&hosts, &bytes);
    for sent in both_ways(&hosts, &["--delta", "content"]) {
        assert!(sent < 1 << 20, "{sent}");
    }
    bytes[9] ^= 1;
    change(&hosts, &bytes);
    assert_eq!(both_ways(&hosts, &["--delta", "off"]), [bytes.len() as u64; 2]);
}

#[test]
fn new_content_and_holes_arrive_whatever_the_way() {
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};
    let Some(hosts) = Hosts::new("new content over ssh", 1) else { return };
    change(&hosts, &content(1));
    both_ways(&hosts, &[]);
    for (seed, rule) in [(2, "auto"), (3, "fixed"), (4, "content")] {
        change(&hosts, &content(seed));
        both_ways(&hosts, &["--delta", rule]);
    }
    let file = std::fs::File::create(hosts.path("source/large")).unwrap();
    file.set_len(SIZE as u64 + 3).unwrap();
    for (at, rule) in [(9_000_000, "auto"), (12_000_000, "fixed"), (2_000_000, "content")] {
        file.write_at(b"some data", at).unwrap();
        both_ways(&hosts, &["--delta", rule]);
        for tree in ["far/large", "back/large"] {
            let taken = hosts.path(tree).metadata().unwrap().blocks() * 512;
            assert!(taken < 2 << 20, "holes became data in {tree} by {rule}: {taken}");
        }
    }
}

/// What the index says of a copy that somebody changed is not what the copy is.
#[test]
fn a_copy_that_somebody_changed_is_no_trap() {
    let Some(hosts) = Hosts::new("changed copies over ssh", 1) else { return };
    let mut bytes = content(1);
    change(&hosts, &bytes);
    both_ways(&hosts, &[]);
    for (round, rule) in ["auto", "fixed", "content"].into_iter().enumerate() {
        std::fs::write(hosts.path("far/large"), content(10 + round as u64)).unwrap();
        std::fs::write(hosts.path("back/large"), &bytes[..SIZE / 3]).unwrap();
        bytes[round * 1000] ^= 1;
        change(&hosts, &bytes);
        both_ways(&hosts, &["--delta", rule]);
    }
}

#[test]
fn every_way_to_compress_ends_at_the_same_tree() {
    let Some(hosts) = Hosts::new("compression over ssh", 1) else { return };
    hosts.fill("source", 20, 30_000);
    std::fs::write(hosts.path("source/text"), b"all work and no play ".repeat(600_000)).unwrap();
    std::fs::write(hosts.path("source/noise"), &content(5)[..9 << 20]).unwrap();
    for how in ["auto", "zstd", "lz4", "off"] {
        let (far, back) = (format!("far-{how}"), format!("back-{how}"));
        hosts.sync_well(&hosts.tree(0, "source"), &hosts.tree(1, &far), &["--compress", how]);
        hosts.sync_well(&hosts.tree(1, &far), &hosts.tree(0, &back), &["--compress", how]);
        hosts.assert_equal("source", &far);
        hosts.assert_equal("source", &back);
    }
}
