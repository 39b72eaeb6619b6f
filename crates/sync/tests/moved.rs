//! Large files whose content moved: what is sent of them, going on inside one, and that the end is always the source.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sync::{Counters, Delta, End, Event, Options, Record, Watcher};
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
    /// A large file at the source and a copy of it at the destination.
    fn new(content: &[u8]) -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(place.path("source")).unwrap();
        std::fs::write(place.large(), content).unwrap();
        place.run(&place.options());
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

    fn options(&self) -> Options {
        Options {
            source: self.path("source"),
            destination: self.path("destination"),
            state: Some(self.path("state")),
            workers: Some(3),
            large_from: Some(MIB),
            in_place_from: Some(MIB),
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

fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; length];
    fastrand::Rng::with_seed(seed).fill(&mut bytes);
    bytes
}

fn with_a_byte_in_front(bytes: &[u8]) -> Vec<u8> {
    [b"x", bytes].concat()
}

#[test]
fn a_byte_in_front_sends_hardly_more_than_a_byte() {
    let old = content(SIZE, 1);
    let place = Place::new(&old);
    let inode = place.copy().metadata().unwrap().ino();
    let new = with_a_byte_in_front(&old);
    std::fs::write(place.large(), &new).unwrap();
    let record = place.run(&place.options());
    assert!(record.bytes.sent_bytes < 1000, "{:?}", record.bytes);
    assert_eq!(record.bytes.sent_bytes + record.bytes.saved_bytes, new.len() as u64);
    assert_eq!(record.bytes.read_bytes, new.len() as u64);
    // It is another file, which appeared whole.
    assert_ne!(place.copy().metadata().unwrap().ino(), inode);
}

#[test]
fn what_moved_by_one_length_is_not_cut_and_edits_in_it_cost_themselves() {
    let old = content(SIZE, 22);
    let place = Place::new(&old);
    for (lost, in_front) in [(0, 1), (0, 3 << 20), (5, 0), (7 << 20, 11)] {
        let old = std::fs::read(place.large()).unwrap();
        let mut new = [content(in_front, in_front as u64), old[lost..].to_vec()].concat();
        (MIB as usize..new.len()).step_by(4 << 20).for_each(|at| new[at..at + 1000].fill(7));
        std::fs::write(place.large(), &new).unwrap();
        let record = place.run(&place.options());
        let edits = new.len() / (4 << 20) + 1;
        let most = (in_front + 1000 * edits) as u64;
        assert!(record.bytes.sent_bytes <= most + 2 * 65_536, "{lost} {in_front}: {:?}", record.bytes);
        assert_eq!(record.bytes.sent_bytes + record.bytes.saved_bytes, new.len() as u64);
        assert_eq!(names(&place.path("state/chunks")), [] as [String; 0]);
    }
}

#[test]
fn pieces_that_went_came_and_changed_places_are_found() {
    let old = content(SIZE, 2);
    let place = Place::new(&old);
    let (first, second) = old.split_at(SIZE / 3);
    let mut new = [second, &content(123_457, 3), first].concat();
    new.drain(10 << 20..12 << 20);
    std::fs::write(place.large(), &new).unwrap();
    let options = Options { delta: Delta::Content, ..place.options() };
    let record = place.run(&options);
    assert!((123_457..200_000).contains(&record.bytes.sent_bytes), "{:?}", record.bytes);
}

#[test]
fn what_was_learned_once_is_known_the_next_time() {
    let old = content(SIZE, 4);
    let place = Place::new(&old);
    // By more than one length.
    let mut once = with_a_byte_in_front(&old);
    once.drain(SIZE / 2..SIZE / 2 + 1000);
    std::fs::write(place.large(), &once).unwrap();
    place.run(&place.options());
    let kept = names(&place.path("state/chunks"));
    assert_eq!(kept.len(), 1);
    let mut twice = with_a_byte_in_front(&once);
    twice.drain(SIZE / 3..SIZE / 3 + 1000);
    std::fs::write(place.large(), &twice).unwrap();
    let record = place.run(&place.options());
    assert!(record.bytes.sent_bytes < 1000, "{:?}", record.bytes);
    // Somebody else's change at the destination, with the size and the time of ours: what was known counts no more.
    let (copy, mtime) = (std::fs::File::options().write(true).open(place.copy()).unwrap(), place.copy());
    let mtime = mtime.metadata().unwrap().modified().unwrap();
    copy.write_all_at(&content(MIB as usize, 5), 7 * MIB).unwrap();
    copy.set_modified(mtime).unwrap();
    std::fs::write(place.large(), with_a_byte_in_front(&twice)).unwrap();
    let record = place.run(&place.options());
    assert!((MIB..MIB + 1000).contains(&record.bytes.sent_bytes), "{:?}", record.bytes);
}

#[test]
fn the_old_copy_is_cut_anew_when_the_state_is_lost() {
    let old = content(SIZE, 6);
    let place = Place::new(&old);
    std::fs::remove_dir_all(place.path("state")).unwrap();
    std::fs::write(place.large(), &old[12_345_678..]).unwrap();
    let record = place.run(&place.options());
    assert!(record.bytes.sent_bytes < 1000, "{:?}", record.bytes);
}

#[test]
fn blocks_that_stand_where_they_stood_are_compared_there() {
    let old = content(SIZE, 7);
    let place = Place::new(&old);
    let mut new = old.clone();
    (0..SIZE).step_by(4 << 20).for_each(|at| new[at] ^= 1);
    std::fs::write(place.large(), &new).unwrap();
    let inode = place.copy().metadata().unwrap().ino();
    let record = place.run(&place.options());
    assert_eq!(record.bytes.sent_bytes, 10 * 65_536, "{:?}", record.bytes);
    assert!(!place.path("state/chunks").exists());
    // In place, unless it could be cloned.
    let clones = place.copy().metadata().unwrap().ino() != inode;
    assert!(!clones || record.bytes.saved_bytes > 0);
}

#[test]
fn new_content_is_not_searched_for() {
    let place = Place::new(&content(SIZE, 8));
    std::fs::write(place.large(), content(SIZE + 1, 9)).unwrap();
    let record = place.run(&place.options());
    assert_eq!(record.bytes.sent_bytes, SIZE as u64 + 1);
    assert!(!place.path("state/chunks").exists());
}

#[test]
fn every_way_ends_at_the_same_file() {
    let old = content(SIZE / 2, 10);
    for (delta, most) in
        [(Delta::Auto, 1000), (Delta::Content, 1000), (Delta::Fixed, SIZE as u64), (Delta::Off, SIZE as u64)]
    {
        let place = Place::new(&old);
        std::fs::write(place.large(), with_a_byte_in_front(&old)).unwrap();
        let record = place.run(&Options { delta, ..place.options() });
        assert!(record.bytes.sent_bytes <= most, "{delta:?}: {:?}", record.bytes);
        if delta == Delta::Off {
            assert_eq!((record.bytes.sent_bytes, record.bytes.saved_bytes), (SIZE as u64 / 2 + 1, 0));
        }
    }
}

#[test]
fn holes_stay_holes_where_content_moved() {
    let place = Place::new(&content(MIB as usize * 2, 11));
    let write = |from: u64| {
        let file = std::fs::File::create(place.large()).unwrap();
        file.set_len(200 * MIB).unwrap();
        file.write_all_at(&content(8 * MIB as usize, 12), 100 * MIB + from).unwrap();
        file.write_all_at(&content(3 * MIB as usize, 13), from).unwrap();
    };
    write(0);
    place.run(&place.options());
    write(77_777);
    let record = place.run(&Options { delta: Delta::Content, ..place.options() });
    assert!(record.bytes.sent_bytes < MIB, "{:?}", record.bytes);
    assert!(place.copy().metadata().unwrap().blocks() * 512 < 13 * MIB);
}

/// Random edits, one after the other; what arrives is compared with the source each time.
#[test]
fn random_edits_always_arrive() {
    for seed in 0..6 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = content(random.usize(4 << 20..20 << 20), seed + 100);
        let place = Place::new(&bytes);
        for round in 0..6 {
            for _ in 0..random.usize(1..6) {
                edit(&mut bytes, &mut random);
            }
            std::fs::write(place.large(), &bytes).unwrap();
            if round == 3 {
                std::fs::remove_dir_all(place.path("state")).unwrap();
            }
            let delta = if random.bool() { Delta::Content } else { Delta::Auto };
            let workers = Some(random.usize(1..5));
            let record = place.run(&Options { delta, workers, ..place.options() });
            assert!(record.bytes.sent_bytes <= record.bytes.read_bytes);
        }
    }
}

fn edit(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let place = random.usize(..bytes.len());
    let length = 1_usize << random.u32(..21);
    let end = (place + length).min(bytes.len() - MIB as usize).max(place);
    match random.u8(..5) {
        0 => drop(bytes.splice(place..place, content(length, random.u64(..)))),
        1 => drop(bytes.drain(place..end)),
        2 => random.fill(&mut bytes[place..end]),
        3 => {
            let piece: Vec<u8> = bytes.drain(place..end).collect();
            let to = random.usize(..bytes.len());
            bytes.splice(to..to, piece);
        }
        _ => bytes.rotate_left(place),
    }
}

/// Stops a copy at its every step in turn, then goes on: each time the file must be whole, and what was done is not read
/// again.
#[test]
fn a_stopped_copy_of_moved_content_goes_on_where_it_was() {
    let mut bytes = content(SIZE, 20);
    let place = Place::new(&bytes);
    let (mut steps, mut resumed, mut saved) = (0, 0, 0);
    loop {
        bytes = with_a_byte_in_front(&bytes);
        std::fs::write(place.large(), &bytes).unwrap();
        let before = std::fs::read(place.copy()).unwrap();
        let options = Options { workers: Some(1), ..place.options() };
        let record = sync::run(&options, &After(AtomicU64::new(steps)), &Counters::default()).unwrap();
        if record.state == End::Complete {
            break;
        }
        let copy = std::fs::read(place.copy()).unwrap();
        // All of it may be there already, when the rest of the job is stopped.
        assert!(copy == before || copy == bytes, "torn after {steps} steps");
        let again = place.run(&place.options());
        let whole = bytes.len() as u64;
        assert!(
            again.bytes.read_bytes <= whole && again.bytes.sent_bytes < 2000,
            "{steps}: {:?}",
            again.bytes
        );
        resumed += u64::from(again.bytes.read_bytes < whole);
        saved += u64::from(again.bytes.saved_bytes > whole / 4);
        steps += 3;
    }
    assert!(steps > 20 && resumed > 2 && saved > 2, "{steps} steps, {resumed} resumed, {saved} saved");
}
