use std::fs;
use std::path::Path;

use super::*;
use crate::run::{RunState, VERSION};
use crate::sample;

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("runs")).unwrap();
    (directory, store)
}

fn with_id(id: &str) -> RunRecord {
    RunRecord { id: id.into(), ..sample::record() }
}

fn started(id: &str, started_at: &str) -> RunRecord {
    RunRecord { started_at: started_at.into(), ..with_id(id) }
}

fn names(store: &Store) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(store.directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_default_follows_xdg() {
    let at =
        |data: Option<&str>, home: Option<&str>| default_dir_from(data.map(Into::into), home.map(Into::into));
    assert_eq!(at(Some("/data"), Some("/home/a")).unwrap(), Path::new("/data/forebay/runs"));
    let fallback = Path::new("/home/a/.local/share/forebay/runs");
    assert_eq!(at(Some("relative"), Some("/home/a")).unwrap(), fallback);
    assert_eq!(at(None, Some("/home/a")).unwrap(), fallback);
    assert_eq!(at(None, None).unwrap_err().kind(), Kind::NotFound);
}

#[test]
fn what_was_saved_is_loaded_by_id_prefix_latest_and_path() {
    let (_keep, store) = store();
    let older = started("20260101-000000-aaaaaa", "2026-01-01T00:00:00Z");
    let newer = started("20260102-000000-bbbbbb", "2026-01-02T00:00:00Z");
    let path = store.save(&newer).unwrap();
    store.save(&older).unwrap();

    assert_eq!(store.load("20260101-000000-aaaaaa").unwrap(), older);
    assert_eq!(store.load("20260102").unwrap(), newer);
    assert_eq!(store.load("latest").unwrap(), newer);
    assert_eq!(store.latest().unwrap(), newer);
    assert_eq!(store.load(path.to_str().unwrap()).unwrap(), newer);

    let ambiguous = store.load("2026010").unwrap_err();
    assert_eq!(ambiguous.kind(), Kind::Usage);
    assert!(ambiguous.message().contains("2 runs"), "{ambiguous}");
    assert_eq!(store.load("1999").unwrap_err().kind(), Kind::NotFound);
    assert_eq!(store.load("no such").unwrap_err().kind(), Kind::Usage);
}

#[test]
fn saving_again_replaces_the_earlier_state_and_leaves_nothing_else() {
    let (_keep, store) = store();
    let mut record = sample::record();
    record.state = RunState::Running;
    store.save(&record).unwrap();
    record.state = RunState::Complete;
    store.save(&record).unwrap();
    assert_eq!(store.load(&record.id).unwrap(), record);
    assert_eq!(names(&store), [format!("{}.json", record.id)]);
}

#[test]
fn a_report_stands_beside_its_run_and_goes_with_it() {
    let (_keep, store) = store();
    let record = with_id("20260101-000000-aaaaaa");
    store.save(&record).unwrap();
    store.save_report(&record.id, "<html>").unwrap();
    assert_eq!(names(&store), ["20260101-000000-aaaaaa.html", "20260101-000000-aaaaaa.json"]);
    assert_eq!(store.list().unwrap().len(), 1);
    store.remove(&record.id).unwrap();
    assert!(names(&store).is_empty());
}

#[test]
fn an_empty_or_missing_store_lists_nothing_and_has_no_latest() {
    let (_keep, store) = store();
    assert!(store.list().unwrap().is_empty());
    assert_eq!(store.latest().unwrap_err().kind(), Kind::NotFound);
    assert!(!store.directory().exists(), "looking creates nothing");
    assert_eq!(store.remove("20260101").unwrap_err().kind(), Kind::NotFound);
}

#[test]
fn a_file_is_no_store() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert_eq!(Store::open(file.path()).unwrap_err().kind(), Kind::NotFound);
}

#[test]
fn the_list_is_in_order_of_time_and_shows_damaged_files_as_such() {
    let (_keep, store) = store();
    store.save(&started("20260103-000000-cccccc", "2026-01-03T00:00:00Z")).unwrap();
    // Started last, whatever its name says.
    store.save(&started("20260101-000000-aaaaaa", "2026-01-05T00:00:00+01:00")).unwrap();
    let damaged = store.save(&with_id("20260104-000000-dddddd")).unwrap();
    let text = fs::read(&damaged).unwrap();
    fs::write(&damaged, &text[..text.len() / 2]).unwrap();
    fs::write(store.directory().join("notes.txt"), "not ours").unwrap();
    fs::create_dir(store.directory().join("directory.json")).unwrap();

    let list = store.list().unwrap();
    let ids: Vec<&str> = list.iter().map(|summary| summary.id.as_str()).collect();
    assert_eq!(
        ids,
        ["directory", "20260103-000000-cccccc", "20260104-000000-dddddd", "20260101-000000-aaaaaa"]
    );
    let words: Vec<&str> = list.iter().map(Summary::state_word).collect();
    assert_eq!(words, ["damaged", "complete", "damaged", "complete"]);
    assert!(list[2].damaged.as_ref().unwrap().contains("ends in the middle"), "{:?}", list[2].damaged);
    assert_eq!(list[1].tests, ["iotest"]);
    assert_eq!(list[1].met, Some(true));
    assert_eq!(store.latest().unwrap().id, "20260101-000000-aaaaaa");
    assert_eq!(store.load("20260104").unwrap_err().kind(), Kind::Corrupt);
}

#[test]
fn runs_of_the_same_second_have_an_order_and_imports_count_from_when_they_were_read() {
    let (_keep, store) = store();
    let latest = || store.latest().unwrap().id;
    store.save(&started("20260101-000000-ffffff", "2026-01-01T00:00:00.250000Z")).unwrap();
    store.save(&started("20260101-000000-aaaaaa", "2026-01-01T00:00:00.750000Z")).unwrap();
    assert_eq!(latest(), "20260101-000000-aaaaaa");
    let mut old = started("20260101-000001-000000", "2019-05-05T00:00:00Z");
    old.imported = Some(crate::Imported {
        tool: "ior".into(),
        tool_version: None,
        format: "json".into(),
        file: "old.json".into(),
        sha256: String::new(),
        imported_at: "2026-01-01T00:00:01Z".into(),
    });
    store.save(&old).unwrap();
    assert_eq!(latest(), "20260101-000001-000000");
}

#[test]
fn a_list_neither_follows_links_nor_waits_on_pipes() {
    let (keep, store) = store();
    store.save(&sample::record()).unwrap();
    let outside = keep.path().join("outside.json");
    fs::rename(store.path_of(&sample::record().id).unwrap(), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, store.directory().join("link.json")).unwrap();
    let pipe = store.directory().join("pipe.json");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
    assert!(store.list().unwrap().iter().all(|summary| summary.damaged.is_some()));
}

#[test]
fn a_running_record_of_a_dead_process_is_shown_as_killed() {
    let (_keep, store) = store();
    let running = RunRecord { state: RunState::Running, ..with_id("20260101-000000-aaaaaa") };
    store.save(&running).unwrap();
    store
        .save(&RunRecord { process_id: u32::MAX, ..RunRecord { id: "20260102".into(), ..running } })
        .unwrap();
    let words: Vec<String> =
        store.list().unwrap().iter().map(|s| format!("{} {}", s.id, s.state_word())).collect();
    assert!(words.contains(&"20260101-000000-aaaaaa running".to_owned()), "{words:?}");
    assert!(words.contains(&"20260102 killed".to_owned()), "{words:?}");
}

#[test]
fn a_newer_version_is_refused_with_the_advice_to_upgrade() {
    let (_keep, store) = store();
    let path = store.save(&sample::record()).unwrap();
    let mut document: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    document["version"] = (VERSION + 1).into();
    document["state"] = "in a way only newer versions know".into();
    fs::write(&path, document.to_string()).unwrap();
    let fault = store.load(path.to_str().unwrap()).unwrap_err();
    assert_eq!(fault.kind(), Kind::Corrupt);
    assert!(fault.message().contains("version 2"), "{fault}");
    assert!(fault.hint_text().unwrap().contains("upgrade"));
}

#[test]
fn nothing_outside_the_directory_can_be_saved_or_removed() {
    let (keep, store) = store();
    store.save(&sample::record()).unwrap();
    let outside = keep.path().join("outside.json");
    fs::write(&outside, "mine").unwrap();
    for id in ["../outside", "/etc/passwd", "..", "", "a/b", "outside.json"] {
        assert_eq!(store.remove(id).unwrap_err().kind(), Kind::Usage, "{id}");
        assert!(store.save(&with_id(id)).is_err(), "{id}");
    }
    assert_eq!(store.remove("2026").unwrap_err().kind(), Kind::NotFound, "a beginning removes nothing");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    store.remove(&sample::record().id).unwrap();
    assert!(names(&store).is_empty());
}

#[test]
fn leftovers_of_dead_writers_are_cleaned_and_everything_else_stays() {
    let (_keep, store) = store();
    store.save(&sample::record()).unwrap();
    let boot: String = crate::boot_id().replace('-', "").chars().take(8).collect();
    let dead = format!(".20260101-000000-aaaaaa.{boot}.{}.0.tmp", u32::MAX);
    let alive = format!(".20260101-000000-aaaaaa.{boot}.{}.99.tmp", std::process::id());
    for name in [dead.as_str(), alive.as_str(), "mine.tmp", ".other.tmp"] {
        fs::write(store.directory().join(name), "{").unwrap();
    }
    assert_eq!(store.list().unwrap().len(), 1, "leftovers are no runs");
    store.save(&sample::record()).unwrap();
    let left = names(&store);
    assert!(!left.contains(&dead), "{left:?}");
    assert_eq!(left.len(), 4, "{left:?}");
}

/// What the child of the next test does: saves two states of one run in turn until it is killed.
#[test]
fn saves_until_killed() {
    let Some(directory) = std::env::var_os("FOREBAY_TEST_SAVES_UNTIL_KILLED") else { return };
    let store = Store::open(directory).unwrap();
    loop {
        store.save(&sample::record_of(&[1.0])).unwrap();
        store.save(&sample::record_of(&[2.0, 3.0])).unwrap();
    }
}

#[test]
fn a_kill_at_any_moment_leaves_a_whole_document() {
    let (_keep, store) = store();
    for round in 0..12u64 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::tests::saves_until_killed", "--quiet"])
            .env("FOREBAY_TEST_SAVES_UNTIL_KILLED", store.directory())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while store.list().unwrap().is_empty() {
            std::thread::yield_now();
        }
        // Any moment is a good one; these only spread them.
        std::thread::sleep(std::time::Duration::from_micros(700 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(store.latest().unwrap().tests[0].repetitions.len() <= 2);
    }
    store.save(&sample::record()).unwrap();
    assert_eq!(names(&store).len(), 1, "no leftovers after the next save");
}
