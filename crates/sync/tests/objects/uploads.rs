//! Large objects of which a killed job sent a part: the next one sends the rest, or has the store forget it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use testkit::servers;

use crate::job::{Order, Place, assert_equal};

/// Bytes of a part.
const PART: u64 = 8 << 20;
const SIZE: usize = 20 * PART as usize + 5;

fn noise(seed: u64) -> Vec<u8> {
    let mut content = vec![0; SIZE];
    fastrand::Rng::with_seed(seed).fill(&mut content);
    content
}

/// The file of what the store has.
fn notes(state: &Path) -> Option<PathBuf> {
    let mut found = None;
    for entry in std::fs::read_dir(state).ok()?.flatten() {
        let path = entry.path();
        if state.ends_with("uploads") {
            found = Some(path);
        } else if path.is_dir() {
            found = found.or_else(|| notes(&path));
        }
    }
    found
}

/// Kills a job when the store has so many parts. Returns how many it has by then.
fn kill_at(place: &Place, order: &Order, parts: usize) -> u64 {
    let mut child = place.spawn(order);
    let started = Instant::now();
    let noted = || {
        let text = notes(&order.state).and_then(|path| std::fs::read_to_string(path).ok());
        let is_part = |line: &&str| line.starts_with(r#"{"number"#) && line.ends_with('}');
        text.map_or(0, |text| text.lines().filter(is_part).count())
    };
    while noted() < parts {
        assert!(started.elapsed() < Duration::from_mins(1), "no part is noted");
        assert!(child.try_wait().unwrap().is_none(), "it ended before it could be killed");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    noted() as u64
}

#[test]
fn a_large_upload_that_was_killed_goes_on_where_it_was() {
    let Some(server) = servers::s3("killed uploads") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    std::fs::create_dir_all(&source).unwrap();
    std::fs::write(source.join("large"), noise(1)).unwrap();
    std::fs::write(source.join("small"), "small").unwrap();
    let (up, down) = (place.order(&source, &place.location("p")), place.order(&place.location("p"), &back));
    kill_at(&place, &up, 3);
    // Twice: what the second one found is not lost.
    let kept = kill_at(&place, &up, 8);
    assert_eq!(server.unfinished_uploads(), 1);
    let report = place.run_well(&up);
    assert!(report.bytes("sent_bytes") <= SIZE as u64 + 5 - kept * PART, "{kept} parts: {report:#?}");
    assert_eq!(report.bytes("sent_bytes") + report.bytes("saved_bytes"), SIZE as u64 + 5, "{report:#?}");
    assert_eq!((server.unfinished_uploads(), notes(&up.state)), (0, None));
    place.run_well(&down);
    assert_equal(&source, &back);
}

#[test]
fn what_changed_since_a_kill_is_sent_and_nothing_of_it_is_mixed() {
    let Some(server) = servers::s3("changes after killed uploads") else { return };
    let place = Place::new(&server);
    let (source, back) = (place.path("source"), place.path("back"));
    std::fs::create_dir_all(&source).unwrap();
    let large = source.join("large");
    std::fs::write(&large, noise(2)).unwrap();
    let time = large.metadata().unwrap().modified().unwrap();
    let (up, down) = (place.order(&source, &place.location("q")), place.order(&place.location("q"), &back));
    kill_at(&place, &up, 4);
    // One part has other content, and the file the time that it had.
    let file = std::fs::File::options().write(true).open(&large).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"other", PART + 77).unwrap();
    file.set_modified(time).unwrap();
    let report = place.run_well(&up);
    let saved = report.bytes("saved_bytes");
    assert!(saved >= 3 * PART && saved.is_multiple_of(PART), "{report:#?}");
    place.run_well(&down);
    assert_equal(&source, &back);
    // Other labels can't be given to what was begun: it begins anew, and the store forgets the other.
    std::fs::write(&large, noise(3)).unwrap();
    kill_at(&place, &up, 2);
    file.set_modified(time + Duration::from_secs(1)).unwrap();
    let report = place.run_well(&up);
    assert_eq!((report.bytes("sent_bytes"), server.unfinished_uploads()), (SIZE as u64, 0), "{report:#?}");
    place.run_well(&down);
    assert_equal(&source, &back);
}

#[test]
fn what_nobody_goes_on_with_is_forgotten_by_the_store() {
    let Some(server) = servers::s3("uploads that nobody goes on with") else { return };
    let place = Place::new(&server);
    let source = place.path("source");
    std::fs::create_dir_all(&source).unwrap();
    std::fs::write(source.join("large"), noise(4)).unwrap();
    std::fs::write(source.join("small"), "small").unwrap();
    let up = place.order(&source, &place.location("r"));
    kill_at(&place, &up, 2);
    assert_eq!(server.unfinished_uploads(), 1);
    // The store has not what was noted, which it says at the end: all is sent.
    let path = notes(&up.state).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let tag = text.split("\\\"").nth(1).unwrap();
    std::fs::write(&path, text.replace(tag, &"0".repeat(32))).unwrap();
    let report = place.run_well(&up);
    assert!(report.bytes("sent_bytes") > SIZE as u64 && report.bytes("saved_bytes") > 0, "{report:#?}");
    assert_eq!((server.unfinished_uploads(), notes(&up.state)), (0, None));
    // The file is gone before the next job.
    std::fs::write(source.join("large"), noise(5)).unwrap();
    kill_at(&place, &up, 2);
    assert_eq!(server.unfinished_uploads(), 1);
    std::fs::remove_file(source.join("large")).unwrap();
    place.run_well(&up);
    assert_eq!((server.unfinished_uploads(), notes(&up.state)), (0, None));
}
