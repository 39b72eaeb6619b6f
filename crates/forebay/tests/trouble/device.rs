//! Devices that fail below a run.

use std::os::unix::fs::FileExt as _;

use testkit::skip::{Need, can};

use crate::going::Going;
use crate::image::{Image, Kind, tool};
use crate::place::{PREFIX, Place, assert_empty, names};
use crate::workload::{DIRECTLY, SLOWLY, endless, transfer, workload};

/// What is left of the device: the metadata of a small ext4, and some data.
const LEFT: u64 = 16;

/// Loses most of the device during `phase` of a workload, with each engine; the phase fails with `words`.
fn lose_during(name: &str, phases: &[String], words: &[&str]) {
    for engine in ["psync", "uring"] {
        if !Kind::Ext4.is_possible("a device that fails")
            || (engine == "uring" && !bench::engine::uring_available())
        {
            continue;
        }
        let place = Place::new();
        let image = Image::mount(&place.path(""), Kind::Ext4WithoutJournal);
        let text = workload(2, 16, phases).replace("psync", engine);
        let mut going = Going::start(place.run_command(&text, image.path()));
        going.wait_for(&["phase_started", &format!("\"{name}\"")]);
        image.lose_beyond(LEFT);
        going.end().assert_failed(words);
        let record = place.assert_partial("failed");
        let kept = record["tests"][0]["repetitions"][0]["phases"].as_array().unwrap();
        assert_eq!(kept.len(), 2, "the phase before is kept too");
        assert_eq!(kept[1]["errors"][0]["kind"], name);
        assert_empty(image.path());
    }
}

#[test]
fn a_write_error_ends_the_run() {
    let phases = [transfer("fill", 0, ""), endless("write", 0, DIRECTLY)];
    lose_during("write", &phases, &["cannot write", "data.0000000", "input/output error", "dmesg"]);
}

#[test]
fn a_read_error_ends_the_run() {
    let phases = [transfer("fill", 0, ""), endless("read", 100, DIRECTLY)];
    lose_during("read", &phases, &["cannot read", "data.0000000", "input/output error", "dmesg"]);
}

/// Buffered writes succeed; the device's failure comes with the fsync. Such a run counted as complete.
#[test]
fn a_failing_fsync_passed_for_a_complete_run() {
    if !Kind::Ext4.is_possible("a device that fails write-back") {
        return;
    }
    let place = Place::new();
    let image = Image::mount(&place.path(""), Kind::Ext4WithoutJournal);
    image.lose_beyond(LEFT);
    let text = workload(2, 16, &[transfer("write", 0, ""), endless("read", 100, "")]);
    let call = Going::start(place.run_command(&text, image.path())).end();
    call.assert_failed(&["cannot fsync", "data.0000000", "input/output error", "dmesg"]);
    assert!(!call.out.contains("\"phase\":\"read\""), "what was not written is not read");
    place.assert_partial("failed");
    assert_empty(image.path());
}

/// Storage that returns something else than was written: found, counted, and no success. It passed with exit code 0.
#[test]
fn damaged_data_passed_for_a_successful_run() {
    let place = Place::new();
    // Read again and again, so that the damage is met whenever it comes.
    let verified = endless("read", 100, "verify = true").replace("1 h", "5 s");
    let text = workload(2, 1, &[transfer("write", 0, ""), verified]);
    let mut going = Going::start(place.run_command(&text, &place.target()));
    going.wait_for(&["phase_started", "\"read\""]);
    let run = place.target().join(&names(&place.target())[0]);
    let file = std::fs::File::options().write(true).open(run.join("data.00000001")).unwrap();
    file.write_all_at(&[0; 64], (1 << 20) - 64).unwrap();
    let call = going.end();
    call.assert_failed(&["words of 8 bytes", "differ from what was written", "forebay runs show"]);
    assert_eq!(place.record()["state"], "complete");
    assert_empty(&place.target());
}

/// The storage goes away for good: files can't be removed either, and the way to do it later is told.
#[test]
fn files_on_storage_that_went_away_are_removed_by_clean_later() {
    for kind in [Kind::Ext4, Kind::Xfs] {
        let what = "a file system that shuts down";
        if !kind.is_possible(what) || !can(what, &[Need::Program("xfs_io")]) {
            continue;
        }
        let place = Place::new();
        let image = Image::mount(&place.path(""), kind);
        let path = image.path().to_str().unwrap();
        let text = workload(2, 16, &[transfer("write", 0, SLOWLY)]);
        let mut going = Going::start(place.run_command(&text, image.path()));
        going.wait_for(&["phase_started", "write"]);
        // -F: ext4 knows the same call; -f: what is in the log survives, so that there is something to find.
        tool("xfs_io", &["-F", "-x", "-c", "shutdown -f", path]);
        let call = going.end();
        call.assert_failed(&["cannot ", "input/output error", "dmesg", &format!("forebay clean {path}")]);
        place.assert_partial("failed");

        image.unmount();
        image.mount_again(&[]);
        let left = names(image.path());
        assert!(left.iter().all(|name| name.starts_with(PREFIX)) && left.len() == 1, "{left:?}");
        let call = place.clean(image.path(), &[]);
        assert_eq!(call.code, 0, "{call:?}");
        assert_empty(image.path());
    }
}
