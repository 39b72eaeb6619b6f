//! 200 kills at random moments of copies, changes and deletes: no file is ever torn, and going on always ends at an
//! identical tree.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

use testkit::trees::{Picture, Random, picture};

use crate::place::Place;

const KILLS: u64 = 200;
/// Places that are killed in at the same time.
const AT_ONCE: u64 = 4;
/// Every so many kills the tree is finished, compared and changed.
const BETWEEN: u64 = 3;
const FLAGS: [&str; 4] = ["--delete", "--max-delete", "100000", "--special-files"];

fn is_file(mode: u32) -> bool {
    mode & 0o170_000 == 0o100_000
}

/// Every file that has a final name is whole: what the source has now, or what was there before.
fn assert_nothing_is_torn(found: &Picture, source: &Picture, before: &Picture, what: &str) {
    for (path, entry) in found.iter().filter(|(_, entry)| is_file(entry.mode)) {
        if path.windows(9).any(|part| part == b".forebay-") {
            continue;
        }
        let same = |other: &Picture| other.get(path).is_some_and(|other| other.content == entry.content);
        assert!(same(source) || same(before), "{what}: `{}` is torn", String::from_utf8_lossy(path));
    }
}

fn kill_after(place: &Place, delay: Duration) {
    let mut command = place.command(&place.source(), &place.destination(), &FLAGS);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Goes on until nothing fails, as the hint says where a directory is in the way; then both trees must be equal.
fn finish(place: &Place, what: &str) {
    for _ in 0..4 {
        let call = place.sync(&[&FLAGS[..], &["--format", "json"]].concat());
        if call.code == Some(0) {
            place.assert_equal();
            return;
        }
        assert_eq!(call.code, Some(3), "{what}: {call:?}");
        for failure in call.record()["failures"].as_array().unwrap() {
            let reason = failure["reason"].as_str().unwrap();
            assert!(reason.contains("cannot replace the directory"), "{what}: {reason}");
            let path = reason.split('`').nth(1).unwrap();
            std::fs::remove_dir_all(path).unwrap();
        }
    }
    panic!("{what}: it never ends");
}

fn one_lane(lane: u64) {
    let (place, mut random) = (Place::new(), Random::new(lane + 1));
    random.largest = 9 << 20;
    random.grow(&place.source(), 60);
    let started = Instant::now();
    finish(&place, "first");
    let whole = started.elapsed();
    let mut moments = BTreeSet::new();
    for number in (lane..KILLS).step_by(AT_ONCE as usize) {
        random.change(&place.source(), 15);
        let (source, before) = (picture(&place.source()), picture(&place.destination()));
        let share = fastrand::Rng::with_seed(number).f64();
        kill_after(&place, whole.mul_f64(share));
        moments.insert((share * 10.0) as u32);
        let what = format!("kill {number} at {share:.2}");
        assert_nothing_is_torn(&picture(&place.destination()), &source, &before, &what);
        if number / AT_ONCE % BETWEEN == BETWEEN - 1 {
            finish(&place, &what);
        }
    }
    finish(&place, "last");
}

#[test]
fn two_hundred_kills_end_at_an_identical_tree() {
    std::thread::scope(|scope| {
        for lane in 0..AT_ONCE {
            scope.spawn(move || one_lane(lane));
        }
    });
}

#[test]
fn what_is_done_is_not_done_again() {
    let place = Place::new();
    std::fs::create_dir_all(place.source().join("large")).unwrap();
    for number in 0..60 {
        let dir = place.source().join(format!("dir{number:02}"));
        std::fs::create_dir(&dir).unwrap();
        (0..20).for_each(|file| std::fs::write(dir.join(file.to_string()), vec![number; 20_000]).unwrap());
    }
    let mut copied = 0;
    for delay in [150, 250, 350] {
        kill_after(&place, Duration::from_millis(delay));
        if place.destination().exists() {
            let found = picture(&place.destination());
            copied = found
                .iter()
                .filter(|(path, entry)| is_file(entry.mode) && !path.starts_with(b".forebay-"))
                .count();
        }
    }
    let record = place.sync_well(&[]);
    place.assert_equal();
    assert_eq!(record["entries"]["copied"], 1200 - copied, "{record}");
    assert_eq!(record["bytes"]["read_bytes"], 20_000 * (1200 - copied), "{record}");
}
