//! Large files in which something was inserted or deleted: kills at random moments, and file systems that share blocks.

use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::image::{Image, Kind};
use crate::place::Place;

const KILLS: u64 = 12;
const SIZE: usize = 72 << 20;

fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; length];
    fastrand::Rng::with_seed(seed).fill(&mut bytes);
    bytes
}

/// Something is inserted in front, and a piece of the middle goes.
fn edit(bytes: &mut Vec<u8>, number: u64) {
    let middle = bytes.len() / 2;
    bytes.drain(middle..middle + 54_321);
    bytes.splice(0..0, content(54_320, number + 1000));
}

#[test]
fn kills_while_moved_content_is_copied_leave_the_old_or_the_new_file() {
    let place = Place::new();
    std::fs::create_dir(place.source()).unwrap();
    let (large, copy) = (place.source().join("large"), place.destination().join("large"));
    let mut bytes = content(SIZE, 1);
    std::fs::write(&large, &bytes).unwrap();
    place.sync_well(&[]);
    edit(&mut bytes, 0);
    std::fs::write(&large, &bytes).unwrap();
    let started = Instant::now();
    let record = place.sync_well(&[]);
    let whole = started.elapsed();
    assert!(record["bytes"]["sent_bytes"].as_u64().unwrap() < 60_000, "{record}");
    let mut between = 0;
    for number in 1..=KILLS {
        let before = bytes.clone();
        edit(&mut bytes, number);
        std::fs::write(&large, &bytes).unwrap();
        let mut command = place.command(&place.source(), &place.destination(), &[]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(number as f64 / KILLS as f64).max(Duration::from_millis(1)));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = std::fs::read(&copy).unwrap();
        assert!(found == before || found == bytes, "torn by kill {number}");
        between += u64::from(found == before);
        let record = place.sync_well(&[]);
        // A file that got its name just before the kill, and is in no journal, is copied once more.
        let sent = record["bytes"]["sent_bytes"].as_u64().unwrap();
        assert!(found != before || sent < 120_000, "kill {number}: {record}");
        place.assert_equal();
        assert_eq!(std::fs::read_dir(place.destination()).unwrap().count(), 1);
    }
    assert!(between > 0, "no kill came before the end");
}

fn free(path: &Path) -> u64 {
    rustix::fs::syncfs(std::fs::File::open(path).unwrap()).unwrap();
    let found = rustix::fs::statvfs(path).unwrap();
    found.f_bfree * found.f_frsize
}

#[test]
fn what_moved_by_whole_blocks_is_shared_where_blocks_can_be() {
    for kind in [Kind::Xfs, Kind::Btrfs] {
        if !kind.is_possible("moved content that is shared") {
            continue;
        }
        let place = Place::new();
        let image = Image::mount(&place.path(""), kind);
        let to = image.path().join("destination");
        std::fs::create_dir(place.source()).unwrap();
        let large = place.source().join("large");
        let bytes = content(SIZE, 7);
        std::fs::write(&large, &bytes).unwrap();
        let sync = || {
            let call = crate::place::call(place.command(&place.source(), &to, &["--format", "json"]));
            assert_eq!(call.code, Some(0), "{call:?}");
            call.record()
        };
        sync();
        // The old copy stays under another name, so that what is not shared takes room.
        std::fs::hard_link(to.join("large"), image.path().join("old")).unwrap();
        let before = free(image.path());
        std::fs::write(&large, [content(64 << 10, 8), bytes.clone()].concat()).unwrap();
        let record = sync();
        assert!(record["bytes"]["sent_bytes"].as_u64().unwrap() < 80_000, "{record}");
        assert!(std::fs::read(to.join("large")).unwrap() == std::fs::read(&large).unwrap());
        assert!(std::fs::read(image.path().join("old")).unwrap() == bytes);
        let taken = before.saturating_sub(free(image.path()));
        assert!(taken < 16 << 20, "{taken} bytes more are taken");
        // By one byte nothing can be shared, and the file is the same.
        let file = std::fs::File::options().write(true).open(&large).unwrap();
        file.write_all_at(&[&b"x"[..], &bytes].concat(), 0).unwrap();
        file.set_len(SIZE as u64 + 1).unwrap();
        sync();
        assert!(std::fs::read(to.join("large")).unwrap() == std::fs::read(&large).unwrap());
        std::fs::remove_dir_all(&to).unwrap();
    }
}
