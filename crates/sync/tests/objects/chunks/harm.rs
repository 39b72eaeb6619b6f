//! Kills, damage, strangers: the old tree stays whole, and nothing torn arrives.

use std::time::{Duration, Instant};

use store::objects::Labels;
use sync::{Layout, Verify};
use testkit::servers;
use testkit::trees::{Random, picture};

use super::{listed, noise, open, up};
use crate::job::{Order, Place, assert_equal, assert_same};

const KILLS: u64 = 8;

#[test]
fn kills_on_the_way_to_chunks_leave_the_old_tree_whole() {
    let Some(server) = servers::s3("kills on the way to chunks") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    let mut up = up(&place, &source, "p");
    let mut down = place.order(&place.location("p"), &back);
    for order in [&mut up, &mut down] {
        (order.delete, order.most) = (true, Some(100_000));
    }
    let mut random = Random::new(8);
    random.largest = 6 << 20;
    random.grow(&source, 30);
    let started = Instant::now();
    place.run_well(&up);
    let whole = started.elapsed();
    for number in 0..KILLS {
        let before = picture(&source);
        random.change(&source, 10);
        let now = picture(&source);
        let mut child = place.spawn(&up);
        std::thread::sleep(whole.mul_f64(fastrand::Rng::with_seed(number).f64()));
        child.kill().unwrap();
        child.wait().unwrap();
        // A stranger sees the one or the other.
        let look = place.path("look");
        place.run_well(&place.order(&place.location("p"), &look));
        let seen = picture(&look);
        let is_one = |tree| testkit::trees::differences(tree, &seen).is_empty();
        assert!(is_one(&before) || is_one(&now), "kill {number}");
        std::fs::remove_dir_all(&look).unwrap();
        std::fs::remove_dir_all(&place.order(&place.location("p"), &look).state).unwrap();
        place.run_well(&up);
        place.run(&down);
        let again = place.run(&down);
        if again.record["state"] == "complete" {
            assert_same(&now, &picture(&back));
        } else {
            std::fs::remove_dir_all(&back).unwrap();
            std::fs::remove_dir_all(&down.state).unwrap();
            place.run_well(&down);
            assert_same(&now, &picture(&back));
        }
    }
}

#[test]
fn chunks_that_reached_the_store_are_not_sent_again() {
    let Some(server) = servers::s3("going on with chunks") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    std::fs::create_dir(&source).unwrap();
    for number in 0..8 {
        std::fs::write(source.join(number.to_string()), noise(12 << 20, number)).unwrap();
    }
    let order = up(&place, &source, "p");
    let mut child = place.spawn(&order);
    while listed(&server, "p", "packs/").len() < 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(listed(&server, "p", "manifests/").is_empty());
    let there: u64 = listed(&server, "p", "packs/").iter().map(|object| object.size).sum();
    let report = place.run_well(&order);
    assert!(report.bytes("sent_bytes") < (97 << 20) - there, "{there} {report:#?}");
    place.run_well(&place.order(&place.location("p"), &back));
    assert_equal(&source, &back);
}

#[test]
fn a_damaged_pack_fails_what_it_has_and_nothing_else() {
    let Some(server) = servers::s3("a damaged pack") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("first"), noise(300_000, 1)).unwrap();
    std::fs::write(source.join("tiny"), b"tiny").unwrap();
    let up = up(&place, &source, "p");
    place.run_well(&up);
    let packs = listed(&server, "p", "packs/");
    for (name, seed) in [("second", 2), ("large", 3)] {
        std::fs::write(source.join(name), noise(20 << 20, seed)).unwrap();
    }
    place.run_well(&up);
    let store = open(&server, "p");
    let large = packs.iter().max_by_key(|object| object.size).unwrap();
    let (_, bytes) = store.read_whole(&large.key, 64 << 20).unwrap();
    let mut damaged = bytes.to_vec();
    damaged[1000] ^= 1;
    store.write(&large.key, damaged.into(), &Labels::new()).unwrap();
    let down = place.order(&place.location("p"), &back);
    let report = place.run(&down);
    assert_eq!(report.record["state"], "partial", "{report:#?}");
    assert_eq!(report.entries("failed"), 1, "{report:#?}");
    assert!(report.told.iter().any(|line| line.contains("failed first: chunk")), "{report:#?}");
    assert!(!back.join("first").exists() && back.join("large").exists());
    // With the source there, it is found and sent again.
    let report = place.run_well(&Order { verify: Some(Verify::All), ..up });
    assert_eq!(report.entries("copied"), 1, "{report:#?}");
    place.run_well(&down);
    assert_equal(&source, &back);
}

#[test]
fn a_missing_pack_and_a_damaged_list_are_told() {
    let Some(server) = servers::s3("a missing pack") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("first"), noise(300_000, 1)).unwrap();
    let up = up(&place, &source, "p");
    place.run_well(&up);
    let packs = listed(&server, "p", "packs/");
    std::fs::write(source.join("second"), noise(300_000, 2)).unwrap();
    place.run_well(&up);
    let store = open(&server, "p");
    // A listing that is damaged costs nothing: packs say themselves what they have.
    let listing = listed(&server, "p", "index/").remove(0);
    store.write(&listing.key, b"nonsense".to_vec().into(), &Labels::new()).unwrap();
    place.run_well(&place.order(&place.location("p"), &back));
    assert_equal(&source, &back);
    let pack = packs.iter().max_by_key(|object| object.size).unwrap();
    store.delete(std::slice::from_ref(&pack.key)).unwrap();
    let other = place.path("other");
    let report = place.run(&place.order(&place.location("p"), &other));
    assert_eq!(report.record["state"], "partial", "{report:#?}");
    assert_eq!(std::fs::read(other.join("second")).unwrap(), noise(300_000, 2));
    assert!(!other.join("first").exists());
    let newest = listed(&server, "p", "manifests/").pop().unwrap();
    store.write(&newest.key, b"nonsense".to_vec().into(), &Labels::new()).unwrap();
    let error = place.run(&place.order(&place.location("p"), &other)).error.unwrap();
    assert!(error.contains("manifest 2 is damaged") && error.contains("--manifest"), "{error}");
}

#[test]
fn pruning_removes_what_nobody_needs_and_only_when_told() {
    let Some(server) = servers::s3("pruning") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    std::fs::create_dir(&source).unwrap();
    let order = Order { delete: true, ..up(&place, &source, "p") };
    for round in 0..4 {
        std::fs::write(source.join("changes"), noise(3 << 20, round)).unwrap();
        std::fs::write(source.join(format!("stays{round}")), noise(200_000, 90 + round)).unwrap();
        place.run_well(&order);
    }
    let before = listed(&server, "p", "");
    assert_eq!(listed(&server, "p", "manifests/").len(), 4);
    let dry = place.run_well(&Order { dry_run: true, prune: Some(2), ..order.clone() });
    let plan = "note would remove 2 manifests and ";
    assert!(dry.told.iter().any(|line| line.starts_with(plan)), "{dry:#?}");
    assert_eq!(listed(&server, "p", ""), before);
    place.run_well(&Order { prune: Some(2), ..order.clone() });
    assert_eq!(listed(&server, "p", "manifests/").len(), 2);
    let size = |objects: &[store::objects::Object]| objects.iter().map(|object| object.size).sum::<u64>();
    let after = listed(&server, "p", "packs/");
    assert!(size(&after) < size(&before), "{after:#?}");
    // Both trees that were kept are whole, and what stays is found and not sent again.
    for manifest in [3, 5] {
        let look = place.path(&format!("look{manifest}"));
        place.run_well(&Order { manifest: Some(manifest), ..place.order(&place.location("p"), &look) });
        assert_eq!(std::fs::read(look.join("stays0")).unwrap(), noise(200_000, 90));
    }
    std::fs::write(source.join("again"), noise(200_000, 91)).unwrap();
    assert!(place.run_well(&order).bytes("sent_bytes") < 20_000);
    place.run_well(&Order { prune: Some(1), ..order.clone() });
    place.run_well(&place.order(&place.location("p"), &back));
    assert_equal(&source, &back);
    // Content that went comes again.
    std::fs::write(source.join("changes"), noise(3 << 20, 0)).unwrap();
    place.run_well(&order);
    place.run_well(&place.order(&place.location("p"), &back));
    assert_equal(&source, &back);
}

#[test]
fn deletes_are_guarded_and_without_them_entries_stay() {
    let Some(server) = servers::s3("deletes of chunks") else { return };
    let place = Place::new(&server);
    let source = place.path("source");
    for number in 0..30 {
        let dir = source.join(format!("d{}", number % 3));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(number.to_string()), [number]).unwrap();
    }
    let order = up(&place, &source, "p");
    place.run_well(&order);
    std::fs::remove_dir_all(source.join("d1")).unwrap();
    std::fs::write(source.join("new"), b"new").unwrap();
    place.run_well(&order);
    let count = |name: &str| {
        let look = place.path(name);
        place.run_well(&place.order(&place.location("p"), &look));
        walk(&look)
    };
    assert_eq!(count("kept"), 34);
    let error = place.run(&Order { delete: true, most: Some(3), ..order.clone() }).error.unwrap();
    assert!(error.contains("11 entries"), "{error}");
    assert_eq!(count("refused"), 34);
    let report = place.run_well(&Order { delete: true, ..order.clone() });
    assert_eq!(report.entries("deleted"), 11);
    assert_eq!(count("deleted"), 23);
    // A source that is not mounted.
    std::fs::remove_dir_all(&source).unwrap();
    std::fs::create_dir(&source).unwrap();
    let error = place.run(&Order { delete: true, ..order }).error.unwrap();
    assert!(error.contains("is empty"), "{error}");
    assert_eq!(count("empty"), 23);
}

fn walk(root: &std::path::Path) -> usize {
    picture(root).len() - 1
}

#[test]
fn no_secret_is_in_a_chunk_store() {
    let Some(server) = servers::s3("secrets and chunks") else { return };
    let place = Place::new(&server);
    let source = place.path("source");
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("file"), b"content").unwrap();
    let order = Order { layout: Some(Layout::Chunks), ..up(&place, &source, "p") };
    place.run_well(&order);
    let store = open(&server, "p");
    for object in listed(&server, "p", "") {
        let (_, bytes) = store.read_whole(&object.key, 1 << 20).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let shows = |secret: &String| text.contains(secret) || text.contains("AKIA");
        assert!(!server.secrets.iter().any(shows), "{}", object.key);
    }
}

#[test]
fn a_damaged_block_of_the_list_deletes_nothing() {
    let Some(server) = servers::s3("a damaged block") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("one"), b"one").unwrap();
    std::fs::write(source.join("two"), b"two").unwrap();
    let up = up(&place, &source, "p");
    place.run_well(&up);
    let down = Order { delete: true, ..place.order(&place.location("p"), &back) };
    place.run_well(&down);
    // Small content stands in the list, so that there is one pack.
    let packs = listed(&server, "p", "packs/");
    let (store, key) = (open(&server, "p"), &packs[0].key);
    let mut bytes = store.read_whole(key, 1 << 20).unwrap().1.to_vec();
    bytes[20] ^= 1;
    store.write(key, bytes.into(), &Labels::new()).unwrap();
    std::fs::remove_dir_all(&down.state).unwrap();
    let report = place.run(&down);
    assert_eq!((packs.len(), report.entries("deleted")), (1, 0), "{report:#?}");
    assert_eq!(report.record["state"], "partial", "{report:#?}");
    assert_equal(&source, &back);
}

#[test]
fn packs_are_read_back_where_that_is_asked_for() {
    let Some(server) = servers::s3("packs that are read back") else { return };
    let place = Place::new(&server);
    let source = place.path("source");
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("file"), noise(3 << 20, 1)).unwrap();
    let order = up(&place, &source, "p");
    let report = place.run_well(&Order { verify: Some(Verify::Transferred), ..order.clone() });
    assert!(report.bytes("verified_bytes") >= 3 << 20, "{report:#?}");
    let report = place.run_well(&Order { verify: Some(Verify::All), ..order });
    assert_eq!(report.bytes("verified_bytes"), 3 << 20, "{report:#?}");
    assert_eq!(report.bytes("sent_bytes"), 0, "{report:#?}");
}
