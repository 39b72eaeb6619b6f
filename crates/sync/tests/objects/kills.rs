//! Kills at random moments, to a store and back: nothing is ever torn, and going on ends at an identical tree.

use std::time::{Duration, Instant};

use testkit::servers;
use testkit::trees::{Picture, Random, picture};

use crate::job::{Order, Place, assert_same};

const KILLS: u64 = 10;

fn is_file(mode: u32) -> bool {
    mode & 0o170_000 == 0o100_000
}

fn kill_within(place: &Place, order: &Order, whole: Duration, seed: u64) {
    let mut child = place.spawn(order);
    std::thread::sleep(whole.mul_f64(fastrand::Rng::with_seed(seed).f64()));
    child.kill().unwrap();
    child.wait().unwrap();
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

fn assert_nothing_is_torn(found: &Picture, allowed: &[&Picture], what: &str) {
    for (path, entry) in found.iter().filter(|(_, entry)| is_file(entry.mode)) {
        if path.windows(9).any(|part| part == b".forebay-") {
            continue;
        }
        let whole =
            allowed.iter().any(|tree| tree.get(path).is_some_and(|other| other.content == entry.content));
        assert!(whole, "{what}: `{}` is torn", String::from_utf8_lossy(path));
    }
}

#[test]
fn kills_on_the_way_to_a_store_and_back_tear_nothing() {
    let Some(server) = servers::s3("kills on the way to S3") else { return };
    let place = Place::new(&server);
    let (source, back, look) = (place.path("source"), place.path("back"), place.path("look"));
    let (mut up, mut down) =
        (place.order(&source, &place.location("p")), place.order(&place.location("p"), &back));
    for order in [&mut up, &mut down] {
        (order.delete, order.most) = (true, Some(100_000));
    }
    let mut random = Random::new(5);
    random.largest = 9 << 20;
    random.grow(&source, 30);
    let started = Instant::now();
    place.run_well(&up);
    let whole = started.elapsed();
    place.run_well(&down);
    for number in 0..KILLS {
        let before = picture(&back);
        random.change(&source, 10);
        let now = picture(&source);
        kill_within(&place, &up, whole, 2 * number);
        if number % 4 == 0 {
            // What a stranger sees now: every object is whole.
            let stranger = place.order(&place.location("p"), &look.join(number.to_string()));
            std::fs::create_dir_all(&look).unwrap();
            place.run(&stranger);
            assert_nothing_is_torn(
                &picture(&look.join(number.to_string())),
                &[&now, &before],
                "in the store",
            );
            std::fs::remove_dir_all(&look).unwrap();
        }
        place.run_well(&up);
        kill_within(&place, &down, whole, 2 * number + 1);
        assert_nothing_is_torn(&picture(&back), &[&now, &before], &format!("kill {number}"));
        finish(&place, &down);
        assert_same(&now, &picture(&back));
    }
}

#[test]
fn what_reached_the_store_is_not_sent_again() {
    let Some(server) = servers::s3("going on") else { return };
    let place = Place::new(&server);
    let source = place.path("source");
    for number in 0..400 {
        let dir = source.join(format!("d{:02}", number % 20));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(number.to_string()), vec![1; 3000]).unwrap();
    }
    // Old enough to be believed without an index.
    std::thread::sleep(Duration::from_millis(4100));
    let up = place.order(&source, &place.location("p"));
    let mut child = place.spawn(&up);
    std::thread::sleep(Duration::from_millis(1500));
    child.kill().unwrap();
    child.wait().unwrap();
    let report = place.run_well(&up);
    assert_eq!(report.entries("scanned"), 421);
    let again = place.run_well(&up);
    assert_eq!(again.entries("copied"), 0, "{again:#?}");
}
