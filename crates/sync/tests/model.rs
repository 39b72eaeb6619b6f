//! Random trees, random changes, the whole visible tree compared after each sync.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use sync::{Act, Counters, Deletes, Event, Options, Record, Watcher};
use testkit::trees::{Random, differences, picture, rest};

/// Remembers failures; never stops.
#[derive(Default)]
struct Listener {
    failures: Mutex<Vec<String>>,
    planned: Mutex<Vec<(Act, Vec<u8>)>>,
}

impl Watcher for Listener {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Failed(path, fault) => {
                self.failures.lock().unwrap().push(format!("{}: {fault}", String::from_utf8_lossy(path)));
            }
            Event::Planned(step) => self.planned.lock().unwrap().push((step.act, step.path.to_vec())),
            _ => {}
        }
    }

    fn stopping(&self) -> bool {
        false
    }
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn options(&self) -> Options {
        Options {
            source: self.path("source"),
            destination: self.path("destination"),
            state: Some(self.path("state")),
            delete: Some(Deletes { most: Some(100_000), trash: false }),
            special_files: true,
            // So that random files are large ones too, some of them changed in place.
            large_from: Some(150_000),
            in_place_from: Some(220_000),
            ..Options::default()
        }
    }
}

fn sync_with(options: &Options) -> (Record, Vec<String>) {
    let listener = Listener::default();
    let record = sync::run(options, &listener, &Counters::default()).unwrap();
    (record, listener.failures.into_inner().unwrap())
}

#[track_caller]
fn assert_equal(source: &Path, destination: &Path, what: &str) {
    let lines = differences(&picture(source), &picture(destination));
    assert!(lines.is_empty(), "{what}:\n{}", lines.join("\n"));
}

/// Failures that a random tree may rightly cause: a directory stands where a file should be, and only `--delete`, which
/// comes last, may remove it. The next sync then copies it.
fn is_expected(failure: &str) -> bool {
    failure.contains("cannot replace the directory")
}

fn converge(options: &Options) {
    for _ in 0..3 {
        let (_, failures) = sync_with(options);
        let wrong: Vec<_> = failures.iter().filter(|failure| !is_expected(failure)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        if failures.is_empty() {
            return;
        }
        // What stands in the way is removed by hand, as the hint says.
        for failure in failures {
            let path = failure.split(": cannot replace").next().unwrap();
            std::fs::remove_dir_all(options.destination.join(path)).unwrap();
        }
    }
    panic!("it never converges");
}

#[test]
fn random_changes_always_arrive() {
    for seed in 0..30 {
        let (place, mut random) = (Place::new(), Random::new(seed));
        let options = Options { workers: Some(1 + seed as usize % 4), ..place.options() };
        random.grow(&options.source, 40);
        for round in 0..8 {
            converge(&options);
            assert_equal(&options.source, &options.destination, &format!("seed {seed} round {round}"));
            random.change(&options.source, 12);
        }
    }
}

#[test]
fn nothing_is_done_where_nothing_changed() {
    let (place, mut random) = (Place::new(), Random::new(99));
    let options = place.options();
    random.grow(&options.source, 200);
    sync_with(&options);
    // Whatever was read within the tick of its change is read once more, and never again.
    std::thread::sleep(std::time::Duration::from_millis(30));
    sync_with(&options);
    let (record, _) = sync_with(&options);
    let entries = record.entries;
    assert_eq!(
        (entries.copied, entries.made, entries.linked, entries.updated, entries.deleted),
        (0, 0, 0, 0, 0)
    );
    assert_eq!((record.bytes.read_bytes, record.bytes.sent_bytes), (0, 0));
    assert_eq!(record.state, sync::End::Complete);
}

#[test]
fn changes_at_the_destination_are_found_when_asked_for() {
    for seed in 100..112 {
        let (place, mut random) = (Place::new(), Random::new(seed));
        let options = place.options();
        random.grow(&options.source, 40);
        converge(&options);
        Random::new(seed + 1000).change(&options.destination, 10);
        let checking = Options { check_destination: true, verify: sync::Verify::All, ..place.options() };
        converge(&checking);
        assert_equal(&options.source, &options.destination, &format!("seed {seed}"));
    }
}

#[test]
fn a_lost_state_costs_a_comparison_and_nothing_else() {
    let (place, mut random) = (Place::new(), Random::new(7));
    let options = place.options();
    random.grow(&options.source, 150);
    // What is copied within the kernel's tick of its last change is compared by content, which counts for large files.
    rest();
    converge(&options);
    std::fs::remove_dir_all(place.path("state")).unwrap();
    let (record, failures) = sync_with(&options);
    assert!(failures.is_empty(), "{failures:?}");
    assert_eq!((record.entries.copied, record.bytes.sent_bytes), (0, 0), "{record:#?}");
    assert_equal(&options.source, &options.destination, "after the state was lost");
}

#[test]
fn names_of_one_file_are_compared_when_the_state_was_lost() {
    let place = Place::new();
    let options = place.options();
    std::fs::create_dir(&options.source).unwrap();
    let (one, two) = (options.source.join("one"), options.source.join("two"));
    std::fs::write(&one, "content").unwrap();
    std::fs::hard_link(&one, &two).unwrap();
    converge(&options);
    std::fs::remove_dir_all(place.path("state")).unwrap();
    // Only its ctime moves: nothing says any more that the copy is younger than the content.
    std::fs::set_permissions(&one, one.metadata().unwrap().permissions()).unwrap();
    let (record, failures) = sync_with(&options);
    assert!(failures.is_empty(), "{failures:?}");
    assert_eq!((record.entries.copied, record.bytes.sent_bytes), (0, 0), "{record:#?}");
    assert_equal(&options.source, &options.destination, "after the state was lost");
}

/// The destination's copy was touched after the source changed, but only because another name of it went.
#[test]
fn a_name_that_goes_does_not_make_old_content_look_new() {
    let place = Place::new();
    let options = place.options();
    std::fs::create_dir(&options.source).unwrap();
    let (one, two) = (options.source.join("one"), options.source.join("two"));
    std::fs::write(&one, "old content").unwrap();
    std::fs::hard_link(&one, &two).unwrap();
    converge(&options);
    std::fs::remove_dir_all(place.path("state")).unwrap();
    let before = one.metadata().unwrap().modified().unwrap();
    std::fs::remove_file(&two).unwrap();
    std::fs::write(&one, "new content").unwrap();
    std::fs::File::options().write(true).open(&one).unwrap().set_modified(before).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(60));
    std::fs::remove_file(options.destination.join("two")).unwrap();
    converge(&options);
    assert_equal(&options.source, &options.destination, "after a name went");
}

#[test]
fn a_dry_run_plans_what_is_then_done_and_does_nothing() {
    for seed in 200..215 {
        let (place, mut random) = (Place::new(), Random::new(seed));
        let options = place.options();
        random.grow(&options.source, 40);
        let plan = |what: &str| {
            let listener = Listener::default();
            let dry = Options { dry_run: true, ..place.options() };
            sync::run(&dry, &listener, &Counters::default())
                .unwrap_or_else(|fault| panic!("{what}: {fault}"));
            listener.planned.into_inner().unwrap()
        };
        let first = plan("first");
        assert!(!options.destination.exists());
        let all = picture(&options.source).len() - 1;
        assert_eq!(first.len(), all, "seed {seed}");
        converge(&options);
        random.change(&options.source, 10);
        let before = picture(&options.destination);
        let planned = plan("second");
        assert!(differences(&before, &picture(&options.destination)).is_empty());
        let (record, _) = sync_with(&options);
        let deleted = planned.iter().filter(|(act, _)| *act == Act::Delete).count();
        assert_eq!(deleted as u64, record.entries.deleted, "seed {seed}");
    }
}

#[test]
fn a_destination_that_lost_directories_is_healed() {
    let place = Place::new();
    let options = place.options();
    let deep = options.source.join("a/b/c/d");
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("f"), "one").unwrap();
    converge(&options);
    std::fs::remove_dir_all(options.destination.join("a/b")).unwrap();
    std::fs::write(deep.join("f"), "two, longer").unwrap();
    converge(&options);
    converge(&options);
    assert_equal(&options.source, &options.destination, "after directories were lost");
}

/// Names of one file lead and follow in directories that are there and in directories that are not.
#[test]
fn lost_directories_with_names_of_one_file_are_healed_at_once() {
    for lost in ["a", "m", "a/b", "m/b", "z"] {
        let place = Place::new();
        let options = place.options();
        for dir in ["a/b", "m/b", "z"] {
            std::fs::create_dir_all(options.source.join(dir)).unwrap();
        }
        std::fs::write(options.source.join("a/b/first"), "one").unwrap();
        for name in ["a/second", "m/b/third", "m/fourth", "z/fifth"] {
            std::fs::hard_link(options.source.join("a/b/first"), options.source.join(name)).unwrap();
        }
        let (_, failures) = sync_with(&options);
        assert!(failures.is_empty(), "{failures:?}");
        std::fs::remove_dir_all(options.destination.join(lost)).unwrap();
        std::fs::write(options.source.join("m/fourth"), "two, longer").unwrap();
        let (record, failures) = sync_with(&options);
        assert!(failures.is_empty(), "{lost}: {failures:?}");
        assert_eq!(record.state, sync::End::Complete, "{lost}");
        assert_equal(&options.source, &options.destination, lost);
    }
}

#[test]
fn a_large_directory_is_copied_by_all_workers() {
    let place = Place::new();
    let options = Options { workers: Some(3), ..place.options() };
    std::fs::create_dir(&options.source).unwrap();
    for number in 0..5000 {
        std::fs::write(options.source.join(format!("{number:05}")), format!("{number}")).unwrap();
    }
    converge(&options);
    assert_equal(&options.source, &options.destination, "5,000 files");
    let names = std::fs::read_dir(&options.destination).unwrap().count();
    assert_eq!(names, 5000);
}
