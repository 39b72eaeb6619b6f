//! A source that changes while it is watched, by real processes and threads, and a destination that must follow.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]
#![allow(clippy::print_stderr, reason = "what was told is shown where a test fails")]

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sync::{By, Counters, Deletes, Event, Filter, Following, Options, Record, Status, Watcher};
use testkit::skip::{Need, can};
use testkit::trees::{Random, differences, picture};

/// Long enough for any machine; only a watch that never gets there takes it.
const PATIENCE: Duration = Duration::from_mins(2);

#[derive(Default)]
struct Listener {
    stop: AtomicBool,
    told: Mutex<Vec<String>>,
}

impl Watcher for Listener {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Failed(path, fault) => {
                self.told.lock().unwrap().push(format!("{}: {fault}", String::from_utf8_lossy(path)));
            }
            Event::Note(note) => self.told.lock().unwrap().push((*note).to_owned()),
            _ => {}
        }
    }

    fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

struct Place {
    options: Options,
    _dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir(path("source")).unwrap();
        let options = Options {
            source: path("source"),
            destination: path("destination"),
            state: Some(path("state")),
            delete: Some(Deletes { most: Some(100_000), trash: false }),
            special_files: true,
            ..Options::default()
        };
        Self { options, _dir: dir }
    }

    fn source(&self, name: &str) -> PathBuf {
        self.options.source.join(name)
    }

    fn differences(&self) -> Vec<String> {
        let both = || differences(&picture(&self.options.source), &picture(&self.options.destination));
        // The destination may change while a picture of it is taken.
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(both))
            .unwrap_or_else(|_| vec!["moving".to_owned()])
    }

    /// Waits until both trees are equal.
    #[track_caller]
    fn settle(&self, what: &str) {
        let began = Instant::now();
        loop {
            std::thread::sleep(Duration::from_millis(200));
            if self.options.destination.exists() && self.differences().is_empty() {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{what}:\n{}", self.differences().join("\n"));
        }
    }

    /// Watches while `change` does what it wants; returns the record and what was told.
    fn watched(&self, by: By, change: impl FnOnce(&Self, &Status)) -> (Record, Vec<String>) {
        let (listener, counters, status) = (Listener::default(), Counters::default(), Status::default());
        let following = Following { by, ..Following::default() };
        let record = std::thread::scope(|scope| {
            let watching = scope.spawn(|| {
                let stop = StopAtEnd(&listener);
                let record = sync::watch(&self.options, &following, &listener, &counters, &status);
                drop(stop);
                record
            });
            let stop = StopAtEnd(&listener);
            while status.by().is_empty() {
                assert!(!watching.is_finished(), "the watch ended: {:?}", watching.join());
                std::thread::sleep(Duration::from_millis(10));
            }
            change(self, &status);
            drop(stop);
            watching.join().unwrap().unwrap()
        });
        (record, listener.told.into_inner().unwrap())
    }
}

/// A file system in memory, until the test ends.
struct Mounted(PathBuf);

impl Mounted {
    fn at(path: &std::path::Path) -> Self {
        let done = std::process::Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(path).status();
        assert!(done.unwrap().success());
        Self(path.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let done = std::process::Command::new("umount").arg("--lazy").arg(&self.0).status();
        assert!(done.unwrap().success());
    }
}

/// Stops the watch also when the test fails.
struct StopAtEnd<'a>(&'a Listener);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
        if std::thread::panicking() {
            eprintln!("told: {:#?}", self.0.told.lock());
        }
    }
}

fn follows_a_mutator(by: By, seed: u64) {
    let (place, mut random) = (Place::new(), Random::new(seed));
    // Of its own, so that the kernel's queue has no events of anybody else.
    let _mounted = (by == By::Fanotify).then(|| Mounted::at(&place.options.source));
    // Names of one file that come and go faster than they are looked at may stay copies until everything is looked at again:
    // docs/SEMANTICS.md, 51a.
    random.hard_links = false;
    random.grow(&place.options.source, 60);
    let (record, told) = place.watched(by, |place, status| {
        for round in 0..6 {
            for _ in 0..40 {
                random.change(&place.options.source, 3);
                std::thread::sleep(Duration::from_millis(5));
            }
            place.settle(&format!("{by:?} seed {seed} round {round}"));
        }
        assert_eq!((status.rescans(), status.gaps()), (0, 0));
    });
    assert!(record.failures.is_empty(), "{:?}", record.failures);
    let watched = record.watched.unwrap();
    assert!(watched.rounds > 0 && watched.rescans == 0, "{watched:?}");
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn a_mutated_source_is_followed_by_fanotify() {
    if can("a mark on a file system", &[Need::Root]) {
        (0..3).for_each(|seed| follows_a_mutator(By::Fanotify, seed));
    }
}

#[test]
fn a_mutated_source_is_followed_by_inotify() {
    (10..13).for_each(|seed| follows_a_mutator(By::Inotify, seed));
}

#[test]
fn a_file_written_without_an_end_arrives_when_it_rests() {
    let place = Place::new();
    std::fs::write(place.source("log"), "").unwrap();
    let (record, _) = place.watched(By::Best, |place, _| {
        use std::io::Write as _;
        let mut log = std::fs::File::options().append(true).open(place.source("log")).unwrap();
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(3) {
            log.write_all(&[b'x'; 4096]).unwrap();
        }
        // It is still open: no close tells that it is done.
        place.settle("an open file");
        drop(log);
    });
    assert!(record.failures.is_empty(), "{:?}", record.failures);
}

#[test]
fn names_of_one_file_stay_one_file() {
    names_of_one_file(By::Inotify);
    if can("a mark on a file system", &[Need::Root]) {
        names_of_one_file(By::Fanotify);
    }
}

fn names_of_one_file(by: By) {
    let place = Place::new();
    std::fs::create_dir(place.source("d")).unwrap();
    std::fs::write(place.source("d/one"), "first").unwrap();
    std::fs::hard_link(place.source("d/one"), place.source("two")).unwrap();
    place.watched(by, |place, status| {
        place.settle("two names");
        // Only one of the names is told of.
        std::fs::write(place.source("two"), "changed through one name").unwrap();
        place.settle("changed");
        std::fs::hard_link(place.source("d/one"), place.source("three")).unwrap();
        place.settle("three names");
        std::fs::remove_file(place.source("two")).unwrap();
        place.settle("two names again");
        assert_eq!(status.rescans(), 0);
    });
}

#[test]
fn what_is_left_out_stays_left_out_and_rules_may_change() {
    let mut place = Place::new();
    place.options.filter = Filter::default();
    place.options.filter.set_patterns(&["*.tmp".to_owned()], &[]).unwrap();
    place.options.filter.add_pattern_file(b".ignore");
    std::fs::create_dir_all(place.source("d/e")).unwrap();
    std::fs::write(place.source("d/.ignore"), "secret\n").unwrap();
    std::fs::write(place.source("d/e/secret"), "hidden").unwrap();
    let there = |place: &Place, name: &str| place.options.destination.join(name).exists();
    let wait_for = |place: &Place, name: &str| {
        let began = Instant::now();
        while !there(place, name) {
            assert!(began.elapsed() < PATIENCE, "{name} never came");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    place.watched(By::Best, |place, _| {
        wait_for(place, "d/e");
        std::fs::write(place.source("d/e/a.tmp"), "left out").unwrap();
        std::fs::write(place.source("d/e/secret"), "hidden still").unwrap();
        std::fs::write(place.source("d/e/b"), "taken").unwrap();
        wait_for(place, "d/e/b");
        assert!(!there(place, "d/e/a.tmp") && !there(place, "d/e/secret"));
        std::fs::write(place.source("d/.ignore"), "other\n").unwrap();
        wait_for(place, "d/e/secret");
        assert!(!there(place, "d/e/a.tmp"));
    });
}

#[test]
fn deletes_beyond_the_guard_wait_for_a_person_and_the_rest_goes_on() {
    let mut place = Place::new();
    place.options.delete = Some(Deletes { most: Some(5), trash: false });
    std::fs::create_dir(place.source("d")).unwrap();
    (0..20).for_each(|number| std::fs::write(place.source(&format!("d/{number}")), "x").unwrap());
    let (record, told) = place.watched(By::Best, |place, status| {
        place.settle("before");
        (0..20).for_each(|number| std::fs::remove_file(place.source(&format!("d/{number}"))).unwrap());
        let began = Instant::now();
        while status.failing() == 0 {
            assert!(began.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(50));
        }
        std::fs::write(place.source("new"), "goes on").unwrap();
        while !place.options.destination.join("new").exists() {
            assert!(began.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    assert_eq!(std::fs::read_dir(place.options.destination.join("d")).unwrap().count(), 20);
    assert!(record.failures.iter().any(|failure| failure.reason.contains("20 entries")), "{record:?}");
    assert_eq!(told.iter().filter(|line| line.contains("20 entries")).count(), 1, "{told:?}");
}

#[test]
fn everything_is_looked_at_again_from_time_to_time() {
    let place = Place::new();
    let (listener, counters, status) = (Listener::default(), Counters::default(), Status::default());
    let following =
        Following { by: By::Rescan, rescan: Some(Duration::from_millis(300)), ..Following::default() };
    std::fs::write(place.source("first"), "of all").unwrap();
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| sync::watch(&place.options, &following, &listener, &counters, &status));
        let stop = StopAtEnd(&listener);
        while !place.options.destination.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::fs::write(place.source("unheard"), "of").unwrap();
        std::thread::sleep(Duration::from_secs(1));
        std::fs::write(place.source("later"), "unheard of too").unwrap();
        place.settle("by rescans alone");
        drop(stop);
        let record = watching.join().unwrap().unwrap();
        assert!(record.watched.unwrap().rescans > 0);
    });
}
