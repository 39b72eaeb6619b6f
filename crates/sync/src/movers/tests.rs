//! The queue, with movers that are nothing but their calls.

use std::collections::BTreeSet;
use std::time::Duration;

use super::database::Database;
use super::merge::Verdict;
use super::queue::{Doubt, Found, Joined, Lease, Queue, Work, is_lost};
use super::sqlite::Sqlite;
use super::tables::Tables;

/// A queue whose leases are over at once, or never.
fn queue(dir: &tempfile::TempDir, lease: Duration) -> Tables {
    let database: Box<dyn Database> = Box::new(Sqlite::open(&dir.path().join("queue.db")).unwrap());
    Tables::new(database, "job".to_owned(), lease)
}

const LONG: Duration = Duration::from_hours(1);

fn divided(queue: &mut Tables, trees: &[&str]) -> i64 {
    let Joined::Planner { token, round } = queue.join("a to b", "same", true).unwrap() else { panic!() };
    queue
        .divide(token, "probe", &trees.iter().map(|tree| tree.as_bytes().to_vec()).collect(), false)
        .unwrap();
    round
}

fn take(queue: &mut Tables, round: i64) -> Option<Lease> {
    match queue.take(round).unwrap() {
        Work::Part(lease) => Some(lease),
        Work::Wait | Work::Stretch(_) => None,
        Work::Over(verdict) => panic!("{verdict:?}"),
    }
}

fn found(index: &[u8]) -> Found {
    Found { index: index.to_vec(), left: Vec::new(), entries: 1 }
}

#[test]
fn each_part_is_taken_once_and_the_rest_last() {
    let dir = tempfile::tempdir().unwrap();
    let (mut first, mut second) = (queue(&dir, LONG), queue(&dir, LONG));
    let round = divided(&mut first, &["a", "b"]);
    assert_eq!(
        second.join("a to b", "same", true).unwrap(),
        Joined::Mover { round, probe: "probe".to_owned() }
    );
    assert!(second.join("a to b", "other", true).unwrap_err().message().contains("other options"));
    let (a, b) = (take(&mut first, round).unwrap(), take(&mut second, round).unwrap());
    assert_eq!((&a.path[..], &b.path[..]), (&b"a"[..], &b"b"[..]));
    assert_eq!(take(&mut first, round), None);
    first.commit(&a, &found(b"index of a"), "{}", None).unwrap();
    assert_eq!(take(&mut first, round), None, "the rest waits for b");
    second.commit(&b, &found(b""), "{}", None).unwrap();
    let rest = take(&mut first, round).unwrap();
    assert!(rest.is_rest && take(&mut second, round).is_none());
    let failed = || Verdict::failed(&fault::Fault::new(fault::Kind::Refused, "why"));
    first.commit(&rest, &found(b""), "{}", Some(&failed())).unwrap();
    assert!(matches!(second.take(round).unwrap(), Work::Over(Verdict::Failed { .. })));
    // The next round knows what the last one did.
    let round = divided(&mut second, &["a", "c"]);
    assert_eq!(second.blob(b"a", "index").unwrap(), b"index of a");
    assert!(matches!(first.take(round - 1).unwrap(), Work::Over(_)));
    assert_eq!(take(&mut first, round).unwrap().path, b"a");
}

#[test]
fn who_lost_a_lease_can_write_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (mut first, mut second) = (queue(&dir, Duration::ZERO), queue(&dir, LONG));
    let round = divided(&mut first, &["a"]);
    let lost = take(&mut first, round).unwrap();
    assert_eq!(lost.doubt, Doubt::None);
    std::thread::sleep(Duration::from_millis(5));
    let held = take(&mut second, round).unwrap();
    assert_eq!((held.doubt, &held.path), (Doubt::Content, &lost.path));
    assert!(!first.extend(&lost).unwrap() && second.extend(&held).unwrap());
    assert!(is_lost(&first.commit(&lost, &found(b"wrong"), "{}", None).unwrap_err()));
    assert!(is_lost(&first.give_back(&lost, b"wrong").unwrap_err()));
    first.fail(&lost, "wrong").unwrap();
    second.commit(&held, &found(b"right"), "{}", None).unwrap();
    assert!(is_lost(&first.commit(&lost, &found(b"wrong"), "{}", None).unwrap_err()));
    assert_eq!(first.blob(b"a", "index").unwrap(), b"right");
}

#[test]
fn a_part_that_is_given_back_or_fails_is_taken_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut queue = queue(&dir, LONG);
    let round = divided(&mut queue, &["a"]);
    let lease = take(&mut queue, round).unwrap();
    queue.give_back(&lease, b"as far as it is").unwrap();
    for _ in 0..3 {
        let lease = take(&mut queue, round).unwrap();
        assert_eq!((lease.is_rest, queue.blob(b"a", "index").unwrap()), (false, b"as far as it is".to_vec()));
        queue.fail(&lease, "no").unwrap();
    }
    assert!(take(&mut queue, round).unwrap().is_rest, "what always fails is given up");
    let pieces = queue.results().unwrap().pieces;
    assert!(pieces.iter().any(|piece| piece.state == "failed" && piece.words == "no"), "{pieces:?}");
}

#[test]
fn what_moves_between_parts_is_compared_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut queue = queue(&dir, LONG);
    let finish = |queue: &mut Tables, round| {
        while let Some(lease) = take(queue, round) {
            let verdict = Verdict::failed(&fault::Fault::new(fault::Kind::Io, "over"));
            queue.commit(&lease, &found(&lease.path), "{}", lease.is_rest.then_some(&verdict)).unwrap();
            if lease.is_rest {
                return;
            }
        }
    };
    let round = divided(&mut queue, &["a"]);
    finish(&mut queue, round);
    let round = divided(&mut queue, &["a", "b"]);
    assert_eq!(
        (queue.blob(b"a", "index").unwrap(), queue.blob(b"", "index").unwrap()),
        (b"a".to_vec(), Vec::new())
    );
    finish(&mut queue, round);
    divided(&mut queue, &["a/x", "b"]);
    let known: BTreeSet<Vec<u8>> =
        [&b"a"[..], b"a/x", b"b"].iter().map(|path| queue.blob(path, "index").unwrap()).collect();
    assert_eq!(known, BTreeSet::from([Vec::new(), b"b".to_vec()]));
}

#[test]
fn stretches_are_taken_once_and_stay_when_their_mover_dies() {
    let dir = tempfile::tempdir().unwrap();
    let (mut first, mut second, mut third) =
        (queue(&dir, Duration::ZERO), queue(&dir, LONG), queue(&dir, LONG));
    let round = divided(&mut first, &["a"]);
    let part = take(&mut first, round).unwrap();
    first.open_file(&part, b"a/large", b"as it is", 3).unwrap();
    let lost = first.take_stretch(b"a/large").unwrap().unwrap();
    // Its lease is over: somebody else takes the part, and goes on inside of the file.
    std::thread::sleep(Duration::from_millis(5));
    let held = take(&mut second, round).unwrap();
    assert!(is_lost(&first.open_file(&part, b"a/large", b"as it is", 3).unwrap_err()));
    second.open_file(&held, b"a/large", b"as it is", 3).unwrap();
    let Work::Stretch(helped) = third.take(round).unwrap() else { panic!("nobody else helps") };
    assert_eq!((&helped.path[..], helped.number), (&b"a/large"[..], lost.number));
    assert!(!first.commit_stretch(&lost, b"too late").unwrap() && !first.extend_stretch(&lost).unwrap());
    assert!(third.extend_stretch(&helped).unwrap() && third.commit_stretch(&helped, b"zero").unwrap());
    let Work::Stretch(given_up) = third.take(round).unwrap() else { panic!() };
    third.give_back_stretch(&given_up, true).unwrap();
    // What a helper can't do is for whoever has the part.
    let own: Vec<u64> =
        std::iter::from_fn(|| second.take_stretch(b"a/large").unwrap()).map(|own| own.number).collect();
    assert_eq!(own, [1, 2]);
    assert_eq!(take(&mut third, round), None);
    assert_eq!(second.finished(b"a/large", &[]).unwrap(), [(0, b"zero".to_vec())]);
    assert_eq!(second.finished(b"a/large", &[0]).unwrap(), []);
    assert_eq!(
        second.begun(&held).unwrap(),
        [(b"a/large".to_vec(), b"as it is".to_vec(), vec![(0, b"zero".to_vec())])]
    );
    // Another content begins anew, and the part's end ends it.
    second.open_file(&held, b"a/large", b"as it is now", 1).unwrap();
    assert_eq!(second.finished(b"a/large", &[]).unwrap(), []);
    second.commit(&held, &found(b""), "{}", None).unwrap();
    assert_eq!(second.take_stretch(b"a/large").unwrap(), None);
}
