//! Large files: ranges, what is written of a changed one, and going on inside one.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sync::{Counters, End, Event, Options, Record, Verify, Watcher};
use testkit::trees::{differences, picture};

const SIZE: usize = 40 << 20;
const MIB: u64 = 1 << 20;

/// Stops when it was asked so many times.
struct After(AtomicU64);

impl Watcher for After {
    fn event(&self, event: &Event<'_>) {
        if let Event::Failed(_, fault) = event {
            panic!("{fault}");
        }
    }

    fn stopping(&self) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(place.path("source")).unwrap();
        std::fs::write(place.large(), content(1)).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn large(&self) -> PathBuf {
        self.path("source/large")
    }

    fn copy(&self) -> PathBuf {
        self.path("destination/large")
    }

    fn options(&self, in_place: bool) -> Options {
        Options {
            source: self.path("source"),
            destination: self.path("destination"),
            state: Some(self.path("state")),
            workers: Some(3),
            large_from: Some(MIB),
            in_place_from: Some(if in_place { MIB } else { u64::MAX }),
            ..Options::default()
        }
    }

    fn run(&self, options: &Options) -> Record {
        let record = sync::run(options, &After(AtomicU64::new(u64::MAX)), &Counters::default()).unwrap();
        assert_eq!(record.state, End::Complete);
        let lines = differences(&picture(&self.path("source")), &picture(&self.path("destination")));
        assert!(lines.is_empty(), "{}", lines.join("\n"));
        assert_eq!(names(&self.path("destination")), ["large"]);
        assert_eq!(names(&self.path("state/parts")), [""; 0]);
        record
    }
}

fn names(dir: &Path) -> Vec<String> {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Content that differs in every leaf.
fn content(seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut bytes = vec![0; SIZE];
    bytes.chunks_mut(4096).for_each(|page| page[..8].copy_from_slice(&random.u64(..).to_le_bytes()));
    bytes
}

fn change(path: &Path, offsets: &[u64]) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    offsets.iter().for_each(|offset| file.write_all_at(b"changed", *offset).unwrap());
}

#[test]
fn all_ranges_arrive_and_the_second_sync_has_nothing_to_do() {
    let place = Place::new();
    let verified = Options { verify: Verify::Transferred, ..place.options(false) };
    let record = place.run(&verified);
    assert_eq!((record.bytes.sent_bytes, record.bytes.verified_bytes), (SIZE as u64, SIZE as u64));
    std::thread::sleep(std::time::Duration::from_millis(30));
    place.run(&verified);
    assert_eq!(place.run(&verified).bytes.read_bytes, 0);
}

#[test]
fn only_changed_leaves_are_written_in_place() {
    let place = Place::new();
    place.run(&place.options(true));
    let before = place.copy().metadata().unwrap().ino();
    change(&place.large(), &[0, 5 * MIB + 1, 20 * MIB]);
    let record = place.run(&place.options(true));
    assert_eq!(record.bytes.sent_bytes, 3 * 65_536, "{record:#?}");
    assert_eq!(record.bytes.saved_bytes, SIZE as u64 - 3 * 65_536);
    assert_eq!(place.copy().metadata().unwrap().ino(), before);
}

#[test]
fn without_what_the_last_sync_knew_both_sides_are_read_and_as_little_is_written() {
    let place = Place::new();
    place.run(&place.options(true));
    std::fs::remove_dir_all(place.path("state")).unwrap();
    change(&place.large(), &[7 * MIB]);
    let record = place.run(&place.options(true));
    assert_eq!(record.bytes.sent_bytes, 65_536, "{record:#?}");
}

#[test]
fn somebody_elses_change_at_the_destination_is_not_mistaken_for_ours() {
    let place = Place::new();
    place.run(&place.options(true));
    change(&place.copy(), &[9 * MIB]);
    change(&place.large(), &[7 * MIB]);
    place.run(&place.options(true));
}

#[test]
fn a_file_that_grows_and_shrinks_arrives() {
    let place = Place::new();
    place.run(&place.options(true));
    for size in [SIZE as u64 + 12_345, SIZE as u64 - 3 * MIB - 1, 2 * MIB, SIZE as u64] {
        std::fs::File::options().write(true).open(place.large()).unwrap().set_len(size).unwrap();
        change(&place.large(), &[size / 2]);
        place.run(&place.options(true));
    }
}

#[test]
fn holes_stay_holes() {
    let place = Place::new();
    let file = std::fs::File::create(place.large()).unwrap();
    file.set_len(300 * MIB).unwrap();
    file.write_all_at(b"data", 100 * MIB).unwrap();
    place.run(&place.options(false));
    assert!(place.copy().metadata().unwrap().blocks() * 512 < MIB);
}

/// Stops a copy at its every step in turn, then goes on: each time the tree must be whole, and ranges that were done
/// are not read again.
fn stop_everywhere(in_place: bool) {
    let place = Place::new();
    place.run(&place.options(in_place));
    let (mut steps, mut resumed) = (0, 0);
    loop {
        std::fs::write(place.large(), content(steps + 2)).unwrap();
        let options = Options { workers: Some(1), ..place.options(in_place) };
        let counters = Counters::default();
        let record = sync::run(&options, &After(AtomicU64::new(steps)), &counters).unwrap();
        if record.state == End::Complete {
            break;
        }
        let again = place.run(&place.options(in_place));
        let whole = SIZE as u64;
        resumed += u64::from(again.bytes.read_bytes < whole);
        assert!(again.bytes.read_bytes <= whole);
        steps += 3;
    }
    assert!(steps > 10 && resumed > 3, "{steps} steps, {resumed} resumed inside the file");
}

#[test]
fn a_stopped_draft_goes_on_where_it_was() {
    stop_everywhere(false);
}

#[test]
fn a_stopped_change_in_place_goes_on_where_it_was() {
    stop_everywhere(true);
}

#[test]
fn a_half_changed_file_is_marked() {
    let place = Place::new();
    place.run(&place.options(true));
    let mut marked = 0;
    for steps in (0..60).step_by(4) {
        std::fs::write(place.large(), content(steps + 100)).unwrap();
        let options = Options { workers: Some(1), ..place.options(true) };
        sync::run(&options, &After(AtomicU64::new(steps)), &Counters::default()).unwrap();
        let copy = std::fs::read(place.copy()).unwrap();
        let torn = copy != content(steps + 100) && (steps == 0 || copy != content(steps + 96));
        let mut value = [0; 16];
        let mark = rustix::fs::getxattr(place.copy(), "user.forebay.state", &mut value[..]).is_ok();
        marked += u64::from(mark);
        assert!(mark || !torn || steps == 0, "torn without a mark after {steps} steps");
        place.run(&place.options(true));
    }
    assert!(marked > 0);
}
