//! Large files that several movers copy together.

use std::io::{Seek as _, SeekFrom, Write as _};

use testkit::skip::{Need, can};

use crate::place::{Mover, Place, wait_until};

const SLOWLY: [&str; 7] = ["--workers", "1", "--bwlimit", "20MB/s", "--lease", "2s", "--delete"];

/// A file of 260 MiB, no two of which are alike; `seed` is where they begin.
pub fn large_file(place: &Place, name: &str, seed: u64) {
    place.write(name, "");
    let mut file = std::fs::File::create(place.path(name)).unwrap();
    let mut block = vec![0u8; 1 << 20];
    fastrand::Rng::with_seed(seed).fill(&mut block);
    for number in 0..260u64 {
        block[..8].copy_from_slice(&(seed + number).to_le_bytes());
        file.write_all(&block).unwrap();
    }
}

/// Whether a process has a draft of a large file open.
pub fn has_draft(process: u32) -> bool {
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let links = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    links.into_iter().any(|link| link.to_string_lossy().contains("large-"))
}

/// Two movers, both at work on one file.
fn both(place: &Place) -> [Mover; 2] {
    let mut movers = [place.start(&SLOWLY), place.start(&SLOWLY)];
    wait_until("both work on the file", || {
        for mover in &mut movers {
            let ended = mover.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended before the other came: {}", mover.said());
        }
        movers.iter().all(|mover| has_draft(mover.child.id()))
    });
    assert!(!place.destination().join("large").exists(), "half a file has its name");
    movers
}

fn one_file(place: &Place) {
    large_file(place, "source/large", 1);
    for mut mover in both(place) {
        let record = mover.record(0);
        assert_eq!(record["entries"]["copied"], 1, "{record}");
        assert_eq!(record["bytes"]["sent_bytes"], 260 << 20, "each range was somebody's once: {record}");
    }
    place.assert_equal();
    assert_eq!(place.destination().read_dir().unwrap().count(), 1);
    let record = place.move_by(1, &SLOWLY).remove(0);
    assert_eq!(record["bytes"]["read_bytes"], 0, "{record}");
}

#[test]
fn a_large_file_is_copied_by_several_movers_of_one_host() {
    one_file(&Place::on_one_host());
}

#[test]
fn a_large_file_is_copied_by_several_movers_of_several_hosts() {
    if can("PostgreSQL", &[Need::Server("postgres")]) {
        one_file(&Place::over_hosts());
    }
}

#[test]
fn whoever_dies_in_a_large_file_the_others_finish_it() {
    for victim in [0, 1] {
        let place = Place::on_one_host();
        large_file(&place, "source/dir/large", 7);
        place.write("source/dir/small", "one");
        let mut movers = both(&place);
        movers[victim].child.kill().unwrap();
        movers[1 - victim].record(0);
        place.assert_equal();
        assert_eq!(place.destination().join("dir").read_dir().unwrap().count(), 2);
    }
}

#[test]
fn a_large_file_that_all_left_is_gone_on_with() {
    let place = Place::on_one_host();
    large_file(&place, "source/large", 3);
    for mut mover in both(&place) {
        mover.signal("-TERM");
        mover.ended(143);
    }
    let [mut first, mut second] = both(&place);
    first.child.kill().unwrap();
    second.child.kill().unwrap();
    place.move_by(2, &SLOWLY);
    place.assert_equal();
    assert_eq!(place.destination().read_dir().unwrap().count(), 1);
}

#[test]
fn a_large_file_that_changes_under_several_movers_is_never_torn() {
    let place = Place::on_one_host();
    large_file(&place, "source/large", 5);
    let movers = both(&place);
    let mut file = std::fs::OpenOptions::new().write(true).open(place.source().join("large")).unwrap();
    for at in [0, 100 << 20, 250 << 20] {
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(b"changed in the middle").unwrap();
    }
    drop(file);
    for mut mover in movers {
        mover.record(0);
    }
    place.assert_equal();
}

#[test]
fn holes_and_other_names_of_a_large_file_stay() {
    let place = Place::on_one_host();
    place.write("source/a/large", "begin");
    let mut file = std::fs::OpenOptions::new().write(true).open(place.source().join("a/large")).unwrap();
    file.set_len(300 << 20).unwrap();
    file.seek(SeekFrom::Start(200 << 20)).unwrap();
    file.write_all(&[7; 9_000]).unwrap();
    place.write("source/b/own", "x");
    std::fs::hard_link(place.source().join("a/large"), place.source().join("b/other")).unwrap();
    place.move_by(3, &["--delete"]);
    place.assert_equal();
}
